"""Mutants that read or check `split_lengths` wrongly."""

from collections.abc import Callable
from typing import Any

import numpy as np

from opconform.tensors.tensor import Tensor
from tests.mutants.row import FOUND, Call, Hooks, Row, checked, low_bits, stricter, unchecked
from tests.mutants.settings import misread
from tests.mutants.split.kernel import REMAINDER, data, fixed, integers

_SUM = "tensorflow/tensorflow#8720"
_WRAPS = "tensorflow/tensorflow#126126"
_NARROW = "openvinotoolkit/openvino_contrib#1093"
_NEGATIVE = "microsoft/onnxruntime#31149"


def _wrong_sum(refused: Callable[[int, int], object]) -> Hooks:
    """The change that refuses some wrong sums only, given a function of the sum and the dimension."""
    return checked("wrong_sum", lambda _, total, size: refused(total, size))


def _read(one: Callable[[int], int]) -> Hooks:
    """The change that reads each length as a function of it."""
    return {"lengths_values": lambda _, tensor: [one(each) for each in integers(tensor)]}


def _type_refused(refused: Callable[[Tensor], object]) -> Hooks:
    return checked("check_lengths_type", lambda _, tensor: refused(tensor))


def _accepted(name: str, what: str, kind: str) -> Row:
    """A mutant that accepts lengths of a kind of element types that are not integers."""
    return Row(name, what, FOUND, _type_refused(lambda it: not it.type.is_integer and it.type.kind != kind))


def _total_in(bits: int) -> Row:
    what = f"The sum is formed in {bits} bits, and wraps."
    changes = {"total": lambda _, lengths: low_bits(sum(lengths), bits)}
    return Row(f"lengths/sum-in-{bits}-bits", what, _WRAPS, changes)


def _truncated_to(bits: int) -> Row:
    what = f"Each length is truncated to {bits} bits."
    return Row(f"lengths/low-{bits}-bits", what, _NARROW, _read(lambda each: low_bits(each, bits)))


def _compared_in(bits: int) -> Row:
    what = f"The sum and the dimension are compared in {bits} bits."
    changes = _wrong_sum(lambda total, size: (total - size) % (1 << bits))
    return Row(f"lengths/compared-in-{bits}-bits", what, _WRAPS, changes)


def _last_from_the_rest(call: Call, lengths: list[int], size: int) -> list[int]:
    *sizes, _ = call.right("resolved", lengths, size)
    return [*sizes, max(size - sum(sizes), 0)]


def _total_in_own_type(call: Call, lengths: list[int]) -> int:
    kind = call.inputs["split_lengths"].type
    if kind.bits not in (8, 16, 32):
        return sum(lengths)
    return low_bits(sum(lengths), kind.bits) if kind.kind == "signed" else sum(lengths) & ((1 << kind.bits) - 1)


def _unsigned_as_signed(_call: Call, tensor: Tensor) -> list[int]:
    values, bits = integers(tensor), tensor.type.bits
    return [low_bits(each, bits) for each in values] if tensor.type.kind == "unsigned" and bits > 1 else values


def _maximum_as_remainder(_call: Call, tensor: Tensor) -> list[int]:
    largest = tensor.type.maximum if tensor.type.kind == "unsigned" and tensor.type.bits > 1 else None
    return [REMAINDER if each == largest else each for each in integers(tensor)]


def _signed_as_unsigned(_call: Call, tensor: Tensor) -> list[int]:
    mask = (1 << tensor.type.bits) - 1 if tensor.type.bits < 64 else ~0
    return [each & mask for each in integers(tensor)]


def _saturated(_call: Call, tensor: Tensor) -> list[int]:
    values = integers(tensor)
    return [min(each, 127) for each in values] if tensor.element_type == "u8" and max(values) < 255 else values


def _without_zeros_at_the_end(call: Call, outputs: list[Tensor]) -> list[Tensor]:
    axis = call.do("axis")
    while len(outputs) > 1 and not outputs[-1].shape[axis] and data(call).shape[axis]:
        outputs = outputs[:-1]
    return outputs


def only_the_sum(skipped: Callable[[list[int]], bool]) -> Hooks:
    """The change that checks nothing but the sum of lengths that come at run time, where a condition holds."""

    def change(call: Call, lengths: list[int], size: int) -> Any:
        only_sum = call.is_parameter("split_lengths") and skipped(lengths)
        return call.do("check_sum", lengths, size) if only_sum else call.right("check_lengths", lengths, size)

    return {"check_lengths": change}


def equal_if_possible(call: Call, lengths: list[int], size: int) -> list[int]:
    """As many equal sizes as there are lengths, where the dimension can be divided by their number."""
    count = len(lengths)
    sizes: list[int] = call.right("resolved", lengths, size) if size % count else [size // count] * count
    return sizes


def _one_as_count(call: Call, lengths: list[int], size: int) -> list[int]:
    sizes: list[int] = call.right("resolved", lengths, size)
    return [1] * size if len(lengths) == len(fixed(lengths)) == 1 else sizes


# fmt: off
ROWS = (
    Row("lengths/ignored", "The lengths are not looked at where equal outputs are possible.",
        "microsoft/onnxruntime#17258",
        {"resolved": equal_if_possible}),
    Row("lengths/backwards", "The lengths are used from the last to the first.", "NVIDIA/TensorRT#3892",
        {"lengths_values": lambda _, tensor: integers(tensor)[::-1]}),
    Row("lengths/sorted", "The lengths are used in ascending order.", "NVIDIA/TensorRT#3466",
        {"resolved": lambda call, lengths, size: sorted(call.right("resolved", lengths, size))}),
    Row("lengths/one-length-is-count", "A list of one length is a number of equal outputs.",
        "PaddlePaddle/Paddle#45396",
        {"resolved": _one_as_count}),
    Row("lengths/sum-unchecked", "The sum is not checked.", _SUM, unchecked("wrong_sum")),
    Row("lengths/too-few-accepted",
        "A sum of the lengths under the dimension is accepted, and the rest of data is lost.", _SUM,
        _wrong_sum(lambda total, size: total > size)),
    Row("lengths/too-many-accepted",
        "A sum of the lengths over the dimension is accepted, and memory past the end of data is read.", _SUM,
        _wrong_sum(lambda total, size: total < size)),
    Row("lengths/one-under-accepted", "The sum may be one under the dimension.", _SUM,
        _wrong_sum(lambda total, size: total != size - 1)),
    Row("lengths/one-over-accepted", "The sum may be one over the dimension.", _SUM,
        _wrong_sum(lambda total, size: total != size + 1)),
    Row("lengths/multiple-accepted", "The sum is checked to be a multiple of the dimension only.", _SUM,
        _wrong_sum(lambda total, size: total == 0 or size == 0 or total % size)),
    Row("lengths/sum-unchecked-at-run-time", "The sum of lengths that come at run time is not checked.", _SUM,
        unchecked("wrong_sum", when=lambda call: call.is_parameter("split_lengths"))),
    Row("lengths/last-length-unchecked", "The last length is not looked at: the last output is all that is left.",
        "openvinotoolkit/openvino_contrib#555", {**unchecked("wrong_sum"), "resolved": _last_from_the_rest}),
    Row("lengths/sum-in-its-own-type",
        "The sum is formed in the type of the lengths, if that has 8, 16 or 32 bits, and wraps.", _WRAPS,
        {"total": _total_in_own_type}),
    *(_total_in(bits) for bits in (64, 32, 16)),
    *(_truncated_to(bits) for bits in (32, 16, 8)),
    Row("lengths/through-float", "Each length goes through f32.", "openvinotoolkit/openvino#9988",
        _read(lambda each: int(np.float32(each)))),
    Row("lengths/unsigned-read-as-signed",
        "Lengths of an unsigned type are read as signed, so that its largest value is -1.", _NARROW,
        {"lengths_values": _unsigned_as_signed}),
    Row("lengths/unsigned-maximum-is-remainder", "The largest value of an unsigned type is -1.", _NARROW,
        {"lengths_values": _maximum_as_remainder}),
    Row("lengths/signed-read-as-unsigned", "Lengths of a signed type narrower than 64 bits are read as unsigned.",
        _NARROW, {"lengths_values": _signed_as_unsigned}),
    Row("lengths/sign-lost", "A length under -1 is read without its sign.", _NEGATIVE,
        _read(lambda each: -each if each < REMAINDER else each)),
    Row("lengths/any-negative-is-remainder", "Every negative length is -1.", _NEGATIVE,
        _read(lambda each: max(each, REMAINDER))),
    Row("lengths/negative-accepted", "A length under -1 is accepted if the sum is right.", _NEGATIVE,
        unchecked("check_negative")),
    Row("lengths/only-minus-two-refused", "Only -2 is refused, and no length below it.", _NEGATIVE,
        checked("check_negative", lambda _, lengths: REMAINDER - 1 in lengths)),
    _accepted("lengths/float-accepted", "Lengths of a floating-point type are rounded towards zero.", "float"),
    _accepted("lengths/boolean-accepted", "Boolean lengths are 0 and 1.", "boolean"),
    _accepted("lengths/text-accepted", "Lengths that are strings are read as the numbers in them.", "string"),
    Row("lengths/only-two-types", "Lengths of another type than i32 and i64 are refused.", "google-ai-edge/LiteRT#7742",
        _type_refused(lambda tensor: tensor.element_type not in ("i32", "i64"))),
    Row("lengths/type-of-the-axis-demanded", "The lengths must have the axis's element type.",
        "openvinotoolkit/openvino#9988",
        stricter("check_lengths_type", lambda call, tensor: tensor.element_type != call.inputs["axis"].element_type),
        "interpretation"),
    Row("lengths/scalar-accepted", "Lengths that are a scalar are one length.", "tensorflow/tensorflow#7754",
        checked("check_lengths_rank", lambda _, tensor: len(tensor.shape) > 1)),
    Row("lengths/matrix-flattened", "Lengths of more than one dimension are flattened.", "tensorflow/tensorflow#7754",
        checked("check_lengths_rank", lambda _, tensor: not tensor.shape)),
    Row("lengths/empty-accepted", "An empty list of lengths splits a dimension of 0 into no outputs.",
        "pytorch/pytorch#136166", unchecked("check_empty"), "interpretation"),
    Row("lengths/empty-is-whole", "An empty list of lengths leaves data whole.", "pytorch/pytorch#136166",
        {"lengths_values": lambda _, tensor: integers(tensor) or [REMAINDER]}),
    Row("lengths/missing-is-whole", "Lengths that are left out leave data whole.", "microsoft/onnxruntime#17258",
        {"lengths": lambda call: call.right("lengths") if "split_lengths" in call.inputs else [REMAINDER]}),
    Row("lengths/missing-is-halves", "Lengths that are left out are two equal ones.", "microsoft/onnxruntime#17258",
        {"sizes": lambda call, size: call.right("sizes", size) if "split_lengths" in call.inputs else [size // 2] * 2},
        op="VariadicSplit-1"),
    Row("lengths/one-output-refused", "One length is refused: two outputs are the fewest.", "apple/coremltools#1043",
        stricter("check_empty", lambda _, lengths: len(lengths) == 1)),
    Row("lengths/zero-refused", "A length of 0 is refused.", "microsoft/onnxruntime#2898",
        stricter("resolved", lambda _, lengths, size: 0 in lengths and size), "interpretation"),
    Row("lengths/zero-refused-first", "A length of 0 is refused where it stands first.", "pytorch/pytorch#8686",
        stricter("resolved", lambda _, lengths, size: lengths[0] == 0 and size), "interpretation"),
    Row("lengths/zero-dropped-last", "Outputs of length 0 at the end are left out.", "pytorch/pytorch#8686",
        {"delivered": _without_zeros_at_the_end}, op="VariadicSplit-1"),
    Row("lengths/zero-dimension-refused", "A dimension of 0 is refused.", "pytorch/pytorch#147278",
        stricter("check_lengths", lambda _, _lengths, size: size == 0), "interpretation"),
    Row("lengths/unused", "The operation demands the attribute num_splits beside over two lengths.",
        "openvinotoolkit/openvino_contrib#555",
        stricter("check_empty", lambda call, lengths: len(lengths) > 2 and "num_splits" not in call.attributes)),
    Row("lengths/unsigned-saturated", "Lengths of u8 over 127 become 127.", "microsoft/onnxruntime#18358",
        {"lengths_values": _saturated}),
    *(_compared_in(bits) for bits in (8, 16, 32, 64)),
    Row("lengths/run-time-remainders-unchecked", "Two -1 are refused only if they are constants.",
        "tensorflow/tensorflow#52701", only_the_sum(lambda lengths: lengths.count(REMAINDER) > 1)),
    *misread("lengths/lengths", "VariadicSplit-1", "lengths_values", lambda _, tensor: ("split_lengths", tensor)),
)
# fmt: on
