"""The nodes of a graph as cases of their operations, each with the inputs that it has in the graph."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from opconform.model.draft import Draft, TensorDraft
from opconform.model.evaluation import ports_of
from opconform.model.golden import golden_of
from opconform.model.graph import Declared, declared
from opconform.operations import OPERATIONS
from opconform.suite.case import Dynamic
from opconform.tensors.literals import Element
from opconform.tensors.tensor import Tensor
from opconform_runners.tools.fuzz.graphs.structure import graph_of_draft
from opconform_runners.tools.fuzz.trial import Trial, decided, drawn


def nodes_alone(draft: Draft, seed: int, *, is_plain: bool) -> Iterator[Trial]:
    """The trials of the nodes of a graph, with the elements that the seed gives the first feed.

    Open dimensions are tried as known ones, too, since a backend may know more of them than the model declares. Plain
    ones have small integers in place of the elements of data, so that there are fewer numbers to reduce.
    """
    graph, golden = graph_of_draft(draft), golden_of(draft, seed)
    types, has_ranks = declared(draft, graph), "..." not in draft.dynamic.values()
    for node in graph.nodes:
        ports = ports_of(node)
        operation = OPERATIONS[node.op]
        tensors = {port: _written(golden.tensors[0][name]) for port, name in ports.items()}
        if is_plain:
            filled = [port for port in ports if operation.port_of(port).default_type == "f32"]
            tensors |= {port: replace(tensors[port], fill="exact", elements=()) for port in filled}
        case = drawn(operation, tensors, node.attributes)
        binding = {port: draft.binding.get(name, case.binding[port]) for port, name in ports.items()}
        open_ones = [port for port, name in ports.items() if binding[port] == "parameter" and types[name].dimensions]
        dynamic = {port: _dimensions(types[ports[port]], has_ranks=has_ranks) for port in open_ones}
        dynamic = {port: x for port, x in dynamic.items() if x != tensors[port].shape}
        for known in ({}, dynamic) if dynamic else ({},):
            decision = decided(replace(case, binding=binding, dynamic=known))
            if decision is not None and decision.rejected_for is None:
                yield Trial(draft=decision)


def _dimensions(declaration: Declared, *, has_ranks: bool) -> Dynamic:
    """The dimensions that the model of a node declares of an input, as the graph knows them."""
    if not has_ranks and None in declaration.dimensions:
        return "..."
    return tuple("?" if size is None else size for size in declaration.dimensions)


def _written(tensor: Tensor) -> TensorDraft:
    """A tensor with its elements written out."""
    return TensorDraft(
        element_type=tensor.element_type, shape=tensor.shape, fill="values", elements=tuple(_elements(tensor))
    )


def _elements(tensor: Tensor) -> Iterator[Element]:
    if tensor.type.is_integer:
        yield from tensor.integers()
    elif tensor.type.kind == "float":
        yield from tensor.array.view(tensor.type.arithmetic).astype(np.float64).ravel().tolist()
    else:
        yield from map(int, tensor.array.ravel().tolist())
