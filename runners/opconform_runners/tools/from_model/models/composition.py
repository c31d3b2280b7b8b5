"""Graphs of operations for nodes that no single operation stands for."""

import math
from dataclasses import replace
from typing import Any

from opconform.operations import OPERATIONS
from opconform.suite.case import GRAPH, Graph, Node
from opconform.tensors.literals import Element
from opconform_runners.tools.from_model.models.node import Call, Known, NoCounterpart, constant


class Composition:
    """A graph, whose operations are added each after those that it takes.

    Inputs are the tensors of the node that is read, by ONNX's names for them. Constants are written out at the
    operation that takes them.
    """

    def __init__(self) -> None:
        self._inputs: dict[str, Known] = {}
        self._nodes: list[Node] = []

    def input(self, name: str, known: Known | None, *elements: Element, is_kept: bool = False) -> str:
        """The name of an input; NoCounterpart if it is missing.

        Its cases have the elements that are given, repeated. Else it is filled, and only constants that are `is_kept`
        have their own elements.
        """
        if known is None:
            raise NoCounterpart(f"without {name}")
        kept = elements or (known.elements if is_kept else None)
        self._inputs[name] = replace(known, elements=kept)
        return name

    def add(self, op: str, *inputs: str | Known | None, outputs: int = 1, **attributes: Any) -> str:
        """Add an operation on tensors and constants in the order of its ports; return its first output."""
        operation, name = OPERATIONS[op], f"{OPERATIONS[op].type.lower()}{len(self._nodes) + 1}"
        first = operation.inputs[0]
        ports = [*first.names(len(inputs))] if first.variadic else [port.name for port in operation.inputs]
        taken: list[str | None] = []
        for port, tensor in zip(ports, inputs, strict=False):
            own = f"{port}_of_{name}"
            if isinstance(tensor, Known):
                self._inputs[own] = tensor
            taken.append(own if isinstance(tensor, Known) else tensor)
        made = tuple(f"{name}_{number}" for number in range(outputs))
        self._nodes.append(Node(name=name, op=op, inputs=tuple(taken), outputs=made, attributes=attributes))
        return made[0]

    def converted(self, tensor: str, element_type: str) -> str:
        """Add a conversion."""
        return self.add("Convert-1", tensor, destination_type=element_type)

    def call(self, *outputs: str) -> Call:
        """The call of the graph with some results."""
        return Call(op=GRAPH, inputs=self._inputs, graph=Graph(nodes=tuple(self._nodes), outputs=outputs))


def number(element_type: str, value: float) -> Known:
    """A constant scalar."""
    if not math.isfinite(value):
        raise NoCounterpart("with an infinity or a NaN as a factor")
    return constant(element_type, (), [value])


def rank_of(known: Known | None) -> int:
    """The number of dimensions of a tensor; `NoCounterpart` if it is not known."""
    if known is None or known.dimensions is None:
        raise NoCounterpart("of data of unknown rank")
    return len(known.dimensions)
