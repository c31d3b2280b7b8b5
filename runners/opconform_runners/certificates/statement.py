"""The statement of a certificate, and its summary: an in-toto Statement (v1) with a test result predicate (v0.1)."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Final, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from opconform.errors import CertificateError
from opconform.generation.provenance import foreign_specs
from opconform.specs.loader import shipped_files
from opconform.suite.case import canonical_json
from opconform.suite.manifest import HEADER, MANIFEST, Header, Level, first_error
from opconform_runners.backends.backend import HARDWARE, Implementation
from opconform_runners.harness.environment import Environment, environment_facts
from opconform_runners.reports.incidents import deaths_clause
from opconform_runners.reports.report import Report, coverage_text
from opconform_runners.reports.requirement_row import is_tested
from opconform_runners.reports.text import printable
from opconform_runners.verdicts.judge import UNDECLARED_UNSUPPORTED
from opconform_runners.verdicts.results import REPORT, RESULTS
from opconform_runners.verdicts.run_header import shared_fields

STATEMENT: Final = "https://in-toto.io/Statement/v1"
PREDICATE: Final = "https://in-toto.io/attestation/test-result/v0.1"
#: The name of the judged file of outputs among the subjects.
OUTPUTS: Final = "outputs"

_Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Counts = Mapping[str, Annotated[int, Field(ge=0)]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Resource:
    """A file, and the SHA-256 of its bytes."""

    name: str
    digest: Mapping[Literal["sha256"], _Digest]


@dataclass(frozen=True, kw_only=True, slots=True)
class CertifiedSuite:
    """The suite: its digest, its version and its sources."""

    digest: _Digest
    version: str
    generator: str
    seed: int
    dialects: tuple[str, ...]
    specification: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, kw_only=True, slots=True)
class CertifiedProfile:
    """The cases of a profile by verdict, and whether they show the backend to be conformant."""

    name: str
    passed: bool
    counts: Counts


@dataclass(frozen=True, kw_only=True, slots=True)
class CertifiedRequirement:
    """The cases of a requirement by verdict; the harness fulfils a `mapped` one itself."""

    op: str
    id: str
    level: Level
    broken: bool
    mapped: bool
    counts: Counts

    @property
    def test(self) -> str:
        """The name of the requirement in the predicate's lists of tests."""
        return f"{self.op}/{self.id}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """The extension field of the predicate.

    Attributes:
        judged: Whether recorded outputs were judged, instead of running the backend.
        witnessed: Whether the command that signed also executed the cases or judged their outputs, all of them, and did
            not read their verdicts from a file.
        strict: Whether interpretations count as much as normative requirements.
        supported: How many of the cases passed or failed.
        deaths: How many processes crashed or hung without a failure of a case; not in the payload if there are none.
    """

    format: Literal[1] = 1
    conformant: bool
    strict: bool
    judged: bool
    witnessed: bool
    backend: Implementation
    environment: Environment
    suite: CertifiedSuite
    cases: Counts
    supported: Annotated[int, Field(ge=0)]
    profiles: tuple[CertifiedProfile, ...]
    requirements: tuple[CertifiedRequirement, ...]
    timestamp: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]
    deaths: Annotated[int, Field(ge=0)] = 0

    def counts(self, requirement: CertifiedRequirement) -> bool:
        """Whether a violation of a requirement makes the backend non-conformant."""
        return self.strict or requirement.level == "normative"


@dataclass(frozen=True, kw_only=True, slots=True)
class Predicate:
    """The predicate of a test result, in which a test is a requirement.

    A requirement is passed if a case passed and none failed. It is warned if it is a broken interpretation that does
    not count, if a rejection was inconclusive, or if the backend does not support what it declares. It is in no list if
    no case was decided, or if the harness fulfils it.
    """

    result: Literal["PASSED", "WARNED", "FAILED"]
    configuration: tuple[Resource, ...]
    passed: Annotated[tuple[str, ...], Field(alias="passedTests")]
    warned: Annotated[tuple[str, ...], Field(alias="warnedTests")]
    failed: Annotated[tuple[str, ...], Field(alias="failedTests")]
    opconform: Finding


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """The statement of a certificate: its predicate, and the certified files as its subject."""

    __pydantic_config__ = ConfigDict(  # also for the classes of its fields
        extra="forbid", allow_inf_nan=False, serialize_by_alias=True, validate_by_name=True, validate_by_alias=True
    )

    kind: Annotated[Literal["https://in-toto.io/Statement/v1"], Field(alias="_type")] = STATEMENT
    subject: tuple[Resource, ...]
    predicate_kind: Annotated[
        Literal["https://in-toto.io/attestation/test-result/v0.1"], Field(alias="predicateType")
    ] = PREDICATE
    predicate: Predicate


_STATEMENT: TypeAdapter[Statement] = TypeAdapter(Statement)
#: The fields of the backend that the environment and the requirements have.
_NOT_CERTIFIED = {"predicate": {"opconform": {"backend": {*HARDWARE, "mapped"}}}}


def statement_of(
    report: Report, header: Header, digests: Mapping[str, str], timestamp: str, *, witnessed: bool
) -> Statement:
    """The statement of a complete run on a suite.

    `digests` has the SHA-256 of `results.jsonl`, `report.json` and `suite.json`, by name. The last two arguments are
    those of `Finding`.
    """
    finding = replace(_finding(report, header, timestamp), witnessed=witnessed)
    undeclared = [each for each in report.results if UNDECLARED_UNSUPPORTED in each.findings]
    tests = tests_of(finding, {f"{each.op}/{name}" for each in undeclared for name in each.requirements})
    outputs = {} if report.outputs is None else {OUTPUTS: report.outputs}
    sources = {MANIFEST: header.digest, HEADER: digests[HEADER], **dict(sorted(header.specs.items()))}
    return Statement(
        subject=_resources({RESULTS: digests[RESULTS], REPORT: digests[REPORT], **outputs}),
        predicate=Predicate(
            result="FAILED" if not report.conformant else "WARNED" if tests["warned"] else "PASSED",
            configuration=_resources(sources),
            **tests,
            opconform=finding,
        ),
    )


def tests_of(finding: Finding, doubtful: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The tests that are failed, warned and passed; a `doubtful` one that did not fail is warned."""
    tests: dict[str, list[str]] = {"failed": [], "warned": [], "passed": []}
    for each in finding.requirements:
        if each.broken and finding.counts(each):
            tests["failed"].append(each.test)
        elif each.broken or each.counts["inconclusive"] or each.test in doubtful:
            tests["warned"].append(each.test)
        elif each.counts["pass"] and not each.mapped:
            tests["passed"].append(each.test)
    return {name: tuple(found) for name, found in tests.items()}


def statement_bytes(statement: Statement) -> bytes:
    """The bytes of a statement that are signed."""
    document = _STATEMENT.dump_python(statement, mode="json", exclude=_NOT_CERTIFIED)
    if not statement.predicate.opconform.deaths:
        del document["predicate"]["opconform"]["deaths"]
    return canonical_json(document).encode()


def statement_from(payload: bytes, where: str) -> Statement:
    """The statement in a signed payload, in canonical JSON; `where` is the name of its certificate in errors."""
    what = f"{where} has a statement that opconform did not write"
    try:
        statement = _STATEMENT.validate_json(payload)
    except ValidationError as fault:
        raise CertificateError(f"{what}: {first_error(fault)}.") from fault
    if statement_bytes(statement) != payload:
        raise CertificateError(f"{what}: it is not canonical JSON.")
    return statement


def _resources(digests: Mapping[str, str]) -> tuple[Resource, ...]:
    return tuple(Resource(name=name, digest={"sha256": digest}) for name, digest in digests.items())


def _finding(report: Report, suite: Header, timestamp: str) -> Finding:
    return Finding(
        conformant=bool(report.conformant),
        strict=report.strict,
        judged=report.outputs is not None,
        witnessed=False,
        backend=replace(report.implementation, hardware=None, driver=None, mapped=()),
        environment=report.environment,
        suite=CertifiedSuite(**shared_fields(CertifiedSuite, suite) | {"dialects": tuple(suite.dialects)}),
        cases=report.summary,
        supported=report.supported,
        profiles=tuple(_profile(report, each) for each in report.profiles),
        requirements=tuple(
            CertifiedRequirement(
                op=each.op,
                id=each.id,
                level=each.level,
                broken=each.is_broken,
                mapped=each.is_mapped,
                counts=each.counts,
            )
            for each in report.requirements
        ),
        timestamp=timestamp,
        deaths=len(report.deaths),
    )


def _profile(report: Report, name: str) -> CertifiedProfile:
    alone = replace(report, whole=False, results=tuple(each for each in report.results if each.profile == name))
    passed = bool(alone.conformant) and alone.summary["pass"] > 0
    return CertifiedProfile(name=name, passed=passed, counts=alone.summary)


def summary_lines(statement: Statement) -> Iterator[str]:
    """The lines of the summary, with unprintable characters escaped."""
    yield from map(printable, _lines(statement))


def _lines(statement: Statement) -> Iterator[str]:
    predicate, finding = statement.predicate, statement.predicate.opconform
    backend, total = finding.backend, sum(finding.cases.values())
    device = f" on {backend.device}" if backend.device else ""
    verdict = "CONFORMANT" if finding.conformant else "NOT CONFORMANT"
    origin = ", judged from outputs recorded elsewhere" if finding.judged else ""
    coverage = coverage_text(finding.supported, total)
    yield f"{verdict} ({predicate.result}), {coverage}: {backend.name} {backend.version}{device}{origin}"
    facts = environment_facts(finding.environment, backend.device)
    if facts:
        yield "; ".join(f"{name.lower()}: {each}" for name, each in facts)
    files = {each.name: each.digest["sha256"] for each in predicate.configuration}
    specs = {name: digest for name, digest in files.items() if name not in (HEADER, MANIFEST)}
    yield f"suite {finding.suite.version}, digest {finding.suite.digest}, {_specs_phrase(specs)}"
    profiles = (f"{each.name} {'passed' if each.passed else 'not passed'}" for each in finding.profiles)
    yield f"profiles: {', '.join(profiles)}"
    others = "".join(f", {count:,} {name}" for name, count in finding.cases.items() if count and name != "pass")
    yield f"cases: {finding.cases['pass']:,} of {total:,} pass{others}"
    if finding.deaths:
        yield f"incidents: {deaths_clause(finding.deaths)}"
    if predicate.failed:
        yield f"broken: {', '.join(predicate.failed)}"
    if predicate.warned:
        yield f"warned: {', '.join(predicate.warned)}"
    tested = sum(is_tested(each.counts, is_mapped=each.mapped) for each in finding.requirements)
    yield f"requirements: {tested} of {len(finding.requirements)} tested"
    mapped = sum(each.mapped for each in finding.requirements)
    if mapped:
        verb = "is fulfilled" if mapped == 1 else "are fulfilled"
        yield f"{mapped} of {len(finding.requirements)} requirements {verb} by the harness, not by the backend"
    later = "" if finding.witnessed else ", from result files: the signer did not observe the run"
    yield f"signed at {finding.timestamp}{later}"


def _specs_phrase(specs: Mapping[str, str]) -> str:
    """Whether spec files, by name and SHA-256, are the shipped ones, and which of them differ or are left out."""
    foreign = foreign_specs(specs)
    if foreign:
        return f"NOT THE SHIPPED SPECS: {', '.join(foreign)} (custom, or of another version of opconform)"
    shipped = set(shipped_files())
    known, operations = ({each.partition("/")[0] for each in names} for names in (shipped, specs))
    phrase = "the shipped specs"
    if operations < known:
        phrase += f" of {len(operations)} of {len(known)} operations: {', '.join(sorted(operations))}"
    left_out = sorted(each for each in shipped - set(specs) if each.partition("/")[0] in operations)
    return f"{phrase}{';' if operations < known else ''} except {', '.join(left_out)}" if left_out else phrase
