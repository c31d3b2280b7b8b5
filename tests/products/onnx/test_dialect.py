"""The dialect onnx on ONNX Runtime: it returns the golden of each model."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import onnxruntime
import pytest

from opconform.dialects import DIALECTS
from opconform.model.golden import Golden
from opconform.tensors.tensor import Array
from tests.dialects.models import check, goldens, native
from tests.dialects.neighbours import SOME, check_convolved, check_neighbours
from tests.dialects.test_onnx_reasons import EXPRESSIBLE

#: The operations that ONNX Runtime does not have for i32.
NOT_OF_I32 = {"Col2Im-15", "Unique-10"}


def executed(golden: Golden) -> Iterator[Sequence[Array]]:
    """Its model in ONNX Runtime."""
    [content] = DIALECTS["onnx"].files_of(golden, "it").values()
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    names = [source.name for source in session.get_inputs()]
    for inputs in golden.inputs:
        yield session.run(None, {name: native(inputs[name]) for name in names})


@SOME
def test_a_neighbour_is_rendered_with_its_own_settings(tmp_path: Path, step: int) -> None:
    """Behind each of the operations."""
    check_neighbours(tmp_path, "onnx", executed, step, NOT_OF_I32)


@SOME
def test_a_convolution_is_rendered_in_front(tmp_path: Path, step: int) -> None:
    """Of each operation that takes its output."""
    check_convolved(tmp_path, "onnx", executed, step)


@pytest.mark.parametrize("what", EXPRESSIBLE)
def test_what_onnx_can_express_is_rendered(tmp_path: Path, what: str) -> None:
    """The case, and its neighbour check if it has one."""
    for golden in goldens(tmp_path, EXPRESSIBLE[what]):
        check(golden, executed)
