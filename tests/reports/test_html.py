"""The content of the HTML page, computed from reports without a browser."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from opconform.suite.case import Dynamic
from opconform.suite.manifest import inputs_name
from opconform.suite.reader import Suite, open_suite
from opconform_runners.execution.failed_outputs import Kept
from opconform_runners.reports.case_text import drawing_lines, input_lines
from opconform_runners.reports.html import cases, evidence
from opconform_runners.reports.html.page import page_text, script_json
from opconform_runners.reports.html.subject import Subject, cases_place, short
from opconform_runners.reports.matrix import Column, Matrix
from opconform_runners.reports.report import Report
from opconform_runners.verdicts.comparison import Mismatch
from opconform_runners.verdicts.results import Result
from tests.reports.test_coverage import report, result

FAILURE = replace(result(2, "fail", "axis.range", broken=("axis.range",)), inputs="axis 9", sentence="it differs")
TWO_LENGTHS = "VariadicSplit-1/accepted/ddf616bfdd"
REJECTED = "VariadicSplit-1/rejected/edf4e822b0"


def subject(found: Report, *, name: str = "some", suite: Suite | None = None) -> Subject:
    """A run on the page that kept no outputs."""
    column = Column(name=name, report=found)
    return Subject(column=column, suite=suite, place="my suite", script="", kept=Kept(Path("nowhere")))


@pytest.fixture(scope="module")
def suite(small_suite: Path) -> Suite:
    """The small suite."""
    return open_suite(small_suite)


def test_the_header_has_verdict_extent_and_counts() -> None:
    """Counts link to the cases with the verdict; verdicts without cases are left out."""
    text = page_text([subject(report(result(1, "pass", "axis.range"), FAILURE))])
    head = text[text.index('<article class="head') : text.index("</article>")]

    assert head.startswith('<article class="head broken">\n<h1>some 1</h1>\n')
    assert (
        '<span class="pill broken">not conformant</span> '
        "2 of 2 cases supported; the profile core, suite 1 (0000000000000000)</p>\n"
        '<p class="lead">1 case fails; 1 normative requirement is broken: Split-1: axis.range.</p>\n'
    ) in head
    assert re.findall(r"<li>(.*)</li>", head) == [
        '<a href="#cases?backend=0&amp;verdict=pass" class="pass"><b>1</b> pass</a>',
        '<a href="#cases?backend=0&amp;verdict=fail" class="fail"><b>1</b> fail</a>',
    ]
    assert "<dt>Requested as</dt><dd>the case itself</dd>" in head
    assert "Run on" not in head


def test_a_bar_has_one_segment_per_verdict() -> None:
    """Beginning and width are in percent; requirements without cases are left out."""
    found = report(*(result(number, "pass", "axis.range") for number in (3, 4, 5)), FAILURE)
    text = page_text([subject(found)])
    [row] = re.findall(r'<th scope="row">.*</th>\n<td>.*</td>', text)

    assert row.startswith('<th scope="row"><a href="#cases?requirement=Split-1+axis.range">axis.range</a>')
    assert re.findall(r"<rect .*?/>", row) == [
        '<rect class="pass" x="0.00" y="0" width="75.00" height="10"/>',
        '<rect class="fail" x="75.00" y="0" width="25.00" height="10"/>',
    ]
    assert (
        '<a class="numbers" href="#cases?backend=0&amp;requirement=Split-1+axis.range&amp;verdict=fail">3 pass, 1 fail<'
    ) in row
    assert '<div class="cell broken"><span class="mark" aria-hidden="true">✗</span>' in row


def test_a_group_of_failures_links_its_first_cases_and_all_of_them() -> None:
    """The backend is named only on the page of several runs."""
    found = report(*(replace(FAILURE, id=f"Split-1/group/{number:010x}") for number in range(7)))
    alone = page_text([subject(found)])
    both = page_text([subject(report(result(1, "pass", "axis.range"))), subject(found, name="other")])
    [group] = re.findall(r'<article class="group">.*?</article>', alone, re.DOTALL)
    links = re.findall(r'<li><a href="(.*?)">(.*?)</a></li>', group)
    backend = '<p class="quiet">other 1</p>'

    assert '<span class="quiet">7 cases</span>' in group
    assert "<dt>Given</dt><dd><code>axis 9</code></dd>" in group
    assert "<dt>Got</dt><dd>it differs</dd>" in group
    assert links[0] == ("#case/0/Split-1/group/0000000000", "Split-1/group/0000000000")
    assert links[6:] == [
        ("#cases?backend=0&amp;op=Split-1&amp;verdict=fail&amp;reason=value&amp;broken=axis.range", "all 7")
    ]
    assert (backend in group, backend in both) == (False, True)
    assert '<a class="fail" href="#cases?verdict=fail&amp;reason=value">value 7</a>' in both
    assert "<title>some 1 · other 1: conformance</title>" in both


def test_json_cannot_end_a_script_element() -> None:
    """Tags, line separators of JavaScript and lone surrogates are escaped, and read back as they were."""
    value = {"a": "</script><!--&\u2028", "b": "\ud800"}
    text = script_json(value)

    assert not set("<>&\u2028") & set(text)
    assert text.isascii()
    assert json.loads(text) == value


def test_an_address_leaves_out_empty_properties() -> None:
    """The number 0 is not empty."""
    assert cases_place(backend=0, verdict="", reason="a b") == "#cases?backend=0&reason=a+b"


def test_a_long_text_is_shortened() -> None:
    """A short one stays."""
    assert (short("a" * 1500), short("a" * 1501)) == ("a" * 1500, "a" * 1500 + " …")


def test_the_list_of_cases_numbers_groups_and_requirements() -> None:
    """Empty last values are left out, and so is a message that the sentence repeats."""
    said = replace(FAILURE, message="differs", other_reason="axis.shape", log="stopped")
    listed = cases.cases_of([subject(report(result(1, "pass", "axis.shape"), said))], 3)

    assert listed["groups"] == ["Split-1/group"]
    assert listed["requirements"] == ["Split-1 axis.shape", "Split-1 axis.range"]
    assert listed["texts"] == ["axis.shape", "axis.range"]
    assert listed["backends"] == [{"title": "some 1", "started": "", "script": "", "place": "'my suite'"}]
    assert listed["titles"] == []
    assert listed["left_out"] == 3
    assert listed["cases"] == [
        [0, 0, "0000000001", "core", "pass", "", 0, [0]],
        [0, 0, "0000000002", "core", "fail", "value", 0, [1], [1], "it differs", "axis 9", "",
         ["other-reason axis.shape"], "", "stopped"],
    ]  # fmt: skip


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


DIFFERENT = Mismatch(
    reason="value", sentence="", feed=0, output="output_1", at=(1, 0), expected="0x3f800000", actual="0x00000000"
)


def test_the_evidence_of_a_wrong_value_marks_it_in_input_and_outputs(suite: Suite, tmp_path: Path) -> None:
    """The actual element is known although the outputs were not kept."""
    entry = suite.by_id[TWO_LENGTHS]
    failed = failure(suite, TWO_LENGTHS, DIFFERENT)
    found: dict[str, Any] = evidence.evidence_of(suite, entry, failed, Kept(tmp_path))
    data, [wanted], [got] = found["data"], found["wanted"], found["got"]

    assert found["inputs"] == [
        "data: f32[6, 2], parameter",
        "axis: i64[], constant = 0",
        "split_lengths: i64[3], constant = [2, 2, 2]",
        "context: bare",
    ]
    assert found["expected"] == "It is accepted, with the outputs f32[2, 2], f32[2, 2], f32[2, 2]."
    assert data["first"] == (3, 0)
    assert data["outputs"] == (0, 0, 1, 1, 2, 2)
    assert (wanted["name"], wanted["differs"]) == ("output_1", ((1, 0, "0x3f800000"),))
    assert (got["rows"], got["differs"]) == ((("·", "·"), ("0x00000000", "·")), ((1, 0, "0x00000000"),))
    assert [name for name, _ in found["models"]] == ["openvino/layer.xml"]
    assert "note" not in found


@pytest.mark.parametrize("change", [{"at": (1,)}, {"at": (0, 0, 1)}, {"at": (0, 99)}, {"output": "output_9"}])
def test_a_place_that_the_suite_does_not_have_is_not_marked(
    suite: Suite, tmp_path: Path, change: dict[str, Any]
) -> None:
    """Results may be damaged, or of another suite; the page is written all the same."""
    failed = failure(suite, TWO_LENGTHS, replace(DIFFERENT, **change))
    found: dict[str, Any] = evidence.evidence_of(suite, suite.by_id[TWO_LENGTHS], failed, Kept(tmp_path))

    assert "first" not in found["data"]


def test_the_evidence_of_a_rejected_case_names_requirement_and_twin(suite: Suite, tmp_path: Path) -> None:
    """There are no outputs to show."""
    entry = suite.by_id[REJECTED]
    found = evidence.evidence_of(suite, entry, failure(suite, REJECTED, None), Kept(tmp_path))

    assert found["expected"] == "It is rejected, since it violates lengths.single-remainder."
    assert found["twin"] == entry.twin
    assert found.keys().isdisjoint({"wanted", "got"})


def test_large_tensors_are_not_drawn(suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The evidence says so, and lists the inputs without values."""
    monkeypatch.setattr(evidence, "_ELEMENTS", 4)
    failed = failure(suite, TWO_LENGTHS, DIFFERENT)
    found = evidence.evidence_of(suite, suite.by_id[TWO_LENGTHS], failed, Kept(tmp_path))

    assert found["note"] == "The tensors are too large to be drawn here."
    assert found["inputs"][1] == "axis: i64[], constant"  # type: ignore[index]
    assert found.keys().isdisjoint({"data", "wanted", "got"})


def test_evidence_stops_where_the_page_is_full(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first failure of each kind has evidence before the second of any; the others are counted."""
    ids = sorted(each.id for each in suite.entries if each.expect == "accept")
    failed = [failure(suite, each, DIFFERENT) for each in ids] + [failure(suite, REJECTED, None)]
    of_suite = [subject(report(*failed), suite=suite)]
    monkeypatch.setattr(cases, "EVIDENCE_LIMIT", 0)
    shown, left_out = cases.shown_evidence(of_suite)

    assert list(shown) == [f"0/{ids[0]}"]
    assert left_out == len(ids)
    monkeypatch.undo()
    whole, none_left_out = cases.shown_evidence(of_suite)
    assert [*whole][:2] == [f"0/{ids[0]}", f"0/{REJECTED}"]
    assert (len(whole), none_left_out) == (len(failed), 0)


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
    ("results", "mapped", "standing"),
    [
        ((result(1, "pass", "axis.range"),), (), "kept"),
        ((result(1, "pass", "axis.range"),), ("Split-1:axis.range",), "mapped"),
        ((result(1, "pass", "axis.range"), FAILURE), (), "broken"),
        ((result(1, "unsupported", "axis.range"),), (), "open"),
        ((FAILURE, result(1, "error", "axis.range")), (), "error"),
    ],
)
def test_a_requirement_stands_as_its_cases_say(
    results: tuple[Result, ...], mapped: tuple[str, ...], standing: str
) -> None:
    """An error of the harness outweighs a failure, and a failure what is mapped."""
    matrix = Matrix(columns=[Column(name="some", report=report(*results, mapped=mapped))])

    assert {row[0].id: row[0].standing for row in matrix.rows}["axis.range"] == standing
