"""Known failures: which ones of a run are those of a release, what is new, and what is gone."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from opconform.errors import UsageError
from opconform.suite.manifest import RequirementNote
from opconform_runners.backends.backend import Implementation
from opconform_runners.findings.grouping import shown_findings, with_findings
from opconform_runners.findings.known.comparison import known_sentences, with_known
from opconform_runners.findings.known.release import (
    KnownFailure,
    KnownFinding,
    KnownProduct,
    KnownRelease,
    KnownRun,
    known_release,
    releases_in,
)
from opconform_runners.findings.report import Report
from opconform_runners.reports.formats.github import annotations_text
from opconform_runners.reports.formats.markdown import markdown_text
from opconform_runners.verdicts.baseline import compare
from opconform_runners.verdicts.results import Result
from opconform_runners.verdicts.run_header import SuiteNote
from opconform_runners.verdicts.verdict import FailReason


def case(number: int) -> str:
    """The id of a case."""
    return f"Split-1/group/{number:010x}"


def result(number: int, reason: FailReason | None = None, broken: str = "axis.range", profile: str = "core") -> Result:
    """A case that passes, or fails for a reason."""
    return Result(
        id=case(number),
        profile=profile,
        expect="accept",
        verdict="pass" if reason is None else "fail",
        reason=reason,
        requirements=(broken,),
        broken=() if reason is None else (broken,),
        sentence="" if reason is None else f"{reason} of {broken}",
    )


def report(*results: Result, version: str = "2.1") -> Report:
    """The report of a run with its findings."""
    notes = {
        name: RequirementNote(level="normative", text=name, profiles=("core",)) for name in ("axis.range", "data.bits")
    }
    made = Report(
        suite=SuiteNote(digest="0" * 64, version="1", generator="1", seed=0),
        implementation=Implementation(name="some", version=version, element_types=(), dynamic=True, bindings=()),
        notes={"Split-1": notes},
        results=results,
        whole=True,
        strict=False,
    )
    return with_findings(made)


def release(failures: Mapping[int, KnownFailure], **fields: str) -> KnownRelease:
    """A release with findings 7 and 8, and with failures by the numbers of their cases."""
    findings = (
        KnownFinding(
            number=7, requirement=("axis.range",), case=case(1), observed="a wrong axis", first="2.0", **fields
        ),
        KnownFinding(number=8, requirement=("data.bits",), case=case(5), observed="lost bits"),
    )
    product = KnownProduct(
        product="Some", release="2.1", backend="some", command="run", environment="here", findings=findings
    )
    known = {case(number): failure for number, failure in failures.items()}
    run = KnownRun(suite="1", profile="core", version="2.1", operations={}, failures=known)
    return KnownRelease(name="some-2.1", product=product, run=run)


VALUE = KnownFailure(ends=("value",), broken=("axis.range",), findings=(7,))


def known_and_new(found: Report) -> tuple[list[list[str]], list[list[str]]]:
    """The cases of known findings and of new ones, in the order in which they are shown."""
    shown = shown_findings(found)
    parts = [[[x.id for x in y.results] for y in shown if bool(y.known) is kind] for kind in (True, False)]
    assert [bool(x.known) for x in shown] == sorted(bool(x.known) for x in shown), "what is new comes first"
    return parts[0], parts[1]


def test_failures_that_the_release_does_not_have_are_new() -> None:
    """They are shown first, also those in a finding that has known ones as well."""
    found = with_known(
        report(result(1, "value"), result(2, "value"), result(3, "crash"), result(4)), release({1: VALUE})
    )

    assert known_and_new(found) == ([[case(1)]], [[case(3)], [case(2)]])
    assert [*known_sentences(found)] == ["Known in Some 2.1: 1 of 3 failing cases; the others are new"]


def test_a_known_case_that_fails_in_another_way_is_new() -> None:
    """Unless its executions differ, which the next run may show as another failure."""
    differing = KnownFailure(ends=("nondeterministic",), findings=(7,))

    assert known_and_new(with_known(report(result(1, "crash")), release({1: VALUE})))[0] == []
    assert known_and_new(with_known(report(result(1, "value")), release({1: differing})))[1] == []


def test_a_case_that_the_release_was_not_run_on_is_known_by_its_finding() -> None:
    """It has the condition and the symptom of a known one; without one, only the case that a finding names is known."""
    known = release({1: VALUE})
    wider = report(result(1, "value"), result(2, "value", profile="default"))
    alone = report(result(2, "value", profile="default"), result(5, "value", "data.bits", profile="default"))

    assert known_and_new(with_known(wider, known)) == ([[case(1), case(2)]], [])
    assert known_and_new(with_known(alone, known)) == ([[case(5)]], [[case(2)]])


@pytest.mark.parametrize(
    ("version", "fields", "expected"),
    [
        ("2.1", {}, "in 2.1: finding 7 (first in 2.0) of some-2.1"),
        ("2.2", {}, "in 2.1, seen here too: finding 7 (first in 2.0) of some-2.1"),
        (
            "2.1",
            {"last": "2.1", "state": "public https://some.example/1"},
            "in 2.1: finding 7 (first in 2.0, last in 2.1, https://some.example/1) of some-2.1",
        ),
    ],
)
def test_a_known_finding_says_since_when_and_where(version: str, fields: Mapping[str, str], expected: str) -> None:
    """Of another version than the one that was run, it says that, too."""
    found = with_known(report(result(1, "value"), version=version), release({1: VALUE}, **fields))

    assert [x.known for x in shown_findings(found)] == [expected]


def test_findings_whose_cases_all_pass_are_named_as_gone() -> None:
    """One that passes in some runs is not, nor one of which no case was run."""
    bits = KnownFailure(ends=("value",), findings=(8,))
    varying = KnownFailure(ends=("value", "pass"), findings=(7,))

    gone = with_known(report(result(5)), release({1: VALUE, 5: bits})).known
    assert gone is not None
    assert gone.gone == (8,)
    [sentence] = known_sentences(with_known(report(result(5)), release({5: bits})))
    assert sentence == "No longer seen: the cases of finding 8 of some-2.1 pass"
    assert not [*known_sentences(with_known(report(result(1)), release({1: varying})))]


def test_what_is_known_is_a_baseline() -> None:
    """Only what is new and what is gone differs from it; it says nothing about support."""
    bits = KnownFailure(ends=("value", "pass"), findings=(8,))
    known = release({1: VALUE, 2: VALUE, 5: bits, 9: VALUE})
    unsupported = replace(result(3), verdict="unsupported", sentence="no")
    results = (result(1, "value"), result(2), unsupported, result(4, "crash"), result(5))
    ids = {x.id: "accept" for x in results}

    found = compare(known.baseline(ids), results, ids)

    assert ([x.id for x in found.regressions], [x.id for x in found.passes]) == ([case(4)], [case(2)])
    assert (found.lost, found.stale, [x.id for x in found.known]) == ((), (), [case(1)])


def test_a_program_is_told_what_is_known() -> None:
    """A pull request shows which finding is new, and its annotations are only about new ones."""
    found = with_known(report(result(1, "value"), result(3, "crash")), release({1: VALUE}))

    assert "**new**" in markdown_text(found)
    assert "finding 7" in markdown_text(found)
    annotations = annotations_text(found)
    assert "crash" in annotations
    assert "value of axis.range" not in annotations
    assert "1 of 2 failing cases" in annotations


def test_a_file_that_cannot_be_used_is_an_error_with_its_place(tmp_path: Path) -> None:
    """It is the maker's own, beside the module of a backend."""
    (tmp_path / "some-1.0.json").write_text(json.dumps({"suite": "1"}))

    with pytest.raises(UsageError, match=r"some-1\.0\.yaml or \.json cannot be used: .*--no-known"):
        [*releases_in(tmp_path, "some")]


def test_nothing_is_known_of_the_second_implementation() -> None:
    """Its folder has no findings; what is no installed backend has no folder."""
    assert known_release("numpy") is None
    assert known_release("nothing") is None


def test_a_device_has_findings_of_its_own_or_those_of_its_backend() -> None:
    """`torch:inductor` compiles what `torch` executes; the devices of OpenVINO have one file."""
    of_device, of_backend = known_release("torch:inductor"), known_release("openvino:GPU")

    assert of_device is not None
    assert of_device.product.backend == "torch:inductor"
    assert of_backend == known_release("openvino")
