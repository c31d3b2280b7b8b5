"""The catalogue of mutants: the suites catch all of them, and no group of the core can be left out."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from opconform.generation.options import Options
from opconform.generation.pipeline import generate
from opconform.operations import OPERATIONS
from opconform.specs.every.groups import every_group_ids
from opconform.specs.loader import load_specs, shipped_operations
from opconform.specs.requirements import requirements_of
from opconform.suite.reader import open_suite
from opconform.suite.selection.selection import Selection
from opconform_runners.backends.numpy.backend import Numpy
from opconform_runners.verdicts.verdict import Fail
from tests.conftest import FEW, ROOT, Run
from tests.in_process import UNKNOWN
from tests.mutants import catalogue
from tests.mutants.assessment import Assessment, assessed
from tests.mutants.catalogue import MUTANTS, UNTOLD
from tests.mutants.every.untold import PATTERNS
from tests.mutants.kills import CORE, ISOLATED, Kill, Workbench, kills_of
from tests.mutants.operations import arithmetic
from tests.mutants.row import FOUND, MutantRow
from tests.sampling import WHOLE, in_line, sampled

CORE_ALONE = Selection(profiles=(CORE,))

DERIVED = {row.name: row for module in catalogue.EVERY for row in module.ROWS if row.name in MUTANTS}


SIGN_LOST, ZERO_AXIS = "settings/Split-1/axis/sign-lost", "settings/Split-1/axis/zero"


#: The mutants of many operations and results, of which CI runs a sample, beside one in four of the others.
MANY = {*DERIVED, *(row.name for row in arithmetic.ROWS)}
OTHERS = [name for name in MUTANTS if name not in MANY]
CHOSEN = [*OTHERS[:: 1 if WHOLE else 4], *sampled(sorted(MANY))]


#: Every so many mutants one is run wherever the tests are.
STEP = 240


@pytest.fixture(scope="session")
def workbench(few_core: Path) -> Workbench:
    """The core of a few operations, to run mutants on in this process."""
    return Workbench(few_core, CORE_ALONE, timeout=60.0)


@pytest.fixture(scope="module")
def core_kills(core_suite: Path) -> Mapping[str, Kill]:
    """The failures of normative mutants in the core; before a release also of those that other profiles may kill."""
    normative = [name for name in CHOSEN if MUTANTS[name].level == "normative" and (WHOLE or MUTANTS[name].core)]
    return {kill.name: kill for kill in kills_of(core_suite, normative, CORE_ALONE, jobs=3, timeout=5.0)}


@pytest.fixture(scope="module")
def all_kills(core_suite: Path, shipped_suite: Path, core_kills: Mapping[str, Kill]) -> Mapping[str, Kill]:
    """These, and in all profiles the failures of those that survive the core, and of other readings."""
    kills = dict(core_kills)
    killed = {x.row.name for x in assessments(core_suite, kills) if x.by_core or x.row.core}
    others = [name for name in CHOSEN if name not in killed]
    return kills | {kill.name: kill for kill in kills_of(shipped_suite, others, Selection(), jobs=2, timeout=5.0)}


def assessments(suite: Path, kills: Mapping[str, Kill], *, strict: bool = False) -> list[Assessment]:
    """What the kills of mutants prove."""
    header = open_suite(suite).header
    return [
        assessed(MUTANTS[name], kill, header, strict=strict, profiles=[CORE] if MUTANTS[name].core else [])
        for name, kill in kills.items()
    ]


def fault_of(row: MutantRow) -> tuple[str, str]:
    """The fault of a derived mutant, without the operation and the input that have it."""
    return row.kind, row.name.rpartition("/")[2]


def group_of(case: str) -> str:
    """The group of a case, as in `Split-1/axis-values`."""
    return case.rpartition("/")[0]


def test_the_core_kills_a_sample_of_its_mutants(few_core: Path, workbench: Workbench) -> None:
    """One in so many of a few operations, and at least one of each class that runs in this process."""
    due = [name for name, row in MUTANTS.items() if row.core and {*row.ops} <= {*FEW} and not name.startswith(ISOLATED)]
    first = {MUTANTS[name].kind: name for name in reversed(due)}
    kills = {name: workbench.kill(name) for name in due if name in [*due[::STEP], *first.values()]}

    assert {
        assessment.row.name: assessment.faults for assessment in assessments(few_core, kills) if assessment.faults
    } == {}


def test_the_implementation_that_mutants_change_passes_the_core(workbench: Workbench) -> None:
    """A mutant of a wrong implementation proves nothing; other suites are run on it in other tests."""
    verdicts = workbench.verdicts_of(Numpy())

    assert [entry.id for entry, verdict in verdicts if verdict.verdict != "pass"] == []


@pytest.mark.ci_only
@pytest.mark.timeout(3600)
def test_the_core_kills_what_its_mutants_say(core_suite: Path, core_kills: Mapping[str, Kill]) -> None:
    """Every normative one whose row says so."""
    claimed = {name: kill for name, kill in core_kills.items() if MUTANTS[name].core}
    found = assessments(core_suite, claimed, strict=True)

    assert found
    assert {hit.row.name: hit.faults for hit in found if hit.faults} == {}


@pytest.mark.ci_only
@pytest.mark.campaign
@pytest.mark.timeout(3600)
def test_every_mutant_is_killed(shipped_suite: Path, all_kills: Mapping[str, Kill]) -> None:
    """What an interpretation rules out, by its cases and no others."""
    assert sorted(all_kills) == sorted(CHOSEN)
    found = assessments(shipped_suite, all_kills, strict=True)
    assert {hit.row.name: hit.faults for hit in found if hit.faults} == {}


@pytest.mark.ci_only
@pytest.mark.campaign
@pytest.mark.timeout(3600)
def test_the_core_kills_every_derived_fault_in_an_operation(all_kills: Mapping[str, Kill]) -> None:
    """The other profiles kill it in every other operation."""
    faults = {fault_of(row) for row in DERIVED.values() if row.level == "normative"}
    killed = {fault_of(row) for row in DERIVED.values() if all_kills[row.name].caught_by_core}

    assert faults - killed == set()


@pytest.mark.ci_only
@pytest.mark.campaign
@pytest.mark.timeout(3600)
def test_no_case_tells_the_untold_mutants_apart(shipped_suite: Path) -> None:
    """Otherwise its pattern in `tests/mutants/every/untold.py` is removed."""
    header = open_suite(shipped_suite).header
    kills = kills_of(shipped_suite, sampled(UNTOLD), Selection(), jobs=2, timeout=5.0)
    found = [assessed(UNTOLD[kill.name], kill, header, strict=False, profiles=[]) for kill in kills]

    assert sorted(hit.row.name for hit in found if hit.normative) == []


@pytest.mark.ci_only
@pytest.mark.campaign
@pytest.mark.timeout(3600)
def test_the_cases_leave_interpretations_open(shipped_suite: Path) -> None:
    """The groups name what they rest on, so that no other reading breaks a normative requirement."""
    assert faults_of_readings(shipped_suite) == {}


@pytest.mark.ci_only
@pytest.mark.campaign
@pytest.mark.timeout(3600)
def test_the_exhaustive_cases_leave_interpretations_open(exhaustive_sample: Path) -> None:
    """No other reading breaks a normative requirement in a sample of them."""
    assert faults_of_readings(exhaustive_sample) == {}


def faults_of_readings(suite: Path) -> dict[str, tuple[str, ...]]:
    """What is wrong about the outcomes of the right implementations of other readings."""
    chosen = [name for name, row in MUTANTS.items() if row.level == "interpretation"]
    kills = {kill.name: kill for kill in kills_of(suite, chosen, Selection(), jobs=2, timeout=5.0)}
    return {assessment.row.name: assessment.faults for assessment in assessments(suite, kills) if assessment.faults}


@pytest.mark.ci_only
@pytest.mark.campaign
@pytest.mark.timeout(3600)
def test_no_group_of_the_core_can_be_left_out(core_suite: Path, all_kills: Mapping[str, Kill]) -> None:
    """Without any one of them a normative mutant survives one operation, or a requirement has no case of a kind.

    Or no case lists the requirement first, so that failures break others. The groups of every operation do not count.
    """
    every = every_group_ids()
    entries = [entry for entry in open_suite(core_suite).entries if entry.id.split("/")[1] not in every]
    own = {group_of(entry.id) for entry in entries}
    evidence: dict[tuple[str, str, str], set[str]] = {}
    for entry in entries:
        rejected = () if entry.expect == "accept" else (entry.expect.reject,)
        names = [requirement for requirement in rejected or entry.requirements if is_normative(entry.op, requirement)]
        kind = "rejected" if rejected else "accepted"
        for name, item in (*((name, kind) for name in names), *((name, "first") for name in names[:1])):
            evidence.setdefault((entry.op, name, item), set()).add(group_of(entry.id))
    catching = [
        own & {group_of(case) for case in kill.core if case.startswith(f"{op}/")}
        for name, kill in all_kills.items()
        if MUTANTS[name].level == "normative"
        for op in shipped_operations()
    ]
    needed = {group for groups in [*catching, *evidence.values()] if len(groups) == 1 for group in groups}
    expected = {  # the page's examples, the groups that a reader looks for first, and pairs that public reports name
        "Gather-8/page-example-out-of-range",
        "GatherND-8/negative",
        "Pad-12/one-end",
        "Pad-12/then-pad",
        "Pad-12/then-reshape",
        "Slice-8/page-examples",
        "Slice-8/page-examples-of-higher-rank",
        "Slice-8/then-gather",
        "Split-1/axis-values",
        "Squeeze-15/page-examples-of-dynamic-dimensions",
        "StridedSlice-1/page-example-clamping",
        "StridedSlice-1/page-example-removed",
        "StridedSlice-1/page-examples-without-masks",
        "Transpose-1/three-dimensions",
        "Transpose-1/then-transpose",
        "VariadicSplit-1/page-example-remainder",
    }

    assert own - needed == expected


def test_refusing_everything_proves_nothing(workbench: Workbench) -> None:
    """Not for one invalid case."""
    assert workbench.kill("credit/refuses-everything").refusals == 0
    assert workbench.kill(SIGN_LOST).refusals > 0


def test_a_mutant_is_killed_by_one_failure(few_core: Path) -> None:
    """One that has no fault in the cases is not."""
    axes = Workbench(few_core, Selection(profiles=(CORE,), patterns=("axis.negative",)), timeout=60.0)

    assert axes.is_killed(SIGN_LOST)
    assert not axes.is_killed("num_splits/negative-is-one")


@pytest.mark.parametrize(
    "name",
    in_line(
        [
            SIGN_LOST,
            "state/refusal-is-forever",
            "contexts/shared-once",
            "data/Split-1/bf16-as-f32",
            "data/Split-1/texts-cut-at-nul",
            "shapes/shape-of-data",
        ],
        SIGN_LOST,
    ),
)
def test_a_mutant_in_this_process_and_behind_a_harness_is_judged_alike(few_core: Path, name: str) -> None:
    """The harness process is the point: nothing may depend on how the outputs reached the judge."""
    few = Selection(profiles=(CORE,), patterns=("*/contexts", "*/axis-*", "*/second-*"))
    workbench = Workbench(few_core, few, timeout=60.0)

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
        reasons[name] = sorted(verdict.reason if isinstance(verdict, Fail) else verdict.verdict for verdict in verdicts)

    assert reasons == {"crash/on-no-pieces": ["crash", "pass"], "hang/on-no-pieces": ["pass", "timeout"]}


def test_a_mutant_runs_as_any_backend_does(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """Its report says what it breaks."""
    backend = f"{ROOT}/tests/mutants/harness.py:Mutant:remainder/only-last"
    done = opconform("run", small_suite, "--backend", backend, "--out", tmp_path, code=1)

    assert "broken: VariadicSplit-1: lengths.remainder" in " ".join(done.stdout.split())


@pytest.mark.ci_only
def test_a_mutant_that_does_not_exist_is_an_error_of_one_sentence(
    opconform: Run, small_suite: Path, tmp_path: Path
) -> None:
    """The harness says so where it starts."""
    backend = f"{ROOT}/tests/mutants/harness.py:Mutant:{UNKNOWN}"
    wrong = opconform("run", small_suite, "--backend", backend, "--out", tmp_path, code=3)

    assert f"Unknown mutant '{UNKNOWN}'" in wrong.stderr


def test_the_catalogue_is_sourced() -> None:
    """Each mutant has a name of its own, a sentence, the report that it was derived from, and known operations."""
    assert len(MUTANTS) + len(UNTOLD) == sum(len(module.ROWS) for module in catalogue.MODULES)
    assert [name for name, mutant in MUTANTS.items() if not mutant.what.endswith(".")] == []
    faults = {name: mutant for name, mutant in MUTANTS.items() if mutant.kind != "readings"}
    assert [name for name, fault in faults.items() if fault.seen != FOUND and "#" not in fault.seen] == []
    assert {op for mutant in MUTANTS.values() for op in mutant.ops} == {*shipped_operations()}


def test_every_pattern_of_untold_mutants_has_some() -> None:
    """One without any would hide nothing today, and a mutant tomorrow."""
    assert [pattern for pattern in PATTERNS if not any(fnmatchcase(name, pattern) for name in UNTOLD)] == []


def is_normative(op: str, requirement: str) -> bool:
    """The level of a requirement."""
    return requirements_of(op).by_id[requirement].level == "normative"


def test_every_class_derives_mutants_for_every_operation() -> None:
    """A declared operation has mutants without a line about it."""
    kinds = {"acceptances", "checks", "data", "outputs", "refusals", "settings", "state"}
    derived = {(op, row.kind) for row in MUTANTS.values() if not row.core for op in row.ops}
    unchecked = {op for op in shipped_operations() if not any(is_normative(op, name) for name in OPERATIONS[op].checks)}

    computing = {op for op in shipped_operations() if not OPERATIONS[op].moves_data}
    plain = {x for x in shipped_operations() if len(OPERATIONS[x].inputs) == 1 and not OPERATIONS[x].attributes}

    assert {(op, kind) for op in shipped_operations() for kind in kinds} - derived == {
        *((op, "checks") for op in unchecked),
        *((op, "data") for op in computing - {"Convert-1", "ConvertLike-1"}),  # whose outputs have no elements of data
        *(
            (op, "settings")
            for op in (
                *plain,
                "BatchNormInference-5",
                "Clamp-1",
                "Convert-1",
                "Elu-1",
                "ExtractImagePatches-3",
                "ScaledDotProductAttention-13",
                "Swish-4",
            )
        ),
        *((op, "settings") for op in ("HardSigmoid-1", "PReLU-1")),  # whose inputs are data alone
        *((op, "settings") for op in ("Less-1", "Maximum-1")),  # whose only one, an ignored rule, no case tells apart
    }
    assert unchecked == {
        *plain,
        "Clamp-1",
        "Convert-1",
        "ConvertLike-1",
        "Gelu-7",
        "IsInf-10",
        "NonZero-3",
        "Range-4",
        "Round-5",
        "ShapeOf-3",
        "Tile-1",
    }
    assert computing >= {"Convert-1", "ShapeOf-1", "ShapeOf-3"}
    assert plain >= {"Abs-1", "ShapeOf-1", "Tanh-1"}


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
