"""Evidence: what a page shows of one case, read from the suite and from what was kept of the run."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from opconform.model.highlight import highlight_of
from opconform.suite.case import Accept, Case, Output, Reject
from opconform.suite.manifest import Entry, expected_name, inputs_name
from opconform.suite.reader import Suite
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.execution.failed_outputs import Kept
from opconform_runners.reports.html.excerpts import UNKNOWN, Excerpt, excerpt_of
from opconform_runners.verdicts.comparison import Mismatch
from opconform_runners.verdicts.results import Result

#: The most outputs that are shown of a case, values of an input, and elements of a tensor that is read at all.
_OUTPUTS = 4
_VALUES = 12
_ELEMENTS = 1 << 22
#: What compares the elements of one output.
_ELEMENTWISE = ("value", "nan-payload")


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """The case in an IR language: the name of its file, and its text."""

    name: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """What a page shows of one case.

    Attributes:
        title: The title of its group.
        inputs: Each input and attribute in words.
        data: The tensor that the outputs are parts of, with the parts marked; else the first tensor.
        expected: What was expected, in words.
        wanted: The expected outputs.
        actual: What came, in words.
        got: The outputs that came, where there are any.
        note: What is not shown, and why.
        models: The case's IR.
        twin: The id of the case that differs in nothing but the fault.
    """

    title: str
    inputs: tuple[str, ...]
    data: Excerpt | None = None
    expected: str
    wanted: tuple[Excerpt, ...] = ()
    actual: str
    got: tuple[Excerpt, ...] = ()
    note: str = ""
    models: tuple[Model, ...] = ()
    twin: str | None = None


def evidence_of(
    suite: Suite, entry: Entry, result: Result, kept: Kept, models: Callable[[Suite, Entry], Sequence[Model]]
) -> Evidence:
    """The evidence of a case.

    Args:
        suite: The suite that was run.
        entry: The case's line of the manifest.
        result: What became of the case.
        kept: What was kept of the run.
        models: Gives a case's IR as text.

    Raises:
        SuiteError: A file of the case is not what the manifest says.
    """
    case = suite.case(entry)
    plain = Evidence(
        title=case.title,
        inputs=_inputs(case, {}),
        expected=_expected(case),
        actual=result.sentence,
        twin=case.twin,
        models=tuple(models(suite, entry)),
    )
    if sum(math.prod(each.shape) for each in case.inputs) > _ELEMENTS:
        return replace(plain, note="The tensors are too large to be drawn here.")
    mismatch = result.mismatch
    feed = mismatch.feed if mismatch is not None else _last_feed(case)
    arrays = suite.arrays(entry, inputs_name(feed))
    golden = suite.arrays(entry, expected_name(feed)) if expected_name(feed) in entry.files else {}
    came = {number: each for (which, number), each in kept.outputs(entry.id).items() if which == feed}
    outputs = case.expect.accept if isinstance(case.expect, Accept) else ()
    shown = replace(
        plain,
        inputs=_inputs(case, arrays),
        data=_picture(case, arrays, mismatch),
        note="" if feed == 0 else f"This is feed {feed}: a further inference on the model already built.",
    )
    if mismatch is not None and mismatch.reason in _ELEMENTWISE and mismatch.output in golden:
        output = next(each for each in outputs if each.name == mismatch.output)
        wanted, got = _compared(output, golden[output.name], came.get(_number(output.name)), mismatch)
        return replace(shown, wanted=(wanted,), got=(got,))
    some = [each for each in outputs if each.name in golden]
    at_fault = [each for each in some if mismatch is not None and each.name == mismatch.output]
    listed = (at_fault or some)[:_OUTPUTS]
    numbers = [_number(each.name) for each in at_fault] or sorted(came)
    element_type = outputs[0].element_type if outputs else _first_type(case)
    return replace(
        shown,
        wanted=tuple(excerpt_of(each.name, golden[each.name], each.element_type) for each in listed),
        got=tuple(
            excerpt_of(f"output_{number}", came[number], element_type)
            for number in numbers[:_OUTPUTS]
            if number in came
        ),
    )


def _compared(output: Output, want: Array, came: Array | None, mismatch: Mismatch) -> tuple[Excerpt, Excerpt]:
    """An output as it is expected and as it came, around the first difference."""
    at = mismatch.at or ()
    if came is not None and (came.dtype.kind, came.shape) == (want.dtype.kind, want.shape):
        return (
            excerpt_of(output.name, want, output.element_type, other=came, at=at),
            excerpt_of(output.name, came, output.element_type, other=want, at=at),
        )
    wanted = excerpt_of(output.name, want, output.element_type, at=at)
    row, column = first = wanted.first or (0, 0)
    cells = tuple(
        tuple((mismatch.actual or UNKNOWN) if (y, x) == (row, column) else UNKNOWN for x in range(len(line)))
        for y, line in enumerate(wanted.rows)
    )
    return (
        replace(wanted, patterns={first: mismatch.expected or ""}),
        replace(wanted, rows=cells, patterns={first: mismatch.actual or ""}),
    )


def _picture(case: Case, arrays: dict[str, Array], mismatch: Mismatch | None) -> Excerpt | None:
    """The input that the outputs are parts of, around the first difference; without such parts, the first tensor."""
    tensors = {each.name: each.element_type for each in case.inputs if each.role == "tensor" and each.name in arrays}
    highlight = highlight_of(case, arrays)
    if highlight is None:
        name = next(iter(tensors), None)
        return None if name is None else excerpt_of(name, arrays[name], tensors[name])
    at = None
    if mismatch is not None and mismatch.at is not None and mismatch.output is not None:
        start = highlight.regions[_number(mismatch.output)].start
        at = tuple(first + each for first, each in zip(start, mismatch.at, strict=True))
    name = highlight.input
    return excerpt_of(name, arrays[name], tensors[name], axis=highlight.axis, chunks=highlight.sizes, at=at)


def _last_feed(case: Case) -> int:
    """The feed that a failure without a mismatch is about: a rejected case is wrong in its last one."""
    return case.feeds - 1 if isinstance(case.expect, Reject) else 0


def _first_type(case: Case) -> str:
    return next((each.element_type for each in case.inputs if each.role == "tensor"), "f32")


def _number(output: str) -> int:
    return int(output.removeprefix("output_"))


def _expected(case: Case) -> str:
    match case.expect:
        case Reject(reject=requirement):
            return f"It is refused, since it violates {requirement}."
        case Accept(accept=outputs):
            kinds = ", ".join(f"{each.element_type}{list(each.shape)}" for each in outputs[:_VALUES])
            more = f", … {len(outputs)} in all" if len(outputs) > _VALUES else ""
            return f"It is accepted, with the outputs {kinds}{more}." if outputs else "It is accepted, with no output."
        case None:
            return ""


def _inputs(case: Case, arrays: dict[str, Array]) -> tuple[str, ...]:
    lines = []
    for each in case.inputs:
        values = (
            f" = {_values(Tensor(element_type=each.element_type, array=arrays[each.name]))}"
            if each.name in arrays and each.role == "control"
            else ""
        )
        declared = "" if each.dynamic is None else f", declared {_declared(each.dynamic)}"
        lines.append(f"{each.name}: {each.element_type}{list(each.shape)}, {each.binding}{declared}{values}")
    return (*lines, *(f"{name}: {value!r}" for name, value in case.attributes.items()), f"context: {case.context}")


def _declared(dynamic: Sequence[int | str] | str) -> str:
    return dynamic if isinstance(dynamic, str) else f"[{', '.join(str(each) for each in dynamic)}]"


def _values(tensor: Tensor) -> str:
    values = tensor.integers() if tensor.type.is_integer else tensor.array.reshape(-1).tolist()
    shown = ", ".join(str(each) for each in values[:_VALUES]) + (", …" if len(values) > _VALUES else "")
    return shown if not tensor.shape else f"[{shown}]"
