"""The nodes of a case's graph, with what is known of their tensors when the model is built."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Literal

from opconform.model.evaluation import evaluated, evaluated_arguments, ports_of
from opconform.model.golden import Golden
from opconform.model.graph import Declared, declared
from opconform.operations import OPERATIONS
from opconform.operations.arguments import Arguments
from opconform.operations.operation import Operation
from opconform.suite.case import Attribute, Graph, Node
from opconform.tensors.tensor import Tensor

#: The operation whose output is a constant of the model.
CONSTANT = "Constant-1"
#: The operation whose output has the values of its input.
_CONVERT = "Convert-1"

#: Where the values of a tensor come from: a constant of the model, an input of it, or a node that computes.
Source = Literal["constant", "parameter", "computed"]


@dataclass(frozen=True, kw_only=True)
class KnownGraph:
    """The graph of a case, with the declarations and the values of its tensors by name."""

    golden: Golden

    @cached_property
    def types(self) -> Mapping[str, Declared]:
        """The declarations of all tensors in the model."""
        return declared(self.golden.draft, self.golden.graph)

    @cached_property
    def feeds(self) -> tuple[Mapping[str, Tensor], ...]:
        """The tensors of each feed; of an invalid case, those before the node under test."""
        if self.golden.tensors:
            return self.golden.tensors
        before = tuple(takewhile(lambda node: not node.under_test, self.golden.graph.nodes))
        return tuple(evaluated(Graph(nodes=before, outputs=()), inputs) for inputs in self.golden.inputs)

    @cached_property
    def constants(self) -> Mapping[str, Tensor]:
        """The constants of the model: constant inputs of the case, and constant nodes."""
        inputs, binding = self.golden.inputs[0], self.golden.draft.binding
        nodes = tuple(node for node in self.golden.graph.nodes if node.op == CONSTANT)
        constants = {name: tensor for name, tensor in inputs.items() if binding[name] == "constant"}
        return evaluated(Graph(nodes=nodes, outputs=()), constants)

    @cached_property
    def makers(self) -> Mapping[str, Node]:
        """The node that each tensor is an output of."""
        return {name: node for node in self.golden.graph.nodes for name in node.outputs}

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of all tensors."""
        return frozenset(self.makers) | self.golden.inputs[0].keys()

    @property
    def nodes(self) -> Iterator["KnownNode"]:
        """The nodes in topological order."""
        return (KnownNode(graph=self, node=node) for node in self.golden.graph.nodes)

    def source(self, name: str) -> Source:
        """Where the values of a tensor come from."""
        if name in self.constants:
            return "constant"
        return "computed" if name in self.makers else "parameter"


@dataclass(frozen=True, kw_only=True)
class KnownNode:
    """A node of a graph, with what is known of its tensors by the names of its ports."""

    graph: KnownGraph
    node: Node

    @property
    def operation(self) -> Operation:
        """Its operation."""
        return OPERATIONS[self.node.op]

    @cached_property
    def inputs(self) -> Mapping[str, str]:
        """The names of the tensors that it takes."""
        return ports_of(self.node)

    @cached_property
    def types(self) -> Mapping[str, Declared]:
        """The declarations of the tensors that it takes."""
        return {port: self.graph.types[name] for port, name in self.inputs.items()}

    @cached_property
    def attributes(self) -> Mapping[str, Attribute]:
        """Its attributes; omitted ones have their defaults."""
        return self.operation.arguments({}, self.node.attributes).attributes

    @property
    def violated(self) -> str | None:
        """The requirement that the case violates, if it does so at this node."""
        return self.graph.golden.draft.rejected_for if self.node.under_test else None

    @cached_property
    def arguments(self) -> tuple[Arguments, ...]:
        """Its arguments in each feed; none behind a node that violates a requirement."""
        names = {*self.inputs.values()}
        return tuple(evaluated_arguments(self.node, feed) for feed in self.graph.feeds if names <= feed.keys())

    @property
    def accepted(self) -> tuple[Arguments, ...]:
        """The arguments that violate no requirement."""
        return self.arguments if self.violated is None else ()

    @property
    def outputs(self) -> list[Tensor]:
        """Its outputs in the first feed of a valid case."""
        return [self.graph.feeds[0][name] for name in self.node.outputs]

    def tensor(self, port: str) -> Tensor:
        """An input in the first feed."""
        return self.graph.feeds[0][self.inputs[port]]

    def source(self, port: str) -> Source:
        """Where the values of an input come from."""
        return self.graph.source(self.inputs[port])

    def origin(self, port: str) -> str:
        """The tensor that an input is converted from, or the input itself."""
        name = self.inputs[port]
        while name in self.graph.makers and self.graph.makers[name].op == _CONVERT:
            name = str(self.graph.makers[name].inputs[0])
        return name

    def constant(self, port: str) -> Tensor | None:
        """An input that is a constant of the model, or None."""
        return self.graph.constants.get(self.inputs.get(port, ""))

    def added(self, name: str) -> str:
        """The name in the model of a tensor that the case's graph does not have, and that no tensor of it has."""
        full = f"{self.node.name}_{name}"
        while full in self.graph.names:
            full += "_"
        return full

    def without(self, *ports: str) -> list[str | None]:
        """The tensors that it takes in order, except at some ports."""
        inputs = zip(self.operation.inputs, self.node.inputs, strict=False)
        return [name for port, name in inputs if port.name not in ports]
