"""SpaceToDepth-1 and DepthToSpace-1: each clause of their pages, and ONNX's own reference for images."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opconform.operations.arguments import Arguments, Operand
from opconform.operations.movement.depth import DEPTH_TO_SPACE, SPACE_TO_DEPTH
from opconform.tensors.tensor import Array, Tensor

SIZES = st.lists(st.integers(0, 3), min_size=1, max_size=3)
MODES = st.sampled_from(["blocks_first", "depth_first"])


def arguments(data: Array, block_size: int, mode: str) -> Arguments:
    """The arguments for some data."""
    tensor = Tensor(element_type="i32", array=data.astype(np.int32))
    operand = Operand(element_type="i32", shape=tensor.shape, tensor=tensor)
    return Arguments(inputs={"data": operand}, attributes={"block_size": block_size, "mode": mode})


@given(leading=st.tuples(st.integers(1, 3), st.integers(1, 3)), sizes=SIZES, block=st.integers(1, 3), mode=MODES)
def test_every_element_of_a_block_has_its_channel(
    leading: tuple[int, int], sizes: list[int], block: int, mode: str
) -> None:
    """And the reverse operation puts it back."""
    shape = (*leading, *(size * block for size in sizes))
    data = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    given_arguments = arguments(data, block, mode)
    [deep] = SPACE_TO_DEPTH.evaluate(given_arguments)
    [back] = DEPTH_TO_SPACE.evaluate(arguments(deep.array, block, mode))

    assert [x.shape for x in SPACE_TO_DEPTH.infer(given_arguments)] == [deep.shape]
    assert deep.shape == (leading[0], leading[1] * block ** len(sizes), *sizes)
    assert back.array.tolist() == data.tolist()
    for at in np.ndindex(*shape):
        inside = np.ravel_multi_index([x % block for x in at[2:]], [block] * len(sizes))
        channel = inside * leading[1] + at[1] if mode == "blocks_first" else at[1] * block ** len(sizes) + inside
        assert deep.array[(at[0], channel, *(x // block for x in at[2:]))] == data[at]


@pytest.mark.parametrize(("mode", "word"), [("blocks_first", "DCR"), ("depth_first", "CRD")])
def test_images_are_those_of_onnx(mode: str, word: str) -> None:
    """Whose words for the modes name the order of depth, column and row."""
    from onnx.reference.ops.op_depth_to_space import DepthToSpace

    data: Any = np.arange(2 * 18 * 2 * 3).reshape(2, 18, 2, 3)
    expected = DepthToSpace.eval(data, blocksize=3, mode=word)
    [output] = DEPTH_TO_SPACE.evaluate(arguments(data, 3, mode))

    assert output.array.tolist() == np.asarray(expected).tolist()


@pytest.mark.parametrize(
    ("shape", "block_size", "violated"),
    [((1, 4, 3), 2, "divides"), ((1, 4, 4), 0, "positive"), ((1, 4, 4), -2, "positive")],
)
def test_blocks_fill_data(shape: tuple[int, ...], block_size: int, violated: str) -> None:
    """The channels are divided by the number of elements in a block, and not by its size."""
    given_arguments = arguments(np.zeros(shape), block_size, "depth_first")

    assert SPACE_TO_DEPTH.judged(given_arguments)[1] == (f"block_size.{violated}",)
    image = arguments(np.zeros((1, 6, 2, 2)), 2, "depth_first")
    assert DEPTH_TO_SPACE.judged(image)[1] == ("block_size.divides",)
