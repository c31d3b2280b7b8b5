"""The canonical form of drawn graphs, so that graphs that differ only in names are one case."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from opconform.generation.validation import check_surroundings, check_work
from opconform.model.draft import Draft, TensorDraft, known_operand
from opconform.model.evaluation import arguments_at, inferred, ports_of, results_of
from opconform.model.graph_operation import port_of_input
from opconform.operations import OPERATIONS
from opconform.operations.arguments import Rejection, TensorType, Unknown
from opconform.specs.yaml_document import KeyMistake
from opconform.suite.case import GRAPH, Binding, Graph, Node
from opconform_runners.tools.fuzz.trial import GROUP, WORK, is_expressible, is_small

_Value = TypeVar("_Value")

#: The fewest nodes of a graph: of a single operation, `opconform fuzz` draws cases without a graph.
FEWEST = 2


def graph_draft(
    tensors: Mapping[str, TensorDraft],
    binding: Mapping[str, Binding],
    nodes: Sequence[Node],
    outputs: Sequence[str],
) -> Draft:
    """The draft of a graph, as it was drawn."""
    return Draft(
        op=GRAPH,
        group=GROUP,
        title="A graph drawn by opconform fuzz",
        profile=GROUP,
        requirements=(),
        seen=(),
        where=GROUP,
        attributes={},
        tensors=tensors,
        second=None,
        binding=binding,
        dynamic={},
        context="bare",
        graph=Graph(nodes=tuple(nodes), outputs=tuple(outputs)),
    )


def decided_graph(draft: Draft) -> Draft | None:
    """The canonical draft of a graph; None if it is not valid, has too few nodes, or is too large."""
    draft = replace(draft, second=draft.second or None, rejected_for=None, twin=None)
    canonical = _canonical(draft)
    if canonical is None or len(nodes_of(canonical)) < FEWEST:
        return None
    if not all(is_expressible(tensor) for feed in canonical.feeds for tensor in feed.values()):
        return None
    try:
        feeds = [inferred(graph_of_draft(canonical), arguments.inputs) for arguments in canonical.arguments]
        check_work(canonical, WORK)
        check_surroundings(canonical)
    except (KeyMistake, MemoryError, OverflowError, Rejection, Unknown):
        return None
    types = ([TensorType(element_type=x.element_type, shape=x.shape) for x in feed.values()] for feed in feeds)
    return canonical if all(map(is_small, types)) else None


def nodes_of(draft: Draft) -> tuple[Node, ...]:
    """The nodes of the graph of a draft."""
    return graph_of_draft(draft).nodes


def graph_of_draft(draft: Draft) -> Graph:
    """The graph under test of a draft."""
    if draft.graph is None:
        raise TypeError(f"{draft.id} tests no graph")
    return draft.graph


def is_own_constant(draft: Draft, name: str) -> bool:
    """Whether a tensor is a constant that one node has written out, and no input of the graph."""
    takers = [f"{port}_of_{node.name}" for node in nodes_of(draft) for port, x in ports_of(node).items() if x == name]
    return draft.binding[name] == "constant" and takers == [name]


def _canonical(draft: Draft) -> Draft | None:
    """The draft without what no output needs, with nodes and tensors named by their places; None if it is not valid."""
    nodes = _needed(draft)
    places = {node.name: f"{OPERATIONS[node.op].type.lower()}{number}" for number, node in enumerate(nodes, 1)}
    names = _tensor_names(draft, nodes, places)
    if any(
        OPERATIONS[node.op].port_of(port).constant and names.get(name) != f"{port}_of_{places[node.name]}"
        for node in nodes
        for port, name in ports_of(node).items()
    ):
        return None
    operands = {name: known_operand(draft.tensors[name], port_of_input(nodes, name).role) for name in names}
    settled: list[Node] = []
    for node in nodes:
        if any(name is not None and name not in operands for name in node.inputs):  # an earlier node lacks this result
            return None
        arguments = arguments_at(node, operands)
        try:
            types = OPERATIONS[node.op].infer(arguments)
        except (MemoryError, OverflowError, Rejection, Unknown):
            return None
        made = tuple(f"{places[node.name]}_{number}" for number in range(len(types)))
        old = tuple(f"{node.name}_{number}" for number in range(len(types)))
        operands |= results_of(replace(node, outputs=old), types, arguments)
        names |= dict(zip(old, made, strict=True))
        inputs = tuple(None if name is None else names[name] for name in node.inputs)
        settled.append(replace(node, name=places[node.name], inputs=inputs, outputs=made))
    outputs = tuple(dict.fromkeys(graph_of_draft(draft).outputs))
    if not outputs or any(name not in names for name in outputs):
        return None
    graph = Graph(nodes=tuple(settled), outputs=tuple(names[name] for name in outputs))
    return _renamed(replace(draft, graph=graph, requirements=(_pattern(graph),)), names)


def _renamed(draft: Draft, names: Mapping[str, str]) -> Draft:
    """A draft with other names of its tensors, without those that have no name."""

    def named(values: Mapping[str, _Value]) -> dict[str, _Value]:
        return {names[name]: value for name, value in values.items() if name in names}

    binding = named(draft.binding)
    fed = {name for name, word in binding.items() if word == "parameter"}
    tensors = named(draft.tensors)
    dynamic = {name: x for name, x in named(draft.dynamic).items() if name in fed and x != tensors[name].shape}
    second = {name: x for name, x in named(draft.second or {}).items() if name in fed and x != tensors[name]}
    return replace(draft, tensors=tensors, binding=binding, dynamic=dynamic, second=second or None)


def _needed(draft: Draft) -> list[Node]:
    """The nodes that outputs need, in order."""
    needed, kept = {*graph_of_draft(draft).outputs}, list[Node]()
    for node in reversed(nodes_of(draft)):
        if needed.intersection(node.outputs):
            kept.insert(0, node)
            needed.update(name for name in node.inputs if name is not None)
    return kept


def _tensor_names(draft: Draft, nodes: Sequence[Node], places: Mapping[str, str]) -> dict[str, str]:
    """The names of the tensors that nodes take: of constants that are taken once, and of inputs in order."""
    takers: dict[str, list[str]] = {}
    for node in nodes:
        for port, name in ports_of(node).items():
            if name in draft.tensors:
                takers.setdefault(name, []).append(f"{port}_of_{places[node.name]}")
    inputs = (f"x{number}" for number in range(len(takers)))
    return {
        name: own[0] if draft.binding[name] == "constant" and len(own) == 1 else next(inputs)
        for name, own in takers.items()
    }


def _pattern(graph: Graph) -> str:
    """The requirement on the pattern in which the operations of a graph meet."""
    made: dict[str, set[str]] = {}
    is_residual = is_behind = False
    for node in graph.nodes:
        taken = [name for name in node.inputs if name is not None]
        earlier = set[str]().union(*(made.get(name, set()) for name in taken))
        is_behind = is_behind or any(name in made for name in taken)
        is_residual = is_residual or not earlier.isdisjoint(taken)
        made |= dict.fromkeys(node.outputs, earlier | {*taken})
    if is_residual:
        return "values.residual"
    if not is_behind:
        return "values.beside"
    return "values.behind" if len(graph.nodes) == FEWEST else "values.chain"
