"""A suite as a dataset: its cases with typed arrays, for programs that use nothing else of opconform."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from opconform.suite.bounds import Bounds
from opconform.suite.case import Accept, Case
from opconform.suite.installed import place_of
from opconform.suite.manifest import Entry, inputs_name
from opconform.suite.reader import Suite, open_suite
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array


@dataclass(frozen=True, kw_only=True)
class Example:
    """One case of a suite with the arrays of its feeds, which may be written to.

    Attributes:
        case: The document `case.json`: `case.op`, `case.node.attributes`, `case.graph`, …
        inputs: Per feed, the arrays by the names of the model's inputs.
        outputs: Per feed, the golden arrays in the order of the model's outputs; empty for an invalid case and in a
            blind suite.
        bounds: Per feed and output, the least and the largest right elements; None where bits are compared.
        reduced: Those of results that are less accurate, and not wrong; None where every other result is wrong.
        also: Per feed and output, other right values of each element along the first dimension; None where there are
            none. An element is right if it equals the output's or one of these.
    """

    suite: Suite
    entry: Entry
    case: Case
    inputs: tuple[Mapping[str, Array], ...]
    outputs: tuple[tuple[Array, ...], ...]
    bounds: tuple[tuple[Bounds | None, ...], ...]
    reduced: tuple[tuple[Bounds | None, ...], ...]
    also: tuple[tuple[Array | None, ...], ...]

    @property
    def id(self) -> str:
        """The id of the case."""
        return self.entry.id

    @property
    def rejects(self) -> str | None:
        """The requirement that an invalid case violates; None for a valid case."""
        return self.case.rejected_for

    def model(self, dialect: str) -> bytes:
        """The model in a dialect of the suite, such as `onnx`.

        Raises:
            LookupError: The suite has no such dialect, or the dialect cannot express the case; the message says why.
            SuiteError: The file is missing or was changed.
        """
        return self.suite.read(self.entry, self._model_name(dialect))

    def files(self, dialect: str) -> dict[str, bytes]:
        """The files of the model in a dialect by their names: `model.xml`, `layer.xml` and `model.bin` in `openvino`.

        `layer.xml` is the node alone; `model.bin` has the constants, if there are any. Raises as `model` does.
        """
        folder, _, _ = self._model_name(dialect).rpartition("/")
        names = sorted(name for name in self.entry.files if name.rpartition("/")[0] == folder)
        return {name.rpartition("/")[2]: self.suite.read(self.entry, name) for name in names}

    def _model_name(self, dialect: str) -> str:
        name = self.suite.header.dialects.get(dialect)
        if name is None:
            raise LookupError(f"the suite has no dialect {dialect}, only {', '.join(self.suite.header.dialects)}")
        if name not in self.entry.files:
            raise LookupError(f"{self.id} has no model in {dialect}: {self.entry.left_out.get(dialect, 'left out')}")
        return name


def load(suite: str | Path) -> Iterator[Example]:
    """The cases of a suite, one after another, in the order of their ids.

    Arrays have the dtype of numpy or `ml_dtypes` that has the values of the element type: bf16 is
    `ml_dtypes.bfloat16`. The types u1, u3, u6 and nf4 have no such dtype, so their bits are `uint8`.

    Args:
        suite: A folder, a zip file, or an installed suite such as `opconform-suite==2.0`.

    Raises:
        SuiteError: The suite is missing, incomplete or was changed.
    """
    opened = open_suite(place_of(str(suite)))
    return (_example(opened, entry) for entry in opened.entries)


def _example(suite: Suite, entry: Entry) -> Example:
    case = suite.case(entry)
    types = {input_.name: input_.element_type for input_ in case.inputs}
    inputs = tuple(_typed(suite.arrays(entry, inputs_name(feed)), types) for feed in range(case.feeds))
    outputs: tuple[tuple[Array, ...], ...] = ()
    bounds: tuple[tuple[Bounds | None, ...], ...] = ()
    reduced: tuple[tuple[Bounds | None, ...], ...] = ()
    also: tuple[tuple[Array | None, ...], ...] = ()
    if isinstance(case.expect, Accept) and not suite.header.blind:
        types = {output.name: output.element_type for output in case.expect.accept}
        golden = (_typed(suite.golden(entry, feed), types) for feed in range(case.feeds))
        outputs = tuple(tuple(arrays[name] for name in types) for arrays in golden)
        bounds = tuple(_typed_bounds(case, suite.bounds(entry, feed)) for feed in range(case.feeds))
        reduced = tuple(_typed_bounds(case, suite.reduced(entry, feed)) for feed in range(case.feeds))
        also = tuple(_typed_values(case, suite.also(entry, feed)) for feed in range(case.feeds))
    return Example(
        suite=suite,
        entry=entry,
        case=case,
        inputs=inputs,
        outputs=outputs,
        bounds=bounds,
        reduced=reduced,
        also=also,
    )


def _typed_values(case: Case, arrays: Iterable[Array | None]) -> tuple[Array | None, ...]:
    pairs = zip(case.outputs, arrays, strict=True)
    return tuple(None if x is None else _typed({"": x}, {"": output.element_type})[""] for output, x in pairs)


def _typed_bounds(case: Case, bounds: Iterable[Bounds | None]) -> tuple[Bounds | None, ...]:
    kinds = [ELEMENT_TYPES[output.element_type].arithmetic for output in case.outputs]
    return tuple(
        None if pair is None else (pair[0].view(kind), pair[1].view(kind))
        for pair, kind in zip(bounds, kinds, strict=True)
    )


def _typed(arrays: Mapping[str, Array], types: Mapping[str, str]) -> dict[str, Array]:
    kinds = {name: ELEMENT_TYPES[element_type] for name, element_type in types.items()}
    return {
        name: np.array(arrays[name] if kind.kind == "string" else arrays[name].view(kind.arithmetic))
        for name, kind in kinds.items()
    }
