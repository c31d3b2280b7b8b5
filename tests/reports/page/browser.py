"""The page in a browser, and the failures that it shows."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page


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
