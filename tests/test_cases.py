"""The shipped cases: every requirement has evidence, and no two groups exist for the same reason."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from opconform.generation.expansion import expand
from opconform.generation.options import LIMITS
from opconform.model.draft import Draft
from opconform.operations import OPERATIONS as DECLARED
from opconform.specs.group import Group
from opconform.specs.loader import load_specs, shipped_operations
from opconform.specs.requirements import requirements_of
from opconform.suite.manifest import expected_name, inputs_name
from opconform.suite.reader import open_suite
from opconform.suite.selection.selection import EXHAUSTIVE
from opconform.suite.verification import problems_of
from opconform_runners.findings.causes.facts import facts_of
from tests.conftest import ROOT, Run
from tests.mutants.kills import CORE
from tests.sampling import WHOLE

OPERATIONS = shipped_operations()


#: Profiles with too many cases to look at all of them.
TOO_MANY = (EXHAUSTIVE, "functional")


@cache
def groups() -> list[Group]:
    """The shipped groups of the other profiles."""
    return [group for spec in load_specs([]) for group in spec.groups if group.settings.profile not in TOO_MANY]


@cache
def expanded() -> list[tuple[Group, list[Draft]]]:
    """These groups and their drafts; before a release all of them, else those of the core."""
    limits = replace(LIMITS, elements=1 << 31)
    chosen = [group for group in groups() if WHOLE or group.settings.profile == CORE]
    return [(group, list(expand(group, limits=limits))) for group in chosen]


@pytest.mark.ci_only
@pytest.mark.campaign
def test_every_requirement_has_its_cases() -> None:
    """Each requirement has a valid case, and a rejected one with its twin where it can be violated."""
    drafts = [x for _, made in expanded() for x in made]
    accepted = {(draft.op, name) for draft in drafts if draft.twin is None for name in draft.requirements}
    rejected = {(draft.op, draft.rejected_for) for draft in drafts if draft.rejected_for is not None}

    for op in OPERATIONS:
        for requirement in requirements_of(op).requirements:
            assert (op, requirement.id) in accepted
            assert ((op, requirement.id) in rejected) == requirement.violable
    assert all(draft.twin is not None for draft in drafts if draft.rejected_for is not None)
    assert all(draft.requirements for draft in drafts)


@pytest.mark.ci_only
def test_no_two_groups_test_the_same_thing() -> None:
    """But for the groups of every operation, which overlap."""
    written: dict[str, set[str]] = {}
    for group, drafts in expanded():
        origin = "every operation" if group.samples is not None else group.id
        for draft in drafts:
            if not draft.is_twin:
                written.setdefault(f"{draft.op} {draft.digits}", set()).add(origin)

    assert {case: origins for case, origins in written.items() if len(origins) > 1} == {}


@pytest.mark.ci_only
def test_the_core_has_evidence_for_every_normative_requirement(core_suite: Path) -> None:
    """A case that accepts, and one that rejects where it can be violated."""
    entries = open_suite(core_suite).entries
    for op in OPERATIONS:
        mine = [entry for entry in entries if entry.op == op]
        accepted = {name for x in mine if x.expect == "accept" for name in x.requirements}
        rejected = {x.expect.reject for x in mine if x.expect != "accept"}
        for requirement in requirements_of(op).requirements:
            if requirement.level == "normative":
                assert requirement.id in accepted, (op, requirement.id)
                assert not requirement.violable or requirement.id in rejected, (op, requirement.id)


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
def test_an_interpretation_decides_about_nothing_else() -> None:
    """A case that is right by a reading alone names, beside it, only what the outputs must be once it is accepted.

    A reading of NaN payloads or of rounded digits decides about these elements alone, and not about the others.
    """
    for group, drafts in expanded():
        found = requirements_of(group.op)
        readings = {
            requirement
            for requirement in group.settings.requirements
            if found.by_id[requirement].level == "interpretation"
        }
        if readings - {name for part in ("nan-payload", "rounding") for name in found.establishes.get(part, ())}:
            others = set(group.settings.requirements) - readings
            assert others <= {"outputs.count", "outputs.element-type", "outputs.order", "outputs.shape"}, group.place
            assert not others or all(draft.rejected_for is None for draft in drafts), group.place


@pytest.mark.ci_only
def test_random_bits_of_floats_ask_for_their_nans() -> None:
    """A backend that changes a NaN's payload breaks that requirement and no other, so the case has to name it."""
    floats = {"bf16", "f16", "f32", "f64", "f8e4m3", "f8e5m2"}
    for group, drafts in expanded():
        if group.settings.profile == "large":
            continue
        for draft in drafts:
            tensors = [one for name, one in draft.tensors.items() if draft.operation.port_of(name).role == "data"]
            if any(one.element_type in floats and one.fill in ("bits", "special") for one in tensors):
                assert {*requirements_of(group.op).establishes.get("nan-payload", ())} <= {*draft.requirements}, (
                    group.place
                )


@pytest.mark.ci_only
def test_the_core_is_not_random_and_no_title_is_repeated() -> None:
    """No group of `core` has random cases, and no two groups of an operation exist for the same reason."""
    titles = [(group.op, group.settings.title) for group in groups()]

    assert all(group.settings.random is None for group in groups() if group.settings.profile == "core")
    assert len(titles) == len(set(titles))


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
def test_every_operation_has_exhaustive_cases() -> None:
    """In a file of their own, which the profile is found by."""
    shipped = [(spec, group) for spec in load_specs([]) for group in spec.groups]
    exhaustive = {spec.file for spec, group in shipped if group.settings.profile == EXHAUSTIVE}

    assert exhaustive == {f"cases/{op}/exhaustive.yaml" for op in OPERATIONS}
    assert all(group.settings.profile == EXHAUSTIVE for spec, group in shipped if spec.file in exhaustive)


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
