"""A right variant of Pad-12: an independent implementation, which must pass every case."""

from collections.abc import Mapping, Sequence

import numpy as np

from opconform.suite.case import Attribute
from opconform.tensors.tensor import Tensor
from tests.mutants.row import refuse


def _require(holds: object) -> None:
    if not holds:
        refuse("the case is wrong")


def right_pad(inputs: Sequence[Tensor | None], attributes: Mapping[str, Attribute]) -> list[Tensor]:
    """Joins the rows of one dimension after the other, each of which is one of data's or of the value's."""
    data, begin, end, value = [*inputs, *[None] * 4][:4]
    if data is None or begin is None or end is None:
        refuse("an input is missing")
    _require(all(each.type.is_integer and each.shape == (data.array.ndim,) for each in (begin, end)))
    mode, is_text = attributes.get("pad_mode"), data.type.kind == "string"
    _require(mode in ("constant", "edge", "reflect", "symmetric") and (mode == "constant" or not is_text))
    _require(value is None or (not value.shape and value.element_type == data.element_type))
    pads = list(zip(begin.integers(), data.shape, end.integers(), strict=True))
    most = [max(before, after) for before, _, after in pads]
    _require(value is not None or mode != "constant" or data.element_type != "f8e8m0" or max(most, default=0) <= 0)
    for (_, size, _), pad in zip(pads, most, strict=True):
        _require(pad <= 0 or mode == "constant" or (size > 0 if mode == "edge" else pad < size + (mode == "symmetric")))
    zero = np.array("" if is_text else 7 if data.element_type == "nf4" else 0, data.array.dtype)
    added, array = zero if value is None else value.array, data.array
    shape = [max(sum(each), 0) for each in pads]
    if 0 in shape:  # another dimension can be longer than a list
        return [Tensor(element_type=data.element_type, array=np.empty(shape, array.dtype))]
    for axis, (before, size, after) in enumerate(pads):
        period = {"reflect": max(2 * size - 2, 1), "symmetric": max(2 * size, 1)}.get(str(mode), 0)
        outside = np.full((*array.shape[:axis], 1, *array.shape[axis + 1 :]), added)
        rows = np.concatenate([array, outside], axis)
        places = []
        for place in range(-before, max(size + after, -before)):
            if period:
                folded = place % period
                places.append(min(folded, period - folded - (mode == "symmetric")))
            else:
                places.append(min(max(place, 0), size - 1) if mode == "edge" else place if 0 <= place < size else size)
        array = np.take(rows, np.array(places, np.int64), axis)
    return [Tensor(element_type=data.element_type, array=array)]
