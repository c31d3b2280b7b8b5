"""Goldens: the inputs of a case and the outputs of the reference semantics; and controls of cases."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from opconform.model.draft import Draft, TensorDraft
from opconform.model.fills import fill
from opconform.model.graph import declared, evaluated, graph_of, ports_of
from opconform.suite.case import Dynamic, Graph
from opconform.tensors.tensor import Tensor


@dataclass(frozen=True, kw_only=True, slots=True)
class Golden:
    """A draft with its graph, and the values of the inputs and of all tensors in each feed, by name.

    A rejected case has no `tensors`.
    """

    draft: Draft
    graph: Graph
    inputs: tuple[Mapping[str, Tensor], ...]
    tensors: tuple[Mapping[str, Tensor], ...]

    @property
    def outputs(self) -> tuple[tuple[Tensor, ...], ...]:
        """The outputs of the model for each feed; none for a rejected case."""
        return tuple(tuple(each[name] for name in self.graph.outputs) for each in self.tensors)


def inputs_of(draft: Draft, seed: int) -> tuple[Mapping[str, Tensor], ...]:
    """The inputs of each feed of a draft."""
    first = {name: fill(each, seed, draft.content, 0, name) for name, each in draft.tensors.items()}
    second = {name: fill(each, seed, draft.content, 1, name) for name, each in (draft.second or {}).items()}
    return (first,) if draft.second is None else (first, {**first, **second})


def golden_of(draft: Draft, seed: int) -> Golden:
    """The golden of a validated draft; its content and the suite's seed decide the random bits."""
    inputs = inputs_of(draft, seed)
    graph = graph_of(draft)
    accepted = () if draft.rejected_for is not None else inputs
    tensors = tuple(evaluated(graph, each) for each in accepted)
    return Golden(draft=draft, graph=graph, inputs=inputs, tensors=tensors)


def control_of(golden: Golden) -> Golden | None:
    """The control of a case: its neighbour of the node under test alone, given that node's golden outputs.

    It tells which of the two nodes a failure is due to. A rejected case, or one without a neighbour, has none.
    """
    neighbours = [each for each in golden.graph.nodes if not each.under_test]
    if not golden.tensors or len(neighbours) != 1:
        return None
    [neighbour] = neighbours
    ports = ports_of(neighbour)
    inputs = tuple({port: each[name] for port, name in ports.items()} for each in golden.tensors)
    first, *others = (
        {
            port: TensorDraft(element_type=each.element_type, shape=each.shape, fill="values")
            for port, each in feed.items()
        }
        for feed in inputs
    )
    is_folded = all(each == "constant" for each in golden.draft.binding.values())
    draft = replace(
        golden.draft,
        op=neighbour.op,
        title=f"the control: {neighbour.op} by itself, given the outputs of {golden.draft.op}",
        requirements=(),
        seen=(),
        attributes=neighbour.attributes,
        tensors=first,
        second=others[0] if others else None,
        binding=dict.fromkeys(first, "constant" if is_folded else "parameter"),
        dynamic=_dynamic(golden, ports),
        context="bare",
        twin=None,
        essential=False,
    )
    graph = graph_of(draft)
    return Golden(draft=draft, graph=graph, inputs=inputs, tensors=tuple(evaluated(graph, each) for each in inputs))


def _dynamic(golden: Golden, ports: Mapping[str, str]) -> dict[str, Dynamic]:
    """The declared dimensions of inputs that the case's model does not know; all of them where a rank is open."""
    types = declared(golden.draft, golden.graph)
    dynamic: dict[str, Dynamic] = {}
    for port, name in ports.items():
        dimensions = types[name].dimensions
        if None in dimensions:
            known = tuple("?" if each is None else each for each in dimensions)
            dynamic[port] = "..." if "..." in golden.draft.dynamic.values() else known
    return dynamic
