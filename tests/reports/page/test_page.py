"""The HTML page of runs, in a headless Chromium as a reader has it."""

import hashlib
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from opconform.suite.reader import open_suite
from opconform_runners.reports.report_file import finished, write_report
from opconform_runners.verdicts.results import read_written, write_results
from opconform_runners.verdicts.run_header import ids_digest
from tests.conftest import MINIATURES, Run

if TYPE_CHECKING:
    from playwright.sync_api import Browser
from tests.reports.page.browser import failures, open_case, opened
from tests.reports.page.specs import SECOND_FEED


@pytest.mark.ci_only
def test_the_first_screen_shows_backend_verdict_and_requirements(browser: "Browser", run: Path) -> None:
    """The product, the verdict, the numbers, and a bar for each requirement that has cases."""
    page = opened(browser, run / "report.html")

    assert page.locator("h1").inner_text() == f"numpy {np.__version__}"
    assert page.locator(".pill").inner_text() == "NOT CONFORMANT"
    assert page.locator(".chip").all_text_contents() == ["all 6", "pass 2", "fail 4"]
    assert page.locator(".group h3").inner_text() == "WRONG DATA VariadicSplit-1 data.bits 4 cases"
    assert page.locator(".group dd b").all_inner_texts() == [
        "Negative zero became positive zero",
        "valid cases (4 of 4 decided cases of VariadicSplit-1/accepted)",
    ]
    assert page.locator(".requirements tbody tr").count() == 2
    assert page.locator(".requirements a.numbers").all_text_contents() == [
        "4 fail of data.bits",
        "2 pass of lengths.single-remainder",
    ]
    assert page.locator(".bars rect").evaluate_all("all => all.map(e => e.getAttribute('class'))") == [
        "fail",
        "pass",
    ]


@pytest.mark.ci_only
def test_a_failure_shows_the_tensor_both_outputs_and_how_to_see_it_again(
    browser: "Browser", run: Path, small_suite: Path
) -> None:
    """The first element that differs is marked in input, expected and actual, with both bit patterns."""
    result = failures(run)[0]
    mismatch = result["mismatch"]
    assert isinstance(mismatch, dict)
    digits = str(result["id"]).rpartition("/")[2]
    page = opened(browser, run / "report.html")
    open_case(page, page.locator(".group .links a", has_text=str(result["id"])))
    first = page.locator("#case td.first")

    assert page.locator("#case h1").inner_text() == result["sentence"]
    assert page.locator("#case p code").first.inner_text() == result["id"]
    assert page.locator("#overview").is_hidden()
    assert page.evaluate("document.activeElement.id") == "case-title"
    assert [text_content.split()[0] for text_content in first.all_text_contents()] == ["-0", "0", "-0"]
    assert page.locator(".bits code").all_text_contents() == [mismatch["expected"], mismatch["actual"]]
    assert mismatch["expected"] == "0x80000000"
    assert mismatch["actual"] == "0x00000000"
    assert page.locator("#case th.output").all_text_contents() == ["output_0", "output_1", "output_2"]
    assert page.locator("#case pre").all_text_contents()[-2:] == [
        f"opconform run {small_suite} --backend {MINIATURES}:LosesNegativeZero --select {result['id']} --out again/{digits}",
        f"opconform show {result['id']} --suite {small_suite}",
    ]
    assert page.locator("#case pre").first.inner_text().startswith('<layer id="1" type="VariadicSplit">')


@pytest.mark.ci_only
def test_a_link_to_a_part_opens_it_and_an_unknown_one_is_reported(browser: "Browser", run: Path) -> None:
    """A requirement without a failure is unfolded; its row has the focus, without a ring."""
    page = opened(browser, run / "report.html")
    page.evaluate("location.hash = 'VariadicSplit-1%3Alengths.single-remainder'")
    row = page.locator("[id='VariadicSplit-1:lengths.single-remainder']")
    page.wait_for_function("() => document.activeElement.tagName === 'TR'")
    shown, ring = row.is_visible(), row.evaluate("each => getComputedStyle(each).outlineStyle")
    page.evaluate("location.hash = 'nonsense'")
    page.wait_for_function("() => document.getElementById('unknown').textContent !== ''")

    assert (shown, ring) == (True, "none")
    assert page.locator("#unknown").inner_text() == "This report has no part #nonsense."


@pytest.mark.ci_only
def test_a_twin_is_the_same_case_without_the_violation(browser: "Browser", run: Path, small_suite: Path) -> None:
    """It does not have the title of the invalid case, and each links to the other."""
    [rejected] = (entry for entry in open_suite(small_suite).entries if entry.twin is not None)
    page = opened(browser, run / "report.html")
    page.locator("input[name=q]").fill(f"{rejected.twin}")
    title = page.locator("#rows .what", has_text="the same case").text_content() or ""
    open_case(page, page.locator("#rows a"))
    page.locator("#case dd a", has_text=rejected.id).click()
    page.wait_for_function("id => document.title === id", arg=rejected.id)

    assert title.startswith("the same case without the violation (at most one -1)")
    assert page.locator("#case dl > div", has_text="The same case without the violation").locator("a").inner_text() == (
        rejected.twin
    )


@pytest.mark.ci_only
def test_twenty_thousand_cases_are_searched_and_drawn_a_part_at_a_time(
    browser: "Browser", opconform: Run, run: Path, tmp_path: Path
) -> None:
    """The rows that are not looked at are not in the page, and the filters count them all the same."""
    report = finished(run).report
    results = tuple(
        replace(
            result,
            id=f"{result.id.rpartition('/')[0]}/{hashlib.sha256(f'{number} {result.id}'.encode()).hexdigest()[:10]}",
        )
        for number in range(20_000 // len(report.results) + 1)
        for result in report.results
    )[:20_000]
    results = tuple(sorted(results, key=lambda x: x.id))
    many = replace(report, results=results, findings=())
    header = read_written(run / "results.jsonl").header
    selected = ids_digest(result.id for result in results)
    write_results(tmp_path, replace(header, cases=len(results), selected=selected), results)
    write_report(tmp_path, many)
    opconform("report", tmp_path)
    page = opened(browser, tmp_path / "report.html")
    some = results[12_345]
    page.locator(".chip.fail").click()
    failing = page.locator("#found").inner_text()
    page.locator(".chip", has_text="all").click()
    page.locator("input[name=q]").fill(some.id.rpartition("/")[2])

    assert failing == f"{many.summary['fail']:,} of 20,000 cases"
    assert page.locator("#found").inner_text() == "1 of 20,000 cases"
    assert page.locator("#rows a").all_inner_texts() == [some.id]
    page.locator("input[name=q]").fill("")
    assert 0 < page.locator("#rows li").count() <= 500


@pytest.mark.ci_only
def test_the_list_begins_with_failures_and_a_key_moves_to_its_search(browser: "Browser", run: Path) -> None:
    """The key is text where a field has the focus; inputs of passing cases are found."""
    page = opened(browser, run / "report.html")
    first = page.locator("#rows .word").first.inner_text()
    page.keyboard.press("/")
    page.keyboard.type("data f32[6, 4]/")
    with_slash = page.locator("input[name=q]").input_value()
    page.keyboard.press("Backspace")

    assert first.startswith("fail")
    assert with_slash == "data f32[6, 4]/"
    assert page.locator("#rows li .word.pass").count() > 0


@pytest.mark.ci_only
def test_the_findings_of_one_operation_are_chosen(browser: "Browser", many_findings: Path) -> None:
    """In the table, also those that are folded; a link shows a finding of another operation."""
    page = opened(browser, many_findings / "report.html")
    every = page.locator(".finding").count()
    page.locator("#index-operation select").select_option("Pad-12")
    rows = page.locator(".finding:visible h3").all_inner_texts()
    page.evaluate("location.hash = 'failure-1'")
    page.locator("#failure-1 .group").wait_for()

    assert rows
    assert all("Pad-12" in row for row in rows)
    assert len(rows) == page.locator(".finding[data-operations~='Pad-12']").count() < every


@pytest.mark.ci_only
def test_the_first_screen_of_many_findings_is_verdict_and_table(browser: "Browser", many_findings: Path) -> None:
    """At least five rows of the table are seen; nothing is unfolded, and no card is made before it is."""
    page = opened(browser, many_findings / "report.html")
    ends = page.locator(".finding:visible").evaluate_all("all => all.map(row => row.getBoundingClientRect().bottom)")
    unfolded = page.locator("main details[open]").count()

    assert page.locator(".pill").inner_text() == "NOT CONFORMANT"
    assert sum(end < 800 for end in ends) >= 5
    assert (unfolded, page.locator(".finding .group").count()) == (0, 0)
    assert page.evaluate("document.documentElement.scrollHeight") < 3 * 800


@pytest.mark.ci_only
def test_a_row_is_marked_as_something_that_opens(browser: "Browser", many_findings: Path) -> None:
    """By a triangle that turns, under a pointer, and when the keyboard is on it, which also opens it."""
    page = opened(browser, many_findings / "report.html")
    row = page.locator("#failure-1 > summary")
    look = "row => [getComputedStyle(row, '::before').content, getComputedStyle(row).backgroundColor]"
    folded = row.evaluate(look)
    row.hover()
    hovered = row.evaluate(look)
    page.mouse.move(0, 0)
    page.keyboard.press("Tab")
    row.focus()
    focused = [*row.evaluate(look), row.evaluate("row => getComputedStyle(row).outlineStyle")]
    page.keyboard.press("Enter")
    page.locator("#failure-1 .group").wait_for()

    assert row.evaluate("row => getComputedStyle(row).cursor") == "pointer"
    assert (folded[0], hovered[0]) == ('"▸"', '"▸"')
    assert hovered[1] != folded[1]
    assert focused == [*hovered, "solid"]
    assert row.evaluate(look)[0] == '"▾"'


@pytest.mark.ci_only
def test_the_command_of_the_worst_finding_is_on_the_first_screen(browser: "Browser", many_findings: Path) -> None:
    """It is copied by the button beside it."""
    page = opened(browser, many_findings / "report.html")
    page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text }")
    command = page.locator("#worst pre")
    page.locator("#worst button").click()
    page.locator("#worst button", has_text="Copied").wait_for()

    assert command.evaluate("command => command.getBoundingClientRect().bottom") < 800
    assert page.evaluate("window.copied") == command.inner_text()
    assert command.inner_text().startswith("opconform run ")


@pytest.mark.ci_only
def test_nothing_of_the_bar_is_cut_on_a_telephone(browser: "Browser", many_findings: Path) -> None:
    """Its links and verdicts continue on a second line."""
    page = opened(browser, many_findings / "report.html", width=390)
    ends = page.locator(".bar a, .chip").evaluate_all("all => all.map(each => each.getBoundingClientRect().right)")
    lists = page.locator(".bar nav, .chips").evaluate_all("all => all.map(each => each.scrollWidth - each.clientWidth)")

    assert len(ends) > 6
    assert max(ends) <= 390
    assert lists == [0, 0]


@pytest.mark.ci_only
def test_a_link_opens_what_is_folded(browser: "Browser", many_findings: Path) -> None:
    """A finding beyond the first, a requirement, and a case from its finding; a filter opens the list of cases."""
    page = opened(browser, many_findings / "report.html")
    last = page.locator(".finding").count()
    page.evaluate("place => { location.hash = place }", f"failure-{last}")
    page.locator(f"#failure-{last} .group").wait_for()
    link = page.locator(f"#failure-{last} dd a[href*='%3A']").first
    name = (link.get_attribute("href") or "").removeprefix("#").replace("%3A", ":")
    link.click()
    row = page.locator(f"[id='{name}']")
    row.wait_for()
    page.wait_for_function("() => document.activeElement.tagName === 'TR'")
    page.locator(".chip.fail").click()
    page.locator("#rows li").first.wait_for()
    page.locator("select[name=op]").select_option("Pad-12")
    shown = page.locator("#rows a").first.inner_text()
    page.go_back()
    page.evaluate("place => { location.hash = place }", f"failure-{last}")
    open_case(page, page.locator(f"#failure-{last} a.smallest"))

    assert shown.startswith("Pad-12/")
    assert page.locator("#unknown").inner_text() == ""
    assert page.locator("#case .statement").count() > 0


@pytest.mark.ci_only
def test_the_same_is_there_without_javascript_and_on_paper(browser: "Browser", many_findings: Path) -> None:
    """The cards and the requirements; a page that is printed has them all."""
    without = browser.new_context(java_script_enabled=False).new_page()
    without.goto((many_findings / "report.html").as_uri())
    page = opened(browser, many_findings / "report.html")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    counts = [
        [x.locator(kind).count() for kind in (".finding", ".finding .group", ".requirements")] for x in (without, page)
    ]

    assert counts[0] == counts[1]
    assert counts[0][0] == counts[0][1] > 20


@pytest.mark.ci_only
def test_a_search_that_is_typed_while_the_page_loads_is_kept(browser: "Browser", run: Path) -> None:
    """The key moves the focus before the data of the page are unpacked, and what follows it filters the list."""
    page = browser.new_context().new_page()
    page.add_init_script(
        """
        const { json } = Response.prototype;
        Response.prototype.json = async function () {
          await new Promise((resolve) => { window.unpack = resolve; });
          return json.call(this);
        };
        """
    )
    page.goto((run / "report.html").as_uri())
    page.wait_for_function("() => window.unpack")
    page.keyboard.press("/")
    page.keyboard.type("no such case")
    before = page.locator("#found").inner_text()
    page.evaluate("window.unpack()")
    page.locator("#found", has_text="0 of 6 cases").wait_for()

    assert before == ""
    assert page.locator("input[name=q]").input_value() == "no such case"
    assert page.evaluate("location.hash") == "#cases?q=no+such+case"


@pytest.mark.ci_only
def test_several_backends_stand_side_by_side(
    browser: "Browser", opconform: Run, run: Path, small_suite: Path, tmp_path: Path
) -> None:
    """Each has a column, and a case shows its verdicts on the others."""
    opconform("run", small_suite, "--backend", f"{MINIATURES}:Perfect", "--out", tmp_path / "perfect")
    opconform("report", run, tmp_path / "perfect", "--suite", small_suite, "--html", tmp_path / "both.html")
    page = opened(browser, tmp_path / "both.html")
    names = [f"numpy ({name}) {np.__version__}" for name in ("loses", "perfect")]

    assert page.locator("h1").all_inner_texts() == names
    assert page.locator(".pill").all_inner_texts() == ["NOT CONFORMANT", "CONFORMANT"]
    assert page.locator(".requirements").first.locator("thead th").all_inner_texts() == ["Requirement", *names]
    assert page.locator(".requirements .mark").all_text_contents() == ["✗", "·", "·", "✓", "✓", "✓"]
    open_case(page, page.locator(".group .links a").first)
    assert page.locator("#case .links a").all_inner_texts() == ["cases of finding 1", f"{names[1]}: pass"]


@pytest.mark.ci_only
def test_what_is_wrong_in_a_second_inference_is_what_is_shown(
    browser: "Browser", opconform: Run, tmp_path: Path
) -> None:
    """The tensor and the outputs are those of the feed that had to be refused."""
    (tmp_path / "second.yaml").write_text(SECOND_FEED)
    backend = f"{MINIATURES}:AcceptsEverything"
    opconform(
        "certify", tmp_path / "second.yaml", "--backend", backend, "--jobs", "1", "--out", tmp_path / "out", code=1
    )
    page = opened(browser, tmp_path / "out" / "report.html")
    open_case(page, page.locator(".group .links a"))

    assert page.locator("#case .feed h2").all_inner_texts() == [
        "Feed 1: a further inference on the model already built, which shows the failure",
        "Feed 0: the first inference",
    ]
    assert page.locator("#case caption").all_text_contents() == [
        "Actual: output_0 f32[7, 3]", "data f32[7, 3]", "Actual: output_0 f32[6, 3]", "data f32[6, 3]"
    ]  # fmt: skip


@pytest.mark.ci_only
def test_a_run_without_its_suite_says_so(
    browser: "Browser", opconform: Run, run: Path, small_suite: Path, tmp_path: Path
) -> None:
    """On the command line and in the page; a suite beside another of the runs is found; a dead link is reported."""
    unnoted = shutil.ignore_patterns("suite.txt")
    alone, beside = (shutil.copytree(run, tmp_path / name, ignore=unnoted) for name in ("alone", "beside"))
    told = opconform("report", alone, "--html", tmp_path / "alone.html").stderr
    page = opened(browser, tmp_path / "alone.html")
    open_case(page, page.locator(".group .links a").first)
    shutil.copytree(small_suite, beside / "suite")
    both = opconform("report", alone, beside, "--html", tmp_path / "both.html")
    dead = opened(browser, tmp_path / "both.html")
    dead.evaluate("location.hash = 'case/0/unknown'")
    dead.wait_for_function("() => document.getElementById('unknown').textContent !== ''")

    assert told.startswith(f"note: the suite of {alone} was not found, so the HTML report has no tensors and no IR.")
    assert "The suite was not found when this report was written" in page.locator("#case").inner_text()
    assert both.stderr == ""
    assert dead.locator("#unknown").inner_text() == "This report has no case 0/unknown."
