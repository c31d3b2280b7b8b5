"""The rows of OpenVINO's findings that failures of the two splits belong to, by handwritten rules."""

from collections.abc import Callable, Mapping

from opconform.model.draft import Draft
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_runners.findings.failures import severity_of
from opconform_runners.tools.fuzz.batch import Failure

#: Lengths, axes and sizes from which on they do not fit into 32 bits.
_FAR = 1 << 31
_LESS_THAN_A_BYTE = ("u1", "u2", "u3", "u4", "u6", "i4", "nf4", "f4e2m1")


def row_of(failure: Failure) -> int | None:
    """The number of the row, or None for a failure that the page does not have."""
    broken, draft = next(iter(failure.result.broken), ""), failure.trial.draft
    if failure.result.reason in ("rejected-valid", "shape"):
        return _size(draft)
    element_type = draft.tensors["data"].element_type if "data" in draft.tensors else ""
    is_heap = failure.result.reason == "crash" and element_type in ("string", *_LESS_THAN_A_BYTE)
    if is_heap or broken == "data.bits" or failure.result.reason == "nan-payload":
        return _data(failure, element_type, is_constant=draft.binding["data"] == "constant")
    rule = _ACCEPTED.get(broken)
    return None if rule is None else rule(failure, draft)


def _size(draft: Draft) -> int | None:
    """Sizes are clamped to 31 bits."""
    if draft.op != "VariadicSplit-1" or max(_sizes(draft), default=0) < _FAR:
        return None
    return 27 if -1 in _elements(draft, "split_lengths") else 26


def _data(failure: Failure, element_type: str, *, is_constant: bool) -> int | None:
    """Changed elements, and crashes while they are moved."""
    symptom, is_crash = failure.symptom[2], failure.result.reason == "crash"
    if element_type == "string":
        return 8 if is_constant and is_crash else 7 if is_crash else 6
    if element_type in _LESS_THAN_A_BYTE:
        return 5 if is_constant else 4
    if is_crash:
        return None
    rows: Mapping[str, int] = {"i64": 9, "u64": 10, "f64": 11, "u32": 12, "f32": 13, "bf16": 14, "f16": 15}
    if symptom.startswith("Clamped"):
        return 12
    return rows.get(element_type)


def _remainder_sum(failure: Failure, draft: Draft) -> int | None:
    is_crash = failure.result.reason == "crash"
    return 2 if is_crash and max(map(abs, _elements(draft, "split_lengths")), default=0) >= _FAR else 1


def _negative(failure: Failure, _: Draft) -> int:
    return 3 if severity_of(failure.result) in ("memory", "crash") else 20


def _axis_range(_: Failure, draft: Draft) -> int:
    return 17 if _is_far(draft, "axis") else 16


def _sum(_: Failure, draft: Draft) -> int | None:
    if draft.tensors["split_lengths"].element_type in _LESS_THAN_A_BYTE:
        return None
    return 19 if _is_far(draft, "split_lengths") else 18


def _axis_type(_: Failure, draft: Draft) -> int:
    return 22 if draft.tensors["axis"].element_type == "boolean" else 21


#: The rules for requirements that invalid cases violate.
_ACCEPTED: Mapping[str, Callable[[Failure, Draft], int | None]] = {
    "lengths.remainder-sum": _remainder_sum,
    "lengths.negative": _negative,
    "axis.range": _axis_range,
    "lengths.sum": _sum,
    "axis.element-type": _axis_type,
    "lengths.element-type": lambda *_: 23,
    "num_splits.type": lambda *_: 24,
    "num_splits.zero-dimension": lambda *_: 25,
}


def _is_far(draft: Draft, name: str) -> bool:
    """Whether an unsigned tensor has elements that are negative if they are read as signed ones."""
    is_signed = ELEMENT_TYPES[draft.tensors[name].element_type].minimum < 0
    return not is_signed and max(_elements(draft, name), default=0) >= _FAR


def _elements(draft: Draft, name: str) -> list[int]:
    given = [feed[name] for feed in (draft.tensors, draft.second or {}) if name in feed]
    return [int(element) for tensor in given for element in tensor.elements]


def _sizes(draft: Draft) -> list[int]:
    return [size for feed in (draft.tensors, draft.second or {}) for tensor in feed.values() for size in tensor.shape]
