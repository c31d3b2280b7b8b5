"""The keys of a spec for a drawn graph: its inputs, nodes and outputs."""

from collections.abc import Callable, Mapping
from typing import Any

from opconform.model.draft import Draft, TensorDraft
from opconform.operations import OPERATIONS
from opconform.suite.case import Graph, Node
from opconform_runners.tools.fuzz.graphs.structure import is_own_constant
from opconform_runners.tools.fuzz.trial import default_binding


def graph_keys(draft: Draft, graph: Graph, keys_of: Callable[[TensorDraft], dict[str, Any]]) -> dict[str, Any]:
    """The keys of a case of a graph, given those of a tensor; what has its default value is left out."""
    constants = {name: keys_of(tensor) for name, tensor in draft.tensors.items() if is_own_constant(draft, name)}
    inputs = {name: tensor for name, tensor in draft.tensors.items() if name not in constants}
    usual = default_binding(draft.operation, inputs)
    binding = {name: draft.binding[name] for name in inputs if draft.binding[name] != usual[name]}
    results = {x: f"{node.name}.{n}" if n else node.name for node in graph.nodes for n, x in enumerate(node.outputs)}
    dynamic = {name: x if x == "..." else [*x] for name, x in draft.dynamic.items()}
    feed = {name: keys_of(tensor) for name, tensor in (draft.second or {}).items()}
    return {
        "inputs": {name: keys_of(tensor) for name, tensor in inputs.items()},
        **({"binding": binding} if binding else {}),
        **({"dynamic": dynamic} if dynamic else {}),
        "nodes": {node.name: _node_keys(node, constants, results) for node in graph.nodes},
        "outputs": [results[name] for name in graph.outputs],
        **({"feed": {"inputs": feed}} if feed else {}),
    }


def _node_keys(node: Node, constants: Mapping[str, Any], results: Mapping[str, str]) -> dict[str, Any]:
    """The keys of a node; the tensors of a variadic port are a list."""
    operation = OPERATIONS[node.op]
    taken = operation.declaration.named(node.inputs)
    keys: dict[str, Any] = {"op": node.op}
    for port in operation.inputs:
        of_port = [constants.get(x, results.get(x, x)) for name, x in taken.items() if operation.port_of(name) is port]
        if of_port:
            keys[port.name] = of_port if port.variadic else of_port[0]
    return keys | {name: [*x] if isinstance(x, tuple) else x for name, x in node.attributes.items()}
