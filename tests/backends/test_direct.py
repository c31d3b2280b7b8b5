"""The walk over a case's graph, and what the harness does itself where a framework's operation lacks a notion."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from opconform.suite.case import Attribute, Case, Graph, Input, Node
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.backends.backend import Rejected, Unsupported, undeclared_operation
from opconform_runners.backends.direct import Framework, Support, outputs_of, padded, plain
from opconform_runners.backends.direct_split import check_equal_outputs, filled, given_axis, scalar_axis
from opconform_runners.backends.exceptions import Translation
from opconform_runners.backends.numpy import FUNCTIONS
from opconform_runners.backends.numpy_pad import pad

HALVES = Node(name="Halves", op="Halves-1", inputs=("data", "axis"), outputs=("Halves_0", "Halves_1"), under_test=True)
JOINED = Node(
    name="Join", op="Join-1", inputs=("Halves_1", "Halves_0"), outputs=("Join_0",), attributes={"between": "-"}
)


def case_of(*nodes: Node, outputs: tuple[str, ...], context: str = "bare") -> Case:
    """A case with a graph."""
    return Case(
        id=f"{nodes[0].op}/case/0123456789",
        op=nodes[0].op,
        title="a case",
        profile="core",
        requirements=(),
        context=context,
        feeds=1,
        inputs=(),
        graph=Graph(nodes=nodes, outputs=outputs),
    )


BARE = case_of(HALVES, outputs=HALVES.outputs)
CONCAT = case_of(HALVES, JOINED, outputs=("Join_0",), context="concat")


def halves(inputs: Sequence[Any], _attributes: Mapping[str, Attribute]) -> list[Any]:
    """A text in two, in the place of a tensor."""
    data, axis = padded(inputs, 2)
    assert axis is None
    return [data[: len(data) // 2], data[len(data) // 2 :]]


def join(inputs: Sequence[Any], attributes: Mapping[str, Attribute]) -> list[Any]:
    """Texts joined by an attribute."""
    return [str(attributes["between"]).join(inputs)]


def test_each_node_is_given_the_outputs_of_those_before() -> None:
    """By their names, and with its own attributes."""
    assert outputs_of(CONCAT, {"data": "abcd"}, {"Halves-1": halves, "Join-1": join}) == ["cd-ab"]


def test_outputs_of_a_graph_are_those_that_it_names() -> None:
    """An unused output of a node is not an output of the model."""
    case = case_of(HALVES, JOINED, outputs=("Halves_1", "Join_0"), context="shared")

    assert outputs_of(case, {"data": "abcd"}, {"Halves-1": halves, "Join-1": join}) == ["cd", "cd-ab"]


def test_a_bare_node_gives_as_many_outputs_as_it_has() -> None:
    """A framework that makes more or fewer than the graph names is judged by its own number."""
    assert outputs_of(BARE, {"data": ""}, {"Halves-1": lambda *_: ["a", "b", "c"]}) == ["a", "b", "c"]
    assert outputs_of(BARE, {"data": ""}, {"Halves-1": lambda *_: ["a"]}) == ["a"]


def test_a_node_that_a_backend_has_no_function_for_is_unsupported() -> None:
    """The reason names the operation."""
    with pytest.raises(Unsupported, match="the graph has a Join-1 node, which this backend does not implement"):
        outputs_of(CONCAT, {"data": "abcd"}, {"Halves-1": halves})


def refusing(call: Any, _inputs: Sequence[Any], _attributes: Mapping[str, Attribute]) -> list[Any]:
    """A call that the framework refuses."""

    def split() -> list[Any]:
        raise ValueError("the axis is beyond")

    found: list[Any] = call(split)
    return found


OPERATIONS = {
    "Halves-1": Support(execute=refusing, mapped=("axis.shape", "data.rank")),
    "Join-1": Support(execute=refusing),
}
TRANSLATION = Translation(not_implemented=re.compile("no kernel"))
FRAMEWORK = Framework(name="texts", version="1", types={}, operations=OPERATIONS, translation=TRANSLATION)


def test_a_control_input_is_a_tensor_where_the_operation_takes_it_as_one() -> None:
    """Data always is."""
    halves = replace(OPERATIONS["Halves-1"], tensors=("indices",))
    framework = replace(FRAMEWORK, operations={"Halves-1": halves})
    data = Input(name="data", role="tensor", element_type="f32", shape=(2,), binding="parameter")
    axis = Input(name="axis", role="control", element_type="i64", shape=(), binding="parameter")
    indices = replace(axis, name="indices")

    assert [framework.takes_tensor(BARE, each) for each in (data, axis, indices)] == [True, False, True]


def test_a_message_names_a_requirement_of_the_operation_under_test_alone() -> None:
    """The same message about another operation names none."""
    translation = replace(TRANSLATION, messages={"Halves-1": {"axis": "axis.range"}})
    requirements = []
    for op in ("Halves-1", "Join-1"):
        with pytest.raises(Rejected) as refusal, translation.at("build", op):
            raise ValueError("the axis is beyond")
        requirements.append(refusal.value.requirement)

    assert (refusal.value.stage, refusal.value.message) == ("build", "ValueError: the axis is beyond")
    assert requirements == ["axis.range", None]


def test_what_is_mapped_is_named_with_its_operation() -> None:
    """As it stands in the answer to `start`."""
    assert FRAMEWORK.implementation("CPU").mapped == ("Halves-1:axis.shape", "Halves-1:data.rank")


def test_what_a_framework_does_not_implement_is_unsupported() -> None:
    """By its message, or by the type of its exception; any other exception is a defect of the harness."""
    call = TRANSLATION.caller("run")

    def raising(fault: Exception) -> Any:
        def split() -> None:
            raise fault

        return split

    with pytest.raises(Unsupported, match="RuntimeError: no kernel for it"):
        call(raising(RuntimeError("no kernel for it")))
    with pytest.raises(Unsupported, match="NotImplementedError: later"):
        call(raising(NotImplementedError("later")))
    with pytest.raises(OSError, match="disk"):
        call(raising(OSError("disk")))


@pytest.mark.parametrize(
    ("operations", "dialects", "bare", "concat"),
    [
        ((), ("onnx",), None, None),
        (("Halves-1",), ("onnx",), None, None),
        (("Join-1",), ("onnx",), "Halves-1", "Halves-1"),
        (("Halves-1", "Join-1"), (), None, None),
        (("Halves-1",), (), None, "Join-1"),
        ((), (), "Halves-1", "Halves-1"),
    ],
)
def test_a_backend_without_a_dialect_must_list_every_operation_of_a_graph(
    operations: tuple[str, ...], dialects: tuple[str, ...], bare: str | None, concat: str | None
) -> None:
    """One that reads a dialect takes what the dialect can express, or lists what can be tested on it."""
    assert undeclared_operation(BARE, operations, dialects) == bare
    assert undeclared_operation(CONCAT, operations, dialects) == concat


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ([-1, 1, 2], [3, 1, 2]),
        ([4, -1, 2], [4, 0, 2]),
        ([7, -1], [7, -1]),
        ([9, -1], [9, -3]),
        ([-1, -1, 2], [-1, -1, 2]),
        ([2, 4], [2, 4]),
        ([-1.0, 2.0], [-1.0, 2.0]),
        ([True, -1], [True, -1]),
        ([[-1], [2]], [[-1], [2]]),
        (-1, -1),
    ],
)
def test_a_single_remainder_is_worked_out_and_nothing_else_is_mended(lengths: object, expected: object) -> None:
    """What is wrong reaches the framework as it is: two -1, too much, other types, other shapes."""
    assert filled(lengths, (2, 6), 1) == expected
    assert filled(lengths, (2, 6), -1) == expected


@pytest.mark.parametrize("axis", [2, -3, [1], True, 1.0])
def test_an_axis_that_is_wrong_leaves_the_remainder_to_the_framework(axis: object) -> None:
    """It must refuse the axis, and the harness does not do that for it."""
    assert filled([-1, 2], (2, 6), axis) == [-1, 2]


@pytest.mark.parametrize(
    ("size", "count", "requirement"),
    [(6, 4, "num_splits.divides"), (6, 7, "num_splits.at-most-dimension"), (1, 2, "num_splits.at-most-dimension")],
)
def test_uneven_outputs_are_refused_by_what_they_violate(size: int, count: int, requirement: str) -> None:
    """A framework that makes uneven outputs has no such notion."""
    with pytest.raises(Rejected) as refusal:
        check_equal_outputs(count, (size, 2), -2, "run")

    assert (refusal.value.stage, refusal.value.requirement) == ("run", requirement)


@pytest.mark.parametrize(
    ("count", "shape", "axis"),
    [
        *((count, (5, 2), 0) for count in (None, 0, -1, 2.5, "2", True)),
        *((3, shape, axis) for shape, axis in (((5, 2), 2), ((5, 2), -3), ((5, 2), [0]), ((5, 2), 0.0), ((0, 2), 0))),
        (5, (5, 2), 0),
    ],
)
def test_what_is_wrong_in_itself_is_left_to_the_framework(count: object, shape: tuple[int, ...], axis: object) -> None:
    """A number or an axis that is wrong, and a dimension of 0."""
    check_equal_outputs(count, shape, axis, "run")


@pytest.mark.parametrize("axis_of", [given_axis, scalar_axis])
def test_an_axis_that_is_left_out_is_refused(axis_of: Any) -> None:
    """The frameworks would split the first dimension."""
    with pytest.raises(Rejected, match="axis is missing") as refusal:
        axis_of(None, "build")

    assert refusal.value.requirement == "axis.required"


@pytest.mark.parametrize(("axis", "expected"), [([0], 0), (["0"], "0"), ([[0]], [[0]]), ([0, 1], [0, 1]), (1, 1)])
def test_the_only_element_of_an_axis_is_taken_where_the_operation_allows_it(axis: object, expected: object) -> None:
    """Otherwise the framework gets the list as it is, and must refuse it."""
    assert scalar_axis(axis, "run") == expected
    assert given_axis(axis, "run") == axis


@pytest.mark.parametrize(
    ("kind", "array", "expected"),
    [
        ("i64", np.array([[1, -2], [3, 4]]), [[1, -2], [3, 4]]),
        ("i64", np.zeros((2, 0), np.int64), [[], []]),
        ("i64", np.zeros((0,), np.int64), []),
        ("u64", np.array(2**64 - 1, np.uint64), 2**64 - 1),
        ("i4", np.array([15, 7], np.uint8), [-1, 7]),
        ("boolean", np.array([True]), [True]),
        ("bf16", np.array([0x3F80], np.uint16), [1.0]),
        ("string", np.array("0"), "0"),
    ],
)
def test_numbers_are_what_a_user_would_write(kind: str, array: Array, expected: object) -> None:
    """Integers of every type are Python's, and a value of another type does not become an integer."""
    written = plain(Tensor(element_type=kind, array=array), ("i64", "u64", "i4"))

    assert written == expected
    assert repr(written) == repr(expected)


@pytest.mark.parametrize("kind", ["u4", "nf4"])
def test_a_type_that_the_framework_lacks_is_unsupported(kind: str) -> None:
    """The value alone would hide that the framework cannot be given it."""
    with pytest.raises(Unsupported, match=f"no element type {kind}"):
        plain(Tensor(element_type=kind, array=np.array(1, np.uint8)), ("i64",))


def test_numpy_pads_an_empty_output_of_any_size() -> None:
    """A dimension of 2**40 beside one without elements takes no memory."""
    data = Tensor(element_type="u8", array=np.zeros((1, 2), np.uint8))
    begin, end = (Tensor(element_type="i64", array=np.array(each)) for each in ([1 << 40, -2], [0, 0]))

    [output] = pad([data, begin, end], {"pad_mode": "constant"})

    assert output.shape == ((1 << 40) + 1, 0)


def test_numpy_gathers_nothing_with_empty_indices_of_any_size() -> None:
    """No grid is made of the dimensions of the indices that are not batches."""
    data = Tensor(element_type="f32", array=np.zeros((2, 2), np.float32))
    indices = Tensor(element_type="u8", array=np.zeros((0, 1 << 40, 2), np.uint8))

    [output] = FUNCTIONS["GatherND-8"]([data, indices], {})

    assert output.shape == (0, 1 << 40)


def test_numpy_gathers_nothing_from_empty_data_of_any_size() -> None:
    """No slice of zeros is made for indices that are out of range if there are none."""
    data = Tensor(element_type="u8", array=np.zeros((0, 1 << 45), np.uint8))
    indices, axis = (Tensor(element_type="i64", array=np.zeros(each, np.int64)) for each in ((0,), ()))

    [output] = FUNCTIONS["Gather-8"]([data, indices, axis], {})

    assert output.shape == (0, 1 << 45)
