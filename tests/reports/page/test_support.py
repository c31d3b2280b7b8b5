"""The map of support in a browser: in the page of runs, and as a page of its own."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from opconform_runners.cli.shared.steps import subjects_of_runs
from opconform_runners.reports.html.page import support_page
from opconform_runners.reports.report_file import finished
from tests.conftest import MINIATURES, Run

if TYPE_CHECKING:
    from playwright.sync_api import Browser
from tests.reports.page.browser import opened


@pytest.fixture(scope="module")
def alone(run: Path, opconform: Run, small_suite: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the map of three backends, one of which refuses everything."""
    out = tmp_path_factory.mktemp("support")
    for name in ("Perfect", "RefusesEverything"):
        opconform("run", small_suite, "--backend", f"{MINIATURES}:{name}", "--out", out / name, code=None)
    runs = [finished(folder) for folder in (run, out / "Perfect", out / "RefusesEverything")]
    (out / "map.html").write_text(support_page(subjects_of_runs(runs, small_suite)), encoding="utf-8")
    return out / "map.html"


@pytest.mark.ci_only
def test_a_cell_leads_to_its_cases(browser: "Browser", alone: Path) -> None:
    """A mark to those of its backend, as the filters then show; by keyboard to those of all backends."""
    page = opened(browser, alone)
    states = page.locator("#map td").nth(1).locator(".state")

    assert states.all_text_contents() == ["✗", "✓", "⊘"]
    states.nth(2).click()
    page.locator("#found", has_text="5 of 18 cases").wait_for()
    assert page.locator("select[name=backend]").input_value() == "2"
    page.locator("#map td a").nth(1).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.locator("#found", has_text="15 of 18 cases").wait_for()
    assert page.locator("#facets select[name=type]:visible").input_value() == "f32"
    assert page.locator("select[name=backend]").input_value() == ""


@pytest.mark.ci_only
def test_one_backend_has_counts_and_each_facet_a_table(browser: "Browser", alone: Path) -> None:
    """The columns and rows say how many cases there are."""
    page = opened(browser, alone)
    page.locator("#map-backend").select_option("0")
    page.locator("#map-facet").select_option("binding")

    assert page.locator("#map thead th").all_inner_texts() == ["all", "constant 5"]
    assert page.locator("#map tbody th").all_inner_texts() == ["VariadicSplit-1 5"]
    assert page.locator("#map .state").all_inner_texts() == ["✗ 4", "✗ 4"]
    assert page.locator("#map td a").first.get_attribute("title") == "VariadicSplit-1\nwrong (1 right, 4 wrong)"


@pytest.mark.ci_only
def test_the_map_is_folded_below_the_findings(browser: "Browser", run: Path) -> None:
    """A link opens it; a page that is printed has the table of every facet."""
    page = opened(browser, run / "report.html")
    before = page.locator("#map table").count()
    page.locator("nav a", has_text="Support").click()
    page.locator("#map table").wait_for()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")

    assert before == 0
    assert page.locator("#map caption").all_text_contents() == [
        "Element type", "Rank", "Setting inputs", "Shapes", "Context"
    ]  # fmt: skip
    assert page.locator("#support .totals li").all_inner_texts() == [f"numpy {np.__version__}: 1 right, 4 wrong"]
