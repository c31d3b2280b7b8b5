"""`cases/kills.json`: which requirement's cases of the shipped suites caught which mutant, as last recorded."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from opconform.errors import SuiteError
from opconform.locations import root
from opconform.suite import Level

_FILE = "kills.json"


class _Keys(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class MutantKills(_Keys):
    """One mutant: its level, how many cases fail, in all and in `core` alone, and how many a requirement."""

    level: Level
    cases: int
    core: int
    requirements: Mapping[str, Mapping[str, int]]


class Kills(_Keys):
    """The record. `suite` is the digest of the ids of the cases that it was made with."""

    format: Literal[1] = 1
    suite: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    mutants: Mapping[str, MutantKills]

    def killed_by(self, op: str, requirement: str) -> int:
        """How many mutants a requirement's cases caught."""
        return sum(requirement in each.requirements.get(op, {}) for each in self.mutants.values())


def suite_of(ids: Iterable[str]) -> str:
    """The digest of the ids of a suite's cases."""
    return hashlib.sha256("\n".join(sorted(ids)).encode()).hexdigest()


def kills_text(kills: Kills) -> str:
    """The record as it is written: a line a mutant, so that a change can be read."""
    rows = [f"  {json.dumps(name)}: {json.dumps(each.model_dump())}" for name, each in kills.mutants.items()]
    head = f'{{\n "format": {kills.format},\n "suite": "{kills.suite}",\n "mutants": {{\n'
    return head + ",\n".join(rows) + "\n }\n}\n"


def shipped_kills() -> Kills:
    """The record that opconform ships.

    Raises:
        SuiteError: It is missing or not readable.
    """
    path = Path(str(root() / "cases" / _FILE))
    try:
        return Kills.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as fault:
        raise SuiteError(f"{path} cannot be read. Write it with `opconform mutants --record {path}`.") from fault
