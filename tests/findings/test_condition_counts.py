"""What a condition says is true: a second program evaluates it for every case of a run."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from opconform.operations import OPERATIONS as OPERATIONS_BY_NAME
from opconform.suite.manifest import inputs_name
from opconform.suite.reader import open_suite
from opconform_runners.findings.causes.facts import facts_of
from opconform_runners.findings.finding import Finding
from opconform_runners.findings.report import Report
from opconform_runners.findings.search import with_findings
from opconform_runners.reports.report_file import finished
from opconform_runners.verdicts.results import Result
from tests.conftest import Run, interpreter_with
from tests.findings.naive_cases import Read, bits_of, numbers, read
from tests.findings.naive_facts import holds

SENTENCE = re.compile(
    r".* \(([\d,]+) of ([\d,]+) such (decided )?(valid |invalid |)cases fail(.*)\); "
    r"of the ([\d,]+) other decided (?:valid |invalid |)cases, ([\d,]+) pass(; [\d,]+ of them also meet another condition)?"
)
UNDECIDED = {
    "unsupported": re.compile(r"; ([\d,]+) more (?:is|are) unsupported"),
    "inconclusive": re.compile(r"; ([\d,]+) more (?:is|are) inconclusive"),
    "error": re.compile(r"; ([\d,]+) more ended in an error"),
}
#: The most elements of a case whose facts are compared.
LARGEST = 1 << 16
OPERATIONS = ("Concat-1", "GatherND-8", "Reshape-1", "VariadicSplit-1")
EXPECT = {"valid ": ("accept",), "invalid ": ("reject",), "": ("accept", "reject")}


def number(text: str) -> int:
    """A number as sentences have it."""
    return int(text.replace(",", ""))


def counted_anew(fault: Finding, results: tuple[Result, ...], cases: Callable[[str], Read]) -> dict[str, object]:
    """What is wrong in the sentence of a condition, beside what is right."""
    found = SENTENCE.fullmatch(fault.condition)
    assert found, fault.condition
    failing, of, decided, kind, more, others, passing, _ = found.groups()
    own = [result for result in results if result.expect in EXPECT[kind]]
    meeting = [x for x in own if all(any(holds(one, cases(x.id)) for one in some) for some in fault.facts)]
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
    cases = cache(lambda identity: read(suite / identity))
    faults = [fault for fault in report.findings if fault.condition]
    assert [wrong for fault in faults if (wrong := counted_anew(fault, report.results, cases))] == []
    return faults


def loses_what_is_empty(it: Read) -> str:
    """Refuses cases with an output that is empty in any feed, and strings."""
    if any(input_["element_type"] == "string" for input_ in it.inputs):
        return "unsupported"
    outputs = [tensor.array.size for feed in it.expected for tensor in feed.values()]
    return "fail" if 0 in outputs else "pass"


def does_little(it: Read) -> str:
    """Supports one operation for vectors alone, and fails there."""
    if it.case.op != "GatherND-8":
        return "pass" if it.case.op == "Concat-1" else "unsupported"
    return "fail" if len(it.inputs[0]["shape"]) == 1 and it.document["context"] == "bare" else "unsupported"


def cuts_integers(it: Read) -> str:
    """Cuts 64-bit data to 32 bits, accepts long lists of lengths, and cannot say much about the context `folded`."""
    if it.document["context"] == "folded":
        return "error" if it.case.feeds > 1 else "inconclusive"
    if it.case.op == "VariadicSplit-1" and it.document["expect"].get("reject") == "lengths.sum":
        return "fail"
    some = [
        tensor
        for feed in it.expected
        for tensor in feed.values()
        if bits_of(tensor.element_type) == 64 and tensor.element_type in ("i64", "u64")
    ]
    return "fail" if any(not -(2**31) <= value < 2**31 for x in some for value in numbers(x)) else "pass"


@pytest.fixture(scope="module")
def passing(opconform: Run, core_suite: Path, tmp_path_factory: pytest.TempPathFactory) -> Report:
    """A run of a right backend on some operations of the core."""
    out = tmp_path_factory.mktemp("passing")
    some = [word for op in OPERATIONS for word in ("--select", f"{op}/*")]
    opconform("run", core_suite, "--backend", "numpy", *some, "--out", out)
    return finished(out).report


@pytest.mark.parametrize("verdict_of", [loses_what_is_empty, does_little, cuts_integers])
def test_each_condition_of_a_product_is_true(
    passing: Report, core_suite: Path, verdict_of: Callable[[Read], str]
) -> None:
    """No passing case meets it, and it counts the cases that do, those that are undecided as well."""
    results = []
    for result in passing.results:
        verdict = verdict_of(read(core_suite / result.id))
        reason = ("rejected-valid" if result.expect == "accept" else "accepted-invalid") if verdict == "fail" else None
        results.append(replace(result, verdict=verdict, reason=reason))  # type: ignore[arg-type]
    report = with_findings(replace(passing, results=tuple(results)), open_suite(core_suite))

    assert conditions_of(report, core_suite)


def test_a_condition_says_how_many_cases_are_undecided(passing: Report, core_suite: Path) -> None:
    """Two of the cases of an operation fail, and the others are not supported."""
    own = [result.id for result in passing.results if result.id.startswith("GatherND-8/") and result.expect == "accept"]
    results = tuple(
        replace(result, verdict="fail", reason="crash") if result.id in own[:2] else
        replace(result, verdict="unsupported") if result.id in own else result
        for result in passing.results
    )  # fmt: skip
    [fault] = with_findings(replace(passing, results=results), open_suite(core_suite)).findings

    meeting = [
        x for x in own[2:] if all(any(holds(fact, read(core_suite / x)) for fact in some) for some in fault.facts)
    ]
    assert f" (2 of 2 such decided valid cases fail; {len(meeting)} more are unsupported); of the " in fault.condition
    assert fault.undecided == {"unsupported": len(meeting)}


def test_every_declared_fact_holds_where_the_second_program_says(core_or_shipped: Path) -> None:
    """For each case of each operation, whether the arguments are valid or not, and also where a graph computes them."""
    suite, facts = (
        open_suite(core_or_shipped),
        {fact for operation in OPERATIONS_BY_NAME.values() for fact in operation.facts},
    )
    different = []
    for entry in suite.entries:
        case = suite.case(entry)
        feeds = [suite.arrays(entry, inputs_name(feed)) for feed in range(case.feeds)]
        if sum(tensor.size for feed in feeds for tensor in feed.values()) <= LARGEST:
            it = read(core_or_shipped / entry.id)
            known = facts_of(case, feeds, ()) & facts
            different += [(entry.id, fact) for fact in facts if holds(fact, it) != (fact in known)]

    assert different == []


@pytest.mark.ci_only
@pytest.mark.parametrize(
    ("backend", "package"), [("openvino", "openvino"), ("onnxruntime", "onnxruntime"), ("torch", "torch")]
)
def test_each_condition_of_a_real_product_is_true(
    opconform: Run, shipped_suite: Path, tmp_path: Path, backend: str, package: str
) -> None:
    """As found in its run of all profiles."""
    python = interpreter_with(package, f"OPCONFORM_PYTHON_{backend.upper()}")
    opconform("run", shipped_suite, "--backend", backend, "--python", python, "--out", tmp_path, code=1)

    assert conditions_of(finished(tmp_path).report, shipped_suite)
