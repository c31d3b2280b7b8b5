"""A browser, and a run with its page."""

import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conftest import MINIATURES, Run

if TYPE_CHECKING:
    from playwright.sync_api import Browser


CHROMIUM = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")


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


@pytest.fixture(scope="module")
def many_findings(opconform: Run, few_core: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of nine operations whose backend refuses everything, with its page."""
    out = tmp_path_factory.mktemp("page") / "refuses"
    opconform("run", few_core, "--backend", f"{MINIATURES}:RefusesEverything", "--out", out, code=1)
    opconform("report", out, "--suite", few_core)
    return out
