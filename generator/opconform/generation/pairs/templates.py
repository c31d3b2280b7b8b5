"""Samples of operations as nodes of a graph, with data of other shapes and types that the operation accepts."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import islice
from math import prod
from typing import Any

from opconform.generation.attribute_keys import attributes_of
from opconform.generation.identity.tensor_keys import tensor_draft
from opconform.generation.options import LIMITS
from opconform.generation.pairs.elements import POWERS, WEIGHTS, repeated
from opconform.model.draft import TensorDraft, known_operand
from opconform.operations import OPERATIONS
from opconform.operations.arguments import Arguments, Operand, Rejection, TensorType, Unknown
from opconform.operations.operation import Computation, Operation
from opconform.specs.every.groups import samples_of
from opconform.specs.every.sample import flat, sample_shape
from opconform.specs.schema.keys import TensorKeys
from opconform.specs.schema.models import models_of
from opconform.suite.case import Attribute, Shape
from opconform.suite.declarations import Port
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.literals import checked

#: The most elements and dimensions of data.
MOST_ELEMENTS, MOST_DIMENSIONS = 200, 5
#: The most ways to fit an operation to data that are tried.
_WAYS = 4
#: The rules for the shape of a weight: the sample's with the sizes of the data, the shape of the data, and a scalar.
_RULES = (1, 2, 3)
#: The types of data for which it is first found out whether a shape fits.
_COMMON = ("f32", "i32", "boolean", "string", "u8")


#: The settings of samples as operands, by port and keys.
_SETTINGS: dict[tuple[Port, str], Operand] = {}


@dataclass(frozen=True, slots=True, eq=False)
class Template:
    """A sample of an operation as a node, with its tensors by place, as in `data` and `inputs_1`."""

    op: str
    sample: str
    attributes: Mapping[str, Attribute]
    tensors: Mapping[str, Mapping[str, Any]]

    @property
    def operation(self) -> Operation:
        """The operation."""
        return OPERATIONS[self.op]


@dataclass(frozen=True, eq=False)
class Use:
    """An operation on given data: a template whose other inputs, the weights, fit.

    Attributes:
        places: The places of the given data.
        weights: The other inputs by place, as the keys of tensors.
        types: The types of the outputs.
        filled: The places of weights that are any numbers.
    """

    template: Template
    places: tuple[str, ...]
    weights: Mapping[str, Mapping[str, Any]]
    types: tuple[TensorType, ...] = ()
    filled: frozenset[str] = frozenset()

    @property
    def op(self) -> str:
        """The operation's name."""
        return self.template.op

    @cached_property
    def drafts(self) -> Mapping[str, TensorDraft]:
        """The weights by place."""
        return {place: _draft(self.port(place), keys) for place, keys in self.weights.items()}

    def port(self, place: str) -> Port:
        """The port at a place."""
        return self.template.operation.port_of(place)

    def arguments(self, given: Sequence[Operand], weights: Mapping[str, Operand]) -> Arguments:
        """The arguments of the operation, in the order of its ports."""
        operands = {**dict(zip(self.places, given, strict=True)), **weights}
        ordered = {place: operands[place] for place in self.template.tensors}
        return self.template.operation.arguments(ordered, self.template.attributes)

    @cached_property
    def with_powers(self) -> "Use":
        """The use with powers of two as weights; itself if no weights are numbers that are filled."""
        powers = {
            place: {"element_type": keys["element_type"], **repeated(keys["shape"], POWERS)}
            for place, keys in self.weights.items()
            if place in self.filled
        }
        return replace(self, weights={**self.weights, **powers}) if powers else self


@cache
def templates_of(op: str) -> tuple[Template, ...]:
    """The samples of an operation that are small enough, as templates."""
    operation, templates = OPERATIONS[op], []
    for name, keys in samples_of(op).samples.items():
        tensors: dict[str, Mapping[str, Any]] = {}
        for port in operation.inputs:
            value = keys.get(port.name)
            listed = value if isinstance(value, list) else [value] if value is not None else []
            tensors |= zip(port.names(len(listed)), listed, strict=True) if listed else ()
        shapes = [sample_shape(x) for x in tensors.values()]
        if all(len(x) <= MOST_DIMENSIONS and 0 < prod(x) <= MOST_ELEMENTS for x in shapes):
            given = {x.name: keys[x.name] for x in operation.attributes if x.name in keys}
            node = models_of(op).node.model_validate({"op": op, **given})
            templates.append(Template(op, name, attributes_of(operation, node), tensors))
    return tuple(templates)


@cache
def data_places(op: str) -> tuple[str, ...]:
    """The places at which an operation must have data, in order; two of a variadic port."""
    return tuple(name for port in OPERATIONS[op].data if not port.optional for name in port.names(2))


@cache
def shapes_of(op: str, place: str) -> tuple[Shape, ...]:
    """The shapes that the samples of an operation have at a place."""
    shapes = (tuple(sample_shape(x.tensors[place])) for x in templates_of(op) if place in x.tensors)
    return tuple(dict.fromkeys(shapes))


@cache
def is_open(op: str) -> bool:
    """Whether the elements of an operation's data decide the shapes of its outputs."""
    operation = OPERATIONS[op]
    return isinstance(operation, Computation) and operation.shaped_by_elements


def takes_type(op: str, place: str, element_type: str) -> bool:
    """Whether an operation takes an element type at a place."""
    types = OPERATIONS[op].port_of(place).types
    return types is None or element_type in types


@cache
def uses_of(op: str, places: tuple[str, ...], given: tuple[TensorType, ...]) -> tuple[Use, ...]:
    """The ways in which an operation accepts data at some places."""
    if not all(takes_type(op, place, x.element_type) for place, x in zip(places, given, strict=True)):
        return ()
    ways = _ways(op, places, tuple(x.shape for x in given))
    fitted = (_use(op, places, given, way) for way in ways)
    return tuple(use for use in fitted if use is not None)


@cache
def _ways(op: str, places: tuple[str, ...], shapes: tuple[Shape, ...]) -> tuple[tuple[int, int], ...]:
    """The numbers of the templates and of the shapes of their weights with which some shapes of data fit."""
    common = [x for x in _COMMON if all(takes_type(op, place, x) for place in places)]
    given = [TensorType(element_type=(common or _COMMON)[0], shape=shape) for shape in shapes]
    fitting = (way for way in _all_ways(op, places, shapes) if _use(op, places, given, way) is not None)
    return tuple(islice(dict.fromkeys(fitting), _WAYS))


def _all_ways(op: str, places: Sequence[str], shapes: Sequence[Shape]) -> Iterator[tuple[int, int]]:
    """First the samples with such shapes, then each sample with weights of a shape that follows from the data's.

    The rules for shapes take turns by the sizes of the data; the most common samples come first.
    """
    templates = templates_of(op)
    exact = [
        number
        for number, x in enumerate(templates)
        if all(p in x.tensors and tuple(sample_shape(x.tensors[p])) == s for p, s in zip(places, shapes, strict=True))
    ]
    yield from ((number, 0) for number in exact)
    turn = sum(map(sum, shapes)) % len(_RULES)
    yield from ((number, rule) for number in range(len(templates)) for rule in (*_RULES[turn:], *_RULES[:turn]))


def _use(op: str, places: tuple[str, ...], given: Sequence[TensorType], way: tuple[int, int]) -> Use | None:
    template = templates_of(op)[way[0]]
    if not {*places} <= template.tensors.keys():
        return None
    others = [place for place in template.tensors if place not in places]
    try:
        weights = {place: _weight(template, place, places, given, way[1]) for place in others}
    except ValueError:
        return None
    filled = frozenset(
        place
        for place, keys in weights.items()
        if "values" not in template.tensors[place] and keys["element_type"] not in ("boolean", "string")
    )
    use = Use(template, places, weights, filled=filled)
    with suppress(Rejection, Unknown):
        known = {place: _operand(use.port(place), keys) for place, keys in weights.items()}
        operands = [Operand(element_type=x.element_type, shape=x.shape) for x in given]
        types = template.operation.infer(use.arguments(operands, known))
        if types and all(prod(x.shape) <= MOST_ELEMENTS and prod(x.shape) for x in types):
            return replace(use, types=types)
    return None


def _weight(
    template: Template, place: str, places: Sequence[str], given: Sequence[TensorType], rule: int
) -> Mapping[str, Any]:
    """The keys of another input: in the type of the data where it takes that, and in a shape by a rule."""
    operation, keys = template.operation, template.tensors[place]
    port, first = operation.port_of(place), given[0]
    default = keys.get("element_type", port.default_type)
    is_alike = not port.setting or port.name in operation.same_types
    element_type = first.element_type if is_alike and takes_type(template.op, place, first.element_type) else default
    shape = sample_shape(keys)
    if "values" in keys:
        if element_type != default:
            for value in flat(keys["values"]):
                checked(element_type, value)  # a ValueError where the type lacks it
        return {**keys, "element_type": element_type, "shape": shape}
    if not port.setting and rule:
        before = sample_shape(template.tensors[places[0]])
        shape = [_renamed(shape, before, first.shape), list(first.shape), []][rule - 1]
    if operation.is_numeric and element_type not in ("boolean", "string"):
        is_signed = ELEMENT_TYPES[element_type].kind != "unsigned"
        return {"element_type": element_type, **repeated(shape, WEIGHTS if is_signed else POWERS)}
    value = {"fill": "constant", "value": keys["value"]} if "value" in keys else {"fill": "small"}
    return {"element_type": element_type, "shape": shape, **value}


def _renamed(shape: Sequence[int], before: Sequence[int], after: Sequence[int]) -> list[int]:
    """A shape in which the first size that data had at a dimension becomes the size that they have."""
    sizes = [*shape]
    for old, new in zip(before, after, strict=False):
        if old != new and old in shape:
            sizes[[*shape].index(old)] = new
    return sizes


def _operand(port: Port, keys: Mapping[str, Any]) -> Operand:
    """A weight during inference: of data, only the type and the shape."""
    if port.role == "data":
        return Operand(element_type=keys["element_type"], shape=tuple(keys["shape"]))
    text = repr(keys)
    if (port, text) not in _SETTINGS:
        _SETTINGS[port, text] = known_operand(_draft(port, keys), port.role)
    return _SETTINGS[port, text]


def _draft(port: Port, keys: Mapping[str, Any]) -> TensorDraft:
    return tensor_draft(port, TensorKeys.model_validate(keys), LIMITS)
