"""The history of a product as a document, as tables, and as a page."""

import io
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from opconform_runners.findings.history import History, Release, Trials
from opconform_runners.reports.history import (
    bisection_document,
    bisection_lines,
    history_document,
    history_view,
    repeats_in,
    repeats_sentence,
)
from opconform_runners.reports.html.history import history_page
from tests.findings.test_history import FIRST, SECOND, history
from tests.reports.page.specs import HOSTILE

if TYPE_CHECKING:
    from playwright.sync_api import Browser

from tests.reports.page.conftest import browser  # noqa: F401 - a fixture


@pytest.fixture(scope="module")
def some() -> History:
    """Two cases in three releases, one of which crashes, and a release that could not be installed."""
    found = history({FIRST: "pass crash crash", SECOND: "fail unsupported pass"}, {"1": Trials(passed=3)})
    return replace(found, releases=(*found.releases, Release(version="4", why=f"nothing fits {HOSTILE}")))


def printed(found: History) -> str:
    """What the terminal shows."""
    console = Console(width=160, record=True, file=io.StringIO())
    for item in history_view(found):
        console.print(item)
    return console.export_text()


def test_the_document_has_releases_findings_and_cases(some: History) -> None:
    """With how often an unsteady case was executed."""
    document = history_document(some)

    assert [(x["version"], x["new"], x["mended"]) for x in document["releases"]] == [
        ("1", 0, 0),
        ("2", 1, 0),
        ("3", 0, 1),
        ("4", 0, 0),
    ]
    assert document["releases"][3]["summary"] is None
    assert document["cases"][FIRST] == {
        "intervals": [{"last_good": "1", "first_bad": "2", "last_bad": "3", "first_good": None, "fails_now": True}],
        "states": {"1": "good", "2": "bad", "3": "bad"},
        "trials": {
            "1": {"failed": 0, "passed": 4, "neither": 0},
            "2": {"failed": 2, "passed": 0, "neither": 0},
            "3": {"failed": 2, "passed": 0, "neither": 0},
        },
    }
    assert document["findings"][1] == {
        "severity": "wrong data",
        "requirements": "Split-1 axis.range",
        "condition": "",
        "cause": "",
        "last_good": None,
        "first_bad": "1",
        "last_bad": "1",
        "first_good": "3",
        "fails_now": False,
        "cases": [SECOND],
        "failing": {"1": [1, 1], "2": [0, 0], "3": [0, 1]},
    }


def test_the_repetitions_are_read_again(some: History, tmp_path: Path) -> None:
    """Unless they are of another suite, or the file is not a history."""
    file, suite = tmp_path / "history.json", "0" * 64
    file.write_text(json.dumps(history_document(some)))

    assert repeats_in(file, suite) == some.repeats
    assert repeats_in(file, "1" * 64) == {}
    for text in ("", "[]", "{}", '{"format": 1, "suite": "' + suite + '", "repeats": {"a": {"1": {"failed": "x"}}}}'):
        file.write_text(text)
        assert repeats_in(file, suite) == {}
    assert repeats_in(tmp_path / "missing", suite) == {}


def test_the_tables_have_a_row_per_release_and_per_finding(some: History) -> None:
    """A release that was not run says why."""
    text = printed(some)

    assert re.search(r"^2 +0 +1 +1 +0 +0 +1 *$", text, re.MULTILINE)
    assert re.search(r"^4 +nothing fits", text, re.MULTILINE)
    assert "1 finding in 3, 1 that ended before:" in text
    assert re.search(rf"^1 +2 +crash +1 +Split-1 axis.range +{FIRST}$", text, re.MULTILINE)
    assert re.search(rf"^ +1 +3 +wrong data +1 +Split-1 axis.range +{SECOND}$", text, re.MULTILINE)
    assert repeats_sentence(some).startswith("Cases that crash, hang")


def test_without_failures_the_tables_say_so() -> None:
    """And nothing was repeated."""
    assert printed(history({FIRST: "pass pass"})).rstrip().endswith("No case fails.")


TOLD = {"1": Trials(passed=7), "2": Trials(neither=1), "3": Trials(failed=2)}


@pytest.mark.parametrize(
    ("told", "change", "lines"),
    [
        (
            TOLD,
            ("1", "3"),
            [
                "a/b/c: last good 1, first bad 3 (3 of 4 releases asked)",
                "Neither passed nor failed between them: 2",
                "1 passed it 7 times; releases that fail it failed 2 of 2 executions.",
                "The odds that 1 passes by chance are 0.8%.",
            ],
        ),
        (
            {"1": Trials(failed=2), "2": Trials(passed=1)},
            ("1", "2"),
            ["a/b/c: last bad 1, first good 2 (2 of 4 releases asked)"],
        ),
        (
            {"1": Trials(failed=2), "4": Trials(failed=2)},
            None,
            ["a/b/c: no change found; it fails in 1, 4 (2 of 4 releases asked)"],
        ),
        (
            {"4": Trials(neither=1)},
            None,
            [
                "a/b/c: no change found; it is neither passed nor failed by any release that was asked (1 of 4 releases asked)"
            ],
        ),
    ],
)
def test_a_bisection_says_what_it_found(
    told: Mapping[str, Trials], change: tuple[str, str] | None, lines: list[str]
) -> None:
    """And how sure that is."""
    assert [*bisection_lines("a/b/c", ["1", "2", "3", "4"], told, change)] == lines


def test_the_document_of_a_bisection_has_the_executions() -> None:
    """Of each release that was asked, in their order."""
    document = bisection_document("a/b/c", ["1", "2", "3", "4"], TOLD, ("1", "3"))

    assert document == {
        "format": 1,
        "case": "a/b/c",
        "last_good": "1",
        "first_bad": "3",
        "releases": 4,
        "asked": {
            "1": {"failed": 0, "passed": 7, "neither": 0},
            "2": {"failed": 0, "passed": 0, "neither": 1},
            "3": {"failed": 2, "passed": 0, "neither": 0},
        },
    }


def test_the_page_needs_no_script_and_escapes_what_strangers_wrote(some: History) -> None:
    """Its style is the only thing that its content security policy allows."""
    page = history_page(some)

    assert "default-src 'none'; style-src 'sha256-" in page
    assert "<script" not in page
    assert HOSTILE not in page
    assert "since 2 (last good 1)" in page
    assert '<td class="bad">1</td>' in page


@pytest.mark.ci_only
@pytest.mark.parametrize("unfolded", [False, True])
def test_no_rule_of_axe_is_broken(
    request: pytest.FixtureRequest, some: History, tmp_path: Path, unfolded: bool
) -> None:
    """Wide or narrow, light or dark; nothing is cut off at the side."""
    from axe_playwright_python.sync_playwright import Axe

    started: Browser = request.getfixturevalue("browser")
    (tmp_path / "history.html").write_text(history_page(some))
    page = started.new_context().new_page()
    page.goto((tmp_path / "history.html").as_uri())
    if unfolded:
        page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    for width, scheme in product((1280, 390), ("light", "dark")):
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]

        assert [x["id"] for x in Axe().run(page).response["violations"]] == []
        assert page.evaluate("document.documentElement.scrollWidth") == width
