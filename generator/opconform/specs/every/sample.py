"""Samples: named sets of valid arguments of an operation, and the case that a group of every operation makes of one."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from opconform.operations import OPERATIONS
from opconform.operations.operation import Operation
from opconform.specs.yaml_document import Document
from opconform.suite.declarations import Port
from opconform.tensors.literals import checked

#: The keys of a case, or of one of its tensors.
Keys = Mapping[str, Any]


def _every_second(shape: Sequence[int]) -> list[int | str]:
    return [size if axis % 2 else "?" for axis, size in enumerate(shape)]


def _bounds(shape: Sequence[int]) -> list[int | str]:
    return [f"{max(0, size - 1)}..{2 * size + 1}" for size in shape]


#: The word for constant data beside settings at run time.
CONSTANT_DATA = "constant data"
#: The words for declared dimensions that only groups of every operation have, besides `all` and `...`.
_DECLARED: Mapping[str, Callable[[Sequence[int]], list[int | str]]] = {"some": _every_second, "bounded": _bounds}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Samples:
    """The samples of an operation: the keys of each by its name, and its second feeds. Tensors are mappings."""

    op: str
    document: Document
    samples: Mapping[str, Keys]
    seconds: Mapping[str, Sequence[Keys]]

    @property
    def operation(self) -> Operation:
        """The operation of the samples."""
        return OPERATIONS[self.op]

    def described(self) -> Iterator[dict[str, Any]]:
        """What a group can ask of each sample: the largest rank and number of elements are of its data.

        `computes` says that the operation computes with numbers. An operation without data is as one of a scalar.
        """
        least = 0 if self.operation.data else 1
        for number, (name, keys) in enumerate(self.samples.items()):
            shapes = [sample_shape(x) for _, x in self._tensors(keys, setting=False)]
            yield {
                "name": name,
                "number": number,
                "seconds": len(self.seconds[name]),
                "rank": max(map(len, shapes), default=0),
                "elements": max(map(prod, shapes), default=least),
                "computes": self.operation.is_numeric,
            }

    def neighbour(self, name: str) -> dict[str, Any]:
        """The key `then` that puts a sample behind another operation; data besides its first input is written out."""
        samples = {key: sample for key, sample in self.samples[name].items() if key != self._first}
        keys = self._alike(samples, "i32") or samples
        written = {port.name: _written(keys[port.name]) for port in self.operation.data if port.name in keys}
        return {"op": self.op, **keys, **written}

    def case(self, name: str, generic: Keys) -> dict[str, Any] | None:
        """The keys of the case that a group makes of a sample, or None if it does not apply to the sample.

        `generic` are the group's keys: `data` and `settings` override the tensors at these ports, and `second` is the
        number of the second feed.
        """
        keys, number = dict(self.samples[name]), generic.get("second")
        if generic.get("binding") in ("parameter", CONSTANT_DATA) and self._has_constant(keys):
            return None
        if number is not None and number >= len(self.seconds[name]):
            return None
        for port in self.operation.inputs:
            override = self._override(port, keys, generic.get("settings" if port.setting else "data"))
            if override and port.name in keys:
                if port.types is not None and override.get("element_type", port.types[0]) not in port.types:
                    return None
                changed = [_overridden(x, override) for x in _listed(keys[port.name])]
                if None in changed:
                    return None
                keys[port.name] = changed if port.variadic else changed[0]
        if self.operation.same_types and not generic.get("settings"):
            alike = self._alike(keys, keys[self._first].get("element_type", self.operation.inputs[0].default_type))
            if alike is None:
                return None
            keys = alike
        keys |= {
            key: generic[key] for key in ("context", "essential", "expect", "then") if generic.get(key) is not None
        }
        keys |= generic.get("wrong") or {}
        feed = {} if number is None else self._feed(keys, self.seconds[name][number])
        binding = self._binding(keys, generic.get("binding"), feed)
        dynamic = self._dynamic(keys, generic, feed, binding)
        return {**keys, **({"feed": feed} if feed else {}), "binding": binding, "dynamic": dynamic}

    def _override(self, port: Port, keys: Keys, override: Keys | None) -> Keys | None:
        """A group's keys for a port; the fill of a sample stays if the operation computes with the elements."""
        has_own = self.operation.is_numeric and isinstance(keys.get(port.name), Mapping) and "fill" in keys[port.name]
        return {key: x for key, x in override.items() if key != "fill"} if override and has_own else override

    def _has_constant(self, keys: Keys) -> bool:
        """Whether a setting must be a constant."""
        return any(port.constant for port in self.operation.inputs if port.name in keys)

    def _alike(self, keys: Keys, element_type: str | None) -> dict[str, Any] | None:
        """The keys with the settings that have the type of the first input in that type; None if it lacks a value."""
        names = [name for name in self.operation.same_types if name in keys and element_type is not None]
        changed = {name: _overridden(keys[name], {"element_type": element_type}) for name in names}
        return None if None in changed.values() else {**keys, **changed}

    def _feed(self, keys: Keys, second: Keys) -> dict[str, Any]:
        """A second feed; the tensors at a variadic port keep what they do not change, as others do anyway."""
        variadic = [input_.name for input_ in self.operation.inputs if input_.variadic and input_.name in second]
        pairs = {name: zip(keys[name], second[name], strict=True) for name in variadic}
        return {**second, **{name: [{**first, **later} for first, later in pair] for name, pair in pairs.items()}}

    @property
    def _first(self) -> str:
        return self.operation.inputs[0].name

    def _tensors(self, keys: Keys, *, setting: bool) -> Iterator[tuple[str, Keys]]:
        """The tensors at the ports of one kind, by name."""
        for port in self.operation.inputs:
            if port.setting is setting:
                yield from _named(port, keys)

    def _binding(self, keys: Keys, word: str | None, feed: Keys) -> dict[str, str]:
        """The bindings of settings: a word for all, or the one at run time, and the run-time ones of a second feed."""
        settings = [name for name, _ in self._tensors(keys, setting=True)]
        data = [name for name, _ in self._tensors(keys, setting=False)]
        constant = settings if word == "constant" else data if word == CONSTANT_DATA else []
        at_run_time = [
            setting for setting in settings if word in ("parameter", CONSTANT_DATA, setting) or setting in feed
        ]
        return {**dict.fromkeys(constant, "constant"), **dict.fromkeys(at_run_time, "parameter")}

    def _dynamic(self, keys: Keys, generic: Keys, feed: Keys, binding: Keys) -> dict[str, Any] | None:
        """The declared dimensions: the group's word for tensors, and what a second feed changes."""
        dynamic: dict[str, Any] = {}
        if (word := generic.get("dynamic")) is not None:
            fed = [x for port in self.operation.inputs if port.role == "data" for x in _named(port, keys)]
            dynamic = {
                name: _DECLARED[word](sample_shape(x)) if word in _DECLARED else word
                for name, x in fed
                if binding.get(name) != "constant"
            }
        for port in self.operation.inputs:
            later = _named(port, feed) if port.name in feed else []
            for (name, first), (_, second) in zip(_named(port, keys), later, strict=False):
                if word not in ("all", "...") or name not in dynamic:
                    dynamic |= {name: open_shape} if (open_shape := _common(first, second)) else {}
        return dynamic or None


def _written(tensor: Keys) -> Keys:
    """A tensor with values that a constant of a model can have, in the element type of the groups' data."""
    values = tensor["values"] if "values" in tensor else [*range(1, prod(sample_shape(tensor)) + 1)]
    return {"element_type": "i32", "shape": sample_shape(tensor), "values": values}


def sample_shape(tensor: Keys) -> list[int]:
    """The shape that the keys of a tensor give it."""
    if "shape" in tensor:
        return list(tensor["shape"])
    shape, values = [], tensor["values"]
    while isinstance(values, list):
        shape.append(len(values))
        values = values[0] if values else None
    return shape


def _common(first: Keys, second: Keys) -> str | list[int | str] | None:
    """The declared dimensions that the shapes of two feeds need; None if the shapes are equal."""
    if second.keys().isdisjoint({"shape", "values"}) or sample_shape(first) == sample_shape(second):
        return None
    before, after = sample_shape(first), sample_shape(second)
    return "..." if len(before) != len(after) else [a if a == b else "?" for a, b in zip(before, after, strict=True)]


def _listed(tensors: Any) -> list[Keys]:
    return tensors if isinstance(tensors, list) else [tensors]


def _named(port: Port, keys: Keys) -> list[tuple[str, Keys]]:
    tensors = _listed(keys[port.name]) if keys.get(port.name) is not None else []
    return list(zip(port.names(len(tensors)), tensors, strict=True)) if tensors else []


def _overridden(tensor: Keys, override: Keys) -> Keys | None:
    """The keys of a tensor with others; its values stay, and None says that the new element type lacks one of them."""
    if "values" not in tensor:
        return {**tensor, **override}
    changed = {**tensor, **{key: x for key, x in override.items() if key == "element_type"}}
    try:
        for value in flat(tensor["values"]):
            checked(changed["element_type"], value) if "element_type" in changed else None
    except ValueError:
        return None
    return changed


def flat(values: Any) -> Iterator[Any]:
    """The values in nested lists, in order."""
    if isinstance(values, list):
        for value in values:
            yield from flat(value)
    else:
        yield values
