"""Gather-8: each clause of its page, and numpy's own `take`."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from opconform.operations.arguments import Arguments, Operand
from opconform.operations.movement.gathers.gather import GATHER, GATHER_1, GATHER_7
from opconform.operations.operation import Operation
from opconform.tensors.literals import encoded
from opconform.tensors.tensor import Tensor


def arguments(
    shape: tuple[int, ...], indices: object, axis: int = 0, batch_dims: int = 0, index_type: str = "i64"
) -> Arguments:
    """The arguments for ramp data of a shape; the indices are nested numbers."""
    data = Tensor(element_type="i32", array=np.arange(1, 1 + np.prod(shape), dtype="u4").reshape(shape))
    array = np.array(indices, object)
    stored = encoded(index_type, tuple(array.reshape(-1).tolist())).reshape(array.shape)
    inputs = {
        "data": Operand(element_type="i32", shape=shape, tensor=data),
        "indices": Operand(
            element_type=index_type, shape=array.shape, tensor=Tensor(element_type=index_type, array=stored)
        ),
        "axis": Operand(element_type="i64", shape=(), integers=(axis,)),
    }
    return Arguments(inputs=inputs, attributes={"batch_dims": batch_dims})


@given(data=st.data())
def test_every_batch_has_the_slices_that_numpy_takes(data: st.DataObject) -> None:
    """For indices in range, counted from either end, and zeros for all others."""
    batches = data.draw(st.lists(st.integers(0, 3), max_size=2))
    between, after, count = (data.draw(st.lists(st.integers(0, 3), max_size=2)) for _ in range(3))
    size = data.draw(st.integers(0, 4))
    shape, rows = (*batches, *between, size, *after), (*batches, *count)
    total = int(np.prod(rows))
    indices = np.array(data.draw(st.lists(st.integers(-6, 6), min_size=total, max_size=total)), np.int64)
    negative = data.draw(st.booleans()) and bool(count) and len(count) <= len(shape)
    given_arguments = arguments(
        shape,
        indices.reshape(rows),
        axis=len(batches) + len(between) - (len(shape) if data.draw(st.booleans()) else 0),
        batch_dims=-len(count) if negative else len(batches),
    )
    whole = np.arange(1, 1 + np.prod(shape), dtype="u4").reshape(shape)
    padded = np.concatenate(
        [whole, np.zeros_like(whole, shape=(*batches, *between, 1, *after))], len((*batches, *between))
    )
    places = np.where((indices >= -size) & (indices < size), indices % max(size, 1), size).reshape(rows)
    expected = np.empty((*batches, *between, *count, *after), "u4")
    for number in np.ndindex(*batches):
        expected[number] = np.take(padded[number], places[number], len(between))

    [output] = GATHER.evaluate(given_arguments)

    assert output.array.tolist() == expected.tolist()
    assert [x.shape for x in GATHER.infer(given_arguments)] == [expected.shape]


def test_indices_beyond_64_bits_are_exact() -> None:
    """The maximum of an unsigned type is not -1."""
    [output] = GATHER.evaluate(arguments((4,), [(1 << 64) - 1, 3], index_type="u64"))

    assert output.array.tolist() == [0, 4]


def test_older_versions_count_no_index_from_the_end() -> None:
    """And Gather-1 has no batch dimensions."""
    for operation in (GATHER_7, GATHER_1):
        for index, violated in ((-1, ("indices.range",)), (0, ()), (3, ()), (4, ("indices.range",))):
            assert operation.judged(at(operation, [[index], [1]]))[1] == violated
    assert [output.shape for output in GATHER_1.infer(at(GATHER_1, [[0], [1]]))] == [(2, 1, 3)]
    [older], [newer] = (x.evaluate(at(x, [[2], [1]])) for x in (GATHER_7, GATHER))
    assert older.array.tolist() == newer.array.tolist()


def at(operation: Operation, indices: object) -> Arguments:
    """The arguments for some indices along the first axis."""
    given = arguments((4, 3), indices)
    return replace(given, attributes=given.attributes if operation.attributes else {})
