"""What a condition says is true: the cases that meet it are counted anew."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from opconform.suite.case import Case, Reject
from opconform.suite.manifest import expected_name, inputs_name
from opconform.suite.reader import open_suite
from opconform.tensors.tensor import Array
from opconform_runners.findings.causes.fact import requirement_fact, sentences, violation_fact
from opconform_runners.findings.causes.facts import facts_of
from opconform_runners.findings.finding import Finding
from opconform_runners.findings.grouping import with_findings
from opconform_runners.findings.report import Report
from opconform_runners.reports.report_file import finished
from opconform_runners.verdicts.results import Result
from tests.conftest import Run, interpreter_with

SENTENCE = re.compile(
    r".* \(([\d,]+) of ([\d,]+) such (decided )?(valid |invalid |)cases fail(.*)\); "
    r"of the ([\d,]+) other decided (?:valid |invalid |)cases, ([\d,]+) pass(; [\d,]+ of them also meet another condition)?"
)
UNDECIDED = {
    "unsupported": re.compile(r"; ([\d,]+) more (?:is|are) unsupported"),
    "inconclusive": re.compile(r"; ([\d,]+) more (?:is|are) inconclusive"),
    "error": re.compile(r"; ([\d,]+) more ended in an error"),
}
OPERATIONS = ("Concat-1", "GatherND-8", "Transpose-1", "VariadicSplit-1")
EXPECT = {"valid ": ("accept",), "invalid ": ("reject",), "": ("accept", "reject")}


@dataclass(frozen=True)
class Known:
    """A case of a suite, with its facts and the arrays of its expected outputs."""

    case: Case
    expected: Sequence[Array]
    facts: frozenset[str]

    def meets(self, condition: Sequence[Sequence[str]]) -> bool:
        """Whether the case has one of the alternatives of each fact."""
        return all(self.facts.intersection(alternatives) for alternatives in condition)


opened_suite = cache(open_suite)


@cache
def known(suite: Path, identity: str) -> Known:
    """A case of a suite by its id."""
    opened = opened_suite(suite)
    entry = opened.by_id[identity]
    case = opened.case(entry)
    feeds = [opened.arrays(entry, inputs_name(feed)) for feed in range(case.feeds)]
    expected = [opened.arrays(entry, name) for name in map(expected_name, range(case.feeds)) if name in entry.files]
    arrays = [array for feed in expected for array in feed.values()]
    violated = [violation_fact(entry.expect.reject)] if isinstance(entry.expect, Reject) else []
    compared = {name for names in opened.header.establishes.get(case.op, {}).values() for name in names}
    about = violated or [requirement_fact(name) for name in entry.requirements if name not in compared]
    return Known(case, arrays, frozenset(sentences((*facts_of(case, feeds, expected), *about))))


def number(text: str) -> int:
    """A number as sentences have it."""
    return int(text.replace(",", ""))


def counted_anew(fault: Finding, results: tuple[Result, ...], suite: Path) -> dict[str, object]:
    """What is wrong in the sentence of a condition, beside what is right."""
    found = SENTENCE.fullmatch(fault.condition)
    assert found, fault.condition
    failing, of, decided, kind, more, others, passing, _ = found.groups()
    own = [result for result in results if result.expect in EXPECT[kind]]
    meeting = [x for x in own if known(suite, x.id).meets(fault.facts)]
    counts = Counter(x.verdict for x in meeting)
    rest = Counter(x.verdict for x in own if x not in meeting)
    said = {
        "fail": number(failing),
        **{name: number(some[1]) for name, words in UNDECIDED.items() if (some := words.search(more))},
    }
    return {
        f"{name}: {one} for {other}": fault.condition
        for name, one, other in (
            ("verdicts of such cases", said, dict(counts)),
            ("such cases", {*fault.cases}, {x.id for x in meeting if x.verdict == "fail"}),
            ("out of", number(of), counts["fail"]),
            ("decided", bool(decided), counts.keys() != {"fail"}),
            ("others", number(others), rest["pass"] + rest["fail"]),
            ("others that pass", number(passing), rest["pass"]),
        )
        if one != other
    }


def conditions_of(report: Report, suite: Path) -> list[Finding]:
    """The faults of a report that have a condition, each of which says what is true."""
    faults = [fault for fault in report.findings if fault.condition]
    assert [wrong for fault in faults if (wrong := counted_anew(fault, report.results, suite))] == []
    return faults


def loses_what_is_empty(it: Known) -> str:
    """Refuses cases with an output that is empty in any feed, and strings."""
    if any(input_.element_type == "string" for input_ in it.case.inputs):
        return "unsupported"
    return "fail" if any(array.size == 0 for array in it.expected) else "pass"


def does_little(it: Known) -> str:
    """Supports one operation for vectors alone, and fails there."""
    if it.case.op != "GatherND-8":
        return "pass" if it.case.op == "Concat-1" else "unsupported"
    return "fail" if len(it.case.inputs[0].shape) == 1 and it.case.context == "bare" else "unsupported"


def cuts_integers(it: Known) -> str:
    """Cuts 64-bit data to 32 bits, accepts long lists of lengths, and cannot say much about the context `folded`."""
    if it.case.context == "folded":
        return "error" if it.case.feeds > 1 else "inconclusive"
    if (
        it.case.op == "VariadicSplit-1"
        and isinstance(it.case.expect, Reject)
        and it.case.expect.reject == "lengths.sum"
    ):
        return "fail"
    wide = [array for array in it.expected if array.dtype in (np.int64, np.uint64)]
    return "fail" if any(not -(2**31) <= value < 2**31 for x in wide for value in x.ravel().tolist()) else "pass"


@pytest.fixture(scope="module")
def passing(opconform: Run, few_core: Path, tmp_path_factory: pytest.TempPathFactory) -> Report:
    """A run of a right backend on some operations of the core."""
    out = tmp_path_factory.mktemp("passing")
    some = [word for op in OPERATIONS for word in ("--select", f"{op}/*")]
    opconform("run", few_core, "--backend", "numpy", *some, "--out", out)
    return finished(out).report


@pytest.mark.parametrize("verdict_of", [loses_what_is_empty, does_little, cuts_integers])
def test_each_condition_of_a_product_is_true(
    passing: Report, few_core: Path, verdict_of: Callable[[Known], str]
) -> None:
    """No passing case meets it, and it counts the cases that do, those that are undecided as well."""
    results = []
    for result in passing.results:
        verdict = verdict_of(known(few_core, result.id))
        reason = ("rejected-valid" if result.expect == "accept" else "accepted-invalid") if verdict == "fail" else None
        results.append(replace(result, verdict=verdict, reason=reason))  # type: ignore[arg-type]
    report = with_findings(replace(passing, results=tuple(results)), open_suite(few_core))

    assert conditions_of(report, few_core)


def test_a_condition_says_how_many_cases_are_undecided(passing: Report, few_core: Path) -> None:
    """Two of the cases of an operation fail, and the others are not supported."""
    own = [result.id for result in passing.results if result.id.startswith("GatherND-8/") and result.expect == "accept"]
    results = tuple(
        replace(result, verdict="fail", reason="crash") if result.id in own[:2] else
        replace(result, verdict="unsupported") if result.id in own else result
        for result in passing.results
    )  # fmt: skip
    [fault] = with_findings(replace(passing, results=results), open_suite(few_core)).findings

    meeting = [x for x in own[2:] if known(few_core, x).meets(fault.facts)]
    assert f" (2 of 2 such decided valid cases fail; {len(meeting)} more are unsupported); of the " in fault.condition
    assert fault.undecided == {"unsupported": len(meeting)}


@pytest.mark.ci_only
@pytest.mark.parametrize(
    ("backend", "package"), [("openvino", "openvino"), ("onnxruntime", "onnxruntime"), ("torch", "torch")]
)
def test_each_condition_of_a_real_product_is_true(
    opconform: Run, core_suite: Path, tmp_path: Path, backend: str, package: str
) -> None:
    """As found in its run of a sample of the core, one case in sixteen."""
    python = interpreter_with(package, f"OPCONFORM_PYTHON_{backend.upper()}")
    run = ("run", core_suite, "--backend", backend, "--select", "*/*/*0", "--python", python, "--out", tmp_path)
    opconform(*run, code=1)

    assert conditions_of(finished(tmp_path).report, core_suite)
