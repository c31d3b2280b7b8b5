"""Simpler variants of a drawn graph: without a node, with smaller sizes and values, or given in a plainer way."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from opconform.model.draft import Draft, TensorDraft
from opconform.model.evaluation import inferred
from opconform.operations import OPERATIONS
from opconform.operations.arguments import Operand
from opconform.suite.case import Attribute, Binding, Dynamic, Graph, Node
from opconform_runners.tools.fuzz.cases.variants import Number, smaller_element
from opconform_runners.tools.fuzz.graphs.structure import graph_of_draft, nodes_of
from opconform_runners.tools.fuzz.trial import resized


def cuts(draft: Draft) -> Iterator[Draft]:
    """The drafts without one node, the last one first; then those without one output."""
    graph, types = graph_of_draft(draft), inferred(graph_of_draft(draft), draft.arguments[0].inputs)
    for node in reversed(graph.nodes):
        yield from _without(draft, node, types)
    if len(graph.outputs) > 1:
        for name in graph.outputs:
            outputs = tuple(output for output in graph.outputs if output != name)
            yield replace(draft, graph=replace(graph, outputs=outputs))


def _without(draft: Draft, node: Node, types: Mapping[str, Operand]) -> Iterator[Draft]:
    """The drafts without a node: what it takes stands for its results, or new inputs do."""
    graph = graph_of_draft(draft)
    others = tuple(x for x in graph.nodes if x is not node)
    used = {name for x in others for name in x.inputs}
    taken = [name for name in node.inputs if name is not None]
    made = {name for x in others for name in x.outputs}
    bypass = {
        result: next((x for x in taken if types[x].element_type == types[result].element_type), None)
        for result in node.outputs
        if result in used
    }
    fed: dict[str, str] = {result: f"input_for_{result}" for result in bypass}
    bypassed = {result: x for result, x in bypass.items() if x is not None}
    for renamed in (bypassed, fed) if len(bypassed) == len(bypass) and bypass else (fed,):
        outputs = [renamed.get(name, name) for name in graph.outputs if name not in node.outputs or name in renamed]
        outputs = [name for name in dict.fromkeys(outputs) if name in made]
        outputs += [name for name in taken if name in made and not (used | {*outputs}) & {name}]
        if not outputs:
            continue
        new = {
            name: TensorDraft(element_type=types[result].element_type, shape=types[result].shape, fill="exact")
            for result, name in (renamed.items() if renamed is fed else ())
        }
        binding: dict[str, Binding] = {**draft.binding, **dict.fromkeys(new, "parameter")}
        open_: Mapping[str, Dynamic] = {name: ("?",) * len(x.shape) for name, x in new.items()} if draft.dynamic else {}
        second = {**draft.second, **_again(new)} if draft.second else draft.second
        yield replace(
            draft,
            tensors={**draft.tensors, **new},
            binding=binding,
            dynamic={**draft.dynamic, **open_},
            second=second,
            graph=Graph(nodes=tuple(_with_inputs(x, renamed) for x in others), outputs=tuple(outputs)),
        )


def _again(new: Mapping[str, TensorDraft]) -> dict[str, TensorDraft]:
    """New inputs in a second feed."""
    return {name: replace(tensor, fill="small") for name, tensor in new.items()}


def _with_inputs(node: Node, renamed: Mapping[str, str]) -> Node:
    return replace(node, inputs=tuple(None if name is None else renamed.get(name, name) for name in node.inputs))


def graph_variant(draft: Draft, number: Number) -> Draft:
    """A draft with some numbers: 0 leaves out a second feed, an open dimension, a binding, a type or a fill.

    A size becomes smaller wherever tensors have it, with the equal numbers in settings, and then in one tensor.
    """
    second = draft.second if draft.second and number(1, 0, 1, ("second",)) else None
    dynamic = {name: x for name, x in draft.dynamic.items() if number(1, 0, 1, ("dynamic", name))}
    types = {
        tensor.element_type: "f32" if not number(1, 0, 1, ("type", tensor.element_type)) else tensor.element_type
        for tensor in draft.tensors.values()
        if tensor.element_type in ("f16", "bf16", "f64")
    }
    every = [tensor for feed in draft.feeds for tensor in feed.values()]
    sizes: dict[object, int] = {x: number(x, 0, x, ("extent", x)) for tensor in every for x in tensor.shape}
    settings = {name for name, tensor in draft.tensors.items() if draft.operation.port_of(name).role == "setting"}

    def tensor(name: str, old: TensorDraft, feed: str) -> TensorDraft:
        element_type = types.get(old.element_type, old.element_type)
        if old.fill not in ("exact", "values") and not number(1, 0, 1, ("fill", name, feed)):
            old = replace(old, fill="exact", elements=())
        elements = tuple(
            sizes[x]
            if name in settings and sizes.get(x, x) != x
            else smaller_element(x, ("element", name, n, x), number)
            for n, x in enumerate(old.elements)
        )
        old = replace(old, element_type=element_type, elements=elements)
        if name in settings:
            return old
        return resized(
            old, [min(sizes[x], number(x, 0, x, ("extent", name, feed, n, x))) for n, x in enumerate(old.shape)]
        )

    tensors = {name: tensor(name, x, "") for name, x in draft.tensors.items()}
    again = {name: tensor(name, x, "second ") for name, x in (second or {}).items()}
    nodes = tuple(_smaller_node(node, types, number) for node in nodes_of(draft))
    return replace(
        draft,
        tensors=tensors,
        second=again or None,
        dynamic={name: _declared(x, draft.tensors[name], tensors[name]) for name, x in dynamic.items()},
        graph=replace(graph_of_draft(draft), nodes=nodes),
    )


def _declared(dynamic: Dynamic, old: TensorDraft, new: TensorDraft) -> Dynamic:
    """The declared dimensions of a tensor that has other sizes now."""
    if dynamic == "...":
        return dynamic
    return tuple(size if x == was else x for x, was, size in zip(dynamic, old.shape, new.shape, strict=True))


def _smaller_node(node: Node, types: Mapping[str, str], number: Number) -> Node:
    """A node with smaller attributes, and without some that have a default."""
    attributes: dict[str, Attribute] = {}
    defaults = {x.name for x in OPERATIONS[node.op].attributes if x.default is not None}
    for name, value in node.attributes.items():
        if name in defaults and not number(1, 0, 1, ("attribute", node.name, name)):
            continue
        if isinstance(value, tuple):
            attributes[name] = tuple(
                smaller_element(x, ("value", node.name, name, n, x), number) for n, x in enumerate(value)
            )
        else:
            attributes[name] = smaller_element(types.get(str(value), value), ("value", node.name, name, value), number)
    return replace(node, attributes=attributes)
