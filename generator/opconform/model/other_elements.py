"""The elements that other readings of interpretations give. Each is legitimate by itself."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from opconform.model.evaluation import read_otherwise
from opconform.model.graph_readings import GraphReading, are_equal, graph_readings
from opconform.operations.arguments import Arguments, NoGolden, Rejection, Unknown
from opconform.operations.operation import Operation
from opconform.suite.case import GRAPH, Graph, Node
from opconform.tensors.tensor import Array, Tensor, patterns

_Outputs = tuple[Tensor, ...]
_Feeds = Sequence[Mapping[str, Tensor]]
_Way = Callable[[Arguments], Arguments | _Outputs]


def with_other_elements(
    operation: Operation, graph: Graph, ours: _Feeds, feeds: _Feeds
) -> tuple[Mapping[str, Tensor], ...]:
    """The evaluated tensors of accepted feeds, whose outputs have the elements of other readings.

    Args:
        operation: The operation under test, whose nodes are read otherwise.
        graph: The graph that has these nodes.
        ours: The tensors of each feed as they are evaluated.
        feeds: These tensors, with what verdicts need.
    """
    if operation.name == GRAPH:
        return _of_graph([x for x in graph_readings(graph, ours) if x.by_element], graph, ours, feeds)
    known = [dict(feed) for feed in feeds]
    for requirement, others in _others(operation, graph, ours):
        for name in graph.outputs:
            outputs, read = [feed[name] for feed in known], [other[name] for other in others]
            arrays = [tensor.array for tensor in read]
            if _have_shape(outputs, arrays) and _is_new(requirement, outputs, arrays):
                for feed, tensor in zip(known, read, strict=True):
                    feed[name] = replace(feed[name], otherwise=(*feed[name].otherwise, (requirement, tensor)))
    return tuple(known)


def with_readings_of_nodes(graph: Graph, ours: _Feeds, feeds: _Feeds) -> tuple[Mapping[str, Tensor], ...]:
    """The same for nodes side by side, whose outputs have the elements of all readings of each node."""
    return _of_graph(graph_readings(graph, ours), graph, ours, feeds)


def _of_graph(
    readings: Iterable[GraphReading], graph: Graph, ours: _Feeds, feeds: _Feeds
) -> tuple[Mapping[str, Tensor], ...]:
    """The tensors with the elements of each output that differ by some readings of a graph."""
    known = [dict(feed) for feed in feeds]
    for reading in readings:
        for name in graph.outputs if reading.tensors else ():
            read = [other[name] for other in reading.tensors or ()]
            mine = [feed[name] for feed in ours]
            layers = [mine, *zip(*([x for _, x in feed[name].otherwise] for feed in known), strict=True)]
            is_known = any(all(map(are_equal, read, layer)) for layer in layers)
            if not is_known and _have_shape(mine, [x.array for x in read]):
                for feed, tensor in zip(known, read, strict=True):
                    feed[name] = replace(feed[name], otherwise=(*feed[name].otherwise, (reading.name, tensor)))
    return tuple(known)


def _have_shape(ours: Sequence[Tensor], arrays: Sequence[Array]) -> bool:
    return all(tensor.shape == array.shape for tensor, array in zip(ours, arrays, strict=True))


def _is_new(requirement: str, ours: Sequence[Tensor], arrays: Sequence[Array]) -> bool:
    """Whether an output has these elements by no known reading of the requirement, nor by ours, in all feeds."""
    others = ([other.array for name, other in x.otherwise if name == requirement] for x in ours)
    known = [[x.array for x in ours], *zip(*others, strict=True)]
    return not any(all(map(_are_equal, arrays, others)) for others in known)


def _are_equal(array: Array, other: Array) -> bool:
    return np.array_equal(patterns(np.asarray(array)), patterns(np.asarray(other)))


def _others(operation: Operation, graph: Graph, ours: _Feeds) -> Iterator[tuple[str, Sequence[Mapping[str, Tensor]]]]:
    """The interpretations with readings of single elements, and the tensors of each feed by one way of reading."""
    for requirement, reading in operation.readings.items():
        ways: tuple[_Way, ...] = (*reading.rewrites, *reading.computes) if reading.by_element else ()
        for way in ways:
            try:
                yield requirement, [_evaluated(operation, graph, feed, way) for feed in ours]
            except (Rejection, NoGolden):  # the elements of this reading have no results behind them
                continue


def _evaluated(operation: Operation, graph: Graph, ours: Mapping[str, Tensor], way: _Way) -> Mapping[str, Tensor]:
    """The tensors of a feed whose nodes of the operation under test are read in another way."""

    def read(node: Node, arguments: Arguments) -> _Outputs | None:
        if node.op != operation.name:
            return None
        try:
            other = way(arguments)
        except Unknown:  # the reading treats the node as ours does
            return None
        return operation.evaluate(other) if isinstance(other, Arguments) else other

    return read_otherwise(graph, ours, read)
