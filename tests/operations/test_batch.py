"""SpaceToBatch-2 and BatchToSpace-2: each clause of their pages."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opconform.operations.arguments import Arguments, Operand
from opconform.operations.movement.batch import BATCH_TO_SPACE, SPACE_TO_BATCH
from opconform.tensors.tensor import Array, Tensor

PADS = ("block_shape", "pads_begin", "pads_end")
CROPS = ("block_shape", "crops_begin", "crops_end")


def arguments(data: Array, names: tuple[str, ...], *settings: list[int]) -> Arguments:
    """The arguments for some data."""
    tensor = Tensor(element_type="i32", array=data.astype(np.int32))
    inputs = {"data": Operand(element_type="i32", shape=tensor.shape, tensor=tensor)}
    for name, values in zip(names, settings, strict=True):
        inputs[name] = Operand(element_type="i64", shape=(len(values),), integers=tuple(values))
    return Arguments(inputs=inputs)


@given(data=st.data(), batches=st.integers(1, 3), sizes=st.lists(st.integers(1, 3), min_size=1, max_size=3))
def test_every_place_in_the_blocks_has_its_batches(data: st.DataObject, batches: int, sizes: list[int]) -> None:
    """Zeros are around data, and the reverse operation removes them."""
    blocks = [data.draw(st.integers(1, 3)) for _ in sizes]
    begin = [data.draw(st.integers(0, size * block - 1)) for size, block in zip(sizes, blocks, strict=True)]
    whole = (batches, *(size * block for size, block in zip(sizes, blocks, strict=True)))
    inner = np.arange(1, 1 + batches * np.prod([x - y for x, y in zip(whole[1:], begin, strict=True)], dtype=int))
    image = inner.reshape(batches, *(x - y for x, y in zip(whole[1:], begin, strict=True)))
    padded = np.zeros(whole, int)
    padded[(slice(None), *(slice(first, None) for first in begin))] = image
    nothing = [0] * (len(sizes) + 1)
    given_arguments = arguments(image, PADS, [1, *blocks], [0, *begin], nothing)

    [output] = SPACE_TO_BATCH.evaluate(given_arguments)
    [back] = BATCH_TO_SPACE.evaluate(arguments(output.array, CROPS, [1, *blocks], [0, *begin], nothing))

    assert [x.shape for x in SPACE_TO_BATCH.infer(given_arguments)] == [output.shape]
    assert output.shape == (batches * np.prod(blocks, dtype=int), *sizes)
    assert back.array.tolist() == image.tolist()
    for at in np.ndindex(*whole):
        inside = np.ravel_multi_index([x % block for x, block in zip(at[1:], blocks, strict=True)], blocks)
        outside = (x // block for x, block in zip(at[1:], blocks, strict=True))
        assert output.array[(inside * batches + at[0], *outside)] == padded[at]


@pytest.mark.parametrize(
    ("settings", "violated"),
    [
        (([1, 3], [0, 0], [0, 0]), "block_shape.divides"),
        (([1, 0], [0, 0], [0, 0]), "block_shape.positive"),
        (([2, 2], [0, 0], [0, 0]), "block_shape.batch"),
        (([1, 2], [0, 3], [0, 2]), "crops.limit"),
        (([1, 2], [0, -1], [0, 0]), "crops.negative"),
        (([1, 2], [1, 0], [0, 0]), "crops.batch"),
        (([1, 2], [0], [0, 0]), "crops_begin.count"),
    ],
)
def test_blocks_and_crops_fit_data(settings: tuple[list[int], ...], violated: str) -> None:
    """Eight batches of two elements."""
    assert BATCH_TO_SPACE.judged(arguments(np.zeros((8, 2)), CROPS, *settings))[1] == (violated,)
