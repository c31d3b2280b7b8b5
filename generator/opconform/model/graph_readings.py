"""The other readings of interpretations by which the nodes of a graph under test may be read."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from opconform.model.evaluation import evaluated_arguments, read_otherwise
from opconform.operations import OPERATIONS
from opconform.operations.arguments import Arguments, NoGolden, Rejection, Unknown
from opconform.operations.arithmetic.elementwise import elements_of, tensor_of
from opconform.suite.case import Graph, Node
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor, patterns

_Outputs = tuple[Tensor, ...]
_Feeds = Sequence[Mapping[str, Tensor]]
_Way = Callable[[Arguments], Arguments | _Outputs]

#: The interpretation by which the results between operations have their element types.
KEPT_WIDE = "values.between"
#: The types in which backends compute that have no arithmetic of a narrow type.
_WIDE = {"f16": "f32", "bf16": "f32", "i8": "i32", "u8": "i32", "i16": "i32", "u16": "i32"}
#: The most nodes that a reading names.
_NAMED = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class GraphReading:
    """What becomes of a graph if some of its nodes are read otherwise.

    Attributes:
        name: The interpretation with the nodes, as in `Convert-1:floats.clamped@third`.
        by_element: Whether each element is right by this reading alone.
        tensors: The tensors of each feed; None if another node rejects what this one then gives it.
    """

    name: str
    by_element: bool
    tensors: Sequence[Mapping[str, Tensor]] | None


def graph_readings(graph: Graph, ours: _Feeds) -> Iterator[GraphReading]:
    """What becomes of a graph by each other reading of each operation: in each of its nodes, and in all of them.

    `ours` has the tensors of each feed as they are evaluated. Combinations of several readings are not among them, nor
    are readings that reject a node: whether a backend follows one shows in the node alone.
    """
    if not ours:  # the graph is invalid
        return
    for op in dict.fromkeys(node.op for node in graph.nodes):
        nodes = frozenset(node.name for node in graph.nodes if node.op == op)
        for requirement, reading in OPERATIONS[op].readings.items():
            ways: tuple[_Way, ...] = () if reading.misreads else (*reading.rewrites, *reading.computes)
            for way in ways:
                changed, tensors = _read(graph, ours, way, nodes)
                alone = [_read(graph, ours, way, {name}) for name in changed] if len(changed) > 1 else []
                for names, feeds in (*alone, (changed, tensors)):
                    if names and feeds != ():
                        name = f"{op}:{requirement}@{'+'.join(names) if len(names) <= _NAMED else '*'}"
                        yield GraphReading(name=name, by_element=reading.by_element, tensors=feeds)
    yield from _kept_wide(graph, ours)


def _read(graph: Graph, ours: _Feeds, way: _Way, nodes: Collection[str]) -> tuple[list[str], _Feeds | None]:
    """The nodes whose results another way of reading changes, and the tensors of each feed.

    There are no feeds if the results have no results behind them, and None if another node rejects them.
    """
    changed: dict[str, None] = {}

    def read(node: Node, arguments: Arguments) -> _Outputs | None:
        operation = OPERATIONS[node.op]
        try:
            other = way(arguments) if node.name in nodes else None
        except Unknown:  # the reading treats the node as ours does
            return None
        if isinstance(other, Arguments):
            operation.infer(other)
            other = operation.evaluate(other)
        if other is None or all(map(are_equal, other, operation.evaluate(arguments))):
            return None
        changed[node.name] = None
        return other

    try:
        tensors = [read_otherwise(graph, feed, read) for feed in ours]
    except Rejection:
        return [*(changed or nodes)], None
    except NoGolden:
        return [*changed], ()
    return [*changed], tensors


def are_equal(tensor: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same elements."""
    return np.array_equal(patterns(np.asarray(tensor.array)), patterns(np.asarray(other.array)))


def _kept_wide(graph: Graph, ours: _Feeds) -> Iterator[GraphReading]:
    """What becomes of a graph if results between operations have more digits or bits than their narrow types."""
    made = {ours[0][name].element_type for node in graph.nodes for name in node.outputs}
    if len(graph.nodes) > 1 and not made.isdisjoint(_WIDE):
        with suppress(NoGolden, Rejection):
            tensors = [_wide_feed(graph, feed) for feed in ours]
            yield GraphReading(name=KEPT_WIDE, by_element=True, tensors=tensors)


def _wide_feed(graph: Graph, ours: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors of a feed, computed in wide types and brought to their own ones at last.

    A result whose type an attribute names, as that of a conversion, is brought to it at once.
    """
    made = {name for node in graph.nodes for name in node.outputs}
    wide = {name: _widened(tensor) for name, tensor in ours.items() if name not in made}
    for node in graph.nodes:
        outputs = OPERATIONS[node.op].evaluate(evaluated_arguments(node, wide))
        wide |= zip(node.outputs, map(_widened, outputs), strict=True)
    return {name: ours[name] if name not in made else _narrowed(wide[name], ours[name]) for name in ours}


def _widened(tensor: Tensor) -> Tensor:
    """The same numbers in the wide type of a narrow one."""
    wide = _WIDE.get(tensor.element_type)
    return tensor if wide is None else tensor_of(ELEMENT_TYPES[wide], elements_of(tensor))


def _narrowed(tensor: Tensor, ours: Tensor) -> Tensor:
    return tensor if ours.element_type not in _WIDE else tensor_of(ours.type, elements_of(tensor))
