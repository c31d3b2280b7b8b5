"""Wrong arguments in place of a sample's: tensors of another type or shape, attributes of another type."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from opconform.specs.every.sample import Keys, Samples, sample_shape
from opconform.specs.requirements import requirements_of
from opconform.suite.declarations import Port

#: A type of each kind that settings seldom have, and the value of it that stands for an integer.
_TYPES: Mapping[str, Callable[[int], Any]] = {"f32": float, "boolean": bool, "string": str}
#: Values that are not integers, made from one.
_VALUES: tuple[Callable[[int], Any], ...] = (float, lambda value: value + 0.5, lambda _: True, lambda _: "two")
#: Values with the low bits of another one, and negative ones.
_EXTREMES: tuple[Callable[[int], int], ...] = (
    *(lambda value, bits=bits: value + (1 << bits) for bits in (8, 16, 32)),
    lambda value: -1 - abs(value),
)


def wrong_arguments(samples: Samples) -> list[dict[str, Any]]:
    """One mapping per wrong argument: the number of the sample, the requirement, and the wrong and the right keys."""
    normative = {x.id for x in requirements_of(samples.op).requirements if x.violable and x.level == "normative"}
    return [x for x in (*_inputs(samples), *_attributes(samples)) if x["requirement"] in normative]


def extreme_values(samples: Samples) -> list[dict[str, Any]]:
    """One mapping per changed argument: the number of the sample, and the keys with and without an extreme value.

    The values agree in their low bits with the sample, or are negative; `is_input` is false for attributes.
    """
    operation = samples.operation
    settings = [port.name for port in operation.inputs if port.setting and port.name not in operation.same_types]
    changed: list[dict[str, Any]] = []
    for name in (*settings, *(spec.name for spec in operation.attributes)):
        number, right = _first(samples, name) or (0, None)
        values = right["values"] if isinstance(right, Mapping) and "values" in right else right
        if type(_scalar(values)) is int:
            keys = [_last_changed(values, change) for change in _EXTREMES]
            wrong = [{**right, "values": x} if isinstance(right, Mapping) else x for x in keys]
            about = {"sample": number, "is_input": name in settings, "right": {name: right}}
            changed += [{**about, "wrong": {name: x}} for x in wrong]
    return changed


def _last_changed(values: Any, change: Callable[[int], int]) -> Any:
    """Nested values with another last one."""
    return [*values[:-1], _last_changed(values[-1], change)] if isinstance(values, list) else change(values)


def _inputs(samples: Samples) -> Iterator[dict[str, Any]]:
    for port in samples.operation.inputs:
        first = _first(samples, port.name)
        if first is None or port.variadic:
            continue
        number, tensor = first
        right = {"element_type": port.default_type, **{key: value for key, value in tensor.items() if key != "fill"}}
        for aspect, changed in (*_other_types(port, tensor), *_other_shapes(port, tensor)):
            wrong = {**right, **changed}
            yield _wrong(number, f"{port.prefix or port.name}.{aspect}", {port.name: wrong}, {port.name: right})


def _other_types(port: Port, tensor: Keys) -> Iterator[tuple[str, Keys]]:
    for element_type, converted in _TYPES.items():
        if port.types is not None and element_type not in port.types:
            is_integer = "values" in tensor and isinstance(_scalar(tensor["values"]), int)
            values = _each(tensor["values"], converted) if is_integer else None
            shape = {} if is_integer else {"shape": sample_shape(tensor)}
            yield "element-type", {"element_type": element_type, "values": values, **shape}


def _other_shapes(port: Port, tensor: Keys) -> Iterator[tuple[str, Keys]]:
    """Values with one more dimension, and the first one as a scalar; or shapes of other ranks, one without elements."""
    if "values" in tensor and "shape" not in tensor:
        changes: list[Keys] = [{"values": [tensor["values"]]}, {"values": _scalar(tensor["values"])}]
    elif "values" not in tensor:
        changes = [{"shape": shape} for shape in ([1, *tensor["shape"]], [], [2], [0], [2, 2])]
    else:
        return
    for changed in changes:
        shape = tuple(sample_shape(changed))
        if port.shapes is not None and shape not in port.shapes:
            yield "shape", changed
        elif isinstance(port.ranks, tuple) and len(shape) not in port.ranks:
            yield "rank", changed


def _scalar(values: Any) -> Any:
    """The first of nested values."""
    while isinstance(values, list) and values:
        values = values[0]
    return values


def _attributes(samples: Samples) -> Iterator[dict[str, Any]]:
    for spec in samples.operation.attributes:
        number, right = _first(samples, spec.name) or (0, spec.default)
        if spec.type != "int" or not isinstance(right, int):
            continue
        for changed in _VALUES:
            yield _wrong(number, f"{spec.prefix or spec.name}.type", {spec.name: changed(right)}, {spec.name: right})


def _wrong(number: int, requirement: str, wrong: Keys, right: Keys) -> dict[str, Any]:
    return {"sample": number, "requirement": requirement, "wrong": wrong, "right": right}


def _first(samples: Samples, name: str) -> tuple[int, Any] | None:
    """The first sample that has a key: its number, and the value."""
    held = ((number, keys[name]) for number, keys in enumerate(samples.samples.values()) if keys.get(name) is not None)
    return next(held, None)


def _each(values: Any, change: Callable[[int], Any]) -> Any:
    return [_each(value, change) for value in values] if isinstance(values, list) else change(values)
