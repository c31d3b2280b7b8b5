"""Nodes of ONNX that quantize, and products of quantized tensors, as graphs.

Scales are powers of two in place of the model's own, so that every right order of the operations has the same results.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_runners.tools.from_model.models.composition import Composition, number, rank_of
from opconform_runners.tools.from_model.models.node import Call, Known, NoCounterpart, integers
from opconform_runners.tools.from_model.models.onnx_call import OnnxCall
from opconform_runners.tools.from_model.models.onnx_operations import OF_ONNX
from opconform_runners.tools.from_model.models.onnx_windows import windows_of

#: Numbers that are rounded up, down and to the even one of two neighbours, and that are outside of every range.
_ROUNDED = (1.25, -1.25, 0.75, 20.0, -0.5, 0.25, 40_000.0, 2.5, -20.0, -40_000.0, 0.125, 60.5)
#: The largest of these of the types of 16 bits.
_LARGEST = 1_024.0
#: Numbers whose range is 255 steps of a quarter, so that the scale of their quantization is a power of two.
_RANGE = (-4.0, 59.75, 0.75, 0.125, -2.5, 0.375, 25.25, 31.0)
#: The scales of what is quantized, of one channel after the other, and of products, which are much larger.
_SCALES, _OF_DATA, _OF_WEIGHTS, _OF_PRODUCTS = (0.5, 2.0, 0.25), (0.5, 0.25), (0.125, 0.0625, 0.25), (8.0, 16.0)


def _integer_type(known: Known | None) -> str:
    """The element type of quantized data."""
    if known is None or not ELEMENT_TYPES[known.element_type].is_integer:
        raise NoCounterpart("of quantized floating-point numbers")
    return known.element_type


def _along(graph: Composition, name: str, known: Known, behind: int) -> str:
    """A scale or zero point of each element of a dimension that has some dimensions behind it, or of all data."""
    if known.dimensions is None or len(known.dimensions) > 1:
        raise NoCounterpart("with blocks, or scales of unknown rank")
    if not known.dimensions or not behind:
        return name
    return graph.add("Unsqueeze-1", name, integers([*range(1, behind + 1)]))


def _behind(node: OnnxCall) -> int:
    """The number of dimensions behind the quantized one."""
    scale = node.input(1)
    if scale is None or scale.dimensions in (None, ()):
        return 0
    rank, axis = rank_of(node.input(0)), int(node.attributes.get("axis", 1))
    return rank - 1 - axis % rank


def _scale_type(known: Known | None) -> str:
    if known is None or known.element_type not in ("bf16", "f16", "f32"):
        raise NoCounterpart("with a scale that is no floating-point number")
    return known.element_type


def _without_zero(graph: Composition, name: str, zero: tuple[str, Known | None], behind: int) -> str:
    """Quantized data as i32 less its zero point."""
    data, (zero_name, known) = graph.converted(name, "i32"), zero
    if known is None:
        return data
    point = _along(graph, graph.input(zero_name, known, is_kept=True), known, behind)
    return graph.add("Subtract-1", data, graph.converted(point, "i32"))


def _quantized(graph: Composition, quotient: str, scale_type: str, kind: str, zero: str | None) -> str:
    """A quotient rounded to the nearest even integer, plus the zero point, within the range of a type."""
    if ELEMENT_TYPES[kind].bits > 8 and scale_type != "f32":  # noqa: PLR2004 - which other types do not have
        raise NoCounterpart(f"to {kind} in {scale_type}")
    low, high = (float(x) for x in (ELEMENT_TYPES[kind].minimum, ELEMENT_TYPES[kind].maximum))
    rounded = graph.add("Round-5", quotient, mode="half_to_even")
    if zero is not None:
        rounded = graph.add("Add-1", rounded, graph.converted(zero, scale_type))
    return graph.converted(graph.add("Clamp-1", rounded, min=low, max=high), kind)


def _quantize(node: OnnxCall) -> Call:
    """Data divided by its scale, and rounded."""
    graph, data, scale, zero = Composition(), node.input(0), node.input(1), node.input(2)
    scale_type, kind = _scale_type(scale), _target(node, zero)
    if data is None or scale is None or node.attributes.get("precision", 0):
        raise NoCounterpart("divided in another type")
    x, behind = graph.input("x", data, *_elements_of(data.element_type)), _behind(node)
    if data.element_type != scale_type:
        x = graph.converted(x, scale_type)
    divisor = _along(graph, graph.input("y_scale", scale, *_SCALES), scale, behind)
    point = None
    if zero is not None:
        point = _along(graph, graph.input("y_zero_point", zero, is_kept=True), zero, behind)
    quotient = graph.add("Divide-1", x, divisor, m_pythondiv=False)
    return graph.call(_quantized(graph, quotient, scale_type, kind, point))


def _elements_of(kind: str) -> list[float]:
    """Elements to quantize, whose quotients are finite."""
    if ELEMENT_TYPES[kind].kind != "float":
        return [int(4 * x) for x in _ROUNDED]
    return [x if kind == "f32" else max(min(x, _LARGEST), -_LARGEST) for x in _ROUNDED]


def _target(node: OnnxCall, zero: Known | None) -> str:
    """The type to which data is quantized."""
    from onnx import TensorProto

    if zero is None and (number_of_type := node.attributes.get("output_dtype", 0)):
        kind = OF_ONNX.get(TensorProto.DataType.Name(number_of_type), "string")
        return _integer_type(Known(element_type=kind, dimensions=()))
    return "u8" if zero is None else _integer_type(zero)


def _dequantize(node: OnnxCall) -> Call:
    """Data less its zero point, times its scale."""
    graph, data, scale = Composition(), node.input(0), node.input(1)
    scale_type, kind, behind = _scale_type(scale), _integer_type(data), _behind(node)
    if scale is None or node.attributes.get("output_dtype", 0):
        raise NoCounterpart("to another type than that of the scale")
    if kind == "i32":  # its zero point is 0
        numbers = graph.input("x", data)
    else:
        numbers = _without_zero(graph, graph.input("x", data), ("x_zero_point", node.input(2)), behind)
    factor = _along(graph, graph.input("x_scale", scale, *_SCALES), scale, behind)
    return graph.call(graph.add("Multiply-1", graph.converted(numbers, scale_type), factor))


def _dynamic_quantize(node: OnnxCall) -> Call:
    """Data of which the range, together with 0, becomes that of u8."""
    graph, axes, data = Composition(), integers([*range(rank_of(node.input(0)))]), node.input(0)
    x, zero = graph.input("x", data, *_RANGE), number("f32", 0)
    high = graph.add("Maximum-1", graph.add("ReduceMax-1", x, axes, keep_dims=False), zero)
    low = graph.add("Minimum-1", graph.add("ReduceMin-1", x, axes, keep_dims=False), zero)
    width = graph.add("Subtract-1", high, low)
    scale = graph.add("Divide-1", width, number("f32", 255), m_pythondiv=False)
    place = graph.add("Divide-1", graph.add("Subtract-1", zero, low), scale, m_pythondiv=False)
    point = _quantized(graph, place, "f32", "u8", None)
    quotient = graph.add("Divide-1", x, scale, m_pythondiv=False)
    return graph.call(_quantized(graph, quotient, "f32", "u8", point), scale, point)


def _product(graph: Composition, node: OnnxCall, *places: int, names: tuple[str, ...]) -> str:
    """The product of two matrices of integers less their zero points: of each row of the first, and each column."""
    a, b, a_zero, b_zero = (node.input(place) for place in places)
    _integer_type(a), _integer_type(b)
    first = _without_zero(graph, graph.input(names[0], a), (names[2], a_zero), 1)
    second = _without_zero(graph, graph.input(names[1], b), (names[3], b_zero), 0)
    return graph.add("MatMul-1", first, second)


def _matmul_integer(node: OnnxCall) -> Call:
    graph = Composition()
    return graph.call(_product(graph, node, 0, 1, 2, 3, names=("a", "b", "a_zero_point", "b_zero_point")))


def _requantized(graph: Composition, node: OnnxCall, total: str, *, is_of_rows: bool, behind: int) -> str:
    """A sum of products as quantized data: times the scales of both factors, divided by the scale of the result."""
    names = ("a", "b") if is_of_rows else ("x", "w")
    scale_type = _scale_type(node.input(1))
    for name, place, elements in ((names[0], 1, _OF_DATA), (names[1], 4, _OF_WEIGHTS)):
        scale = node.input(place)
        if _scale_type(scale) != scale_type or scale is None:
            raise NoCounterpart("with scales of several types")
        factor = graph.input(f"{name}_scale", scale, *elements)
        places = int(is_of_rows) if place == 1 else behind
        total = graph.converted(total, scale_type) if place == 1 else total
        total = graph.add("Multiply-1", total, _along(graph, factor, scale, places))
    scale, zero = node.input(6), node.input(7)
    if scale is None or zero is None or scale.dimensions not in ((), (1,)):
        raise NoCounterpart("with several scales of the result")
    quotient = graph.add("Divide-1", total, graph.input("y_scale", scale, *_OF_PRODUCTS), m_pythondiv=False)
    point = graph.input("y_zero_point", zero, is_kept=True)
    return _quantized(graph, quotient, scale_type, _integer_type(zero), point)


def _qlinear_matmul(node: OnnxCall) -> Call:
    graph = Composition()
    total = _product(graph, node, 0, 3, 2, 5, names=("a", "b", "a_zero_point", "b_zero_point"))
    return graph.call(_requantized(graph, node, total, is_of_rows=True, behind=0))


def _convolved(graph: Composition, node: OnnxCall, *places: int) -> tuple[str, int]:
    """The convolution of integers less their zero points, and its number of spatial dimensions."""
    x, w, x_zero, w_zero = (node.input(place) for place in places)
    _integer_type(x), _integer_type(w)
    spatial, groups = rank_of(w) - 2, node.attributes.get("group", 1)
    if w is not None and groups != 1 and w.dimensions is not None:
        if w_zero is not None and w_zero.dimensions != ():
            raise NoCounterpart("in groups, with zero points of each filter")
        outputs = w.dimensions[0] // groups if isinstance(w.dimensions[0], int) else "outputs"
        w = replace(w, dimensions=(groups, outputs, *w.dimensions[1:]))
    data = _without_zero(graph, graph.input("x", x), ("x_zero_point", x_zero), 0)
    filters = _without_zero(graph, graph.input("w", w), ("w_zero_point", w_zero), spatial + 1)
    op = "Convolution-1" if groups == 1 else "GroupConvolution-1"
    return graph.add(op, data, filters, **windows_of(node, spatial)), spatial


def _conv_integer(node: OnnxCall) -> Call:
    graph = Composition()
    return graph.call(_convolved(graph, node, 0, 1, 2, 3)[0])


def _qlinear_conv(node: OnnxCall) -> Call:
    graph = Composition()
    total, spatial = _convolved(graph, node, 0, 3, 2, 5)
    if (bias := node.input(8)) is not None:
        total = graph.add("Add-1", total, _along(graph, graph.input("b", bias), bias, spatial))
    return graph.call(_requantized(graph, node, total, is_of_rows=False, behind=spatial))


#: The readings by the type of the node.
QUANTIZATION: Mapping[str, Callable[[OnnxCall], Call]] = {
    "ConvInteger": _conv_integer,
    "DequantizeLinear": _dequantize,
    "DynamicQuantizeLinear": _dynamic_quantize,
    "MatMulInteger": _matmul_integer,
    "QLinearConv": _qlinear_conv,
    "QLinearMatMul": _qlinear_matmul,
    "QuantizeLinear": _quantize,
}
