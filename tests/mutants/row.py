"""What a mutant is: a row that replaces a step of the `numpy` backend, and the call that the step is given."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Literal, NoReturn

import numpy as np

from opconform.model.evaluation import operand_of
from opconform.operations import OPERATIONS
from opconform.operations.arguments import Arguments
from opconform.suite.case import Attribute, Case, Shape
from opconform.suite.manifest import Level
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.backends.backend import Inputs, Rejected

#: The origin of a fault that was found by these suites, and that no public tracker has a thread on.
FOUND = "found by opconform in OpenVINO 2026.4.1"

#: What an implementation does: `graph` is the graph that it executes, `node` the outputs of a node under test, `other`
#: those of another node, and `model` those of the whole model.
Step = Literal["graph", "node", "other", "model"]
#: A faulty step. `Call.right` has the result of the right one.
Hook = Callable[["Call"], Any]


@dataclass(frozen=True, slots=True)
class MutantRow:
    """One mutant.

    Attributes:
        name: Its class and its own name, as in `axis/always-zero`.
        what: What it does, in one sentence.
        seen: The thread of a public tracker in which a runtime had this fault or one of its kind.
        hook: What it does instead of the right step.
        step: The step that it replaces.
        level: `normative` where the specification rules it out, `interpretation` where only our reading does.
        ops: The operations that it is faulty for; none for all of them.
        core: Whether the profile `core` must kill it by itself. It need not kill every mutant of a class that derives
            from declarations for every operation.
    """

    name: str
    what: str
    seen: str
    hook: Hook
    step: Step = "node"
    level: Level = "normative"
    ops: tuple[str, ...] = ()
    core: bool = True

    @property
    def kind(self) -> str:
        """The class that it belongs to."""
        return self.name.partition("/")[0]


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One step of an execution.

    Attributes:
        case: The case.
        given: The inputs of the model.
        feed: The number of the feed.
        op: The operation of the node; the one under test where the step is not that of a node.
        inputs: The inputs of the node by the names of its ports; those of the model for another step.
        attributes: The attributes of the node.
        execute: The right step, for inputs and attributes.
        model: What a mutant keeps as long as the model lives.
        process: What a mutant keeps from one model to the next.
    """

    case: Case
    given: Inputs
    feed: int
    op: str
    inputs: Inputs
    attributes: Mapping[str, Attribute]
    execute: Callable[[Inputs, Mapping[str, Attribute]], Any]
    model: dict[str, Any]
    process: dict[str, Any]

    def right(self, **changes: Tensor | Attribute | None) -> Any:
        """The result of the right step, with other inputs and attributes; None omits one.

        Raises:
            Rejected: The arguments are invalid.
        """
        names = {attribute.name for attribute in OPERATIONS[self.op].attributes}
        arguments: dict[str, Any] = {**self.inputs, **self.attributes, **changes}
        kept = {name: argument for name, argument in arguments.items() if argument is not None}
        inputs = {name: n for name, n in kept.items() if name not in names}
        return self.execute(inputs, {name: n for name, n in kept.items() if name in names})

    @property
    def context(self) -> str:
        """The context of the case."""
        return self.case.context

    @property
    def data(self) -> Array:
        """The elements of the first input."""
        return next(iter(self.inputs.values())).array

    @property
    def tensors(self) -> list[Tensor]:
        """The inputs of the model that are data."""
        return [
            self.given[input_.name]
            for input_ in self.case.inputs
            if input_.role == "data" and input_.name in self.given
        ]

    @property
    def arguments(self) -> Arguments:
        """The arguments of the node as the reference semantics read them."""
        operation = OPERATIONS[self.op]
        operands = {
            name: operand_of(input_, exact=operation.role_of(name) == "setting") for name, input_ in self.inputs.items()
        }
        return operation.arguments(operands, self.attributes)

    def integers(self, name: str) -> list[int]:
        """The elements of a setting input, or of an attribute; none if there is no such input."""
        tensor = self.inputs.get(name)
        return tensor.integers() if tensor is not None and tensor.type.is_integer else []

    def is_parameter(self, name: str) -> bool:
        """Whether an input of the model comes at run time."""
        return any(input_.name == name and input_.binding == "parameter" for input_ in self.case.inputs)

    def first(self, name: str, value: Any) -> Any:
        """A value in the model's first inference; in the second one that of the first."""
        if not self.feed:
            self.model[name] = value
        return self.model.get(name, value)


def rows(kind: str, ops: Sequence[str], *faults: tuple[str, str, str, Hook]) -> tuple[MutantRow, ...]:
    """The mutants of a class that replace the step of a node: their names, sentences, reports and steps."""
    return tuple(MutantRow(f"{kind}/{name}", what, seen, hook, ops=tuple(ops)) for name, what, seen, hook in faults)


def derived(name: str, op: str, what: str, seen: str, hook: Hook, level: Level = "normative") -> MutantRow:
    """A mutant of one operation that derives from its declaration."""
    return MutantRow(name, what, seen, hook, level=level, ops=(op,), core=False)


def refuse(message: str) -> NoReturn:
    """Refuse a case.

    Raises:
        Rejected: Always.
    """
    raise Rejected("build", message)


def gives(change: Callable[[Call, list[Tensor]], list[Tensor]]) -> Hook:
    """The step of a node under test whose outputs are a function of the right ones."""
    return lambda call: change(call, call.right())


def moves(change: Callable[[Call, Array], Array]) -> Hook:
    """The same for the elements of each output."""
    return gives(lambda call, outputs: [converted(output, change(call, output.array)) for output in outputs])


def refuses(condition: Callable[[Call], object]) -> Hook:
    """The step of a node under test that refuses valid arguments under a condition."""

    def hook(call: Call) -> Any:
        outputs = call.right()
        return refuse("it is not supported") if condition(call) else outputs

    return hook


def accepts(*requirements: str, when: Callable[[Call], object] = lambda _: True) -> Hook:
    """The step of a node under test that accepts arguments that violate requirements, under a condition.

    Its outputs are the first input.
    """

    def hook(call: Call) -> Any:
        try:
            return call.right()
        except Rejected as answer:
            if answer.requirement in requirements and when(call):
                return [*call.inputs.values()][:1]
            raise

    return hook


def reads(name: str, change: Callable[[Call, Any], Any], *, checked: bool = True) -> Hook:
    """The step of a node under test that reads another value of an input of integers, or of an attribute.

    `checked`: only once the right step has accepted the arguments.
    """

    def hook(call: Call) -> Any:
        if name not in call.attributes and not call.integers(name):
            return call.right()
        if checked:
            call.right()
        if name in call.attributes:
            return call.right(**{name: change(call, call.attributes[name])})
        return call.right(**{name: integers(change(call, call.integers(name)), call.inputs[name].shape)})

    return hook


def integers(values: Sequence[int], shape: Shape) -> Tensor:
    """A tensor of integers, which wrap to 64 bits; of a shape if that has as many elements, and otherwise a list."""
    element_type = "u64" if max([0, *values]) >> 63 == 1 and min(values) >= 0 else "i64"
    wrapped = values if element_type == "u64" else [low_bits(value, 64) for value in values]
    array = np.array(wrapped, ELEMENT_TYPES[element_type].storage)
    return Tensor(element_type=element_type, array=array.reshape(shape) if prod(shape) == len(values) else array)


def converted(tensor: Tensor, array: Array) -> Tensor:
    """A tensor of the same element type with other elements."""
    return Tensor(element_type=tensor.element_type, array=np.asarray(array))


def low_bits(value: int, bits: int) -> int:
    """An integer truncated to a signed integer of some bits."""
    return ((value + (1 << (bits - 1))) & ((1 << bits) - 1)) - (1 << (bits - 1))
