"""The HTML page of runs, in a headless Chromium as a reader has it."""

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest

from opconform.explanation.pictures import Highlight
from opconform.suite.reader import open_suite
from opconform.tensors.npz import npz_bytes
from opconform_runners.execution.log.outputs_zip import KeptOutputs, OutputsWriter
from opconform_runners.reports.report_file import finished, write_report
from opconform_runners.reports.terminal.excerpt import Marks, excerpt_of
from opconform_runners.verdicts.results import read_written, write_results
from opconform_runners.verdicts.run_header import ids_digest
from tests.conftest import MINIATURES, Run, interrupted, whole

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

CHROMIUM = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")
#: The colour of the page in each of the system's themes.
SCHEMES: Mapping[Literal["light", "dark"], str] = {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 22, 26)"}
HOSTILE = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'><!--"
HOSTILE_SPEC = f"""\
op: VariadicSplit-1
groups:
  - id: hostile
    title: "{HOSTILE}"
    requirements: [lengths.sum]
    data: {{shape: [6, 2]}}
    axis: 0
    split_lengths: [2, 4]
"""
WIDE_SPEC = """\
op: Split-1
groups:
  - id: wide
    title: a tensor wider than a telephone
    requirements: [data.bits]
    data: {shape: [2, 12], element_type: f64, fill: special}
    axis: 1
    num_splits: 2
"""
HOSTILE_BACKEND = f"""\
from opconform_runners.backends.backend import Rejected
from opconform_runners.backends.frameworks.numpy import Numpy


class Hostile(Numpy):
    def run(self, case, model, feeds):
        raise Rejected("build", {HOSTILE!r})
"""


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    """Debian's Chromium, or the one on the path."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None or find_spec("playwright") is None or find_spec("axe_playwright_python") is None:
        pytest.skip("there is no Chromium here, or no playwright and axe-playwright-python to drive it")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=program, args=list(CHROMIUM))
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def run(opconform: Run, small_suite: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run whose backend loses the sign of zero, with its page."""
    out = tmp_path_factory.mktemp("page") / "loses"
    backend = f"{MINIATURES}:LosesNegativeZero"
    opconform("run", small_suite, "--backend", backend, "--out", out, code=1)
    opconform("report", out, "--suite", small_suite)
    return out


def opened(browser: "Browser", path: Path, *, width: int = 1280) -> "Page":
    """A page in a window of its own, whose every complaint and request is a failure."""
    page = browser.new_context(viewport={"width": width, "height": 800}).new_page()
    wrong: list[str] = []
    page.on("console", lambda x: wrong.append(x.text))
    page.on("pageerror", lambda x: wrong.append(str(x)))
    page.on("request", lambda x: wrong.append(x.url) if x.url != path.as_uri() else None)
    page.goto(path.as_uri())
    page.wait_for_function("() => document.getElementById('found').textContent !== ''")
    assert wrong == []
    return page


def open_case(page: "Page", link: "Locator") -> None:
    """Click a link to a case and wait for the case: the page hears of the new fragment after the click."""
    link.click()
    page.locator("#case h1").wait_for()


def failures(out: Path) -> list[Mapping[str, object]]:
    """The results of the cases that fail."""
    lines = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    return [line for line in lines if line.get("verdict") == "fail"]


@pytest.mark.ci_only
def test_the_first_screen_shows_backend_verdict_and_requirements(browser: "Browser", run: Path) -> None:
    """The product, the verdict, the numbers, and a bar for each requirement that has cases."""
    page = opened(browser, run / "report.html")

    assert page.locator("h1").inner_text() == f"numpy {np.__version__}"
    assert page.locator(".pill").inner_text() == "NOT CONFORMANT"
    assert page.locator(".chip").all_text_contents() == ["all 6", "pass 2", "fail 4"]
    assert page.locator(".group h3").inner_text() == "WRONG DATA VariadicSplit-1 data.bits 4 cases"
    assert page.locator(".group dd b").inner_text() == "Negative zero became positive zero"
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


def test_the_commands_of_a_failure_reproduce_it(opconform: Run, run: Path, small_suite: Path, tmp_path: Path) -> None:
    """The options that the report holds start the same backend."""
    started = json.loads((run / "report.json").read_text())["started"].split()
    result = failures(run)[0]
    opconform("run", small_suite, *started, "--select", result["id"], "--out", tmp_path / "again", code=1)

    assert [failure["mismatch"] for failure in failures(tmp_path / "again")] == [result["mismatch"]]


@pytest.fixture(scope="module")
def pages(opconform: Run, run: Path, small_suite: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """A page of each kind by name."""
    out = tmp_path_factory.mktemp("pages")
    opconform("run", small_suite, "--backend", f"{MINIATURES}:Perfect", "--out", out / "perfect")
    for name in ("interrupted", "incomplete"):
        shutil.copytree(run, out / name)
    (out / "interrupted" / "report.json").unlink()
    interrupted(run, out / "interrupted")
    report = finished(run).report
    left, missing = report.results[:-1], (report.results[-1].id,)
    interrupted(run, out / "incomplete", len(left))
    write_report(
        out / "incomplete", replace(report, results=left, findings=(), missing=missing, gave_up="The harness died.")
    )
    (out / "second.yaml").write_text(SECOND_FEED)
    backend = ("--backend", f"{MINIATURES}:AcceptsEverything", "--jobs", "1")
    opconform("certify", out / "second.yaml", *backend, "--out", out / "rejected", code=1)
    kinds = {
        "one": (run,),
        "several": (run, out / "perfect"),
        "comparison": (run, "--against", out / "perfect"),
        "interrupted": (out / "interrupted",),
        "incomplete": (out / "incomplete",),
    }
    for name, words in kinds.items():
        opconform("report", *words, "--suite", small_suite, "--html", out / f"{name}.html", code=None)
    return {name: out / f"{name}.html" for name in kinds} | {"rejected, two feeds": out / "rejected" / "report.html"}


@pytest.mark.ci_only
@pytest.mark.parametrize("kind", ["one", "several", "comparison", "interrupted", "incomplete", "rejected, two feeds"])
def test_no_rule_of_axe_is_broken(browser: "Browser", pages: Mapping[str, Path], kind: str) -> None:
    """Neither on the overview, all unfolded, nor in a case, wide or narrow, light or dark; nothing is cut off at the side."""
    from axe_playwright_python.sync_playwright import Axe

    page = opened(browser, pages[kind])
    case = page.locator("#rows a" if kind == "interrupted" else ".group .links a").first.get_attribute("href")
    for place in ("", case):
        page.evaluate("place => { location.hash = place }", place)
        page.wait_for_function("place => document.getElementById('case').hidden === !place", arg=place)
        page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
        for width, scheme in product((1280, 390), SCHEMES):
            page.set_viewport_size({"width": width, "height": 800})
            page.emulate_media(color_scheme=scheme)
            broken = [
                (violation["id"], violation["nodes"][0]["html"]) for violation in Axe().run(page).response["violations"]
            ]

            assert broken == [], (place, width, scheme)
            assert page.evaluate("document.documentElement.scrollWidth") == width
            assert page.evaluate("getComputedStyle(document.body).backgroundColor") == SCHEMES[scheme]


@pytest.mark.ci_only
def test_a_wide_tensor_scrolls_in_a_box_of_its_own(browser: "Browser", opconform: Run, tmp_path: Path) -> None:
    """What is hidden in its cells for a screen reader does not widen the page, either."""
    spec, out = tmp_path / "wide.yaml", tmp_path / "out"
    spec.write_text(WIDE_SPEC)
    opconform("generate", spec, "--out", tmp_path / "suite")
    opconform("run", tmp_path / "suite", "--backend", f"{MINIATURES}:LosesAll", "--out", out, code=1)
    opconform("report", out)
    page = opened(browser, out / "report.html", width=375)
    page.evaluate("place => { location.hash = place }", f"#case/0/{failures(out)[0]['id']}")
    page.wait_for_function("() => !document.getElementById('case').hidden")

    assert page.locator("#case .grid").first.evaluate("each => each.getBoundingClientRect().width") > 375
    assert page.evaluate("document.documentElement.scrollWidth") == 375


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
def test_a_twin_is_the_same_case_without_the_fault(browser: "Browser", run: Path, small_suite: Path) -> None:
    """It does not have the title of the invalid case, and each links to the other."""
    [rejected] = (entry for entry in open_suite(small_suite).entries if entry.twin is not None)
    page = opened(browser, run / "report.html")
    page.locator("input[name=q]").fill(f"{rejected.twin}")
    title = page.locator("#rows .what", has_text="the same case").inner_text()
    open_case(page, page.locator("#rows a"))
    page.locator("#case dd a", has_text=rejected.id).click()
    page.wait_for_function("id => document.title === id", arg=rejected.id)

    assert title.startswith("the same case without the violation (at most one -1)")
    assert page.locator("#case dl > div", has_text="The same case without the fault").locator("a").inner_text() == (
        rejected.twin
    )


@pytest.mark.ci_only
def test_without_javascript_the_failures_are_there(browser: "Browser", run: Path) -> None:
    """The list of cases and their details are not, and the page says so."""
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto((run / "report.html").as_uri())

    assert page.locator(".group dd b").inner_text() == "Negative zero became positive zero"
    assert (
        page.locator("noscript").inner_text()
        == "The list of cases and their details need JavaScript, which is in this file."
    )


@pytest.mark.ci_only
def test_the_theme_can_be_switched(browser: "Browser", run: Path) -> None:
    """From what the system says to light and to dark, by keyboard."""
    page = opened(browser, run / "report.html")
    colours = []
    page.locator("#theme").focus()
    for _ in range(2):
        page.keyboard.press("Enter")
        colours.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    assert colours == [*SCHEMES.values()]


@pytest.mark.ci_only
def test_markup_in_a_title_or_a_message_is_text(browser: "Browser", opconform: Run, tmp_path: Path) -> None:
    """A stranger's suite and a stranger's backend cannot run a script in the page."""
    (tmp_path / "hostile.yaml").write_text(HOSTILE_SPEC)
    (tmp_path / "hostile.py").write_text(HOSTILE_BACKEND)
    opconform("generate", tmp_path / "hostile.yaml", "--out", tmp_path / "out" / "suite", "--jobs", "1")
    backend = f"{tmp_path}/hostile.py:Hostile"
    opconform("run", tmp_path / "out" / "suite", "--backend", backend, "--out", tmp_path / "out", code=1)
    opconform("report", tmp_path / "out")
    page = opened(browser, tmp_path / "out" / "report.html")
    shown = [page.locator("#failures").inner_text(), page.locator("#rows").inner_text()]
    open_case(page, page.locator("#rows a"))
    shown.append(page.locator("#case").inner_text())

    assert page.evaluate("typeof window.hacked") == "undefined"
    assert [x.count(HOSTILE) for x in shown] == [1, 2, 2]
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 3


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
def test_the_faults_of_one_operation_are_chosen(
    browser: "Browser", opconform: Run, core_suite: Path, tmp_path: Path
) -> None:
    """In the index and among the cards; a link shows a card of another operation."""
    opconform("run", core_suite, "--backend", f"{MINIATURES}:RefusesEverything", "--out", tmp_path, code=1)
    opconform("report", tmp_path, "--suite", core_suite)
    page = opened(browser, tmp_path / "report.html")
    page.locator("#index-operation select").select_option("Slice-8")
    rows = page.locator("#index tbody tr:visible").all_inner_texts()
    cards = page.locator(".group:visible").count()

    assert rows
    assert all("Slice-8" in row for row in rows)
    assert cards == len(rows) < page.locator(".group").count()


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
    assert page.locator("#case .links a").all_inner_texts() == ["cases of fault 1", f"{names[1]}: pass"]


@pytest.mark.ci_only
@pytest.mark.parametrize("width", [1280, 375])
def test_no_bar_of_many_backends_sticks_out(
    browser: "Browser", opconform: Run, run: Path, small_suite: Path, tmp_path: Path, width: int
) -> None:
    """The table scrolls in its box where there is no room."""
    copies = [shutil.copytree(run, tmp_path / str(index)) for index in range(5)]
    opconform("report", *copies, "--suite", small_suite, "--html", tmp_path / "many.html")
    page = opened(browser, tmp_path / "many.html", width=width)
    cells = "[...document.querySelectorAll('.requirements td')]"

    assert page.evaluate(f"{cells}.length") == 10
    assert page.evaluate(f"{cells}.filter(each => each.scrollWidth > each.clientWidth).length") == 0
    assert page.evaluate("document.documentElement.scrollWidth") == width


SECOND_FEED = """\
op: Split-1
groups:
  - id: second-uneven
    title: a second inference that cannot be divided
    requirements: [num_splits.divides]
    data: {shape: [6, 3]}
    dynamic: ["?", 3]
    axis: 0
    num_splits: 3
    feed: {data: {shape: [7, 3]}}
    expect: {reject: num_splits.divides}
    twin: {feed: {data: {shape: [9, 3]}}}
"""


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
        "Feed 1: a further inference on the model already built, where the fault is",
        "Feed 0: the first inference",
    ]
    assert page.locator("#case caption").all_text_contents() == [
        "Actual: output_0 f32[7, 3]", "data f32[7, 3]", "Actual: output_0 f32[6, 3]", "data f32[6, 3]"
    ]  # fmt: skip


def test_certify_writes_the_page(opconform: Run, small_spec: Path, tmp_path: Path) -> None:
    """It is written beside the results, and does not replace a file that is not a page."""
    arguments = ("certify", small_spec, "--backend", "numpy", "--jobs", "1", "--out", tmp_path)
    done = opconform(*arguments)

    assert done.stdout.splitlines()[-1] == f"HTML report: {tmp_path}/report.html"
    assert "conformant</span>" in (tmp_path / "report.html").read_text()
    (tmp_path / "report.html").write_text("<p>mine</p>")
    refused = opconform(*arguments, code=2)
    assert refused.stderr.splitlines()[-1] == (
        f"error: opconform did not write {tmp_path}/report.html and does not overwrite it. Name another file."
    )


def test_a_report_that_was_changed_is_refused(opconform: Run, run: Path, tmp_path: Path) -> None:
    """Whatever a report says in sum follows from the results."""
    out = tmp_path / "out"
    for old, new in (('"conformant": false', '"conformant": true'), ('"broken": true', '"broken": false')):
        shutil.copytree(run, out, dirs_exist_ok=True)
        (out / "report.json").write_text((out / "report.json").read_text().replace(old, new, 1))
        done = opconform("report", out, code=1)

        assert done.stderr == (
            f"error: {out}/report.json does not match {out}/results.jsonl: it was changed, or is of another run. "
            "Repeat the run.\n"
        )


@pytest.mark.ci_only
def test_a_run_without_its_suite_says_so(
    browser: "Browser", opconform: Run, run: Path, small_suite: Path, tmp_path: Path
) -> None:
    """On the command line and in the page; a suite beside another of the runs is found; a dead link is reported."""
    alone, beside = shutil.copytree(run, tmp_path / "alone"), shutil.copytree(run, tmp_path / "beside")
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


def test_runs_on_different_suites_are_not_compared(opconform: Run, run: Path, tmp_path: Path) -> None:
    """Their cases differ, and so would every number."""
    (tmp_path / "other.yaml").write_text(whole(HOSTILE_SPEC))
    opconform("certify", tmp_path / "other.yaml", "--backend", "numpy", "--jobs", "1", "--out", tmp_path / "other")
    done = opconform("report", run, tmp_path / "other", code=2)

    assert done.stderr.startswith(f"error: Runs on different suites cannot be compared: {run} on ")
    assert done.stderr.endswith("; use `certify` with several backends to run them on one suite.\n")


def test_a_report_is_compared_with_an_older_run(opconform: Run, run: Path, small_suite: Path, tmp_path: Path) -> None:
    """Only the report of one run is."""
    opconform("run", small_suite, "--backend", f"{MINIATURES}:Perfect", "--out", tmp_path / "old")
    opconform("report", run, "--against", tmp_path / "old", "--html", tmp_path / "page.html")
    refused = opconform("report", run, run, "--against", tmp_path / "old", code=2)

    assert "<b>4</b> new failures</a>" in (tmp_path / "page.html").read_text()
    assert refused.stderr == (
        "error: Only a report of one run can be compared with older runs. Name one run, and use --against OLD.\n"
    )


def test_kept_outputs_are_read_back_bit_for_bit(tmp_path: Path) -> None:
    """By feed and number; a case without outputs has none."""
    nan = np.array([0x7FC00001, 0x80000000], np.uint32).view(np.float32)
    writer = OutputsWriter(tmp_path / "outputs.zip", None)
    writer.write("Split-1/a/0000000000/outputs.npz", npz_bytes({"output_0": nan}))
    writer.write("Split-1/a/0000000000/outputs.1.npz", npz_bytes({"output_0": nan[:1]}))
    writer.close()
    kept = KeptOutputs(tmp_path)
    back = kept.outputs("Split-1/a/0000000000")

    assert {place: x.tobytes() for place, x in back.items()} == {(0, 0): nan.tobytes(), (1, 0): nan[:1].tobytes()}
    assert kept.outputs("Split-1/a/0000000001") == {}


def test_elements_that_differ_are_different_texts() -> None:
    """Six digits do not show what is lost in a conversion to 32 bits; other elements keep them."""
    want = np.array([0.1, 0.2, 1 / 3])
    got = np.array([np.float32(0.1), 0.2, 1 / 3])
    actual, expected = (excerpt_of("x", a, "f64", marks=Marks(other=b)).rows for a, b in ((got, want), (want, got)))

    assert actual == (("0.10000000149011612", "0.2", "0.333333"),)
    assert expected == (("0.10000000000000001", "0.2", "0.333333"),)


def test_an_excerpt_moves_to_what_differs() -> None:
    """Of a large tensor the matrix and the part of it around the first difference are shown."""
    want = np.arange(2 * 40 * 50, dtype=np.int32).reshape(2, 40, 50)
    got = want.copy()
    got[1, 30, 20] = -1
    highlight = Highlight(tensor="x", axis=1, names=("a", "b"), sizes=(31, 9))
    excerpt = excerpt_of("x", got, "i32", highlight=highlight, marks=Marks(other=want, at=(1, 30, 20)))
    row, column = excerpt.first or (-1, -1)

    assert excerpt.where == "[1, :, :]"
    assert (excerpt.at[0] + row, excerpt.at[1] + column) == (30, 20)
    assert excerpt.rows[row][column] == "-1"
    assert excerpt.marked == ((row, column, "0xffffffff"),)
    assert excerpt.outputs == tuple("a" if number < 31 else "b" for number in range(excerpt.at[0], excerpt.at[0] + 10))
