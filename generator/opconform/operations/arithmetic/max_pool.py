"""MaxPool-14 and its earlier versions, from their specification pages: the largest element of each window."""

from collections.abc import Callable, Mapping
from functools import partial
from math import prod

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, TensorType, Unknown
from opconform.operations.arithmetic.elementwise import elements_of
from opconform.operations.arithmetic.pools import (
    CHECKS,
    READINGS,
    ROUNDING_TYPE,
    WINDOWS,
    pooled_shape,
    windows_of,
    without_ceil_torch,
)
from opconform.operations.arithmetic.windows import (
    AUTO_PAD,
    FACTS,
    LIST_CHECKS,
    RANKS,
    elements_of_windows,
    is_other_count,
    padding_facts,
    with_exchanged_pads,
    without_dilations,
)
from opconform.operations.checks import NUMBERS, Predicate
from opconform.operations.interpretation import Reading, has_kind
from opconform.operations.movement.axis import is_outside
from opconform.operations.operation import Calculate, Computation
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.tensor import Array, Tensor

_INDICES = {"i64": np.int64, "i32": np.int32}
#: How many equal elements behind the first one another reading can select.
_EQUAL = 3
#: More than the number of elements of a window.
_LAST = 1 << 30
#: Ranks of elements, with which the largest element of a window has the largest number.
_Ranks = Callable[[Arguments], Array]
#: The place in a window of the element that is selected, for ranks in which -1 stands for padding, along the last axis.
_Choice = Callable[[Array], Array]


def _ranks(arguments: Arguments) -> Array:
    """A NaN is larger than every number, and zeros are equal."""
    elements = elements_of(arguments.tensor("data"))
    return np.asarray(np.unique(elements, return_inverse=True)[1]).reshape(elements.shape)


def _ranks_by_sign(arguments: Arguments) -> Array:
    """A positive zero is larger than a negative one."""
    if not has_kind(arguments.operand("data"), "float"):
        raise Unknown
    return 2 * _ranks(arguments) + ~np.signbit(elements_of(arguments.tensor("data")))


def _are_nan(arguments: Arguments) -> Array:
    """Whether elements are NaN; `Unknown` if none is."""
    data = arguments.operand("data")
    if not has_kind(data, "float"):
        raise Unknown
    are_nan = np.isnan(elements_of(arguments.tensor("data")))
    if not are_nan.any():
        raise Unknown
    return np.asarray(are_nan)


def _ranks_of_numbers(arguments: Arguments) -> Array:
    """A NaN is smaller than every number."""
    return np.where(_are_nan(arguments), 0, _ranks(arguments) + 1)


def _first(ranks: Array) -> Array:
    return np.asarray(ranks.argmax(-1))


def _equal(number: int, ranks: Array) -> Array:
    """The place of one of the largest elements, by its number among them; of the last one if there are fewer."""
    are_largest = ranks == ranks.max(-1, keepdims=True)
    wanted = np.minimum(number, are_largest.sum(-1) - 1)[..., np.newaxis]
    return np.asarray((are_largest & (are_largest.cumsum(-1) == wanted + 1)).argmax(-1))


def _places(arguments: Arguments, ranks: Array, choice: _Choice) -> Array:
    """The number of the selected element in its channel, per batch, channel and window."""
    numbers = elements_of_windows(windows_of(arguments))
    batches, channels, *sizes = arguments.shape("data")
    rows = ranks.reshape(batches * channels, prod(sizes))
    chosen = choice(np.where(numbers >= 0, rows[:, numbers], -1))
    return np.asarray(numbers[np.arange(len(numbers)), chosen])


def _outputs(arguments: Arguments, places: Array) -> tuple[Tensor, ...]:
    """The selected elements, and their indices in data from the dimension of the axis on."""
    data, (_, indices) = arguments.tensor("data"), _types(arguments)
    rows = data.array.reshape(len(places), prod(data.shape[2:]))
    values = np.ascontiguousarray(np.take_along_axis(rows, places, -1))
    before = np.arange(len(places))[:, np.newaxis] * rows.shape[-1]
    along = (before + places) % prod(data.shape[arguments.number("axis") :])
    array = along.astype(_INDICES[indices.element_type])
    return (
        Tensor(element_type=data.element_type, array=values.reshape(indices.shape)),
        Tensor(element_type=indices.element_type, array=array.reshape(indices.shape)),
    )


def _computed(arguments: Arguments, ranks: _Ranks = _ranks, choice: _Choice = _first) -> tuple[Tensor, ...]:
    return _outputs(arguments, _places(arguments, ranks(arguments), choice))


def _types(arguments: Arguments) -> tuple[TensorType, ...]:
    shape = pooled_shape(arguments)
    kinds = arguments.operand("data").element_type, str(arguments.attribute("index_element_type"))
    return tuple(TensorType(element_type=kind, shape=shape) for kind in kinds)


def _by_comparison(arguments: Arguments) -> tuple[Tensor, ...]:
    """Elements are compared in order with the largest one so far, which a NaN remains if it is the first one."""
    are_nan = _are_nan(arguments)

    def choice(ranks: Array) -> Array:
        rows = are_nan.reshape(len(ranks), -1)
        numbers = elements_of_windows(windows_of(arguments))
        nan = np.where(numbers >= 0, rows[:, numbers], False)
        first = np.argmax(ranks >= 0, -1)
        is_nan = np.take_along_axis(nan, first[..., np.newaxis], -1)[..., 0]
        return np.asarray(np.where(is_nan, first, np.where(nan, -1, ranks).argmax(-1)))

    return _computed(arguments, choice=choice)


def _last_nan(arguments: Arguments) -> tuple[Tensor, ...]:
    """The last NaN of a window."""
    _are_nan(arguments)
    return _computed(arguments, choice=partial(_equal, _LAST))


def _has_only_padding(arguments: Arguments) -> bool:
    return any(window.is_ever_outside for window in windows_of(arguments))


def _padded_by_zeros(arguments: Arguments) -> tuple[Tensor, ...]:
    """The values with zeros as padding; the indices stay."""
    data = arguments.tensor("data")
    values, *indices = _computed(arguments)
    elements, zero = elements_of(data), np.zeros((), data.array.dtype)
    numbers = elements_of_windows(windows_of(arguments))
    if not has_kind(arguments.operand("data"), "float", "signed") or not numbers.size:
        raise Unknown
    is_below = elements_of(values) < 0
    has_padding = (numbers < 0).any(-1).reshape(values.shape[2:])
    if not (is_below & has_padding).any() or not elements.size:
        raise Unknown
    array = np.where(is_below & has_padding, zero, values.array)
    return (Tensor(element_type=data.element_type, array=array), *indices)


def _in_padded(arguments: Arguments) -> tuple[Tensor, ...]:
    """The indices in data with its padding."""
    values, indices = _computed(arguments)
    windows, shape = windows_of(arguments), arguments.shape("data")
    if not any(any(window.added) for window in windows) or not indices.array.size:
        raise Unknown
    flat = _places(arguments, _ranks(arguments), _first)
    places = np.unravel_index(flat, shape[2:])
    sizes = [sum(window.added) + window.length for window in windows]
    moved = np.ravel_multi_index([x + window.added[0] for x, window in zip(places, windows, strict=True)], sizes)
    padded = [*shape[:2], *sizes]
    bound = prod(padded[arguments.number("axis") :])
    before = np.arange(len(flat))[:, np.newaxis] * prod(sizes)
    array = ((before + moved) % bound).astype(indices.array.dtype).reshape(indices.shape)
    return values, Tensor(element_type=indices.element_type, array=array)


_CHECKS: Mapping[str, Predicate] = {
    **CHECKS,
    **LIST_CHECKS,
    "dilations.count": lambda a: a.attribute("dilations") != () and is_other_count("dilations")(a),
    "axis.range": lambda a: is_outside(a.number("axis"), len(a.shape("data"))),
    "windows.elements": _has_only_padding,
}
_MISTAKES: Mapping[str, Calculate] = {
    "As if data were padded with zeros": _padded_by_zeros,
    "As if the indices were those of padded data": _in_padded,
    "As if the pads of both ends were exchanged": lambda a: _computed(with_exchanged_pads(a)),
    "As if there were no dilations": lambda a: _computed(without_dilations(a)),
}
_READINGS: Mapping[str, Reading] = {
    **READINGS,
    "values.nan": Reading(
        computes=(partial(_computed, ranks=_ranks_of_numbers), _last_nan, _by_comparison), by_element=True
    ),
    "values.zeros": Reading(computes=(partial(_computed, ranks=_ranks_by_sign),), by_element=True),
    "indices.ties": Reading(
        computes=tuple(partial(_computed, choice=partial(_equal, number)) for number in (*range(1, _EQUAL + 1), _LAST)),
        by_element=True,
    ),
}
#: From its specification page.
MAX_POOL_14 = Computation(
    name="MaxPool-14",
    inputs=(Port("data", types=NUMBERS, ranks=RANKS),),
    attributes=(
        *WINDOWS,
        AttributeSpec("dilations", type="ints", default=()),  # which stands for one 1 per spatial dimension
        ROUNDING_TYPE,
        AUTO_PAD,
        AttributeSpec("index_element_type", type="enum", values=tuple(_INDICES), default="i64"),
        AttributeSpec("axis", type="int", default=0),
    ),
    checks=_CHECKS,
    requested=lambda _: 2,
    types=_types,
    calculate=_computed,
    is_numeric=True,
    products=lambda a: prod(pooled_shape(a)) * prod(a.numbers("kernel")),
    contexts={"partial": contexts.partial},
    mistakes=_MISTAKES,
    facts={**FACTS, **padding_facts(windows_of, "pads")},
    readings=_READINGS,
)
MAX_POOL_8 = without_ceil_torch(MAX_POOL_14, "MaxPool-8")
