"""The documents name cases, groups and requirements that are there."""

import re
from pathlib import Path

import pytest

from opconform.specs.loader import load_specs
from opconform.specs.requirements import requirements_of
from opconform.suite.reader import open_suite
from tests.conftest import ROOT

OPERATIONS = ("Split-1", "VariadicSplit-1")


def test_every_interpretation_is_written_up_with_its_cases() -> None:
    """Each requirement of that level stands in `docs/interpretations.md`, and each group named there is there."""
    page = (ROOT / "docs" / "interpretations.md").read_text()
    groups = {group.id for spec in load_specs([]) for group in spec.groups}
    named = [each for line in re.findall(r"\*Cases\*:([^.]*)", page) for each in re.findall(r"`([^`]+)`", line)]

    for op in OPERATIONS:
        for each in requirements_of(op).requirements:
            assert each.level == "normative" or f"(`{each.id}`" in page, each.id
    assert len(named) > 20
    assert set(named) <= groups


@pytest.mark.ci_only
def test_every_finding_names_a_case_and_what_it_breaks(shipped_suite: Path) -> None:
    """The cases of `docs/findings` are in the suites, and test the requirements that they are said to break."""
    cases = open_suite(shipped_suite).by_id
    pages = sorted((ROOT / "docs" / "findings").glob("*[0-9].md"))  # one per version of a backend

    assert pages
    for page in pages:
        rows = [line.split(" | ") for line in page.read_text().splitlines() if re.match(r"\| \d+ \|", line)]
        assert rows, page
        for row in rows:
            requirements, ids = re.findall(r"`([a-z_.-]+)`", row[1]), re.findall(r"`([^`]+)`", row[2])
            for case in (*ids, *re.findall(r"`(\w+-\d+/[a-z0-9-]+/[0-9a-f]{10})`", " ".join(row[3:]))):
                assert case in cases, (page.name, row[0], case)
            assert set(requirements) <= set(cases[ids[0]].requirements), (page.name, row[0])
