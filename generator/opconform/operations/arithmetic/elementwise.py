"""Operations that compute each element of the output from one element of each input: the declarations of families.

An operation is a kernel: what it does with exact integers, and with numbers of f64 such that one rounding of the result
is right for every narrower type.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, NoGolden, TensorType, Unknown
from opconform.operations.arithmetic.broadcasting import (
    CHECKS,
    FACTS,
    PDPD_ONES,
    RULES,
    attribute,
    broadcast_shape,
    stretched,
)
from opconform.operations.arithmetic.propagation.spans import Formula
from opconform.operations.arithmetic.sums import allowed_error
from opconform.operations.checks import NUMBERS, Predicate, never
from opconform.operations.denormals import with_tensors, without_denormals
from opconform.operations.interpretation import Reading
from opconform.operations.operation import Calculate, Computation
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.exact import (
    FEW_BITS,
    REALS,
    REDUCED,
    Exact,
    exact_of,
    few_bits,
    numbers,
    rounded,
    with_reduced,
)
from opconform.tensors.literals import encoded
from opconform.tensors.rounding import encoded_floats, low_bits, nearest, numbers_of, vanishes
from opconform.tensors.tensor import Array, Tensor

#: The integer of a type that stands for one beyond its range.
Keep = Callable[[ElementType, int], int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Kernel:
    """What an operation computes.

    Attributes:
        integers: The exact results for arrays of Python's integers; None where it has none.
        floats: The results for arrays of f64; rounded once, they are right in every type.
        output: The element type of the output; None if the inputs have it too.
        magnitude: The operation on absolute values, for arrays of f64; None if results are not rounded.
    """

    floats: Callable[..., Array] | None
    integers: Callable[..., Array] | None = None
    output: str | None = None
    magnitude: Callable[..., Array] | None = None


#: A kernel, or the one that arguments decide.
KernelOf = Kernel | Callable[[Arguments], Kernel]


def each(count: int, of: Callable[..., Any]) -> Callable[..., Array]:
    """A function of some of Python's integers for arrays of them."""
    vectorized = np.frompyfunc(of, count, 1)
    return lambda *arrays: np.asarray(vectorized(*arrays), object)


def elements_of(tensor: Tensor) -> Array:
    """The elements of a tensor: Python's integers, or numbers of f64."""
    kind = tensor.type
    if kind.kind == "string":
        return tensor.array.astype(object)
    if kind.is_integer or kind.kind == "boolean":
        return np.array(tensor.integers(), object).reshape(tensor.shape)
    if kind.name in REALS:
        return numbers(tensor)
    return np.array(numbers_of(tensor), np.float64).reshape(tensor.shape)


def exact_array(tensor: Tensor) -> Array:
    """The elements of a tensor of integers or of a common floating-point type, exactly, as an array of objects."""
    if tensor.type.is_integer:
        return elements_of(tensor)
    array = np.empty(math.prod(tensor.shape), object)
    array[:] = exact_of(tensor)
    return array.reshape(tensor.shape)


def tensor_of(kind: ElementType, results: Array, *, keep: Keep = low_bits) -> Tensor:
    """The tensor of exact integers, of which the type keeps some bits, or of numbers of f64, which are rounded once."""
    return Tensor(element_type=kind.name, array=_stored(kind, results, keep), is_computed=True)


def _stored(kind: ElementType, results: Array, keep: Keep) -> Array:
    if kind.kind == "boolean":
        return np.asarray(results, np.bool_)
    if kind.is_integer:
        flat = encoded(kind.name, [keep(kind, int(x)) for x in results.reshape(-1)])
    elif kind.name in REALS:
        return np.asarray(rounded(kind, np.asarray(results, np.float64)), order="C")
    else:
        exact = np.asarray(results, np.float64).reshape(-1).tolist()
        if any(vanishes(kind, x) for x in exact):
            raise NoGolden(f"{kind.name} has no number for a result near 0")
        flat = encoded_floats(kind, [nearest(kind, x) for x in exact])
    return flat.reshape(results.shape)


def without_special(calculate: Calculate) -> Reading:
    """The reading by which a NaN counts as 0 and an infinity as the largest number, as in types that lack them."""

    def finite(tensor: Tensor) -> Tensor:
        if tensor.element_type not in REALS:
            return tensor
        largest = float(tensor.type.layout.max)
        return tensor_of(tensor.type, np.nan_to_num(numbers(tensor), nan=0.0, posinf=largest, neginf=-largest))

    def outputs(arguments: Arguments) -> tuple[Tensor, ...]:
        tensors = [x.tensor for x in arguments.inputs.values() if x.tensor and x.element_type in REALS]
        if all(np.isfinite(numbers(x)).all() for x in tensors):
            raise Unknown
        try:
            return calculate(with_tensors(arguments, finite))
        except NoGolden as error:  # a sum of the largest numbers
            raise Unknown from error

    return Reading(computes=(outputs,), by_element=True)


def clamped(kind: ElementType, integer: int) -> int:
    """The integer of a type that is nearest."""
    return min(max(integer, kind.minimum), kind.maximum)


def saturating(of: Callable[[Arguments, Keep], tuple[Tensor, ...]]) -> Reading:
    """The reading by which integers beyond the range of their type become its nearest one."""

    def outputs(arguments: Arguments) -> tuple[Tensor, ...]:
        if not next(iter(arguments.inputs.values())).is_integer:
            raise Unknown
        return of(arguments, clamped)

    return Reading(computes=(outputs,), by_element=True)


def computed(kernel: Kernel, *tensors: Tensor, keep: Keep = low_bits) -> Tensor:
    """The output of a kernel for tensors of one element type and of shapes that fit each other.

    `keep` gives the integers of the type for those beyond its range.
    """
    kind = tensors[0].type
    of = kernel.floats if kind.kind in ("float", "lookup") else kernel.integers
    if of is None:
        raise Unknown
    elements = [*map(elements_of, tensors)]
    with np.errstate(all="ignore"):
        results = np.asarray(of(*elements))
    output = tensor_of(ELEMENT_TYPES[kernel.output] if kernel.output else kind, results, keep=keep)
    if kernel.magnitude is None or kind.name not in REALS:
        return output
    with np.errstate(all="ignore"):
        errors = _reduced_errors(kind, results, np.asarray(kernel.magnitude(*elements)), elements)
    return with_reduced(output, results, errors)


def _reduced_errors(kind: ElementType, results: Array, magnitudes: Array, elements: Sequence[Array]) -> Array:
    """The errors of results of one rounding that are less accurate, and not wrong.

    Of operands and results that reduced arithmetic has as well, it is that of a sum of two numbers.
    """
    is_exact = np.all([few_bits(x) for x in elements], axis=0) & few_bits(results, 2 * FEW_BITS)
    parts = np.where(is_exact, float(allowed_error(kind, Exact(1), 2)), float(REDUCED))
    lost = np.where(magnitudes > 0, float(kind.layout.smallest_normal), 0.0)
    return np.asarray(np.maximum(magnitudes * parts, lost))


@dataclass(frozen=True, kw_only=True, slots=True)
class BinaryPage:
    """What the page of an operation on two tensors says besides its formula.

    Attributes:
        types: The element types; None for all.
        rules: The rules of broadcasting.
        undefined: The arguments for which the page has no result.
        may_overflow: Whether integers can be beyond the range of the type.
        others: Per interpretation, the kernels of other readings.
        misread: Per normative requirement, the kernel that misreads it.
        readings: The other readings that are not kernels.
        denormals: The interpretation whose other reading takes denormal numbers for zeros.
        calculate: The outputs, where results have bounds.
        rounded: The formula for elements that may be rounded themselves.
        work: The work of an element, in exact products.
    """

    types: tuple[str, ...] | None = NUMBERS
    rules: tuple[str, ...] = RULES
    attributes: tuple[AttributeSpec, ...] = ()
    undefined: Predicate = never
    may_overflow: bool = False
    others: Mapping[str, tuple[KernelOf, ...]] = field(default_factory=dict)
    misread: Mapping[str, KernelOf] = field(default_factory=dict)
    readings: Mapping[str, Reading] = field(default_factory=dict)
    calculate: Calculate | None = None
    rounded: Formula | None = None
    work: int = 0
    denormals: str | None = "values.rounded"


def binary(name: str, kernel: KernelOf, page: BinaryPage = BinaryPage()) -> Computation:
    """An operation on two tensors of one element type, which are broadcast to one shape."""

    def way(of: KernelOf, keep: Keep = low_bits) -> Calculate:
        return lambda a: (computed(of if isinstance(of, Kernel) else of(a), *stretched(a), keep=keep),)

    def type_of(arguments: Arguments) -> tuple[TensorType, ...]:
        element_type = (isinstance(kernel, Kernel) and kernel.output) or arguments.operand("a").element_type
        return (TensorType(element_type=element_type, shape=broadcast_shape(arguments)),)

    def types_differ(arguments: Arguments) -> bool:
        a, b = (arguments.operand(x).element_type for x in "ab")
        return a != b and (page.types is None or {a, b} <= {*page.types})

    def saturated(arguments: Arguments) -> tuple[Tensor, ...]:
        return (way(kernel, clamped) if arguments.operand("a").is_integer else calculate)(arguments)

    def flushed(*, inputs: bool, output: bool) -> Calculate:
        def outputs(arguments: Arguments) -> tuple[Tensor, ...]:
            results = calculate(with_tensors(arguments, without_denormals) if inputs else arguments)
            return tuple(map(without_denormals, results)) if output else results

        return outputs

    calculate = page.calculate or way(kernel)
    ways: dict[str, tuple[Calculate, ...]] = {"values.wrap": (saturated,)} if page.may_overflow else {}
    ways |= {key: tuple(map(way, kernels)) for key, kernels in page.others.items()}
    if page.denormals:
        sides = ((True, True), (True, False), (False, True))
        ways[page.denormals] = tuple(flushed(inputs=inputs, output=output) for inputs, output in sides)
    others = {key: Reading(computes=computes, by_element=True) for key, computes in ways.items()}
    misread = {key: Reading(computes=(way(of),), by_element=True, misreads=True) for key, of in page.misread.items()}
    has_pdpd = "pdpd" in page.rules
    return Computation(
        name=name,
        inputs=(Port("a", types=page.types), Port("b", types=page.types)),
        attributes=(*page.attributes, attribute(page.rules)),
        checks={
            **({"b.same-type": types_differ} if page.types is None or len(page.types) > 1 else {}),
            **{key: check for key, check in CHECKS.items() if has_pdpd or not key.startswith("pdpd.")},
        },
        types=type_of,
        calculate=calculate,
        rounded=page.rounded,
        undefined=page.undefined,
        is_numeric=True,
        products=lambda a: page.work * math.prod(broadcast_shape(a)),
        same_types=("b",),
        contexts={"doubled": contexts.doubled(lambda _: 0)},
        facts=FACTS,
        readings={**(PDPD_ONES if has_pdpd else {}), **others, **page.readings, **misread},
    )


def unary(
    name: str,
    of: Callable[[Arguments], Tensor],
    *,
    types: tuple[str, ...] = NUMBERS,
    undefined: Predicate = never,
    work: int = 0,
    others: Mapping[str, Sequence[Callable[[Arguments], Tensor]]] | None = None,
) -> Computation:
    """An operation on one tensor.

    `undefined` are the arguments for which the page has no result, `work` is that of an element in exact products, and
    `others` are the results of other readings, by the interpretation.
    """

    def alone(of: Callable[[Arguments], Tensor]) -> Calculate:
        return lambda arguments: (of(arguments),)

    return Computation(
        name=name,
        inputs=(Port("data", types=types),),
        types=lambda a: (TensorType(element_type=a.operand("data").element_type, shape=a.shape("data")),),
        calculate=alone(of),
        undefined=undefined,
        is_numeric=True,
        products=lambda a: work * math.prod(a.shape("data")),
        contexts={"doubled": contexts.doubled(lambda _: 0)},
        facts={"data is a scalar": lambda a: a.shape("data") == ()},
        readings={x: Reading(computes=tuple(map(alone, ways)), by_element=True) for x, ways in (others or {}).items()},
    )
