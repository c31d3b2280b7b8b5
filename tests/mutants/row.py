"""What a mutant is: a row that replaces hooks of a right implementation, and the call that hooks are given."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NoReturn

import numpy as np

from opconform.suite.case import Attribute, Case
from opconform.suite.manifest import Level
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.backends.backend import Inputs, Rejected

#: The origin of a fault that was found by these suites, and that no public tracker has a thread on.
FOUND = "found by opconform in OpenVINO 2026.4.1"

#: One step of an implementation: a function of the call and the step's own arguments.
Hook = Callable[..., Any]
#: The steps of an implementation by name. The hook that executes an operation has the operation's name.
Hooks = Mapping[str, Hook]


@dataclass(frozen=True, slots=True)
class Row:
    """One mutant.

    Attributes:
        name: Its class and its own name, as in `axis/always-zero`.
        what: What it does, in one sentence.
        seen: The thread of a public tracker in which a runtime had this fault or one of its kind.
        changes: The hooks that it replaces.
        level: `normative` where the specification rules it out, `interpretation` where only our reading does.
        op: The one operation whose hooks it replaces; None for every operation that has them.
    """

    name: str
    what: str
    seen: str
    changes: Hooks
    level: Level = "normative"
    op: str | None = None

    @property
    def kind(self) -> str:
        """The class that it belongs to."""
        return self.name.partition("/")[0]


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One execution: of a whole model, or of one node of it.

    Attributes:
        case: The case.
        given: The inputs of the model.
        feed: The number of the feed.
        op: The operation of the node; the one under test where the call is of a whole model.
        inputs: The inputs of the node by the names of its ports; those of the model where the call is of a whole model.
        attributes: The attributes of the node.
        hooks: The hooks of the mutant, by operation.
        originals: The hooks of the right implementation, by operation.
        model: What a mutant keeps as long as the model lives.
        process: What a mutant keeps from one model to the next.
    """

    case: Case
    given: Inputs
    feed: int
    op: str
    inputs: Inputs
    attributes: Mapping[str, Attribute]
    hooks: Mapping[str, Hooks]
    originals: Mapping[str, Hooks]
    model: dict[str, Any] = field(default_factory=dict)
    process: dict[str, Any] = field(default_factory=dict)

    def do(self, hook: str, *arguments: Any) -> Any:
        """What a hook of the mutant gives."""
        return self.hooks[self.op][hook](self, *arguments)

    def right(self, hook: str, *arguments: Any) -> Any:
        """What the same hook of the right implementation gives; the hooks that it uses are the mutant's."""
        return self.originals[self.op][hook](self, *arguments)

    @property
    def context(self) -> str:
        """The context of the case."""
        return self.case.context

    @property
    def tensors(self) -> list[Tensor]:
        """The inputs of the model that are data."""
        return [self.given[each.name] for each in self.case.inputs if each.role == "tensor" and each.name in self.given]

    def is_parameter(self, name: str) -> bool:
        """Whether an input of the model comes at run time."""
        return any(each.name == name and each.binding == "parameter" for each in self.case.inputs)

    def first(self, name: str, value: Any) -> Any:
        """A value in the model's first inference; in the second one that of the first."""
        if not self.feed:
            self.model[name] = value
        return self.model.get(name, value)


def refuse(message: str) -> NoReturn:
    """Refuse a case.

    Raises:
        Rejected: Always.
    """
    raise Rejected("build", message)


def unchecked(*hooks: str, when: Callable[[Call], object] = lambda _: True) -> Hooks:
    """The change that leaves out checks, under a condition on the call."""
    return {each: partial(_check_unless, when, each) for each in hooks}


def _check_unless(when: Callable[[Call], object], hook: str, call: Call, *arguments: Any) -> None:
    if not when(call):
        call.right(hook, *arguments)


def skipped(hook: str, when: Callable[..., object]) -> Hooks:
    """The change that leaves out a check, under a condition on what it is given."""

    def change(call: Call, *arguments: Any) -> None:
        if not when(call, *arguments):
            call.right(hook, *arguments)

    return {hook: change}


def checked(hook: str, refused: Callable[..., object]) -> Hooks:
    """The change that makes a check refuse under this condition and under no other."""

    def change(call: Call, *arguments: Any) -> None:
        if refused(call, *arguments):
            refuse("it is not allowed")

    return {hook: change}


def stricter(hook: str, refused: Callable[..., object]) -> Hooks:
    """The change that also refuses under a condition, once the right hook has been executed."""

    def change(call: Call, *arguments: Any) -> Any:
        result = call.right(hook, *arguments)
        return refuse("it is not supported") if refused(call, *arguments) else result

    return {hook: change}


def kept(hook: str) -> Hooks:
    """The change that uses a result of the first inference in the second one."""
    return {hook: lambda call, *arguments: call.first(hook, call.right(hook, *arguments))}


def converted(tensor: Tensor, array: Array) -> Tensor:
    """A tensor of the same element type with other elements."""
    return Tensor(element_type=tensor.element_type, array=np.asarray(array))


def low_bits(value: int, bits: int) -> int:
    """An integer truncated to a signed integer of some bits."""
    return ((value + (1 << (bits - 1))) & ((1 << bits) - 1)) - (1 << (bits - 1))
