"""ONNX models as calls of `onnx.helper`."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from opconform_runners.tools.repro.array_source import array_source


def onnx_model_of(content: bytes) -> Mapping[str, Any]:
    """A `model.onnx` for the template: its versions, and the arguments of one call per value, node and initializer.

    All arguments are source. An initializer without a type is an array; the others are raw bytes or strings.
    """
    from onnx import TensorProto, helper, load_from_string, numpy_helper

    def type_name(number: int) -> str:
        return str(TensorProto.DataType.Name(number))

    def value(proto: Any) -> tuple[str, str, str]:
        tensor = proto.type.tensor_type
        sizes = [each.dim_value if each.HasField("dim_value") else None for each in tensor.shape.dim]
        return repr(proto.name), type_name(tensor.elem_type), repr(sizes)

    def node(proto: Any) -> tuple[str, str, str, list[tuple[str, str]]]:
        values = {each.name: helper.get_attribute_value(each) for each in proto.attribute}
        texts = {name: each.decode() if isinstance(each, bytes) else each for name, each in values.items()}
        attributes = [(name, repr(each)) for name, each in texts.items()]
        return repr(proto.op_type), repr(list(proto.input)), repr(list(proto.output)), attributes

    def constant(proto: Any) -> tuple[str, str, str, str]:
        name, kind, shape = repr(proto.name), type_name(proto.data_type), repr(list(proto.dims))
        if proto.data_type == TensorProto.STRING:
            return name, kind, shape, repr(list(proto.string_data))
        native = helper.tensor_dtype_to_np_dtype(proto.data_type)
        if native.kind in "biuf" and native.isbuiltin == 1:
            return name, "", shape, array_source(np.asarray(numpy_helper.to_array(proto)))
        return name, kind, shape, f'bytes.fromhex("{proto.raw_data.hex()}")'

    model = load_from_string(content)
    constants = [constant(each) for each in model.graph.initializer]
    return {
        "ir": model.ir_version,
        "opset": model.opset_import[0].version,
        "inputs": [value(each) for each in model.graph.input],
        "outputs": [value(each) for each in model.graph.output],
        "nodes": [node(each) for each in model.graph.node],
        "constants": constants,
        "has_arrays": any(not kind for _, kind, *_ in constants),
    }
