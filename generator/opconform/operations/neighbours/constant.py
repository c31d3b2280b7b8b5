"""Constant-1, which gives the constants of contexts: numbers, or bit patterns such as `0x3f000000`."""

from opconform.operations.arguments import Arguments, TensorType
from opconform.operations.operation import Computation
from opconform.suite.declarations import AttributeSpec
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.literals import Element, encoded
from opconform.tensors.tensor import Tensor


def _integers(arguments: Arguments, name: str) -> tuple[int, ...]:
    value = arguments.attributes[name]
    return tuple(int(x) for x in value) if isinstance(value, tuple) else ()


def _type(arguments: Arguments) -> TensorType:
    return TensorType(element_type=str(arguments.attributes["element_type"]), shape=_integers(arguments, "shape"))


def _elements(arguments: Arguments) -> tuple[Element, ...]:
    value = arguments.attributes["value"]
    return value if isinstance(value, tuple) else ()


def _known_integers(arguments: Arguments) -> tuple[int, ...] | None:
    kind = ELEMENT_TYPES[_type(arguments).element_type]
    return _integers(arguments, "value") if kind.is_integer or kind.kind == "boolean" else None


def _constant(arguments: Arguments) -> tuple[Tensor, ...]:
    kind = _type(arguments)
    array = encoded(kind.element_type, _elements(arguments)).reshape(kind.shape)
    return (Tensor(element_type=kind.element_type, array=array),)


#: For the constants that contexts put into a graph.
CONSTANT = Computation(
    name="Constant-1",
    inputs=(),
    attributes=(
        AttributeSpec("element_type", type="string"),
        AttributeSpec("shape", type="ints"),
        AttributeSpec("value", type="elements"),
    ),
    types=lambda arguments: (_type(arguments),),
    calculate=_constant,
    integer_output=_known_integers,
)
