"""The catalogue of mutants: the suites catch all of them, and no group of the core can be left out."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from opconform.generation.options import Options
from opconform.generation.pipeline import generate
from opconform.specs.every import every_group_ids
from opconform.specs.loader import load_specs
from opconform.specs.requirements import requirements_of
from opconform.suite.reader import open_suite
from opconform.suite.selection import Selection
from opconform.tensors.tensor import Tensor
from opconform_runners.verdicts.verdict import Fail
from tests.conftest import ROOT, Run
from tests.mutants import __main__ as program
from tests.mutants import catalogue, right
from tests.mutants.assessment import Assessment, assessed, right_faults
from tests.mutants.backend import KERNEL, names
from tests.mutants.catalogue import MUTANTS, RIGHT, concerns
from tests.mutants.gather_nds import kernel
from tests.mutants.kills import CORE, ISOLATED, Kill, Workbench, kills_of
from tests.mutants.model import WHOLE
from tests.mutants.row import FOUND

OPERATIONS = catalogue.operations_with_mutants()
CORE_ALONE = Selection(profiles=(CORE,))

#: Every so many mutants one is run wherever the tests are.
STEP = 20

ZERO = """\
op: Split-1
groups:
  - id: zero
    title: num_splits must be positive
    requirements: [num_splits.positive]
    data: {shape: [6, 2]}
    axis: 0
    num_splits: 0
    expect: {reject: num_splits.positive}
    twin: {num_splits: 2}
"""

THIN = """\
op: Split-1
groups:
  - id: one
    title: one case
    requirements: [outputs.order]
    data: {shape: [6, 2]}
    axis: 0
    num_splits: 2
"""


@pytest.fixture(scope="session")
def workbench(core_suite: Path) -> Workbench:
    """The core, to run mutants on in this process."""
    return Workbench(core_suite, CORE_ALONE, timeout=60.0)


@pytest.fixture(scope="module")
def all_kills(core_suite: Path, shipped_suite: Path) -> Mapping[str, Kill]:
    """The failures of every normative mutant in the core, and of all others and of right variants in all profiles."""
    normative = [name for name in names() if name in MUTANTS and MUTANTS[name].level == "normative"]
    others = [name for name in names() if name not in normative]
    return {
        each.name: each
        for each in (
            *kills_of(core_suite, normative, CORE_ALONE, jobs=3, timeout=5.0),
            *kills_of(shipped_suite, others, Selection(), jobs=2, timeout=5.0),
        )
    }


def assessments(suite: Path, kills: Mapping[str, Kill], *, strict: bool = False) -> list[Assessment]:
    """What the kills of mutants prove."""
    header = open_suite(suite).header
    return [
        assessed(MUTANTS[name], each, header, strict=strict, profiles=[CORE])
        for name, each in kills.items()
        if name in MUTANTS
    ]


def run_program(*arguments: object) -> Result:
    """`python -m tests.mutants` in this process."""
    return CliRunner().invoke(program.command, [str(each) for each in arguments], env={"COLUMNS": "200"})


def group_of(case: str) -> str:
    """The group of a case, as in `Split-1/axis-values`."""
    return case.rpartition("/")[0]


def test_the_core_kills_a_sample_of_all_mutants_and_no_right_variant(core_suite: Path, workbench: Workbench) -> None:
    """One in so many, and at least one of each class that runs in this process."""
    first = {each.kind: each.name for each in reversed(tuple(MUTANTS.values()))}
    chosen = [name for name in names() if name not in MUTANTS or name in [*names()[::STEP], *first.values()]]
    kills = {name: workbench.kill(name) for name in chosen if not name.startswith(ISOLATED)}

    assert right_faults([each for name, each in kills.items() if name not in MUTANTS]) == []
    assert {each.row.name: each.faults for each in assessments(core_suite, kills) if each.faults} == {}


@pytest.mark.ci_only
@pytest.mark.timeout(3600)
def test_every_mutant_is_killed_and_no_right_variant(shipped_suite: Path, all_kills: Mapping[str, Kill]) -> None:
    """A normative one by the core; what an interpretation rules out is killed by its cases and no others."""
    assert sorted(all_kills) == sorted(names())
    assert right_faults([each for name, each in all_kills.items() if name not in MUTANTS]) == []
    found = assessments(shipped_suite, all_kills, strict=True)
    assert {each.row.name: each.faults for each in found if each.faults} == {}


@pytest.mark.ci_only
@pytest.mark.timeout(3600)
def test_the_parameters_of_openvino_leave_interpretations_open(functional_sample: Path) -> None:
    """The groups of `functional.yaml` name what they rest on, so that no other reading breaks a normative requirement."""
    chosen = [name for name, row in MUTANTS.items() if row.level == "interpretation"]
    kills = {each.name: each for each in kills_of(functional_sample, chosen, Selection(), jobs=2, timeout=5.0)}

    assert {each.row.name: each.faults for each in assessments(functional_sample, kills) if each.faults} == {}


@pytest.mark.ci_only
@pytest.mark.timeout(3600)
def test_the_exhaustive_cases_leave_interpretations_open(exhaustive_sample: Path) -> None:
    """No other reading breaks a normative requirement, and no right variant fails, in a sample of them."""
    chosen = [name for name in names() if name not in MUTANTS or MUTANTS[name].level == "interpretation"]
    kills = {each.name: each for each in kills_of(exhaustive_sample, chosen, Selection(), jobs=2, timeout=5.0)}

    assert right_faults([each for name, each in kills.items() if name not in MUTANTS]) == []
    assert {each.row.name: each.faults for each in assessments(exhaustive_sample, kills) if each.faults} == {}


@pytest.mark.ci_only
@pytest.mark.timeout(3600)
def test_no_group_of_the_core_can_be_left_out(core_suite: Path, all_kills: Mapping[str, Kill]) -> None:
    """Without any one of them a normative mutant survives one operation, or a requirement has no case of a kind.

    The groups of every operation do not count, and neither do operations that have no mutants of their own.
    """
    every = every_group_ids()
    entries = [
        each for each in open_suite(core_suite).entries if each.id.split("/")[1] not in every and each.op not in WHOLE
    ]
    own = {group_of(each.id) for each in entries}
    evidence: dict[tuple[str, str, bool], set[str]] = {}
    for entry in entries:
        rejected = () if entry.expect == "accept" else (entry.expect.reject,)
        for name in rejected or entry.requirements:
            if requirements_of(entry.op).by_id[name].level == "normative":
                evidence.setdefault((entry.op, name, bool(rejected)), set()).add(group_of(entry.id))
    catching = [
        own & {group_of(case) for case in each.core if case.startswith(f"{op}/")}
        for name, each in all_kills.items()
        if name in MUTANTS and MUTANTS[name].level == "normative"
        for op in OPERATIONS
    ]
    needed = {group for groups in [*catching, *evidence.values()] if len(groups) == 1 for group in groups}
    expected = {  # the page's examples, the groups that a reader looks for first, and pairs that public reports name
        "Concat-1/page-example",
        "Gather-8/page-example-out-of-range",
        "Gather-8/page-examples",
        "GatherND-8/negative",
        "GatherND-8/page-examples",
        "Pad-12/beyond-sixteen-bits",
        "Pad-12/given",
        "Pad-12/other-modes",
        "Pad-12/one-end",
        "Pad-12/then-pad",
        "Pad-12/then-reshape",
        "Slice-8/page-examples",
        "Slice-8/page-examples-of-higher-rank",
        "Slice-8/then-gather",
        "Split-1/axis-values",
        "Split-1/page-example",
        "StridedSlice-1/page-example-clamping",
        "StridedSlice-1/page-example-masks",
        "StridedSlice-1/page-example-new-axes",
        "StridedSlice-1/page-example-removed",
        "StridedSlice-1/page-examples",
        "StridedSlice-1/page-examples-without-masks",
        "Transpose-1/page-examples",
        "Transpose-1/then-transpose",
        "VariadicSplit-1/page-example-lengths",
        "VariadicSplit-1/page-example-remainder",
        "VariadicSplit-1/sizes",
    }

    assert own - needed <= expected


def test_refusing_everything_proves_nothing(workbench: Workbench) -> None:
    """Not for one invalid case."""
    assert workbench.kill("credit/refuses-everything").refusals == 0
    assert workbench.kill("axis/sign-lost").refusals > 0


def test_right_implementations_take_many_dimensions_and_huge_empty_ones() -> None:
    """Numpy iterates over at most 32 dimensions, and makes a list of each size first."""
    deep, sizes = np.zeros((1,) * 63, np.float32), np.array([1])
    call: Any = SimpleNamespace(do=lambda _name, array, _batch: array)

    [output] = right._reshape(
        [Tensor(element_type="f32", array=deep), Tensor(element_type="i64", array=sizes)], {"special_zero": False}
    )
    picked = kernel._picked(call, np.zeros(2), np.zeros((0, 1 << 40, 1), object), (), 0)

    assert output.shape == (1,)
    assert picked.shape == (0, 1 << 40)


def test_a_mutant_is_killed_by_one_failure(core_suite: Path) -> None:
    """The right implementation is not."""
    axes = Workbench(core_suite, Selection(profiles=(CORE,), patterns=("Split-1/axis-values",)), timeout=60.0)

    assert axes.is_killed("axis/sign-lost")
    assert not axes.is_killed(KERNEL)


@pytest.mark.parametrize(
    "name",
    [
        "axis/sign-lost",
        "bit_patterns/texts-cut-at-nul",
        "contexts/shared-once",
        "element_types/bf16-as-f32",
        "shapes/shape-of-data",
        "state/refusal-is-forever",
    ],
)
def test_a_mutant_in_this_process_and_behind_a_harness_is_judged_alike(core_suite: Path, name: str) -> None:
    """The harness process is the point: nothing may depend on how the outputs reached the judge."""
    few = Selection(profiles=(CORE,), patterns=("*/contexts", "*/axis-*", "*/second-*"))
    workbench = Workbench(core_suite, few, timeout=60.0)

    assert workbench.verdicts(name, isolated=True) == workbench.verdicts(name, isolated=False)


@pytest.mark.ci_only
def test_a_mutant_that_dies_or_hangs_is_caught_behind_a_harness(tmp_path: Path) -> None:
    """The harness process is the point: the mutant ends it, or never answers."""
    (tmp_path / "zero.yaml").write_text(ZERO)
    suite = generate(load_specs([tmp_path / "zero.yaml"]), tmp_path / "suite", Options(dialects=())).out
    workbench = Workbench(suite, Selection(), timeout=10.0)
    reasons = {}
    for name in ("crash/on-no-pieces", "hang/on-no-pieces"):
        verdicts = [verdict for _, verdict in workbench.verdicts(name, isolated=True)]
        reasons[name] = sorted(each.reason if isinstance(each, Fail) else each.verdict for each in verdicts)

    assert reasons == {"crash/on-no-pieces": ["crash", "pass"], "hang/on-no-pieces": ["pass", "timeout"]}


def test_an_operation_without_mutants_is_an_error(small_spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A suite that no mutant implements would kill them all."""
    monkeypatch.setattr(catalogue, "KERNELS", {"Split-1": catalogue.KERNELS["Split-1"]})
    done = run_program(small_spec)

    assert done.exit_code == 2
    assert done.stderr == (
        "error: VariadicSplit-1 has no mutants; add some to tests/mutants. There are some for Split-1.\n"
    )


def test_only_mutants_of_the_operations_of_the_specs_are_run(tmp_path: Path) -> None:
    """What is right for an operation cannot survive its cases."""
    (tmp_path / "thin.yaml").write_text(THIN)
    done = run_program(tmp_path / "thin.yaml", "--select", "lengths/*")

    assert done.exit_code == 2
    assert done.stderr == "error: None of the selected mutants changes Split-1. `--list` lists them.\n"
    assert concerns(MUTANTS["lengths/sorted"], "VariadicSplit-1")


def test_the_matrix_names_survivors(tmp_path: Path) -> None:
    """For a suite that tests too little, the program lists the survivors and ends with 1."""
    (tmp_path / "thin.yaml").write_text(THIN)
    chosen = ("--select", "counts/backwards", "--select", "axis/sign-lost", "--select", "right/peel")
    done = run_program(tmp_path / "thin.yaml", *chosen, "--jobs", 1)

    assert done.exit_code == 1
    assert "✓ counts/backwards" in done.stdout
    assert "✗ axis/sign-lost" in done.stdout
    assert "axis/sign-lost survives: A negative axis is read without its sign." in done.stdout
    assert "1 of 1 right variants pass." in done.stdout
    assert "1 of 2 normative mutants are killed" in done.stdout


def test_the_report_lists_what_one_case_alone_kills(tmp_path: Path) -> None:
    """On the terminal and in JSON; a mutant that two cases kill, and one that survives, are not in the list."""
    (tmp_path / "two.yaml").write_text(THIN.replace("    axis: 0", "    matrix: {axis: [0, 1]}\n    axis: ${{ axis }}"))
    chosen = ("--select", "counts/backwards", "--select", "axis/always-zero", "--select", "axis/scalar-refused")
    options = (tmp_path / "two.yaml", *chosen, "--select", "lengths/sorted", "--jobs", 1)
    listed = run_program(*options).stdout
    [name] = (only := json.loads(run_program(*options, "--json").stdout)["alone"])

    assert name == "axis/always-zero"
    assert only[name].startswith("Split-1/one/")
    assert f"1 of 3 mutants is killed by one case alone:\n  axis/always-zero {only[name]}\n" in listed


def test_a_pattern_that_matches_no_mutant_is_an_error() -> None:
    """In one sentence."""
    done = run_program("--select", "axis/nowhere")

    assert (done.exit_code, done.stderr) == (2, "error: No mutant matches axis/nowhere. `--list` lists them.\n")


def test_the_list_has_every_mutant_with_its_level_and_report() -> None:
    """One line per implementation."""
    lines = run_program("--list").stdout.splitlines()

    assert [each.split()[0] for each in lines] == names()
    assert lines[names().index("axis/sign-lost")].split(maxsplit=2)[1:] == [
        "normative",
        "A negative axis is read without its sign. Seen: microsoft/onnxruntime#21771.",
    ]


def test_a_mutant_runs_as_any_backend_does(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """Its report says what it breaks; a name that does not exist is an error of one sentence."""
    module = f"{ROOT}/tests/mutants/harness.py:Mutant"
    done = opconform("run", small_suite, "--backend", f"{module}:remainder/only-last", "--out", tmp_path, code=1)
    wrong = opconform("run", small_suite, "--backend", f"{module}:remainder/nowhere", "--out", tmp_path, code=3)

    assert "broken: VariadicSplit-1: lengths.remainder" in " ".join(done.stdout.split())
    assert "Unknown mutant 'remainder/nowhere'" in wrong.stderr


def test_the_catalogue_is_broad_and_sourced() -> None:
    """Each mutant has a name and a sentence of its own and the report that it was derived from."""
    assert len(MUTANTS) == sum(len(module.ROWS) for module in catalogue.MODULES) >= 842
    assert Counter(each.what for each in MUTANTS.values()).most_common(1)[0][1] <= 2
    assert all(each.what.endswith(".") for each in MUTANTS.values())
    assert all(each.seen == FOUND or "#" in each.seen for each in MUTANTS.values())


def test_every_mutant_changes_hooks_of_the_right_implementation() -> None:
    """A mutant that changes nothing could not be caught, and one of many changes would prove little."""
    hooks = {name for each in RIGHT.values() for name in each}
    for name, each in MUTANTS.items():
        assert set(each.changes) <= hooks, name
        assert 1 <= len(each.changes) <= 3, name
        assert any(concerns(each, op) for op in OPERATIONS), name


def test_the_right_concat_joins_nothing_of_huge_dimensions() -> None:
    """A list of its empty rows would take gigabytes."""
    empty = Tensor(element_type="f32", array=np.zeros((1 << 40, 0), np.float32))

    [joined] = right._concat([empty, empty], {"axis": 1})

    assert joined.shape == (1 << 40, 0)
