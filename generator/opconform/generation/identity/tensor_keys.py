"""The tensors of a case: from the checked keys of a spec to drafts."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from opconform.errors import quoted
from opconform.generation.options import Limits
from opconform.model.draft import TensorDraft
from opconform.operations.operation import Operation
from opconform.specs.matrix.expressions import is_expression
from opconform.specs.schema.keys import TensorKeys
from opconform.specs.yaml_document import KEY, KeyMistake
from opconform.suite.case import Shape
from opconform.suite.declarations import Port
from opconform.tensors.literals import Element, checked

#: The most dimensions of numpy's arrays, and the largest product of the sizes of an empty shape without its zeros.
RANK = 64
_BESIDE_ZERO = 1 << 58
#: The most elements of a setting input: they are part of the case's content one by one.
_SETTING = 100_000
#: How many checked keys, and how many tensors, are kept.
_KNOWN = 1_000


class KnownTensors:
    """The tensors of keys that were checked before, by the identity of the keys, which are kept alive."""

    def __init__(self) -> None:
        self._checked: dict[tuple[str, int], tuple[object, TensorKeys]] = {}
        self._drafts: dict[tuple[str, int], tuple[TensorKeys, TensorDraft]] = {}

    def checked(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """The keys, with the checked ones in place of those that are known."""
        return {name: self._checked.get((name, id(key)), (key, key))[1] for name, key in keys.items()}

    def note(self, keys: Mapping[str, Any], checked: Any) -> None:
        """Keep what some keys were checked to be."""
        if len(self._checked) > _KNOWN:
            self._checked.clear()
        for name, key in keys.items():
            value = getattr(checked, name)
            if isinstance(value, TensorKeys):
                self._checked[name, id(key)] = key, value

    def draft(self, port: Port, keys: TensorKeys, limits: Limits) -> TensorDraft:
        """The tensor of checked keys at a port."""
        known = port.name, id(keys)
        if len(self._drafts) > _KNOWN:
            self._drafts.clear()
        if known not in self._drafts:
            self._drafts[known] = keys, tensor_draft(port, keys, limits)
        return self._drafts[known][1]


def tensor_drafts(operation: Operation, keys: Any, limits: Limits, known: KnownTensors) -> dict[str, TensorDraft]:
    """The tensors in some keys, by name and in the order of the operation's ports."""
    tensors: dict[str, TensorDraft] = {}
    for port in operation.inputs:
        value = getattr(keys, port.name, None)  # a neighbour has no key for its first input
        several = (value or ()) if port.variadic else (value,)
        for index, (name, item) in enumerate(zip(port.names(len(several)), several, strict=True)):
            if item is not None:
                try:
                    tensors[name] = known.draft(port, item, limits)
                except KeyMistake as error:
                    inside = (index, *error.inside) if port.variadic else error.inside
                    raise KeyMistake(error.key, error.sentence, inside, error.value) from error
    return tensors


def tensor_draft(port: Port, keys: TensorKeys, limits: Limits) -> TensorDraft:
    """The tensor of checked keys at a port; `KeyMistake` if they contradict each other or exceed a limit."""
    name = port.name
    element_type = keys.element_type or port.default_type
    if keys.values is not None:
        return _from_values(name, element_type, keys, limits)
    if keys.shape is None:
        raise KeyMistake(name, "it needs a `shape`, or `values`")
    count = _count(name, keys.shape, limits)
    if keys.fill == "constant" and keys.value is None:
        raise KeyMistake(name, "`fill: constant` needs a `value`", ("fill",))
    if keys.fill != "constant" and keys.value is not None:
        raise KeyMistake(name, "`value` needs `fill: constant`", ("value", KEY))
    elements = () if keys.value is None else (_element(name, element_type, keys.value, "value"),)
    if port.role == "data":
        return TensorDraft(element_type=element_type, shape=keys.shape, fill=keys.fill or "ramp", elements=elements)
    if not elements and count:
        raise KeyMistake(name, "its elements decide what the operation does, so it needs `values` or `fill: constant`")
    if count > _SETTING:
        raise KeyMistake(name, f"{count:,} elements are over the limit of {_SETTING:,} for a setting input")
    return TensorDraft(element_type=element_type, shape=keys.shape, fill="values", elements=elements * count)


def _count(name: str, shape: Shape, limits: Limits) -> int:
    if len(shape) > RANK:
        raise KeyMistake(name, f"a shape of {len(shape):,} dimensions is over the limit of {RANK}", ("shape",))
    count = math.prod(shape)
    if count > limits.elements:
        number = f"{count:,}" if count < _BESIDE_ZERO else f"more than {_BESIDE_ZERO:,}"
        over = f"over the limit of {limits.elements:,}; raise the limit with --max-elements"
        raise KeyMistake(name, f"a shape of {number} elements is {over}", ("shape",))
    if math.prod(size for size in shape if size) > _BESIDE_ZERO:
        sentence = f"the product of the non-zero sizes is over the limit of {_BESIDE_ZERO:,}"
        raise KeyMistake(name, sentence, ("shape",))
    return count


def _from_values(name: str, element_type: str, keys: TensorKeys, limits: Limits) -> TensorDraft:
    if keys.fill is not None or keys.value is not None:
        raise KeyMistake(name, "`values` cannot be combined with `fill` or `value`")
    shape = _nesting(name, keys.values)
    elements = tuple(_element(name, element_type, x, "values") for x in _flat(keys.values))
    if keys.shape is not None and keys.shape != shape:
        if math.prod(keys.shape) != len(elements) or len(shape) > 1:
            shape_text = quoted(list(keys.shape))
            sentence = f"its values have the shape {quoted(list(shape))}, but `shape` is {shape_text}"
            raise KeyMistake(name, sentence, ("shape",))
        shape = keys.shape
    _count(name, shape, limits)
    return TensorDraft(element_type=element_type, shape=shape, fill="values", elements=elements)


def _nesting(name: str, values: object) -> Shape:
    if not isinstance(values, list):
        return ()
    inner = {_nesting(name, value) for value in values}
    if len(inner) > 1:
        raise KeyMistake(name, "its nested lists have different lengths", ("values",))
    return (len(values), *next(iter(inner), ()))


def _flat(values: object) -> Iterable[object]:
    return (element for value in values for element in _flat(value)) if isinstance(values, list) else (values,)


def _element(name: str, element_type: str, value: object, key: str) -> Element:
    if not isinstance(value, bool | int | float | str) or is_expression(value):
        sentence = f"{quoted(value)} is not an element; write a number, true, false or a string"
        raise KeyMistake(name, sentence, (key,), value)
    try:
        return checked(element_type, value)
    except ValueError as error:
        raise KeyMistake(name, str(error), (key,), value) from error
