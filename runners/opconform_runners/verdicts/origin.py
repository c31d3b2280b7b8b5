"""The suite that a report belongs to."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from pydantic import ConfigDict

from opconform.suite.manifest import Header

_STRICT = ConfigDict(extra="forbid", allow_inf_nan=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class SuiteNote:
    """The fields of a suite's header that a report repeats."""

    __pydantic_config__ = _STRICT

    digest: str
    version: str
    generator: str
    seed: int
    specification: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def shared_fields(kind: type[Any], source: object) -> dict[str, Any]:
    """The fields of a dataclass as another object has them, by name."""
    return {each.name: getattr(source, each.name) for each in fields(kind)}


def suite_note(header: Header) -> SuiteNote:
    """The fields of a suite's header that a report repeats."""
    return SuiteNote(**shared_fields(SuiteNote, header))
