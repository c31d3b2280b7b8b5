"""The keys `inputs`, `nodes` and `outputs` of a case: the graph that they describe, and its tensors."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from opconform.errors import counted, nearest, quoted
from opconform.generation.attribute_keys import attributes_of
from opconform.generation.identity.tensor_keys import tensor_draft
from opconform.generation.options import Limits
from opconform.model.draft import TensorDraft, inference, known_operand
from opconform.model.evaluation import arguments_at, results_of
from opconform.model.graph import MOST_DECLARED
from opconform.model.graph_operation import port_of_input
from opconform.operations import OPERATIONS
from opconform.operations.arguments import TensorType, Unknown
from opconform.operations.operation import Operation
from opconform.specs.diagnostics import complaint_of
from opconform.specs.requirements import requirements_of
from opconform.specs.schema.keys import CONCRETE, TensorKeys
from opconform.specs.schema.models import models_of
from opconform.specs.yaml_document import KEY, KeyMistake, Route
from opconform.suite.case import Graph, Node

#: What follows the name of a node in the names of its results.
_RESULT = re.compile("_[0-9]+")
#: A node that violates requirements, and their ids.
_Violation = tuple[Node, tuple[str, ...]]


@dataclass(frozen=True, kw_only=True, slots=True)
class GraphParts:
    """A graph with its tensors by name, of which some are `constants` that a node has written out."""

    graph: Graph
    tensors: Mapping[str, TensorDraft]
    constants: frozenset[str]


def graph_parts(keys: Any, limits: Limits, *, valid: bool) -> GraphParts:
    """The graph that the keys of a case describe; `KeyMistake` if they contradict each other.

    Args:
        keys: The checked keys.
        limits: The largest sizes.
        valid: Whether every node must be valid; otherwise the last feed may violate a requirement at one.
    """
    reader = _Reader(keys, limits)
    for name, node in keys.nodes.items():
        reader.read(name, dict(node))
    outputs = tuple(reader.tensor(name, ("outputs", number)) for number, name in enumerate(keys.outputs))
    if len({*outputs}) < len(outputs):
        raise KeyMistake("outputs", "a result is an output twice; leave one out")
    reader.check_used(outputs)
    nodes = reader.inferred(outputs) if valid else reader.violating(outputs)
    return GraphParts(
        graph=Graph(nodes=nodes, outputs=outputs), tensors=reader.drafts(), constants=frozenset(reader.constants)
    )


def input_drafts(keys: Any, graph: Graph, limits: Limits) -> dict[str, TensorDraft]:
    """The tensors of the inputs in some keys, such as those of a second feed."""
    return {
        name: _draft(graph.nodes, name, tensor, limits) for name, tensor in keys.inputs.items() if tensor is not None
    }


@dataclass(slots=True)
class _Reader:
    """The nodes that were read so far, and the constants that they have written out."""

    keys: Any
    limits: Limits
    nodes: dict[str, Node] = field(default_factory=dict)
    constants: dict[str, tuple[TensorKeys, Route]] = field(default_factory=dict)

    def read(self, name: str, keys: dict[str, Any]) -> None:
        """Read the keys of the next node."""
        if "__" in name:
            sentence = f"{name}: write a name without two underscores together"
            raise KeyMistake("nodes", sentence, (name, KEY))
        if any(other == name or _RESULT.fullmatch(other.removeprefix(name)) for other in self.keys.inputs):
            raise KeyMistake("nodes", f"an input has the name of {name} or of its results; rename one", (name, KEY))
        op = keys["op"]
        if op not in OPERATIONS:
            sentence = f"{name}: {quoted(op)} is not a known operation. {nearest(op, list(OPERATIONS))}"
            raise KeyMistake("nodes", sentence.rstrip(" ."), (name, "op"))
        operation = OPERATIONS[op]
        if not operation.inputs:
            sentence = f"{name}: {op} has no inputs; write its tensor where a node takes it"
            raise KeyMistake("nodes", sentence, (name, "op"))
        try:
            checked: Any = models_of(op).node.model_validate(keys, context=CONCRETE)
        except ValidationError as error:
            inside, sentence = complaint_of(error)
            if len(inside) == 1 and inside[0] not in models_of(op).node.model_fields:
                sentence += f"; allowed: {', '.join(models_of(op).node.model_fields)}"
            raise KeyMistake("nodes", f"{name}: {sentence}", (name, *_within(keys, inside))) from error
        try:
            attributes = attributes_of(operation, checked)
        except KeyMistake as error:
            sentence = f"{name}: {error.key}: {error.sentence}"
            raise KeyMistake("nodes", sentence, (name, error.key, *error.inside), error.value) from error
        inputs = [*self._inputs(name, operation, checked)]
        while inputs and inputs[-1] is None:
            inputs.pop()
        node = Node(name=name, op=op, inputs=tuple(inputs), outputs=(), attributes=attributes, under_test=True)
        self.nodes[name] = node

    def _inputs(self, name: str, operation: Operation, keys: Any) -> Iterator[str | None]:
        """The tensors that a node takes, in the order of its ports."""
        for port in operation.inputs:
            value = getattr(keys, port.name)
            for number, item in enumerate((value or ()) if port.variadic else (value,)):
                inside = ("nodes", name, port.name, *((number,) if port.variadic else ()))
                if isinstance(item, str):
                    yield self.tensor(item, inside)
                elif item is None:
                    yield None
                else:
                    place = f"{port.name}_{number}" if port.variadic else port.name
                    constant = f"{place}_of_{name}"
                    if constant in self.keys.inputs or constant in self.keys.nodes:
                        sentence = f"the constant {constant} has the name of an input or a node; rename that"
                        raise KeyMistake("nodes", sentence, inside[1:])
                    self.constants[constant] = item, inside
                    yield constant

    def tensor(self, reference: str, route: Route) -> str:
        """The name of the tensor that a reference is to; `KeyMistake` at a route if there is none."""
        name, dot, number = reference.partition(".")
        key, *inside = route
        known = [*self.keys.inputs, *self.nodes]
        if name in self.keys.inputs and not dot:
            return name
        if name not in self.nodes:
            advice = f"{nearest(name, known)}It is one of: {', '.join(known)}"
            if name in self.keys.nodes:
                advice = f"The node {name} comes later, and a graph has no cycles: write it before"
            raise KeyMistake(
                str(key),
                f"{quoted(reference)} is neither an input nor an earlier node. {advice}".rstrip(" ."),
                tuple(inside),
            )
        return f"{name}_{int(number or 0)}"

    def check_used(self, outputs: tuple[str, ...]) -> None:
        """Check that every node and every input decides an output."""
        needed = {*outputs}
        for name, node in reversed([*self.nodes.items()]):
            if not any(tensor.rpartition("_")[0] == name for tensor in needed):
                sentence = f"no output needs the node {name}; remove it, or make it an output"
                raise KeyMistake("nodes", sentence, (name, KEY))
            needed.update(tensor for tensor in node.inputs if tensor is not None)
        for name in self.keys.inputs:
            if name not in needed:
                raise KeyMistake("inputs", f"no node takes {name}; remove it", (name, KEY))

    def drafts(self) -> dict[str, TensorDraft]:
        """The tensors of the inputs and the constants."""
        nodes = [*self.nodes.values()]
        drafts = {}
        for name, tensor in self.keys.inputs.items():
            if tensor is None:
                raise KeyMistake("inputs", f"{name} must be a tensor", (name,))
            drafts[name] = _draft(nodes, name, tensor, self.limits)
        for name, (tensor, (key, *inside)) in self.constants.items():
            try:
                drafts[name] = _draft(nodes, name, tensor, self.limits)
            except KeyMistake as error:
                raise KeyMistake(str(key), error.sentence, (*inside, *error.inside), error.value) from error
        return drafts

    def inferred(self, outputs: Sequence[str]) -> tuple[Node, ...]:
        """The nodes with their outputs; `KeyMistake` if one violates a requirement."""
        nodes, violation = self._walked(outputs)
        if violation is not None:
            node, names = violation
            known = requirements_of(node.op).by_id
            meaning = f" ({known[names[0]].text.rstrip('.')})" if names[0] in known and not names[1:] else ""
            advice = "correct it, or write `expect: {reject: nodes.valid}`"
            sentence = f"{node.name} violates {node.op}:{', '.join(names)}{meaning}; {advice}"
            raise KeyMistake("nodes", sentence, (node.name,))
        return nodes

    def violating(self, outputs: Sequence[str]) -> tuple[Node, ...]:
        """The nodes with their outputs, of which the one that violates a requirement alone is under test."""
        nodes, violation = self._walked(outputs)
        if violation is None:
            return nodes
        node, names = violation
        known = requirements_of(node.op).by_id
        if not any(known[name].level == "normative" for name in names if name in known):
            what = f"{node.name} violates {node.op}:{', '.join(names)}"
            sentence = f"{what}, an interpretation, which graphs do not test"
            raise KeyMistake("nodes", sentence, (node.name,))
        return tuple(replace(x, under_test=x.name == node.name) for x in nodes)

    def _walked(self, outputs: Sequence[str]) -> tuple[tuple[Node, ...], _Violation | None]:
        """The nodes with their outputs, and the first one that violates requirements."""
        drafts = self.drafts()
        operands = {
            name: known_operand(draft, port_of_input([*self.nodes.values()], name).role)
            for name, draft in drafts.items()
        }
        nodes: list[Node] = []
        violation: _Violation | None = None
        for name, read in self.nodes.items():
            operation = OPERATIONS[read.op]
            self._check_taken(read, nodes)
            types: tuple[TensorType, ...] = ()
            count = operation.requested_outputs(operation.arguments({}, read.attributes)) or 1
            if violation is None:
                self._check_constants(read, operation)
                arguments = arguments_at(read, operands)
                try:
                    types, violated = inference(operation, arguments)
                except Unknown as error:
                    sentence = f"{name} needs values that are known at run time only; write them as `values`"
                    raise KeyMistake("nodes", sentence, (name,)) from error
                violation = (read, violated) if violated else None
                count = len(types) or operation.requested_outputs(arguments) or 1
            node = replace(read, outputs=tuple(f"{name}_{number}" for number in range(min(count, MOST_DECLARED))))
            if types:
                node = replace(read, outputs=tuple(f"{name}_{number}" for number in range(len(types))))
                operands |= results_of(node, types, arguments_at(node, operands))
            nodes.append(node)
        for number, tensor in enumerate(outputs):
            self._check_made(tensor, nodes, ("outputs", number))
        return tuple(nodes), violation

    def _check_constants(self, node: Node, operation: Operation) -> None:
        for port, tensor in operation.declaration.named(node.inputs).items():
            if operation.port_of(port).constant and tensor not in self.constants:
                sentence = f"{node.name}: {port} of {node.op} is a constant of the model; write the tensor here"
                raise KeyMistake("nodes", sentence, (node.name, port))

    def _check_taken(self, node: Node, made: Sequence[Node]) -> None:
        """Check that the results that a node takes are there."""
        for tensor in node.inputs:
            if tensor is not None and tensor not in self.keys.inputs and tensor not in self.constants:
                self._check_made(tensor, made, ("nodes", node.name))

    def _check_made(self, tensor: str, made: Sequence[Node], route: Route) -> None:
        key, *inside = route
        if tensor not in self.keys.inputs and not any(tensor in node.outputs for node in made):
            name, _, number = tensor.rpartition("_")
            count = next(len(node.outputs) for node in made if node.name == name)
            sentence = f"{name} has no output {number}: it has {counted(count, 'output')}, counted from 0"
            raise KeyMistake(str(key), sentence, tuple(inside))


def _draft(nodes: Sequence[Node], name: str, tensor: TensorKeys, limits: Limits) -> TensorDraft:
    return tensor_draft(port_of_input(nodes, name), tensor, limits)


def _within(keys: Mapping[str, Any], inside: Route) -> Route:
    """The part of a route that is in some keys, without the members of unions that pydantic names."""
    route: list[str | int] = []
    value: Any = keys
    for part in inside:
        try:
            value = value[part]
        except (LookupError, TypeError):
            continue
        route.append(part)
    return tuple(route)
