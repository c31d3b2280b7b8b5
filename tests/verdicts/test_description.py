"""The inputs of a case as one line of text."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from opconform.suite.case import Attribute, Case, Graph, Input, Node
from opconform.tensors.tensor import Array
from opconform_runners.verdicts.description import description_of

DATA = Input(name="data", role="data", element_type="f32", shape=(2, 3), binding="parameter")
AXIS = Input(name="axis", role="setting", element_type="i64", shape=(), binding="constant")
ZEROS: Array = np.zeros((2, 3), np.float32)


def case_of(*inputs: Input, attributes: Mapping[str, Attribute] | None = None, context: str = "bare") -> Case:
    """A case with those inputs."""
    names = tuple(input_.name for input_ in inputs)
    node = Node(name="op", op="Op-1", inputs=names, outputs=("out",), attributes=attributes or {}, under_test=True)
    return Case(
        id="Op-1/group/0123456789",
        op="Op-1",
        title="",
        profile="core",
        requirements=(),
        context=context,
        feeds=1,
        inputs=inputs,
        graph=Graph(nodes=(node,), outputs=("out",)),
    )


def setting(array: Array, element_type: str = "i64", **changes: Any) -> str:
    """The description of a case whose only input is a setting input."""
    given = {"binding": "constant", **changes}
    return description_of(
        case_of(Input(name="axis", role="setting", element_type=element_type, shape=array.shape, **given)),
        [{"axis": array}],
    )


def test_a_tensor_is_described_by_its_type_and_shape() -> None:
    """Its elements are not shown, and its binding is not either."""
    assert description_of(case_of(DATA), [{"data": ZEROS}]) == "data f32[2, 3]"


def test_inputs_are_in_the_order_of_the_case() -> None:
    """A setting input shows its value."""
    feed = {"axis": np.array(-1), "data": ZEROS}

    assert description_of(case_of(DATA, AXIS), [feed]) == "data f32[2, 3], axis -1"
    assert description_of(case_of(AXIS, DATA), [feed]) == "axis -1, data f32[2, 3]"


@pytest.mark.parametrize(
    ("array", "element_type", "text"),
    [
        (np.array([-1, 9]), "i64", "axis [-1, 9]"),
        (np.array([], np.int64), "i64", "axis []"),
        (np.array([[1, 2], [3, 4]]), "i64", "axis [1, 2, 3, 4] of shape [2, 2]"),
        (np.arange(8), "i64", "axis [0, 1, 2, 3, 4, 5, 6, 7]"),
        (np.arange(9), "i64", "axis [0, 1, 2, 3, 4, 5, 6, 7, …]"),
        (np.array(7, np.int32), "i32", "axis i32 7"),
        (np.array(2**64 - 1, np.uint64), "u64", "axis u64 18446744073709551615"),
        (np.array([0b1111, 0b0111], np.uint8), "i4", "axis i4 [-1, 7]"),
        (np.array([1.5, np.nan], np.float32), "f32", "axis f32 [1.5, nan]"),
        (np.array([1.5], ml_dtypes.bfloat16).view(np.uint16), "bf16", "axis bf16 [1.5]"),
        (np.array([True, False]), "boolean", "axis boolean [True, False]"),
        (np.array(["a", "é"]), "string", "axis string [a, é]"),
        (np.array(["a\udc00"]), "string", "axis string [a\\udc00]"),
    ],
)
def test_a_setting_input_shows_its_values(array: Array, element_type: str, text: str) -> None:
    """The element type is named unless it is i64, and at most eight elements are shown."""
    assert setting(array, element_type) == text


def test_a_setting_input_that_is_a_parameter_arrives_at_run_time() -> None:
    """Unlike a constant of the model."""
    assert setting(np.array([2]), binding="parameter") == "axis [2] at run time"


@pytest.mark.parametrize(
    ("dynamic", "text"),
    [(("?", 3), "data declared [?,3]"), (("2..8", "?"), "data declared [2..8,?]"), ("...", "data declared [...]")],
)
def test_declared_dimensions_follow_the_inputs(dynamic: Any, text: str) -> None:
    """Where the model declares other dimensions than those of the tensor."""
    given = Input(name="data", role="data", element_type="f32", shape=(2, 3), binding="parameter", dynamic=dynamic)
    feed = {"data": ZEROS, "axis": np.array(0)}

    assert description_of(case_of(given, AXIS), [feed]) == f"data f32[2, 3], axis 0, {text}"


def test_a_constant_among_tensors_is_named() -> None:
    """Unless all inputs are constants, as the context says."""
    constant = replace(DATA, name="more", binding="constant")
    feed = {"data": ZEROS, "more": ZEROS}

    assert description_of(case_of(DATA, constant), [feed]) == "data f32[2, 3], more f32[2, 3] constant"
    assert description_of(case_of(DATA, constant, context="folded"), [feed]) == (
        "data f32[2, 3], more f32[2, 3], context folded"
    )


def test_of_many_inputs_the_first_are_shown() -> None:
    """And their number."""
    inputs = [replace(DATA, name=f"x_{number}", dynamic=("?", 3)) for number in range(129)]
    text = description_of(case_of(*inputs), [{input_.name: ZEROS for input_ in inputs}])

    assert text.startswith("x_0 f32[2, 3], x_1 f32[2, 3], ")
    assert text.count("… 129 in all") == 2
    assert text.count("declared") == 8


def test_attributes_and_the_context_are_named() -> None:
    """Attributes with their values, and the context unless it is `bare`."""
    attributes: dict[str, Attribute] = {"num_splits": 2, "pads": (0, 1), "mode": "same", "exclusive": True}
    case = case_of(DATA, attributes=attributes, context="concat")

    assert description_of(case, [{"data": ZEROS}]) == (
        "data f32[2, 3], num_splits 2, pads [0, 1], mode 'same', exclusive True, context concat"
    )


def test_the_operation_behind_is_a_call_on_the_output() -> None:
    """With its constants and attributes."""
    nodes = (
        Node(name="Op", op="Op-1", inputs=("data",), outputs=("out",), under_test=True),
        Node(name="I", op="Constant-1", inputs=(), outputs=("I_0",), attributes={"shape": (2,), "value": (1, 0)}),
        Node(name="T", op="Pad-12", inputs=("out", "I_0"), outputs=("T_0",), attributes={"pad_mode": "edge"}),
    )
    case = replace(case_of(DATA, context="then"), graph=Graph(nodes=nodes, outputs=("T_0",)))

    assert (
        description_of(case, [{"data": ZEROS}]) == "data f32[2, 3], context then Pad(output, [1, 0], pad_mode 'edge')"
    )


def test_what_the_model_computes_is_an_expression() -> None:
    """Constants have their values, and other nodes their operation, inputs and types."""
    nodes = (
        Node(name="S", op="ShapeOf-3", inputs=("data",), outputs=("S_0",), attributes={"output_type": "i64"}),
        Node(name="I", op="Constant-1", inputs=(), outputs=("I_0",), attributes={"shape": (2,), "value": (1, 0)}),
        Node(name="Z", op="Constant-1", inputs=(), outputs=("Z_0",), attributes={"shape": (), "value": (0,)}),
        Node(name="G", op="Gather-8", inputs=("S_0", "I_0", "Z_0"), outputs=("G_0",), attributes={"batch_dims": 0}),
        Node(name="T", op="Tile-1", inputs=("data", "G_0"), outputs=("T_0",), under_test=True),
    )
    case = replace(case_of(DATA, context="shape-of"), graph=Graph(nodes=nodes, outputs=("T_0",)))

    assert description_of(case, [{"data": ZEROS}]) == (
        "data f32[2, 3], Gather(ShapeOf(data, i64), [1, 0], 0), context shape-of"
    )


def test_a_second_feed_shows_what_differs() -> None:
    """By bits and shape; a setting input does not repeat how it arrives."""
    axis = Input(name="axis", role="setting", element_type="i64", shape=(), binding="parameter")
    case = case_of(DATA, axis)
    first = {"data": ZEROS, "axis": np.array(0)}
    start = "data f32[2, 3], axis 0 at run time, then"

    assert description_of(case, [first, {**first, "axis": np.array(1)}]) == f"{start} axis 1"
    assert description_of(case, [first, {**first, "data": ZEROS[:1]}]) == f"{start} data f32[1, 3]"
    assert description_of(case, [first, {**first, "data": -ZEROS}]) == f"{start} data f32[2, 3]"
    assert description_of(case, [first, dict(first)]) == f"{start} the same"


def test_a_case_without_inputs_and_attributes_has_a_description() -> None:
    """So that a report has no empty place."""
    assert description_of(case_of(), [{}]) == "nothing"
