"""Simpler trials: each leaves one thing out of a case, or makes a shape or a value smaller."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from opconform.model.draft import Draft, TensorDraft
from opconform.suite.case import Role
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_runners.tools.fuzz.trial import Trial, decided, default_binding, resized, trial_of, with_tensors

#: The bits of a byte; shorter elements share one, of whatever kind they are.
_BYTE = 8
#: A simplification, which is applied to a case and its twin alike; None where it does not apply.
_Step = Callable[[Draft], Draft | None]


def simpler(trial: Trial) -> list[Trial]:
    """The trials that violate the same requirement and are simpler, the simplest first."""
    found: dict[str, Trial] = {}
    for step in _steps(trial.draft):
        for candidate in _stepped(trial, step):
            settled = [decided(x) for x in candidate]
            if None in settled:
                continue
            case, *twin = (x for x in settled if x is not None)
            is_same = case.rejected_for == trial.draft.rejected_for and all(x.rejected_for is None for x in twin)
            if is_same and cost(case) < cost(trial.draft):
                found.setdefault(case.digits, trial_of(case, twin[0]) if twin else Trial(draft=case))
    return sorted(found.values(), key=lambda x: cost(x.draft))


def _stepped(trial: Trial, step: _Step) -> Iterator[tuple[Draft, ...]]:
    """The case and its twin after a step; or the case alone, where it differs from its twin already."""
    case, twin = step(trial.draft), trial.twin
    if case is None:
        return
    if twin is None:
        yield (case,)
        return
    yield case, step(twin) or twin
    if _differences(case, twin) <= _differences(trial.draft, twin):
        yield case, twin


def _differences(draft: Draft, twin: Draft) -> set[str]:
    """The tensors and attributes in which a case and its twin differ."""
    pairs = (
        (draft.tensors, twin.tensors),
        (draft.attributes, twin.attributes),
        (draft.second or {}, twin.second or {}),
    )
    found = {name for one, other in pairs for name in {*one, *other} if one.get(name) != other.get(name)}
    ways = ("binding", "dynamic", "context", "then")
    return found | {way for way in ways if getattr(draft, way) != getattr(twin, way)}


def cost(draft: Draft) -> tuple[int, int, int, int, str]:
    """By what cases are ordered, the simplest first: parts, dimensions, elements, values."""
    feeds = [*draft.tensors.values(), *(draft.second or {}).values()]
    values = [*(element for tensor in feeds for element in tensor.elements), *_integers(draft)]
    magnitude = sum(2 * abs(int(value)) + (int(value) < 0) for value in values if not isinstance(value, str))
    return (
        len(parts(draft)) + len(draft.tensors) + len(draft.attributes),
        sum(len(feed.shape) for feed in feeds),
        sum(math.prod(feed.shape) + sum(feed.shape) for feed in feeds),
        magnitude,
        draft.content,
    )


def _integers(draft: Draft) -> list[int]:
    lists = [attribute if isinstance(attribute, tuple) else (attribute,) for attribute in draft.attributes.values()]
    return [int(one) for list_ in lists for one in list_ if isinstance(one, int)]


def parts(draft: Draft, *, has_widths: bool = True) -> tuple[str, ...]:
    """What a case has besides shapes and values, in words; a folded model has constants and no other part.

    `has_widths` is whether integers or floating-point numbers of different widths are different parts.
    """
    usual = default_binding(draft.operation, draft.tensors)
    found = [
        *([f"the context {draft.context}"] if draft.context not in ("bare", "folded") else []),
        *(["a second inference"] if draft.second is not None else []),
        *(["dimensions that the model does not declare"] if draft.dynamic else []),
    ]
    for name, tensor in draft.tensors.items():
        port = draft.operation.port_of(name)
        if draft.binding[name] != usual[name]:
            found.append(f"{port.name} as a {draft.binding[name]}")
        if tensor.element_type != port.default_type:
            found.append(f"{port.name} of {_family(tensor.element_type, port.role, has_width=has_widths)} elements")
        if tensor.fill not in ("ramp", "values"):
            found.append(f"{port.name} with special values")
    return tuple(dict.fromkeys(found))


def _family(name: str, role: Role, *, has_width: bool) -> str:
    """The kind of an element type, and the width of data, by which backends choose how they move it."""
    element_type = ELEMENT_TYPES[name]
    kind = "integer" if element_type.is_integer else element_type.kind
    if role == "setting" or kind in ("string", "boolean"):
        return kind
    if element_type.bits < _BYTE:
        return "packed"
    return f"{element_type.bits}-bit {kind}" if has_width else kind


def _steps(draft: Draft) -> Iterator[_Step]:
    yield lambda x: replace(_plain(x), tensors=_of_default_types(x))
    yield _plain
    yield _without_context
    yield lambda x: replace(x, dynamic={}, second=None)
    yield lambda x: replace(x, second=None)
    yield lambda x: replace(x, tensors={**x.tensors, **(x.second or {})}, second=None)
    yield lambda x: replace(x, binding=default_binding(x.operation, x.tensors), dynamic={}, second=None)
    yield lambda x: with_tensors(x, _of_default_types(x))
    for name in draft.tensors:
        yield from _tensor_steps(draft, name)
    for attribute in draft.attributes:
        yield from _attribute_steps(draft, attribute)
    for length in {len(tensor.shape) for tensor in draft.tensors.values()} | {
        len(tensor.elements) for tensor in draft.tensors.values() if len(tensor.shape) == 1
    }:
        for place in range(length):
            for has_lists in (True, False):
                for has_dimensions in (True, False):
                    yield _narrowed(place, length if has_lists else None, has_dimensions=has_dimensions)
    for size in {size for tensor in draft.tensors.values() for size in tensor.shape}:
        for wanted in (x for x in _smaller(size) if x >= 0):
            yield _resized(size, wanted, None)
            yield from (_resized(size, wanted, name) for name in draft.tensors)
    yield from _transfers(draft)


def _plain(draft: Draft) -> Draft:
    return replace(
        draft,
        context="bare",
        then=None,
        binding=default_binding(draft.operation, draft.tensors),
        dynamic={},
        second=None,
        tensors={name: _with_ramp(tensor) for name, tensor in draft.tensors.items()},
    )


def _without_context(draft: Draft) -> Draft:
    binding = default_binding(draft.operation, draft.tensors) if draft.context == "folded" else draft.binding
    return replace(draft, context="bare", then=None, binding=binding)


def _with_ramp(tensor: TensorDraft) -> TensorDraft:
    return tensor if tensor.fill == "values" else replace(tensor, fill="ramp")


def _of_default_types(draft: Draft) -> dict[str, TensorDraft]:
    return {
        name: replace(tensor, element_type=draft.operation.port_of(name).default_type)
        for name, tensor in draft.tensors.items()
    }


def _tensor_steps(draft: Draft, name: str) -> Iterator[_Step]:
    """Another element type, fill, binding or declaration of a tensor, no such tensor, and smaller elements."""

    def changed(change: Callable[[TensorDraft], TensorDraft]) -> _Step:
        return lambda x: with_tensors(x, {**x.tensors, name: change(x.tensors[name])}) if name in x.tensors else None

    yield _without_tensor(name)
    yield changed(lambda x: replace(x, element_type=draft.operation.port_of(name).default_type))
    yield changed(_with_ramp)
    usual = default_binding(draft.operation, draft.tensors)[name]
    yield lambda x: replace(x, binding={**x.binding, name: usual}) if name in x.binding else None
    yield lambda x: replace(x, dynamic={key: one for key, one in x.dynamic.items() if key != name})
    yield lambda x: replace(x, second={k: v for k, v in (x.second or {}).items() if k != name} or None)
    yield changed(lambda x: resized(x, ()))
    yield changed(lambda x: resized(x, (math.prod(x.shape),)))
    for place, value in enumerate(draft.tensors[name].elements):
        for less in _smaller(value) if isinstance(value, int | float) else ():
            yield changed(_with_element(place, less))


def _with_element(place: int, value: int) -> Callable[[TensorDraft], TensorDraft]:
    def change(tensor: TensorDraft) -> TensorDraft:
        typed = float(value) if isinstance(next(iter(tensor.elements), None), float) else value
        elements = [typed if number == place else element for number, element in enumerate(tensor.elements)]
        return replace(tensor, elements=tuple(elements))

    return change


def _without_tensor(name: str) -> _Step:
    """No such tensor; the tensors after it at a variadic port move up."""

    def step(draft: Draft) -> Draft | None:
        if name not in draft.tensors:
            return None
        port = draft.operation.port_of(name)
        kept = {key: tensor for key, tensor in draft.tensors.items() if key != name}
        if port.variadic:
            rest = [name for key, name in kept.items() if draft.operation.port_of(key) is port]
            others = {key: name for key, name in kept.items() if draft.operation.port_of(key) is not port}
            kept = {**others, **dict(zip(port.names(len(rest)), rest, strict=True))}
        return with_tensors(replace(draft, second=None, dynamic={}), kept)

    return step


def _attribute_steps(draft: Draft, name: str) -> Iterator[_Step]:
    """No such attribute, or a smaller value."""
    yield lambda x: replace(x, attributes={key: one for key, one in x.attributes.items() if key != name})
    value = draft.attributes[name]
    smaller: list[object] = []
    if isinstance(value, bool):
        smaller = [False]
    elif isinstance(value, int):
        smaller = [*_smaller(value)]
    elif isinstance(value, tuple):
        smaller = [value[:-1], (0,) * len(value), *((*value[:n], 0, *value[n + 1 :]) for n in range(len(value)))]
    for item in smaller:
        yield lambda one, x=item: replace(one, attributes={**one.attributes, name: x})  # type: ignore[misc]


def _smaller(value: float) -> Sequence[int]:
    """Integers nearer to 0 than another one, the nearest first."""
    whole = int(value)
    nearer = (0, 1, -1, 2, whole // 2, whole - 1, whole + 1)
    return [
        fromkey for fromkey in dict.fromkeys(nearer) if abs(fromkey) < abs(whole) or (whole < 0 and fromkey == -whole)
    ]


def _narrowed(place: int, length: int | None, *, has_dimensions: bool) -> _Step:
    """One dimension less of data, and one element less of every list and attribute of that length, at one place."""

    def step(draft: Draft) -> Draft | None:
        tensors, attributes = dict(draft.tensors), dict(draft.attributes)
        for name, tensor in draft.tensors.items():
            is_data = draft.operation.port_of(name).role == "data"
            if is_data and has_dimensions and place < len(tensor.shape):
                tensors[name] = resized(tensor, (*tensor.shape[:place], *tensor.shape[place + 1 :]))
            elif not is_data and tensor.shape == (length,) and place < len(tensor.elements):
                left = (*tensor.elements[:place], *tensor.elements[place + 1 :])
                tensors[name] = replace(tensor, elements=left, shape=(len(left),))
        for key, value in draft.attributes.items() if length is not None else ():
            if isinstance(value, tuple) and place < len(value):
                attributes[key] = (*value[:place], *value[place + 1 :])
        return replace(with_tensors(draft, tensors), attributes=attributes)

    return step


def _resized(size: int, wanted: int, name: str | None) -> _Step:
    """Dimensions of one size get a smaller one: in one tensor, or wherever that size or value occurs."""

    def step(draft: Draft) -> Draft | None:
        tensors = {}
        for key, tensor in draft.tensors.items():
            shape = tuple(wanted if one == size and name in (None, key) else one for one in tensor.shape)
            tensors[key] = resized(tensor, shape) if shape != tensor.shape else tensor
        return with_tensors(draft, tensors)

    return step


def _transfers(draft: Draft) -> Iterator[_Step]:
    """An element and a dimension that contains it become smaller together."""
    for name, tensor in draft.tensors.items():
        for place, value in enumerate(tensor.elements if tensor.fill == "values" else ()):
            if isinstance(value, int) and value > 0:
                for size in {size for tensor in draft.tensors.values() for size in tensor.shape if size >= value}:
                    for less in {value, value - 1, value // 2} - {0}:
                        yield _transferred(name, place, size, less)


def _transferred(name: str, place: int, size: int, less: int) -> _Step:
    def step(draft: Draft) -> Draft | None:
        tensor = draft.tensors.get(name)
        if tensor is None or place >= len(tensor.elements) or not isinstance(tensor.elements[place], int):
            return None
        left = int(tensor.elements[place]) - less
        kept = () if left == 0 and len(tensor.shape) == 1 else (left,)
        elements = (*tensor.elements[:place], *kept, *tensor.elements[place + 1 :])
        shape = tensor.shape if kept else (len(elements),)
        resizing = _resized(size, size - less, None)(draft)
        if resizing is None:
            return None
        return with_tensors(resizing, {**resizing.tensors, name: replace(tensor, elements=elements, shape=shape)})

    return step
