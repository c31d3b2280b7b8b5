"""A small valid case of a call: unknown dimensions and values get some that are valid, and large numbers small ones."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, product

from opconform.model.draft import Draft, TensorDraft
from opconform.operations import OPERATIONS
from opconform.operations.arguments import Unknown
from opconform.suite.case import Attribute, Dynamic, Shape
from opconform.suite.declarations import Port
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.literals import Element
from opconform_runners.tools.fuzz.trial import decided, default_binding, drawn, resized
from opconform_runners.tools.from_model.node import Call, Known

#: The sizes that unknown dimensions get, one after the other, and those that are then tried.
_FIRST, _SIZES = (2, 3, 5, 7), (2, 4, 6, 1, 8, 12, 3)
_RANKS = (3, 2, 4, 1, 5, 0)
#: The largest number of the model that decides the size of an unknown dimension.
_MOST = 4_096
#: How many assignments are tried.
_TRIES = 600
#: Numbers above this one become smaller, up to those that stand for "to the end".
_SMALL, _ENDLESS = 8, (1 << 31) - 1
#: The most elements that the shapes of the outputs are computed for.
_ELEMENTS = 1 << 28


def instance_of(call: Call) -> Draft | None:
    """A small valid case of a call, which declares the dimensions that the model does; None if none was found."""
    for draft in islice(_assigned(call), _TRIES):
        if _is_valid(draft):
            small = decided(_with_small_numbers(draft))
            if small is not None and small.rejected_for is None:
                return small
    return None


def _assigned(call: Call) -> Iterator[Draft]:
    """The call with sizes and values in place of unknown ones: distinct sizes first."""
    operation = OPERATIONS[call.op]
    ports = {name: operation.port_of(name) for name in call.inputs}
    unranked = [name for name, known in call.inputs.items() if known.dimensions is None]
    for ranks in product(*(_ranks(ports[name]) for name in unranked)):
        of_rank = dict(zip(unranked, ranks, strict=True))
        open_shapes = {
            name: known.dimensions if known.dimensions is not None else tuple(f"{name} {n}" for n in range(of_rank[name]))
            for name, known in call.inputs.items()
        }
        for sizes in islice(_sizes(call, open_shapes, ports), _TRIES // 4):
            shapes = {
                name: tuple(size if isinstance(size, int) else sizes[size] for size in shape)
                for name, shape in open_shapes.items()
            }
            values = {name: [*_values(known, ports[name], shapes[name], shapes)] for name, known in call.inputs.items()}
            for chosen in product(*values.values()):
                yield _draft(call, dict(zip(values, chosen, strict=True)), open_shapes)


def _ranks(port: Port) -> Sequence[int]:
    ranks = [rank for rank in _RANKS if port.ranks is None or rank in port.ranks]
    return [1, 0] if port.role == "setting" and {0, 1} <= {*ranks} else ranks or [1]


def _sizes(call: Call, shapes: Mapping[str, tuple[int | str, ...]], ports: Mapping[str, Port]) -> Iterator[dict[str, int]]:
    """Sizes for the names of unknown dimensions.

    The length of a setting is the rank of data first, and a dimension of data has a known size at its place.
    """
    wanted: dict[str, list[int]] = {}
    numbers = [x for known in call.inputs.values() for x in known.elements or () if type(x) is int and x < _MOST]
    rank = next((len(shapes[name]) for name, port in ports.items() if not port.setting), 1)
    for name, shape in shapes.items():
        for place, size in enumerate(shape):
            if isinstance(size, str) and size not in wanted:
                beside = [
                    other[place]
                    for key, other in shapes.items()
                    if len(other) == len(shape) and ports[key].role == "data" == ports[name].role
                ]
                known = [x for x in beside if isinstance(x, int)]
                first = _FIRST[place % len(_FIRST)]
                wanted[size] = [rank, 1, 2, 3] if ports[name].role == "setting" else [*known, first, *_SIZES, max(numbers, default=0) + 1]
    for sizes in product(*(dict.fromkeys(sizes) for sizes in wanted.values())):
        yield dict(zip(wanted, sizes, strict=True))


def _values(known: Known, port: Port, shape: Shape, shapes: Mapping[str, Shape]) -> Iterator[TensorDraft]:
    """A tensor as it is, filled where it is data, or with elements that may be valid."""
    kind = known.element_type
    if known.elements is not None and len(known.elements) == math.prod(shape):
        yield TensorDraft(element_type=kind, shape=shape, fill="values", elements=known.elements)
        return
    if not port.setting or not (ELEMENT_TYPES[kind].is_integer or ELEMENT_TYPES[kind].kind == "boolean"):
        yield TensorDraft(element_type=kind, shape=shape, fill="ramp")
        return
    count = math.prod(shape)
    data = next((shapes[name] for name in shapes if len(shapes[name]) == count), (1,) * count)
    lists = [[0] * count, [1] * count, [*data], [-1] * count, [*[1] * (count - 1), -1][:count], [n % 2 for n in range(count)]]
    for elements in {tuple(x): x for x in lists}:
        yield TensorDraft(element_type=kind, shape=shape, fill="values", elements=elements)


def _draft(call: Call, tensors: Mapping[str, TensorDraft], shapes: Mapping[str, tuple[int | str, ...]]) -> Draft:
    """The case of a call, in which what is a constant of the model is one, unless everything is."""
    operation = OPERATIONS[call.op]
    binding = default_binding(operation, tensors)
    if not all(known.is_constant for known in call.inputs.values()):
        binding = {name: "constant" if known.is_constant else "parameter" for name, known in call.inputs.items()}
    dynamic: dict[str, Dynamic] = {
        name: tuple("?" if isinstance(size, str) else size for size in shape)
        for name, shape in shapes.items()
        if binding[name] == "parameter" and any(isinstance(size, str) for size in shape)
    }
    return replace(drawn(operation, tensors, call.attributes), binding=binding, dynamic=dynamic)


def _is_valid(draft: Draft) -> bool:
    """Whether the semantics accept a case, of any size that can be inferred."""
    if any(math.prod(tensor.shape) > _ELEMENTS for tensor in draft.tensors.values()):
        return draft.operation.shapes is not None and not draft.inferences[0].violated
    try:
        return not draft.inferences[0].violated
    except (MemoryError, OverflowError, Unknown, ValueError):
        return False


def _with_small_numbers(draft: Draft) -> Draft:
    """The case with large sizes and numbers in place of which smaller ones mean the same."""
    for number in sorted(_large(draft), reverse=True):
        taken = {size for tensor in draft.tensors.values() for size in tensor.shape}
        smalls = sorted(range(2, _SMALL + 1), key=lambda x: (x in taken, x))
        factors = [factor for factor in range(_SMALL + 1, min(number, 4_096)) if number % factor == 0]
        candidates = (
            _scaled(draft, number, small, up=up) for small in (*smalls, *factors) for up in (None, False, True)
        )
        draft = next((x for x in candidates if _is_alike(draft, x)), draft)
    return draft


def _large(draft: Draft) -> set[int]:
    sizes = {size for tensor in draft.tensors.values() for size in tensor.shape}
    lists = [*(tensor.elements for tensor in draft.tensors.values()), *_lists(draft.attributes)]
    numbers = {abs(x) for elements in lists for x in elements if type(x) is int}
    return {number for number in sizes | numbers if _SMALL < number < _ENDLESS}


def _lists(attributes: Mapping[str, Attribute]) -> Iterator[tuple[Element, ...]]:
    return (value if isinstance(value, tuple) else (value,) for value in attributes.values())


def _scaled(draft: Draft, number: int, small: int, *, up: bool | None) -> Draft:
    """A case with a smaller number in place of a large one; other large numbers are scaled down or up, or kept."""

    def scaled(value: Element) -> Element:
        if type(value) is not int or abs(value) >= _ENDLESS:
            return value
        whole, power = abs(value), 0
        while whole and whole % number == 0:
            whole, power = whole // number, power + 1
        if power:
            return whole * small**power * (1 if value > 0 else -1)
        if up is None or abs(value) <= _SMALL:
            return value
        return -(-value * small // number) if up else value * small // number

    tensors = {}
    for name, tensor in draft.tensors.items():
        shape = tuple(small if size == number else size for size in tensor.shape)
        changed = replace(tensor, elements=tuple(map(scaled, tensor.elements)))
        tensors[name] = changed if shape == tensor.shape else resized(changed, shape)
    attributes = {
        name: tuple(map(scaled, value)) if isinstance(value, tuple) else scaled(value)
        for name, value in draft.attributes.items()
    }
    dynamic: dict[str, Dynamic] = {
        name: x if isinstance(x, str) else tuple(small if size == number else size for size in x)
        for name, x in draft.dynamic.items()
    }
    return replace(draft, tensors=tensors, attributes=attributes, dynamic=dynamic)


def _is_alike(draft: Draft, other: Draft) -> bool:
    """Whether another case is valid, and has the same facts, and outputs that are whole, empty or 1 at the same places."""
    if other.tensors == draft.tensors and other.attributes == draft.attributes:
        return False
    return _is_valid(other) and _relations(draft) == _relations(other)


def _relations(draft: Draft) -> tuple[object, ...]:
    data = next(iter(draft.tensors.values())).shape
    facts = [*draft.operation.facts_of(draft.arguments[0])]
    outputs = [
        [(size == data[place] if place < len(data) else None, min(size, 2)) for place, size in enumerate(output.shape)]
        for output in draft.inferences[0].outputs
    ]
    return facts, outputs
