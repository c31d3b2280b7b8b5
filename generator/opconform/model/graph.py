"""The model graph of a case, built once from its draft, and the declarations of its tensors."""

import re
from dataclasses import dataclass

from opconform.model.draft import Draft, Neighbour, inference
from opconform.model.evaluation import arguments_at, operand_of, results_of
from opconform.model.fills import fill
from opconform.operations import OPERATIONS
from opconform.operations.arguments import Arguments, Operand, TensorType
from opconform.operations.contexts import constant
from opconform.operations.contract import ContextError, Tested
from opconform.operations.neighbours.convolution import convolved
from opconform.operations.neighbours.exported import flattened
from opconform.operations.operation import Computation, Operation
from opconform.suite.case import Graph, Node
from opconform.suite.names import IDENTIFIER
from opconform.tensors.tensor import Tensor, patterns

#: No more outputs than this are declared for an invalid case, whatever it asks for.
MOST_DECLARED = 64

#: The dimensions of a tensor in a model; None stands for one that is not known before the model is run.
Dimensions = tuple[int | None, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Declared:
    """The declaration of a tensor in a model."""

    element_type: str
    dimensions: Dimensions


def graph_of(draft: Draft) -> Graph:
    """The graph of a case in its context; `ContextError` if that cannot be built around the case."""
    if draft.graph is not None:
        return draft.graph
    operation = draft.operation
    accepted = draft.inferences if draft.rejected_for is None else draft.inferences[:-1]
    outputs = tuple(x.outputs for x in accepted if not x.violated)
    requested = operation.requested_outputs(draft.arguments[0]) or 0
    count = len(outputs[0]) if outputs else requested if 0 < requested <= MOST_DECLARED else 1
    node = Node(
        name=operation.type,
        op=operation.name,
        inputs=_connected(operation, tuple(draft.tensors)),
        outputs=tuple(f"{operation.type}_{number}" for number in range(count)),
        attributes=draft.attributes,
        under_test=True,
    )
    if not draft.has_other_nodes:  # `folded` changes bindings and not the graph
        return Graph(nodes=(node,), outputs=node.outputs)
    if draft.then is not None:
        return _followed(node, draft.then, has_outputs=bool(outputs))
    build = {"convolved": convolved, "flattened": flattened, **operation.contexts}[draft.context]
    return _named(build(Tested(operation=operation, node=node, arguments=draft.arguments, outputs=outputs)))


def _named(graph: Graph) -> Graph:
    """A graph of a context, whose names a suite can have."""
    names = [name for node in graph.nodes for name in (node.name, *node.outputs)]
    odd = next((name for name in names if re.fullmatch(IDENTIFIER, name) is None), None)
    if odd is not None:
        raise ContextError(f"the context names a node or a tensor {odd!r}: use letters, digits and underscores")
    return graph


def _followed(node: Node, neighbour: Neighbour, *, has_outputs: bool) -> Graph:
    """The graph in which a neighbour takes the last output, at its first port or twice at a variadic one.

    The neighbour's setting inputs are constants of the model.
    """
    if not has_outputs:
        raise ContextError("an invalid case has no output for the context `then` to use")
    operation = OPERATIONS[neighbour.op]
    settings = {name: fill(setting, operation.name, name) for name, setting in neighbour.settings.items()}
    constants = {name: _constant(operation, name, tensor) for name, tensor in settings.items()}
    first, *others = operation.inputs
    inputs: list[str | None] = [*(node.outputs[-1],) * (2 if first.variadic else 1)]
    inputs += [constants[port.name].outputs[0] if port.name in constants else None for port in others]
    while inputs[-1] is None:
        inputs.pop()
    operands = {name: operand_of(tensor, exact=True) for name, tensor in settings.items()}
    count = operation.requested_outputs(operation.arguments(operands, neighbour.attributes)) or 1
    name = f"{operation.type}_then"
    last = Node(
        name=name,
        op=operation.name,
        inputs=tuple(inputs),
        outputs=tuple(f"{name}_{number}" for number in range(count)),
        attributes=neighbour.attributes,
    )
    return Graph(nodes=(node, *constants.values(), last), outputs=(*node.outputs[:-1], *last.outputs))


def _constant(operation: Operation, name: str, tensor: Tensor) -> Node:
    """An input of a neighbour, as a constant of the model."""
    if tensor.element_type == "string":
        raise ContextError(f"the neighbour's {name} must not have texts")
    is_exact = tensor.type.is_integer or tensor.element_type == "boolean"
    value = tensor.integers() if is_exact else [hex(bits) for bits in patterns(tensor.array).ravel().tolist()]
    return constant(f"{operation.type}_{name}", tensor.element_type, tensor.shape, value)


def declared(draft: Draft, graph: Graph) -> dict[str, Declared]:
    """The declarations of the tensors in the model of a case.

    The dimensions of a node's outputs are known where every input is: its dimensions, and at a setting port its values.
    """
    tensors = {name: _declared_input(draft, name) for name in draft.tensors}
    fixed = {name for name in draft.tensors if draft.binding[name] == "constant"}
    operands = dict(draft.arguments[0].inputs)
    for node in graph.nodes:
        arguments = arguments_at(node, operands)
        is_tested = draft.graph is None and arguments == draft.arguments[0] and node.under_test
        inferred = draft.inferences[0] if is_tested else inference(OPERATIONS[node.op], arguments)
        types = None if inferred.violated else inferred.outputs
        operation = OPERATIONS[node.op]
        known = types is not None and all(
            None not in tensors[input_].dimensions
            and _is_known(operation, n, operands[input_], is_fixed=input_ in fixed)
            for n, input_ in enumerate(node.inputs)
            if input_
        )
        results = results_of(node, types or (_unknown(OPERATIONS[node.op], arguments),) * len(node.outputs), arguments)
        for name, item in results.items():
            dimensions = item.shape if known else (None,) * len(item.shape)
            tensors[name] = Declared(element_type=item.element_type, dimensions=dimensions)
        if known and all(input_ in fixed or operands[input_].integers is None for input_ in node.inputs if input_):
            fixed |= {name for name, result in results.items() if result.integers is not None}
        operands |= results
    return tensors


def _is_known(operation: Operation, place: int, operand: Operand, *, is_fixed: bool) -> bool:
    """Whether the shapes of the outputs are known as far as the elements of an input decide them."""
    is_data = operation.inputs[min(place, len(operation.inputs) - 1)].role == "data"
    if is_data and isinstance(operation, Computation) and operation.shaped_by_elements:
        return is_fixed and operand.tensor is not None
    return is_data or is_fixed


def _connected(operation: Operation, names: tuple[str, ...]) -> tuple[str | None, ...]:
    """The tensors that the node under test takes, in the order of its ports."""
    inputs: list[str | None] = []
    for port in operation.inputs:
        inputs += [name for name in names if operation.port_of(name) is port] or [None]
    while inputs and inputs[-1] is None:
        inputs.pop()
    return tuple(inputs)


def _declared_input(draft: Draft, name: str) -> Declared:
    tensor, dynamic = draft.tensors[name], draft.dynamic.get(name)
    dimensions: Dimensions = tensor.shape
    if isinstance(dynamic, str):
        dimensions = (None,) * len(tensor.shape)
    elif dynamic is not None:
        dimensions = tuple(x if isinstance(x, int) else None for x in dynamic)
    return Declared(element_type=tensor.element_type, dimensions=dimensions)


def _unknown(operation: Operation, arguments: Arguments) -> TensorType:
    """The type that is declared for each output of a node that rejects its inputs: the type of its first tensor."""
    for name, input_ in arguments.inputs.items():
        if operation.port_of(name).role == "data":
            return TensorType(element_type=input_.element_type, shape=input_.shape)
    return TensorType(element_type="f32", shape=())
