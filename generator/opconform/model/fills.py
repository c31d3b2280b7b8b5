"""The fills of tensors. The bytes of a case do not depend on other cases."""

import math
from collections.abc import Callable, Mapping
from functools import cache

import numpy as np

from opconform.model.draft import Fill, TensorDraft
from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.exact import rounded
from opconform.tensors.literals import encoded
from opconform.tensors.philox import random_words
from opconform.tensors.special_values import SPECIAL_TEXTS, special_patterns
from opconform.tensors.tensor import Array, Tensor

#: A ramp would repeat too soon in a type with fewer values than this; its elements are scattered instead.
_SCATTERED_BELOW = 16

#: How many elements of a ramp are computed at once, since an index takes eight bytes.
_AT_ONCE = 1 << 16

#: The lowest of the scattered bits that are used; lower ones differ too little between a few elements.
_MIXED = 40

#: One more than the largest element of the fill `small`: sums of a few elements are exact in every common type.
_SMALL = 64

#: The elements of the fill `exact`: products and sums of a few are exact in every type; some are odd, so that
#: their order matters. Unsigned types have their absolute values.
_FEW = (1, -2, 3, -1, 2, -3, 2, 1, -3, 3, -2)

#: How many integers from 0 on a floating-point type holds exactly.
_EXACT = {"bf16": 2**8, "f16": 2**11, "f32": 2**24, "f64": 2**53}

_BYTE = 8
_ALPHABETS = (range(0x20, 0x7F), range(0xC0, 0x180), range(0x4E00, 0x9FA6), range(0x1F300, 0x1F650))
_LONGEST_TEXT = 8


def fill(tensor: TensorDraft, *key: object, after: int = 0) -> Tensor:
    """The tensor of a draft with checked elements; random bits depend on the key, and a ramp skips `after` elements."""
    element_type = ELEMENT_TYPES[tensor.element_type]
    if tensor.fill == "values":
        flat = encoded(tensor.element_type, tensor.elements)
    elif tensor.fill == "constant":
        flat = np.repeat(encoded(tensor.element_type, tensor.elements), math.prod(tensor.shape))
    elif tensor.fill == "exact":
        flat = _exact(element_type, math.prod(tensor.shape), after)
    elif tensor.fill in ("ramp", "small"):
        flat = _ramp(element_type, math.prod(tensor.shape), after, is_small=tensor.fill == "small")
    else:
        flat = _FILLS[tensor.fill](element_type, math.prod(tensor.shape), key)
    return Tensor(element_type=tensor.element_type, array=flat.reshape(tensor.shape))


def longest_text(tensor: TensorDraft) -> int:
    """The most characters of an element of a string tensor."""
    if tensor.elements:
        return max(len(str(element)) for element in tensor.elements)
    return (
        len(f"s{math.prod(tensor.shape)}")
        if tensor.fill in ("ramp", "small", "exact")
        else max(_LONGEST_TEXT, *map(len, SPECIAL_TEXTS))
    )


def _exact(element_type: ElementType, count: int, after: int) -> Array:
    """Small integers; a type with fewer values, or without numbers, has a ramp."""
    if element_type.kind not in ("float", "signed", "unsigned") or element_type.bits < _BYTE:
        return _ramp(element_type, count, after, is_small=True)
    index = np.arange(after, after + count, dtype=np.int64)
    few = np.array(_FEW)[(index + index // len(_FEW)) % len(_FEW)]
    if element_type.kind == "unsigned" or element_type.name == "f8e8m0":  # which have no sign
        few = np.abs(few)
    return _integers(element_type, few) if element_type.kind == "float" else few.astype(element_type.storage)


def _ramp(element_type: ElementType, count: int, after: int, *, is_small: bool) -> Array:
    if element_type.kind == "string":
        return np.array([f"s{index}" for index in range(after + 1, after + count + 1)], dtype=np.str_)
    flat = np.empty(count, element_type.storage)
    for start in range(0, count, _AT_ONCE):
        stop = min(start + _AT_ONCE, count)
        index = np.arange(after + start + 1, after + stop + 1, dtype=np.uint64)
        if is_small and element_type.kind == "float":
            flat[start:stop] = _integers(element_type, _steps(index, _SMALL))
        else:
            flat[start:stop] = _ramp_part(element_type, index, after + count)
    return flat


def _ramp_part(element_type: ElementType, index: Array, count: int) -> Array:
    """The elements at some indices, counted from 1, of a ramp of `count` elements."""
    if element_type.kind != "float":
        return _stored(element_type, _steps(index, 2 if element_type.kind == "boolean" else 1 << element_type.bits))
    if count <= _EXACT.get(element_type.name, 0):
        return _integers(element_type, index)
    if element_type.name == "f32":
        return index.astype(np.uint32).view(np.float32)
    finite = _finite_patterns(element_type)
    return _stored(element_type, finite[_steps(index, len(finite))])


def _integers(element_type: ElementType, values: Array) -> Array:
    """Integers that a floating-point type has, as it stores them."""
    return values.astype(np.float64).astype(element_type.native).view(element_type.storage)


def _bits(element_type: ElementType, count: int, key: tuple[object, ...]) -> Array:
    if element_type.kind == "string":
        return np.array(_random_texts(count, key), dtype=np.str_)
    size = element_type.storage.itemsize
    words = random_words(-(-count * size // 8), *key).astype("<u8", copy=False)
    raw = words.view(f"<u{size}")[:count]
    if element_type.kind == "boolean":
        return _stored(element_type, raw & 1)
    return _stored(element_type, raw & ((1 << element_type.bits) - 1) if element_type.bits < 8 * size else raw)


def _special(element_type: ElementType, count: int, key: tuple[object, ...]) -> Array:
    if element_type.kind == "string":
        texts = [*SPECIAL_TEXTS[:count], *_random_texts(max(0, count - len(SPECIAL_TEXTS)), key)]
        return np.array(texts, dtype=np.str_)
    flat = _bits(element_type, count, key)
    known = np.array(special_patterns(element_type)[:count], np.uint64)
    flat[: len(known)] = _stored(element_type, known)
    return flat


def _fractions(element_type: ElementType, count: int, key: tuple[object, ...]) -> Array:
    """Numbers from 1 to 2 with random fractions, whose products and sums are rounded; small integers of other types."""
    if element_type.kind != "float":
        return _exact(element_type, count, 0)
    one = _integers(element_type, np.ones(1)).view(f"u{element_type.storage.itemsize}")
    mask = (1 << int(element_type.layout.nmant)) - 1
    return _stored(element_type, (_bits(element_type, count, key).view(one.dtype) & mask) | one)


def _normal(element_type: ElementType, count: int, key: tuple[object, ...]) -> Array:
    """Numbers of both signs that are nearly normally distributed, with a deviation of 1.15; other types as `fractions`.

    Each is a sum of four random integers.
    """
    if element_type.name not in _EXACT:
        return _fractions(element_type, count, key)
    parts = random_words(count, *key).astype("<u8", copy=False).view("<u2").reshape(count, 4)
    sums = np.ldexp(parts.sum(1, dtype=np.int64) - 2 * (2**16 - 1), -15)
    return rounded(element_type, sums)


def _binades(element_type: ElementType, count: int, key: tuple[object, ...]) -> Array:
    """One number of each binade, from the denormal ones on, and then their negatives; the fractions are random."""
    flat = _bits(element_type, count, key)
    if element_type.name not in _EXACT:
        return flat
    fraction, exponents = int(element_type.layout.nmant), (1 << int(element_type.layout.nexp)) - 1
    turn, exponent = np.divmod(np.arange(count, dtype=np.uint64), np.uint64(exponents))
    sign = (turn % np.uint64(2)) << np.uint64(element_type.bits - 1)
    random = flat.view(f"u{flat.itemsize}").astype(np.uint64) & np.uint64((1 << fraction) - 1)
    return _stored(element_type, sign | (exponent << np.uint64(fraction)) | random)


_FILLS: Mapping[Fill, Callable[[ElementType, int, tuple[object, ...]], Array]] = {
    "binades": _binades,
    "bits": _bits,
    "special": _special,
    "fractions": _fractions,
    "normal": _normal,
}


def _stored(element_type: ElementType, patterns: Array) -> Array:
    storage = element_type.storage
    if element_type.kind == "boolean":
        return patterns.astype(np.bool_)
    return patterns.astype(f"u{storage.itemsize}").view(storage)


def _steps(index: Array, period: int) -> Array:
    """1, 2, 3, … modulo the period. Each period starts one later, so that distances do not repeat for long.

    The first element is not 0, which unwritten memory often holds.
    """
    if period < _SCATTERED_BELOW:
        return (_scattered(index) >> np.uint64(_MIXED)) % np.uint64(period)
    step, above = index.copy(), period
    while above <= int(index[-1]):
        step += index // np.uint64(above)
        above *= period
    return step % np.uint64(period) if period < 1 << 64 else step


def _scattered(index: Array) -> Array:
    """A fixed permutation of the 64-bit words (the finaliser of SplitMix64) at each index."""
    word = (index + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@cache
def _finite_patterns(element_type: ElementType) -> Array:
    patterns = np.arange(1 << element_type.bits, dtype=np.uint16 if element_type.bits > 8 else np.uint8)  # noqa: PLR2004
    with np.errstate(invalid="ignore"):  # signalling NaNs
        finite = np.isfinite(patterns.view(element_type.arithmetic))
    return np.asarray(patterns[finite], np.uint64)


def _random_texts(count: int, key: tuple[object, ...]) -> list[str]:
    def character(word: int) -> str:
        alphabet = _ALPHABETS[word % len(_ALPHABETS)]
        return chr(alphabet[(word >> 8) % len(alphabet)])

    words = iter(random_words(count * (_LONGEST_TEXT + 1), *key).tolist())
    return ["".join(character(next(words)) for _ in range(_LONGEST_TEXT))[: next(words) % 9] for _ in range(count)]
