"""Mutants that read, check or use `num_splits` wrongly."""

from collections.abc import Callable
from typing import Any

from opconform.suite.case import Attribute
from tests.mutants.row import FOUND, Call, Row, checked, low_bits, stricter, unchecked
from tests.mutants.split.kernel import data

_UNEVEN = "onnx/onnx#5766"
_CHUNKS = "pytorch/TensorRT#401"
_SINGLE = "haydnv/tinychain#63"


def _read(name: str, what: str, seen: str, value: Callable[[int], int]) -> Row:
    """A mutant that reads an integer attribute as a function of it."""
    return Row(f"num_splits/{name}", what, seen, {"num_splits_value": lambda _, given: value(given)})


def _accepted(name: str, what: str, accepted: Callable[[Any], bool], value: Callable[[Any], int] = int) -> Row:
    """A mutant that accepts some attributes that are not integers."""

    def change(call: Call, given: Attribute) -> int:
        return value(given) if accepted(given) else int(call.right("no_integer", given))

    return Row(f"num_splits/{name}", what, FOUND, {"no_integer": change})


def _truncated_to(bits: int) -> Row:
    what = f"The number is truncated to {bits} bits."
    return _read(f"low-{bits}-bits", what, "openvinotoolkit/openvino_contrib#1093", lambda given: low_bits(given, bits))


def _last_shorter(call: Call, count: int, size: int) -> list[int]:
    longest = -(-size // count)
    sizes: list[int] = call.right("even_sizes", count, size)
    return sizes if size % count == 0 else [*([longest] * (count - 1)), max(size - longest * (count - 1), 0)]


def _sizes_of_other_dimensions(call: Call, count: int, size: int) -> list[int]:
    shape = data(call).shape
    return [(shape[place] if place < len(shape) else size) // count for place in range(count)]


def _single_elements(call: Call, count: int, size: int) -> list[int]:
    sizes: list[int] = call.right("even_sizes", count, size)
    return sizes if count <= size else [1] * size + [0] * min(count - size, 64)


# fmt: off
ROWS = (
    Row("num_splits/last-shorter", "A number that does not divide the dimension makes the last output shorter.",
        _UNEVEN, {**unchecked("check_divides"), "even_sizes": _last_shorter}),
    Row("num_splits/first-longer", "A number that does not divide the dimension makes the first outputs longer.",
        _UNEVEN,
        {**unchecked("check_divides"),
         "even_sizes": lambda _, count, size: [size // count + (each < size % count) for each in range(count)]}),
    Row("num_splits/tail-lost", "A number that does not divide the dimension loses the rest.", _CHUNKS,
        unchecked("check_divides")),
    Row("num_splits/halves-unchecked", "Whether the dimension can be divided is not checked for two outputs.", _CHUNKS,
        checked("check_divides", lambda _, count, size: count != 2 and size % count)),
    Row("num_splits/pieces-whose-length-is-two",
        "Whether the dimension can be divided is checked only for outputs of one element.", _CHUNKS,
        checked("check_divides", lambda _, count, size: size // count < 2 and size % count)),
    Row("num_splits/count-taken-for-size", "The number of outputs is taken for their size.", _CHUNKS,
        {"even_sizes": lambda _, count, size: [count] * (size // count)}),
    Row("num_splits/size-from-the-first-dimension", "The size of the outputs is computed from the first dimension.",
        "tinygrad/tinygrad#3490", {"even_sizes": lambda call, count, _: [data(call).shape[0] // count] * count}),
    Row("num_splits/only-single-elements", "Only outputs of one element are possible.", _SINGLE,
        stricter("check_divides", lambda _, count, size: count != size)),
    Row("num_splits/no-single-elements", "Outputs of one element are refused.", _SINGLE,
        stricter("check_divides", lambda _, count, size: count == size > 1)),
    Row("num_splits/one-piece-refused", "One output is refused: two are the fewest.", "apple/coremltools#1043",
        stricter("check_positive", lambda _, count: count == 1)),
    _read("zero-is-one", "A number of 0 is 1.", "pytorch/pytorch#6759", lambda given: given or 1),
    _read("negative-is-one", "A negative number of outputs is 1.", "pytorch/pytorch#69270",
        lambda given: 1 if given < 0 else given),
    _read("sign-lost", "A negative number of outputs is read without its sign.", "pytorch/pytorch#69270", abs),
    Row("num_splits/more-pieces-than-elements",
        "More outputs than the dimension has elements are accepted, and the last ones are empty.", _UNEVEN,
        {**unchecked("check_at_most_dimension"), "even_sizes": _single_elements}),
    Row("num_splits/one-more-than-elements", "One output more than the dimension has elements is accepted.", _UNEVEN,
        checked("check_at_most_dimension", lambda _, count, size: count > size + 1)),
    *(_truncated_to(bits) for bits in (32, 16, 8)),
    _accepted("fraction-cut", "A number with a fraction loses the fraction.", lambda it: isinstance(it, float)),
    _accepted("whole-float-accepted", "A whole number that is written as a floating-point one is accepted.",
        lambda it: isinstance(it, float) and it == int(it)),
    _accepted("boolean-accepted", "A boolean is a number.", lambda it: isinstance(it, bool)),
    _accepted("text-is-one", "A string that is not a number is 1.", lambda it: isinstance(it, str) and it != "",
        lambda _: 1),
    _accepted("empty-text-is-one", "An empty string is 1.", lambda it: it == "", lambda _: 1),
    Row("num_splits/missing-is-one", "A number that is left out is 1.", "blue-oil/blueoil#1113",
        {"missing_num_splits": lambda _: 1}),
    Row("num_splits/missing-is-two", "A number that is left out is 2.", "microsoft/onnxruntime#18358",
        {"missing_num_splits": lambda _: 2}),
    Row("num_splits/zero-dimension-accepted", "A dimension of 0 is split into outputs of 0.",
        "tensorflow/tfjs-core#1759",
        {**unchecked("check_zero_dimension"),
         **checked("check_at_most_dimension", lambda _, count, size: count > size > 0)},
        "interpretation"),
    Row("num_splits/size-of-the-dimension-of-its-number",
        "The i-th output has the size data.shape[i] / num_splits, as the page's formula says literally.", _CHUNKS,
        {"even_sizes": _sizes_of_other_dimensions}),
    Row("num_splits/one-piece-of-several-refused", "One output for a dimension of several elements is refused.",
        "apple/coremltools#1043", stricter("check_divides", lambda _, count, size: count == 1 < size)),
)
# fmt: on
