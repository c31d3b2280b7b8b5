"""The suite that a report belongs to."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import ConfigDict

from opconform.suite.manifest import Header

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


def suite_note(header: Header) -> SuiteNote:
    """What a report says of a suite."""
    return SuiteNote(
        digest=header.digest,
        version=header.version,
        generator=header.generator,
        seed=header.seed,
        specification=header.specification,
    )
