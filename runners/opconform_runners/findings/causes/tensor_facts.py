"""Facts about one tensor, as phrases that follow its name, such as `is f32` and `has rank 2`."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

import numpy as np
from ml_dtypes import finfo

from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.findings.causes.fact import ELEMENT_KINDS, Phrase

_BYTE, _WORD = 8, 32
_LONG = (1 << 31) - 1
#: The types that floating-point values may pass through.
_NARROW = [ELEMENT_TYPES[name] for name in ("f32", "bf16", "f16")]
#: The widths, in bits, beyond which integers are cut by narrower integers or rounded by floating-point numbers.
_WIDTHS = (63, 53, 31, 24)
_ELEMENTS = ("has elements narrower than a byte", "has 64-bit elements")
_SHAPES = (
    "is empty",
    "has one element",
    "has a dimension beyond 31 bits",
    "has a dimension of 1",
    "has a first dimension of 1 before others",
    "ends within a byte",
    "has rows that end within a byte",
)
#: What values can have in common, as phrases that follow the name of the tensor.
_INTEGERS: Mapping[Phrase, Callable[[Array], Array]] = {
    ("has a negative value", ""): lambda values: values < 0,
    ("has a value below -1", ""): lambda values: values < -1,
    ("has", "-1"): lambda values: values == -1,
    ("has", "0"): lambda values: values == 0,
}
_OF_SCALARS: tuple[Phrase, ...] = (("is negative", ""), ("is below -1", ""), ("is", "-1"), ("is", "0"))
#: The same as phrases that follow the name of a scalar.
SCALARS = dict(zip(_OF_SCALARS, _INTEGERS.values(), strict=True))
_FLOATS: Mapping[Phrase, Callable[[Array], Array]] = {
    ("has NaNs", ""): np.isnan,
    ("has signalling NaNs", ""): lambda values: np.isnan(values) & ~_is_quiet(values),
    ("has infinities", ""): np.isinf,
    ("has negative zeros", ""): lambda values: (values == 0) & np.signbit(values),
    ("has denormal numbers", ""): lambda values: (
        (values != 0) & (np.abs(values) < finfo(values.dtype).smallest_normal)  # type: ignore[no-untyped-call]
    ),
}
#: The numbers of elements in a vector, a line of the cache or a block, which kernels treat otherwise than what is left.
_SIZES = (4, 8, 16, 32, 64, 256, 1024)
#: The most dimensions that a rule may name.
_RANKS = 64


@cache
def phrases() -> frozenset[Phrase]:
    """The phrases about the element type, the shape and the integers of an input."""
    ranks = {("has rank", f"{rank}{more}") for rank in range(_RANKS + 1) for more in ("", " or more")}
    widths = {(words, f"{width} bits") for words in ("is beyond", "has a value beyond") for width in _WIDTHS}
    kinds = {("is", name) for name in (*ELEMENT_TYPES, *ELEMENT_KINDS.values())}
    return frozenset({*((x, "") for x in (*_ELEMENTS, *_SHAPES)), *_INTEGERS, *SCALARS} | ranks | widths | kinds)


def type_facts(kind: ElementType) -> Iterator[Phrase]:
    """Facts about an element type."""
    yield "is", kind.name
    if kind.kind in ELEMENT_KINDS:
        yield "is", ELEMENT_KINDS[kind.kind]
    if 0 < kind.bits < _BYTE:
        yield "has elements narrower than a byte", ""
    if kind.bits > _WORD:
        yield "has 64-bit elements", ""


def shape_facts(shape: Sequence[int], kind: ElementType) -> Iterator[Phrase]:
    """Facts about the shape of one tensor."""
    yield "has rank", f"{len(shape)}"
    yield from (("has rank", f"{least} or more") for least in range(2, len(shape) + 1))
    if 0 in shape:
        yield "is empty", ""
    if math.prod(shape) == 1:
        yield "has one element", ""
    yield from packing_facts(shape, kind)
    if any(size > _LONG for size in shape):
        yield "has a dimension beyond 31 bits", ""
    if 1 in shape:
        yield "has a dimension of 1", ""
    if len(shape) > 1 and shape[0] == 1:
        yield "has a first dimension of 1 before others", ""


def size_facts(shape: Sequence[int]) -> Iterator[Phrase]:
    """Facts about the number of elements of one tensor: kernels take vectors and blocks of them at once."""
    size = math.prod(shape)
    yield from (("has more than", f"{least:,} elements") for least in _SIZES if size > least)


def packing_facts(shape: Sequence[int], kind: ElementType) -> Iterator[Phrase]:
    """Facts about where the elements of one tensor end."""
    if math.prod(shape) * kind.bits % _BYTE:
        yield "ends within a byte", ""
    if shape and shape[-1] * kind.bits % _BYTE:
        yield "has rows that end within a byte", ""


def value_facts(tensor: Tensor) -> Iterator[Phrase]:
    """Facts about the elements of one tensor."""
    kind = tensor.type
    if kind.is_integer:
        numbers = integers_of(tensor)
        facts, has = (_INTEGERS, "has a value beyond") if tensor.shape else (SCALARS, "is beyond")
        yield from facts_that_hold(facts, numbers)
        yield from width_facts(
            max(map(width_of, (int(numbers.min()), int(numbers.max()))) if numbers.size else (0,)), has
        )
    elif kind.kind == "float" and kind.native is not None:
        floats = tensor.array.view(kind.native).reshape(-1)
        with np.errstate(all="ignore"):
            yield from facts_that_hold(_FLOATS, floats)
            yield from (
                (f"has values that {narrow.name} rounds", "")
                for narrow in _NARROW
                if narrow.bits < kind.bits and _is_rounded(floats, narrow)
            )


def facts_that_hold(facts: Mapping[Phrase, Callable[[Array], Array]], values: Array) -> Iterator[Phrase]:
    """The facts that hold for at least one of some values."""
    return (phrase for phrase, holds in facts.items() if holds(values).any())


def integers_of(tensor: Tensor) -> Array:
    """The elements of an integer tensor by their values."""
    if tensor.type.kind == "signed" and tensor.type.storage.kind == "u":
        sign = 1 << (tensor.type.bits - 1)
        return (tensor.array.astype(np.int16) ^ sign) - sign
    return tensor.array


def _is_quiet(values: Array) -> Array:
    """Whether the first bit of the mantissa is set, which marks the NaNs that are quiet."""
    info = finfo(values.dtype)  # type: ignore[no-untyped-call]
    if info.bits <= _BYTE:
        return np.ones(values.shape, np.bool_)
    bits = values.view(f"u{values.dtype.itemsize}")
    return np.asarray((bits >> bits.dtype.type(info.nmant - 1)) & bits.dtype.type(1) == 1)


def _is_rounded(values: Array, narrow: ElementType) -> bool:
    numbers = values[np.isfinite(values)]
    return bool((numbers.astype(narrow.arithmetic).astype(values.dtype) != numbers).any())


def width_facts(width: int, predicate: str) -> Iterator[Phrase]:
    """The widths that a number of bits exceeds, each with its predicate."""
    return ((predicate, f"{w} bits") for w in _WIDTHS if width > w)


def width_of(value: int) -> int:
    """How many bits an integer needs besides its sign."""
    return (value if value >= 0 else ~value).bit_length()
