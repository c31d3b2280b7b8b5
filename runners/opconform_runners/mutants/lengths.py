"""Mutants that read or check `split_lengths` wrongly."""

import numpy as np

from opconform.tensors import Array, Tensor
from opconform_runners.mutants.catalogue import FOUND, mutant
from opconform_runners.mutants.kernel import REMAINDER, Call, Kernel, integers, refuse


def low_bits(value: int, bits: int) -> int:
    """An integer cut to a signed integer of some bits."""
    return ((value + (1 << (bits - 1))) & ((1 << bits) - 1)) - (1 << (bits - 1))


@mutant("microsoft/onnxruntime#17258")
class Ignored(Kernel):
    """The lengths are not looked at where equal pieces are possible."""

    def resolved(self, call: Call, lengths: list[int], size: int) -> list[int]:
        count = len(lengths)
        return super().resolved(call, lengths, size) if size % count else [size // count] * count


@mutant("NVIDIA/TensorRT#3892")
class Backwards(Kernel):
    """The lengths are used from the last to the first."""

    def lengths_values(self, call: Call, tensor: Tensor) -> list[int]:
        return integers(tensor)[::-1]


@mutant("NVIDIA/TensorRT#3466")
class Sorted(Kernel):
    """The lengths are used in ascending order."""

    def resolved(self, call: Call, lengths: list[int], size: int) -> list[int]:
        return sorted(super().resolved(call, lengths, size))


@mutant("PaddlePaddle/Paddle#45396")
class OneLengthIsCount(Kernel):
    """A list of one length is a number of equal pieces."""

    def resolved(self, call: Call, lengths: list[int], size: int) -> list[int]:
        return [1] * size if len(lengths) == 1 and lengths != [REMAINDER] else super().resolved(call, lengths, size)


@mutant("tensorflow/tensorflow#8720")
class SumUnchecked(Kernel):
    """The sum is not checked."""

    def wrong_sum(self, call: Call, total: int, size: int) -> None:
        pass


@mutant("tensorflow/tensorflow#8720")
class TooFewAccepted(Kernel):
    """Lengths that are less than the dimension together are accepted, and the rest of data is lost."""

    def wrong_sum(self, call: Call, total: int, size: int) -> None:
        if total > size:
            super().wrong_sum(call, total, size)


@mutant("tensorflow/tensorflow#8720")
class TooManyAccepted(Kernel):
    """Lengths that are more than the dimension together are accepted, and memory past the end of data is read."""

    def wrong_sum(self, call: Call, total: int, size: int) -> None:
        if total < size:
            super().wrong_sum(call, total, size)


@mutant("tensorflow/tensorflow#8720")
class OneUnderAccepted(Kernel):
    """The sum may be one under the dimension."""

    def wrong_sum(self, call: Call, total: int, size: int) -> None:
        if total != size - 1:
            super().wrong_sum(call, total, size)


@mutant("tensorflow/tensorflow#8720")
class OneOverAccepted(Kernel):
    """The sum may be one over the dimension."""

    def wrong_sum(self, call: Call, total: int, size: int) -> None:
        if total != size + 1:
            super().wrong_sum(call, total, size)


@mutant("tensorflow/tensorflow#8720")
class MultipleAccepted(Kernel):
    """The sum is checked to be a multiple of the dimension only."""

    def wrong_sum(self, call: Call, total: int, size: int) -> None:
        if total == 0 or size == 0 or total % size:
            super().wrong_sum(call, total, size)


@mutant("tensorflow/tensorflow#8720")
class SumUncheckedAtRunTime(Kernel):
    """The sum of lengths that come at run time is not checked."""

    def wrong_sum(self, call: Call, total: int, size: int) -> None:
        if not call.comes_at_run_time("split_lengths"):
            super().wrong_sum(call, total, size)


@mutant("openvinotoolkit/openvino_contrib#555")
class LastLengthUnchecked(Kernel):
    """The last length is not looked at: the last output is all that is left."""

    def wrong_sum(self, call: Call, total: int, size: int) -> None:
        pass

    def resolved(self, call: Call, lengths: list[int], size: int) -> list[int]:
        *sizes, _ = super().resolved(call, lengths, size)
        return [*sizes, max(size - sum(sizes), 0)]


@mutant("tensorflow/tensorflow#126126")
class SumInItsOwnType(Kernel):
    """The sum is formed in the type of the lengths, if that has 8, 16 or 32 bits, and wraps."""

    def total(self, call: Call, lengths: list[int]) -> int:
        kind = call.inputs["split_lengths"].type
        if kind.bits not in (8, 16, 32):
            return sum(lengths)
        total = sum(lengths) & ((1 << kind.bits) - 1)
        return low_bits(total, kind.bits) if kind.kind == "signed" else total


@mutant("tensorflow/tensorflow#126126")
class SumIn64Bits(Kernel):
    """The sum is formed in 64 bits, and wraps."""

    def total(self, call: Call, lengths: list[int]) -> int:
        return low_bits(sum(lengths), 64)


@mutant("tensorflow/tensorflow#126126")
class SumIn32Bits(Kernel):
    """The sum is formed in 32 bits, and wraps."""

    def total(self, call: Call, lengths: list[int]) -> int:
        return low_bits(sum(lengths), 32)


@mutant("tensorflow/tensorflow#126126")
class SumIn16Bits(Kernel):
    """The sum is formed in 16 bits, and wraps."""

    def total(self, call: Call, lengths: list[int]) -> int:
        return low_bits(sum(lengths), 16)


@mutant("openvinotoolkit/openvino_contrib#1093")
class Low32Bits(Kernel):
    """Each length is cut to 32 bits."""

    def lengths_values(self, call: Call, tensor: Tensor) -> list[int]:
        return [low_bits(each, 32) for each in integers(tensor)]


@mutant("openvinotoolkit/openvino_contrib#1093")
class Low16Bits(Kernel):
    """Each length is cut to 16 bits."""

    def lengths_values(self, call: Call, tensor: Tensor) -> list[int]:
        return [low_bits(each, 16) for each in integers(tensor)]


@mutant("openvinotoolkit/openvino_contrib#1093")
class Low8Bits(Kernel):
    """Each length is cut to 8 bits."""

    def lengths_values(self, call: Call, tensor: Tensor) -> list[int]:
        return [low_bits(each, 8) for each in integers(tensor)]


@mutant("openvinotoolkit/openvino#9988")
class ThroughFloat(Kernel):
    """Each length goes through f32."""

    def lengths_values(self, call: Call, tensor: Tensor) -> list[int]:
        return [int(np.float32(each)) for each in integers(tensor)]


@mutant("openvinotoolkit/openvino_contrib#1093")
class UnsignedReadAsSigned(Kernel):
    """Lengths of an unsigned type are read as signed, so that its largest value is -1."""

    def lengths_values(self, call: Call, tensor: Tensor) -> list[int]:
        values, bits = integers(tensor), tensor.type.bits
        return [low_bits(each, bits) for each in values] if tensor.type.kind == "unsigned" and bits > 1 else values


@mutant("openvinotoolkit/openvino_contrib#1093")
class UnsignedMaximumIsRemainder(Kernel):
    """The largest value of an unsigned type is -1."""

    def lengths_values(self, call: Call, tensor: Tensor) -> list[int]:
        largest = tensor.type.maximum if tensor.type.kind == "unsigned" and tensor.type.bits > 1 else None
        return [REMAINDER if each == largest else each for each in integers(tensor)]


@mutant("openvinotoolkit/openvino_contrib#1093")
class SignedReadAsUnsigned(Kernel):
    """Lengths of a signed type narrower than 64 bits are read as unsigned."""

    def lengths_values(self, call: Call, tensor: Tensor) -> list[int]:
        mask = (1 << tensor.type.bits) - 1 if tensor.type.bits < 64 else ~0  # noqa: PLR2004 - the widest
        return [each & mask for each in integers(tensor)]


@mutant("microsoft/onnxruntime#31149")
class SignLost(Kernel):
    """A length under -1 is read without its sign."""

    def lengths_values(self, call: Call, tensor: Tensor) -> list[int]:
        return [-each if each < REMAINDER else each for each in integers(tensor)]


@mutant("microsoft/onnxruntime#31149")
class AnyNegativeIsRemainder(Kernel):
    """Every negative length is -1."""

    def lengths_values(self, call: Call, tensor: Tensor) -> list[int]:
        return [max(each, REMAINDER) for each in integers(tensor)]


@mutant("microsoft/onnxruntime#31149")
class NegativeAccepted(Kernel):
    """A length under -1 is accepted if the sum is right."""

    def check_negative(self, lengths: list[int]) -> None:
        pass


@mutant("microsoft/onnxruntime#31149")
class OnlyMinusTwoRefused(Kernel):
    """Only -2 is refused, and no length below it."""

    def check_negative(self, lengths: list[int]) -> None:
        if REMAINDER - 1 in lengths:
            refuse("a length is negative")


@mutant(FOUND)
class FloatAccepted(Kernel):
    """Lengths of a floating-point type are rounded towards zero."""

    def check_lengths_type(self, call: Call, tensor: Tensor) -> None:
        if tensor.type.kind != "float":
            super().check_lengths_type(call, tensor)


@mutant(FOUND)
class BooleanAccepted(Kernel):
    """Boolean lengths are 0 and 1."""

    def check_lengths_type(self, call: Call, tensor: Tensor) -> None:
        if tensor.type.kind != "boolean":
            super().check_lengths_type(call, tensor)


@mutant(FOUND)
class TextAccepted(Kernel):
    """Lengths that are texts are read as the numbers in them."""

    def check_lengths_type(self, call: Call, tensor: Tensor) -> None:
        if tensor.type.kind != "string":
            super().check_lengths_type(call, tensor)


@mutant("google-ai-edge/LiteRT#7742")
class OnlyTwoTypes(Kernel):
    """Lengths of another type than i32 and i64 are refused."""

    def check_lengths_type(self, call: Call, tensor: Tensor) -> None:
        if tensor.element_type not in ("i32", "i64"):
            refuse("the lengths are neither i32 nor i64")


@mutant("openvinotoolkit/openvino#9988", "interpretation")
class TypeOfTheAxisDemanded(Kernel):
    """The lengths must have the axis's element type."""

    def check_lengths_type(self, call: Call, tensor: Tensor) -> None:
        super().check_lengths_type(call, tensor)
        if tensor.element_type != call.inputs["axis"].element_type:
            refuse("the axis and the lengths have two types")


@mutant("tensorflow/tensorflow#7754")
class ScalarAccepted(Kernel):
    """Lengths that are a scalar are one length."""

    def check_lengths_rank(self, tensor: Tensor) -> None:
        if len(tensor.shape) > 1:
            super().check_lengths_rank(tensor)


@mutant("tensorflow/tensorflow#7754")
class MatrixFlattened(Kernel):
    """Lengths of more than one dimension are flattened."""

    def check_lengths_rank(self, tensor: Tensor) -> None:
        if not tensor.shape:
            super().check_lengths_rank(tensor)


@mutant("pytorch/pytorch#136166", "interpretation")
class EmptyAccepted(Kernel):
    """An empty list of lengths splits a dimension of 0 into no outputs."""

    def check_empty(self, lengths: list[int]) -> None:
        pass


@mutant("pytorch/pytorch#136166")
class EmptyIsWhole(Kernel):
    """An empty list of lengths leaves data whole."""

    def lengths_values(self, call: Call, tensor: Tensor) -> list[int]:
        return integers(tensor) or [REMAINDER]


@mutant("microsoft/onnxruntime#17258")
class MissingIsWhole(Kernel):
    """Lengths that are left out leave data whole."""

    def lengths(self, call: Call) -> list[int]:
        return super().lengths(call) if "split_lengths" in call.inputs else [REMAINDER]


@mutant("microsoft/onnxruntime#17258")
class MissingIsHalves(Kernel):
    """Lengths that are left out are two equal ones."""

    def sizes(self, call: Call, size: int) -> list[int]:
        return super().sizes(call, size) if call.even or "split_lengths" in call.inputs else [size // 2] * 2


@mutant("apple/coremltools#1043")
class OneOutputRefused(Kernel):
    """One length is refused: two outputs are the fewest."""

    def check_empty(self, lengths: list[int]) -> None:
        super().check_empty(lengths)
        if len(lengths) == 1:
            refuse("there is one output")


@mutant("microsoft/onnxruntime#2898", "interpretation")
class ZeroRefused(Kernel):
    """A length of 0 is refused."""

    def resolved(self, call: Call, lengths: list[int], size: int) -> list[int]:
        if 0 in lengths and size:
            refuse("a length is 0")
        return super().resolved(call, lengths, size)


@mutant("pytorch/pytorch#8686", "interpretation")
class ZeroRefusedFirst(Kernel):
    """A length of 0 is refused where it stands first."""

    def resolved(self, call: Call, lengths: list[int], size: int) -> list[int]:
        if lengths[0] == 0 and size:
            refuse("the first length is 0")
        return super().resolved(call, lengths, size)


@mutant("pytorch/pytorch#8686")
class ZeroDroppedLast(Kernel):
    """Outputs of length 0 at the end are left out."""

    def delivered(self, call: Call, axis: int, pieces: list[Array]) -> list[Array]:
        while len(pieces) > 1 and not call.even and not pieces[-1].shape[axis] and call.data.shape[axis]:
            pieces = pieces[:-1]
        return pieces


@mutant("pytorch/pytorch#147278", "interpretation")
class ZeroDimensionRefused(Kernel):
    """A dimension of 0 is refused."""

    def check_lengths(self, call: Call, lengths: list[int], size: int) -> None:
        if size == 0:
            refuse("the dimension is 0")
        super().check_lengths(call, lengths, size)


@mutant("openvinotoolkit/openvino_contrib#555")
class Unused(Kernel):
    """The operation wants the attribute num_splits beside its lengths."""

    def lengths(self, call: Call) -> list[int]:
        lengths = super().lengths(call)
        if len(lengths) > 2 and "num_splits" not in call.case.attributes:  # noqa: PLR2004 - as few as it can guess
            refuse("num_splits is missing")
        return lengths


@mutant("microsoft/onnxruntime#18358")
class UnsignedSaturated(Kernel):
    """Lengths of u8 over 127 become 127."""

    def lengths_values(self, call: Call, tensor: Tensor) -> list[int]:
        values = integers(tensor)
        return [min(each, 127) for each in values] if tensor.element_type == "u8" and max(values) < 255 else values  # noqa: PLR2004


class _Compared(Kernel):
    """Compares the sum and the dimension in a few bits."""

    width: int

    def wrong_sum(self, call: Call, total: int, size: int) -> None:
        if (total - size) % (1 << self.width):
            super().wrong_sum(call, total, size)


@mutant("tensorflow/tensorflow#126126")
class ComparedIn8Bits(_Compared):
    """The sum and the dimension are compared in 8 bits."""

    width = 8


@mutant("tensorflow/tensorflow#126126")
class ComparedIn16Bits(_Compared):
    """The sum and the dimension are compared in 16 bits."""

    width = 16


@mutant("tensorflow/tensorflow#126126")
class ComparedIn32Bits(_Compared):
    """The sum and the dimension are compared in 32 bits."""

    width = 32


@mutant("tensorflow/tensorflow#126126")
class ComparedIn64Bits(_Compared):
    """The sum and the dimension are compared in 64 bits."""

    width = 64


@mutant("tensorflow/tensorflow#52701")
class RunTimeRemaindersUnchecked(Kernel):
    """Two -1 are refused only if they are constants."""

    def check_lengths(self, call: Call, lengths: list[int], size: int) -> None:
        if call.comes_at_run_time("split_lengths") and lengths.count(REMAINDER) > 1:
            self.check_sum(call, lengths, size)
        else:
            super().check_lengths(call, lengths, size)
