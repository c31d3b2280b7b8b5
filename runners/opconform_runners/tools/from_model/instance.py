"""A small valid case of a call: unknown dimensions and values get some that are valid, and large numbers small ones."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, cycle, islice, product

from opconform.generation.options import Options
from opconform.model.draft import Draft, Fill, TensorDraft
from opconform.operations.arguments import Unknown
from opconform.suite.case import Dynamic, Shape
from opconform.suite.declarations import Port
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_runners.tools.from_model.models.node import Call, Known
from opconform_runners.tools.fuzz.cases.variants import Key, variant
from opconform_runners.tools.fuzz.trial import Trial, decided, default_binding, drawn, is_defined, resized

#: The ranks and sizes that unknown ones get; the first sizes are for the dimensions in their order.
_RANKS, _FIRST, _SIZES = (3, 2, 4, 1, 5, 0), (2, 3, 5, 7), (2, 4, 6, 1, 8, 12, 3)
#: How many assignments are tried, and how many valid ones are compared.
_TRIES, _CHOICE = 600, 40
#: Numbers above the first one become smaller; those from the last one on stand for the end of a dimension.
_SMALL, _LARGE, _ENDLESS = 8, 4_096, (1 << 31) - 1
#: The numbers of a case that can be scaled, by the kinds of the keys of a variant; of a graph the sizes alone, whose
#: elements are not those of the model.
_SCALED, _SCALED_IN_GRAPHS = ("size", "element", "value"), ("size",)
#: The fills of the data of a graph in turn, first those that are tried first, and the most bits of integers that have
#: any bits.
_FILLS: Sequence[Sequence[Fill]] = (("exact", "small"), ("ramp",), ("normal",))
_BYTE = 8
#: The seed of the elements for which a graph must have results.
_SEED = Options().seed

Shapes = Mapping[str, tuple[int | str, ...]]


def instance_of(call: Call) -> Draft | None:
    """A small valid case of a call, which declares the dimensions that the model does; None if none was found.

    Of the first valid ones, the one with the fewest facts is the least unusual.
    """
    valid: list[tuple[int, Draft]] = []
    for draft in islice(_assigned(call), _TRIES):
        if _is_valid(draft):
            valid.append((len([*draft.operation.facts_of(draft.arguments[0])]), draft))
            if valid[-1][0] == 0 or len(valid) == _CHOICE:
                break
    small = (decided(_with_small_numbers(draft)) for _, draft in sorted(valid, key=lambda x: x[0]))
    accepted = (draft for draft in small if draft is not None and draft.rejected_for is None)
    return next(accepted if call.graph is None else _with_results(call, accepted), None)


def _with_results(call: Call, drafts: Iterator[Draft]) -> Iterator[Draft]:
    """The cases of a graph with elements for which it has results."""
    for draft, fills in product(drafts, _FILLS):
        data = [name for name, x in call.inputs.items() if x.elements or draft.operation.role_of(name) == "data"]
        in_turn = zip(data, cycle(fills), strict=False)
        composed = {name: _composed(call.inputs[name], draft.tensors[name], fill) for name, fill in in_turn}
        tensors = {**draft.tensors, **composed}
        filled = decided(replace(draft, tensors=tensors))
        if filled is not None and is_defined(Trial(draft=filled), _SEED, is_drawn=False):
            yield filled


def _composed(known: Known, tensor: TensorDraft, fill: Fill) -> TensorDraft:
    """An input of a graph with the elements that its reading gives it, with any bits, or with a fill."""
    kind = ELEMENT_TYPES[known.element_type]
    if known.elements:
        listed = replace(tensor, shape=(len(known.elements),), fill="values", elements=known.elements)
        return resized(listed, tensor.shape)
    return replace(tensor, fill="bits" if kind.is_integer and kind.bits <= _BYTE else fill)


def _assigned(call: Call) -> Iterator[Draft]:
    """The call with sizes and values in place of unknown ones."""
    operation = call.operation
    ports = {name: operation.port_of(name) for name in call.inputs}
    for ranks in product(*(_ranks(known, ports[name]) for name, known in call.inputs.items())):
        shapes: Shapes = {
            name: tuple(f"{name} {n}" for n in range(rank)) if known.dimensions is None else known.dimensions
            for (name, known), rank in zip(call.inputs.items(), ranks, strict=True)
        }
        for sizes in islice(_sizes(call, shapes, ports), _TRIES // 4):
            fixed = {name: tuple(x if isinstance(x, int) else sizes[x] for x in shapes[name]) for name in shapes}
            values = [_values(known, ports[name], fixed[name], fixed) for name, known in call.inputs.items()]
            for chosen in product(*values):
                yield _draft(call, dict(zip(call.inputs, chosen, strict=True)), shapes)


def _ranks(known: Known, port: Port) -> Sequence[int]:
    if known.dimensions is not None:
        return (len(known.dimensions),)
    return (1, 0) if port.role == "setting" else [x for x in _RANKS if port.ranks is None or x in port.ranks]


def _sizes(call: Call, shapes: Shapes, ports: Mapping[str, Port]) -> Iterator[dict[str, int]]:
    """Sizes for the names of unknown dimensions: the usual ones, then one other size, then every combination.

    The length of a setting is usually the rank of data, and data usually share the sizes of their dimensions.
    """
    elements = chain.from_iterable(known.elements or () for known in call.inputs.values())
    beyond = 1 + max((x for x in elements if type(x) is int and x < _LARGE), default=0)
    data = {name: shape for name, shape in shapes.items() if not ports[name].setting}
    rank = max(map(len, data.values()), default=1)
    lengths = [size for shape in data.values() for size in shape if isinstance(size, int)]
    sizes_by_name: dict[str, dict[int, None]] = {}
    for name, shape in shapes.items():
        for place, size in enumerate(shape):
            beside = [other[place] for other in data.values() if len(other) == len(shape)]
            usual = (*beside, _FIRST[place % len(_FIRST)], *_SIZES, beyond, *lengths)
            sizes = usual if name in data else (rank, 1, 2, 3)
            if isinstance(size, str):
                sizes_by_name.setdefault(size, dict.fromkeys(x for x in sizes if isinstance(x, int)))
    first = {name: next(iter(sizes)) for name, sizes in sizes_by_name.items()}
    yield first
    yield from ({**first, name: size} for name, sizes in sizes_by_name.items() for size in sizes)
    yield from (dict(zip(sizes_by_name, sizes, strict=True)) for sizes in product(*sizes_by_name.values()))


def _values(known: Known, port: Port, shape: Shape, shapes: Mapping[str, Shape]) -> list[TensorDraft]:
    """A setting, a scalar or a mask as it is, filled data, or a setting with elements that may be valid.

    The first of these differ from each other, so that it shows which of them are read.
    """
    kind, count = known.element_type, math.prod(shape)
    is_kept = port.setting or not shape or _is_mask(known)
    if is_kept and known.elements is not None and len(known.elements) == count:
        return [TensorDraft(element_type=kind, shape=shape, fill="values", elements=known.elements)]
    if not port.setting or not (ELEMENT_TYPES[kind].is_integer or ELEMENT_TYPES[kind].kind == "boolean"):
        return [TensorDraft(element_type=kind, shape=shape, fill="ramp")]
    sizes = next((x for x in shapes.values() if len(x) == count), (1,) * count)
    ones, alternating = (1,) * count, tuple(place % 2 for place in range(count))
    falling = tuple(range(count - 1, -1, -1))
    varied = (falling, tuple(x % 3 for x in falling), tuple(x % 2 for x in falling))
    lists = (*varied, (0,) * count, ones, sizes, (-1,) * count, (*ones[1:], -1)[:count], alternating)
    return [TensorDraft(element_type=kind, shape=shape, fill="values", elements=x) for x in dict.fromkeys(lists)]


def _is_mask(known: Known) -> bool:
    """Whether a constant says what is selected: by infinities, or by truth values."""
    return any(element is True or element in (math.inf, -math.inf) for element in known.elements or ()) or (
        known.element_type == "boolean"
    )


def _draft(call: Call, tensors: Mapping[str, TensorDraft], shapes: Shapes) -> Draft:
    """The case of a call, in which what is a constant of the model is one, unless everything is."""
    operation = call.operation
    binding = default_binding(operation, tensors)
    if not all(known.is_constant for known in call.inputs.values()):
        binding = {name: "constant" if known.is_constant else "parameter" for name, known in call.inputs.items()}
    dynamic: dict[str, Dynamic] = {
        name: tuple("?" if isinstance(size, str) else size for size in shape)
        for name, shape in shapes.items()
        if binding[name] == "parameter" and any(isinstance(size, str) for size in shape)
    }
    return replace(drawn(operation, tensors, call.attributes), binding=binding, dynamic=dynamic, graph=call.graph)


def _is_valid(draft: Draft) -> bool:
    """Whether the semantics accept a case, of any size that can be inferred."""
    try:
        return not draft.inferences[0].violated
    except (MemoryError, OverflowError, Unknown, ValueError):
        return False


def _with_small_numbers(draft: Draft) -> Draft:
    """The case with large sizes and numbers replaced by smaller ones that mean the same."""
    numbers: set[int] = set()

    def note(current: int, _low: int, _high: int, key: Key) -> int:
        numbers.update([abs(current)] if _is_scaled(draft, key) else [])
        return current

    variant(draft, note)
    for number in sorted((x for x in numbers if _SMALL < x < _ENDLESS), reverse=True):
        taken = {size for tensor in draft.tensors.values() for size in tensor.shape}
        smaller = sorted(range(2, _SMALL + 1), key=lambda x: (x in taken, x))
        smaller += [factor for factor in range(_SMALL + 1, min(number, _LARGE)) if number % factor == 0]
        candidates = (_scaled(draft, number, small, way) for small in smaller for way in (None, math.floor, math.ceil))
        draft = next((x for x in candidates if _is_alike(draft, x)), draft)
    return draft


def _is_scaled(draft: Draft, key: Key) -> bool:
    return key[0] in (_SCALED if draft.graph is None else _SCALED_IN_GRAPHS)


def _scaled(draft: Draft, number: int, small: int, way: Callable[[float], int] | None) -> Draft:
    """A case with a smaller number in place of a large one; other large numbers are scaled and rounded, or kept."""

    def scaled(current: int, _low: int, _high: int, key: Key) -> int:
        if not _is_scaled(draft, key) or abs(current) >= _ENDLESS:
            return current
        rest, power = abs(current), 1
        while rest and rest % number == 0:
            rest, power = rest // number, power * small
        if power > 1:
            return rest * power * (1 if current > 0 else -1)
        is_kept = key[0] == "size" or way is None or abs(current) <= _SMALL
        return current if is_kept or way is None else way(current * small / number)

    return variant(draft, scaled)


def _is_alike(draft: Draft, other: Draft) -> bool:
    """Whether another case is valid, has the same facts, and its outputs are whole, empty or 1 at the same places."""
    return other.content != draft.content and _is_valid(other) and _relations(draft) == _relations(other)


def _relations(draft: Draft) -> tuple[object, ...]:
    data = next(iter(draft.tensors.values())).shape
    outputs = [
        [(size in data[place : place + 1], min(size, 2)) for place, size in enumerate(output.shape)]
        for output in draft.inferences[0].outputs
    ]
    return [*draft.operation.facts_of(draft.arguments[0])], outputs
