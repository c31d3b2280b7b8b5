"""The header of a run: the first line of `results.jsonl`, which says what was run, on what and where."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from opconform.suite.case import canonical_json
from opconform.suite.manifest import Header, RequirementNote
from opconform_runners.backends.backend import HARDWARE, Implementation
from opconform_runners.harness.environment import Environment
from opconform_runners.verdicts.origin import SuiteNote, suite_note

_STRICT = ConfigDict(extra="forbid", allow_inf_nan=False)
_Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


@dataclass(frozen=True, kw_only=True, slots=True)
class RunPlan:
    """What is known of a run before its backend has started.

    Attributes:
        out: The folder for the results.
        started: The options of the command line that name the backend; empty where outputs are judged.
        profiles: The profiles that were asked for; none at all where nothing was said.
        whole: Whether whole profiles are run, as a certificate needs.
        strict: Whether interpretations count as much as normative requirements.
        environment_of: Gives where the backend runs, without what executes its cases.
        timeout: How long a case may take, in seconds.
        memory: The most bytes that a harness may take, or None.
        outputs: The SHA-256 of the file of outputs that is judged, or None where a harness is.
        force: Whether the results of another run are replaced.
        resume: Whether the same run goes on where it was interrupted.
    """

    out: Path
    started: str = ""
    profiles: tuple[str, ...] = ()
    whole: bool = False
    strict: bool = False
    environment_of: Callable[[Implementation], Environment]
    timeout: float
    memory: int | None = None
    outputs: str | None = None
    force: bool = False
    resume: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class RunHeader:
    """What a run is of. A run goes on where it was interrupted only if all of this but `strict` is the same.

    Attributes:
        cases: How many cases are executed.
        selected: The SHA-256 of their ids.
        requirements: The level and the text of every requirement, by operation and id.

    The others are those of `RunPlan` and `Report`.
    """

    __pydantic_config__ = _STRICT

    cases: Annotated[int, Field(ge=0)]
    selected: _Digest
    suite: SuiteNote
    implementation: Implementation
    started: str
    profiles: tuple[str, ...]
    whole: bool
    strict: bool
    environment: Environment
    timeout: float
    memory: int | None
    outputs: _Digest | None
    requirements: Mapping[str, Mapping[str, RequirementNote]]

    @property
    def title(self) -> str:
        """What kind of run it is, of what, and how large."""
        kind = "a certification" if self.whole else "a run"
        return f"{kind} of {self.implementation.title} ({self.cases:,} {'case' if self.cases == 1 else 'cases'})"

    @property
    def backend(self) -> str:
        """How the backend was named, or what it calls itself where its outputs were judged."""
        return self.started or self.implementation.name


_HEADER = TypeAdapter(RunHeader)
#: What may change between an interruption and the continuation, by field.
_DETAILS: Mapping[str, str] = {
    "suite": "the suite",
    "selected": "the selection",
    "implementation": "the backend",
    "environment": "the environment",
    "timeout": "--timeout",
    "memory": "--memory",
    "requirements": "the requirements",
    "outputs": "the outputs",
}


def header_of(plan: RunPlan, suite: Header, ids: Sequence[str], implementation: Implementation) -> RunHeader:
    """The header of a run whose backend has started.

    Args:
        plan: What was known before.
        suite: The suite's header.
        ids: The ids of the cases that are executed.
        implementation: What the backend says of itself.
    """
    return RunHeader(
        cases=len(ids),
        selected=hashlib.sha256("\n".join(sorted(ids)).encode()).hexdigest(),
        suite=suite_note(suite),
        implementation=implementation.without_hardware(),
        started=plan.started,
        profiles=tuple(sorted(plan.profiles)),
        whole=plan.whole,
        strict=plan.strict,
        environment=plan.environment_of(implementation),
        timeout=plan.timeout,
        memory=plan.memory,
        outputs=plan.outputs,
        requirements=suite.requirements,
    )


def header_line(header: RunHeader) -> bytes:
    """A header as the first line of `results.jsonl`."""
    document = _HEADER.dump_python(header, mode="json", exclude={"implementation": HARDWARE})
    return canonical_json(document).encode() + b"\n"


def header_from(line: bytes) -> RunHeader | None:
    """The header in a line, or None where it is another line."""
    try:
        return _HEADER.validate_json(line)
    except ValidationError:
        return None


def difference(held: RunHeader, new: RunHeader) -> str | None:
    """What makes a run another one than the one whose results are held, or None where it may replace them.

    A certification brings its own suite, and so it may replace one with an older suite.
    """
    if held.backend != new.backend:
        return "backend"
    if held.whole != new.whole:
        return "kind"
    if held.whole:
        return "selection" if held.profiles != new.profiles else None
    if held.suite.digest != new.suite.digest:
        return "suite"
    return "selection" if held.selected != new.selected else None


def changes(held: RunHeader, new: RunHeader) -> list[str]:
    """What is no longer as it was when a run was interrupted, in words."""
    changed = [name for name in _DETAILS if getattr(held, name) != getattr(new, name)]
    titles = (held.implementation.title, new.implementation.title)
    return [
        f"{_DETAILS[name]} ({titles[0]}, now {titles[1]})"
        if name == "implementation" and titles[0] != titles[1]
        else _DETAILS[name]
        for name in changed
    ]


def progress_of(executed: int, cases: int) -> str:
    """How far an interrupted run got, in words."""
    return f"after {executed:,} of {cases:,} {'case' if cases == 1 else 'cases'}"
