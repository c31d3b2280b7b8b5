"""The inputs of a case as one line of text."""

from collections.abc import Mapping, Sequence

from opconform.suite.case import Case, Input
from opconform.tensors.tensor import Array, Tensor

_MOST = 8


def description_of(case: Case, feeds: Sequence[Mapping[str, Array]]) -> str:
    """The inputs of a case, as in `data f32[6, 4], axis 0, split_lengths [-1, 9]`, and how they are provided.

    Args:
        case: The case.
        feeds: The arrays of each of its feeds.
    """
    first, *others = feeds
    parts = [_input(each, first[each.name], run_time=True) for each in case.inputs]
    parts += [
        f"{name} {list(value) if isinstance(value, tuple) else value!r}" for name, value in case.attributes.items()
    ]
    for each in case.inputs:
        if each.dynamic is not None:
            declared = each.dynamic if isinstance(each.dynamic, str) else ",".join(str(size) for size in each.dynamic)
            parts.append(f"{each.name} declared [{declared}]")
    if case.context != "bare":
        parts.append(f"context {case.context}")
    for second in others:
        changed = [each for each in case.inputs if not _same(first[each.name], second[each.name])]
        parts.append(f"then {', '.join(_input(each, second[each.name]) for each in changed) or 'the same'}")
    return ", ".join(parts) or "nothing"


def _input(each: Input, array: Array, *, run_time: bool = False) -> str:
    if each.role == "tensor":
        return f"{each.name} {each.element_type}{list(array.shape)}"
    kind = "" if each.element_type == "i64" else f"{each.element_type} "
    when = " at run time" if run_time and each.binding == "parameter" else ""
    return f"{each.name} {kind}{_values(Tensor(element_type=each.element_type, array=array))}{when}"


def _same(first: Array, second: Array) -> bool:
    return first.shape == second.shape and first.tobytes() == second.tobytes()


def _texts(tensor: Tensor) -> list[str]:
    flat = tensor.array.reshape(-1)[:_MOST]
    return [str(each) for each in (flat.view(tensor.type.arithmetic) if tensor.type.kind == "float" else flat)]


def _values(tensor: Tensor) -> str:
    values = tensor.integers() if tensor.type.is_integer else _texts(tensor)
    shown = ", ".join(str(each) for each in values[:_MOST]) + (", …" if tensor.array.size > _MOST else "")
    return (
        shown
        if not tensor.shape
        else f"[{shown}]"
        if len(tensor.shape) == 1
        else f"[{shown}] of shape {list(tensor.shape)}"
    )
