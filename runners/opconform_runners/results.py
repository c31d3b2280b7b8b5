"""`results.jsonl`: a line a case while the run goes on, sorted and closed with a footer when it is over."""

import hashlib
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from opconform.case import CaseId, canonical_json
from opconform.errors import SuiteError, UsageError
from opconform.files import read_regular
from opconform.replacing import is_ours, replace_file
from opconform.suite import HEADER, MANIFEST
from opconform_runners.backend import Placement, Stage
from opconform_runners.comparing import Mismatch
from opconform_runners.kept import KEPT, KEPT_BEGINNING
from opconform_runners.verdicts import FailReason, VerdictName

#: The most bytes that are read of results, and of a report, which repeats them.
RESULTS_LIMIT = 1 << 30

RESULTS = "results.jsonl"
REPORT = "report.json"
CERTIFICATE = "certificate.json"
PAGE = "report.html"
#: What a page begins with that is ours.
PAGE_BEGINNING = b"<!doctype html>\n<!-- opconform report -->"
#: What a run writes into its folder, and what stands among the first bytes of each file that is ours.
_OURS: Mapping[str, tuple[bytes, ...]] = MappingProxyType(
    {
        RESULTS: (b'{"broken"', b'{"cases"', b'{"expect"'),
        REPORT: (b'{\n "format"',),
        CERTIFICATE: (b'{\n "payload"',),
        PAGE: (PAGE_BEGINNING,),
        KEPT: (KEPT_BEGINNING,),
    }
)

_STRICT = ConfigDict(extra="forbid")


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """A line of `results.jsonl`: what became of one case.

    Attributes:
        verdict: The verdict's name.
        reason: The reason of a failure.
        sentence: What happened, in words; empty for a plain pass.
        requirements: The requirements that the case is evidence for.
        broken: Those of them that a failure speaks against.
        inputs: The case's inputs in words.
        seconds: The time spent inside the backend.
        placement: What executed the case, where the harness says so.
        stage: When it refused.
        message: What it said when it refused, or could not.
        late: Whether it refused later than it could have.
        other_reason: The requirement that it refused for, where that is another.
        findings: `undeclared-unsupported`, `passes-undeclared`, `fails-undeclared`.
        mismatch: Where outputs differ.
        again: What it did in a fresh harness, where that was something else.
        log: What a harness that failed wrote.
    """

    __pydantic_config__ = _STRICT

    id: CaseId
    profile: str
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
    findings: tuple[str, ...] = ()
    mismatch: Mismatch | None = None
    again: str | None = None
    log: str | None = None

    @property
    def op(self) -> str:
        """The operation."""
        return self.id.split("/", 1)[0]


@dataclass(frozen=True, kw_only=True, slots=True)
class Footer:
    """The last line: without it the results are not complete. `digest` is the SHA-256 of the lines before."""

    __pydantic_config__ = _STRICT

    footer: Literal[True] = True
    cases: Annotated[int, Field(ge=0)]
    digest: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


_RESULT = TypeAdapter(Result)
_FOOTER = TypeAdapter(Footer)
_PLAIN: Mapping[str, object] = {"sentence": "", "late": False, "findings": [], "broken": [], "inputs": ""}


def result_document(result: Result) -> dict[str, object]:
    """A result as a JSON object, without the keys that say nothing."""
    document: dict[str, object] = _RESULT.dump_python(result, mode="json")
    return {name: each for name, each in document.items() if each is not None and _PLAIN.get(name, ...) != each}


def placements_of(results: Iterable[Result]) -> Iterator[Placement]:
    """What executed each case, where the harness said so."""
    return (each.placement for each in results if each.placement is not None)


def check_folder(out: Path) -> None:
    """Check that a folder can take results; nothing in it is touched.

    Raises:
        UsageError: It is a file, or in a suite, or holds files of their names that are not ours.
    """
    for each in (out, *out.absolute().parents):
        if (each / MANIFEST).is_file() and (each / HEADER).is_file():
            raise UsageError(f"{out} is in the suite {each}, where results would be foreign. Name another --out.")
    try:
        if out.exists() and not out.is_dir():
            raise UsageError(f"Results cannot be written to {out}: it is a file. Name another --out.")
        for name, marks in _OURS.items():
            if not is_ours(out / name, marks):
                raise UsageError(
                    f"{out / name} was not written by opconform, and nothing is overwritten. Name another --out."
                )
    except OSError as fault:
        raise _no_place(out, fault) from fault


def _no_place(out: Path, fault: OSError) -> UsageError:
    return UsageError(f"Results cannot be written to {out}: {fault.strerror}. Name another --out.")


class GrowingResults:
    """A results file that is being written; until it is begun the folder is as an earlier run left it."""

    def __init__(self, out: Path) -> None:
        """Nothing is written yet.

        Args:
            out: The folder, which `check_folder` has found fit.
        """
        self._out = out
        self._file: io.BufferedWriter | None = None

    def begin(self) -> None:
        """Make the folder, remove what an earlier run left in it, and begin the file.

        Raises:
            UsageError: The disk refuses.
        """
        try:
            self._out.mkdir(parents=True, exist_ok=True)
            for name in _OURS:
                (self._out / name).unlink(missing_ok=True)
            self._file = (self._out / RESULTS).open("wb")
        except OSError as fault:
            raise _no_place(self._out, fault) from fault

    def add(self, result: Result) -> None:
        """Write a line, so that it is there whatever happens next."""
        if self._file is not None:
            self._file.write(_line(result_document(result)))
            self._file.flush()

    def close(self) -> None:
        """Close the file, if it was begun."""
        if self._file is not None:
            self._file.close()


def write_results(out: Path, results: Sequence[Result]) -> None:
    """Put the whole results, sorted and with their footer, in the place of the growing ones."""
    lines = b"".join(_line(result_document(each)) for each in sorted(results, key=lambda each: each.id))
    footer = Footer(cases=len(results), digest=hashlib.sha256(lines).hexdigest())
    replace_file(out / RESULTS, lines + _line(_FOOTER.dump_python(footer, mode="json")))


def read_results(path: Path) -> list[Result]:
    """The results of a run that came to its end.

    Raises:
        SuiteError: The file is missing, has no footer, or was changed.
    """
    try:
        content = read_regular(path, RESULTS_LIMIT)
    except OSError as fault:
        raise SuiteError(f"{path} cannot be read: {fault.strerror}.") from fault
    end = content.rfind(b"\n", 0, len(content) - 1) + 1
    lines = content[:end]
    try:
        footer = _FOOTER.validate_json(content[end:])
    except ValidationError as fault:
        raise SuiteError(f"{path} has no footer: the run did not come to its end. Run it again.") from fault
    if footer.digest != hashlib.sha256(lines).hexdigest() or footer.cases != lines.count(b"\n"):
        raise SuiteError(f"{path} was changed after the run. Run it again.")
    try:
        return [_RESULT.validate_json(line) for line in io.BytesIO(lines)]
    except ValidationError as fault:
        raise SuiteError(f"{path} holds a line that is no result. Run it again.") from fault


def _line(document: Mapping[str, object]) -> bytes:
    return canonical_json(document).encode() + b"\n"
