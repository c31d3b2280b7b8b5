"""A right variant of GatherND-8: an independent implementation, which must pass every case."""

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from opconform.suite.case import Attribute
from opconform.tensors.tensor import Tensor
from opconform_runners.backends.backend import Rejected


def _require(holds: object) -> None:
    if not holds:
        raise Rejected("run", "the case is wrong")


def right_gather_nd(inputs: Sequence[Tensor | None], attributes: Mapping[str, Attribute]) -> list[Tensor]:
    """Copies runs of elements from flat offsets, with strides that it computes itself."""
    data, indices = [*inputs, None, None][:2]
    if data is None or indices is None:
        raise Rejected("build", "an input is missing")
    given = attributes.get("batch_dims", 0)
    _require(data.shape and indices.shape and indices.type.is_integer and type(given) is int)
    batches, length, numbers = int(str(given)), indices.shape[-1], indices.integers()
    _require(batches in range(min(len(data.shape), len(indices.shape))) and batches + length <= len(data.shape))
    leading = []
    for one, other in zip(data.shape[:batches], indices.shape[:batches], strict=True):
        _require(one in (other, 1) or other == 1)
        leading.append(max(one, other) if one and other else 0)
    sizes, rest = data.shape[batches : batches + length], data.shape[batches + length :]
    for number, each in enumerate(numbers):
        _require(each in range(-sizes[number % length], sizes[number % length]))
    positions, run, flat = prod(indices.shape[batches:-1]), prod(rest), data.array.reshape(-1)
    output = np.empty((prod(leading) * positions, run), data.array.dtype)
    for batch in range(prod(leading)):
        source, tuples = (_batch_number(batch, leading, each.shape[:batches]) for each in (data, indices))
        for position in range(positions):
            first, offset = (tuples * positions + position) * length, source
            for each, size in zip(numbers[first : first + length], sizes, strict=True):
                offset = offset * size + (each + size if each < 0 else each)
            output[batch * positions + position] = flat[offset * run : (offset + 1) * run]
    shape = (*leading, *indices.shape[batches:-1], *rest)
    return [Tensor(element_type=data.element_type, array=output.reshape(shape))]


def _batch_number(batch: int, leading: Sequence[int], shape: Sequence[int]) -> int:
    """The number of a batch of the output among those of a tensor whose dimensions of 1 are broadcast."""
    number, stride = 0, 1
    for whole, size in zip(reversed(leading), reversed(shape), strict=True):
        number += (batch % whole if size > 1 else 0) * stride
        batch, stride = batch // whole, stride * size
    return number
