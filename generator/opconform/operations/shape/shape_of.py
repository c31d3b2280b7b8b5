"""ShapeOf-1 and ShapeOf-3, from their specification pages: the dimensions of a tensor."""

from collections.abc import Mapping
from dataclasses import replace

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, TensorType
from opconform.operations.checks import Predicate
from opconform.operations.interpretation import Reading, has_kind
from opconform.operations.operation import Computation
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.literals import encoded
from opconform.tensors.tensor import Tensor

_TYPE = "output_type"
#: The element type of the output of ShapeOf-1, whose page says nothing about it, and the default of ShapeOf-3.
_DEFAULT = "i64"


def _element_type(arguments: Arguments) -> str:
    return str(arguments.attributes.get(_TYPE, _DEFAULT))


def _types(arguments: Arguments) -> tuple[TensorType, ...]:
    return (TensorType(element_type=_element_type(arguments), shape=(len(arguments.shape("data")),)),)


def _dimensions(arguments: Arguments) -> tuple[Tensor, ...]:
    element_type = _element_type(arguments)
    return (Tensor(element_type=element_type, array=encoded(element_type, arguments.shape("data"))),)


def _known(arguments: Arguments) -> tuple[int, ...] | None:
    data = arguments.inputs.get("data")
    return None if data is None else data.shape


def _is_beyond(arguments: Arguments) -> bool:
    """Whether a dimension does not fit into the element type of the output."""
    most = ELEMENT_TYPES[str(arguments.attribute(_TYPE))].maximum
    return any(size > most for size in arguments.shape("data"))


def _is_far(arguments: Arguments) -> bool:
    return any(size >> 31 for size in arguments.shape("data"))


def _as_i32(arguments: Arguments) -> Arguments:
    """The arguments with the type i32, if it holds all dimensions."""
    return arguments if _is_far(arguments) else replace(arguments, attributes={_TYPE: "i32"})


_CONTEXTS = {"chain": contexts.chain("data"), "doubled": contexts.doubled(lambda _: 0)}
_FACTS: Mapping[str, Predicate] = {
    "data is a scalar": lambda a: a.shape("data") == (),
    "a dimension is 0": lambda a: 0 in a.shape("data"),
    "a dimension exceeds 31 bits": _is_far,
}

SHAPE_OF_1 = Computation(
    name="ShapeOf-1",
    inputs=(Port("data"),),
    types=_types,
    calculate=_dimensions,
    reads_elements=False,
    integer_output=_known,
    contexts=_CONTEXTS,
    facts=_FACTS,
    readings={"outputs.index-type": Reading(rejects=_is_far, rewrites=(_as_i32,))},
)

SHAPE_OF = Computation(
    name="ShapeOf-3",
    inputs=(Port("data"),),
    attributes=(AttributeSpec(_TYPE, type="enum", values=("i64", "i32"), default=_DEFAULT),),
    checks={"output_type.range": _is_beyond},
    types=_types,
    calculate=_dimensions,
    reads_elements=False,
    integer_output=_known,
    contexts=_CONTEXTS,
    facts=_FACTS,
    readings={"data.other-types": Reading(rejects=lambda a: has_kind(a.operand("data"), "boolean", "string"))},
)
