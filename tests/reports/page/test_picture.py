"""The pictures of a report in the documents."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from maintenance.picture import HEIGHT, PAGE, PICTURES, ROOT, WIDTH, draw

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def size(path: Path) -> tuple[int, int]:
    """The width and the height of a PNG."""
    head = path.read_bytes()[:24]
    assert head.startswith(b"\x89PNG")
    return int.from_bytes(head[16:20]), int.from_bytes(head[20:24])


def test_the_pictures_of_the_documents_are_first_screens() -> None:
    """Each has the size of the window, and the script starts from the folder of README's command."""
    [backend] = re.findall(r"opconform certify (\w+) --profile core", (ROOT / "README.md").read_text())

    assert PAGE.parent == ROOT / "opconform-out" / backend
    assert [size(ROOT / "docs" / name) for name in PICTURES.values()] == [(WIDTH, HEIGHT)] * 2


@pytest.mark.ci_only
def test_a_page_is_drawn_in_both_themes(browser: "Browser", run: Path, tmp_path: Path) -> None:
    """The pictures differ."""
    draw(browser, run / "report.html", tmp_path)
    light, dark = (tmp_path / name for name in PICTURES.values())

    assert size(light) == size(dark) == (WIDTH, HEIGHT)
    assert light.read_bytes() != dark.read_bytes()
