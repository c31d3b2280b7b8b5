"""The contract of an operation: what its declaration decides for its semantics."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from opconform.explanation.origins import origins_of
from opconform.operations import OPERATIONS
from opconform.operations.arguments import Arguments, Operand, Rejection
from opconform.operations.checks import INTEGERS, RANKED
from opconform.operations.operation import Computation, Movement
from opconform.suite.case import Attribute
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.tensor import Tensor

#: An operation of this test: the last elements of a list of lists, which only tests have.
LAST = Movement(
    name="Last-1",
    inputs=(
        Port("data", ranks=RANKED),
        Port("counts", setting=True, types=INTEGERS, ranks=(0, 1), shapes=((), (1,), (2, 1)), prefix="count"),
        Port("fill", optional=True),
    ),
    attributes=(
        AttributeSpec("mode", type="enum", values=("cut", "fill"), default="cut"),
        AttributeSpec("reverse", type="boolean"),
        AttributeSpec("bits", type="ints", values=(0, 1), default=(0,), prefix="masks"),
    ),
    checks={"count.negative": lambda a: a.integers("counts")[0] < 0},
    moved=lambda a, places: [places["data"][-a.integers("counts")[0] :]],
    facts={"everything is kept": lambda a: a.integers("counts")[0] == a.shape("data")[0]},
)


def operand(*shape: int, element_type: str = "f32", integers: tuple[int, ...] | None = None) -> Operand:
    """An input, of i64 if it has integers."""
    kind = "i64" if integers is not None and element_type == "f32" else element_type
    return Operand(element_type=kind, shape=shape, integers=integers)


def arguments(
    inputs: dict[str, Operand | None] | None = None, attributes: dict[str, Attribute] | None = None
) -> Arguments:
    """Valid arguments, some of them replaced; an input of None is left out."""
    given = {"data": operand(4), "counts": operand(integers=(2,)), **(inputs or {})}
    held = {name: x for name, x in given.items() if x is not None}
    return LAST.arguments(held, {"reverse": True, **(attributes or {})})


def violated(given: Arguments) -> tuple[str, ...]:
    """What the arguments violate."""
    return LAST.judged(given)[1]


def test_valid_arguments_violate_nothing() -> None:
    """An optional input and attributes with defaults may be left out."""
    assert violated(arguments()) == ()


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ({"data": None}, "data.required"),
        ({"data": operand()}, "data.rank"),
        ({"counts": None}, "count.required"),
        ({"counts": operand(2, 1, integers=(1, 1))}, "count.rank"),
        ({"counts": operand(2, integers=(1, 1))}, "count.shape"),
        ({"counts": operand()}, "count.element-type"),
        ({"counts": operand(integers=(-1,))}, "count.negative"),
    ],
)
def test_a_port_names_the_requirement_that_an_input_violates(inputs: dict[str, Operand | None], expected: str) -> None:
    """By its prefix, or its name; a check reads nothing that is wrong already."""
    assert violated(arguments(inputs)) == (expected,)


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"mode": "paste"}, "mode.values"),
        ({"mode": "Cut"}, "mode.spelling"),
        ({"mode": 1}, "mode.values"),
        ({"reverse": "yes"}, "reverse.type"),
        ({"reverse": "True"}, "reverse.spelling"),
        ({"reverse": 1}, "reverse.spelling"),
        ({"bits": 1}, "masks.type"),
        ({"bits": (True,)}, "masks.type"),
        ({"bits": (0, 2)}, "masks.values"),
    ],
)
def test_an_attribute_names_the_requirement_that_its_value_violates(
    attributes: dict[str, Attribute], expected: str
) -> None:
    """The type, the allowed values, and the spelling of one."""
    assert violated(arguments(attributes=attributes)) == (expected,)


def test_a_required_attribute_is_missed() -> None:
    """One without a default."""
    assert violated(LAST.arguments(arguments().inputs, {})) == ("reverse.required",)


def test_every_violation_is_named_at_once() -> None:
    """Those of the ports, then those of the attributes, then the checks."""
    given = arguments({"data": operand(), "counts": operand(integers=(-1,))}, {"mode": "x"})

    with pytest.raises(Rejection) as rejection:
        LAST.infer(given)
    assert rejection.value.requirements == ("data.rank", "mode.values", "count.negative")


def test_types_and_outputs_follow_from_the_movement() -> None:
    """Without elements for the types, and with them for the outputs."""
    tensor = Tensor(element_type="u8", array=np.array([[1, 2], [3, 4], [5, 6]], np.uint8))
    given = arguments({"data": Operand(element_type="u8", shape=(3, 2), tensor=tensor)})

    assert [(x.element_type, x.shape) for x in LAST.infer(given)] == [("u8", (2, 2))]
    assert [x.array.tolist() for x in LAST.evaluate(given)] == [[[3, 4], [5, 6]]]
    assert [output.tolist() for output in origins_of(LAST, given).outputs] == [[[2, 3], [4, 5]]]
    assert LAST.bits == "data.bits"


def test_known_integers_move_during_inference() -> None:
    """So that a model can compute a setting input of another operation."""
    assert LAST.values(arguments({"data": operand(3, integers=(7, 8, 9))})) == (8, 9)
    assert LAST.values(arguments()) is None


def test_facts_hold_for_valid_and_invalid_arguments() -> None:
    """And not where the arguments do not say."""
    assert [*LAST.facts_of(arguments({"counts": operand(integers=(4,))}))] == ["everything is kept"]
    assert [*LAST.facts_of(arguments({"counts": operand(integers=(4,))}, {"mode": "x"}))] == ["everything is kept"]
    assert [*LAST.facts_of(arguments({"data": None}))] == []


def test_an_operation_has_one_output_unless_it_says_otherwise() -> None:
    """So an invalid case requests one."""
    several = replace(LAST, requested=lambda a: a.integers("counts")[0])

    assert LAST.requested_outputs(arguments({"counts": None})) == 1
    assert several.requested_outputs(arguments({"data": None})) == 2
    assert several.requested_outputs(arguments({"counts": None})) is None


def test_an_operation_that_computes_has_no_requirement_on_bits() -> None:
    """It does not only move data."""
    assert Computation(name="Own-1", inputs=(Port("a"),), types=lambda _: (), calculate=lambda _: ()).bits is None


@pytest.mark.parametrize(("op", "attributes"), [("SoftMax-8", {"axis": 1}), ("CumSum-3", {"exclusive": True})])
def test_outputs_without_elements_take_no_memory(op: str, attributes: Mapping[str, Attribute]) -> None:
    """However many rows they have."""
    operation, shape = OPERATIONS[op], (1 << 32, 0)
    data = Tensor(element_type="f32", array=np.zeros(shape, np.float32))
    inputs = {"data": Operand(element_type="f32", shape=shape, tensor=data)}

    [output] = operation.evaluate(operation.arguments(inputs, attributes))

    assert output.shape == shape


def test_integers_beside_added_zeros_are_exact() -> None:
    """In Convolution-1 of u64, whose products are beyond 64 bits and keep their low ones."""
    operation, large = OPERATIONS["Convolution-1"], (1 << 64) - 3
    tensors = {
        name: Tensor(element_type="u64", array=np.array(values, np.uint64).reshape(1, 1, -1))
        for name, values in (("data", [large, 2]), ("filters", [large, 5]))
    }
    inputs = {name: Operand(element_type="u64", shape=tensor.shape, tensor=tensor) for name, tensor in tensors.items()}
    attributes = {"strides": (1,), "pads_begin": (1,), "pads_end": (1,), "dilations": (1,)}

    [output] = operation.evaluate(operation.arguments(inputs, attributes))

    results = (5 * large, large * large + 10, 2 * large)
    assert output.integers() == [result % (1 << 64) for result in results]
