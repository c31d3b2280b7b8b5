"""The catalogue: every mutant with its class, its level and the bug in a real runtime that it was derived from."""

import importlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TypeVar

from opconform.suite import Level
from opconform_runners.mutants.kernel import Kernel

#: The classes of mutants, a module each.
CLASSES = (
    "axis",
    "lengths",
    "remainder",
    "num_splits",
    "counts",
    "shapes",
    "element_types",
    "bit_patterns",
    "memory_layout",
    "state",
    "dynamic",
    "contexts",
    "crash",
    "hang",
    "credit",
)

#: Where a fault is known from that no public tracker has a thread on: this suite found it.
FOUND = "found by opconform in OpenVINO 2026.4.1"

Faulty = TypeVar("Faulty", bound=type[Kernel])


@dataclass(frozen=True, kw_only=True, slots=True)
class Mutant:
    """One faulty implementation.

    Attributes:
        name: Its class and its own name, as in `axis/always-zero`.
        level: `normative` where the pages rule it out, `interpretation` where only our reading of them does.
        what: What it does, in a sentence.
        seen: The thread of a tracker in which a runtime had this fault or one of its kind.
        kernel: The implementation.
    """

    name: str
    level: Level
    what: str
    seen: str
    kernel: type[Kernel]

    @property
    def kind(self) -> str:
        """The class that it belongs to."""
        return self.name.partition("/")[0]


_MUTANTS: dict[str, Mutant] = {}


def mutant(seen: str, level: Level = "normative") -> Callable[[Faulty], Faulty]:
    """Put a kernel with a fault into the catalogue; its name and its docstring say what the fault is.

    Args:
        seen: The thread of a tracker in which a runtime had this fault or one of its kind.
        level: `interpretation` where the pages leave room for it.
    """

    def put(kernel: Faulty) -> Faulty:
        kind = kernel.__module__.rpartition(".")[2]
        own = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[a-z])(?=[0-9])", "-", kernel.__name__).lower()
        own = re.sub(r"\b(bf|f|i|u|nf)-(?=[0-9])", r"\1", own)
        what = (kernel.__doc__ or "").strip().partition("\n")[0]
        name = f"{kind}/{own}"
        _MUTANTS[name] = Mutant(name=name, level=level, what=what, seen=seen, kernel=kernel)
        return kernel

    return put


@cache
def mutants() -> Mapping[str, Mutant]:
    """Every mutant by its name, class by class."""
    for each in CLASSES:
        importlib.import_module(f"opconform_runners.mutants.{each}")
    return MappingProxyType(_MUTANTS)
