"""The content of the HTML page, computed from reports without a browser."""

import base64
import json
import re
import zlib
from dataclasses import replace
from pathlib import Path

import pytest

from opconform.specs.requirements import requirements_of
from opconform.suite.manifest import RequirementNote
from opconform_runners.findings.finding import Finding
from opconform_runners.findings.known.failures import Known
from opconform_runners.reports.backend_matrix import Column, Matrix
from opconform_runners.reports.diff import failure_changes
from opconform_runners.reports.formats.markdown import markdown_text
from opconform_runners.reports.html import cases
from opconform_runners.reports.html.page import packed, page_text
from opconform_runners.reports.html.subject import Subject, cases_place, short
from opconform_runners.reports.report_file import Finished
from opconform_runners.verdicts.results import Result
from opconform_runners.verdicts.verdict import FailReason
from tests.reports.conftest import subject
from tests.reports.test_coverage import SUITE, report, result

FAILURE = replace(result(2, "fail", "axis.range", broken=("axis.range",)), inputs="axis 9", sentence="it differs")


def test_the_header_has_verdict_extent_and_broken_requirements() -> None:
    """A broken requirement links to its row; the verdict of the backend alone needs no counts of its own."""
    text = page_text([subject(report(result(1, "pass", "axis.range"), FAILURE))])
    head = text[text.index('<article class="head') : text.index("</article>")]

    assert head.startswith(
        '<article class="head broken">\n<div class="verdict"><h1>some 1</h1> '
        '<span class="pill broken">not conformant</span> <span class="extent">profile core</span></div>\n'
    )
    assert re.findall(r"<li.*?>(.*)</li>", head) == [
        "2 of 2 cases supported",
        "suite 1 (0000000000000000)",
        "opconform 1",
    ]
    assert '<p class="lead">1 case fails; 1 requirement broken</p>' in head
    assert '<p class="tags">Split-1: <a class="tag bad" href="#Split-1%3Aaxis.range">axis.range</a> </p>' in head
    assert '<tr id="Split-1:axis.range" tabindex="-1">' in text
    assert "<dt>Requested as</dt><dd>the case itself</dd>" in head
    assert "Run on" not in head


def test_a_part_of_a_profile_is_named_beside_the_verdict() -> None:
    """On the page and in Markdown, also where the results have the profile of which it is a part."""
    quick = replace(report(FAILURE), suite=replace(SUITE, profiles=("quick",)))
    page, markdown = page_text([subject(quick)]), markdown_text(quick)
    beside = (
        'not conformant</span> <span class="extent">only the profile quick, a part that cannot be signed</span></div>'
    )

    assert beside in page
    assert markdown.splitlines()[0].startswith(
        "## ❌ opconform: NOT CONFORMANT, 1 of 1 case supported, only the profile quick"
    )


def test_the_counts_of_a_page_add_up() -> None:
    """Cases that are not supported and interpretations are counted where the others are."""
    deviation = result(3, "fail", "data.rank", broken=("data.rank",))
    other = [result(4, "unsupported", "axis.shape"), result(5, "inconclusive", "axis.shape")]
    text = page_text([subject(report(FAILURE, deviation, *other))])

    assert "<li>2 of 4 cases supported, 1 unsupported, 1 inconclusive</li>" in text
    words = text[text.index("<summary>What the words mean</summary>") :].partition("</details>")[0]
    assert re.findall("<dt>(.*?)</dt>", words) == ["wrong data", "interpretation", "unsupported", "inconclusive"]
    assert '<p class="lead">2 cases fail; 1 requirement broken; 1 interpretation not met (not counted)</p>' in text
    assert "2 requirements with failures (1 broken, 1 interpretation not counted), 1 without" in text


def test_the_worst_finding_is_one_case_with_its_command_above_the_table() -> None:
    """The smallest case of its severity, although the finding has other operations and symptoms."""
    ops = ("Concat-1", "Gather-8", "Slice-8", "Split-1")
    of_ops = [replace(FAILURE, id=f"{op}/group/0123456789", reason="crash") for op in ops]
    smallest, *others = [*reversed(of_ops)]
    finding = Finding(severity="crash", symptoms={"wet": 3, "cold": 1}, cases=(smallest.id, *(x.id for x in others)))
    more = [
        Finding(severity="wrong data", symptoms={"wet": 1}, cases=(f"Split-1/group/{number:010x}",))
        for number in range(3)
    ]
    wrong = [replace(FAILURE, id=x.cases[0]) for x in more]
    notes = {op: report().notes["Split-1"] for op in ops}
    made = replace(report(*of_ops, *wrong), notes=notes, findings=(finding, *more), started="--backend some")
    run = subject(made)
    without, text = page_text([run]), page_text([replace(run, script="--backend some")])
    worst = text[text.index('<div id="worst"') : text.index('<div id="index"')]

    assert "Worst: Split-1 axis.range" in worst
    assert 'the smallest of <a href="#failure-1">4 cases</a>' in worst
    assert "<dt>Given</dt><dd><code>axis 9</code>" in worst
    assert (
        "<pre>opconform repro Split-1/group/0123456789 --backend some --suite &#39;my suite&#39; --out repro.py</pre>"
    ) in worst
    assert (
        "<pre>opconform run &#39;my suite&#39; --backend some --select Split-1/group/0123456789 --out again</pre>"
        in without
    )
    assert "<h3>Split-1 axis.range and 3 more operations</h3>" in text


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


def many_operations(count: int) -> list[Subject]:
    """A run with a failure in each of some operations."""
    ops = [f"Operation{number:03}-1" for number in range(count)]
    notes = {op: report().notes["Split-1"] for op in ops}
    return [subject(replace(report(*(replace(FAILURE, id=f"{op}/group/0123456789") for op in ops)), notes=notes))]


def test_many_findings_are_a_table_whose_rows_unfold() -> None:
    """A row has severity, operation, requirements and the number of cases; what it unfolds is made when it is."""
    few, many = (page_text(many_operations(count)) for count in (3, 4))
    table = many[many.index('<div id="index"') : many.index("</section>", many.index('<div id="index"'))]

    assert ('<div id="index"' in few, '<article id="failure-1"' in few) == (False, True)
    assert re.findall(
        r'<details id="(.*?)" class="finding" data-operations="(.*?)">\n'
        r'<summary><span class="tag bad">(.*?)</span><h3>(.*?)</h3>.*?<span class="number">(\d+)<',
        table,
    ) == [
        (f"failure-{number + 1}", f"Operation00{number}-1", "wrong data", f"Operation00{number}-1 axis.range", "1")
        for number in range(4)
    ]
    assert table.count('</summary>\n<noscript class="deferred">') == 4
    assert re.findall(r"<option>(.*?)</option>", many[many.index('id="index-operation"') :])[0] == "Operation000-1"


def test_a_row_says_whether_a_finding_is_known_or_new() -> None:
    """Where the findings of a release of the product are known; otherwise neither is said."""
    [one] = many_operations(4)
    failing = one.column.report.results[0].id
    known = Known(name="some-1", product="Some 1", release="1", is_other=False, cases={failing: (7,)})
    column = replace(one.column, report=replace(one.column.report, known=known))
    without, text = (page_text([x]) for x in (one, replace(one, column=column)))

    standing = r'<span class="standing"> ?(?:<span.*?>(.*?)</span>)?</span>'
    assert re.findall(standing, text) == ["new", "new", "new", "known"]
    assert re.findall(standing, without) == [""] * 4
    assert "<p>Known in Some 1: 1 of 4 failing cases; the others are new.</p>" in text


def test_findings_and_names_beyond_the_first_are_folded() -> None:
    """Twenty findings are shown, and the names of more than ten operations are one line."""
    text = page_text(many_operations(25))
    head = text[text.index('<article class="head') : text.index("</article>")]
    first, _, others = text[text.index('<div id="index"') :].partition("<summary>5 more findings</summary>")

    assert (first.count('class="finding"'), others.count('class="finding"')) == (20, 5)
    assert "<summary>Broken requirements of 25 operations</summary>" in head


def test_an_operation_has_one_cell_per_backend() -> None:
    """Its cases by verdict, and a colour for what they say together; the cell leads to the cases."""
    passing, other = result(1, "pass", "axis.range"), result(3, "unsupported", "axis.range")
    runs = [subject(report(passing, FAILURE, other)), subject(report(passing, other), name="b")]
    text = page_text(runs)
    table = text[text.index('<table class="operations">') :].partition("</table>")[0]

    assert re.findall(r'<th scope="col">(.*?)</th>', table) == ["Operation", "some 1", "b 1"]
    assert re.findall(r'<td class="(.*?)"><a href="(.*?)" aria-label="(.*?)">', table) == [
        ("fails", "#cases?backend=0&amp;op=Split-1", "Split-1: 1 pass, 1 fail, 1 unsupported"),
        ("partly", "#cases?backend=1&amp;op=Split-1", "Split-1: 1 pass, 1 unsupported"),
    ]
    assert re.findall(r'<b class="fate (\w+)">(.*?)</b>', table)[:3] == [
        ("pass", "✓ 1"), ("fail", "✗ 1"), ("unsupported", "\N{EN DASH} 1")
    ]  # fmt: skip
    assert text.index('id="operations"') < text.index('id="failures"')


def test_the_page_of_several_backends_begins_with_the_requirements_that_differ() -> None:
    """Those with failures on all backends or on none are folded, also if a backend does not decide them."""
    both, one = result(3, "fail", "axis.shape", broken=("axis.shape",)), result(1, "pass", "axis.range")
    text = page_text(
        [subject(report(FAILURE, both)), subject(report(one, both, result(5, "pass", "data.rank")), name="other")]
    )
    shown, _, folded = text[text.index('id="differing"') :].partition("<details>")

    assert text.index('id="requirements"') < text.index('id="failures"')
    assert '<a href="#requirements">Requirements</a>\n<a href="#failures">Findings</a>' in text
    assert ('id="Split-1:axis.range"' in shown, 'id="Split-1:axis.shape"' in shown) == (True, False)
    assert folded.startswith("\n<summary>1 requirement with failures on all backends</summary>")
    assert "<summary>1 requirement without a failure</summary>" in folded


def test_a_finding_shows_its_condition_and_symptoms_and_each_case_leads_to_it() -> None:
    """They come from the report, and are not searched again."""
    other = replace(FAILURE, id="Split-1/group/0000000003")
    condition = "it rains (2 of 2 such valid cases fail); of the 1 other decided valid cases, 1 pass"
    finding = Finding(
        severity="crash", condition=condition, symptoms={"wet": 1, "cold": 1}, cases=(other.id, FAILURE.id)
    )
    text = page_text([subject(replace(report(FAILURE, other), findings=(finding,)))])

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
    requirements = text[text.index('id="requirements"') :]
    [row] = re.findall(r'<th scope="row">.*?</th>\n<td>.*?</td>', requirements, re.DOTALL)

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


def test_the_list_of_cases_has_one_object_per_case() -> None:
    """Failures come first. Empty values are left out, and so is a message that the sentence repeats; equal requirements have one number."""
    said = replace(FAILURE, message="differs", other_reason="axis.shape", log="stopped")
    shown = [subject(report(result(1, "pass", "axis.range"), said))]
    listed = cases.case_list(shown, {(0, said.id): {"cause": "All elements are zero", "failure": 3, "change": None}})

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
