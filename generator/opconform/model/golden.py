"""Goldens: the inputs of a case, and the outputs of the reference semantics."""

from collections.abc import Mapping
from dataclasses import dataclass

from opconform.model.draft import Draft
from opconform.model.fills import fill
from opconform.model.graph import evaluated, graph_of
from opconform.suite.case import Graph
from opconform.tensors.tensor import Tensor


@dataclass(frozen=True, kw_only=True, slots=True)
class Golden:
    """A draft with the values of its tensors.

    Attributes:
        graph: The model of the case.
        inputs: The inputs of each feed, by name.
        tensors: Every tensor of the graph in each feed, by name; none for a rejected case.
    """

    draft: Draft
    graph: Graph
    inputs: tuple[Mapping[str, Tensor], ...]
    tensors: tuple[Mapping[str, Tensor], ...]

    @property
    def outputs(self) -> tuple[tuple[Tensor, ...], ...]:
        """The outputs of the model for each feed; none for a rejected case."""
        return tuple(tuple(each[name] for name in self.graph.outputs) for each in self.tensors)


def golden_of(draft: Draft, seed: int) -> Golden:
    """The golden of a validated draft; its content and the suite's seed decide the random bits."""
    first = {name: fill(each, seed, draft.content, 0, name) for name, each in draft.tensors.items()}
    second = {name: fill(each, seed, draft.content, 1, name) for name, each in (draft.second or {}).items()}
    inputs = (first,) if draft.second is None else (first, {**first, **second})
    graph = graph_of(draft)
    accepted = () if draft.refusal is not None else inputs
    tensors = tuple(evaluated(graph, each) for each in accepted)
    return Golden(draft=draft, graph=graph, inputs=inputs, tensors=tensors)
