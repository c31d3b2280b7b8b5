"""What holds of all shipped cases together; `tests/tools/test_house.py` has the rules of each operation."""

import json
from pathlib import Path

import pytest

from opconform.operations import OPERATIONS as DECLARED
from opconform.specs.loader import shipped_operations
from opconform.specs.requirements import requirements_of
from opconform.suite.manifest import expected_name, inputs_name
from opconform.suite.reader import open_suite
from opconform.suite.verification import problems_of
from opconform_runners.findings.causes.facts import facts_of
from tests.conftest import ROOT, Run

OPERATIONS = shipped_operations()


def test_list_shows_the_cases_and_the_source_of_each_requirement(opconform: Run) -> None:
    """Each has accepting cases, and rejecting ones where it can be violated."""
    specs = [path for path in (ROOT / "cases" / "Split-1").glob("*.yaml") if path.name != "requirements.yaml"]
    rows = json.loads(opconform("list", "--requirements", "--json", *specs).stdout)

    assert len(rows) == len(requirements_of("Split-1").requirements)
    for item in rows:
        assert item["accepting"] > 0, item
        assert item["rejecting"] != 0, item
        assert item["source"], item
    assert "Inputs, 2; Types, T2 (2020-07); Inputs, 2; Types, T_AXIS (rst)" in {row["source"] for row in rows}


@pytest.mark.ci_only
@pytest.mark.campaign
@pytest.mark.timeout(3600)
def test_a_sample_of_the_exhaustive_cases_is_sound(exhaustive_sample: Path) -> None:
    """Every operation has valid cases, each that moves data has invalid ones, and none lacks a requirement or a twin."""
    suite = open_suite(exhaustive_sample)
    ops = {entry.op for entry in suite.entries if entry.expect == "accept"}
    violated = {entry.op for entry in suite.entries if entry.expect != "accept"}

    assert list(problems_of(exhaustive_sample)) == []
    assert ops == {*OPERATIONS}
    assert {op for op in ops - violated if DECLARED[op].moves_data} == set()
    assert all(entry.twin is not None for entry in suite.entries if entry.expect != "accept")
    assert all(entry.requirements for entry in suite.entries)


@pytest.mark.ci_only
@pytest.mark.timeout(3600)
def test_the_facts_of_every_case_of_the_core_can_be_decided(core_suite: Path) -> None:
    """A run names conditions of its failures, and any case can fail, also an invalid one."""
    suite = open_suite(core_suite)
    for entry in suite.entries:
        case = suite.case(entry)
        feeds = [suite.arrays(entry, inputs_name(feed)) for feed in range(case.feeds)]
        names = [name for name in map(expected_name, range(case.feeds)) if name in entry.files]

        assert facts_of(case, feeds, [suite.arrays(entry, name) for name in names]), entry.id
