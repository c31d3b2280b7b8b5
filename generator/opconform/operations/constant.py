"""Constant-1, for the integers that contexts put into a graph."""

from opconform.operations.integers import computing
from opconform.operations.operation import Arguments, AttributeSpec, TensorType


def _ints(arguments: Arguments, name: str) -> tuple[int, ...]:
    given = arguments.attributes[name]
    return tuple(int(each) for each in given) if isinstance(given, tuple) else ()


def _output(arguments: Arguments) -> TensorType:
    return TensorType(element_type=str(arguments.attributes["element_type"]), shape=_ints(arguments, "shape"))


CONSTANT = computing(
    name="Constant-1",
    inputs=(),
    attributes=(
        AttributeSpec("element_type", type="string"),
        AttributeSpec("shape", type="ints"),
        AttributeSpec("value", type="ints"),
    ),
    output=_output,
    values=lambda arguments: _ints(arguments, "value"),
)
