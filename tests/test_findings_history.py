"""The dates of the findings in the products' folders."""

from typing import Any

import pytest
from maintenance.findings import FILES
from maintenance.history import dates, filled

CASE = "Split-1/axis/0123456789"

TEXT = """\
# What is said of the product stays.
product: some
findings:
  - number: 1  # a comment
    requirement: [axis.range]
    case: Split-1/axis/0123456789
    first: "1.0"
    last: "2.0"
    observed: >-
      Two lines,

      and a paragraph: first: 1
  - number: 2
    requirement: [axis.range]
    case: Split-1/axis/9876543210
    observed: x
"""


def document(**interval: Any) -> Any:
    """A history with an interval of the case."""
    states = {"1.0": "bad", "2.0": "bad", "3.0": "good"}
    plain = {"last_good": None, "first_bad": "2.0", "last_bad": "2.0", "first_good": None, "fails_now": False}
    return {"product": "some", "cases": {CASE: {"intervals": [plain | interval], "states": states}}}


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        ({"first_bad": "1.0"}, {"first": "1.0 or earlier", "last": "2.0"}),
        ({"last_good": "1.0"}, {"first": "2.0", "last": "2.0"}),
        ({"fails_now": True}, {"first": "2.0"}),
    ],
)
def test_a_finding_has_the_dates_of_its_case(interval: Any, expected: dict[str, str]) -> None:
    """A finding that the newest release has is given no last one."""
    assert dates(document(**interval), CASE, "2.0") == expected
    assert dates(document(**interval), "Split-1/axis/9876543210", "2.0") is None


def test_a_finding_that_did_not_show_in_its_release_is_not_dated() -> None:
    """It is one that varies."""
    assert dates(document(), CASE, "3.0") is None


def test_only_the_dates_of_a_file_change() -> None:
    """Comments, paragraphs and findings that the history does not have stay as they are."""
    changed = filled(TEXT, document(fails_now=True), "2.0")

    assert changed == TEXT.replace('    first: "1.0"\n    last: "2.0"\n', '    first: "2.0"\n')


@pytest.mark.parametrize("path", FILES.values(), ids=FILES)
def test_the_files_keep_their_layout(path: object) -> None:
    """A history without their cases changes nothing, and one with the first case adds one line to its block."""
    text = path.read_text()  # type: ignore[attr-defined]
    case = next(line.split()[1] for line in text.splitlines() if line.startswith("    case: "))
    known = document(fails_now=True)
    changed = filled(text, known | {"cases": {case: known["cases"][CASE]}}, "2.0")

    assert filled(text, document(), "2.0") == text
    assert [line for line in changed.splitlines() if line not in text.splitlines()] in ([], ['    first: "2.0"'])
