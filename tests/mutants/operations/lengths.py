"""Mutants that read, check or resolve the lengths of VariadicSplit-1 wrongly."""

from collections.abc import Callable
from itertools import accumulate, pairwise

import numpy as np

from opconform.tensors.tensor import Tensor
from tests.mutants.operations.splits import (
    REMAINDER,
    VARIADIC,
    axis_of,
    fixed,
    lengths_of,
    size_of,
    sized,
    started,
)
from tests.mutants.row import Call, Hook, MutantRow, accepts, gives, low_bits, reads, refuses, rows

_SUM, _WRAPS, _NEGATIVE = "tensorflow/tensorflow#8720", "tensorflow/tensorflow#126126", "microsoft/onnxruntime#31149"
_POSITION, _RESOLVED, _CHECKS = (
    "NervanaSystems/ngraph-tf#344",
    "openvinotoolkit/openvino_contrib#492",
    "tensorflow/tensorflow#52701",
)
_SECOND, _NARROW = "microsoft/onnxruntime#19564", "openvinotoolkit/openvino_contrib#1093"
_WRONG_SUMS = ("lengths.sum", "lengths.remainder-sum")


def _read(change: Callable[[int], int]) -> Hook:
    """The step that reads each length as a function of it, before all checks."""
    return reads("split_lengths", lambda _, lengths: [change(length) for length in lengths], checked=False)


def _wrong_sum(condition: Callable[[int, int], object]) -> Hook:
    """The step that accepts some wrong sums, given a function of the sum and the dimension."""
    return accepts("lengths.sum", when=lambda call: condition(sum(lengths_of(call)), size_of(call)))


def _sum_in(call: Call, bits: int) -> bool:
    """Whether the sum of the lengths that are given is right in some bits, in which it wraps."""
    lengths, size = lengths_of(call), size_of(call)
    total = low_bits(sum(fixed(lengths)), bits)
    return total <= size if REMAINDER in lengths else total == size


def _summed_in(bits: int) -> Hook:
    return accepts(*_WRONG_SUMS, when=lambda call: _sum_in(call, bits))


def _compared_in(bits: int) -> Hook:
    return _wrong_sum(lambda total, size: (total - size) % (1 << bits) == 0)


def _sum_in_own_type(call: Call) -> bool:
    kind = call.inputs["split_lengths"].type
    if kind.kind == "signed":
        return kind.bits in (8, 16, 32) and _sum_in(call, kind.bits)
    lengths = lengths_of(call)
    return kind.bits in (8, 16, 32) and sum(lengths) % (1 << kind.bits) == size_of(call)


def _remainders(change: Callable[[Call, list[int], int], int]) -> Hook:
    """The step that resolves a -1 otherwise, given the other lengths and the right size."""

    def changed(call: Call, sizes: list[int]) -> list[int]:
        given = lengths_of(call)
        return [
            change(call, fixed(given), size) if length == REMAINDER else size
            for length, size in zip(given, sizes, strict=True)
        ]

    return sized(changed)


def _without_zeros_at_the_end(call: Call, outputs: list[Tensor]) -> list[Tensor]:
    while len(outputs) > 1 and not outputs[-1].shape[axis_of(call)] and size_of(call):
        outputs = outputs[:-1]
    return outputs


def _exchanged_with_zero(call: Call, sizes: list[int]) -> list[int]:
    given = lengths_of(call)
    if REMAINDER in given and 0 in given:
        here, there = given.index(REMAINDER), given.index(0)
        sizes[here], sizes[there] = sizes[there], sizes[here]
    return sizes


def _equal(call: Call, lengths: list[int]) -> list[int]:
    """As many equal lengths, where the dimension can be divided by their number."""
    size, count = size_of(call), len(lengths)
    return lengths if size % count else [size // count] * count


def _saturated(call: Call, lengths: list[int]) -> list[int]:
    is_low = call.inputs["split_lengths"].element_type == "u8" and max(lengths) < 255
    return [min(length, 127) for length in lengths] if is_low else lengths


def _largest_as_remainder(call: Call, lengths: list[int]) -> list[int]:
    kind = call.inputs["split_lengths"].type
    is_wide = kind.kind == "unsigned" and kind.bits > 1
    return [REMAINDER if is_wide and length == kind.maximum else length for length in lengths]


def _checked_for_first_shape(call: Call) -> object:
    """Lengths are checked against the dimension of the first inference."""
    outputs = accepts("lengths.sum", when=lambda _: sum(lengths_of(call)) == call.model.get("size"))(call)
    call.first("size", size_of(call))
    return outputs


def _other_lengths_checked_alone(call: Call) -> bool:
    return max(lengths_of(call)) <= size_of(call)


# fmt: off
ROWS: tuple[MutantRow, ...] = (
    *rows("lengths", VARIADIC,
        ("ignored", "The lengths are not looked at where equal outputs are possible.", "microsoft/onnxruntime#17258",
            reads("split_lengths", _equal)),
        ("ignored-at-run-time", "Lengths that come at run time only count the outputs, which are equal.",
            "apache/tvm#5330", reads("split_lengths", lambda call, lengths: (
                _equal(call, lengths) if call.is_parameter("split_lengths") else lengths))),
        ("one-length-is-count", "A list of one length is a number of equal outputs.", "PaddlePaddle/Paddle#45396",
            sized(lambda call, sizes: [1] * sizes[0] if lengths_of(call) == sizes[:1] == sizes else sizes)),
        ("one-under-accepted", "The sum may be one under the dimension.", _SUM,
            _wrong_sum(lambda total, size: total == size - 1)),
        ("one-over-accepted", "The sum may be one over the dimension.", _SUM,
            _wrong_sum(lambda total, size: total == size + 1)),
        ("multiple-accepted", "The sum is checked to be a multiple of the dimension only.", _SUM,
            _wrong_sum(lambda total, size: total and size and total % size == 0)),
        ("sum-in-its-own-type", "The sum is formed in the type of the lengths, if that has 8, 16 or 32 bits, and wraps.",
            _WRAPS, accepts("lengths.sum", when=_sum_in_own_type)),
        *((f"sum-in-{bits}-bits", f"The sum is formed in {bits} bits, and wraps.", _WRAPS,
            _summed_in(bits)) for bits in (8, 16, 32, 64)),
        *((f"compared-in-{bits}-bits", f"The sum and the dimension are compared in {bits} bits.", _WRAPS,
            _compared_in(bits)) for bits in (16, 32, 64)),
        ("through-float", "Each length goes through f32.", "openvinotoolkit/openvino#9988",
            _read(lambda x: int(np.float32(x)))),
        ("unsigned-maximum-is-remainder", "The largest value of an unsigned type is -1.", _NARROW,
            reads("split_lengths", _largest_as_remainder, checked=False)),
        ("unsigned-saturated", "Lengths of u8 over 127 become 127.", "microsoft/onnxruntime#18358",
            reads("split_lengths", _saturated, checked=False)),
        ("sign-lost", "A length under -1 is read without its sign.", _NEGATIVE,
            _read(lambda x: -x if x < REMAINDER else x)),
        ("any-negative-is-remainder", "Every negative length is -1.", _NEGATIVE,
            _read(lambda x: max(x, REMAINDER))),
        ("only-minus-two-refused", "Only -2 is refused, and no length below it.", _NEGATIVE,
            accepts("lengths.negative", when=lambda call: REMAINDER - 1 not in lengths_of(call))),
        ("one-output-refused", "One length is refused: two outputs are the fewest.", "apple/coremltools#1043",
            refuses(lambda call: len(lengths_of(call)) == 1)),
        ("empty-is-whole", "An empty list of lengths leaves data whole.", "pytorch/pytorch#136166",
            accepts("lengths.empty")),
        ("zero-dropped-last", "Outputs of length 0 at the end are left out.", "pytorch/pytorch#8686",
            gives(_without_zeros_at_the_end)),
        ("unused", "The operation demands the attribute num_splits beside over two lengths.",
            "openvinotoolkit/openvino_contrib#555", refuses(lambda call: len(lengths_of(call)) > 2)),
    ),
    *rows("remainder", VARIADIC,
        ("refused-first", "A -1 is not found where it stands first.", _POSITION,
            refuses(lambda call: lengths_of(call)[0] == REMAINDER)),
        ("only-last", "A -1 is found only where it stands last.", _POSITION,
            refuses(lambda call: REMAINDER in lengths_of(call)[:-1])),
        ("only-at-the-ends", "A -1 is not found where it stands between others.", _POSITION,
            refuses(lambda call: REMAINDER in lengths_of(call)[1:-1])),
        ("refused-alone", "A -1 alone is refused.", "apple/coremltools#1043",
            refuses(lambda call: lengths_of(call) == [REMAINDER])),
        ("counted-as-length", "The -1 itself is added up with the others, so that it takes one too many.", _RESOLVED,
            _remainders(lambda _, __, size: size + 1)),
        ("from-the-whole-tensor", "What is left is computed from the number of data's elements.", _RESOLVED,
            _remainders(lambda call, others, _: int(np.prod(call.data.shape, dtype=object)) - sum(others))),
        ("from-the-first-dimension", "What is left is computed from the first dimension.", "tinygrad/tinygrad#3490",
            _remainders(lambda call, others, _: call.data.shape[0] - sum(others))),
        ("never-longest", "A -1 takes no more than the longest of the others.", "tensorflow/tensorflow#21113",
            _remainders(lambda _, others, size: min(size, max(others, default=size)))),
        ("literal", "A -1 is taken for a length, which gives an output without elements.", _RESOLVED,
            _remainders(lambda *_: 0)),
        ("first-kept", "What -1 stands for is computed in the first inference only.", _SECOND,
            _remainders(lambda call, _, size: call.first("left", size))),
        ("placed-last", "What is left becomes the last output, wherever -1 stands.", "NVIDIA/TensorRT#3466",
            sized(lambda call, sizes: [*fixed(given), sum(sizes) - sum(fixed(given))]
                if REMAINDER in (given := lengths_of(call)) else sizes)),
        ("exchanged-with-zero", "Beside a length of 0 what is left goes to the 0, and -1 gets nothing.",
            "tensorflow/tensorflow#19360", sized(_exchanged_with_zero)),
        ("offsets-before", "The offsets are computed before -1 is replaced.", _NARROW,
            started(lambda call, _, __: list(accumulate(lengths_of(call), initial=0))[:-1])),
        ("unresolved-at-run-time", "A -1 that comes at run time is refused.", "google-ai-edge/LiteRT#7742",
            refuses(lambda call: call.is_parameter("split_lengths") and REMAINDER in lengths_of(call))),
        ("refused-in-dynamic", "A -1 is refused where the dimension is dynamic.", _RESOLVED,
            refuses(lambda call: REMAINDER in lengths_of(call) and call.case.inputs[0].dynamic)),
        ("two-apart-accepted", "Two -1 are refused only where no other length stands between them.", _CHECKS,
            accepts("lengths.single-remainder",
                when=lambda call: (REMAINDER, REMAINDER) not in pairwise(lengths_of(call)))),
        ("each-other-checked", "With a -1 each other length is checked by itself, and not their sum.",
            "Tencent/ncnn#112", accepts("lengths.remainder-sum", when=_other_lengths_checked_alone)),
        ("in-the-type-of-the-lengths", "What is left is computed in the type of the lengths, and wraps.", _WRAPS,
            _remainders(lambda call, _, size: low_bits(size, call.inputs["split_lengths"].type.bits))),
        ("written-back", "What -1 stood for in the first inference is written over it, so that the second has no -1.",
            _SECOND, refuses(lambda call: REMAINDER in lengths_of(call) and not call.is_parameter("split_lengths")
                and call.first("size", size_of(call)) != size_of(call))),
        ("decided-once", "Whether there is a -1 is decided in the first inference.", _SECOND,
            refuses(lambda call: call.first("has one", REMAINDER in lengths_of(call)) < (REMAINDER in lengths_of(call)))),
    ),
    *rows("state", VARIADIC,
        ("lengths-mixed-up", "A model is kept without its lengths, and used for the next case with as many.",
            "NVIDIA/recsys-examples#379", sized(lambda call, sizes: call.process.setdefault(
                f"{call.data.shape}{size_of(call)}{len(sizes)}", sizes))),
        ("checked-for-the-first-shape", "The lengths are checked against the dimension of the first inference.",
            "openvinotoolkit/openvino#15914", _checked_for_first_shape),
    ),
)
# fmt: on
