"""Walks over a graph with the reference semantics of its operations: types, elements, and other readings."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from opconform.operations import OPERATIONS
from opconform.operations.arguments import Arguments, Operand, Rejection, TensorType
from opconform.operations.operation import Computation, Operation
from opconform.suite.case import Graph, Node
from opconform.tensors.tensor import Tensor


def inferred(graph: Graph, operands: Mapping[str, Operand]) -> dict[str, Operand]:
    """The types of every tensor of a graph, given its inputs; `Rejection` if they violate a specification."""
    known = dict(operands)
    for node in graph.nodes:
        arguments = arguments_at(node, known)
        known |= results_of(node, OPERATIONS[node.op].infer(arguments), arguments)
    return known


def violation_of(graph: Graph, operands: Mapping[str, Operand]) -> tuple[Node, tuple[str, ...]] | None:
    """The first node of a graph whose arguments violate requirements, and these; None in a valid graph."""
    known = dict(operands)
    for node in graph.nodes:
        arguments = arguments_at(node, known)
        try:
            known |= results_of(node, OPERATIONS[node.op].infer(arguments), arguments)
        except Rejection as rejection:
            return node, rejection.requirements
    return None


def arguments_of(op: str, graph: Graph, operands: Mapping[str, Operand]) -> Iterator[Arguments]:
    """The arguments of every node of an operation in a valid case's graph, given its inputs."""
    known = dict(operands)
    for node in graph.nodes:
        arguments = arguments_at(node, known)
        if node.op == op:
            yield arguments
        known |= results_of(node, OPERATIONS[node.op].infer(arguments), arguments)


def evaluated(
    graph: Graph,
    inputs: Mapping[str, Tensor],
    evaluate: Callable[[Operation, Arguments], tuple[Tensor, ...]] = lambda operation, a: operation.evaluate(a),
    *,
    follows_errors: bool = False,
) -> dict[str, Tensor]:
    """Every tensor of a valid case's graph, by name, as the reference semantics evaluate them.

    `evaluate` may give the outputs of a node by another reading of the specification. `follows_errors` says that
    nodes compute with rounded elements; otherwise such elements may only be moved.
    """
    tensors, used = dict(inputs), taken(graph) if follows_errors else set[str]()
    for node in graph.nodes:
        operation, arguments = OPERATIONS[node.op], evaluated_arguments(node, tensors)
        outputs = evaluate(operation, arguments)
        if isinstance(operation, Computation) and not used.isdisjoint(node.outputs):
            outputs = operation.followed(arguments, outputs)
        tensors |= zip(node.outputs, outputs, strict=True)
    return tensors


def read_otherwise(
    graph: Graph, ours: Mapping[str, Tensor], read: Callable[[Node, Arguments], tuple[Tensor, ...] | None]
) -> dict[str, Tensor]:
    """Every tensor of a valid case's graph by another reading of the specification.

    `read` gives the outputs of a node, or None where they are those of our reading, `ours`. Only what follows from
    other tensors than ours is evaluated again.
    """
    tensors, changed = dict(ours), set[str]()
    for node in graph.nodes:
        arguments = evaluated_arguments(node, tensors)
        outputs = read(node, arguments)
        if outputs is None and changed.isdisjoint(ports_of(node).values()):
            continue
        tensors |= zip(node.outputs, outputs or OPERATIONS[node.op].evaluate(arguments), strict=True)
        changed.update(node.outputs)
    return tensors


def evaluated_arguments(node: Node, tensors: Mapping[str, Tensor]) -> Arguments:
    """The arguments of a node's operation, with their elements."""
    port_of = OPERATIONS[node.op].port_of
    operands = {
        name: operand_of(tensors[name], exact=port_of(port).role == "setting") for port, name in ports_of(node).items()
    }
    return arguments_at(node, operands)


def operand_of(tensor: Tensor, *, exact: bool) -> Operand:
    """A tensor as an operand: at a setting port it needs its exact integers or booleans."""
    integers = tuple(tensor.integers()) if exact and tensor.type.is_integer else None
    if exact and tensor.type.kind == "boolean":
        integers = tuple(map(int, tensor.array.ravel().tolist()))
    return Operand(element_type=tensor.element_type, shape=tensor.shape, integers=integers, tensor=tensor)


def ports_of(node: Node) -> dict[str, str]:
    """The tensors that a node takes, by the names of its ports."""
    return OPERATIONS[node.op].declaration.named(node.inputs)


def arguments_at(node: Node, operands: Mapping[str, Operand]) -> Arguments:
    """The arguments of a node's operation."""
    inputs = {port: operands[name] for port, name in ports_of(node).items()}
    return OPERATIONS[node.op].arguments(inputs, node.attributes)


def taken(graph: Graph) -> set[str]:
    """The tensors that the nodes of a graph take; a context may compute a setting input instead of taking it."""
    return {name for node in graph.nodes for name in node.inputs if name is not None}


def results_of(node: Node, types: Sequence[TensorType], arguments: Arguments) -> dict[str, Operand]:
    """The outputs of a node by name, with their integers if the arguments determine them."""
    integers = OPERATIONS[node.op].values(arguments)
    return {
        name: Operand(element_type=type_.element_type, shape=type_.shape, integers=integers)
        for name, type_ in zip(node.outputs, types, strict=True)
    }
