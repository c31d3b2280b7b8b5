"""How ONNX calls the operations with sums of products."""

from collections.abc import Mapping

import numpy as np

from opconform.dialects.dialect import Inexpressible
from opconform.dialects.known_node import KnownNode
from opconform.dialects.onnx.calls import PADS, convolution
from opconform.dialects.onnx.translation import Call, Rendering, attribute_text
from opconform.operations.arithmetic.attention import has_masked_row
from opconform.operations.movement.axis import from_front
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.exact import numbers
from opconform.tensors.tensor import Tensor

_FLOATS = ("f16", "f32", "f64")
_SYNTAX = "ONNX's attributes are integers by their syntax"
_DEFAULT = "in ONNX, the list may be omitted"
_CHANNELS = ("gamma", "beta", "mean", "variance")
_LISTS = ("strides", "dilations", *PADS)


def _matmul(node: KnownNode) -> Call:
    """A MatMul behind a Transpose of each matrix that is transposed."""
    inputs, before = list(node.node.inputs), []
    for place, name in enumerate("ab"):
        if node.attributes[f"transpose_{name}"] is not True or name not in node.inputs:
            continue
        ranks = {len(arguments.shape(name)) for arguments in node.arguments}
        if len(ranks) > 1:
            raise Inexpressible("ONNX's Transpose needs the rank that changes in the second feed")
        rank = ranks.pop()
        if rank > 1:
            order, output = (*range(rank - 2), rank - 1, rank - 2), node.added(name)
            before.append(Call([inputs[place]], {"perm": attribute_text(order)}, op="Transpose", outputs=[output]))
            inputs[place] = output
    return Call(inputs, before=before)


def _softmax(node: KnownNode) -> Call:
    """A Softmax or LogSoftmax with its axis, whose default differs."""
    return Call(node.node.inputs, {"axis": attribute_text(node.attributes["axis"])})


def _convolution(node: KnownNode) -> Call:
    """A Conv with pads, or with one of ONNX's modes."""
    if "data" in node.inputs and any(0 in arguments.shape("data")[2:] for arguments in node.arguments):
        raise Inexpressible("ONNX's shape inference has no output of Conv for data without spatial elements")
    mode, call = str(node.attributes["auto_pad"]), convolution(node)
    if mode == "explicit":
        return call
    attributes = {name: text for name, text in call.attributes.items() if name != "pads"}
    return Call(call.inputs, {**attributes, "auto_pad": attribute_text(mode.upper())})


def _group_convolution(node: KnownNode) -> Call:
    """A Conv with the number of groups, behind a Reshape that joins the groups of the filters."""
    call = _convolution(node)
    if "filters" not in node.inputs:
        return call
    shapes = {arguments.shape("filters") for arguments in node.arguments}
    if len(shapes) > 1:
        raise Inexpressible("ONNX's Conv has the number of groups as an attribute, and the filters change")
    groups, outputs, *rest = shapes.pop()
    name, sizes = f"{node.node.name}_filters", np.array([groups * outputs, *rest], np.int64)
    shape = {f"{name}_shape": Tensor(element_type="i64", array=sizes)}
    joined = Call([node.inputs["filters"], *shape], {"allowzero": "1"}, shape, op="Reshape", outputs=[name])
    inputs = [node.inputs.get("data"), name]
    return Call(inputs, {**call.attributes, "group": str(groups)}, before=[joined])


def _batch_normalization(node: KnownNode) -> Call:
    """A BatchNormalization, whose epsilon has another default."""
    epsilon, data = float(str(node.attributes["epsilon"])), node.types.get("data")
    if data is not None and data.element_type == "f64" and float(np.float32(epsilon)) != epsilon:
        raise Inexpressible("ONNX's epsilon is a number of f32")
    return Call(node.node.inputs, {"epsilon": repr(epsilon)})


def _attention(node: KnownNode) -> Call:
    """An Attention of one head or several, whose scale is an attribute."""
    types = [node.types[name] for name in ("query", "key", "value") if name in node.types]
    if node.violated is None and len({(len(x.dimensions), x.dimensions[:-2]) for x in types}) > 1:
        raise Inexpressible("ONNX's Attention has one batch, and as many keys' heads as queries' or fewer")
    ranks = {len(x.dimensions) for x in types}
    if node.violated is None and not ranks <= {3, 4}:
        raise Inexpressible("ONNX's Attention takes a batch, or a batch and heads")
    attributes = {"is_causal": str(int(node.attributes["causal"] is True))}
    if 4 not in ranks:  # noqa: PLR2004 - a batch and heads
        attributes |= {"q_num_heads": "1", "kv_num_heads": "1"}
    if "scale" in node.inputs:
        attributes["scale"] = _scale_text(node)
    inputs = [node.inputs.get(name) for name in ("query", "key", "value")]
    mask = node.types.get("attention_mask")
    if mask is None or not mask.dimensions or node.attributes["causal"] is True:
        return Call(inputs, attributes)
    if 4 not in ranks and len(mask.dimensions) > 2:  # noqa: PLR2004 - the scores of one batch
        raise Inexpressible("the first of three dimensions of ONNX's mask is that of heads")
    shapes = ((x.shape("attention_mask")[-1:], x.shape("key")[-2:-1]) for x in node.arguments if "key" in x.inputs)
    if node.violated is None and any(bias != keys for bias, keys in shapes):
        raise Inexpressible("ONNX's mask has an element for each key, and lacks those of the last keys otherwise")
    if any(has_masked_row(arguments) for arguments in node.accepted):
        raise Inexpressible("ONNX's result for a query without keys is 0")
    return Call([*inputs, node.inputs["attention_mask"]], attributes)


def _scale_text(node: KnownNode) -> str:
    """The scale as an attribute, which is a number of f32."""
    tensor = node.constant("scale")
    if tensor is None:
        raise Inexpressible("ONNX's scale is an attribute, and cannot be supplied at run time")
    number = float(numbers(tensor).reshape(()))
    if float(np.float32(number)) != number:
        raise Inexpressible("ONNX's scale is a number of f32")
    return repr(number)


def _layer_normalization(node: KnownNode) -> Call:
    """A LayerNormalization of the last dimensions with a scale of ones."""
    if node.attributes["normalize_variance"] is not True or node.attributes["eps_mode"] != "inside_sqrt":
        raise Inexpressible("ONNX's LayerNormalization has eps inside the square root of the variance")
    if "data" not in node.inputs:
        raise Inexpressible("ONNX's LayerNormalization has a scale, whose shape is that of data")
    shapes = {arguments.shape("data") for arguments in node.arguments}
    rank, first = len(next(iter(shapes))), node.arguments[0].integers("axes")
    axes = sorted(from_front(axis, rank) for axis in first)
    if not axes or axes != [*range(axes[0], rank)] or len({shape[axes[0] :] for shape in shapes}) > 1:
        raise Inexpressible("ONNX's LayerNormalization normalizes the last dimensions, with a scale of their shape")
    kind, scale = ELEMENT_TYPES[node.types["data"].element_type], node.added("scale")
    ones = np.ones(next(iter(shapes))[axes[0] :], kind.arithmetic)
    attributes = {"axis": str(axes[0]), "epsilon": repr(float(str(node.attributes["eps"])))}
    array = ones if kind.kind == "string" else ones.view(kind.storage)
    initializers = {scale: Tensor(element_type=kind.name, array=array)}
    return Call((*node.without("axes"), scale), attributes, initializers=initializers)


#: What ONNX cannot express of a convolution.
_OF_WINDOWS: Mapping[str, str] = {
    **{f"{name}.required": _DEFAULT for name in _LISTS},
    **{f"{name}.type": _SYNTAX for name in _LISTS},
    **{f"{name}.count": "ONNX's pads of both ends are one list" for name in PADS},
    **{f"{name}.zero": "ONNX does not mention it" for name in _LISTS[:2]},
    **{f"{name}.negative": "ONNX does not mention it" for name in _LISTS[:2]},
    "auto_pad": "in ONNX, the modes have other names",
    "filters.room": "ONNX does not mention it",
    "data.rank": "ONNX does not limit the rank",
    "filters.rank": "ONNX does not limit the rank",
}
_CONVOLVED: Mapping[str, tuple[str, ...]] = {"data": _FLOATS, "filters": _FLOATS}
#: The rendering of each operation.
PRODUCTS: Mapping[str, Rendering] = {
    "BatchNormInference-5": Rendering(
        "BatchNormalization",
        _batch_normalization,
        types=dict.fromkeys(("data", *_CHANNELS), ("bf16", *_FLOATS)),
        reasons={
            **{f"{name}.same-type": "ONNX's BatchNormalization takes other types of channels" for name in _CHANNELS},
            **{f"{name}.length": "ONNX does not mention it" for name in _CHANNELS},
            "data.rank": "ONNX's BatchNormalization takes data of one dimension",
            "data.channels": "ONNX does not mention it",
            "epsilon.required": "ONNX's epsilon may be omitted",
            "epsilon.range": "ONNX's epsilon is any number",
            "epsilon.type": "ONNX's epsilon is a number by its syntax",
        },
    ),
    "Convolution-1": Rendering("Conv", _convolution, types=_CONVOLVED, reasons=_OF_WINDOWS),
    "GroupConvolution-1": Rendering(
        "Conv",
        _group_convolution,
        types=_CONVOLVED,
        reasons={**_OF_WINDOWS, "filters.group-rank": "ONNX's filters have no dimension of groups"},
    ),
    "MVN-6": Rendering(
        "LayerNormalization",
        _layer_normalization,
        attributes={"axes": "axis"},
        types={"data": ("bf16", "f16", "f32")},
        reasons={
            **{f"axes.{word}": "ONNX's LayerNormalization has one axis" for word in ("range", "unique")},
            **{f"eps.{word}": "ONNX's epsilon is any number, and may be omitted" for word in ("required", "positive")},
            "eps.type": "ONNX's epsilon is a number by its syntax",
            "eps_mode": "ONNX's LayerNormalization has no mode",
            "normalize_variance": "ONNX's LayerNormalization has no such attribute",
        },
    ),
    "ScaledDotProductAttention-13": Rendering(
        "Attention",
        _attention,
        types={
            **dict.fromkeys(("query", "key", "value", "scale"), ("bf16", *_FLOATS)),
            "attention_mask": ("bf16", *_FLOATS, "boolean"),
        },
        reasons={
            **dict.fromkeys(("causal", "scale", "scale.same-type"), "ONNX's is_causal and scale are attributes"),
            **{f"attention_mask.{word}": "ONNX does not mention it" for word in ("vector", "scalar-type")},
            "batch.dimensions": "ONNX repeats the heads of keys",
            "value.same-type": "ONNX's values have a type of their own",
        },
    ),
    "MatMul-1": Rendering(
        "MatMul",
        _matmul,
        types=dict.fromkeys("ab", ("bf16", *_FLOATS, "i32", "i64", "u32", "u64")),
        reasons=dict.fromkeys(("transpose_a", "transpose_b"), "ONNX's MatMul transposes nothing"),
    ),
    **{
        op: Rendering(
            name,
            _softmax,
            types={"data": ("bf16", *_FLOATS)},
            reasons={"axis.type": "ONNX's axis is an integer by its syntax"},
        )
        for op, name in {"LogSoftmax-5": "LogSoftmax", "SoftMax-8": "Softmax"}.items()
    },
}
