"""ShapeOf-3, from its specification page: the dimensions of a tensor."""

from opconform.operations.integers import computing
from opconform.operations.operation import Arguments, AttributeSpec, TensorType


def _output(arguments: Arguments) -> TensorType:
    element_type = str(arguments.attributes["output_type"])
    return TensorType(element_type=element_type, shape=(len(arguments.inputs["data"].shape),))


SHAPE_OF = computing(
    name="ShapeOf-3",
    inputs=("data",),
    attributes=(AttributeSpec("output_type", type="enum", values=("i64", "i32"), default="i64"),),
    output=_output,
    values=lambda arguments: arguments.inputs["data"].shape,
)
