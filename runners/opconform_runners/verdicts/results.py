"""`results.jsonl`: the header of a run, one line per case sorted by id, and a footer."""

import hashlib
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, TypeAdapter, ValidationError

from opconform.errors import DiskError, MissingError, SuiteError
from opconform.suite.case import canonical_json
from opconform.suite.manifest import first_error
from opconform.suite.names import CaseId, ProfileName
from opconform.system.files import read_regular, replace_file
from opconform_runners.backends.backend import Placement, Stage
from opconform_runners.harness.outcome import Incident
from opconform_runners.verdicts.accuracy_level import level_of
from opconform_runners.verdicts.comparison import Mismatch
from opconform_runners.verdicts.flushing import FLUSHES_DENORMALS
from opconform_runners.verdicts.run_header import RUN_HEADER, RunHeader, header_line, ids_digest
from opconform_runners.verdicts.tally import KEPT, Kind, PackNote
from opconform_runners.verdicts.verdict import FailReason, VerdictName

#: The most bytes of results, and of a report, which repeats them.
RESULTS_LIMIT = 1 << 30

RESULTS = "results.jsonl"
#: The log of a run's executions, and the outputs that are kept.
OUTCOMES, OUTPUTS_ZIP = "outcomes.jsonl", "outputs.zip"
REPORT = "report.json"
CERTIFICATE = "certificate.json"
#: The folder of the finished batches of a streamed run, until the run is complete.
BATCHES = "batches"
_STRICT = ConfigDict(extra="forbid", allow_inf_nan=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """A line of `results.jsonl`: the result of one case.

    Attributes:
        sentence: The verdict as a sentence; empty for a plain pass.
        requirements: The requirements that the case is evidence for.
        broken: The requirements that a failure breaks.
        seconds: The time inside the backend.
        stage: When the backend rejected the case.
        message: The backend's message when it rejected or did not support the case.
        late: Whether it rejected the case later than it could have.
        other_reason: The requirement that it named for the rejection, where that is another one.
        error: The largest error of its outputs divided by its bound; None without a bound.
        rounded: The element type of its outputs that may be rounded; None if there are none.
        remarks: `undeclared-unsupported`, `passes-undeclared`, `fails-undeclared`, `flushes-denormals`.
        again: The verdict in a fresh harness, where it differs.
        incidents: What happened to the harness process at this case, and not again with the case alone.
        essential: Whether every backend of the operation must support the case.
        unclaimed: Whether the run has claims, and they do not cover the case, which is valid.
        pack: What was seen of the case in a pack.
    """

    __pydantic_config__ = _STRICT

    id: CaseId
    profile: ProfileName
    expect: Literal["accept", "reject"]
    verdict: VerdictName
    reason: FailReason | None = None
    sentence: str = ""
    requirements: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    inputs: str = ""
    seconds: float | None = None
    placement: Placement | None = None
    stage: Stage | None = None
    message: str | None = None
    late: bool = False
    other_reason: str | None = None
    error: float | None = None
    rounded: str | None = None
    remarks: tuple[str, ...] = ()
    mismatch: Mismatch | None = None
    again: str | None = None
    log: str | None = None
    incidents: tuple[Incident, ...] = ()
    essential: bool = False
    unclaimed: bool = False
    pack: PackNote | None = None

    @property
    def op(self) -> str:
        """The operation."""
        return self.id.split("/", 1)[0]


_RESULT = TypeAdapter(Result)
#: The beginning of the footer, whose keys are sorted, and of no other line.
_FOOTER_BEGINNING = b'{"cases":'
#: The default values that are left out.
_PLAIN = {
    "sentence": "",
    "late": False,
    "remarks": [],
    "broken": [],
    "inputs": "",
    "incidents": [],
    "essential": False,
    "unclaimed": False,
}


def result_document(result: Result) -> dict[str, object]:
    """A result as a JSON object without default values."""
    document: dict[str, object] = _RESULT.dump_python(result, mode="json")
    return {name: x for name, x in document.items() if x is not None and _PLAIN.get(name, ...) != x}


def is_kept(result: Result) -> bool:
    """Whether a streamed run keeps a result, and does not only count it."""
    return result.verdict in KEPT or bool(result.incidents) or FLUSHES_DENORMALS in result.remarks


def joined(result: Result, addition: Result) -> Result:
    """The result of a case that was executed in two parts of a run, with the incidents of the other one as well."""
    return replace(result, incidents=tuple(dict.fromkeys((*result.incidents, *addition.incidents))))


def tally_kind_of(result: Result) -> Kind:
    """The kind of cases that a streamed run counts a result with."""
    return Kind(
        op=result.op,
        profile=result.profile,
        verdict=result.verdict,
        requirements=result.requirements,
        accuracy=level_of(result.error) if result.verdict == "pass" and result.error is not None else None,
        rounded=result.rounded if result.verdict == "pass" else None,
        pack=result.pack,
    )


def placements_of(results: Iterable[Result]) -> Iterator[Placement]:
    """The devices that executed each case, where the harness reported them."""
    return (result.placement for result in results if result.placement is not None)


def write_results(out: Path, header: RunHeader, results: Sequence[Result], *, interrupted: bool = False) -> None:
    """Write results, sorted and with a footer that says whether the run was interrupted, or raise a DiskError."""
    ordered = sorted(results, key=lambda x: x.id)
    lines = header_line(header) + b"".join(line_of(result_document(x)) for x in ordered)
    try:
        out.mkdir(parents=True, exist_ok=True)  # a harness may have removed it
        replace_file(out / RESULTS, lines + _footer(lines, len(results), interrupted=interrupted))
    except OSError as error:
        raise DiskError(out / RESULTS, error) from error


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenResults:
    """`results.jsonl` as a run left it: the lines between header and footer, and whether it was interrupted."""

    path: Path
    header: RunHeader
    lines: tuple[bytes, ...]
    is_complete: bool

    @property
    def results(self) -> list[Result]:
        """The results; a SuiteError if one is malformed, or if they contradict their header."""
        results = []
        for number, line in enumerate(self.lines, 2):
            try:
                results.append(_RESULT.validate_json(line))
            except ValidationError as error:
                what = f"{self.path}:{number} is not a result: {first_error(error)}"
                raise SuiteError(f"{what}. Repeat the run.") from error
        for contradiction in _contradictions(self.header, results, is_complete=self.is_complete):
            raise SuiteError(f"{self.path} was changed after the run: {contradiction}. Repeat the run.")
        return results


def _contradictions(header: RunHeader, results: Sequence[Result], *, is_complete: bool) -> Iterator[str]:
    """What results contradict in their header, or in themselves."""
    ids = [result.id for result in results]
    tallies = header.streamed.tallies if header.streamed else ()
    cases = len(ids) + sum(tally.cases for tally in tallies)
    if ids != sorted(set(ids)):
        yield "its results are not sorted by id, or one is repeated"
    if (cases != header.cases) if is_complete else (cases > header.cases):
        yield f"its header says {header.cases:,} cases, but there are {cases:,}"
    if is_complete and header.shard is None and header.streamed is None and ids_digest(ids) != header.selected:
        yield "its cases are not those that its header names"
    if header.streamed is not None:
        yield from header.streamed.contradictions(cases, header.requirements, header.profiles)
        if is_complete and header.shard is None and cases != header.streamed.cases:
            yield f"its header says {header.streamed.cases:,} cases in all shards, but there are {cases:,}"
    for result in results:
        if (result.verdict == "fail") != (result.reason is not None):
            yield f"the result of {result.id} contradicts itself"


def read_written(path: Path) -> WrittenResults:
    """Results, complete or interrupted; a SuiteError if the file was changed or cut short."""
    try:
        content = read_regular(path, RESULTS_LIMIT)
    except FileNotFoundError as error:
        if (path.parent / BATCHES).is_dir() or path.with_name(OUTCOMES).is_file():
            raise MissingError(f"{path.parent} is interrupted. Run the same command again to continue.") from error
        raise MissingError(
            f"Results not found: {path}. Write them with `opconform run` or `opconform certify`."
        ) from error
    except OSError as error:
        raise SuiteError(f"{path} cannot be read: {error.strerror}.") from error
    first, *lines = [line for line in io.BytesIO(content) if line.endswith(b"\n")] or [b""]
    if not first:
        raise SuiteError(f"{path} is empty. Repeat the run.")
    try:
        header = RUN_HEADER.validate_json(first)
    except ValidationError as error:
        raise SuiteError(f"{path} has no header that this version of opconform writes. Repeat the run.") from error
    if not lines or not lines[-1].startswith(_FOOTER_BEGINNING):
        raise SuiteError(f"{path} has no footer: the run did not end. Repeat the run.")
    body = b"".join([first, *lines[:-1]])
    for interrupted in (False, True):
        if content == body + _footer(body, len(lines) - 1, interrupted=interrupted):
            return WrittenResults(path=path, header=header, lines=tuple(lines[:-1]), is_complete=not interrupted)
    raise SuiteError(f"{path} was changed after the run. Repeat the run.")


def read_results(path: Path) -> list[Result]:
    """The results of a run that ended."""
    written = read_written(path)
    if not written.is_complete:
        raise SuiteError(f"{path} is not complete: the run did not end. Repeat the run.")
    return written.results


def line_of(document: Mapping[str, object]) -> bytes:
    """A JSON object as a line."""
    return canonical_json(document).encode() + b"\n"


def _footer(lines: bytes, cases: int, *, interrupted: bool) -> bytes:
    """The last line of results, with the SHA-256 of the lines before it."""
    footer = {"footer": True, "cases": cases, "digest": hashlib.sha256(lines).hexdigest()}
    return line_of(footer | {"interrupted": True} if interrupted else footer)
