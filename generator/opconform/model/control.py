"""Controls: a case's neighbour of the node under test by itself, to tell which of the two a failure is due to."""

from collections.abc import Mapping
from dataclasses import replace

from opconform.model.draft import TensorDraft
from opconform.model.golden import Golden
from opconform.model.graph import declared, evaluated, graph_of, ports_of
from opconform.suite.case import Dynamic
from opconform.tensors.tensor import Tensor


def control_of(golden: Golden) -> Golden | None:
    """The graph of a case without the node under test, whose golden outputs are the inputs instead.

    Returns:
        A bare case of the neighbour's operation, or None: a rejected case has no golden outputs, and in the contexts
        without a neighbour there is nothing left.
    """
    neighbours = [each for each in golden.graph.nodes if not each.under_test]
    if not golden.tensors or len(neighbours) != 1:
        return None
    [neighbour] = neighbours
    ports = ports_of(neighbour)
    inputs = tuple({port: each[name] for port, name in ports.items()} for each in golden.tensors)
    first, *others = ({port: _tensor_draft(each) for port, each in feed.items()} for feed in inputs)
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


def _tensor_draft(tensor: Tensor) -> TensorDraft:
    return TensorDraft(element_type=tensor.element_type, shape=tensor.shape, fill="values")


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
