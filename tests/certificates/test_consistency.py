"""A certificate that contradicts itself is refused without the results, although its signature is valid."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from opconform.errors import CertificateError
from opconform.suite.manifest import Header, RequirementNote
from opconform_runners.backends.backend import Implementation
from opconform_runners.certificates.statement import (
    Statement,
    statement_bytes,
    statement_from,
    statement_of,
    summary_lines,
)
from opconform_runners.findings.report import Report
from opconform_runners.harness.environment import UNKNOWN
from opconform_runners.harness.outcome import Incident
from opconform_runners.verdicts import run_header
from opconform_runners.verdicts.results import Result
from opconform_runners.verdicts.verdict import VerdictName

NOTES = {
    "Split-1": {
        "axis.range": RequirementNote(level="normative", text="a", profiles=("core",)),
        "data.bits": RequirementNote(level="normative", text="b", profiles=("core",)),
        "data.rank": RequirementNote(level="interpretation", text="c", profiles=("core",)),
    }
}
HEADER = Header(
    version="1",
    generator="1",
    recipe="0" * 64,
    seed=0,
    blind=False,
    dialects={},
    specs={},
    specification={},
    requirements=NOTES,
    establishes={},
    declarations=(),
    counts={},
    cases={},
    digest="1" * 64,
)


def result(number: int, verdict: VerdictName, requirement: str, profile: str = "core") -> Result:
    """The result of a case."""
    failed = verdict == "fail"
    return Result(
        id=f"Split-1/group/{number:010x}",
        profile=profile,
        expect="accept",
        verdict=verdict,
        reason="value" if failed else None,
        requirements=(requirement,),
        broken=(requirement,) if failed else (),
    )


def statement(*results: Result) -> Statement:
    """What a certificate of some results says."""
    report = Report(
        suite=run_header.suite_note(HEADER),
        implementation=Implementation(name="some", version="1", element_types=(), dynamic=True, bindings=()),
        started="",
        notes=NOTES,
        results=results,
        missing=(),
        gave_up=None,
        whole=True,
        strict=False,
        environment=UNKNOWN,
        outputs=None,
        baseline=None,
    )
    digests = {"results.jsonl": "2" * 64, "outcomes.jsonl": "3" * 64, "suite.json": "4" * 64}
    return statement_of(report, HEADER, digests, "2026-01-01T00:00:00Z", witnessed=True)


GOOD = statement(
    result(1, "pass", "axis.range"), result(2, "pass", "data.bits", "types"), result(3, "unsupported", "data.bits")
)
BAD = statement(
    result(1, "pass", "axis.range"), result(2, "fail", "data.bits"), result(3, "pass", "data.rank", "types")
)
READ_OTHERWISE = statement(result(1, "pass", "axis.range"), result(2, "fail", "data.rank"))
DIED = statement(
    replace(result(1, "pass", "axis.range"), incidents=(Incident(kind="crash", sentence="it crashed", cases=("a",)),)),
    result(2, "pass", "data.bits", "types"),
)
REFUSED = statement(result(1, "pass", "axis.range"), result(2, "inconclusive", "axis.range"))


@pytest.mark.parametrize(
    "said", [GOOD, BAD, READ_OTHERWISE, DIED, REFUSED], ids=["good", "bad", "read-otherwise", "died", "refused"]
)
def test_what_follows_from_results_is_consistent(said: Statement) -> None:
    """Conformant or not, with interpretation differences and inconclusive rejections."""
    assert statement_from(statement_bytes(said), "it") == said


def test_a_process_that_died_is_in_the_conclusion() -> None:
    """The certificate says so, although every case passed."""
    clause = "1 crash or hang did not recur with the case alone"

    assert next(summary_lines(DIED)).startswith("NOT CONFORMANT (FAILED), 2 of 2 cases supported: ")
    assert f"incidents: {clause}" in summary_lines(DIED)


def test_the_accuracy_levels_and_flushed_numbers_are_in_the_summary() -> None:
    """The level of each operation, and the declaration with the cases that need it."""
    said = statement(
        replace(result(1, "pass", "axis.range"), error=0.0, rounded="f32"),
        replace(result(2, "pass", "data.bits", "types"), error=0.25, rounded="f32", remarks=("flushes-denormals",)),
    )
    declared = conclusion(said, backend=replace(said.predicate.opconform.backend, flushes_denormals=True))

    assert statement_from(statement_bytes(declared), "it") == declared
    assert [*summary_lines(declared)][-4:-2] == [
        "Accuracy level bounded met by 1 operation: Split-1 (0.25)",
        "The backend declares that it flushes denormal numbers to zero; 1 case passes only so",
    ]


def test_a_certificate_says_how_much_was_seen_in_packs() -> None:
    """Only of a backend that takes packs, and of no more cases than it supports."""
    said = statement(
        replace(result(1, "pass", "axis.range"), pack="counted"),
        replace(result(2, "pass", "data.bits", "types"), pack="confirmed"),
    )
    backend = said.predicate.opconform.backend
    packing = conclusion(said, backend=replace(backend, packs=64))

    assert statement_from(statement_bytes(packing), "it") == packing
    assert "packs: 1 case passed beside others in one model, and not alone as well" in summary_lines(packing)
    assert not [line for line in summary_lines(GOOD) if line.startswith("packs")]
    for odd in (said, conclusion(said, backend=replace(backend, packs=64), packed=3)):
        with pytest.raises(CertificateError, match="passed in packs"):
            statement_from(statement_bytes(odd), "it")


def test_a_statement_in_another_spelling_is_refused() -> None:
    """Although it means the same: a key is repeated, or there is white space."""
    payload = statement_bytes(GOOD)
    repeated = payload.replace(b"{", b'{"_type":"x",', 1)

    assert statement_from(payload, "it") == GOOD
    for other in (repeated, payload + b" "):
        with pytest.raises(CertificateError, match=r"^it has a statement that opconform did not write: "):
            statement_from(other, "it")


def predicate(said: Statement, **changes: Any) -> Statement:
    """The same statement with another predicate."""
    return replace(said, predicate=replace(said.predicate, **changes))


def conclusion(said: Statement, **changes: Any) -> Statement:
    """The same statement with another conclusion."""
    return predicate(said, opconform=replace(said.predicate.opconform, **changes))


FALSE: dict[str, tuple[Callable[[], Statement], str]] = {
    "result": (lambda: predicate(GOOD, result="FAILED"), "conformant is true, but the result is FAILED"),
    "conformant": (lambda: conclusion(BAD, conformant=True), "conformant is true, but the result is FAILED"),
    "conformant and passed": (
        lambda: predicate(conclusion(BAD, conformant=True), result="PASSED"),
        "conformant is true, but Split-1/data.bits is broken",
    ),
    "supported": (lambda: conclusion(GOOD, supported=4), "it says that 4 of 3 cases are supported"),
    "nothing supported": (lambda: conclusion(GOOD, supported=0), "it says that 0 of 3 cases are supported"),
    "judged": (
        lambda: conclusion(GOOD, judged=True),
        "its subject is results.jsonl, outcomes.jsonl, but judged is true",
    ),
    "conformant and died": (
        lambda: predicate(conclusion(GOOD, deaths=2), result="PASSED"),
        "conformant is true, but 2 crashes or hangs did not recur with the case alone",
    ),
    "flushed": (
        lambda: conclusion(GOOD, flushed=2),
        "2 cases pass by a declaration that the backend does not have",
    ),
    "digest": (
        lambda: conclusion(GOOD, suite=replace(GOOD.predicate.opconform.suite, digest="9" * 64)),
        "the suite digest is not that of manifest.jsonl",
    ),
}


@pytest.mark.parametrize("name", FALSE)
def test_a_contradiction_is_refused(name: str) -> None:
    """Each in a sentence that names it."""
    said, sentence = FALSE[name]
    with pytest.raises(CertificateError, match=r"^it contradicts itself: ") as caught:
        statement_from(statement_bytes(said()), "it")
    assert sentence in str(caught.value)
