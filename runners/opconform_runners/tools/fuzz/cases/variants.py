"""The variants of a draft: numbers say what is kept of it, and how large its dimensions and values are."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

from opconform.model.draft import Draft, TensorDraft
from opconform.suite.case import Attribute, Dynamic, Shape
from opconform.tensors.literals import Element
from opconform_runners.tools.fuzz.trial import default_binding, resized

#: What a number decides: one of these kinds first, then the input or attribute, the place, and the value there.
Key = tuple[str | int | float, ...]
#: The number of a key, given the draft's own number, and the least and the largest one.
Number = Callable[[int, int, int, Key], int]
#: The kinds of numbers of the parts that a case has besides its tensors and attributes.
PART_KINDS = ("context", "second", "dynamic", "again", "binding", "type", "fill")
#: The kinds of numbers: what is listed first is left out first.
KINDS = (*PART_KINDS, "tensor", "attribute", "extent", "form", "column", "element", "value", "size")
#: Bits of a column: its dimensions stay, and its elements of lists stay.
_DIMENSION, _ELEMENT = 1, 2


def variant(draft: Draft, number: Number) -> Draft:
    """A draft with some numbers; numbers that are 0 leave something out."""
    operation = draft.operation

    def is_kept(*key: str) -> bool:
        return number(1, 0, 1, key) == 1

    context = draft.context if draft.context != "bare" and is_kept("context", draft.context) else "bare"
    tensors, second = _feeds(draft, number)
    names = {name: name for name in tensors if is_kept("tensor", name)}
    for port in (port for port in operation.inputs if port.variadic):
        before, after = ([name for name in listed if operation.port_of(name) is port] for listed in (tensors, names))
        if len(after) < len(before):
            second = {}
        names |= dict(zip(after, port.names(len(after)), strict=True)) if after else {}
    usual = default_binding(operation, tensors)
    if draft.context == "folded":
        binding = {new: "constant" if context == "folded" else usual[old] for old, new in names.items()}
    else:
        binding = {
            new: draft.binding[old] if draft.binding[old] == usual[old] or is_kept("binding", old) else usual[old]
            for old, new in names.items()
        }
    smaller = {new: _tensor(draft, tensors[old], old, "", number) for old, new in names.items()}
    again = {name: _tensor(draft, tensor, name, "second ", number) for name, tensor in second.items()}
    dynamic = {
        new: _dimensions(draft, old, smaller[new].shape, number)
        for old, new in names.items()
        if old in draft.dynamic and is_kept("dynamic", old) and binding[new] == "parameter"
    }
    return replace(
        draft,
        context=context,
        then=draft.then if context == "then" else None,
        tensors=smaller,
        attributes={
            name: _attribute(value, name, number)
            for name, value in draft.attributes.items()
            if is_kept("attribute", name)
        },
        binding=binding,
        dynamic={name: x for name, x in dynamic.items() if x is not None and x != smaller[name].shape},
        second={
            name: tensor
            for name, tensor in again.items()
            if binding.get(name) == "parameter" and tensor != smaller[name]
        }
        or None,
    )


def _feeds(draft: Draft, number: Number) -> tuple[Mapping[str, TensorDraft], Mapping[str, TensorDraft]]:
    """The first feed, and what differs in the second one: without it, with the second one alone, or with both."""
    second = draft.second or {}
    match number(2, 0, 2, ("second",)) if second else 0:
        case 0:
            return draft.tensors, {}
        case 1:
            return {**draft.tensors, **second}, {}
        case _:
            kept = {name: tensor for name, tensor in second.items() if number(1, 0, 1, ("again", name))}
            return draft.tensors, kept


def _tensor(draft: Draft, tensor: TensorDraft, name: str, feed: str, number: Number) -> TensorDraft:
    """A tensor of the default type, with a ramp, fewer and smaller dimensions and elements, or none."""
    port, place = draft.operation.port_of(name), f"{feed}{name}"
    element_type = tensor.element_type
    # Together with all tensors of its type, which often must agree, or alone.
    type_keys: tuple[Key, ...] = (("type", element_type), ("type", element_type, name))
    if element_type != port.default_type and not all(number(1, 0, 1, key) for key in type_keys):
        tensor = replace(tensor, element_type=port.default_type)
    if tensor.fill not in ("values", "ramp") and not number(1, 0, 1, ("fill", name, tensor.fill)):
        tensor = replace(tensor, fill="ramp")
    elements = [smaller_element(x, ("element", place, index, x), number) for index, x in enumerate(tensor.elements)]
    if tensor.fill == "values" and len(tensor.shape) == 1:
        elements = [element for index, element in enumerate(elements) if _column(index, number) & _ELEMENT]
        tensor = replace(tensor, elements=tuple(elements), shape=(len(elements),))
    else:
        shape = [number(size, 0, size, ("size", place, axis, size)) for axis, size in enumerate(tensor.shape)]
        if port.role == "data":
            shape = [size for axis, size in enumerate(shape) if _column(axis, number) & _DIMENSION]
        tensor = resized(replace(tensor, elements=tuple(elements)), shape)
    form = number(2, 0, 2, ("form", place)) if tensor.shape else 2
    flat = math.prod(tensor.shape) if tensor.shape[1:] else 0
    return (resized(tensor, ()), resized(tensor, (flat,)), tensor)[form]


def _column(place: int, number: Number) -> int:
    """Which of the dimensions and the elements of lists at a place stay."""
    both = _DIMENSION | _ELEMENT
    return number(both, 0, both, ("column", place))


def smaller_element(value: Element, key: Key, number: Number) -> Element:
    """A number or boolean that is nearer to 0, of a fraction a whole number; text stays, and so do infinities."""
    if isinstance(value, str) or value == 0 or not math.isfinite(value):
        return value
    most = math.ceil(abs(value))
    current, low = most if value > 0 else -most, 0 if isinstance(value, bool) else -most
    chosen = number(current, low, most, key)
    return value if chosen == current else type(value)(chosen)


def _attribute(value: Attribute, name: str, number: Number) -> Attribute:
    if isinstance(value, tuple):
        smaller = [smaller_element(x, ("value", name, place, x), number) for place, x in enumerate(value)]
        return tuple(x for place, x in enumerate(smaller) if _column(place, number) & _ELEMENT)
    return smaller_element(value, ("value", name, value), number)


def _dimensions(draft: Draft, name: str, shape: Shape, number: Number) -> Dynamic | None:
    """The declared dimensions of a tensor that has another shape now; None if they do not fit."""
    dynamic = draft.dynamic[name]
    if dynamic == "...":
        return dynamic
    has_columns = draft.operation.port_of(name).role == "data"
    kept = [x for axis, x in enumerate(dynamic) if not has_columns or _column(axis, number) & _DIMENSION]
    if len(kept) != len(shape):
        return None
    return tuple(size if isinstance(x, int) else x for x, size in zip(kept, shape, strict=True))
