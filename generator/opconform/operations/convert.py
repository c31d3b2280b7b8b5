"""Convert-1, from its specification page, for integers that the destination type has."""

from opconform.operations.integers import computing
from opconform.operations.operation import Arguments, AttributeSpec, TensorType


def _output(arguments: Arguments) -> TensorType:
    element_type = str(arguments.attributes["destination_type"])
    return TensorType(element_type=element_type, shape=arguments.inputs["data"].shape)


CONVERT = computing(
    name="Convert-1",
    inputs=("data",),
    attributes=(AttributeSpec("destination_type", type="string"),),
    output=_output,
    values=lambda arguments: arguments.inputs["data"].known_integers,
)
