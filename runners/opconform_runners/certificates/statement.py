"""The statement of a certificate, and its summary: an in-toto Statement (v1) with a test result predicate (v0.1)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Final, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from opconform.errors import CertificateError, counted
from opconform.generation.identity.provenance import foreign_specs
from opconform.specs.index import shipped_files
from opconform.suite.case import GRAPH, canonical_json
from opconform.suite.file_names import HEADER, MANIFEST
from opconform.suite.manifest import Header, first_error
from opconform.system.text import printable
from opconform_runners.backends.backend import HARDWARE, Implementation
from opconform_runners.findings.accuracy import Accuracies, accuracy_sentences, flushed_sentence
from opconform_runners.findings.claim_coverage import Claimed, claimed_text
from opconform_runners.findings.report import Report, coverage_text
from opconform_runners.harness.environment import Environment, environment_facts
from opconform_runners.reports.terminal.incidents import deaths_clause
from opconform_runners.verdicts.accuracy_level import LeastAccuracy
from opconform_runners.verdicts.judge import UNDECLARED_UNSUPPORTED
from opconform_runners.verdicts.results import OUTCOMES, RESULTS
from opconform_runners.verdicts.run_header import shared_fields

STATEMENT: Final = "https://in-toto.io/Statement/v1"
PREDICATE: Final = "https://in-toto.io/attestation/test-result/v0.1"
#: The name of the judged file of outputs among the subjects.
OUTPUTS: Final = "outputs"

_Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


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
class Conclusion:
    """The extension field of the predicate.

    Attributes:
        judged: Whether recorded outputs were judged, instead of running the backend.
        witnessed: Whether the command that signed also executed the cases or judged their outputs, all of them, and did
            not read their verdicts from a file.
        strict: Whether interpretations count as much as normative requirements.
        least_accuracy: The accuracy level below which a rounded result counts as a failure.
        profiles: The profiles that were run, all cases of each.
        cases: How many cases have a verdict, and how many of them are `supported`: they passed or failed.
        accuracy: The accuracy level that each operation with rounded results meets in all its cases.
        flushed: How many cases pass only since the backend declares to flush denormal numbers to zero.
        packed: How many cases passed in packs and were not executed alone.
        claims: The digest of the file of claims, and how many cases it covers; None without claims.
        deaths: How many processes crashed or hung without a failure of a case.
    """

    format: Literal[1] = 1
    conformant: bool
    strict: bool
    least_accuracy: LeastAccuracy
    judged: bool
    witnessed: bool
    backend: Implementation
    environment: Environment
    suite: CertifiedSuite
    profiles: tuple[str, ...]
    cases: Annotated[int, Field(ge=1)]
    supported: Annotated[int, Field(ge=0)]
    deaths: Annotated[int, Field(ge=0)]
    claims: Claimed | None = None
    accuracy: Accuracies
    flushed: Annotated[int, Field(ge=0)]
    packed: Annotated[int, Field(ge=0)]
    timestamp: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]


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
    opconform: Conclusion


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

    `digests` has the SHA-256 of `results.jsonl`, `outcomes.jsonl` and `suite.json`, by name. The last two arguments are
    those of `Conclusion`.
    """
    tests = _tests_of(report)
    outputs = {} if report.outputs is None else {OUTPUTS: report.outputs}
    sources = {MANIFEST: header.digest, HEADER: digests[HEADER], **dict(sorted(header.specs.items()))}
    return Statement(
        subject=_resources({RESULTS: digests[RESULTS], OUTCOMES: digests[OUTCOMES], **outputs}),
        predicate=Predicate(
            result="FAILED" if not report.conformant else "WARNED" if tests["warned"] else "PASSED",
            configuration=_resources(sources),
            **tests,
            opconform=Conclusion(
                conformant=bool(report.conformant),
                strict=report.strict,
                least_accuracy=report.least_accuracy,
                judged=report.outputs is not None,
                witnessed=witnessed,
                backend=replace(report.implementation, hardware=None, driver=None, mapped=()),
                environment=report.environment,
                suite=CertifiedSuite(**shared_fields(CertifiedSuite, header) | {"dialects": tuple(header.dialects)}),
                profiles=tuple(report.profiles),
                cases=report.cases,
                supported=report.supported,
                deaths=len(report.deaths),
                claims=report.claimed,
                accuracy=report.accuracy,
                flushed=report.flushed,
                packed=0 if report.packs is None else report.packs.counted,
                timestamp=timestamp,
            ),
        ),
    )


def _tests_of(report: Report) -> dict[str, tuple[str, ...]]:
    """The requirements that are failed, warned and passed."""
    undeclared = [result for result in report.results if UNDECLARED_UNSUPPORTED in result.remarks]
    doubtful = {(result.op, name) for result in undeclared for name in result.requirements}
    tests: dict[str, list[str]] = {"failed": [], "warned": [], "passed": []}
    for row in report.requirements:
        if row.is_broken and report.counts(row):
            tests["failed"].append(f"{row.op}/{row.id}")
        elif row.is_broken or row.counts["inconclusive"] or (row.op, row.id) in doubtful:
            tests["warned"].append(f"{row.op}/{row.id}")
        elif row.counts["pass"] and not row.is_mapped:
            tests["passed"].append(f"{row.op}/{row.id}")
    return {name: tuple(names) for name, names in tests.items()}


def statement_bytes(statement: Statement) -> bytes:
    """The bytes of a statement that are signed."""
    document = _STATEMENT.dump_python(statement, mode="json", exclude=_NOT_CERTIFIED)
    return canonical_json(document).encode()


def statement_from(payload: bytes, where: str) -> Statement:
    """The statement in a signed payload, in canonical JSON; `where` is the name of its certificate in errors."""
    what = f"{where} has a statement that opconform did not write"
    try:
        statement = _STATEMENT.validate_json(payload)
    except ValidationError as error:
        raise CertificateError(f"{what}: {first_error(error)}.") from error
    if statement_bytes(statement) != payload:
        raise CertificateError(f"{what}: it is not canonical JSON.")
    for contradiction in _contradictions(statement):
        raise CertificateError(f"{where} contradicts itself: {contradiction}.")
    return statement


def _contradictions(statement: Statement) -> Iterator[str]:
    """What a statement contradicts in itself. All else is checked against the files whose digests it has."""
    predicate, conclusion = statement.predicate, statement.predicate.opconform
    names = [resource.name for resource in statement.subject]
    if names != [RESULTS, OUTCOMES, *([OUTPUTS] if conclusion.judged else [])]:
        yield f"its subject is {', '.join(names) or 'nothing'}, but judged is {str(conclusion.judged).lower()}"
    manifests = [x.digest["sha256"] for x in predicate.configuration if x.name == MANIFEST]
    if manifests != [conclusion.suite.digest]:
        yield f"the suite digest is not that of {MANIFEST}"
    result = "FAILED" if not conclusion.conformant else "WARNED" if predicate.warned else "PASSED"
    if predicate.result != result:
        yield f"conformant is {str(conclusion.conformant).lower()}, but the result is {predicate.result}"
    if conclusion.conformant and predicate.failed:
        yield f"conformant is true, but {predicate.failed[0]} is broken"
    if conclusion.conformant and conclusion.deaths:
        yield f"conformant is true, but {deaths_clause(conclusion.deaths)}"
    if (claims := conclusion.claims) is not None and not claims.refused <= claims.claimed <= claims.valid:
        yield f"it says {claimed_text(claims)}"
    if conclusion.flushed and not conclusion.backend.flushes_denormals:
        yield f"{counted(conclusion.flushed, 'case')} pass by a declaration that the backend does not have"
    if conclusion.packed > (conclusion.supported if conclusion.backend.packs > 1 else 0):
        yield f"it says that {counted(conclusion.packed, 'case')} passed in packs"
    if conclusion.supported > conclusion.cases or (conclusion.conformant and not conclusion.supported):
        yield f"it says that {conclusion.supported:,} of {conclusion.cases:,} cases are supported"


def _resources(digests: Mapping[str, str]) -> tuple[Resource, ...]:
    return tuple(Resource(name=name, digest={"sha256": digest}) for name, digest in digests.items())


def summary_lines(statement: Statement) -> Iterator[str]:
    """The lines of the summary, with unprintable characters escaped."""
    yield from map(printable, _lines(statement))


def _lines(statement: Statement) -> Iterator[str]:
    predicate, conclusion = statement.predicate, statement.predicate.opconform
    backend = conclusion.backend
    device = f" on {backend.device}" if backend.device else ""
    verdict = "CONFORMANT" if conclusion.conformant else "NOT CONFORMANT"
    origin = ", judged from outputs recorded elsewhere" if conclusion.judged else ""
    coverage = coverage_text(conclusion.supported, conclusion.cases)
    yield f"{verdict} ({predicate.result}), {coverage}: {backend.name} {backend.version}{device}{origin}"
    facts = environment_facts(conclusion.environment, backend.device)
    if facts:
        yield "; ".join(f"{name.lower()}: {x}" for name, x in facts)
    files = {x.name: x.digest["sha256"] for x in predicate.configuration}
    specs = {name: digest for name, digest in files.items() if name not in (HEADER, MANIFEST)}
    yield f"suite {conclusion.suite.version}, digest {conclusion.suite.digest}, {_specs_phrase(specs)}"
    yield f"profiles: {', '.join(conclusion.profiles)}"
    if predicate.failed:
        yield f"broken: {', '.join(predicate.failed)}"
    if predicate.warned:
        yield f"warned: {', '.join(predicate.warned)}"
    if conclusion.deaths:
        yield f"incidents: {deaths_clause(conclusion.deaths)}"
    if (claims := conclusion.claims) is not None:
        yield f"claims: {claimed_text(claims)}, SHA-256 {claims.digest}"
    yield from accuracy_sentences(conclusion.accuracy, conclusion.least_accuracy)
    if backend.flushes_denormals:
        yield flushed_sentence(conclusion.flushed)
    if conclusion.packed:
        yield f"packs: {counted(conclusion.packed, 'case')} passed beside others in one model, and not alone as well"
    counts = {"passed": predicate.passed, "warned": predicate.warned, "failed": predicate.failed}
    yield f"requirements: {', '.join(f'{len(tests)} {name}' for name, tests in counts.items())}"
    later = "" if conclusion.witnessed else ", from result files: the signer did not observe the run"
    yield f"signed at {conclusion.timestamp}{later}"


def _specs_phrase(specs: Mapping[str, str]) -> str:
    """Whether spec files, by name and SHA-256, are the shipped ones, and which of them differ or are left out."""
    foreign = foreign_specs(specs)
    if foreign:
        return f"NOT THE SHIPPED SPECS: {', '.join(foreign)} (custom, or of another version of opconform)"
    shipped = set(shipped_files())
    known, operations = ({name.partition("/")[0] for name in names} - {GRAPH} for names in (shipped, specs))
    phrase = "the shipped specs"
    if operations < known:
        phrase += f" of {len(operations)} of {len(known)} operations: {', '.join(sorted(operations))}"
    left_out = sorted(spec for spec in shipped - set(specs) if spec.partition("/")[0] in operations)
    return f"{phrase}{';' if operations < known else ''} except {', '.join(left_out)}" if left_out else phrase
