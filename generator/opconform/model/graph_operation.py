"""A graph under test as one operation, whose ports are the inputs of the model."""

from collections.abc import Iterator, Sequence
from functools import partial

from opconform.model.evaluation import arguments_at, evaluated, inferred, results_of
from opconform.operations import OPERATIONS
from opconform.operations.arguments import Arguments, Rejection, TensorType
from opconform.operations.operation import Computation
from opconform.suite.case import GRAPH, VALID_NODES, Graph, Node
from opconform.suite.declarations import Port
from opconform.tensors.tensor import Tensor


def operation_of_graph(graph: Graph, inputs: Sequence[str]) -> Computation:
    """A graph as one operation that computes its outputs node by node, for the names of its inputs."""
    return Computation(
        name=GRAPH,
        inputs=tuple(port_of_input(graph.nodes, name) for name in inputs),
        types=partial(_types, graph),
        calculate=partial(_outputs, graph),
        is_numeric=any(OPERATIONS[node.op].is_numeric for node in graph.nodes),
        products=partial(_products, graph),
    )


def port_of_input(nodes: Sequence[Node], name: str) -> Port:
    """An input of a graph as a port: a setting if a node takes it at a setting port, with that port's type."""
    taking = [*_ports_taking(nodes, name)]
    settings = [port for port in taking if port.setting]
    decisive = next(iter(settings or taking), None)
    types = decisive.types if decisive is not None and len(decisive.types or ()) == 1 else None
    return Port(name, setting=bool(settings), filled=all(port.filled for port in settings), types=types)


def _ports_taking(nodes: Sequence[Node], name: str) -> Iterator[Port]:
    for node in nodes:
        operation = OPERATIONS[node.op]
        yield from (
            operation.port_of(x) for x, tensor in operation.declaration.named(node.inputs).items() if tensor == name
        )


def _types(graph: Graph, arguments: Arguments) -> tuple[TensorType, ...]:
    try:
        known = inferred(graph, arguments.inputs)
    except Rejection as rejection:
        raise Rejection((VALID_NODES,)) from rejection
    outputs = [known[name] for name in graph.outputs]
    return tuple(TensorType(element_type=x.element_type, shape=x.shape) for x in outputs)


def _outputs(graph: Graph, arguments: Arguments) -> tuple[Tensor, ...]:
    tensors = evaluated(graph, {name: arguments.tensor(name) for name in arguments.inputs}, follows_errors=True)
    return tuple(tensors[name] for name in graph.outputs)


def _products(graph: Graph, arguments: Arguments) -> int:
    """The work of its nodes, as a number of products."""
    known, products = dict(arguments.inputs), 0
    for node in graph.nodes:
        operation, taken = OPERATIONS[node.op], arguments_at(node, known)
        products += operation.products(taken) if isinstance(operation, Computation) else 0
        known |= results_of(node, operation.infer(taken), taken)
    return products
