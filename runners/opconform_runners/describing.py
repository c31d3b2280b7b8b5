"""Describing: a case's inputs in a line that a person reads."""

from collections.abc import Mapping

from opconform.case import Case
from opconform.tensors import Array, Tensor

_MOST = 8


def description_of(case: Case, inputs: Mapping[str, Array]) -> str:
    """What a case gives its operation: `data f32[6, 4], axis 0, split_lengths [-1, 9]`, and how it is delivered.

    Args:
        case: The case.
        inputs: The arrays of its first feed.
    """
    parts = []
    for each in case.inputs:
        if each.name == "data":
            parts.append(f"data {each.element_type}{list(each.shape)}")
        else:
            kind = "" if each.element_type == "i64" else f"{each.element_type} "
            run_time = " at run time" if each.binding == "parameter" else ""
            tensor = Tensor(element_type=each.element_type, array=inputs[each.name])
            parts.append(f"{each.name} {kind}{_values(tensor)}{run_time}")
    parts += [f"{name} {value!r}" for name, value in case.attributes.items()]
    for each in case.inputs:
        if each.dynamic is not None:
            declared = each.dynamic if isinstance(each.dynamic, str) else ",".join(str(size) for size in each.dynamic)
            parts.append(f"{each.name} declared [{declared}]")
    if case.context != "bare":
        parts.append(f"context {case.context}")
    return ", ".join(parts) or "nothing"


def _values(tensor: Tensor) -> str:
    values = tensor.integers() if tensor.type.is_integer else [str(each) for each in tensor.array.reshape(-1)[:_MOST]]
    shown = ", ".join(str(each) for each in values[:_MOST]) + (", …" if tensor.array.size > _MOST else "")
    return (
        shown
        if not tensor.shape
        else f"[{shown}]"
        if len(tensor.shape) == 1
        else f"[{shown}] of shape {list(tensor.shape)}"
    )
