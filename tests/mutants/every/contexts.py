"""Mutants that are right for the operation alone, and wrong for the graph around it."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from opconform.suite.case import Graph, Node
from opconform.tensors.tensor import Array, Tensor
from tests.mutants.row import Call, Hook, MutantRow, Step, converted

_FUSED = "facebookincubator/AITemplate#740"
_CHAIN = "openvinotoolkit/openvino_contrib#555"
_SHARED = "onnx/optimizer#103"


def _graph(context: str, rewritten: Callable[[Graph], Graph]) -> tuple[Hook, Step]:
    """The step that rewrites the graphs of a context."""
    return lambda call: rewritten(call.right()) if call.context == context else call.right(), "graph"


def _joined_as(order: Callable[[tuple[str | None, ...]], tuple[str | None, ...]]) -> tuple[Hook, Step]:
    """The step that joins outputs in another order."""

    def rewritten(graph: Graph) -> Graph:
        *nodes, join = graph.nodes
        return replace(graph, nodes=(*nodes, replace(join, inputs=order(join.inputs))))

    return _graph("concat", rewritten)


def _outputs(context: str, changed: Callable[[list[Tensor]], list[Tensor]]) -> tuple[Hook, Step]:
    """The step that changes the outputs of the models of a context."""
    return lambda call: changed(call.right()) if call.context == context else call.right(), "model"


def _through_f32(tensor: Tensor) -> Tensor:
    kind = tensor.type
    if kind.kind not in ("float", "signed", "unsigned") or kind.native is None or kind.bits < 16:
        return tensor
    with np.errstate(all="ignore"):
        array = tensor.array.view(kind.native).astype("f4").astype(kind.native)
    return converted(tensor, array.view(tensor.array.dtype))


def _zeros(tensor: Tensor) -> Tensor:
    return converted(tensor, np.zeros_like(tensor.array))


def _without_text(tensor: Tensor) -> Tensor:
    return _zeros(tensor) if tensor.element_type == "string" else tensor


def _without_join(call: Call) -> list[Tensor]:
    outputs: list[Tensor] = call.tensors[:1] if call.context == "concat" else call.right()
    return outputs


def _joined_in_memory(call: Call) -> list[Tensor]:
    outputs: list[Tensor] = call.right()
    if call.op != "Concat-1":
        return outputs
    flat: Array = np.concatenate([input_.array.reshape(-1) for input_ in call.inputs.values()])
    return [converted(outputs[0], flat.reshape(outputs[0].shape))]


def _data_as_join(call: Call) -> list[Tensor]:
    outputs: list[Tensor] = call.right()
    [data, *_] = call.tensors
    if call.op != "Concat-1" or data.array.size != outputs[0].array.size:
        return outputs
    return [converted(outputs[0], data.array.reshape(outputs[0].shape))]


def _overwritten(outputs: list[Tensor]) -> list[Tensor]:
    *others, last, joined = outputs
    return [*others, _zeros(last), joined]


def _second_reads(first: Node, second: Node, output: str) -> Node:
    return replace(second, inputs=tuple(output if input_ == first.outputs[-1] else input_ for input_ in second.inputs))


def _chained_to_the_first(graph: Graph) -> Graph:
    first, second = graph.nodes
    return replace(graph, nodes=(first, _second_reads(first, second, first.outputs[0])))


def _first_node(graph: Graph) -> Graph:
    return Graph(nodes=graph.nodes[:1], outputs=graph.nodes[0].outputs)


# fmt: off
ROWS = (
    MutantRow("contexts/folded-backwards", "Constant folding hands out the outputs from the last to the first.",
        "onnx/onnx-tensorrt#348", *_outputs("folded", lambda outputs: outputs[::-1])),
    MutantRow("contexts/folded-through-f32", "Constant folding goes through f32.", "pytorch/TensorRT#1272",
        *_outputs("folded", lambda outputs: [_through_f32(output) for output in outputs])),
    MutantRow("contexts/folded-texts-lost", "Constant folding hands out empty strings.", "tensorflow/tensorflow#7754",
        *_outputs("folded", lambda outputs: [_without_text(output) for output in outputs])),
    MutantRow("contexts/concat-removed-unchecked",
        "An operation whose outputs are joined again is removed before it is checked.", _FUSED,
        _without_join, "model"),
    MutantRow("contexts/concat-swaps-two", "Of outputs that are joined again the first two are joined in the wrong order.",
        _FUSED, *_joined_as(lambda names: (*names[1:2], *names[:1], *names[2:]))),
    MutantRow("contexts/concat-along-the-last", "Outputs that are joined are joined in memory, one after the other.", _FUSED,
        _joined_in_memory, "other"),
    MutantRow("contexts/join-taken-for-concat", "Outputs that are joined along another axis are taken for data.",
        "openvinotoolkit/openvino#29504", _data_as_join, "other"),
    MutantRow("contexts/shared-overwritten", "An output that is used twice is overwritten by its first user.", _SHARED,
        *_outputs("shared", _overwritten)),
    MutantRow("contexts/shared-once", "An output that is used twice is handed to its last user alone.", _SHARED,
        *_graph("shared", lambda graph: replace(graph, outputs=(*graph.outputs[:-2], graph.outputs[-1])))),
    MutantRow("contexts/unused-move-up", "Outputs that are not used are removed, and the others move to their places.",
        "openvinotoolkit/openvino#1938",
        *_graph("partial", lambda graph: replace(graph, outputs=graph.nodes[0].outputs[: len(graph.outputs)]))),
    MutantRow("contexts/chain-reads-the-first", "An operation on another's last output reads its first.", _CHAIN,
        *_graph("chain", _chained_to_the_first)),
    MutantRow("contexts/chain-once", "Two operations in a row are taken for one.", _FUSED, *_graph("chain", _first_node)),
    MutantRow("contexts/concat-of-several-swaps",
        "Of more than three outputs that are joined again the last two are exchanged.", "NVIDIA/TensorRT#3424",
        *_joined_as(lambda names: (*names[:-2], *names[-2:][::-1]) if len(names) > 3 else names)),
)
# fmt: on
