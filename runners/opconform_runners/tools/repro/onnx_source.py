"""ONNX models as calls of `onnx.helper`, which a person reads."""

from typing import NamedTuple

import numpy as np

from opconform_runners.tools.repro.array_source import array_source


class OnnxValue(NamedTuple):
    """An input or an output of a model: its name, its element type and its shape, as source."""

    name: str
    type: str
    shape: str


class OnnxNode(NamedTuple):
    """A node: what it computes, from what, into what, and its attributes as source."""

    op: str
    inputs: str
    outputs: str
    attributes: tuple[tuple[str, str], ...]


class OnnxConstant(NamedTuple):
    """An initializer: its name and its elements, as an array's source or as hexadecimal digits of a type."""

    name: str
    type: str
    shape: str
    source: str


class OnnxModel(NamedTuple):
    """A model, taken apart."""

    ir: int
    opset: int
    inputs: tuple[OnnxValue, ...]
    outputs: tuple[OnnxValue, ...]
    nodes: tuple[OnnxNode, ...]
    constants: tuple[OnnxConstant, ...]


def onnx_model_of(content: bytes) -> OnnxModel:
    """What a `model.onnx` says."""
    import onnx

    model = onnx.load_from_string(content)
    graph = model.graph
    return OnnxModel(
        ir=model.ir_version,
        opset=model.opset_import[0].version,
        inputs=tuple(_value(each) for each in graph.input),
        outputs=tuple(_value(each) for each in graph.output),
        nodes=tuple(_node(each) for each in graph.node),
        constants=tuple(_constant(each) for each in graph.initializer),
    )


def _value(proto: "onnx.ValueInfoProto") -> OnnxValue:  # type: ignore[name-defined]  # noqa: F821 - imported when used
    from onnx import TensorProto

    tensor = proto.type.tensor_type
    sizes = [each.dim_value if each.HasField("dim_value") else None for each in tensor.shape.dim]
    return OnnxValue(repr(proto.name), TensorProto.DataType.Name(tensor.elem_type), repr(sizes))


def _node(proto: "onnx.NodeProto") -> OnnxNode:  # type: ignore[name-defined]  # noqa: F821 - imported when used
    from onnx import helper

    values = {each.name: helper.get_attribute_value(each) for each in proto.attribute}
    texts = {name: each.decode() if isinstance(each, bytes) else each for name, each in values.items()}
    return OnnxNode(
        op=repr(proto.op_type),
        inputs=repr(list(proto.input)),
        outputs=repr(list(proto.output)),
        attributes=tuple((name, repr(each)) for name, each in texts.items()),
    )


def _constant(proto: "onnx.TensorProto") -> OnnxConstant:  # type: ignore[name-defined]  # noqa: F821 - imported when used
    from onnx import TensorProto, helper, numpy_helper

    name, kind, shape = repr(proto.name), TensorProto.DataType.Name(proto.data_type), repr(list(proto.dims))
    if proto.data_type == TensorProto.STRING:
        return OnnxConstant(name, kind, shape, repr(list(proto.string_data)))
    native = helper.tensor_dtype_to_np_dtype(proto.data_type)
    if native.kind in "biuf" and native.isbuiltin == 1:
        return OnnxConstant(name, "", shape, array_source(np.asarray(numpy_helper.to_array(proto))))
    return OnnxConstant(name, kind, shape, f'bytes.fromhex("{proto.raw_data.hex()}")')
