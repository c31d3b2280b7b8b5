"""TopK-11, from its specification page: the largest or smallest elements along an axis, and their indices."""

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import combinations, permutations
from typing import Any

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, NoGolden, TensorType, Unknown
from opconform.operations.arithmetic.elementwise import elements_of
from opconform.operations.checks import INTEGERS, NUMBERS
from opconform.operations.interpretation import Reading, has_kind
from opconform.operations.movement.axis import from_front, is_outside
from opconform.operations.operation import Computation
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.tensor import Array, Tensor

_INDICES = ("i64", "i32")
#: How many right outputs besides the golden one a reading can have.
_OTHERS = 5
#: How many other outputs a case with a NaN can have.
_OTHERS_OF_NAN = 23
#: The most elements whose orders are all tried.
_FEW = 7


def _axis(arguments: Arguments) -> int:
    return from_front(arguments.number("axis"), len(arguments.shape("data")))


def _k(arguments: Arguments) -> int:
    return arguments.integers("k")[0]


def _types(arguments: Arguments) -> tuple[TensorType, ...]:
    shape, axis = arguments.shape("data"), _axis(arguments)
    shape = (*shape[:axis], _k(arguments), *shape[axis + 1 :])
    types = arguments.operand("data").element_type, str(arguments.attribute("index_element_type"))
    return tuple(TensorType(element_type=element_type, shape=shape) for element_type in types)


def _keys(arguments: Arguments, *, by_sign: bool = False) -> Array:
    """Numbers that are smallest for the elements to select, along the last axis; `by_sign` tells zeros apart."""
    elements = elements_of(arguments.tensor("data"))
    if by_sign:
        elements = np.where(elements == 0, np.where(np.signbit(elements), -5e-324, 0.0), elements)
    ranks = np.unique(elements, return_inverse=True)[1].reshape(elements.shape)  # that of NaN is the largest
    keys = np.moveaxis(ranks, _axis(arguments), -1)
    return -keys if arguments.attribute("mode") == "max" else keys


def _places(arguments: Arguments, *, by_sign: bool = False) -> Array:
    """The indices of the selected elements, along the last axis, of equal ones in the order of their indices."""
    places = np.argsort(_keys(arguments, by_sign=by_sign), -1, kind="stable")[..., : _k(arguments)]
    return np.sort(places, -1) if arguments.attribute("sort") == "index" else places


def _outputs(arguments: Arguments, places: Array) -> tuple[Tensor, ...]:
    data, (values, indices), axis = arguments.tensor("data"), _types(arguments), _axis(arguments)
    along = np.moveaxis(places, -1, axis)
    return (
        replace(data, array=np.ascontiguousarray(np.take_along_axis(data.array, along, axis)).reshape(values.shape)),
        Tensor(
            element_type=indices.element_type,
            array=np.ascontiguousarray(along.astype({"i32": np.int32, "i64": np.int64}[indices.element_type])),
        ),
    )


def _has_equal(arguments: Arguments) -> bool:
    """Whether equal elements are among the selected ones and the next one."""
    keys = np.sort(_keys(arguments), -1)[..., : _k(arguments) + 1]
    return bool((keys[..., 1:] == keys[..., :-1]).any())


def _is_unordered(arguments: Arguments) -> bool:
    """Whether the attribute sort leaves the order open."""
    return arguments.attribute("sort") == "none" and (_k(arguments) > 1 or _has_equal(arguments))


def _is_unstable(arguments: Arguments) -> bool:
    """Whether the order of equal elements is open."""
    is_open = arguments.attribute("sort") != "none" and arguments.attribute("stable") is False
    return is_open and _has_equal(arguments)


def _others(arguments: Arguments) -> list[Array]:
    """The other right indices where the page leaves the order open; it has to be for few elements of one slice."""
    if not _is_unordered(arguments) and not _is_unstable(arguments):
        return []
    keys, ours, sort = _keys(arguments), _places(arguments), arguments.attribute("sort")
    row = keys.reshape(-1).tolist()
    if len(row) != keys.shape[-1] or len(row) > _FEW:
        raise NoGolden(f"the page leaves the order open, so data must be a list of at most {_FEW} elements")
    selected = [row[place] for place in _places(arguments).reshape(-1)]
    orders: Iterable[tuple[int, ...]] = permutations(range(len(row)), len(selected))
    right = [x for x in orders if sorted(selected) == sorted(row[place] for place in x) and _is_sorted(x, row, sort)]
    others = [x for x in right if x != tuple(ours.reshape(-1).tolist())]
    if len(others) > _OTHERS:
        raise NoGolden(f"the page allows {len(right)} outputs, and a case has at most {_OTHERS + 1}")
    return [np.array(x).reshape(ours.shape) for x in others]


def _has_nan(arguments: Arguments) -> bool:
    data = arguments.operand("data")
    return has_kind(data, "float") and bool(np.isnan(elements_of(arguments.tensor("data"))).any())


def _others_of_nan(arguments: Arguments) -> list[Array]:
    """Every other choice of elements beside a NaN, in any order of values; data has to be few elements of one slice."""
    if not _has_nan(arguments):
        return []
    [*sizes, count], k, ours = _keys(arguments).shape, _k(arguments), tuple(_places(arguments).reshape(-1).tolist())
    is_by_index = arguments.attribute("sort") == "index"
    possible = (math.comb if is_by_index else math.perm)(count, k)
    if math.prod(sizes) > 1 or possible > _OTHERS_OF_NAN + 1 or _is_unordered(arguments) or _is_unstable(arguments):
        raise NoGolden(f"the page has no order of NaN, so at most {_OTHERS_OF_NAN + 1} outputs can be possible")
    choices: Iterable[tuple[int, ...]] = (combinations if is_by_index else permutations)(range(count), k)
    return [np.array(x).reshape((*sizes, k)) for x in choices if x != ours]


def _is_sorted(places: tuple[int, ...], row: list[Any], sort: object) -> bool:
    """Whether some indices are in an order that the attribute allows."""
    keys: list[Any] = [row[place] for place in places] if sort == "value" else [*places]
    return sort == "none" or keys == sorted(keys)


def _computed(arguments: Arguments) -> tuple[Tensor, ...]:
    _others_of_nan(arguments)
    _others(arguments)
    return _outputs(arguments, _places(arguments))


def _other(applies: Callable[[Arguments], bool], number: int, arguments: Arguments) -> tuple[Tensor, ...]:
    """The outputs of one of the other orders, or ours if there are fewer."""
    others = _others(arguments) if applies(arguments) else []
    return _outputs(arguments, others[number] if number < len(others) else _places(arguments))


def _in_any_order(applies: Callable[[Arguments], bool]) -> Reading:
    return Reading(computes=tuple(partial(_other, applies, number) for number in range(_OTHERS)))


def _beside_nan(number: int, arguments: Arguments) -> tuple[Tensor, ...]:
    """The outputs of another choice of elements beside a NaN."""
    others = _others_of_nan(arguments)
    if number >= len(others):
        raise Unknown
    return _outputs(arguments, others[number])


def _last_first(arguments: Arguments) -> tuple[Tensor, ...]:
    """The outputs where the last ones of equal elements are selected, and come first."""
    if arguments.attribute("stable") is not True or not _has_equal(arguments):
        raise Unknown
    keys = _keys(arguments)
    places = keys.shape[-1] - 1 - np.argsort(keys[..., ::-1], -1, kind="stable")[..., : _k(arguments)]
    return _outputs(arguments, np.sort(places, -1) if arguments.attribute("sort") == "index" else places)


def _by_sign(arguments: Arguments) -> tuple[Tensor, ...]:
    if not has_kind(arguments.operand("data"), "float"):
        raise Unknown
    return _outputs(arguments, _places(arguments, by_sign=True))


def _size(arguments: Arguments) -> int:
    return arguments.shape("data")[_axis(arguments)]


#: From its specification page.
TOP_K = Computation(
    name="TopK-11",
    inputs=(Port("data", types=NUMBERS), Port("k", setting=True, types=INTEGERS, ranks=(0,))),
    attributes=(
        AttributeSpec("axis", type="int"),
        AttributeSpec("mode", type="enum", values=("min", "max")),
        AttributeSpec("sort", type="enum", values=("value", "index", "none")),
        AttributeSpec("stable", type="boolean", default=False),
        AttributeSpec("index_element_type", type="enum", values=_INDICES, default="i32"),
    ),
    checks={
        "axis.range": lambda a: is_outside(a.number("axis"), len(a.shape("data"))),
        "k.range": lambda a: not 1 <= _k(a) <= _size(a),
    },
    requested=lambda _: 2,
    types=_types,
    calculate=_computed,
    is_numeric=True,
    contexts={"partial": contexts.partial, "convert": contexts.convert},
    facts={
        "the axis is the last one": lambda a: _axis(a) == len(a.shape("data")) - 1,
        "mode is min": lambda a: a.attribute("mode") == "min",
        "the elements are sorted by index": lambda a: a.attribute("sort") == "index",
        "stable is true": lambda a: a.attribute("stable") is True,
        "all elements are selected": lambda a: _k(a) == _size(a),
        "one element is selected": lambda a: _k(a) == 1,
    },
    readings={
        "sort.none": _in_any_order(_is_unordered),
        "stable.false": _in_any_order(_is_unstable),
        "zeros.equal": Reading(computes=(_by_sign,)),
        "nan.largest": Reading(computes=tuple(partial(_beside_nan, number) for number in range(_OTHERS_OF_NAN))),
        "stable.order": Reading(computes=(_last_first,), by_element=True, misreads=True),
    },
)
