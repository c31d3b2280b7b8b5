"""Mutants that read, check or use the axis wrongly."""

from opconform.tensors.tensor import Tensor
from tests.mutants.row import FOUND, Call, Row, checked, low_bits, skipped, stricter, unchecked
from tests.mutants.settings import misread
from tests.mutants.split.kernel import data

_NARROW = "openvinotoolkit/openvino_contrib#1093"
_RANGE = "tensorflow/tensorflow#56254"
_SHAPE = "openvinotoolkit/openvino#5613"


def _signed_as_unsigned(call: Call, tensor: Tensor) -> int:
    value: int = call.right("axis_value", tensor)
    return value % (1 << tensor.type.bits) if 0 < tensor.type.bits < 64 else value


def _unsigned_as_signed(call: Call, tensor: Tensor) -> int:
    value: int = call.right("axis_value", tensor)
    return low_bits(value, tensor.type.bits) if tensor.type.kind == "unsigned" else value


def _low_32_bits_at_run_time(call: Call, tensor: Tensor) -> int:
    value: int = call.right("axis_value", tensor)
    return low_bits(value, 32) if call.is_parameter("axis") else value


def _unless_whole(call: Call, tensor: Tensor) -> None:
    native = tensor.type.native
    if tensor.type.kind != "float" or native is None or tensor.array.reshape(-1).view(native)[0] % 1:
        call.right("check_axis_type", tensor)


def _accepted(name: str, what: str, kind: str) -> Row:
    """A mutant that accepts axes of a kind of element types that are not integers."""
    return Row(
        name, what, FOUND, checked("check_axis_type", lambda _, it: not it.type.is_integer and it.type.kind != kind)
    )


def _sign_lost_at_run_time(call: Call, tensor: Tensor) -> int:
    value, rank = call.right("axis_value", tensor), data(call).ndim
    return int(-value % rank if call.is_parameter("axis") and -rank <= value < 0 else value)


def _scalar_kept(call: Call) -> list[Tensor]:
    is_scalar = "data" in call.inputs and not data(call).shape
    outputs: list[Tensor] = [call.inputs["data"]] if is_scalar else call.right(call.op)
    return outputs


# fmt: off
ROWS = (
    Row("axis/sign-lost", "A negative axis is read without its sign.", "microsoft/onnxruntime#21771",
        {"from_front": lambda _, value, rank: abs(value) % rank}),
    Row("axis/negative-off-by-one", "A negative axis names the dimension before the one that it should.",
        "apache/tvm#1595", {"from_front": lambda _, value, rank: (value if value >= 0 else value - 1) % rank}),
    Row("axis/only-minus-one", "Of the negative axes only -1 is known.", "kendryte/nncase#491",
        checked("check_axis_range", lambda _, value, rank: not -1 <= value < rank)),
    Row("axis/negative-refused", "A negative axis is refused.", "OAID/Tengine#1345",
        checked("check_axis_range", lambda _, value, rank: not 0 <= value < rank)),
    Row("axis/negative-from-rank-four",
        "A negative axis is counted from the end of four dimensions, whatever the rank is.", "OAID/Tengine#1312",
        {"from_front": lambda _, value, rank: value if value >= 0 else min((value + 4) % 4, rank - 1)}),
    Row("axis/always-zero", "The axis is not passed on, so that the first dimension is split.",
        "tinygrad/tinygrad#3490", {"from_front": lambda _, _value, _rank: 0}),
    Row("axis/always-last", "The last dimension is split, whatever the axis is.", "apache/tvm#3520",
        {"from_front": lambda _, _value, rank: rank - 1}),
    Row("axis/zero-refused", "The first dimension is taken for a batch and not split.", "PaddlePaddle/Paddle#35127",
        stricter("check_axis_range", lambda _, value, rank: value in (0, -rank))),
    Row("axis/zero-taken-for-unset", "An axis of 0 is taken for one that was not given, and 1 is used.",
        "apache/tvm#2011", {"from_front": lambda _, value, rank: (value or min(1, rank - 1)) % rank}),
    Row("axis/wraps-around", "An axis out of range wraps around.", _RANGE, unchecked("check_axis_range")),
    Row("axis/clamped", "An axis over the range is the last dimension.", _RANGE,
        {**checked("check_axis_range", lambda _, value, rank: value < -rank),
         "from_front": lambda _, value, rank: min(value, rank - 1) % rank}),
    Row("axis/rank-allowed", "The range ends one too late, at the rank itself.", _RANGE,
        checked("check_axis_range", lambda _, value, rank: not -rank <= value <= rank)),
    Row("axis/below-minus-rank-allowed", "The range begins one too early, before minus the rank.", _RANGE,
        checked("check_axis_range", lambda _, value, rank: not -rank - 1 <= value < rank)),
    Row("axis/minus-rank-refused", "The range begins one too late, after minus the rank.", "apache/tvm#1595",
        checked("check_axis_range", lambda _, value, rank: not -rank < value < rank)),
    Row("axis/low-32-bits", "The axis is truncated to 32 bits.", _NARROW,
        {"axis_value": lambda call, tensor: low_bits(call.right("axis_value", tensor), 32)}),
    Row("axis/low-8-bits", "The axis is truncated to 8 bits.", _NARROW,
        {"axis_value": lambda call, tensor: low_bits(call.right("axis_value", tensor), 8)}),
    Row("axis/low-32-bits-at-run-time", "An axis that comes at run time is truncated to 32 bits.", FOUND,
        {"axis_value": _low_32_bits_at_run_time}),
    Row("axis/signed-read-as-unsigned", "An axis of a signed type narrower than 64 bits is read as unsigned.", _NARROW,
        {"axis_value": _signed_as_unsigned}),
    Row("axis/unsigned-read-as-signed",
        "An axis of an unsigned type is read as signed, so that its largest value is -1.", _NARROW,
        {"axis_value": _unsigned_as_signed}),
    Row("axis/unsigned-refused", "An axis of an unsigned type is refused.", "openvinotoolkit/openvino#9988",
        checked("check_axis_type", lambda _, tensor: tensor.type.kind != "signed")),
    Row("axis/only-two-types", "An axis of another type than i32 and i64 is refused.", "alibaba/TinyNeuralNetwork#346",
        checked("check_axis_type", lambda _, tensor: tensor.element_type not in ("i32", "i64"))),
    _accepted("axis/float-accepted", "An axis of a floating-point type is rounded towards zero.", "float"),
    Row("axis/whole-float-accepted", "An axis of a floating-point type is accepted if it is a whole number.", FOUND,
        {"check_axis_type": _unless_whole}),
    _accepted("axis/boolean-accepted", "A boolean axis is 0 or 1.", "boolean"),
    _accepted("axis/text-accepted", "An axis that is a string is read as the number in it.", "string"),
    Row("axis/one-element-refused", "An axis of shape [1] is refused, though VariadicSplit-1 allows it.", _SHAPE,
        checked("check_axis_shape", lambda _, tensor: tensor.shape), op="VariadicSplit-1"),
    Row("axis/one-element-accepted", "An axis of shape [1] is accepted, though Split-1 wants a scalar.",
        "alibaba/TinyNeuralNetwork#346", checked("check_axis_shape", lambda _, tensor: tensor.shape not in ((), (1,))),
        op="Split-1"),
    Row("axis/scalar-refused", "An axis must have the shape [1].", "alibaba/TinyNeuralNetwork#346",
        checked("check_axis_shape", lambda _, tensor: tensor.shape != (1,))),
    Row("axis/first-of-several", "Of an axis with several elements the first is used.", _SHAPE,
        checked("check_axis_shape", lambda _, tensor: len(tensor.shape) > 1 or not tensor.array.size)),
    Row("axis/any-shape-of-one-element",
        "Only the number of the axis's elements is checked, so that [1, 1] is accepted.", _SHAPE,
        checked("check_axis_shape", lambda _, tensor: tensor.array.size != 1)),
    Row("axis/empty-is-zero", "An axis without elements is 0.", _SHAPE,
        skipped("check_axis_shape", lambda _, tensor: tensor.shape == (0,))),
    Row("axis/missing-is-zero", "An axis that is left out is 0.", "apache/tvm#2011",
        {"axis": lambda call: call.right("axis") if "axis" in call.inputs else 0}),
    Row("axis/run-time-ignored", "An axis that comes at run time is not looked at, and 0 is used.", "apache/tvm#3520",
        {"axis_value": lambda call, tensor: 0 if call.is_parameter("axis") else call.right("axis_value", tensor)}),
    Row("axis/scalar-data-accepted", "Data of rank 0 is split along the axis 0 as if it had the shape [1].",
        "openvinotoolkit/openvino#29504", {"Split-1": _scalar_kept, "VariadicSplit-1": _scalar_kept}, "interpretation"),
    Row("axis/negative-inside-refused", "Of the negative axes only -1 and minus the rank are known.",
        "kendryte/nncase#491", stricter("check_axis_range", lambda _, value, rank: -rank < value < -1)),
    Row("axis/u16-and-u32-refused", "An axis of u16 or u32 is refused.", "openvinotoolkit/openvino#9988",
        stricter("check_axis_type", lambda _, tensor: tensor.element_type in ("u16", "u32"))),
    Row("axis/run-time-sign-lost", "A negative axis that comes at run time is read without its sign.",
        "microsoft/onnxruntime#21771", {"axis_value": _sign_lost_at_run_time}),
    *misread("axis/split-axis", "Split-1", "axis_value", lambda _, tensor: ("axis", tensor)),
    *misread("axis/variadic-axis", "VariadicSplit-1", "axis_value", lambda _, tensor: ("axis", tensor)),
)
# fmt: on
