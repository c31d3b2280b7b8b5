"""GatherND-8: each clause of its page, and Python's own nested lists."""

from itertools import product
from math import prod

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from opconform.operations.arguments import Arguments, Operand
from opconform.operations.movement.gathers.gather_nd import GATHER_ND, GATHER_ND_5
from opconform.tensors.tensor import Array, Tensor


def arguments(shape: tuple[int, ...], indices: object, batch_dims: int = 0) -> Arguments:
    """The arguments for ramp data of a shape; the indices are nested numbers."""
    data, array = Tensor(element_type="i32", array=ramp(shape)), np.array(indices, object)
    inputs = {
        "data": Operand(element_type="i32", shape=shape, tensor=data),
        "indices": Operand(element_type="i64", shape=array.shape, integers=tuple(array.reshape(-1).tolist())),
    }
    return Arguments(inputs=inputs, attributes={"batch_dims": batch_dims})


def ramp(shape: tuple[int, ...]) -> Array:
    """1, 2, 3, … in a shape."""
    return np.arange(1, 1 + prod(shape), dtype="u4").reshape(shape)


@given(data=st.data())
def test_each_tuple_selects_what_nested_lists_hold(data: st.DataObject) -> None:
    """In the data of its batch, with batch dimensions of 1 on either side repeated."""
    leading, after, count = (tuple(data.draw(st.lists(st.integers(0, 3), max_size=2))) for _ in range(3))
    sizes = tuple(data.draw(st.lists(st.integers(1, 4), min_size=not after, max_size=3)))
    ones = [tuple(1 if data.draw(st.booleans()) else size for size in leading) for _ in range(2)]
    broadcast = tuple(np.broadcast_shapes(*ones))
    shape, rows = (*ones[0], *sizes, *after), (*ones[1], *count, len(sizes))
    tuples = np.empty((prod(rows[:-1]), len(sizes)), np.int64)
    for place, size in enumerate(sizes):
        tuples[:, place] = [data.draw(st.integers(-size, size - 1)) for _ in tuples]
    nested = ramp(shape).tolist()
    expected = []
    for position in product(*(range(size) for size in (*broadcast, *count))):
        batch = [min(at, size - 1) for at, size in zip(position, ones[1], strict=False)]
        row = tuples.reshape(rows)[(*batch, *position[len(batch) :])]
        block = nested
        for at in (*(min(at, size - 1) for at, size in zip(position, ones[0], strict=False)), *row):
            block = block[at]
        expected.append(block)
    given_arguments = arguments(shape, tuples.reshape(rows), len(leading))

    [output] = GATHER_ND.evaluate(given_arguments)

    assert output.array.reshape(-1).tolist() == np.array(expected, np.int64).reshape(-1).tolist()
    assert output.shape == (*broadcast, *count, *after)
    assert [x.shape for x in GATHER_ND.infer(given_arguments)] == [output.shape]


def test_an_omitted_attribute_means_no_batches() -> None:
    """The first dimension of both is equal, but is not a batch dimension."""
    given_inputs = arguments((2, 3), ((1,), (0,))).inputs

    [output] = GATHER_ND.evaluate(GATHER_ND.arguments(given_inputs, {}))

    assert output.array.tolist() == [[4, 5, 6], [1, 2, 3]]


def test_gathernd_5_joins_batches_and_counts_no_index_from_the_end() -> None:
    """Example 6 of its page."""
    indices = [[[[1]], [[0]], [[2]]], [[[0]], [[2]], [[2]]]]
    [output] = GATHER_ND_5.evaluate(arguments((2, 3, 4), indices, 2))
    assert output.array.tolist() == [[2], [5], [11], [13], [19], [23]]
    assert [x.shape for x in GATHER_ND_5.infer(arguments((2, 3, 4), indices, 2))] == [(6, 1)]
    assert [GATHER_ND_5.judged(arguments((2,), [[index]]))[1] for index in (-1, 0, 1, 2)] == [
        ("indices.range",),
        (),
        (),
        ("indices.range",),
    ]
