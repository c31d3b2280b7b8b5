"""Parts of the graph of a case as cases of their own: what other nodes compute becomes an input with golden values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from opconform.model.draft import Draft, TensorDraft
from opconform.model.evaluation import ports_of
from opconform.model.golden import name_alone
from opconform.suite.case import Case, Graph, Input, Node
from opconform.suite.manifest import Entry, inputs_name
from opconform.suite.reader import Suite
from opconform.tensors.literals import Element
from opconform.tensors.tensor import Tensor, patterns

#: The most elements of the tensors that the nodes of a graph take: each is written out in the draft of a part.
_ELEMENTS = 1 << 18
#: The most nodes that are named.
_NAMED = 12


@dataclass(frozen=True, kw_only=True, slots=True)
class GoldenGraph:
    """A valid case of a graph, and the golden tensors that its nodes take in each feed, by name.

    `alone` has what the nodes take in the neighbour check, which says how an input is declared that other nodes
    compute.
    """

    suite: Suite
    case: Case
    feeds: tuple[Mapping[str, Tensor], ...]
    alone: Mapping[str, Input]

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes, each after those that it takes results of."""
        return self.case.graph.nodes


def golden_graph(suite: Suite, entry: Entry) -> GoldenGraph | None:
    """The graph of a case with its golden tensors, as far as its neighbour check has them all and they are small."""
    case, check = suite.case(entry), entry.neighbour_check
    if check is None or not case.tests_graph:
        return None
    sources = {name_alone(node, port): name for node in case.graph.nodes for port, name in ports_of(node).items()}
    beside = suite.case(check)
    alone = {input_.name: input_ for input_ in beside.inputs}
    arrays = [suite.arrays(check, inputs_name(feed)) for feed in range(beside.feeds)]
    if sources.keys() != alone.keys() or sum(array.size for feed in arrays for array in feed.values()) > _ELEMENTS:
        return None
    feeds = (
        {source: Tensor(element_type=alone[name].element_type, array=feed[name]) for name, source in sources.items()}
        for feed in arrays
    )
    return GoldenGraph(suite=suite, case=case, feeds=tuple(feeds), alone=alone)


def subgraph_draft(graph: GoldenGraph, nodes: Sequence[Node]) -> Draft:
    """Some nodes of a graph as a case of its own.

    What they take of other nodes is an input: it has the golden values, and its dimensions are as open as they were.
    What other nodes take of them is an output.
    """
    case, names = graph.case, {node.name for node in nodes}
    made = {name for node in nodes for name in node.outputs}
    taken = dict.fromkeys(name for node in nodes for name in node.inputs if name is not None and name not in made)
    inputs = {name: _declaration(graph, nodes, name) for name in taken}
    needed = {*case.graph.outputs, *(name for node in graph.nodes if node.name not in names for name in node.inputs)}
    outputs = tuple(name for node in nodes for name in node.outputs if name in needed)
    first, *second = ({name: _tensor_draft(feed[name]) for name in inputs} for feed in graph.feeds)
    return Draft(
        op=case.op,
        group=case.id.split("/")[1],
        title=f"{subgraph_text(nodes)}, {len(nodes)} of the {len(graph.nodes)} nodes of {case.id}",
        profile=case.profile,
        requirements=case.requirements,
        seen=case.seen,
        where=case.id,
        attributes={},
        tensors=first,
        second=second[0] if second else None,
        binding={name: input_.binding for name, input_ in inputs.items()},
        dynamic={
            name: input_.dynamic
            for name, input_ in inputs.items()
            if input_.dynamic is not None and input_.binding == "parameter"
        },
        context="bare",
        graph=Graph(nodes=tuple(nodes), outputs=outputs),
    )


def _declaration(graph: GoldenGraph, nodes: Sequence[Node], name: str) -> Input:
    """How the model of some nodes declares what they take: as the graph does, or else as their neighbour check does."""
    own = next((input_ for input_ in graph.case.inputs if input_.name == name), None)
    beside = (
        graph.alone[name_alone(node, port)] for node in nodes for port, taken in ports_of(node).items() if taken == name
    )
    return own or min(beside, key=lambda input_: input_.binding)  # a constant where one of them needs that


def _tensor_draft(tensor: Tensor) -> TensorDraft:
    """A tensor with every element written out, a floating-point number as its bits."""
    elements: tuple[Element, ...]
    match tensor.type.kind:
        case "string":
            elements = tuple(map(str, tensor.array.ravel()))
        case "float":
            elements = tuple(f"0x{bits:x}" for bits in patterns(np.ascontiguousarray(tensor.array)).ravel().tolist())
        case _:
            elements = tuple(tensor.integers())
    return TensorDraft(element_type=tensor.element_type, shape=tensor.shape, fill="values", elements=elements)


def is_connected(nodes: Sequence[Node]) -> bool:
    """Whether some nodes are one part: each takes a result of another one, or the same tensor as another one."""
    tensors = [{*node.inputs, *node.outputs} - {None} for node in nodes]
    reached, rest = tensors[0], tensors[1:]
    while met := [names for names in rest if not reached.isdisjoint(names)]:
        reached = reached.union(*met)
        rest = [names for names in rest if names not in met]
    return not rest


def subgraph_text(nodes: Sequence[Node]) -> str:
    """Connected nodes in words, the last ones first, as in `Add-1 behind Convolution-1` or `ReLU-1 beside Add-1`."""
    if len(nodes) > _NAMED:
        return f"{nodes[-1].op} and {len(nodes) - 1} nodes before it"
    depths: dict[str, int] = {}
    levels: dict[int, list[str]] = {}
    for node in nodes:
        depth = 1 + max((depths[name] for name in node.inputs if name in depths), default=-1)
        depths |= dict.fromkeys(node.outputs, depth)
        levels.setdefault(depth, []).append(node.op)
    if len(levels) == 1:
        return " beside ".join(levels[0])
    return " behind ".join(" and ".join(levels[depth]) for depth in sorted(levels, reverse=True))
