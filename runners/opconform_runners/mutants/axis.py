"""Mutants that read, check or use the axis wrongly."""

from opconform.tensors import Array, Tensor
from opconform_runners.mutants.catalogue import FOUND, mutant
from opconform_runners.mutants.kernel import Call, Kernel, integers, refuse


@mutant("microsoft/onnxruntime#21771")
class SignLost(Kernel):
    """A negative axis is read without its sign."""

    def from_front(self, value: int, rank: int) -> int:
        return abs(value) % rank


@mutant("apache/tvm#1595")
class NegativeOffByOne(Kernel):
    """A negative axis names the dimension before the one that it should."""

    def from_front(self, value: int, rank: int) -> int:
        return value % rank if value >= 0 else (value - 1) % rank


@mutant("kendryte/nncase#491")
class OnlyMinusOne(Kernel):
    """Of the negative axes only -1 is known."""

    def check_axis_range(self, call: Call, value: int, rank: int) -> None:
        if value < -1 or value >= rank:
            refuse("the axis is out of range")


@mutant("OAID/Tengine#1345")
class NegativeRefused(Kernel):
    """A negative axis is refused."""

    def check_axis_range(self, call: Call, value: int, rank: int) -> None:
        if not 0 <= value < rank:
            refuse("the axis is out of range")


@mutant("OAID/Tengine#1312")
class NegativeFromRankFour(Kernel):
    """A negative axis is counted from the end of four dimensions, whatever the rank is."""

    def from_front(self, value: int, rank: int) -> int:
        return value if value >= 0 else min((value + 4) % 4, rank - 1)


@mutant("tinygrad/tinygrad#3490")
class AlwaysZero(Kernel):
    """The axis is not passed on, so that the first dimension is split."""

    def from_front(self, value: int, rank: int) -> int:
        return 0


@mutant("apache/tvm#3520")
class AlwaysLast(Kernel):
    """The last dimension is split, whatever the axis is."""

    def from_front(self, value: int, rank: int) -> int:
        return rank - 1


@mutant("PaddlePaddle/Paddle#35127")
class ZeroRefused(Kernel):
    """The first dimension is taken for a batch and not split."""

    def check_axis_range(self, call: Call, value: int, rank: int) -> None:
        super().check_axis_range(call, value, rank)
        if value in (0, -rank):
            refuse("the batch cannot be split")


@mutant("apache/tvm#2011")
class ZeroTakenForUnset(Kernel):
    """An axis of 0 is taken for one that was not given, and 1 is used."""

    def from_front(self, value: int, rank: int) -> int:
        return (value or min(1, rank - 1)) % rank


@mutant("tensorflow/tensorflow#56254")
class WrapsAround(Kernel):
    """An axis out of range wraps around."""

    def check_axis_range(self, call: Call, value: int, rank: int) -> None:
        pass


@mutant("tensorflow/tensorflow#56254")
class Clamped(Kernel):
    """An axis over the range is the last dimension."""

    def check_axis_range(self, call: Call, value: int, rank: int) -> None:
        if value < -rank:
            refuse("the axis is out of range")

    def from_front(self, value: int, rank: int) -> int:
        return min(value, rank - 1) % rank


@mutant("tensorflow/tensorflow#56254")
class RankAllowed(Kernel):
    """The range ends one too late, at the rank itself."""

    def check_axis_range(self, call: Call, value: int, rank: int) -> None:
        if not -rank <= value <= rank:
            refuse("the axis is out of range")


@mutant("tensorflow/tensorflow#56254")
class BelowMinusRankAllowed(Kernel):
    """The range begins one too early, before minus the rank."""

    def check_axis_range(self, call: Call, value: int, rank: int) -> None:
        if not -rank - 1 <= value < rank:
            refuse("the axis is out of range")


@mutant("apache/tvm#1595")
class MinusRankRefused(Kernel):
    """The range begins one too late, after minus the rank."""

    def check_axis_range(self, call: Call, value: int, rank: int) -> None:
        if not -rank < value < rank:
            refuse("the axis is out of range")


@mutant("openvinotoolkit/openvino_contrib#1093")
class Low32Bits(Kernel):
    """The axis is cut to 32 bits."""

    def axis_value(self, call: Call, tensor: Tensor) -> int:
        return ((super().axis_value(call, tensor) + 2**31) & (2**32 - 1)) - 2**31


@mutant("openvinotoolkit/openvino_contrib#1093")
class Low8Bits(Kernel):
    """The axis is cut to 8 bits."""

    def axis_value(self, call: Call, tensor: Tensor) -> int:
        return ((super().axis_value(call, tensor) + 2**7) & (2**8 - 1)) - 2**7


@mutant(FOUND)
class Low32BitsAtRunTime(Kernel):
    """An axis that comes at run time is cut to 32 bits."""

    def axis_value(self, call: Call, tensor: Tensor) -> int:
        value = super().axis_value(call, tensor)
        return ((value + 2**31) & (2**32 - 1)) - 2**31 if call.comes_at_run_time("axis") else value


@mutant("openvinotoolkit/openvino_contrib#1093")
class SignedReadAsUnsigned(Kernel):
    """An axis of a signed type narrower than 64 bits is read as unsigned."""

    def axis_value(self, call: Call, tensor: Tensor) -> int:
        value = super().axis_value(call, tensor)
        return value % (1 << tensor.type.bits) if 0 < tensor.type.bits < 64 else value  # noqa: PLR2004 - the widest


@mutant("openvinotoolkit/openvino_contrib#1093")
class UnsignedReadAsSigned(Kernel):
    """An axis of an unsigned type is read as signed, so that its largest value is -1."""

    def axis_value(self, call: Call, tensor: Tensor) -> int:
        value, bits = super().axis_value(call, tensor), tensor.type.bits
        return value - (1 << bits) if tensor.type.kind == "unsigned" and value >> (bits - 1) else value


@mutant("openvinotoolkit/openvino#9988")
class UnsignedRefused(Kernel):
    """An axis of an unsigned type is refused."""

    def check_axis_type(self, call: Call, tensor: Tensor) -> None:
        if tensor.type.kind != "signed":
            refuse("the axis is no signed integer")


@mutant("alibaba/TinyNeuralNetwork#346")
class OnlyTwoTypes(Kernel):
    """An axis of another type than i32 and i64 is refused."""

    def check_axis_type(self, call: Call, tensor: Tensor) -> None:
        if tensor.element_type not in ("i32", "i64"):
            refuse("the axis is neither i32 nor i64")


@mutant(FOUND)
class FloatAccepted(Kernel):
    """An axis of a floating-point type is rounded towards zero."""

    def check_axis_type(self, call: Call, tensor: Tensor) -> None:
        if tensor.type.kind != "float":
            super().check_axis_type(call, tensor)


@mutant(FOUND)
class WholeFloatAccepted(Kernel):
    """An axis of a floating-point type is accepted if it is a whole number."""

    def check_axis_type(self, call: Call, tensor: Tensor) -> None:
        native = tensor.type.native
        if tensor.type.kind != "float" or native is None or tensor.array.reshape(-1).view(native)[0] % 1:
            super().check_axis_type(call, tensor)


@mutant(FOUND)
class BooleanAccepted(Kernel):
    """A boolean axis is 0 or 1."""

    def check_axis_type(self, call: Call, tensor: Tensor) -> None:
        if tensor.type.kind != "boolean":
            super().check_axis_type(call, tensor)


@mutant(FOUND)
class TextAccepted(Kernel):
    """An axis that is a text is read as the number in it."""

    def check_axis_type(self, call: Call, tensor: Tensor) -> None:
        if tensor.type.kind != "string":
            super().check_axis_type(call, tensor)


@mutant("openvinotoolkit/openvino#5613")
class OneElementRefused(Kernel):
    """An axis of shape [1] is refused, though VariadicSplit-1 allows it."""

    def check_axis_shape(self, call: Call, tensor: Tensor) -> None:
        if tensor.shape:
            refuse("the axis is no scalar")


@mutant("alibaba/TinyNeuralNetwork#346")
class OneElementAccepted(Kernel):
    """An axis of shape [1] is accepted, though Split-1 wants a scalar."""

    def check_axis_shape(self, call: Call, tensor: Tensor) -> None:
        if tensor.shape not in ((), (1,)):
            refuse("the axis is no scalar")


@mutant("alibaba/TinyNeuralNetwork#346")
class ScalarRefused(Kernel):
    """An axis must have the shape [1]."""

    def check_axis_shape(self, call: Call, tensor: Tensor) -> None:
        if tensor.shape != (1,):
            refuse("the axis is a scalar")


@mutant("openvinotoolkit/openvino#5613")
class FirstOfSeveral(Kernel):
    """Of an axis with several elements the first is used."""

    def check_axis_shape(self, call: Call, tensor: Tensor) -> None:
        if len(tensor.shape) > 1 or not tensor.array.size:
            refuse("the axis is no scalar")


@mutant("openvinotoolkit/openvino#5613")
class AnyShapeOfOneElement(Kernel):
    """Only the number of the axis's elements is checked, so that [1, 1] is accepted."""

    def check_axis_shape(self, call: Call, tensor: Tensor) -> None:
        if tensor.array.size != 1:
            refuse("the axis is no scalar")


@mutant("openvinotoolkit/openvino#5613")
class EmptyIsZero(Kernel):
    """An axis without elements is 0."""

    def check_axis_shape(self, call: Call, tensor: Tensor) -> None:
        if tensor.shape != (0,):
            super().check_axis_shape(call, tensor)


@mutant("apache/tvm#2011")
class MissingIsZero(Kernel):
    """An axis that is left out is 0."""

    def axis(self, call: Call) -> int:
        return super().axis(call) if "axis" in call.inputs else 0


@mutant("apache/tvm#3520")
class RunTimeIgnored(Kernel):
    """An axis that comes at run time is not looked at, and 0 is used."""

    def axis_value(self, call: Call, tensor: Tensor) -> int:
        return 0 if call.comes_at_run_time("axis") else integers(tensor)[0]


@mutant("openvinotoolkit/openvino#29504", "interpretation")
class ScalarDataAccepted(Kernel):
    """Data of rank 0 is split along the axis 0 as if it had the shape [1]."""

    def split(self, call: Call) -> list[Array]:
        return [call.data] if "data" in call.inputs and not call.data.shape else super().split(call)


@mutant("kendryte/nncase#491")
class NegativeInsideRefused(Kernel):
    """Of the negative axes only -1 and minus the rank are known."""

    def check_axis_range(self, call: Call, value: int, rank: int) -> None:
        super().check_axis_range(call, value, rank)
        if -rank < value < -1:
            refuse("the axis is out of range")


@mutant("openvinotoolkit/openvino#9988")
class U16AndU32Refused(Kernel):
    """An axis of u16 or u32 is refused."""

    def check_axis_type(self, call: Call, tensor: Tensor) -> None:
        super().check_axis_type(call, tensor)
        if tensor.element_type in ("u16", "u32"):
            refuse("the axis is u16 or u32")


@mutant("microsoft/onnxruntime#21771")
class RunTimeSignLost(Kernel):
    """A negative axis that comes at run time is read without its sign."""

    def axis_value(self, call: Call, tensor: Tensor) -> int:
        value = super().axis_value(call, tensor)
        lost = call.comes_at_run_time("axis") and -call.data.ndim <= value < 0
        return -value % call.data.ndim if lost else value
