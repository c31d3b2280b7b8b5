"""The content of the HTML page, computed from reports without a browser."""

import base64
import json
import re
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opconform.specs.requirements import requirements_of
from opconform.suite.case import Dynamic
from opconform.suite.manifest import RequirementNote, inputs_name
from opconform.suite.reader import Suite, open_suite
from opconform.tensors.npz import npz_bytes
from opconform_runners.execution.log.outputs_zip import KeptOutputs, OutputsWriter
from opconform_runners.findings.causes import feeds
from opconform_runners.findings.causes.feeds import feeds_of, likely_cause
from opconform_runners.findings.finding import Finding
from opconform_runners.findings.report import Report
from opconform_runners.reports.diff import failure_changes
from opconform_runners.reports.html import cases, evidence
from opconform_runners.reports.html.page import packed, page_text
from opconform_runners.reports.html.subject import Subject, cases_place, short
from opconform_runners.reports.matrix import Column, Matrix
from opconform_runners.reports.report_file import Finished
from opconform_runners.reports.terminal.case_text import drawing_lines, input_lines
from opconform_runners.verdicts.comparison import Mismatch
from opconform_runners.verdicts.results import Result
from opconform_runners.verdicts.verdict import FailReason
from tests.reports.test_coverage import SUITE, report, result

FAILURE = replace(result(2, "fail", "axis.range", broken=("axis.range",)), inputs="axis 9", sentence="it differs")
TWO_LENGTHS = "VariadicSplit-1/accepted/ddf616bfdd"
REJECTED = "VariadicSplit-1/rejected/edf4e822b0"


def subject(found: Report, *, name: str = "some", suite: Suite | None = None) -> Subject:
    """A run on the page that kept no outputs."""
    column = Column(name=name, report=found)
    return Subject(column=column, suite=suite, place="my suite", script="", kept=KeptOutputs(Path("nowhere")))


@pytest.fixture(scope="module")
def suite(small_suite: Path) -> Suite:
    """The small suite."""
    return open_suite(small_suite)


def test_the_header_has_verdict_extent_and_broken_requirements() -> None:
    """A broken requirement links to its row; the verdict of the backend alone needs no counts of its own."""
    text = page_text([subject(report(result(1, "pass", "axis.range"), FAILURE))])
    head = text[text.index('<article class="head') : text.index("</article>")]

    assert head.startswith(
        '<article class="head broken">\n<div class="verdict"><h1>some 1</h1> '
        '<span class="pill broken">not conformant</span></div>\n'
    )
    assert re.findall(r"<li.*?>(.*)</li>", head) == [
        "2 of 2 cases supported",
        "suite 1 (0000000000000000), core",
        "opconform 1",
    ]
    assert '<p class="lead">1 case fails; 1 requirement broken</p>' in head
    assert '<p class="tags">Split-1: <a class="tag bad" href="#Split-1%3Aaxis.range">axis.range</a> </p>' in head
    assert '<tr id="Split-1:axis.range" tabindex="-1">' in text
    assert "<dt>Requested as</dt><dd>the case itself</dd>" in head
    assert "Run on" not in head


def test_the_broken_requirements_of_many_operations_are_folded() -> None:
    """The first failure stays near the top of the page; the line that is unfolded counts by operation."""
    ops = ("Concat-1", "Gather-8", "Slice-8", "Split-1")
    failures = [replace(FAILURE, id=f"{op}/group/0123456789") for op in ops]
    notes = {op: report().notes["Split-1"] for op in ops}
    text = page_text([subject(replace(report(*failures), notes=notes))])
    folded = text[text.index("<summary>Concat-1: 1, Gather-8: 1, Slice-8: 1, Split-1: 1</summary>") :]

    assert folded.index('<p class="tags">Concat-1: <a class="tag bad"') < folded.index("</details>")


def test_each_verdict_with_cases_is_a_choice_beside_the_search() -> None:
    """With its number of cases, of all runs on the page."""
    text = page_text([subject(report(result(1, "pass", "axis.range"), FAILURE), name=letter) for letter in "ab"])

    assert re.findall(r'<label class="chip.*?name="verdict" value="(.*?)".*?<b>(.*?)</b>', text) == [
        ("", "4"),
        ("pass", "2"),
        ("fail", "2"),
    ]


def test_failures_come_before_requirements_the_worst_first() -> None:
    """A crash comes before wrong data, and wrong data before a valid case that is rejected."""
    kinds: tuple[FailReason, ...] = ("rejected-valid", "value", "crash")
    failures = [
        replace(FAILURE, id=f"Split-1/group/{number:010x}", reason=reason) for number, reason in enumerate(kinds)
    ]
    text = page_text([subject(report(*failures))])

    assert re.findall(r'class="group (.*?)">', text) == ["crash", "wrong-data", "rejected-valid"]
    assert text.index('id="failures"') < text.index('id="requirements"') < text.index('id="list"')


def test_many_faults_have_an_index() -> None:
    """Their severity, operation, requirements and number of cases, with links to the cards."""
    ops = ("Concat-1", "Gather-8", "Slice-8", "Split-1")
    failures = [replace(FAILURE, id=f"{op}/group/0123456789") for op in ops]
    notes = {op: report().notes["Split-1"] for op in ops}
    few, many = (page_text([subject(replace(report(*some), notes=notes))]) for some in (failures[:3], failures))
    index = many[many.index('<table id="index">') : many.index('<article id="failure-1"')]

    assert '<table id="index">' not in few
    assert re.findall(
        r'<tr data-operations="(.*?)"><td><span class="tag bad">(.*?)</span>.*?<a href="(.*?)">(.*?)</a></td><td>(\d+)',
        index,
    ) == [(op, "wrong data", f"#failure-{number}", f"{op} axis.range", "1") for number, op in enumerate(ops, 1)]
    assert re.findall(r"<option>(.*?)</option>", many[many.index('id="index-operation"') :])[:4] == [*ops]


def test_the_page_of_several_backends_begins_with_the_requirements_that_differ() -> None:
    """Those that stand alike on all backends are folded."""
    both, one = result(3, "fail", "axis.shape", broken=("axis.shape",)), result(1, "pass", "axis.range")
    text = page_text([subject(report(FAILURE, both)), subject(report(one, both), name="other")])
    shown, _, folded = text[text.index('id="differing"') :].partition("<details>")

    assert text.index('id="requirements"') < text.index('id="failures"')
    assert '<a href="#requirements">Requirements</a>\n<a href="#failures">Findings</a>' in text
    assert ('id="Split-1:axis.range"' in shown, 'id="Split-1:axis.shape"' in shown) == (True, False)
    assert folded.startswith("\n<summary>1 requirement with failures on all backends</summary>")


def test_a_fault_shows_its_condition_and_symptoms_and_each_case_leads_to_it() -> None:
    """They come from the report, and are not searched again."""
    other = replace(FAILURE, id="Split-1/group/0000000003")
    condition = "it rains (2 of 2 such valid cases fail); of the 1 other decided valid cases, 1 pass"
    fault = Finding(severity="crash", condition=condition, symptoms={"wet": 1, "cold": 1}, cases=(other.id, FAILURE.id))
    text = page_text([subject(replace(report(FAILURE, other), findings=(fault,)))])

    assert f"<dt>When</dt><dd><b>{condition}</b></dd>" in text
    assert '<span class="tag">1 wet</span> <span class="tag">1 cold</span>' in text
    assert text.index(other.id) < text.index(FAILURE.id)


def test_requirements_without_a_failure_are_folded() -> None:
    """Those with one are not."""
    text = page_text([subject(report(result(1, "pass", "axis.shape"), FAILURE))])
    shown, _, folded = text[text.index('id="requirements"') :].partition("<details>")

    assert folded.startswith("\n<summary>1 requirement without a failure</summary>")
    assert ('id="Split-1:axis.range"' in shown, 'id="Split-1:axis.shape"' in folded) == (True, True)


def test_a_requirement_has_its_clause_revision_and_page() -> None:
    """Where the suite has the text that this version of opconform has; an interpretation has its reading as well."""
    shipped = {requirement.id: requirement for requirement in requirements_of("VariadicSplit-1").requirements}
    notes = {x.id: RequirementNote(level=x.level, text=x.text) for x in shipped.values()}
    names = ("lengths.remainder", "lengths.zero")
    passing = [
        replace(result(number, "pass", name), id=f"VariadicSplit-1/group/{number:010x}")
        for number, name in enumerate(names)
    ]
    suite = replace(SUITE, specification={"VariadicSplit-1": ("sphinxdirective", "another")})
    text = page_text([subject(replace(report(*passing), suite=suite, notes={"VariadicSplit-1": notes}))])
    other = page_text([subject(report(result(1, "pass", "axis.range")))])

    assert "Specification of VariadicSplit-1, Inputs, 3, last sentence; Outputs (page revisions " in text
    assert (
        '/blob/538f407829/docs/ops/movement/VariadicSplit_1.md" rel="noreferrer">2021-05</a>, '
        '<a href="#revisions" rel="noreferrer">sphinxdirective</a>,' in text
    )
    assert re.findall(r"<div><dt>VariadicSplit-1, (.*?)</dt><dd>(.*?)</dd>", text) == [
        ("sphinxdirective", "docs/ops/movement/VariadicSplit_1.md between @sphinxdirective"),
        ("another", "unknown to this version of opconform"),
    ]
    assert "Our reading: The page does not mention 0." in text
    assert "Specification of Split-1, " not in other
    assert 'id="revisions"' not in other


def test_a_bar_has_one_segment_per_verdict() -> None:
    """Beginning and width are in percent; requirements without cases are left out."""
    found = report(*(result(number, "pass", "axis.range") for number in (3, 4, 5)), FAILURE)
    text = page_text([subject(found)])
    [row] = re.findall(r'<th scope="row">.*?</th>\n<td>.*?</td>', text, re.DOTALL)

    assert row.startswith('<th scope="row"><a href="#cases?requirement=Split-1%3Aaxis.range">axis.range</a>')
    assert re.findall(r"<rect .*?/>", row) == [
        '<rect class="pass" x="0.00" y="0" width="75.00" height="10"/>',
        '<rect class="fail" x="75.00" y="0" width="25.00" height="10"/>',
    ]
    assert (
        '<a class="numbers" href="#cases?backend=0&amp;requirement=Split-1%3Aaxis.range&amp;verdict=fail">3 pass, 1 fail<'
    ) in row
    assert '<div class="cell broken"><span class="mark" aria-hidden="true">✗</span>' in row


def test_a_group_of_failures_links_its_first_cases_and_all_of_them() -> None:
    """The backend is named only on the page of several runs."""
    found = report(*(replace(FAILURE, id=f"Split-1/group/{number:010x}") for number in range(7)))
    alone = page_text([subject(found)])
    both = page_text([subject(report(result(1, "pass", "axis.range"))), subject(found, name="other")])
    [group] = re.findall(r'<article id="failure-1".*?</article>', alone, re.DOTALL)
    links = re.findall(r'<li><a href="(.*?)">(.*?)</a></li>', group)
    backend = " on other 1</span>"

    assert '<span class="quiet">7 cases</span>' in group
    assert '<dt>Given</dt><dd><code>axis 9</code> <a class="smallest" href="#case/0/Split-1/group/0000000000">' in group
    assert "<dt>Got</dt><dd>it differs</dd>" in group
    assert links[0] == ("#case/0/Split-1/group/0000000000", "Split-1/group/0000000000")
    assert links[6:] == [("#cases?failure=1", "all 7")]
    assert (backend in group, backend in both) == (False, True)
    assert '<a href="#cases?backend=1&amp;verdict=fail" class="fail"><b>7</b> fail</a>' in both
    assert "<title>some 1 · other 1: conformance</title>" in both


def test_failures_are_new_fixed_or_unchanged_since_an_older_run() -> None:
    """A card says how many of its cases are new; several older runs give a trend."""
    known = replace(FAILURE, id="Split-1/group/0000000003")
    broken, mended = (result(4, verdict, "axis.range", broken=("axis.range",)) for verdict in ("fail", "pass"))
    was = report(result(2, "pass", "axis.range"), known, replace(broken, reason="value"))
    now = report(FAILURE, known, mended)
    older = [Finished(Path("first"), report(known)), Finished(Path("second"), was)]
    text = page_text([subject(now)], older)

    assert failure_changes(was, now) == {FAILURE.id: "new", known.id: "unchanged", mended.id: "fixed"}
    assert '<h2 id="changes-title">Since second</h2>' in text
    assert re.findall(r'href="#cases\?change=(.*?)"><b>(.*?)</b>', text) == [
        ("new", "1"),
        ("fixed", "1"),
        ("unchanged", "1"),
    ]
    assert '<span class="tag bad">1 new</span></h3>' in text
    assert "No longer broken" not in text
    assert re.findall(r"<b>(\d)</b> <span class=\"quiet\">\((.*?)\)</span>", text) == [
        ("1", "first"),
        ("2", "second"),
        ("2", "this run"),
    ]


def test_requirements_that_changed_since_an_older_run_are_named() -> None:
    """Those that are broken now, and those that no longer are."""
    was = report(
        replace(FAILURE, verdict="pass", reason=None, broken=()),
        result(1, "fail", "axis.shape", broken=("axis.shape",)),
    )
    now = report(FAILURE, result(1, "pass", "axis.shape"))
    text = page_text([subject(now)], [Finished(Path("old"), was)])

    assert '<p class="tags">Broken now: <a class="tag" href="#Split-1%3Aaxis.range">Split-1 axis.range</a> </p>' in text
    assert (
        '<p class="tags">No longer broken: <a class="tag" href="#Split-1%3Aaxis.shape">Split-1 axis.shape</a> </p>'
        in text
    )


def test_a_case_that_an_older_run_did_not_execute_is_no_new_failure() -> None:
    """As `diff` counts it."""
    was = report(result(1, "pass", "axis.range"))

    assert failure_changes(was, report(FAILURE)) == {}


def test_packed_data_cannot_end_a_script_element() -> None:
    """Tags, line separators of JavaScript and lone surrogates are read back as they were."""
    value = {"a": "</script><!--&\u2028", "b": "\ud800"}
    text = packed(value)

    assert re.fullmatch("[A-Za-z0-9+/=]+", text)
    assert json.loads(zlib.decompress(base64.b64decode(text))) == value


def test_an_address_leaves_out_empty_properties() -> None:
    """The number 0 is not empty."""
    assert cases_place(backend=0, verdict="", reason="a b") == "#cases?backend=0&reason=a+b"


def test_a_long_text_is_shortened() -> None:
    """A short one stays."""
    assert (short("a" * 1500), short("a" * 1501)) == ("a" * 1500, "a" * 1500 + " …")


def test_passing_cases_have_their_inputs(suite: Suite) -> None:
    """So that a search finds them; the results have those of the other cases alone."""
    passing = replace(failure(suite, TWO_LENGTHS, None), verdict="pass", reason=None, sentence="")
    [listed] = cases.cases_of([subject(report(passing), suite=suite)], {})["cases"]

    assert listed["inputs"] == "data f32[6, 2], axis 0, split_lengths [2, 2, 2]"


def test_the_list_of_cases_has_one_object_per_case() -> None:
    """Failures come first. Empty values are left out, and so is a message that the sentence repeats; equal requirements have one number."""
    said = replace(FAILURE, message="differs", other_reason="axis.shape", log="stopped")
    shown = [subject(report(result(1, "pass", "axis.range"), said))]
    listed = cases.cases_of(shown, {(0, said.id): {"cause": "All elements are zero", "failure": 3, "change": None}})

    assert listed["backends"] == [{"title": "some 1", "started": "", "script": "", "place": "'my suite'"}]
    assert listed["titles"] == {}
    assert listed["requirements"] == [("Split-1:axis.range",)]
    assert listed["cases"] == [
        {"backend": 0, "id": "Split-1/group/0000000002", "profile": "core", "verdict": "fail", "reason": "value",
         "broken": ("Split-1:axis.range",), "sentence": "it differs", "inputs": "axis 9", "remarks": ["other-reason"],
         "other": "axis.shape", "log": "stopped", "cause": "All elements are zero", "failure": 3, "requirements": 0},
        {"backend": 0, "id": "Split-1/group/0000000001", "profile": "core", "verdict": "pass", "requirements": 0},
    ]  # fmt: skip
    assert cases.choices_of(listed)["reason"] == [("value", "value (1)")]


def failure(suite: Suite, identity: str, mismatch: Mismatch | None) -> Result:
    """The result of a case of the small suite that fails."""
    entry = suite.by_id[identity]
    return Result(
        id=identity,
        profile="core",
        expect="accept" if entry.expect == "accept" else "reject",
        verdict="fail",
        reason="value" if mismatch is not None else "accepted-invalid",
        requirements=entry.requirements,
        mismatch=mismatch,
        sentence="it differs",
    )


def evidence_of(suite: Suite, failed: Result, out: Path) -> dict[str, Any]:
    """The evidence of a failure, with the outputs that a run kept in a folder."""
    entry = suite.by_id[failed.id]
    return evidence.evidence_of(
        suite, entry, failed, feeds_of(suite, entry, failed, KeptOutputs(out).outputs(entry.id))
    )


DIFFERENT = Mismatch(
    reason="value", sentence="", feed=0, output="output_1", at=(1, 0), expected="0x3f800000", actual="0x00000000"
)


def test_the_evidence_of_a_wrong_value_marks_it_in_input_and_outputs(suite: Suite, tmp_path: Path) -> None:
    """Of outputs that were not kept only the expected elements are drawn; the sentence has the actual one."""
    found = evidence_of(suite, failure(suite, TWO_LENGTHS, DIFFERENT), tmp_path)
    [feed] = found["feeds"]
    data, [[wanted, got]] = feed["data"], feed["pairs"]

    assert found["inputs"] == [
        "data: f32[6, 2], parameter",
        "axis: i64[], constant = 0",
        "split_lengths: i64[3], constant = [2, 2, 2]",
        "context: bare",
    ]
    assert found["expected"] == "It is accepted, with the outputs f32[2, 2], f32[2, 2], f32[2, 2]."
    assert data["first"] == (3, 0)
    assert data["outputs"] == ("output_0", "output_0", "output_1", "output_1", "output_2", "output_2")
    assert (wanted["name"], wanted["first"], got) == ("output_1", (1, 0), None)
    assert [name for name, _ in found["models"]] == ["openvino/layer.xml"]
    assert feed["number"] == 0
    assert feed["origin"] == "output_1[1, 0] should equal data[3, 0]"


@pytest.mark.parametrize("change", [{"at": (1,)}, {"at": (0, 0, 1)}, {"at": (0, 99)}, {"output": "output_9"}])
def test_a_place_that_the_suite_does_not_have_is_not_marked(
    suite: Suite, tmp_path: Path, change: dict[str, Any]
) -> None:
    """Results may be damaged, or of another suite; the page is written all the same."""
    found = evidence_of(suite, failure(suite, TWO_LENGTHS, replace(DIFFERENT, **change)), tmp_path)

    assert "first" not in found["feeds"][0]["data"]


def test_the_evidence_of_a_rejected_case_names_the_requirement(suite: Suite, tmp_path: Path) -> None:
    """There are no outputs to show."""
    found = evidence_of(suite, failure(suite, REJECTED, None), tmp_path)

    assert found["expected"] == "It is rejected, since it violates lengths.single-remainder."
    assert [feed.keys() for feed in found["feeds"]] == [{"number", "data"}]


def test_large_tensors_are_not_drawn(suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The evidence says so, and lists the inputs without values."""
    monkeypatch.setattr(feeds, "_ELEMENTS", 4)
    found = evidence_of(suite, failure(suite, TWO_LENGTHS, DIFFERENT), tmp_path)

    assert found["inputs"][1] == "axis: i64[], constant"
    assert "feeds" not in found


def test_outputs_past_the_end_of_the_input_are_drawn_as_bars(suite: Suite, tmp_path: Path) -> None:
    """All elements past the end are marked, and the likely cause says where they are."""
    writer = OutputsWriter(tmp_path / "outputs.zip", None)
    outputs = {"output_0": np.zeros((4, 4), np.float32), "output_1": np.zeros((5, 4), np.float32)}
    writer.write(f"{REJECTED}/outputs.npz", npz_bytes(outputs))
    writer.close()
    failed = failure(suite, REJECTED, None)
    entry = suite.by_id[REJECTED]
    [kept] = feeds_of(suite, entry, failed, KeptOutputs(tmp_path).outputs(entry.id))
    [feed] = evidence_of(suite, failed, tmp_path)["feeds"]

    assert feed["got"] == {"axis": 0, "size": 6, "outputs": [("output_0", 0, 4), ("output_1", 4, 5)]}
    assert [(wanted, got.get("first"), got["mark"]) for wanted, got in feed["pairs"]] == [
        (None, None, "differs"),
        (None, (2, 0), "is past the end"),
    ]
    assert feed["pairs"][1][1]["marked"] == tuple(
        (row, column, "0x00000000") for row in (2, 3, 4) for column in range(4)
    )
    assert likely_cause(suite.case(entry), failed, kept) == (
        "Read past the end: the input has 6 elements along axis 0, and the outputs contain indices 6 to 8"
    )


def test_evidence_stops_where_the_page_is_full(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first failure of each kind has evidence before the second of any."""
    ids = sorted(entry.id for entry in suite.entries if entry.expect == "accept")
    failed = [failure(suite, id_, DIFFERENT) for id_ in ids] + [failure(suite, REJECTED, None)]
    of_suite = [subject(report(*failed), suite=suite)]
    monkeypatch.setattr(cases, "EVIDENCE_LIMIT", 0)
    shown, _ = cases.shown_evidence(of_suite)

    assert list(shown) == [f"0/{ids[0]}"]
    monkeypatch.undo()
    whole, _ = cases.shown_evidence(of_suite)
    assert [*whole][:2] == [f"0/{ids[0]}", f"0/{REJECTED}"]
    assert len(whole) == len(failed)


def test_a_drawing_has_lines_between_the_outputs(suite: Suite) -> None:
    """Along the rows here, with the number of each output where it begins."""
    entry = suite.by_id[TWO_LENGTHS]
    lines = drawing_lines(suite.case(entry), suite.arrays(entry, inputs_name(0)))

    assert [number for number, line in enumerate(lines) if set(line) == {"─"}] == [2, 5]
    assert [line.split()[-1] for line in lines if "output_" in line][:3] == ["output_0", "output_1", "output_2"]
    assert lines[-1] == "axis 0 runs downwards; outputs: output_0: 2, output_1: 2, output_2: 2"


@pytest.mark.parametrize(("dynamic", "declared"), [(("?", "2..8"), "[?, 2..8]"), ("...", "...")])
def test_an_input_has_its_declared_dimensions(suite: Suite, dynamic: Dynamic, declared: str) -> None:
    """Those that the model declares follow those of the tensor."""
    case = suite.case(suite.by_id[TWO_LENGTHS])
    data = replace(case.inputs[0], dynamic=dynamic)

    assert input_lines(replace(case, inputs=(data,)), {}) == [f"data: f32[6, 2], parameter, declared {declared}"]


@pytest.mark.parametrize(
    ("results", "mapped", "status"),
    [
        ((result(1, "pass", "axis.range"),), (), "kept"),
        ((result(1, "pass", "axis.range"),), ("Split-1:axis.range",), "mapped"),
        ((result(1, "pass", "axis.range"), FAILURE), (), "broken"),
        ((result(1, "unsupported", "axis.range"),), (), "open"),
        ((result(2, "pass", "axis.range"), result(1, "error", "axis.range")), (), "error"),
        ((FAILURE, result(1, "error", "axis.range")), (), "broken"),
    ],
)
def test_a_requirement_stands_as_its_cases_say(
    results: tuple[Result, ...], mapped: tuple[str, ...], status: str
) -> None:
    """An error of the harness outweighs a failure, and a failure what is mapped."""
    matrix = Matrix(columns=[Column(name="some", report=report(*results, mapped=mapped))])

    assert {row[0].id: row[0].status for row in matrix.rows}["axis.range"] == status
