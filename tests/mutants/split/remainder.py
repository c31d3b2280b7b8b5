"""Mutants that resolve a length of -1 wrongly."""

from itertools import accumulate, pairwise
from math import prod

from tests.mutants.row import FOUND, Call, Row, checked, low_bits, stricter, unchecked
from tests.mutants.split.kernel import REMAINDER, data, fixed

_POSITION = "NervanaSystems/ngraph-tf#344"
_RESOLVED = "openvinotoolkit/openvino_contrib#492"
_CHECKS = "tensorflow/tensorflow#52701"


def _placed_last(call: Call, lengths: list[int], size: int) -> list[int]:
    return [*fixed(lengths), call.do("remainder", lengths, size)] if REMAINDER in lengths else lengths


def _exchanged_with_zero(call: Call, lengths: list[int], size: int) -> list[int]:
    sizes: list[int] = call.right("resolved", lengths, size)
    if REMAINDER in lengths and 0 in lengths:
        here, there = lengths.index(REMAINDER), lengths.index(0)
        sizes[here], sizes[there] = sizes[there], sizes[here]
    return sizes


def _each_other_checked(call: Call, lengths: list[int], size: int) -> None:
    if REMAINDER not in lengths:
        call.right("check_sum", lengths, size)
    elif max(lengths) > size:
        call.do("wrong_sum", max(lengths), size)


def _wrapped(call: Call, lengths: list[int], size: int) -> int:
    return low_bits(size - sum(fixed(lengths)), call.inputs["split_lengths"].type.bits)


def _at_most_the_longest(_call: Call, lengths: list[int], size: int) -> int:
    return min(size - sum(fixed(lengths)), max(fixed(lengths), default=size))


# fmt: off
ROWS = (
    Row("remainder/refused-first", "A -1 is not found where it stands first.", _POSITION,
        stricter("check_single", lambda _, lengths: lengths[0] == REMAINDER)),
    Row("remainder/only-last", "A -1 is found only where it stands last.", _POSITION,
        stricter("check_single", lambda _, lengths: REMAINDER in lengths[:-1])),
    Row("remainder/only-at-the-ends", "A -1 is not found where it stands between others.", _POSITION,
        stricter("check_single", lambda _, lengths: REMAINDER in lengths[1:-1])),
    Row("remainder/refused-alone", "A -1 alone is refused.", "apple/coremltools#1043",
        stricter("check_single", lambda _, lengths: lengths == [REMAINDER])),
    Row("remainder/zero-refused", "A -1 that nothing is left for is refused.", "tensorflow/tensorflow#19360",
        checked("check_remainder", lambda _, total, size: total > size or total == size > 0), "interpretation"),
    Row("remainder/zero-refused-for-no-elements", "A -1 in a dimension of 0 is refused.", "tensorflow/tensorflow#19360",
        stricter("check_remainder", lambda _, _total, size: size == 0), "interpretation"),
    Row("remainder/counted-as-length", "The -1 itself is added up with the others, so that it takes one too many.",
        _RESOLVED, {"remainder": lambda _, lengths, size: size - sum(lengths)}),
    Row("remainder/from-the-whole-tensor", "What is left is computed from the number of data's elements.", _RESOLVED,
        {"remainder": lambda call, lengths, _: prod(data(call).shape) - sum(fixed(lengths))}),
    Row("remainder/from-the-first-dimension", "What is left is computed from the first dimension.",
        "tinygrad/tinygrad#3490", {"remainder": lambda call, lengths, _: data(call).shape[0] - sum(fixed(lengths))}),
    Row("remainder/offsets-before", "The offsets are computed before -1 is replaced.",
        "openvinotoolkit/openvino_contrib#1093",
        {"offsets": lambda call, _: list(accumulate(call.do("lengths"), initial=0))[:-1]}, op="VariadicSplit-1"),
    Row("remainder/literal", "A -1 is taken for a length, which gives an output without elements.", _RESOLVED,
        {"resolved": lambda _, lengths, _size: [max(each, 0) for each in lengths]}),
    Row("remainder/unresolved-at-run-time", "A -1 that comes at run time is refused.", "google-ai-edge/LiteRT#7742",
        stricter("check_lengths", lambda call, lengths, _: call.is_parameter("split_lengths") and -1 in lengths)),
    Row("remainder/two-share", "Two -1 share what is left.", _CHECKS,
        {**unchecked("check_single"),
         "remainder": lambda _, lengths, size: (size - sum(fixed(lengths))) // lengths.count(REMAINDER)}),
    Row("remainder/two-next-to-each-other-accepted",
        "Two -1 are refused only where no other length stands between them.", _CHECKS,
        checked("check_single", lambda _, lengths: (REMAINDER, REMAINDER) in pairwise(lengths))),
    Row("remainder/others-unchecked", "With a -1 the other lengths may be more than the dimension.", _CHECKS,
        unchecked("check_remainder")),
    Row("remainder/one-over-accepted",
        "With a -1 the other lengths may be one more than the dimension, and -1 is then an output without elements.",
        FOUND, checked("check_remainder", lambda _, total, size: total > size + 1)),
    Row("remainder/each-other-checked", "With a -1 each other length is checked by itself, and not their sum.",
        "Tencent/ncnn#112", {"check_sum": _each_other_checked}),
    Row("remainder/in-the-type-of-the-lengths", "What is left is computed in the type of the lengths, and wraps.",
        "tensorflow/tensorflow#126126",
        {"remainder": _wrapped}),
    Row("remainder/placed-last", "What is left becomes the last output, wherever -1 stands.", "NVIDIA/TensorRT#3466",
        {"resolved": _placed_last}),
    Row("remainder/never-longest", "A -1 takes no more than the longest of the others.", "tensorflow/tensorflow#21113",
        {"remainder": _at_most_the_longest}),
    Row("remainder/exchanged-with-zero", "Beside a length of 0 what is left goes to the 0, and -1 gets nothing.",
        "tensorflow/tensorflow#19360", {"resolved": _exchanged_with_zero}),
)
# fmt: on
