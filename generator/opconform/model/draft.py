"""Drafts: cases as their specs describe them, before tensors are filled.

The classes have no slots, since many drafts are sent to other processes, and pickling slots is slow.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

from opconform.model.graph_operation import operation_of_graph
from opconform.operations import OPERATIONS
from opconform.operations.arguments import Arguments, Operand, Rejection, TensorType
from opconform.operations.operation import Operation
from opconform.suite.case import Attribute, Binding, Dynamic, Graph, Role, Shape, canonical_json, graph_document
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.literals import Element, encoded
from opconform.tensors.tensor import Tensor

Fill = Literal["ramp", "small", "exact", "fractions", "normal", "bits", "binades", "special", "constant", "values"]

#: How many hexadecimal digits of the content's SHA-256 are in a case's id.
DIGITS = 10


@dataclass(frozen=True, kw_only=True)
class TensorDraft:
    """A tensor to be filled. `elements` are the values in row-major order, or the one value of a `constant` fill."""

    element_type: str
    shape: Shape
    fill: Fill
    elements: tuple[Element, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Neighbour:
    """An operation that takes an output of the node under test: its attributes, and its setting inputs by port name."""

    op: str
    attributes: Mapping[str, Attribute]
    settings: Mapping[str, TensorDraft]


class Inference(NamedTuple):
    """The types of the outputs, or the violated requirements."""

    outputs: tuple[TensorType, ...]
    violated: tuple[str, ...]


def inference(operation: Operation, arguments: Arguments) -> Inference:
    """What the reference semantics of an operation say of some arguments."""
    try:
        return Inference(operation.infer(arguments), ())
    except Rejection as rejection:
        return Inference((), rejection.requirements)


@dataclass(frozen=True, kw_only=True)
class Draft:
    """One case of a group, expanded, with its author's expectation.

    Attributes:
        where: The place of its group, as in `cases/Split-1/axis.yaml:12:5`.
        tensors: The first feed, by input name.
        second: Inputs that differ in the second feed; None without a second feed.
        dynamic: The dimensions that the IR declares, if they differ from the shape.
        then: The neighbour in the context `then`.
        graph: The graph under test, in place of an operation; constants among its tensors are constants of the model.
        rejected_for: The requirement that the case violates, or None if it is accepted.
        twin: The id of the valid case that differs only in the violation, or None.
        is_twin: Whether the case exists only as the twin of another.
    """

    op: str
    group: str
    title: str
    profile: str
    requirements: tuple[str, ...]
    seen: tuple[str, ...]
    where: str
    attributes: Mapping[str, Attribute]
    tensors: Mapping[str, TensorDraft]
    second: Mapping[str, TensorDraft] | None
    binding: Mapping[str, Binding]
    dynamic: Mapping[str, Dynamic]
    context: str
    then: Neighbour | None = None
    graph: Graph | None = None
    rejected_for: str | None = None
    twin: str | None = None
    is_twin: bool = False
    essential: bool = False

    def __getstate__(self) -> dict[str, object]:
        """The attributes to pickle, without the arguments, which are computed again sooner than they are read."""
        return {name: variable for name, variable in vars(self).items() if name not in ("arguments", "operation")}

    @cached_property
    def operation(self) -> Operation:
        """The operation under test; a graph under test is one, too."""
        return OPERATIONS[self.op] if self.graph is None else operation_of_graph(self.graph, tuple(self.tensors))

    @property
    def has_other_nodes(self) -> bool:
        """Whether its graph has other nodes than the one under test."""
        return self.context not in ("bare", "folded")

    @property
    def feeds(self) -> tuple[Mapping[str, TensorDraft], ...]:
        """The tensors of each feed, by input name."""
        return (self.tensors,) if self.second is None else (self.tensors, {**self.tensors, **self.second})

    def noted(self, **fields: object) -> "Draft":
        """A copy with other fields that are not part of the content. `replace` would take ten times as long."""
        draft = object.__new__(Draft)
        draft.__dict__.update(self.__dict__, **fields)
        return draft

    @cached_property
    def arguments(self) -> tuple[Arguments, ...]:
        """The arguments of the operation in each feed."""
        operands = ({name: self._operand(name, tensor) for name, tensor in feed.items()} for feed in self.feeds)
        return tuple(self.operation.arguments(operand, self.attributes) for operand in operands)

    def _operand(self, name: str, draft: TensorDraft) -> Operand:
        """A tensor as an operand; a setting of other numbers than integers has the elements that a spec writes out.

        For an operation that computes, its data has them as well.
        """
        role = self.operation.role_of(name)
        operand = operand_of_draft(draft, role)
        if self.operation.can_calculate or (role == "setting" and not operand.is_integer):
            operand = known_operand(draft, role)
        if self.binding[name] == "parameter" and any(x.constant and x.takes(name) for x in self.operation.inputs):
            operand = replace(operand, is_given_at_run_time=True)
        return operand

    @cached_property
    def inferences(self) -> tuple[Inference, ...]:
        """What the reference semantics say of the arguments in each feed."""
        return tuple(inference(self.operation, argument) for argument in self.arguments)

    @cached_property
    def content(self) -> str:
        """The canonical JSON of everything that a backend is given; its digest is in the case's id."""
        neighbour = self.then and {
            "op": self.then.op,
            "attributes": dict(self.then.attributes),
            "inputs": {name: _tensor_content(setting) for name, setting in self.then.settings.items()},
        }
        return canonical_json(
            {
                "op": self.op,
                "attributes": dict(self.attributes),
                "inputs": {name: _tensor_content(tensor) for name, tensor in self.tensors.items()},
                "feed": self.second and {name: _tensor_content(x) for name, x in self.second.items()},
                "binding": dict(self.binding),
                "dynamic": dict(self.dynamic) or None,
                "context": self.context,
                **({"then": neighbour} if neighbour else {}),
                **({"graph": graph_document(self.graph)} if self.graph else {}),
            }
        )

    @cached_property
    def digits(self) -> str:
        """The digits of the case's id."""
        return hashlib.sha256(self.content.encode()).hexdigest()[:DIGITS]

    @property
    def id(self) -> str:
        """The case's id."""
        return f"{self.op}/{self.group}/{self.digits}"


def operand_of_draft(tensor: TensorDraft, role: Role) -> Operand:
    """A tensor as an operand during inference; at a setting port it has its exact integers."""
    kind = ELEMENT_TYPES[tensor.element_type]
    is_exact = role == "setting" and (kind.is_integer or kind.kind == "boolean")
    integers = tuple(element for element in tensor.elements if isinstance(element, int)) if is_exact else None
    return Operand(element_type=tensor.element_type, shape=tensor.shape, integers=integers)


def known_operand(tensor: TensorDraft, role: Role) -> Operand:
    """A tensor as an operand with the elements that a spec writes out."""
    operand = operand_of_draft(tensor, role)
    is_computed = not tensor.elements and 0 not in tensor.shape
    if tensor.fill != "values" or is_computed:
        return operand
    array = encoded(tensor.element_type, tensor.elements).reshape(tensor.shape)
    return replace(operand, tensor=Tensor(element_type=tensor.element_type, array=array))


def _tensor_content(tensor: TensorDraft) -> list[object]:
    elements = [repr(element) if isinstance(element, float) else element for element in tensor.elements]
    return [tensor.element_type, list(tensor.shape), tensor.fill, elements]
