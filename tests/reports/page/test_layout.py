"""The look of the page: accessibility, themes, widths, and what strangers wrote in it."""

import shutil
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from opconform_runners.cli.shared.steps import subjects_of_runs
from opconform_runners.reports.html.page import support_page
from opconform_runners.reports.report_file import finished, write_report
from tests.conftest import MINIATURES, Run, interrupted

if TYPE_CHECKING:
    from playwright.sync_api import Browser
from tests.reports.page.browser import failures, open_case, opened
from tests.reports.page.specs import HOSTILE, HOSTILE_SPEC, SECOND_FEED

#: The colour of the page in each of the system's themes.
SCHEMES: Mapping[Literal["light", "dark"], str] = {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 22, 26)"}


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
from opconform_runners.backends.numpy.backend import Numpy


class Hostile(Numpy):
    def run(self, case, model, feeds):
        raise Rejected("build", {HOSTILE!r})
"""


@pytest.fixture(scope="module")
def pages(
    opconform: Run, run: Path, few_core: Path, small_suite: Path, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, Path]:
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
    selected = ("--backend", f"{MINIATURES}:RefusesEverything", "--select", "Split-1", "--select", "VariadicSplit-1")
    opconform("run", few_core, *selected, "--out", out / "refused", code=1)
    opconform("report", out / "refused", "--suite", few_core)
    kinds = {
        "one": (run,),
        "several": (run, out / "perfect"),
        "comparison": (run, "--against", out / "perfect"),
        "interrupted": (out / "interrupted",),
        "incomplete": (out / "incomplete",),
    }
    for name, words in kinds.items():
        opconform("report", *words, "--suite", small_suite, "--html", out / f"{name}.html", code=None)
    runs = [finished(folder) for folder in (run, out / "perfect")]
    (out / "support.html").write_text(support_page(subjects_of_runs(runs, small_suite)), encoding="utf-8")
    return {name: out / f"{name}.html" for name in (*kinds, "support")} | {
        "rejected, two feeds": out / "rejected" / "report.html",
        "many findings": out / "refused" / "report.html",
    }


@pytest.mark.ci_only
@pytest.mark.parametrize(
    "kind",
    ["one", "several", "comparison", "interrupted", "incomplete", "rejected, two feeds", "many findings", "support"],
)
def test_no_rule_of_axe_is_broken(browser: "Browser", pages: Mapping[str, Path], kind: str) -> None:
    """Neither on the overview, all unfolded, nor in a case, wide or narrow, light or dark; nothing is cut off at the side."""
    from axe_playwright_python.sync_playwright import Axe

    page = opened(browser, pages[kind])
    case = page.locator(
        "#rows a" if kind in ("interrupted", "many findings", "support") else ".group .links a"
    ).first.get_attribute("href")
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
def test_without_javascript_the_failures_are_there(browser: "Browser", run: Path) -> None:
    """The list of cases, their details and the map are not, and the page says so."""
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto((run / "report.html").as_uri())

    assert page.locator(".group dd b").all_inner_texts() == [
        "Negative zero became positive zero",
        "valid cases (4 of 4 decided cases of VariadicSplit-1/accepted)",
    ]
    assert page.locator("noscript").all_text_contents() == [
        "The map needs JavaScript, which is in this file.",
        "The list of cases and their details need JavaScript, which is in this file.",
    ]


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
    assert [x.count(HOSTILE) for x in shown] == [2, 2, 3]
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 3


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
