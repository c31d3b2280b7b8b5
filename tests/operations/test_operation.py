"""The contract of an operation: what its declaration decides for its semantics."""

from opconform.operations.operation import Arguments, AttributeSpec, Operation, TensorType
from opconform.suite.case import Attribute


def declared(**changed: object) -> Operation:
    """An operation with an enumeration that has a default, and a list that has none."""
    fields: dict[str, object] = {
        "name": "Pad-1",
        "inputs": (),
        "attributes": (
            AttributeSpec("strides", type="ints"),
            AttributeSpec("mode", type="enum", values=("explicit", "valid"), default="explicit"),
        ),
        "infer": lambda _: (TensorType(element_type="f32", shape=()),),
        "evaluate": lambda _: (),
    }
    return Operation(**{**fields, **changed})  # type: ignore[arg-type]


def test_an_attribute_that_is_left_out_has_its_default() -> None:
    """One without a default is not there."""
    expected = Arguments(inputs={}, attributes={"mode": "explicit"}, omitted=frozenset({"mode"}))
    assert declared().arguments({}, {}) == expected


def test_an_attribute_that_is_given_keeps_its_value() -> None:
    """Its default says nothing then."""
    given: dict[str, Attribute] = {"strides": (2, 1), "mode": "valid"}

    assert declared().arguments({}, given) == Arguments(inputs={}, attributes=given)


def test_an_operation_has_one_output_unless_it_says_otherwise() -> None:
    """So an invalid case asks for one."""
    assert declared().requested_outputs(Arguments(inputs={})) == 1
    assert declared(requested_outputs=lambda _: None).requested_outputs(Arguments(inputs={})) is None


def test_an_operation_that_computes_has_no_requirement_on_bits() -> None:
    """It does not only move data."""
    assert declared().bits is None
