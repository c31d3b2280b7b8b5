"""The pictures of a report in the documents: `python -m maintenance.picture`, after the first command of README."""

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parents[1]
#: The page that the command leaves.
PAGE = ROOT / "opconform-out" / "openvino" / "report.html"
#: The pictures by the theme of the system.
PICTURES: dict[Literal["light", "dark"], str] = {"light": "report.png", "dark": "report-dark.png"}
WIDTH, HEIGHT = 1280, 800


def draw(browser: "Browser", page: Path, folder: Path) -> None:
    """Write the first screen of a page in both themes to a folder."""
    for scheme, name in PICTURES.items():
        with browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme) as context:
            window = context.new_page()
            window.goto(page.absolute().as_uri())
            window.wait_for_function("() => document.getElementById('found').textContent !== ''")
            window.screenshot(path=folder / name)


if __name__ == "__main__":
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=shutil.which("chromium"))
        draw(chromium, Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE, ROOT / "docs")
        chromium.close()
