"""GatherND-8 by numpy's indexing with arrays, after checks of everything that the specification requires."""

from collections.abc import Mapping, Sequence

import numpy as np

from opconform.suite.case import Attribute
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.backends.direct import padded
from opconform_runners.backends.direct_gather import broadcast_batches_of, check_tuples
from opconform_runners.backends.numpy_arguments import data_of, integers_of, refused


def gather_nd(inputs: Sequence[Tensor | None], attributes: Mapping[str, Attribute]) -> list[Tensor]:
    """The output of GatherND-8."""
    given, tuples_given = padded(inputs, 2)
    data, indices = data_of(given), integers_of("indices", tuples_given)
    if not indices.shape:
        raise refused("indices.rank", "indices is a scalar")
    batches = broadcast_batches_of(attributes.get("batch_dims", 0), data.shape, indices.shape, "build")
    check_tuples(indices.shape[-1], data.ndim, batches, "build")
    numbers, length = indices.integers(), indices.shape[-1]
    for place, size in enumerate(data.shape[batches : batches + length]):
        if any(each >= size or each < -size for each in numbers[place::length]):
            raise refused("indices.range", f"an index into a dimension of {size} is out of range")
    tuples = np.array(numbers, np.int64).reshape(indices.shape)
    return [Tensor(element_type=given.element_type, array=_gathered(data, tuples, batches))]


def _gathered(data: Array, tuples: Array, batches: int) -> Array:
    """One index with an array per batch dimension and per place in a tuple."""
    leading = np.broadcast_shapes(data.shape[:batches], tuples.shape[:batches])
    repeated = np.broadcast_to(data, leading + data.shape[batches:])
    positions = leading + tuples.shape[batches:-1]
    grids = np.indices(leading + (1,) * (len(positions) - batches), sparse=True)[:batches]
    array = repeated[(*grids, *np.moveaxis(tuples, -1, 0))]
    shape = positions + data.shape[batches + tuples.shape[-1] :]
    return np.array(np.broadcast_to(array, shape), data.dtype, order="C")
