"""Constant-1, which gives setting inputs. Contexts need it only for integers."""

from opconform.operations.arguments import Arguments, TensorType
from opconform.operations.operation import Computation
from opconform.suite.declarations import AttributeSpec
from opconform.tensors.literals import encoded
from opconform.tensors.tensor import Tensor


def _integers(arguments: Arguments, name: str) -> tuple[int, ...]:
    value = arguments.attributes[name]
    return tuple(int(x) for x in value) if isinstance(value, tuple) else ()


def _type(arguments: Arguments) -> TensorType:
    return TensorType(element_type=str(arguments.attributes["element_type"]), shape=_integers(arguments, "shape"))


def _constant(arguments: Arguments) -> tuple[Tensor, ...]:
    kind = _type(arguments)
    array = encoded(kind.element_type, _integers(arguments, "value")).reshape(kind.shape)
    return (Tensor(element_type=kind.element_type, array=array),)


#: For the integers that contexts put into a graph.
CONSTANT = Computation(
    name="Constant-1",
    inputs=(),
    attributes=(
        AttributeSpec("element_type", type="string"),
        AttributeSpec("shape", type="ints"),
        AttributeSpec("value", type="ints"),
    ),
    types=lambda arguments: (_type(arguments),),
    calculate=_constant,
    integer_output=lambda arguments: _integers(arguments, "value"),
)
