"""What wrong kernels calculate, in words after which a report can name them as a cause."""

from collections.abc import Callable
from functools import lru_cache, partial
from itertools import product

import gmpy2
import numpy as np

from opconform.errors import counted
from opconform.operations.arguments import Arguments, Unknown
from opconform.operations.arithmetic.functions import RealFunction
from opconform.operations.operation import Calculate
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.exact import numbers, rounded
from opconform.tensors.tensor import Array, Tensor

#: How many elements at the end of a sum the code for vectors may leave out.
_TAILS = range(1, 16)
#: The types that sums may wrongly be accumulated in, the widest first.
_ACCUMULATORS = ("f32", "f16", "bf16")
#: The ends of the ranges of tables, the numbers of their entries, and how an entry is chosen.
_ENDS = (4, 5, 6, 8, 10)
_ENTRIES = tuple(1 << bits for bits in range(4, 13))
_CHOICES = ("nearest", "lower", "linear")
#: The units in the last place by which a result from a table may be rounded.
_UNITS = 4
#: The entries of a table that results must come from to speak of it: fewer of them are a line, which many things are.
_PLACES = 4
#: The bits of the values of tables, of which f64 has 53.
_PRECISION = 64

#: The sums of products along the last axis, which are numbers of f64.
Accumulate = Callable[[Array], Array]


def tails(of: Callable[[int, Arguments], tuple[Tensor, ...]]) -> dict[str, Calculate]:
    """The sums without their last elements; `of` has the outputs without so many elements."""
    names = {count: "element" if count == 1 else counted(count, "element") for count in _TAILS}
    return {f"As if the last {name} of each sum were missing": partial(of, count) for count, name in names.items()}


def accumulators(of: Callable[[Accumulate, Arguments], tuple[Tensor, ...]]) -> dict[str, Calculate]:
    """The sums in the order of the elements, each rounded to a narrow type; `of` has the outputs of such sums."""
    return {
        f"As if {'multiplied and ' * is_product}accumulated in {name}": partial(
            of, partial(_accumulated, name, is_product)
        )
        for name, is_product in product(_ACCUMULATORS, (False, True))
    }


def _accumulated(name: str, is_product: bool, products: Array) -> Array:
    total = np.zeros(products.shape[:-1])
    for place in range(products.shape[-1]):
        term = products[..., place]
        total = _in_type(name, total + (_in_type(name, term) if is_product else term))
    return total


def _in_type(name: str, array: Array) -> Array:
    return numbers(Tensor(element_type=name, array=rounded(ELEMENT_TYPES[name], array)))


def tables(function_of: Callable[[Arguments], RealFunction]) -> dict[str, Calculate]:
    """The results of a function, which the arguments decide, by tables of its values."""
    ways = product(_ENTRIES, _ENDS, _CHOICES, ("to ", "to before "))
    return {
        f"As if by a table of {entries} entries from -{end} {to}{end}, {choice}": partial(
            _by_table, function_of, (end, entries, to == "to "), choice
        )
        for entries, end, choice, to in ways
    }


def _by_table(
    function_of: Callable[[Arguments], RealFunction], table: tuple[int, int, bool], choice: str, arguments: Arguments
) -> tuple[Tensor, ...]:
    data = arguments.tensor("data")
    if data.type.kind != "float":
        raise Unknown
    places, values = _table(function_of(arguments), table)
    x = np.clip(numbers(data), places[0], places[-1])
    steps = (x - places[0]) / (places[1] - places[0])
    index = np.nan_to_num(np.rint(steps) if choice == "nearest" else np.floor(steps)).astype(np.int64)
    if len(np.unique(index[np.abs(numbers(data)) < table[0]])) < _PLACES:
        raise Unknown
    near = np.where(np.isnan(x), x, values[index])
    results = np.interp(x, places, values) if choice == "linear" else near
    error = _UNITS * 2.0 ** -int(data.type.layout.nmant) * np.maximum(np.abs(results), np.abs(near))
    lower, upper = (rounded(data.type, results + side) for side in (-error, error))
    return (Tensor(element_type=data.element_type, array=rounded(data.type, results), bounds=(lower, upper)),)


@lru_cache(maxsize=1 << 10)
def _table(function: RealFunction, table: tuple[int, int, bool]) -> tuple[Array, Array]:
    """The numbers and the values of a table; if it is closed, the last entry is at the end of the range."""
    end, entries, is_closed = table
    places = np.linspace(-end, end, entries, endpoint=is_closed)
    with gmpy2.context(precision=_PRECISION):
        return places, np.array([float(function.value(gmpy2.mpfr(x))) for x in places.tolist()])


def narrow_sums(accumulate: Accumulate, left: Array, right: Array) -> Array:
    """The sums of the products of each row of `left` with each row of `right`, in matrices of equal batches."""
    if left.size * right.shape[-2] > _LARGEST:
        raise Unknown
    with np.errstate(all="ignore"):
        return accumulate(left[..., :, np.newaxis, :] * right[..., np.newaxis, :, :])


#: The most products of sums that are accumulated in a narrow type.
_LARGEST = 1 << 22
