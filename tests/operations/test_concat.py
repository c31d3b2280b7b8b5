"""Concat-1: each clause of its page, its regions, and the contexts that it is tested in."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opconform.explanation.origins import origins_of
from opconform.generation.expansion import expand
from opconform.model.draft import Draft
from opconform.model.golden import golden_of
from opconform.operations.arguments import Arguments, Operand
from opconform.operations.movement.concat import CONCAT
from opconform.specs.loader import load_spec
from opconform.tensors.tensor import Tensor

GROUP = """\
op: Concat-1
groups:
  - id: a
    title: t
    inputs: [{shape: [1, 2]}, {shape: [1, 1]}]
    axis: -1
"""


def arguments(shapes: list[tuple[int, ...]], axis: int) -> Arguments:
    """The arguments for inputs of f32 of some shapes."""
    inputs = {f"inputs_{n}": Operand(element_type="f32", shape=shape) for n, shape in enumerate(shapes)}
    return Arguments(inputs=inputs, attributes={"axis": axis})


def draft_of(tmp_path: Path, keys: str = "") -> Draft:
    """The first case of the group with more keys."""
    path = tmp_path / "spec.yaml"
    path.write_text(f"{GROUP}{keys}")
    return next(iter(expand(load_spec(path).groups[0])))


@pytest.mark.parametrize(
    ("shapes", "axis", "expected"),
    [([(2, 3), (4, 3)], 0, (6, 3)), ([(2, 3), (2, 0)], -1, (2, 3)), ([(5,)], 0, (5,)), ([(0, 2), (0, 1)], 1, (0, 3))],
)
def test_the_size_along_the_axis_is_the_sum(
    shapes: list[tuple[int, ...]], axis: int, expected: tuple[int, ...]
) -> None:
    """A negative axis counts from the back."""
    [joined] = CONCAT.infer(arguments(shapes, axis))

    assert (joined.element_type, joined.shape) == ("f32", expected)


@given(
    shape=st.lists(st.integers(0, 4), min_size=1, max_size=4),
    sizes=st.lists(st.integers(0, 4), min_size=1, max_size=4),
    data=st.data(),
)
def test_numpy_joins_the_same(shape: list[int], sizes: list[int], data: st.DataObject) -> None:
    """Bit for bit."""
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    arrays = []
    for number, size in enumerate(sizes):
        shape[axis] = size
        arrays.append(np.arange(np.prod(shape)).reshape(shape) + 1_000 * number)
    tensors = [Tensor(element_type="i64", array=array) for array in arrays]
    inputs = {
        f"inputs_{n}": Operand(element_type="i64", shape=tensor.shape, tensor=tensor)
        for n, tensor in enumerate(tensors)
    }
    given_arguments = Arguments(inputs=inputs, attributes={"axis": axis})
    [output] = CONCAT.evaluate(given_arguments)

    assert np.array_equal(output.array, np.concatenate(arrays, axis))


def test_elements_are_numbered_through_all_inputs() -> None:
    """Those of the second input follow those of the first."""
    origins = origins_of(CONCAT, arguments([(2, 1), (2, 2)], -1))

    assert {name: input_.tolist() for name, input_ in origins.inputs.items()} == {
        "inputs_0": [[0], [1]],
        "inputs_1": [[2, 3], [4, 5]],
    }
    assert [output.tolist() for output in origins.outputs] == [[[0, 2, 3], [1, 4, 5]]]


@pytest.mark.parametrize(
    ("context", "outputs"),
    [
        ("bare", [[[1, 2, 3]]]),
        ("folded", [[[1, 2, 3]]]),
        ("chain", [[[1, 2, 3, 3]]]),
        ("repeated", [[[1, 2, 3, 1, 2, 3]]]),
        ("split", [[[1, 2, 3]]]),
        ("doubled", [[[1, 2, 3]], [[1, 2, 3], [1, 2, 3]]]),
    ],
)
def test_a_context_joins_again(tmp_path: Path, context: str, outputs: list[object]) -> None:
    """The ramp of the second input continues that of the first."""
    golden = golden_of(draft_of(tmp_path, f"    context: {context}\n"), 0)

    assert [output.array.tolist() for output in golden.outputs[0]] == outputs


def test_one_of_the_inputs_can_be_a_constant(tmp_path: Path) -> None:
    """By its name; the other inputs stay parameters, and a second feed leaves the constant as it is."""
    draft = draft_of(
        tmp_path, "    binding: {inputs_1: constant}\n    feed: {inputs: [{shape: [1, 2], fill: bits}, null]}\n"
    )

    assert draft.binding == {"inputs_0": "parameter", "inputs_1": "constant"}
    assert [sorted(feed) for feed in draft.feeds] == [["inputs_0", "inputs_1"]] * 2
    assert draft.feeds[0]["inputs_1"] == draft.feeds[1]["inputs_1"]


def test_the_dimensions_of_one_input_can_be_declared(tmp_path: Path) -> None:
    """Null declares the shape."""
    draft = draft_of(tmp_path, "    dynamic: {inputs_0: all, inputs_1: null}\n")

    assert draft.dynamic == {"inputs_0": ("?", "?")}
