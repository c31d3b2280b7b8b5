"""The reference semantics: each clause of the pages, and laws that hold for all arguments."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opconform.operations import OPERATIONS
from opconform.operations.arguments import Arguments, Operand, Rejection
from opconform.suite.case import Case, Graph, Node
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.backends.backend import Rejected
from opconform_runners.backends.numpy.backend import Numpy
from tests.declared import declared


def operand(
    values: int | Sequence[int] | None, element_type: str = "i64", shape: tuple[int, ...] | None = None
) -> Operand:
    """An axis or lengths."""
    flat = (values,) if isinstance(values, int) else tuple(values or ())
    own = () if isinstance(values, int) else (len(flat),)
    exact = element_type[0] in "iu"
    return Operand(element_type=element_type, shape=own if shape is None else shape, integers=flat if exact else None)


def shapes_of(op: str, given_arguments: Arguments) -> tuple[tuple[int, ...], ...]:
    """The shapes of the outputs."""
    return tuple(x.shape for x in OPERATIONS[op].infer(given_arguments))


def with_data(given_arguments: Arguments, array: Array) -> Arguments:
    """The same arguments with the elements of data."""
    data = Operand(element_type="i64", shape=array.shape, tensor=Tensor(element_type="i64", array=array))
    return replace(given_arguments, inputs={**given_arguments.inputs, "data": data})


def arguments(shape: tuple[int, ...] | None, num_splits: object = None, **inputs: Operand | None) -> Arguments:
    """The arguments of either operation."""
    given_inputs = {name: input_ for name, input_ in inputs.items() if input_ is not None}
    data = {} if shape is None else {"data": Operand(element_type="f32", shape=shape, integers=None)}
    attributes = {} if num_splits is None else {"num_splits": num_splits}
    return Arguments(inputs={**data, **given_inputs}, attributes=attributes)  # type: ignore[arg-type]


def violated(op: str, given_arguments: Arguments) -> tuple[str, ...]:
    """The requirements that the reference semantics name."""
    with pytest.raises(Rejection) as rejection:
        OPERATIONS[op].infer(given_arguments)
    return rejection.value.requirements


I8_TRAP = operand([127, 127, 8], "i8")


@pytest.mark.parametrize("lengths", [I8_TRAP, operand([2**64 - 1, 7], "u64")])
def test_lengths_are_summed_exactly(lengths: Operand) -> None:
    """Not modulo 2 to the width of their type."""
    assert violated("VariadicSplit-1", arguments((6,), axis=operand(0), split_lengths=lengths)) == ("lengths.sum",)


@pytest.mark.parametrize(
    ("lengths", "sizes"),
    [([1, 2, 3], [1, 2, 3]), ([-1, 2], [4, 2]), ([6, -1], [6, 0]), ([-1], [6]), ([0, 6], [0, 6])],
)
def test_lengths_become_sizes(lengths: list[int], sizes: list[int]) -> None:
    """A -1 takes what is left, be it nothing, and a length of 0 is a size of 0."""
    found = shapes_of("VariadicSplit-1", arguments((2, 6), axis=operand(-1), split_lengths=operand(lengths)))

    assert found == tuple((2, size) for size in sizes)


def test_both_axis_shapes_of_variadic_split_are_the_same() -> None:
    """A scalar and a tensor of shape [1] name the same axis."""
    found = shapes_of("VariadicSplit-1", arguments((4,), axis=operand([0]), split_lengths=operand([4])))

    assert found == ((4,),)


shapes = st.lists(st.integers(0, 5), min_size=1, max_size=4).map(tuple)


@given(data=st.data(), shape=shapes)
def test_the_outputs_joined_are_data(data: st.DataObject, shape: tuple[int, ...]) -> None:
    """Whatever is accepted, the outputs joined along the axis are data again, in order."""
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    cuts = sorted(data.draw(st.lists(st.integers(0, shape[axis]), max_size=4)))
    lengths = [end - start for start, end in zip([0, *cuts], [*cuts, shape[axis]], strict=True)]
    place = data.draw(st.none() | st.integers(0, len(lengths) - 1))
    if place is not None:
        lengths[place] = -1
    array = np.arange(np.prod(shape), dtype=np.int64).reshape(shape)
    given_arguments = with_data(arguments(shape, axis=operand(axis), split_lengths=operand(lengths)), array)
    outputs = OPERATIONS["VariadicSplit-1"].evaluate(given_arguments)

    assert np.array_equal(np.concatenate([output.array for output in outputs], axis=axis), array)
    assert tuple(output.shape for output in outputs) == shapes_of("VariadicSplit-1", given_arguments)


integers = st.integers(-3, 7) | st.sampled_from([2**31, 2**63 - 1, -(2**63)])


@given(
    shape=st.lists(st.integers(0, 4), max_size=3).map(tuple),
    axis=integers,
    lengths=st.lists(integers, max_size=4),
    axis_shape=st.sampled_from([(), (1,), (1, 1)]),
)
def test_an_independent_implementation_agrees_on_variadic_split(
    shape: tuple[int, ...], axis: int, lengths: list[int], axis_shape: tuple[int, ...]
) -> None:
    """The numpy backend, which shares no code, accepts and refuses the same, and cuts the same."""
    given_arguments = arguments(shape, axis=operand([axis], shape=axis_shape), split_lengths=operand(lengths))
    inputs = {
        "data": Tensor(element_type="i64", array=np.arange(np.prod(shape), dtype=np.int64).reshape(shape)),
        "axis": Tensor(element_type="i64", array=np.array(axis, np.int64).reshape(axis_shape)),
        "split_lengths": Tensor(element_type="i64", array=np.array(lengths, np.int64)),
    }
    expected, actual = outcomes("VariadicSplit-1", given_arguments, inputs, {})

    assert actual == expected


@given(shape=st.lists(st.integers(0, 6), max_size=3).map(tuple), axis=integers, num_splits=integers)
def test_an_independent_implementation_agrees_on_split(shape: tuple[int, ...], axis: int, num_splits: int) -> None:
    """The numpy backend, which shares no code, accepts and refuses the same, and cuts the same."""
    inputs = {
        "data": Tensor(element_type="i64", array=np.arange(np.prod(shape), dtype=np.int64).reshape(shape)),
        "axis": Tensor(element_type="i64", array=np.array(axis, np.int64)),
    }
    given_arguments = arguments(shape, num_splits, axis=operand(axis))
    expected, actual = outcomes("Split-1", given_arguments, inputs, {"num_splits": num_splits})

    assert actual == expected


def outcomes(
    op: str, given_arguments: Arguments, inputs: dict[str, Tensor], attributes: dict[str, int]
) -> tuple[object, object]:
    """The outcome of the reference semantics and of the numpy backend: outputs with their shapes, or the violation.

    Of several violations the numpy backend names one.
    """
    names = [input_.name for input_ in OPERATIONS[op].inputs]
    node = Node(name="node", op=op, inputs=tuple(names), outputs=("0",), attributes=attributes, under_test=True)
    case = Case(
        id=f"{op}/law/0123456789",
        op=op,
        title="",
        profile="core",
        requirements=(),
        context="bare",
        feeds=1,
        inputs=(),
        graph=Graph(nodes=(node,), outputs=("0",)),
    )
    actual: object
    try:
        actual = [(x.shape, x.array.tolist()) for x in Numpy().run(declared(case), None, [inputs])[0]]
    except Rejected as refusal:
        actual = refusal.requirement
    try:
        outputs = OPERATIONS[op].evaluate(with_data(given_arguments, inputs["data"].array))
    except Rejection as rejection:
        return actual if actual in rejection.requirements else rejection.requirements, actual
    return [(output.shape, output.array.tolist()) for output in outputs], actual
