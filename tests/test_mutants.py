"""The catalogue of faulty implementations: the suites catch all of them, and nothing of the core can be left out."""

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from opconform.drafts import Acceptance
from opconform.expanding import expand
from opconform.kills import kills_text, shipped_kills, suite_of
from opconform.loading import load_specs
from opconform.requirements import requirements_of
from opconform_runners.mutants.catalogue import CLASSES, FOUND, mutants
from opconform_runners.mutants.variants import VARIANTS
from tests.conftest import Run, missing

OPERATIONS = ("Split-1", "VariadicSplit-1")


#: Names what `opconform mutants --json` printed of all mutants, which takes minutes; CI makes it and then runs these tests.
PRINTED = "OPCONFORM_MUTANTS"
#: Every so many mutants one is run wherever the tests are.
STEP = 16


@pytest.fixture(scope="module")
def core() -> dict[str, Any]:
    """What the suites find in every mutant and every right variant."""
    place = os.environ.get(PRINTED) or missing(f"{PRINTED} names no file that `opconform mutants --json` printed")
    found: dict[str, Any] = json.loads(Path(place).read_text())
    return found


def group_of(case: str) -> str:
    """The group of a case, as in `Split-1/axis-values`."""
    return case.rpartition("/")[0]


def listed(opconform: Run, *arguments: str) -> list[dict[str, Any]]:
    """Cases as `opconform list` prints them."""
    found: list[dict[str, Any]] = json.loads(opconform("list", "--json", *arguments).stdout)
    return found


def test_the_core_kills_some_of_all_mutants_and_no_right_variant(opconform: Run) -> None:
    """One in so many, and at the least one of each class."""
    names = [*mutants()]
    first = {each.partition("/")[0]: each for each in reversed(names)}
    chosen = sorted({*names[::STEP], *first.values()})
    words = [word for each in [*VARIANTS, *chosen] for word in ("--select", each)]
    found = json.loads(opconform("mutants", "--profile", "core", "--json", *words, code=None).stdout)

    assert found["right"] == []
    assert sorted(found["mutants"]) == chosen
    assert {name: each["faults"] for name, each in found["mutants"].items() if each["faults"]} == {}


def test_the_core_kills_every_normative_mutant_and_no_right_variant(core: dict[str, Any]) -> None:
    """And what only an interpretation rules out is caught by no normative requirement's cases."""
    assert core["right"] == []
    assert {name: each["faults"] for name, each in core["mutants"].items() if each["faults"]} == {}


def test_no_group_of_the_core_can_be_left_out(opconform: Run, core: dict[str, Any]) -> None:
    """Without any one of them a normative mutant survives one operation, or a requirement has no case of a kind."""
    cases = listed(opconform, "--profile", "core")
    evidence: dict[tuple[str, str, bool], set[str]] = {}
    for case in cases:
        op, rejects = case["id"].split("/")[0], case["expect"] != "accept"
        for name in [case["expect"]["reject"]] if rejects else case["requirements"]:
            if requirements_of(op).by_id[name].level == "normative":
                evidence.setdefault((op, name, rejects), set()).add(group_of(case["id"]))
    catching = [
        {group_of(case) for case in each["core"] if case.startswith(f"{op}/")}
        for each in core["mutants"].values()
        if each["level"] == "normative"
        for op in OPERATIONS
    ]
    needed = {group for groups in [*catching, *evidence.values()] if len(groups) == 1 for group in groups}
    examples = {
        "Split-1/page-example",
        "VariadicSplit-1/page-example-lengths",
        "VariadicSplit-1/page-example-remainder",
    }

    assert {group_of(each["id"]) for each in cases} - needed <= examples


def test_who_refuses_everything_earns_no_credit(core: dict[str, Any]) -> None:
    """Not for one rejected case."""
    assert core["mutants"]["credit/refuses-everything"]["refusals"] == 0
    assert core["mutants"]["axis/sign-lost"]["refusals"] > 0


def test_the_core_has_evidence_for_every_normative_requirement(opconform: Run) -> None:
    """A case that accepts, and one that rejects where it can be violated."""
    cases = listed(opconform, "--profile", "core")
    for op in OPERATIONS:
        mine = [each for each in cases if each["id"].startswith(f"{op}/")]
        accepted = {name for each in mine if each["expect"] == "accept" for name in each["requirements"]}
        rejected = {each["expect"]["reject"] for each in mine if each["expect"] != "accept"}
        for each in requirements_of(op).requirements:
            if each.level == "normative":
                assert each.id in accepted, (op, each.id)
                assert not each.violable or each.id in rejected, (op, each.id)


def test_the_record_is_of_these_suites(opconform: Run) -> None:
    """`cases/kills.json` was made with the cases and the mutants that are here; CI makes it anew and compares."""
    record = shipped_kills()

    assert record.suite == suite_of(each["id"] for each in listed(opconform))
    assert list(record.mutants) == list(mutants())
    for name, each in record.mutants.items():
        assert each.cases > 0, name
        assert each.core > 0 or each.level == "interpretation", name
    assert kills_text(record) == kills_text(type(record).model_validate_json(kills_text(record)))


def test_list_shows_what_each_requirement_catches(opconform: Run) -> None:
    """No number is 0 that should not be."""
    rows = json.loads(opconform("list", "--requirements", "--json").stdout)
    shown = opconform("list", "--requirements").stdout

    assert len(rows) == 53
    for each in rows:
        assert each["accepting"] > 0, each
        assert each["rejecting"] != 0, each
        assert each["mutants"] > 0, each
        assert each["source"], each
    assert "Inputs, 2; Types, T2 (2020-07)" in shown


def test_the_catalogue_is_broad_and_sourced() -> None:
    """At least 80 mutants in every class, each with a sentence of its own and the report that it was derived from."""
    catalogue = mutants()

    assert len(catalogue) >= 80
    assert {each.kind for each in catalogue.values()} == set(CLASSES)
    assert Counter(each.what for each in catalogue.values()).most_common(1)[0][1] <= 2
    assert all(each.what.endswith(".") for each in catalogue.values())
    assert all(each.seen == FOUND or "#" in each.seen for each in catalogue.values())
    assert len(VARIANTS) >= 4


def test_every_mutant_differs_from_the_right_kernel_in_a_step() -> None:
    """A mutant that overrides nothing could not be caught, and one of many steps would prove little."""
    for name, each in mutants().items():
        steps = [step for step in vars(each.kernel) if not step.startswith("_")]
        inherited = [base for base in each.kernel.__mro__[1:-1] if base.__module__ == each.kernel.__module__]
        assert steps or inherited, name
        assert len(steps) <= 3, name


def test_the_matrix_names_survivors(opconform: Run, tmp_path: Path) -> None:
    """A suite that tests too little is told what would pass it, and ends with 1."""
    spec = tmp_path / "thin.yaml"
    spec.write_text(
        "op: Split-1\ngroups:\n  - id: one\n    title: one case\n    requirements: [outputs.order]\n"
        "    data: {shape: [6, 2]}\n    axis: 0\n    num_splits: 2\n"
    )
    done = opconform("mutants", spec, "--select", "counts/backwards", "--select", "axis/sign-lost", code=1)

    assert "✓ counts/backwards" in done.stdout
    assert "✗ axis/sign-lost" in done.stdout
    assert "axis/sign-lost survives: A negative axis is read without its sign." in done.stdout
    assert "1 of 2 normative mutants are killed" in done.stdout


def test_a_mutant_runs_as_any_backend_does(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """Named where others have a device; its report says what it breaks."""
    done = opconform("run", small_suite, "--backend", "mutant:remainder/only-last", "--out", tmp_path, code=1)
    wrong = opconform("run", small_suite, "--backend", "mutant:remainder/nowhere", "--out", tmp_path, code=3)

    assert "broken: VariadicSplit-1: lengths.remainder" in " ".join(done.stdout.split())
    assert "There is no mutant 'remainder/nowhere'" in wrong.stderr


def groups() -> Iterator[tuple[Any, list[Any]]]:
    """Every shipped group and its drafts."""
    for spec in load_specs([]):
        for group in spec.groups:
            if group.profile != "large":
                yield group, [each.draft for each in expand(group)]


def test_an_interpretation_decides_about_nothing_else() -> None:
    """A case that is right by a reading alone names, beside it, only what the outputs must be once it is accepted."""
    for group, drafts in groups():
        requirements = requirements_of(group.op).by_id
        readings = {each for each in group.requirements if requirements[each].level == "interpretation"}
        if readings - {"data.nan-payload"}:
            others = set(group.requirements) - readings
            assert others <= {"outputs.count", "outputs.order", "outputs.shape"}, group.place
            assert not others or all(isinstance(each.expect, Acceptance) for each in drafts), group.place


def test_random_bits_of_floats_ask_for_their_nans() -> None:
    """A backend that changes a NaN's payload breaks that requirement and no other, so the case has to name it."""
    floats = {"bf16", "f16", "f32", "f64", "f8e4m3", "f8e5m2"}
    for group, drafts in groups():
        for each in drafts:
            data = each.tensors.get("data")
            if data is not None and data.element_type in floats and data.fill in ("bits", "special"):
                assert "data.nan-payload" in each.requirements, group.place


def test_the_core_is_drawn_by_nobody_and_titles_are_not_repeated() -> None:
    """Nothing in `core` is random, and no two groups of an operation exist for the same reason."""
    titles = [(group.op, group.title) for group, _ in groups()]

    assert all(group.sample is None for group, _ in groups() if group.profile == "core")
    assert len(titles) == len(set(titles))
