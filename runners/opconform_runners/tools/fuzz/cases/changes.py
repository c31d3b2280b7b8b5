"""Random changes to drawn cases: shapes, values, attributes, element types, and how a case is given to a backend."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from random import Random

from opconform.model.draft import Draft, Fill, TensorDraft
from opconform.suite.declarations import Port
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.literals import Element
from opconform_runners.tools.fuzz.cases.values import (
    SIZES,
    SMALL_SIZES,
    WIDE,
    WIDTHS,
    boundary,
    drawn_attribute,
    drawn_tensor,
    likely,
    numbered,
    sizes_of,
    typed,
)
from opconform_runners.tools.fuzz.delivery import (
    FILLS,
    change_binding,
    change_context,
    change_dynamic,
    change_fill,
    change_second,
)
from opconform_runners.tools.fuzz.trial import resized, with_tensors

#: The floating-point types of setting inputs.
_FLOATS = ("bf16", "f16", "f32", "f64")
#: A change to a draft; None where it does not apply.
Change = Callable[[Draft, Random], Draft | None]


def changed(draft: Draft, random: Random) -> Draft | None:
    """The draft after one random change."""
    weights = [weight for weight, _ in _CHANGES]
    [change] = random.choices([x for _, x in _CHANGES], weights)
    return change(draft, random)


def _named(draft: Draft, role: str) -> list[str]:
    return [name for name in draft.tensors if draft.operation.port_of(name).role == role]


def _resize(draft: Draft, random: Random) -> Draft | None:
    """One dimension gets another size: in one tensor, or wherever tensors have that size there."""
    dimensions = [(name, place) for name, tensor in draft.tensors.items() for place in range(len(tensor.shape))]
    if not dimensions:
        return None
    name, place = random.choice(dimensions)
    size = draft.tensors[name].shape[place]
    wanted = random.choice((size + 1, size - 1, size * 2, random.choice(SMALL_SIZES), random.choice(SIZES)))
    if _is_empty_beside(draft.tensors[name], place) and likely(random, 0.3):
        wanted = boundary(size, sizes_of(draft), random)
    if wanted < 0:
        return None
    is_everywhere = likely(random, 0.5)
    tensors = dict(draft.tensors)
    for key, tensor in draft.tensors.items():
        places = range(len(tensor.shape)) if is_everywhere else [place]
        shape = list(tensor.shape)
        for axis in places:
            if (key == name or is_everywhere) and axis < len(shape) and shape[axis] == size:
                shape[axis] = wanted
        if tuple(shape) != tensor.shape:
            tensors[key] = resized(tensor, shape, random)
    return with_tensors(draft, tensors)


def _is_empty_beside(tensor: TensorDraft, place: int) -> bool:
    """Whether another dimension is 0, so that any size takes no memory."""
    return 0 in (*tensor.shape[:place], *tensor.shape[place + 1 :])


def _grow(draft: Draft, random: Random) -> Draft | None:
    """A dimension and an integer attribute or element grow together, by a sum or a factor; a length stays a length."""
    places = [(name, place) for name in _named(draft, "data") for place in range(len(draft.tensors[name].shape))]
    integers = [
        name
        for name, attribute in draft.attributes.items()
        if isinstance(attribute, int) and not isinstance(attribute, bool)
    ]
    written = [name for name in _written(draft) if ELEMENT_TYPES[draft.tensors[name].element_type].is_integer]
    if not places or not (integers or written):
        return None
    name, place = random.choice(places)
    by, is_factor = random.choice((1, 2, 3)), likely(random, 0.5)
    if _is_empty_beside(draft.tensors[name], place) and likely(random, 0.7):
        by, is_factor = 1 << random.choice(WIDTHS), False

    def grown(value: int) -> int:
        return value * (by + 1) if is_factor else value + by

    shape = list(draft.tensors[name].shape)
    shape[place] = grown(shape[place])
    tensors, attributes = {**draft.tensors, name: resized(draft.tensors[name], shape, random)}, dict(draft.attributes)
    receiver = random.choice([*integers, *written])
    if receiver in integers:
        attributes[receiver] = grown(int(draft.attributes[receiver]))  # type: ignore[arg-type]
    elif receiver != name:
        elements = [*draft.tensors[receiver].elements]
        number = random.randrange(len(elements))
        elements[number] = grown(int(elements[number]))
        tensors[receiver] = replace(draft.tensors[receiver], elements=tuple(elements))
    return replace(with_tensors(draft, tensors), attributes=attributes)


def _rank(draft: Draft, random: Random) -> Draft | None:
    """A dimension is inserted or removed: in one tensor, or in all tensors of one role."""
    name = random.choice([*draft.tensors, *_named(draft, "data")])
    alike = _named(draft, draft.operation.port_of(name).role) if likely(random, 0.5) else [name]
    place = random.randrange(len(draft.tensors[name].shape) + 1)
    size = random.choice(SMALL_SIZES) if likely(random, 0.6) else None
    tensors = dict(draft.tensors)
    for item in alike:
        shape = list(draft.tensors[item].shape)
        if size is None and place < len(shape):
            del shape[place]
        elif size is not None and place <= len(shape):
            shape.insert(place, size)
        else:
            return None
        tensors[item] = resized(draft.tensors[item], shape, random)
    return with_tensors(draft, tensors)


def _written(draft: Draft) -> list[str]:
    return [name for name, tensor in draft.tensors.items() if tensor.fill == "values" and tensor.elements]


def _elements(draft: Draft, random: Random) -> Draft | None:
    """Elements of a setting input change: one, two whose sum stays, or their order; often they are fed at run time."""
    written = _written(draft)
    if not written:
        return None
    name = random.choice(written)
    tensor = draft.tensors[name]
    elements = [numbered(element) for element in tensor.elements]
    place, second_place = (random.randrange(len(elements)) for _ in range(2))
    element_type = ELEMENT_TYPES[tensor.element_type]
    match random.randrange(5):
        case 0:
            elements[place], elements[second_place] = elements[second_place], elements[place]
        case 1:
            by = random.choice((1, -1, random.choice(elements), 1 << random.choice(WIDTHS)))
            elements[place], elements[second_place] = elements[place] + by, elements[second_place] - by
        case 2 if element_type.is_integer:
            elements[place] = random.choice((element_type.minimum, element_type.maximum))
        case _:
            elements[place] = boundary(elements[place], [*sizes_of(draft), *elements], random)
    changed_elements = tuple(typed(tensor.element_type, element) for element in elements)
    made = with_tensors(draft, {**draft.tensors, name: replace(tensor, elements=changed_elements)})
    return _often_fed(made, name, random)


def _often_fed(draft: Draft, name: str, random: Random) -> Draft:
    """The draft, in which an input that changed is often fed at run time."""
    if draft.context == "folded" or not likely(random, 0.3):
        return draft
    return replace(draft, binding={**draft.binding, name: "parameter"})


def _count(draft: Draft, random: Random) -> Draft | None:
    """The lists of one length get an element more or less, at one place: all of them, or one."""
    lists = [name for name in _written(draft) if len(draft.tensors[name].shape) == 1]
    if not lists:
        return None
    name = random.choice(lists)
    length, is_all = len(draft.tensors[name].elements), likely(random, 0.7)
    place, is_longer = random.randrange(length + 1), likely(random, 0.6)
    tensors, attributes = dict(draft.tensors), dict(draft.attributes)
    for list_ in lists if is_all else [name]:
        elements: list[Element] = list(draft.tensors[list_].elements)
        if len(elements) != length or (not is_longer and place >= length):
            continue
        added = [typed(draft.tensors[list_].element_type, random.choice((0, 1, -1, 2)))]
        elements[place : place if is_longer else place + 1] = added if is_longer else []
        tensors[list_] = replace(draft.tensors[list_], elements=tuple(elements), shape=(len(elements),))
    for item, value in draft.attributes.items() if is_all else ():
        if isinstance(value, tuple) and place < len(value):
            new = (random.randrange(2),) if is_longer else ()
            attributes[item] = (*value[:place], *new, *value[place if is_longer else place + 1 :])
    return replace(with_tensors(draft, tensors), attributes=attributes)


def _element_type(draft: Draft, random: Random) -> Draft | None:
    """Another element type: of one tensor, or of all that have the same; other fills have more than small integers."""
    name = random.choice([*draft.tensors])
    old, new = draft.tensors[name].element_type, random.choice(WIDE if likely(random, 0.3) else [*ELEMENT_TYPES])
    role = draft.operation.port_of(name).role
    if role == "setting":
        integers = [element_type for element_type in ELEMENT_TYPES if ELEMENT_TYPES[element_type].is_integer]
        new = random.choice(integers if likely(random, 0.8) else ("boolean", *_FLOATS))
    is_all, fill = likely(random, 0.7), random.choice(FILLS)
    tensors = {
        key: retyped(tensor, new, fill)
        if tensor.element_type == old and (key == name or (is_all and draft.operation.port_of(key).role == role))
        else tensor
        for key, tensor in draft.tensors.items()
    }
    if None in tensors.values():
        return None
    made = with_tensors(draft, {k: v for k, v in tensors.items() if v})
    return _often_fed(made, name, random) if role == "setting" else made


def retyped(tensor: TensorDraft, name: str, fill: Fill) -> TensorDraft | None:
    """The tensor with another element type and fill; the type must be able to hold written elements."""
    if tensor.fill != "values":
        return replace(tensor, element_type=name, fill=fill)
    integers = [int(element) for element in tensor.elements if not isinstance(element, str)]
    largest = max(map(abs, integers), default=0)
    if ELEMENT_TYPES[name].is_integer or largest <= {"boolean": 1, **dict.fromkeys(_FLOATS, 256)}.get(name, -1):
        return replace(tensor, element_type=name, elements=tuple(typed(name, integer) for integer in integers))
    return None


def _attribute(draft: Draft, random: Random) -> Draft | None:
    if not draft.operation.attributes:
        return None
    attribute = random.choice(draft.operation.attributes)
    attributes = dict(draft.attributes)
    if likely(random, 0.1):
        attributes.pop(attribute.name, None)
    else:
        attributes[attribute.name] = drawn_attribute(attribute, draft.attributes.get(attribute.name), draft, random)
    return replace(draft, attributes=attributes)


def _presence(draft: Draft, random: Random) -> Draft | None:
    """An input is left out, or an optional one is added; a variadic port gets one tensor more or less."""
    port = random.choice(draft.operation.inputs)
    if port.variadic:
        return _variadic(draft, port, random)
    if port.name in draft.tensors:
        if not port.optional and likely(random, 0.8):
            return None
        return with_tensors(draft, {name: tensor for name, tensor in draft.tensors.items() if name != port.name})
    return with_tensors(draft, ordered(draft, {**draft.tensors, port.name: drawn_tensor(port, draft.tensors, random)}))


def _variadic(draft: Draft, port: Port, random: Random) -> Draft | None:
    tensors = [tensor for name, tensor in draft.tensors.items() if draft.operation.port_of(name) is port]
    if not tensors:
        return None
    place = random.randrange(len(tensors))
    if likely(random, 0.6):
        tensors.insert(place, tensors[place])
    else:
        del tensors[place]
    others = {name: tensor for name, tensor in draft.tensors.items() if draft.operation.port_of(name) is not port}
    return with_tensors(draft, ordered(draft, {**others, **dict(zip(port.names(len(tensors)), tensors, strict=True))}))


def ordered(draft: Draft, tensors: Mapping[str, TensorDraft]) -> dict[str, TensorDraft]:
    """Tensors in the order of the operation's ports."""
    ports = list(draft.operation.inputs)
    return dict(sorted(tensors.items(), key=lambda x: ports.index(draft.operation.port_of(x[0]))))


#: The changes, and how often each is drawn.
_CHANGES: Sequence[tuple[int, Change]] = (
    (6, _resize),
    (6, _grow),
    (4, _rank),
    (8, _elements),
    (3, _count),
    (5, _element_type),
    (2, change_fill),
    (2, change_binding),
    (3, change_dynamic),
    (3, change_context),
    (2, change_second),
    (5, _attribute),
    (2, _presence),
)
