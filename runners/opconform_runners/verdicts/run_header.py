"""The header of a run, the first line of `results.jsonl`: suite, backend, options and environment."""

import hashlib
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter

from opconform.suite.case import canonical_json
from opconform.suite.manifest import Header, RequirementNote
from opconform.suite.reader import Suite
from opconform.suite.selection.selection import Shard
from opconform_runners.backends.backend import HARDWARE, Implementation
from opconform_runners.harness.environment import Environment
from opconform_runners.verdicts.accuracy_level import LeastAccuracy
from opconform_runners.verdicts.tally import Streamed

_STRICT = ConfigDict(extra="forbid", allow_inf_nan=False)
_Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


def _shell_words(text: str) -> str:
    """Options that a shell takes for words alone, since commands with them are printed to be pasted."""
    if text != shlex.join(shlex.split(text)):
        raise ValueError("these are not options as opconform quotes them for a shell")
    return text


#: The options of a command line, as opconform quotes them.
CommandOptions = Annotated[str, AfterValidator(_shell_words)]


@dataclass(frozen=True, kw_only=True, slots=True)
class SuiteNote:
    """The fields of a suite's header that a report repeats, and how the suite differs from the release it claims to be.

    The `difference` is a clause; it is empty for a suite that does not differ. `profiles` has the selected profiles if
    one is a list of cases (`quick`).
    """

    __pydantic_config__ = _STRICT

    digest: str
    version: str
    generator: str
    seed: int
    specification: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    uses: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    profiles: tuple[str, ...] = ()
    difference: str = ""


def shared_fields(kind: type[Any], source: object) -> dict[str, Any]:
    """The fields of a dataclass as another object has them, by name."""
    return {f.name: getattr(source, f.name) for f in fields(kind)}


def suite_note(header: Header) -> SuiteNote:
    """What a report repeats of a suite, if only the header of the suite is known."""
    known = {f.name: getattr(header, f.name) for f in fields(SuiteNote) if f.name != "difference"}
    return SuiteNote(**known | {"digest": header.identity})


def note_of(suite: Suite) -> SuiteNote:
    """What a report repeats of a suite."""
    return replace(suite_note(suite.header), difference=suite.release_difference)


@dataclass(frozen=True, kw_only=True, slots=True)
class RunHeader:
    """The identity of a run, which is continued after an interruption only if all but what counts is the same.

    Attributes:
        cases: How many cases are executed.
        selected: The SHA-256 of their ids; with a shard, of the ids in all shards.
        started: The options of the command line that name the backend; empty where outputs are judged.
        whole: Whether whole profiles are run, as a certificate needs.
        partial: Whether cases of the suite are left out in all shards, or the suite itself is a selection.
        strict: Whether interpretations count as much as normative requirements.
        least_accuracy: The accuracy level below which a rounded result counts as a failure.
        alone: Whether every case is executed alone, also where the backend takes packs.
        memory: The most bytes of a harness, or None.
        outputs: The SHA-256 of the file of outputs that is judged, or None where a harness runs.
        shard: The part of the selected cases that is executed, or None for all of them.
        streamed: What a streamed run has beside its results, or None.
        claims: The text of the file with the claims, or None.
        program: The SHA-256 of the file of a backend, or of a harness, that is not a registered one.
        requirements: The level and the text of every requirement, by operation and id.
    """

    __pydantic_config__ = _STRICT

    cases: Annotated[int, Field(ge=0)]
    selected: _Digest
    suite: SuiteNote
    implementation: Implementation
    started: CommandOptions
    profiles: tuple[str, ...]
    whole: bool
    strict: bool
    environment: Environment
    timeout: float
    memory: int | None
    outputs: _Digest | None
    shard: Shard | None = None
    program: _Digest | None = None
    claims: str | None = None
    partial: bool = False
    least_accuracy: LeastAccuracy = "reduced"
    alone: bool = False
    streamed: Streamed | None = None
    requirements: Mapping[str, Mapping[str, RequirementNote]]

    def counting_as(self, other: "RunHeader") -> "RunHeader":
        """The same run, in which what counts as a failure is what it is in another one."""
        return replace(self, strict=other.strict, least_accuracy=other.least_accuracy)

    @property
    def title(self) -> str:
        """The kind of run, its backend, and its number of cases if that is known."""
        kind = "a certification" if self.whole else "a run"
        if self.shard is not None:
            kind = f"shard {self.shard} of {kind}"
        count = f"{self.cases:,} {'case' if self.cases == 1 else 'cases'}"
        return f"{kind} of {self.implementation.title}{f' ({count})' if self.cases else ''}"

    @property
    def backend(self) -> str:
        """The options that name the backend, or its own name where its outputs were judged."""
        return self.started or self.implementation.name


#: Reads and writes a header.
RUN_HEADER = TypeAdapter(RunHeader)
#: The fields that may have changed when a run is continued, and their names in messages.
_DETAILS: Mapping[str, str] = {
    "suite": "the suite",
    "program": "the backend's file",
    "selected": "the selection",
    "shard": "the shard",
    "implementation": "the backend",
    "environment": "the environment",
    "timeout": "--timeout",
    "memory": "--memory",
    "alone": "--alone",
    "claims": "the claims",
    "requirements": "the requirements",
    "outputs": "the outputs",
}


def ids_digest(ids: Iterable[str]) -> str:
    """The SHA-256 of the ids of cases, whatever their order."""
    return hashlib.sha256("\n".join(sorted(ids)).encode()).hexdigest()


def header_line(header: RunHeader) -> bytes:
    """A header as the first line of `results.jsonl`."""
    absent = {name: True for name in ("alone", "streamed", "claims") if not getattr(header, name)}
    document = RUN_HEADER.dump_python(header, mode="json", exclude={"implementation": HARDWARE, **absent})
    document["suite"] = suite_document(document["suite"])
    return canonical_json(document).encode() + b"\n"


def suite_document(suite: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a suite as a JSON object, which has uses, profiles and a difference only if there are any."""
    return {name: value for name, value in suite.items() if name not in ("uses", "profiles", "difference") or value}


def difference(present: RunHeader, new: RunHeader) -> str | None:
    """The property in which a run differs from the one whose results exist, or None if it may replace them.

    A certification generates its own suite, so it may replace one with an older suite.
    """
    if present.backend != new.backend:
        return "backend"
    if present.whole != new.whole:
        return "kind"
    if present.whole:
        return "selection" if (present.profiles, present.shard) != (new.profiles, new.shard) else None
    if present.suite.digest != new.suite.digest:
        return "suite"
    return "selection" if (present.selected, present.shard) != (new.selected, new.shard) else None


def changes(present: RunHeader, new: RunHeader) -> list[str]:
    """The names of the fields that changed since a run was interrupted."""
    before, now = present.implementation.title, new.implementation.title
    titles = {"implementation": f" ({before}, now {now})"} if before != now else {}
    changed = [name for name in _DETAILS if getattr(present, name) != getattr(new, name)]
    return [_DETAILS[name] + titles.get(name, "") for name in changed]


def differences(first_header: RunHeader, second_header: RunHeader) -> list[str]:
    """The names of the properties in which the runs of two parts of the same cases differ."""
    first, second = (replace(x, cases=0, shard=None, streamed=None) for x in (first_header, second_header))
    return changes(first, second) or ([] if first == second else ["the options"])


def progress_of(executed: int, cases: int) -> str:
    """How far an interrupted run got, as in `after 2 of 6 cases`."""
    return f"after {executed:,} of {cases:,} {'case' if cases == 1 else 'cases'}"
