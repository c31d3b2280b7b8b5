"""The contract of a Python backend: a class with two methods, `describe` and `run`."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Protocol

from pydantic import ConfigDict, Field

from opconform.suite.case import Case
from opconform.suite.declarations import DeclaredCase
from opconform.tensors.tensor import Tensor

#: When a case was refused: while the model was read, built or compiled, or while it was executed.
Stage = Literal["build", "run"]

#: The inputs of one feed by name, constants of the model included. `Case.operands` gives them to the node.
Inputs = Mapping[str, Tensor]
#: The outputs of one feed, in order.
Outputs = Sequence[Tensor]


#: The largest number of cases that a backend may take in one model.
MOST_PACKED = 1_024
#: The largest number of threads that a backend may report.
MOST_THREADS = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Placement:
    """The devices that executed a case, by the product's names, and the number of threads, if known."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    devices: tuple[str, ...] = ()
    threads: Annotated[int, Field(ge=1, le=MOST_THREADS)] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PlacedOutputs:
    """The outputs of each feed and what executed them, for backends that can report it."""

    outputs: Sequence[Outputs]
    placement: Placement


class Rejected(Exception):  # noqa: N818 - an answer, not an error
    """The backend refuses the case as invalid.

    `requirement` is the requirement that the backend's message names, if the backend's module recognizes it.
    """

    def __init__(self, stage: Stage, message: str, requirement: str | None = None) -> None:
        super().__init__(stage, message, requirement)
        self.stage: Stage = stage
        self.message = message
        self.requirement = requirement


class Unsupported(Exception):  # noqa: N818 - an answer, not an error
    """The backend says that it does not implement what the case needs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Implementation:
    """A backend's description of itself.

    Attributes:
        name: The product's name, as in `openvino`.
        version: The product's version.
        device: The device that it executes on, as in `CPU`; None if the backend does not name devices.
        hardware: The full name of the device, if the driver reports it.
        driver: The driver or plugin of the device with its version, if the backend reports it.
        language: The language of the harness.
        dialects: The dialects that it reads, the preferred one first; empty if it executes cases directly.
        element_types: The element types of data that it supports.
        operations: The operations that it implements; empty for a backend that reads a dialect and takes everything
            that the dialect can express.
        dynamic: Whether it takes models with dynamic dimensions.
        bindings: How setting inputs may reach it.
        graphs: Whether a backend without dialects executes the graph of a case, and not only the node under test.
        flushes_denormals: Whether it may take denormal numbers, in inputs, results or both, for zeros of the same sign.
        packs: How many cases it takes in one model, which opconform makes of the models of valid cases; 1 for no packs.
        mapped: The full names, as in `Split-1:axis.shape`, of the requirements that the harness fulfils because the
            backend's own operation lacks the concept. Cases for them do not test the backend.
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
    flushes_denormals: bool = False
    packs: Annotated[int, Field(ge=1, le=MOST_PACKED)] = 1
    mapped: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The name with the version and the device."""
        return f"{self.name} {self.version}".strip() + (f" on {self.device}" if self.device else "")


#: The fields of an `Implementation` that the environment of a run holds.
HARDWARE = {"hardware", "driver"}


def undeclared_operation(case: Case, operations: Collection[str], dialects: Sequence[str]) -> str | None:
    """An operation that a case needs and a backend does not declare, or None.

    A backend that reads a dialect takes what the dialect can express, unless it lists operations. A backend without a
    dialect must list every operation of the graph.
    """
    if dialects and not operations:
        return None
    nodes = tuple(node.op for node in case.graph.nodes)
    needed = nodes if case.tests_graph else (case.op,) if dialects else (case.op, *nodes)
    return next((x for x in needed if x not in operations), None)


def full_name(op: str, requirement: str) -> str:
    """The full name of a requirement, as in `Split-1:axis.range`."""
    return f"{op}:{requirement}"


def full_names(requirements: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """The full names of requirements listed by operation."""
    return tuple(full_name(op, id_) for op, ids in requirements.items() for id_ in ids)


class Backend(Protocol):
    """A class that executes cases. Its constructor takes the device of `NAME:DEVICE`, if there is one."""

    def describe(self) -> Implementation:
        """What the backend is and can do."""

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs] | PlacedOutputs:
        """The outputs of each feed, each a list of tensors in order, all from one built model.

        A backend with a choice of devices returns `PlacedOutputs`. It raises `Unsupported` if another device than the
        named one would execute the case.

        Args:
            case: The case, without its expectation. `case.declaration(op)` has the constraints of an operation.
            model: The rendered model in the first of the backend's dialects that the case has, or None for a backend
                without dialects.
            feeds: One or two sets of inputs by name; `case.operands(feed)` has them as the node gets them.

        Raises:
            Rejected: The backend refuses the case.
            Unsupported: The backend says that it does not implement what the case needs.
        """
