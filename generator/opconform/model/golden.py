"""Goldens: the inputs and outputs of a case by the reference semantics, its neighbour check, and the memory for it."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from opconform.model.draft import Draft, TensorDraft
from opconform.model.evaluation import evaluated, inferred, operand_of, ports_of, taken
from opconform.model.fills import fill, longest_text
from opconform.model.graph import declared, graph_of
from opconform.model.other_elements import with_other_elements, with_readings_of_nodes
from opconform.operations import OPERATIONS
from opconform.operations.arguments import NoGolden, Operand, TensorType
from opconform.operations.denormals import flushed, has_denormals, without_denormals
from opconform.suite.bounds import are_vague
from opconform.suite.case import Binding, Dynamic, Graph, Node
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor, patterns


@dataclass(frozen=True, kw_only=True, slots=True)
class Golden:
    """A draft with its graph, and the values of the inputs and of all tensors in each feed, by name.

    An invalid case has no `tensors`.
    """

    draft: Draft
    graph: Graph
    inputs: tuple[Mapping[str, Tensor], ...]
    tensors: tuple[Mapping[str, Tensor], ...]

    @property
    def outputs(self) -> tuple[tuple[Tensor, ...], ...]:
        """The outputs of the model for each feed; none for an invalid case."""
        return tuple(tuple(tensor[name] for name in self.graph.outputs) for tensor in self.tensors)


def inputs_of(draft: Draft, seed: int) -> tuple[Mapping[str, Tensor], ...]:
    """The inputs of each feed of a draft."""
    first = _filled(draft, draft.tensors, seed, 0)
    return (first,) if draft.second is None else (first, {**first, **_filled(draft, draft.second, seed, 1)})


def _filled(draft: Draft, tensors: Mapping[str, TensorDraft], seed: int, feed: int) -> dict[str, Tensor]:
    """The tensors of a feed. The ramps at a variadic port continue each other, so that no two tensors are alike."""
    filled, after = {}, 0
    for name, tensor in tensors.items():
        is_variadic = draft.operation.port_of(name).variadic
        filled[name] = fill(tensor, seed, draft.content, feed, name, after=after if is_variadic else 0)
        after += math.prod(tensor.shape) if is_variadic else 0
    return filled


def golden_of(draft: Draft, seed: int) -> Golden:
    """The golden of a validated draft; its content and the suite's seed decide the random bits."""
    graph = graph_of(draft)
    used = taken(graph)
    inputs = tuple({name: tensor for name, tensor in feed.items() if name in used} for feed in inputs_of(draft, seed))
    accepted = () if draft.rejected_for is not None else inputs
    ours = [evaluated(graph, x, follows_errors=draft.graph is not None) for x in accepted]
    tensors = with_other_elements(draft.operation, graph, ours, compared_feeds(graph, accepted, ours))
    return Golden(draft=draft, graph=graph, inputs=inputs, tensors=tensors)


def compared_feeds(
    graph: Graph, inputs: Sequence[Mapping[str, Tensor]], feeds: Sequence[dict[str, Tensor]]
) -> tuple[Mapping[str, Tensor], ...]:
    """The evaluated tensors of accepted feeds, whose outputs have what verdicts need.

    Outputs have bounds in each feed if they have in one. They are `flushed` if those of inputs without denormal numbers
    differ by more than denormal numbers.
    """
    others: list[dict[str, Tensor]] = []
    is_followed = any(tensor.spans is not None for feed in feeds for tensor in feed.values())
    if not is_followed and any(has_denormals(tensor) for feed in inputs for tensor in feed.values()):
        with suppress(NoGolden):
            others = [evaluated(graph, x, flushed) for x in inputs]
    pairs = [(feed[name], other[name]) for feed, other in zip(feeds, others, strict=False) for name in graph.outputs]
    kept = [[patterns(without_denormals(x).array) for x in pair] for pair in pairs]
    if all(np.array_equal(mine, other) for mine, other in kept):
        others = []
    alike = _compared_alike(graph, (*feeds, *others))
    names = graph.outputs if others else ()
    return tuple(
        feed | {name: replace(feed[name], flushed=other[name]) for name in names}
        for feed, other in zip(alike, alike[len(feeds) :] or alike, strict=False)
    )


def proves_nothing(golden: Golden) -> bool:
    """Whether nearly any outputs are right: 0 and twice the golden number are within the bounds of every element.

    Around a golden 0, the bounds must also be wider than denormal numbers, for which many kernels have 0. A reader
    refuses single outputs with such bounds, too.
    """
    return prove_nothing([tensor for feed in golden.outputs for tensor in feed])


def prove_nothing(outputs: Sequence[Tensor]) -> bool:
    """Whether nearly any outputs are right in place of these."""
    every = (*outputs, *(tensor.flushed for tensor in outputs if tensor.flushed is not None))
    if any(x.bounds is not None and are_vague(x.type, x.array, x.bounds) for x in every):
        return True
    return any(tensor.array.size for tensor in outputs) and all(map(_is_arbitrary, outputs))


def _is_arbitrary(tensor: Tensor) -> bool:
    if tensor.bounds is None:
        return tensor.array.size == 0
    with np.errstate(over="ignore", invalid="ignore"):  # signalling NaNs
        golden, lower, upper = (
            x.view(tensor.type.arithmetic).astype(np.float64) for x in (tensor.array, *tensor.bounds)
        )
        twice = 2 * golden
        wide = (lower <= np.minimum(0, twice)) & (upper >= np.maximum(0, twice)) & (lower < upper)
        wide &= (golden != 0) | (upper - lower > 2 * float(tensor.type.layout.smallest_normal))
    return bool(wide.all())


def _compared_alike(graph: Graph, feeds: tuple[dict[str, Tensor], ...]) -> tuple[dict[str, Tensor], ...]:
    """The tensors of the feeds; outputs have bounds and as many other right values in each feed as in one."""
    bounded = {name for name in graph.outputs if any(feed[name].bounds for feed in feeds)}
    reduced = {name for name in graph.outputs if any(feed[name].reduced for feed in feeds)}
    most = {name: max((len(feed[name].also) for feed in feeds), default=0) for name in graph.outputs}

    def alike(name: str, tensor: Tensor) -> Tensor:
        also = (*tensor.also, *(tensor.array,) * (most[name] - len(tensor.also)))
        bounds = tensor.bounds or ((tensor.array, tensor.array) if name in bounded else None)
        wide = tensor.reduced or ((bounds or (tensor.array, tensor.array)) if name in reduced else None)
        return replace(tensor, bounds=bounds, reduced=wide, also=also)

    return tuple(feed | {name: alike(name, feed[name]) for name in graph.outputs} for feed in feeds)


def neighbour_check_of(golden: Golden) -> Golden | None:
    """The neighbour check of a case: its graph with golden values in place of the outputs of the node under test.

    It shows whether a failure is due to the other nodes. An invalid case has none, nor has one without other nodes than
    constants. The neighbour check of a graph under test has its nodes side by side, each with its golden inputs: it
    shows whether a failure is due to a node alone.
    """
    if golden.draft.graph is not None:
        return _nodes_alone(golden)
    tested = [node for node in golden.graph.nodes if node.under_test]
    others = [node for node in golden.graph.nodes if not node.under_test]
    if not golden.tensors or not any(node.inputs for node in others):
        return None
    replaced = {name for node in tested for name in node.outputs}
    renamed = {name: port for node in others for port, name in ports_of(node).items() if name in replaced}
    connected = [replace(node, inputs=tuple(renamed.get(name or "", name) for name in node.inputs)) for node in others]
    *before, last = connected
    made = {name for node in others for name in node.outputs}
    ends = dict.fromkeys([*golden.graph.outputs, *(input_ for node in tested for input_ in node.inputs)])
    graph = Graph(
        nodes=(*before, replace(last, under_test=True)),
        outputs=tuple(end for end in ends if end is not None and end in made),
    )
    sources = {
        renamed.get(input_, input_): input_
        for node in others
        for input_ in node.inputs
        if input_ and input_ not in made
    }
    inputs = tuple({name: _alone(tensor[source]) for name, source in sources.items()} for tensor in golden.tensors)
    first, *second = (
        {
            name: TensorDraft(element_type=tensor.element_type, shape=tensor.shape, fill="values")
            for name, tensor in feed.items()
        }
        for feed in inputs
    )
    draft = replace(
        golden.draft,
        op=last.op,
        title=f"the neighbour check: the same graph without {golden.draft.op}",
        requirements=(),
        seen=(),
        attributes=last.attributes,
        tensors=first,
        second=second[0] if second else None,
        binding=_bindings(golden, sources),
        dynamic=_dynamic(golden, sources),
        context="bare",
        twin=None,
        essential=False,
    )
    return Golden(draft=draft, graph=graph, inputs=inputs, tensors=tuple(evaluated(graph, input_) for input_ in inputs))


def name_alone(node: Node, port: str) -> str:
    """The name of what a node of a graph takes, in the neighbour check of the graph."""
    return f"{node.name}__{port}"


def _nodes_alone(golden: Golden) -> Golden | None:
    """The nodes of a graph under test side by side, none of which takes the result of another."""
    if not golden.tensors or len(golden.graph.nodes) == 1:
        return None
    sources: dict[str, str] = {}
    nodes: list[Node] = []
    settings: set[str] = set()
    for node in golden.graph.nodes:
        renamed: dict[str, str] = {}
        for port, name in ports_of(node).items():
            alone = name_alone(node, port)
            sources[alone], renamed[port] = name, alone
            if OPERATIONS[node.op].role_of(port) == "setting":
                settings.add(alone)
        names = iter(renamed.values())
        nodes.append(replace(node, inputs=tuple(None if name is None else next(names) for name in node.inputs)))
    graph = Graph(nodes=tuple(nodes), outputs=tuple(name for node in nodes for name in node.outputs))
    inputs = tuple({name: _alone(feed[source]) for name, source in sources.items()} for feed in golden.tensors)
    first, *second = (
        {
            name: TensorDraft(
                element_type=tensor.element_type,
                shape=tensor.shape,
                fill="values",
                elements=operand_of(tensor, exact=name in settings).integers or (),
            )
            for name, tensor in feed.items()
        }
        for feed in inputs
    )
    binding = _bindings(golden, sources)
    made = {name for node in golden.graph.nodes for name in node.outputs}
    fixed: dict[str, Binding] = {
        name: "constant"
        for name in settings
        if sources[name] in made and all(np.array_equal(feed[name].array, inputs[0][name].array) for feed in inputs)
    }
    draft = replace(
        golden.draft,
        title="the neighbour check: the nodes side by side, each with its golden inputs",
        requirements=(),
        seen=(),
        tensors=first,
        second=second[0] if second else None,
        binding=binding | fixed,
        dynamic={name: x for name, x in _dynamic(golden, sources).items() if (binding | fixed)[name] == "parameter"},
        context="bare",
        twin=None,
        essential=False,
        graph=graph,
    )
    ours = [evaluated(graph, feed) for feed in inputs]
    tensors = with_readings_of_nodes(graph, ours, compared_feeds(graph, inputs, ours))
    return Golden(draft=draft, graph=graph, inputs=inputs, tensors=tensors)


def _alone(tensor: Tensor) -> Tensor:
    """A golden tensor as an input, which has its elements alone."""
    return replace(tensor, bounds=None, reduced=None, also=(), otherwise=(), spans=None)


def _bindings(golden: Golden, sources: Mapping[str, str]) -> dict[str, Binding]:
    """The bindings of a neighbour check's inputs; golden outputs are constants if all inputs of the case are."""
    binding = golden.draft.binding
    default: Binding = "constant" if set(binding.values()) == {"constant"} else "parameter"
    return {name: binding.get(source, default) for name, source in sources.items()}


def _dynamic(golden: Golden, sources: Mapping[str, str]) -> dict[str, Dynamic]:
    """The declared dimensions of a neighbour check's inputs; all of a golden output if a rank is dynamic."""
    types, declarations = declared(golden.draft, golden.graph), golden.draft.dynamic
    dynamic: dict[str, Dynamic] = {}
    for name, source in sources.items():
        dimensions = types[source].dimensions
        if source in declarations:
            dynamic[name] = declarations[source]
        elif None in dimensions:
            known = tuple("?" if dimension is None else dimension for dimension in dimensions)
            dynamic[name] = "..." if "..." in declarations.values() else known
    return dynamic


#: The memory for writing a case, as a multiple of its files' bytes; measured over all element types.
_COPIES = 3
#: The bytes of one string while it is made.
_TEXT = 640
_CHARACTER = 4


def file_bytes(draft: Draft) -> int:
    """The minimum size of a case's files in bytes: the arrays of all feeds, and the constants of one model."""
    constants = [tensor for name, tensor in draft.tensors.items() if draft.binding[name] == "constant"]
    tensors = [*(tensor for feed in draft.feeds for tensor in feed.values()), *constants]
    total = sum(math.prod(x.shape) * _element_bytes(x) for x in tensors)
    if draft.rejected_for is not None:
        return total
    for number, feed in enumerate(draft.feeds):
        widths = Counter[str]()
        for item in feed.values():  # of strings, the longest one counts
            widths[item.element_type] = max(widths[item.element_type], _element_bytes(item))
        outputs = output_types(draft, number)
        total += sum(math.prod(output.shape) * (widths[output.element_type] or 1) for output in outputs)
    return total


def output_types(draft: Draft, feed: int) -> Sequence[TensorType | Operand]:
    """The types of the model's outputs for one feed of a valid case."""
    if not draft.has_other_nodes:
        return draft.inferences[feed].outputs
    graph = graph_of(draft)
    types = inferred(graph, draft.arguments[feed].inputs)
    return [types[name] for name in graph.outputs]


def memory_bytes(draft: Draft, size: int) -> int:
    """The approximate memory for making a case whose files have a size, in bytes."""
    tensors = [tensor for feed in draft.feeds for tensor in feed.values()]
    texts = sum(math.prod(tensor.shape) for tensor in tensors if tensor.element_type == "string")
    return _COPIES * size + _TEXT * texts


def _element_bytes(tensor: TensorDraft) -> int:
    return ELEMENT_TYPES[tensor.element_type].storage.itemsize or _CHARACTER * longest_text(tensor)
