"""What a report is of: which suite, and which backend."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import ConfigDict

from opconform.suite.reader import Header
from opconform_runners.backends.backend import Implementation

_STRICT = ConfigDict(extra="forbid", allow_inf_nan=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class SuiteNote:
    """What a report says of its suite, each as the suite's header has it."""

    __pydantic_config__ = _STRICT

    digest: str
    version: str
    generator: str
    seed: int
    specification: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Tested:
    """What a report says of the backend, each as the backend says it of itself."""

    __pydantic_config__ = _STRICT

    name: str
    version: str
    device: str | None = None
    language: str
    dialects: tuple[str, ...] = ()
    element_types: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    dynamic: bool = True
    bindings: tuple[str, ...] = ()
    graphs: bool = False
    mapped: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The name with the version and the device."""
        return f"{self.name} {self.version}".strip() + (f" on {self.device}" if self.device else "")


def suite_note(header: Header) -> SuiteNote:
    """What a report says of a suite."""
    return SuiteNote(
        digest=header.digest,
        version=header.version,
        generator=header.generator,
        seed=header.seed,
        specification=header.specification,
    )


def tested(implementation: Implementation) -> Tested:
    """What a report says of a backend."""
    return Tested(
        name=implementation.name,
        version=implementation.version,
        device=implementation.device,
        language=implementation.language,
        dialects=implementation.dialects,
        element_types=implementation.element_types,
        operations=implementation.operations,
        dynamic=implementation.dynamic,
        bindings=implementation.bindings,
        graphs=implementation.graphs,
        mapped=implementation.mapped,
    )
