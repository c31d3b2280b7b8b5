"""A suite as a dataset: its cases with typed arrays, and the verdict of a run on what a program makes of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from opconform.errors import SuiteError
from opconform.suite.bounds import Bounds
from opconform.suite.case import Accept, Case
from opconform.suite.installed import place_of
from opconform.suite.manifest import Entry, inputs_name
from opconform.suite.reader import Suite, open_suite
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array
from opconform.tensors.texts import text_of
from opconform_runners.backends.backend import Implementation, Rejected, Stage, Unsupported
from opconform_runners.backends.exceptions import short_message
from opconform_runners.execution.case_verdicts import execution_facts, result_of
from opconform_runners.harness.outcome import NotSent, Returned
from opconform_runners.harness.protocol import NotSupported, Refused
from opconform_runners.verdicts.judge import first_verdict
from opconform_runners.verdicts.results import Result

#: The outputs of each feed, in the order of the model's outputs.
ReturnedOutputs = Sequence[Sequence[ArrayLike]]
#: The bits of the least storage dtype.
_BYTE = 8
#: Every element type by its dtype in numpy or ml_dtypes.
_BY_DTYPE = {kind.native: name for name, kind in ELEMENT_TYPES.items() if kind.native is not None}


class MissingModel(LookupError):  # noqa: N818 - `Example.judge` takes it as an answer
    """A suite has no model of a case in a dialect; the message says why."""


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
            MissingModel: The suite has no such dialect, or the dialect cannot express the case; the message says why.
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

    def judge(
        self, outcome: ReturnedOutputs | Exception, *, stage: Stage = "build", flushes_denormals: bool = False
    ) -> Result:
        """The result of the case, as `opconform run` has it after one execution: verdict, sentence, `broken` and more.

        It is that of a backend which declares to support everything, and of this case alone: `run` counts the rejection
        of an invalid case only if the twin `case.case.twin` is accepted.

        Args:
            outcome: What the backend made of the case. Either the outputs of each feed, as in `[[output_0], …]`:
                arrays with the dtypes of `outputs`, or of the same bits in unsigned integers; strings may be objects.
                Or the exception by which it refused the case. `MissingModel`, `NotImplementedError` and
                `opconform_runners.backends.Unsupported` say that it does not support the case.
            stage: When it refused the case, which `opconform_runners.backends.Rejected` says itself.
            flushes_denormals: Whether the backend declares to flush denormal numbers to zero.

        Raises:
            SuiteError: The suite is blind, or a file was changed.
            ValueError: The outputs are not those of each feed, or have a dtype that no element type has.
        """
        if self.suite.header.blind:
            raise SuiteError(
                f"{self.id} has no expected outputs, since the suite is blind. Generate it without --blind."
            )
        seen = self._refusal(outcome, stage) if isinstance(outcome, Exception) else self._returned(outcome)
        declared = Implementation(
            name="",
            version="",
            element_types=tuple(ELEMENT_TYPES),
            operations=tuple({self.case.op, *(node.op for node in self.case.graph.nodes)}),
            dynamic=True,
            bindings=("constant", "parameter"),
            flushes_denormals=flushes_denormals,
        )
        verdict = first_verdict(self.suite, self.entry, self.case, seen, flushes=flushes_denormals)
        facts = execution_facts(None if isinstance(seen, Returned) else seen)
        return result_of(self.suite, self.entry, self.case, facts, verdict, declared)

    def _refusal(self, error: Exception, stage: Stage) -> Refused | NotSupported | NotSent:
        message = short_message(error)
        match error:
            case MissingModel():
                return NotSent(why=message)
            case Unsupported() | NotImplementedError():
                return NotSupported(seq=0, message=message)
            case Rejected():
                return Refused(seq=0, stage=error.stage, message=error.message, requirement=error.requirement)
        return Refused(seq=0, stage=stage, message=message)

    def _returned(self, feeds: ReturnedOutputs) -> Returned:
        feeds = list(feeds)
        if len(feeds) != self.case.feeds or any(isinstance(outputs, np.ndarray) for outputs in feeds):
            wanted = "one list of arrays" if self.case.feeds == 1 else f"{self.case.feeds} lists of arrays"
            raise ValueError(f"{self.id}: judge takes the outputs of each feed, here {wanted}, as `outputs` has them")
        types = [output.element_type for output in self.case.outputs]
        stored = [
            [_stored(output, types[number] if number < len(types) else None) for number, output in enumerate(outputs)]
            for outputs in feeds
        ]
        return Returned(
            outputs=tuple(tuple(array for array, _ in outputs) for outputs in stored),
            element_types=tuple(tuple(element_type for _, element_type in outputs) for outputs in stored),
            seconds=None,
        )

    def _model_name(self, dialect: str) -> str:
        name = self.suite.header.dialects.get(dialect)
        if name is None:
            raise MissingModel(f"the suite has no dialect {dialect}, only {', '.join(self.suite.header.dialects)}")
        if name not in self.entry.files:
            raise MissingModel(f"{self.id} has no model in {dialect}: {self.entry.left_out.get(dialect, 'left out')}")
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


def _stored(output: ArrayLike, expected: str | None) -> tuple[Array, str]:
    """An output in its storage dtype, and its element type: the expected one if it has its dtype or its bits."""
    array = np.asarray(output)
    if array.dtype.kind in "OSU":
        return _text(array), "string"
    kind = None if expected is None else ELEMENT_TYPES[expected]
    if kind is not None and array.dtype in (kind.native, kind.storage):
        name = kind.name
    elif array.dtype in _BY_DTYPE:
        name = _BY_DTYPE[array.dtype]
    else:
        raise ValueError(f"no element type has the dtype {array.dtype}")
    kind = ELEMENT_TYPES[name]
    bits = array.view(kind.storage)
    return (bits & kind.storage.type((1 << kind.bits) - 1) if kind.bits < _BYTE else bits), name


def _text(array: Array) -> Array:
    """Strings as a suite stores them, given texts, or objects that are texts or bytes."""
    if array.dtype.kind == "U":
        return array
    texts = [text_of(x if isinstance(x, bytes) else str(x).encode("utf-8", "surrogateescape")) for x in array.flat]
    return np.array(texts, np.str_).reshape(array.shape)
