"""The reference semantics as far as findings need them: what operations declare, and the node under test of a case."""

from collections.abc import Callable, Iterator, KeysView, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from opconform.errors import OpconformError
from opconform.explanation.origins import Origins, origins_of
from opconform.model.draft import Inference, inference
from opconform.model.evaluation import evaluated_arguments
from opconform.operations import OPERATIONS
from opconform.operations.arguments import Arguments, NoGolden, Rejection, Unknown
from opconform.operations.denormals import flushed, has_denormals
from opconform.operations.operation import Computation, Movement, Operation
from opconform.suite.case import Attribute, Case
from opconform.suite.declarations import Declaration
from opconform.tensors.tensor import Tensor


def operation_names() -> KeysView[str]:
    """The versioned names of all operations."""
    return OPERATIONS.keys()


def declarations() -> Iterator[Declaration]:
    """The declarations of all operations."""
    return (operation.declaration for operation in OPERATIONS.values())


def declaration_of(op: str) -> Declaration | None:
    """The declaration of an operation, or None if it is unknown."""
    operation = OPERATIONS.get(op)
    return None if operation is None else operation.declaration


def contexts_of(op: str) -> tuple[str, ...]:
    """The contexts that an operation can be tested in."""
    return OPERATIONS[op].context_names


def has_several_outputs(op: str) -> bool:
    """Whether the arguments of an operation request a number of outputs; False if it is unknown."""
    operation = OPERATIONS.get(op)
    return operation is not None and operation.requested is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class EvaluatedNode:
    """The node under test of a case, with the elements of its inputs, as the reference semantics evaluate it."""

    operation: Operation
    arguments: Arguments

    @property
    def is_numeric(self) -> bool:
        """Whether its operation computes with numbers, so that results can be rounded."""
        return self.operation.is_numeric

    @property
    def declaration(self) -> Declaration:
        """The declaration of its operation."""
        return self.operation.declaration

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """Its inputs, in the order of the ports."""
        return tuple(operand.tensor for operand in self.arguments.inputs.values() if operand.tensor is not None)

    @property
    def data(self) -> tuple[Tensor, ...]:
        """Its inputs at ports of data."""
        names = (name for name in self.arguments.inputs if not self.operation.port_of(name).setting)
        return tuple(map(self.arguments.tensor, names))

    @property
    def has_denormals(self) -> bool:
        """Whether an element of its inputs is a denormal number."""
        return any(map(has_denormals, self.tensors))

    def with_tensors(self, changed: Callable[[Tensor], Tensor]) -> "EvaluatedNode":
        """The same node with changed tensors, which may have another element type."""
        operands = {
            name: replace(operand, tensor=tensor, element_type=tensor.element_type)
            for name, operand in self.arguments.inputs.items()
            for tensor in [changed(self.arguments.tensor(name))]
        }
        return replace(self, arguments=replace(self.arguments, inputs=operands))

    def with_attributes(self, attributes: Mapping[str, Attribute]) -> "EvaluatedNode":
        """The same node with other attributes."""
        return replace(self, arguments=self.operation.arguments(self.arguments.inputs, attributes))

    def facts(self) -> Iterator[str]:
        """What its arguments, which may be invalid, have in common with few others, in words."""
        return self.operation.facts_of(self.arguments)

    def inference(self) -> Inference:
        """The types of its outputs, or the violated requirements."""
        return inference(self.operation, self.arguments)

    def outputs(self) -> tuple[Tensor, ...]:
        """Its outputs; none where the reference semantics give none."""
        return _outputs(self.operation.evaluate, self.arguments)

    def flushed_outputs(self) -> tuple[Tensor, ...]:
        """Its outputs with zeros in place of the denormal numbers of its inputs; none where there are none."""
        return _outputs(partial(flushed, self.operation), self.arguments)

    def mistaken_outputs(self) -> Iterator[tuple[str, tuple[Tensor, ...]]]:
        """What known mistakes compute, each with its sentence; computed one by one."""
        mistakes = self.operation.mistakes if isinstance(self.operation, Computation) else {}
        return ((sentence, _outputs(calculate, self.arguments)) for sentence, calculate in mistakes.items())

    def origins(self) -> Origins | None:
        """Where the elements of its outputs come from, or None if they are computed."""
        if not isinstance(self.operation, Movement) or self.operation.calculates(self.arguments):
            return None
        return origins_of(self.operation, self.arguments)


def evaluated_node(case: Case, tensors: Mapping[str, Tensor]) -> EvaluatedNode | None:
    """The node under test, given the inputs of the model; None where a node before it rejects its own inputs.

    There is none of an unknown operation either, and none of a graph under test.
    """
    if case.tests_graph:
        return None
    known = dict(tensors)
    for node in case.graph.nodes:
        try:
            arguments = evaluated_arguments(node, known)
            if node.under_test:
                return EvaluatedNode(operation=OPERATIONS[node.op], arguments=arguments)
            known |= zip(node.outputs, OPERATIONS[node.op].evaluate(arguments), strict=True)
        except (LookupError, Rejection):
            return None
    return None


def _outputs(calculate: Callable[[Arguments], tuple[Tensor, ...]], arguments: Arguments) -> tuple[Tensor, ...]:
    try:
        with np.errstate(all="ignore"):
            return calculate(arguments)
    except (ArithmeticError, LookupError, NoGolden, OpconformError, Rejection, Unknown, ValueError):
        return ()
