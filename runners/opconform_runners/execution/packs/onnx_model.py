"""ONNX models of several cases in one model: the names of nodes and tensors prefixed."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from opconform_runners.execution.packs.errors import UnjoinableError

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto


def joined_onnx(models: Sequence[tuple[str, Mapping[str, bytes]]], main: str) -> dict[str, bytes]:
    """The file of one model, `main`, given the file of each model and the prefix of its names."""
    try:
        from google.protobuf.message import DecodeError
        from onnx import ModelProto
    except ImportError as error:
        raise UnjoinableError("the onnx package is not installed") from error
    net: ModelProto | None = None
    for prefix, files in models:
        part = ModelProto()
        try:
            part.ParseFromString(files[main])
        except DecodeError as error:
            raise UnjoinableError(f"a file is not an ONNX model: {error}") from error
        _rename(part.graph, prefix)
        if net is None:
            net = part
            continue
        if _head(part) != _head(net):
            raise UnjoinableError("two ONNX models differ in their versions")
        for name in ("node", "initializer", "input", "output", "value_info"):
            getattr(net.graph, name).extend(getattr(part.graph, name))
    if net is None:
        raise UnjoinableError("there are no models")
    return {main: net.SerializeToString(deterministic=True)}


def _head(model: "ModelProto") -> tuple[object, ...]:
    """What two models must have in common: the version of the format, and the versions of the sets of operations."""
    if model.functions or model.training_info or model.metadata_props:
        raise UnjoinableError("an ONNX model has functions, training or metadata")
    return model.ir_version, sorted((x.domain, x.version) for x in model.opset_import)


def _rename(graph: "GraphProto", prefix: str) -> None:
    if graph.sparse_initializer or graph.quantization_annotation:
        raise UnjoinableError("an ONNX model has sparse or quantized tensors")
    for node in graph.node:
        if any(attribute.HasField("g") or attribute.graphs for attribute in node.attribute):
            raise UnjoinableError("an ONNX node has a graph of its own")
        node.name = f"{prefix}{node.name}"
        node.input[:] = _prefixed(node.input, prefix)
        node.output[:] = _prefixed(node.output, prefix)
    for named in (*graph.initializer, *graph.input, *graph.output, *graph.value_info):
        named.name = f"{prefix}{named.name}"


def _prefixed(names: Iterable[str], prefix: str) -> list[str]:
    """Names with a prefix; an omitted input has none."""
    return [name and f"{prefix}{name}" for name in names]
