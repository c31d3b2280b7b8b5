"""What nodes of ONNX without an operation of their own compute, as one operation or a small graph of several."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_runners.tools.from_model.models.composition import Composition, number, rank_of
from opconform_runners.tools.from_model.models.node import Call, Known, NoCounterpart, constant, integers
from opconform_runners.tools.from_model.models.onnx_call import OnnxCall
from opconform_runners.tools.from_model.models.onnx_quantization import QUANTIZATION

#: The dimensions of images.
_IMAGES = 4
#: The most inputs of a sum.
_MOST = 16


def _data(node: OnnxCall, place: int = 0) -> Known:
    """An input that a node must have."""
    known = node.input(place)
    if known is None:
        raise NoCounterpart("without an input")
    return known


def _gemm(node: OnnxCall) -> Call:
    """A product of matrices that are transposed or not, times alpha, plus C times beta."""
    graph, kind = Composition(), _data(node).element_type
    transposed = {f"transpose_{x}": bool(node.attributes.get(f"trans{x.upper()}", 0)) for x in "ab"}
    if node.input(2) is None and node.attributes.get("alpha", 1) == 1:
        return node.with_inputs(*node.inputs[:2]).call("MatMul-1", **transposed)
    product = graph.add("MatMul-1", graph.input("a", node.input(0)), graph.input("b", node.input(1)), **transposed)
    product = _times(graph, product, kind, node.attributes.get("alpha", 1.0))
    if (added := node.input(2)) is None:
        return graph.call(product)
    scaled = _times(graph, graph.input("c", added), kind, node.attributes.get("beta", 1.0))
    return graph.call(graph.add("Add-1", product, scaled))


def _times(graph: Composition, tensor: str, element_type: str, factor: float) -> str:
    if factor == 1:
        return tensor
    if ELEMENT_TYPES[element_type].kind != "float":
        if not math.isfinite(factor) or factor != int(factor):
            raise NoCounterpart("of integers times a fraction")
        factor = int(factor)
    return graph.add("Multiply-1", tensor, number(element_type, factor))


def _of_all(op: str) -> Callable[[OnnxCall], Call]:
    """The reading of an operation of any number of tensors by one of two."""

    def reading(node: OnnxCall) -> Call:
        if len(node.inputs) == 2:  # noqa: PLR2004 - two
            return node.call(op)
        graph = Composition()
        return graph.call(_joined(graph, op, node))

    return reading


def _joined(graph: Composition, op: str, node: OnnxCall) -> str:
    if not 1 < len(node.inputs) <= _MOST:
        raise NoCounterpart(f"with {len(node.inputs)} inputs")
    names = [graph.input(f"data_{place}", known) for place, known in enumerate(node.inputs)]
    joined = names[0]
    for name in names[1:]:
        joined = graph.add(op, joined, name)
    return joined


def _mean(node: OnnxCall) -> Call:
    graph = Composition()
    total, count = _joined(graph, "Add-1", node), number(_data(node).element_type, len(node.inputs))
    return graph.call(graph.add("Divide-1", total, count, m_pythondiv=False))


def _leaky_relu(node: OnnxCall) -> Call:
    """A PReLU, as a graph, whose data has negative numbers."""
    graph, slope = Composition(), number(_data(node).element_type, node.attributes.get("alpha", 0.01))
    return graph.call(graph.add("PReLU-1", graph.input("x", node.input(0)), replace(slope, dimensions=(1,))))


def _reciprocal(node: OnnxCall) -> Call:
    one = number(_data(node).element_type, 1)
    return node.with_inputs(one, _data(node)).call("Divide-1", m_pythondiv=False)


def _constant_of_shape(node: OnnxCall) -> Call:
    """A broadcast scalar; a shape that the model computes is one of few elements."""
    scalar = replace(node.attributes.get("value", constant("f32", (1,), [0.0])), dimensions=())
    if (shape := _data(node)).elements is not None:
        return node.with_inputs(scalar, shape).call("Broadcast-3", mode="numpy")
    graph = Composition()
    return graph.call(graph.add("Broadcast-3", scalar, graph.input("input", shape, 2, 3, 1), mode="numpy"))


def _of_spatial(op: str) -> Callable[[OnnxCall], Call]:
    """The reading of a pooling of all elements of each channel by a reduction."""

    def reading(node: OnnxCall) -> Call:
        axes = integers([*range(2, rank_of(node.input(0)))])
        return node.with_inputs(_data(node), axes).call(op, keep_dims=True)

    return reading


def _arg(mode: str) -> Callable[[OnnxCall], Call]:
    """The place of the largest or least element: of equal ones the first, as in the stable order of TopK."""

    def reading(node: OnnxCall) -> Call:
        if node.attributes.get("select_last_index", 0):
            raise NoCounterpart("with the last of equal elements")
        graph, axis = Composition(), node.attributes.get("axis", 0)
        kept = {"axis": axis, "mode": mode, "sort": "value", "stable": True, "index_element_type": "i64"}
        values = graph.add("TopK-11", graph.input("data", node.input(0)), integers(1), outputs=2, **kept)
        places = values.removesuffix("0") + "1"
        if node.attributes.get("keepdims", 1):
            return graph.call(places)
        return graph.call(graph.add("Squeeze-1", places, integers([axis])))

    return reading


def _layer_normalization(node: OnnxCall) -> Call:
    """A normalization of the last dimensions, times the scale, plus the bias."""
    if node.outputs > 1:
        raise NoCounterpart("with the mean or the deviation as results")
    graph, rank, eps = Composition(), rank_of(node.input(0)), float(node.attributes.get("epsilon", 1e-5))
    data, axes = graph.input("x", node.input(0)), integers([*range(node.attributes.get("axis", -1) % rank, rank)])
    normal = graph.add("MVN-6", data, axes, normalize_variance=True, eps=eps, eps_mode="inside_sqrt")
    scaled = graph.add("Multiply-1", normal, graph.input("scale", node.input(1)))
    if node.input(2) is None:
        return graph.call(scaled)
    return graph.call(graph.add("Add-1", scaled, graph.input("b", node.input(2))))


def _rms_normalization(node: OnnxCall) -> Call:
    """Data divided by the root of the mean of its squares, times the scale."""
    graph, rank, kind = Composition(), rank_of(node.input(0)), _data(node).element_type
    if kind != "f32" and node.attributes.get("stash_type", 1) == 1:
        raise NoCounterpart(f"of {kind}, computed in f32")
    axes = integers([*range(node.attributes.get("axis", -1) % rank, rank)])
    data = graph.input("x", node.input(0))
    mean = graph.add("ReduceMean-1", graph.add("Multiply-1", data, data), axes, keep_dims=True)
    eps = number(kind, float(node.attributes.get("epsilon", 1e-5)))
    root = graph.add("Sqrt-1", graph.add("Add-1", mean, eps))
    normal = graph.add("Divide-1", data, root, m_pythondiv=False)
    return graph.call(graph.add("Multiply-1", normal, graph.input("scale", node.input(1))))


def _resize(node: OnnxCall) -> Call:
    """Images whose pixels are repeated: channels are repeated, and then become pixels.

    With a whole scale, these are the nearest pixels by each of the coordinates and modes that are read.
    """
    attributes, data = node.attributes, _data(node)
    if attributes.get("mode", "nearest") != "nearest":
        raise NoCounterpart(f"the mode {attributes['mode']}")
    if len(node.inputs) < 3:  # noqa: PLR2004 - without the region of newer opsets
        raise NoCounterpart("of opset 10, which does not say which pixels are the nearest")
    scale = _whole_scale(node, data)
    coordinates = attributes.get("coordinate_transformation_mode", "half_pixel")
    rounding = attributes.get("nearest_mode", "round_prefer_floor")
    is_centred = coordinates.removesuffix("_symmetric") == "half_pixel" and rounding.startswith("round_prefer_")
    is_repeated = is_centred or (coordinates, rounding) == ("asymmetric", "floor")
    if not is_repeated:
        raise NoCounterpart(f"the coordinates {coordinates} with {rounding}")
    graph = Composition()
    repeated = graph.add("Tile-1", graph.input("x", data), integers([1, scale * scale, 1, 1]))
    return graph.call(graph.add("DepthToSpace-1", repeated, mode="blocks_first", block_size=scale))


def _whole_scale(node: OnnxCall, data: Known) -> int:
    """The whole number by which both dimensions of images grow."""
    scales, sizes = node.input(2), node.input(3)
    if "axes" in node.attributes or rank_of(data) != _IMAGES:
        raise NoCounterpart("of other dimensions than the last two of four")
    factors = [float(x) for x in scales.elements] if scales is not None and scales.elements else []
    if sizes is not None and sizes.elements:
        if node.attributes.get("keep_aspect_ratio_policy", "stretch") != "stretch":
            raise NoCounterpart("that keeps the ratio of the sizes")
        known = data.dimensions or ()
        if not all(isinstance(size, int) and size for size in known):
            raise NoCounterpart("to sizes, of data of unknown sizes")
        factors = [float(new) / float(old) for new, old in zip(sizes.elements, known, strict=True)]
    if not factors:
        raise NoCounterpart("with scales that are known at run time only")
    if factors[:2] != [1, 1] or factors[2] != factors[3] or factors[2] != int(factors[2]) or factors[2] < 1:
        raise NoCounterpart("by scales that are no whole number, or not the same for both dimensions")
    return int(factors[2])


def _rotary_embedding(node: OnnxCall) -> Call:
    """The halves of each head, turned by the angles of its position."""
    if rank_of(node.input(0)) != _IMAGES:
        raise NoCounterpart("with the heads in one dimension with their elements")
    if node.attributes.get("interleaved", 0) or node.attributes.get("rotary_embedding_dim", 0):
        raise NoCounterpart("of neighbouring elements, or of a part of each head")
    graph = Composition()
    data = graph.input("x", node.input(0))
    caches = [graph.input(f"{name}_cache", node.input(n)) for n, name in enumerate(("cos", "sin"), 1)]
    if (positions := node.input(3)) is not None:
        ids = graph.input("position_ids", positions, 1, 0, 0, 1, 1)
        caches = [graph.add("Gather-8", cache, ids, integers(0)) for cache in caches]
    cos, sin = (graph.add("Unsqueeze-1", cache, integers([1])) for cache in caches)
    first = graph.add("Split-1", data, integers(-1), outputs=2, num_splits=2)
    second = first.removesuffix("0") + "1"
    products = {(x, y): graph.add("Multiply-1", y, x) for x in (first, second) for y in (cos, sin)}
    real = graph.add("Subtract-1", products[first, cos], products[second, sin])
    imaginary = graph.add("Add-1", products[first, sin], products[second, cos])
    return graph.call(graph.add("Concat-1", real, imaginary, axis=-1))


#: The readings by the type of the node.
READINGS: Mapping[str, Callable[[OnnxCall], Call]] = {
    "ArgMax": _arg("max"),
    "ArgMin": _arg("min"),
    "ConstantOfShape": _constant_of_shape,
    "Gemm": _gemm,
    "GlobalAveragePool": _of_spatial("ReduceMean-1"),
    "GlobalMaxPool": _of_spatial("ReduceMax-1"),
    "LayerNormalization": _layer_normalization,
    "LeakyRelu": _leaky_relu,
    "Max": _of_all("Maximum-1"),
    "Mean": _mean,
    "Min": _of_all("Minimum-1"),
    "RMSNormalization": _rms_normalization,
    "Reciprocal": _reciprocal,
    "Resize": _resize,
    "RotaryEmbedding": _rotary_embedding,
    "Sum": _of_all("Add-1"),
    **QUANTIZATION,
}
