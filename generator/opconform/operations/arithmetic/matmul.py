"""MatMul-1, from its specification page: products of matrices, which are broadcast along their other dimensions."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, TensorType, Unknown
from opconform.operations.arithmetic.elementwise import (
    Keep,
    elements_of,
    saturating,
    tensor_of,
    without_special,
)
from opconform.operations.arithmetic.mistakes import Accumulate, accumulators, narrow_sums, tails
from opconform.operations.arithmetic.propagation.sums import of_products
from opconform.operations.arithmetic.sums import SUMMED, reduced_error, sum_of_products
from opconform.operations.checks import RANKED
from opconform.operations.operation import Calculate, Computation
from opconform.suite.case import Shape
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.element_types import ElementType
from opconform.tensors.exact import Exact, bounded_tensor, few_bits, rounded, with_reduced
from opconform.tensors.rounding import low_bits
from opconform.tensors.tensor import Array, Tensor

#: The sums of products of rows, as `sums_of_products` has them.
Sums = Callable[[ElementType, Array, Array, Shape, Keep], Tensor]


def _transposed(shape: Shape, *, is_transposed: bool) -> Shape:
    return (*shape[:-2], shape[-1], shape[-2]) if is_transposed and len(shape) > 1 else shape


def _matrices(arguments: Arguments) -> tuple[Shape, Shape]:
    """The shapes after the transpositions, in which a vector is a row on the left and a column on the right."""
    a, b = (
        _transposed(arguments.shape(name), is_transposed=arguments.attribute(f"transpose_{name}") is True)
        for name in "ab"
    )
    return (1, *a) if len(a) == 1 else a, (*b, 1) if len(b) == 1 else b


def _batches(arguments: Arguments) -> tuple[Shape, Shape]:
    """The dimensions before the matrices."""
    a, b = _matrices(arguments)
    return a[:-2], b[:-2]


def batches_of(arguments: Arguments) -> tuple[tuple[Shape, Shape], tuple[Shape, Shape]]:
    """The dimensions before the matrices of both inputs, each as it is and broadcast."""
    a, b = _batches(arguments)
    batch = _batch(arguments)
    return (a, batch), (b, batch)


def _batch(arguments: Arguments) -> Shape:
    """These dimensions, broadcast; `Unknown` if they do not fit each other."""
    if _is_other_batch(arguments):
        raise Unknown
    return np.broadcast_shapes(*_batches(arguments))


def _is_other_batch(arguments: Arguments) -> bool:
    a, b = _batches(arguments)
    return any(x != y and 1 not in (x, y) for x, y in zip(reversed(a), reversed(b), strict=False))


def _shape(arguments: Arguments) -> Shape:
    a, b = _matrices(arguments)
    rows = a[-2:-1] if len(arguments.shape("a")) > 1 else ()
    columns = b[-1:] if len(arguments.shape("b")) > 1 else ()
    return (*_batch(arguments), *rows, *columns)


def _operands(arguments: Arguments, elements: tuple[Array, Array]) -> tuple[Array, Array]:
    """The rows of the left matrices and the columns of the right ones, as last dimensions, for every element."""
    batch, shapes = _batch(arguments), _matrices(arguments)
    left, right = (
        np.broadcast_to(
            (np.swapaxes(x, -1, -2) if arguments.attribute(f"transpose_{name}") is True and x.ndim > 1 else x).reshape(
                shape
            ),
            (*batch, *shape[-2:]),
        )
        for name, x, shape in zip("ab", elements, shapes, strict=True)
    )
    return left, np.swapaxes(right, -1, -2)


def sums_of_products(kind: ElementType, left: Array, right: Array, shape: Shape, keep: Keep = low_bits) -> Tensor:
    """The sums of the products of each row of `left` with each row of `right`, in matrices of equal batch dimensions.

    The elements are Python's integers, of which `keep` gives those of the type, or numbers of f64.
    """
    columns = np.swapaxes(right, -1, -2)
    with np.errstate(all="ignore"):  # also for Python's integers, whose flags are those of whatever was before
        if kind.is_integer:
            return tensor_of(kind, np.matmul(left, columns).reshape(shape), keep=keep)
        if _is_exact(kind, left, columns):
            return _exact_sums(kind, left, columns, shape)
    places = np.ndindex(left.shape[:-2]) if math.prod(shape) else ()
    matrices = [(left[index].tolist(), right[index].tolist()) for index in places]
    exact = [[[*map(_exact, row)] for row in matrix] for pair in matrices for matrix in pair]
    pairs = ((row, other) for a, b in zip(exact[::2], exact[1::2], strict=True) for row in a for other in b)
    return bounded_tensor(kind.name, shape, (sum_of_products(kind, *pair) for pair in pairs))


def _is_exact(kind: ElementType, left: Array, columns: Array) -> bool:
    """Whether the elements are integers of which the type has every partial sum, and no zero has a doubtful sign."""
    if not all(np.isfinite(x).all() and (x == np.rint(x)).all() for x in (left, columns)):
        return False
    magnitudes = np.matmul(np.abs(left), np.abs(columns))
    is_positive = not (np.signbit(left).any() or np.signbit(columns).any())
    limit = 2 ** (int(kind.layout.nmant) + 1)
    return bool((magnitudes <= limit).all() and (is_positive or (magnitudes > 0).all()))


def _exact_sums(kind: ElementType, left: Array, columns: Array, shape: Shape) -> Tensor:
    """The products of matrices of integers, of which the type has every partial sum."""
    sums = (np.matmul(left, columns) + 0.0).reshape(shape)  # which has no negative zeros
    magnitudes = np.matmul(np.abs(left), np.abs(columns)).reshape(shape)
    is_short = bool(few_bits(left).all() and few_bits(columns).all())
    part = float(reduced_error(kind, Exact(1), left.shape[-1], is_exact=is_short))
    exact = Tensor(element_type=kind.name, array=np.asarray(rounded(kind, sums), order="C"), is_computed=True)
    return with_reduced(exact, sums, magnitudes * part)


def _exact(number: float) -> Exact | float:
    return Exact(number) if math.isfinite(number) else number


def sum_mistakes(of: Callable[[Arguments, Keep, Sums], tuple[Tensor, ...]]) -> dict[str, Calculate]:
    """What wrong kernels compute in place of sums of products; `of` has the outputs, given how they are summed."""

    def without(count: int, arguments: Arguments) -> tuple[Tensor, ...]:
        def sums(kind: ElementType, left: Array, right: Array, shape: Shape, keep: Keep) -> Tensor:
            return sums_of_products(kind, left[..., :-count], right[..., :-count], shape, keep)

        return of(arguments, low_bits, sums)

    def narrow(accumulate: Accumulate, arguments: Arguments) -> tuple[Tensor, ...]:
        def sums(kind: ElementType, left: Array, right: Array, shape: Shape, _: Keep) -> Tensor:
            if kind.is_integer:
                raise Unknown
            return tensor_of(kind, narrow_sums(accumulate, left, right).reshape(shape))

        return of(arguments, low_bits, sums)

    return tails(without) | accumulators(narrow)


def _computed(arguments: Arguments, keep: Keep = low_bits, sums: Sums = sums_of_products) -> tuple[Tensor, ...]:
    a, b = (arguments.tensor(name) for name in "ab")
    left, right = _operands(arguments, (elements_of(a), elements_of(b)))
    return (sums(a.type, left, right, _shape(arguments), keep),)


def _untransposed(arguments: Arguments) -> Arguments:
    return replace(arguments, attributes=dict.fromkeys(("transpose_a", "transpose_b"), False))


#: From its specification page.
MATMUL = Computation(
    name="MatMul-1",
    inputs=(Port("a", types=SUMMED, ranks=RANKED), Port("b", types=SUMMED, ranks=RANKED)),
    attributes=tuple(AttributeSpec(f"transpose_{name}", type="boolean", default=False) for name in "ab"),
    checks={
        "b.same-type": lambda a: a.operand("a").element_type != a.operand("b").element_type,
        "columns.equal-rows": lambda a: _matrices(a)[0][-1] != _matrices(a)[1][-2],
        "batch.dimensions": _is_other_batch,
    },
    types=lambda a: (TensorType(element_type=a.operand("a").element_type, shape=_shape(a)),),
    calculate=_computed,
    rounded=of_products(lambda a, *numbers: _operands(a, numbers), ("a", "b")),
    is_numeric=True,
    products=lambda a: math.prod(_shape(a)) * _matrices(a)[0][-1],
    sums=True,
    same_types=("b",),
    mistakes={
        **sum_mistakes(_computed),
        "As if nothing were transposed": lambda a: _computed(_untransposed(a)),
    },
    contexts={"doubled": contexts.doubled(lambda _: 0)},
    facts={
        "the first input is a vector": lambda a: len(a.shape("a")) == 1,
        "the second input is a vector": lambda a: len(a.shape("b")) == 1,
        "the first input is transposed": lambda a: a.attribute("transpose_a") is True,
        "the second input is transposed": lambda a: a.attribute("transpose_b") is True,
        "there are several matrices": lambda a: any(size > 1 for size in _batch(a)),
        "the matrices are broadcast": lambda a: a.shape("a")[:-2] != a.shape("b")[:-2],
        "the products have no elements": lambda a: _matrices(a)[0][-1] == 0,
    },
    readings={"values.wrap": saturating(_computed), "values.special": without_special(_computed)},
)
