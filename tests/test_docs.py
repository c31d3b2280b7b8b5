"""The documents name cases, groups and requirements that are there."""

import re
from pathlib import Path

import pytest

from opconform.explanation.case_list import one_case
from opconform.suite.reader import open_suite
from tests.conftest import ROOT, Run
from tests.interpretations import PAGE, interpretations_page


def test_the_page_on_interpretations_is_up_to_date() -> None:
    """It is what `python -m tests.interpretations` writes."""
    assert interpretations_page() == PAGE.read_text()


@pytest.mark.ci_only
def test_every_finding_names_a_case_and_what_it_breaks(shipped_suite: Path) -> None:
    """The cases of `docs/findings` are in the specs, and test the requirements that they are said to break."""
    suite = open_suite(shipped_suite).by_id
    pages = sorted((ROOT / "docs" / "findings").glob("*[0-9].md"))  # one per version of a backend

    assert pages
    for page in pages:
        rows = [line.split(" | ") for line in page.read_text().splitlines() if re.match(r"\| \d+ \|", line)]
        assert rows, page
        for row in rows:
            requirements, ids = re.findall(r"`([a-z_.-]+)`", row[1]), re.findall(r"`([^`]+)`", row[2])
            for case in (*ids, *re.findall(r"`(\w+-\d+/[a-z0-9-]+/[0-9a-f]{10})`", " ".join(row[3:]))):
                assert case in suite or one_case(case).case.id == case, (page.name, row[0], case)
            first = suite.get(ids[0]) or one_case(ids[0]).case  # a case of the profile `exhaustive` is in no suite
            assert set(requirements) <= set(first.requirements), (page.name, row[0])


def test_the_examples_of_the_core_are_up_to_date(opconform: Run, tmp_path: Path) -> None:
    """Its number of cases, and the beginning of the digest of the suite in its default dialect."""
    opconform("generate", "--profile", "core", "--out", tmp_path / "suite", "--jobs", "1")
    suite = open_suite(tmp_path / "suite")

    for page in ("certificates.md", "suite.md"):
        text = (ROOT / "docs" / page).read_text()
        assert f"{len(suite.entries):,} cases" in text
        assert f"{suite.header.digest[:16]}…" in text
