"""The graph around a case's operation, and its operands, as a script's source says them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from opconform.case import Accept, Case
from opconform.contexts import alike, other_axis
from opconform.element_types import ELEMENT_TYPES
from opconform.tensors import Array, Tensor


def axis_of(arrays: Mapping[str, Array], case: Case) -> int | None:
    """The axis, counted from the front, or None where it is none of data's."""
    given = next((each for each in case.inputs if each.name == "axis"), None)
    if given is None or "data" not in arrays or not ELEMENT_TYPES[given.element_type].is_integer:
        return None
    values = Tensor(element_type=given.element_type, array=arrays["axis"]).integers()
    rank = arrays["data"].ndim
    return values[0] % rank if len(values) == 1 and -rank <= values[0] < rank else None


class Graph(NamedTuple):
    """The graph around the operation, and the operation's operands as Python's own numbers, in source.

    Attributes:
        axis: The axis of the split, counted from the front.
        other: The axis along which outputs are joined in the context `shared`.
        alike: The outputs that are joined there.
        pieces: How many outputs the first operation has.
        plain_axis: The axis.
        plain_lengths: The lengths, with a single -1 worked out.
        plain_again: The lengths of the second operation in the context `chain`.
    """

    axis: int
    other: int
    alike: tuple[int, ...]
    pieces: int
    plain_axis: str
    plain_lengths: str
    plain_again: str


def graph_of(case: Case, given: Mapping[str, Tensor]) -> Graph:
    """What a script needs to know of a case's model, from the values of its inputs by name."""
    shapes = [each.shape for each in case.expect.accept] if isinstance(case.expect, Accept) else []
    pieces = {"shared": len(shapes) - 1, "chain": (len(shapes) + 1) // 2}.get(case.context, len(shapes))
    axis = axis_of({name: each.array for name, each in given.items()}, case) or 0
    lengths = _plain(given["split_lengths"]) if "split_lengths" in given else None
    data = given["data"].shape if "data" in given else ()
    last = shapes[pieces - 1] if case.context == "shared" and shapes else data
    if case.context == "chain" and shapes:
        last = (*data[:axis], sum(each[axis] for each in shapes[pieces - 1 :]), *data[axis + 1 :])
    return Graph(
        axis=axis,
        other=other_axis(axis, len(data)) if data else 0,
        alike=alike(shapes[:pieces]) if case.context == "shared" else (),
        pieces=pieces,
        plain_axis=repr(_plain_axis(case, given["axis"])) if "axis" in given else "None",
        plain_lengths=repr(_filled(lengths, data, axis)),
        plain_again=repr(_filled(lengths, last, axis)),
    )


def _plain_axis(case: Case, axis: Tensor) -> object:
    """An axis for those whose axis is a number; VariadicSplit-1 has it in a list of one, too."""
    is_listed = case.op == "VariadicSplit-1" and axis.shape == (1,)
    return _plain(Tensor(element_type=axis.element_type, array=axis.array.reshape(()) if is_listed else axis.array))


def _plain(tensor: Tensor) -> object:
    """A tensor as Python's own numbers."""
    if tensor.type.is_integer:
        return np.array(tensor.integers(), object).reshape(tensor.shape).tolist()
    values = tensor.array.view(tensor.type.arithmetic) if tensor.type.kind == "float" else tensor.array
    return values.tolist()


def _filled(lengths: object, shape: Sequence[int], axis: int) -> object:
    """Lengths with a single -1 replaced, for those that have no such notion."""
    if not isinstance(lengths, list) or lengths.count(-1) != 1 or not all(type(each) is int for each in lengths):
        return lengths
    rest = shape[axis] - sum(each for each in lengths if each != -1)
    return [rest if each == -1 else each for each in lengths]
