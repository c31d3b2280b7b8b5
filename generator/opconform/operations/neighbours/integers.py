"""Constant-1, Convert-1 and ShapeOf-3, which compute setting inputs. Contexts need them only for integers."""

from collections.abc import Callable

from opconform.operations.arguments import Arguments, TensorType
from opconform.operations.operation import Operation
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.literals import encoded
from opconform.tensors.tensor import Tensor


def computing(
    *,
    name: str,
    inputs: tuple[str, ...],
    attributes: tuple[AttributeSpec, ...],
    output: Callable[[Arguments], TensorType],
    values: Callable[[Arguments], tuple[int, ...] | None],
) -> Operation:
    """An operation with one output of integers, given its type and its elements in row-major order."""

    def compute(arguments: Arguments) -> tuple[Tensor, ...]:
        kind, elements = output(arguments), values(arguments)
        if elements is None:
            raise LookupError(f"{name} is evaluated for integers only")
        array = encoded(kind.element_type, elements).reshape(kind.shape)
        return (Tensor(element_type=kind.element_type, array=array),)

    return Operation(
        name=name,
        inputs=tuple(Port(input_) for input_ in inputs),
        attributes=attributes,
        types=lambda arguments: (output(arguments),),
        compute=compute,
        known=values,
    )


def _ints(arguments: Arguments, name: str) -> tuple[int, ...]:
    value = arguments.attributes[name]
    return tuple(int(x) for x in value) if isinstance(value, tuple) else ()


def _typed(arguments: Arguments, attribute: str, shape: tuple[int, ...]) -> TensorType:
    return TensorType(element_type=str(arguments.attributes[attribute]), shape=shape)


#: For the integers that contexts put into a graph.
CONSTANT = computing(
    name="Constant-1",
    inputs=(),
    attributes=(
        AttributeSpec("element_type", type="string"),
        AttributeSpec("shape", type="ints"),
        AttributeSpec("value", type="ints"),
    ),
    output=lambda arguments: _typed(arguments, "element_type", _ints(arguments, "shape")),
    values=lambda arguments: _ints(arguments, "value"),
)
#: From its specification page, for integers that the destination type has.
CONVERT = computing(
    name="Convert-1",
    inputs=("data",),
    attributes=(AttributeSpec("destination_type", type="string"),),
    output=lambda arguments: _typed(arguments, "destination_type", arguments.inputs["data"].shape),
    values=lambda arguments: arguments.inputs["data"].known_integers,
)
#: From its specification page: the dimensions of a tensor.
SHAPE_OF = computing(
    name="ShapeOf-3",
    inputs=("data",),
    attributes=(AttributeSpec("output_type", type="enum", values=("i64", "i32"), default="i64"),),
    output=lambda arguments: _typed(arguments, "output_type", (len(arguments.inputs["data"].shape),)),
    values=lambda arguments: arguments.inputs["data"].shape,
)
