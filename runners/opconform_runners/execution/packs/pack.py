"""A pack: several valid cases as one case, with the files that a harness needs, and the outcome of each of them."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from opconform.suite.case import Case, Graph, Node
from opconform.suite.manifest import Entry, inputs_name
from opconform.suite.reader import Suite
from opconform.tensors.npz import npz_bytes
from opconform_runners.execution.dialects import plain_dialect
from opconform_runners.execution.packs.onnx_model import joined_onnx
from opconform_runners.execution.packs.openvino_ir import joined_openvino
from opconform_runners.harness.outcome import Returned
from opconform_runners.verdicts.verdict import Own

#: Joins the models of cases: the files of each in its dialect's folder, by name, with the prefix of its names.
Join = Callable[[Sequence[tuple[str, Mapping[str, bytes]]], str], dict[str, bytes]]
#: How models are joined, by dialect. Cases in other dialects are executed alone; those without a dialect need no model.
JOINS: Mapping[str, Join] = {"openvino": joined_openvino, "onnx": joined_onnx}


@dataclass(frozen=True, kw_only=True, slots=True)
class Packed:
    """What was seen of a case in a pack: its verdict alone counts if it is a pass.

    Attributes:
        pack: The name of the pack.
        checked: Whether the case, which passed, is executed alone too.
    """

    pack: str
    own: Own
    checked: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Member:
    """A case that may be packed, with the dialect of its model; None for a backend that executes cases directly."""

    entry: Entry
    case: Case
    dialect: str | None

    @property
    def kind(self) -> tuple[str, int]:
        """What the cases of a pack have in common, besides the operation: the dialect and the number of feeds."""
        return self.dialect or "", self.case.feeds

    @property
    def order(self) -> tuple[str, int, bool, str, str]:
        """Its place among the cases of its operation. Cases of one element type come together, so refusals do too."""
        types = sorted(x.element_type for x in self.case.inputs if x.role == "data")
        return *self.kind, any(x.dynamic == "..." for x in self.case.inputs), " ".join(types), self.case.id


@dataclass(frozen=True, kw_only=True, slots=True)
class Pack:
    """At least two cases of one operation with models in one dialect, or without one, and the same number of feeds.

    `is_suspect` says that they are a part of a pack that ended a fresh process, so that they may do so too.
    """

    members: tuple[Member, ...]
    is_suspect: bool = False

    @property
    def dialect(self) -> str | None:
        """The dialect of its model, if it has one."""
        return self.members[0].dialect

    @property
    def ids(self) -> list[str]:
        """The ids of its cases."""
        return [member.entry.id for member in self.members]

    @property
    def op(self) -> str:
        """The operation under test."""
        return self.members[0].case.op

    @property
    def name(self) -> str:
        """Its name, which its cases decide; it has the form of an id."""
        return f"{self.op}/pack/{hashlib.sha256(' '.join(self.ids).encode()).hexdigest()[:10]}"

    def named(self, message: str) -> list[int]:
        """The numbers of the cases that a refusal names, if it names one, or fewer than half of them."""
        numbers = sorted({int(number) for number in _NAMED.findall(message)})
        is_few = len(numbers) == 1 or 2 * len(numbers) < len(self.members)
        return numbers if numbers and is_few and numbers[-1] < len(self.members) else []

    def without(self, numbers: Sequence[int]) -> list[tuple[Member, ...]]:
        """Its cases in parts; each case that was refused is a part.

        A backend that names several refuses no others. Compilers usually stop at the first node that they refuse, so
        that those before it are probably not refused.
        """
        if len(numbers) > 1:
            rest = tuple(member for place, member in enumerate(self.members) if place not in numbers)
            return [part for part in (rest, *((self.members[number],) for number in numbers)) if part]
        (number,) = numbers
        before, one, after = self.members[:number], self.members[number : number + 1], self.members[number + 1 :]
        return [part for part in (before, one, *([after] if len(after) <= _FEW else _parts(after, 2))) if part]

    @property
    def halves(self) -> list[tuple[Member, ...]]:
        """Its cases in smaller parts after a refusal."""
        return _parts(self.members, 2)

    @property
    def quarters(self) -> list[tuple[Member, ...]]:
        """Its cases in smaller parts after a crash or a timeout, because each part takes long."""
        return _parts(self.members, 4)

    @property
    def case(self) -> Case:
        """The pack as a case: the inputs, nodes and outputs of all its cases, with prefixes of their names."""
        parts = [(_prefix(number), member.case) for number, member in enumerate(self.members)]
        return replace(
            self.members[0].case,
            id=self.name,
            title=f"a pack of {len(parts)} cases",
            requirements=(),
            seen=(),
            context="pack",
            inputs=tuple(replace(x, name=f"{prefix}{x.name}") for prefix, case in parts for x in case.inputs),
            graph=Graph(
                nodes=tuple(_renamed(node, prefix) for prefix, case in parts for node in case.graph.nodes),
                outputs=tuple(f"{prefix}{name}" for prefix, case in parts for name in case.graph.outputs),
            ),
            expect=None,
            twin=None,
        )

    def inputs(self, suite: Suite) -> list[bytes]:
        """The file of the inputs of each feed."""
        return [
            npz_bytes(
                {
                    f"{_prefix(number)}{name}": array
                    for number, member in enumerate(self.members)
                    for name, array in suite.stored_arrays(member.entry, inputs_name(feed)).items()
                }
            )
            for feed in range(self.members[0].case.feeds)
        ]

    def model(self, suite: Suite) -> dict[str, bytes]:
        """The files of the joined model, none without a dialect; or an `UnjoinableError`."""
        if self.dialect is None:
            return {}
        main = suite.header.dialects[self.dialect]
        models = [
            (_prefix(number), {name: suite.read(member.entry, name) for name in _files(member.entry, main)})
            for number, member in enumerate(self.members)
        ]
        return JOINS[plain_dialect(self.dialect)](models, main)

    def parts(self, outcome: Returned) -> list[Returned] | None:
        """What each case returned, or None if the number of outputs is not the sum of theirs."""
        counts = [len(member.case.graph.outputs) for member in self.members]
        types = outcome.element_types
        if any(len(feed) != sum(counts) for feed in (*outcome.outputs, *(types or ()))):
            return None
        ends = [sum(counts[: number + 1]) for number in range(len(counts))]
        slices = [slice(end - count, end) for count, end in zip(counts, ends, strict=True)]
        share = None if outcome.seconds is None else outcome.seconds / len(counts)
        return [
            Returned(
                outputs=tuple(feed[place] for feed in outcome.outputs),
                element_types=None if types is None else tuple(names[place] for names in types),
                seconds=share,
                placement=outcome.placement,
            )
            for place in slices
        ]


def _parts(members: tuple[Member, ...], count: int) -> list[tuple[Member, ...]]:
    """Cases in parts of about the same size, or each alone if they are few, since each part of a pack may fail too."""
    size = 1 if len(members) <= 2 * count else -(-len(members) // count)
    return [members[start : start + size] for start in range(0, len(members), size)]


def _files(entry: Entry, main: str) -> list[str]:
    """The model of a case and its weights, which have the same name but for the ending."""
    return [name for name in entry.files if name.rpartition(".")[0] == main.rpartition(".")[0]]


#: The name of a node or a tensor in a message, with the number of its case.
_NAMED = re.compile(r"\bc(\d{1,4})_")


#: So few cases are not halved if a refusal names one before them.
_FEW = 16


def _prefix(number: int) -> str:
    return f"c{number}_"


def _renamed(node: Node, prefix: str) -> Node:
    return replace(
        node,
        name=f"{prefix}{node.name}",
        inputs=tuple(None if name is None else f"{prefix}{name}" for name in node.inputs),
        outputs=tuple(f"{prefix}{name}" for name in node.outputs),
    )
