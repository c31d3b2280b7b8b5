"""What a Python backend is: a class with two methods, `describe` and `run`."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal, Protocol, Self

from pydantic import ConfigDict, Field

from opconform.suite.case import Case
from opconform.tensors.tensor import Tensor

#: Where a refusal came: while the model was read, built or compiled, or while it was executed.
Stage = Literal["build", "run"]

#: The inputs of one feed, by name; constants that the model holds are among them.
Inputs = Mapping[str, Tensor]
#: The outputs of one feed, in order.
Outputs = Sequence[Tensor]


@dataclass(frozen=True, kw_only=True, slots=True)
class Placement:
    """What executed a case.

    Attributes:
        devices: The devices that executed it, by the product's own names; empty where the product cannot say.
        threads: How many threads it used, or None where the product cannot say.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    devices: tuple[str, ...] = ()
    threads: Annotated[int, Field(ge=1)] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PlacedOutputs:
    """The outputs of each feed, and what executed them: what `run` gives where the backend can say."""

    outputs: Sequence[Outputs]
    placement: Placement


class Rejected(Exception):  # noqa: N818 - it is an answer and no error
    """The backend refuses the case as invalid.

    `requirement` is the requirement that the backend's message names, where the backend's module can tell.
    """

    def __init__(self, stage: Stage, message: str, requirement: str | None = None) -> None:
        super().__init__(stage, message, requirement)
        self.stage: Stage = stage
        self.message = message
        self.requirement = requirement


class Unsupported(Exception):  # noqa: N818 - it is an answer and no error
    """The backend says that it does not implement what the case needs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Implementation:
    """What a backend says of itself.

    Attributes:
        name: The product's name, as in `openvino`.
        version: The product's version.
        device: What it executes on, as in `CPU`; None where there is nothing to choose.
        hardware: The full name of that device, as its driver has it, where the backend can say.
        driver: The driver or plugin of that device, with its version, where the backend can say.
        language: What the harness is written in.
        dialects: The dialects that it reads, the one it likes best first; empty where it executes the case directly.
        element_types: The element types of data that it says it supports.
        operations: The operations that it implements. Empty for a backend that reads a dialect and takes whatever the
            dialect can express.
        dynamic: Whether it takes models with dynamic dimensions.
        bindings: How the inputs that decide what an operation does may reach it.
        graphs: Whether a backend without dialects executes the graph of a case, and not only the node under test.
        mapped: The full names, as in `Split-1:axis.shape`, of the requirements that the harness fulfils on the
            backend's behalf, since the backend's own operation has no such notion: cases for them say nothing of the
            backend.
    """

    __pydantic_config__ = ConfigDict(extra="forbid", allow_inf_nan=False)

    name: str
    version: str
    device: str | None = None
    hardware: str | None = None
    driver: str | None = None
    language: str = "python"
    dialects: tuple[str, ...] = ()
    element_types: tuple[str, ...]
    operations: tuple[str, ...] = ()
    dynamic: bool
    bindings: tuple[Literal["constant", "parameter"], ...]
    graphs: bool = False
    mapped: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The name with the version and the device."""
        return f"{self.name} {self.version}".strip() + (f" on {self.device}" if self.device else "")

    def without_hardware(self) -> Self:
        """The same implementation without hardware and driver, which belong to a run's environment."""
        return replace(self, hardware=None, driver=None)


#: The fields of an `Implementation` that the environment of a run holds.
HARDWARE = {"hardware", "driver"}


def undeclared_operation(case: Case, operations: Collection[str], dialects: Sequence[str]) -> str | None:
    """An operation that a case needs and a backend does not declare, or None.

    A backend that reads a dialect takes what the dialect can express, unless it lists the operations that can be tested
    on it. Any other must list every operation of the graph.
    """
    if dialects and not operations:
        return None
    needed = (case.op,) if dialects else (case.op, *(each.op for each in case.graph.nodes))
    return next((each for each in needed if each not in operations), None)


def full_name(op: str, requirement: str) -> str:
    """A requirement's name among all operations, as in `Split-1:axis.range`."""
    return f"{op}:{requirement}"


def full_names(requirements: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """The full names of requirements that are listed by operation."""
    return tuple(full_name(op, each) for op, ids in requirements.items() for each in ids)


class Backend(Protocol):
    """Something that can execute a case. It is constructed with the device of `NAME:DEVICE`, or None."""

    def describe(self) -> Implementation:
        """What the backend is and can do; it says no more than is true."""

    def run(self, case: Case, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs] | PlacedOutputs:
        """A list with the outputs of each feed, each a list of Tensors in order, all of them of one built model.

        A backend that can choose between devices gives `PlacedOutputs`. A case that another device than the named one
        would execute is `Unsupported`.

        Args:
            case: The case, without what is expected of it.
            model: The rendered model of the backend's first dialect that the case has, or None for a backend without
                dialects.
            feeds: One or two sets of inputs.

        Raises:
            Rejected: The backend refuses the case.
            Unsupported: The backend says that it does not implement what the case needs.
        """
