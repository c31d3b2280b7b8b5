"""Other readings of interpretations: a right implementation of one is conformant, and everything else is not."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from opconform.specs.loader import shipped_operations
from opconform.specs.requirements import requirements_of
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite, open_suite
from opconform.suite.selection.selection import Selection
from opconform_runners.execution.case_verdicts import result_of
from opconform_runners.findings.report import Report
from opconform_runners.harness.environment import UNKNOWN
from opconform_runners.verdicts.judge import broken_by
from opconform_runners.verdicts.run_header import SuiteNote
from opconform_runners.verdicts.verdict import FailReason
from tests.mutants.backend import Mutant
from tests.mutants.catalogue import MUTANTS
from tests.mutants.kills import CORE, Workbench
from tests.sampling import sampled

#: The right implementations with another reading, by name.
READERS = [name for name, row in MUTANTS.items() if row.level == "interpretation"]
#: Those that differ in two: a maximum by one comparison has other NaNs and other zeros.
BOTH = {"computes/Maximum-1/numbers-before-NaN", "computes/Maximum-1/second-of-two"}
#: An interpretation by its operation and id.
Place = tuple[str, str]


def report(suite: Suite, workbench: Workbench, name: str) -> Report:
    """The report of an implementation in this process."""
    implementation, facts = Mutant(name).describe(), {"message": None}
    verdicts = workbench.verdicts(name, isolated=False)
    return Report(
        suite=SuiteNote(digest=suite.header.digest, version="1", generator="1", seed=0),
        implementation=implementation,
        notes=suite.header.requirements,
        results=tuple(result_of(suite, x, suite.case(x), facts, own, implementation) for x, own in verdicts),
        whole=True,
        strict=False,
        environment=UNKNOWN,
    )


def deviations(path: Path, selection: Selection, names: Sequence[str]) -> dict[str, set[Place]]:
    """The interpretations that each implementation differs in; fails if one is not conformant."""
    suite, workbench, found = open_suite(path), Workbench(path, selection, timeout=60.0), {}
    for name in names:
        of_it = report(suite, workbench, name)
        assert not of_it.broken, name
        assert not of_it.unnamed, name
        found[name] = {(x.op, x.id) for x in of_it.differing}
    return found


def of_several(found: dict[str, set[Place]]) -> dict[str, set[Place]]:
    """The implementations that differ in more than one interpretation of an operation."""
    return {name: places for name, places in found.items() if len({op for op, _ in places}) < len(places)}


def interpretations() -> set[Place]:
    """Every interpretation of every operation."""
    return {
        (op, requirement.id)
        for op in shipped_operations()
        for requirement in requirements_of(op).requirements
        if requirement.level == "interpretation"
    }


#: Two implementations of another reading each.
KNOWN = {"readings/StridedSlice-1/bounds.equal/gives-0", "readings/VariadicSplit-1/lengths.zero/rejects"}


def test_another_reading_is_its_only_deviation(few_core: Path) -> None:
    """It applies one reading wherever it can."""
    found = deviations(few_core, Selection(profiles=(CORE,)), sorted(KNOWN))

    assert of_several(found) == {}
    assert {("StridedSlice-1", "bounds.equal"), ("VariadicSplit-1", "lengths.zero")} == set().union(*found.values())


@pytest.mark.ci_only
def test_another_reading_is_its_only_deviation_in_the_core(core_suite: Path) -> None:
    """Each of a sample has one reading, or two that belong together, which it applies wherever it can."""
    found = deviations(core_suite, Selection(profiles=(CORE,)), sorted({*sampled(READERS), *BOTH, *KNOWN}))

    assert of_several(found).keys() == BOTH
    assert {("StridedSlice-1", "bounds.equal"), ("VariadicSplit-1", "lengths.zero")} <= set().union(*found.values())


@pytest.mark.ci_only
@pytest.mark.campaign
@pytest.mark.timeout(3600)
def test_every_interpretation_has_a_right_implementation_with_another_reading(shipped_suite: Path) -> None:
    """Which is conformant, and deviates from this interpretation of the operation alone."""
    found = deviations(shipped_suite, Selection(), READERS)

    assert of_several(found).keys() == BOTH
    assert set().union(*found.values()) == interpretations()


@pytest.mark.parametrize("reason", ["count", "element-type", "shape", "value", "crash", "timeout"])
def test_what_no_reading_gives_breaks_a_normative_requirement(few_core: Path, reason: FailReason) -> None:
    """In every valid case, whatever it lists; a crash also in an invalid case of an interpretation."""
    suite = open_suite(few_core)
    excused = [entry.id for entry in suite.entries if is_excused(suite, entry, reason)]

    assert excused == []


def is_excused(suite: Suite, entry: Entry, reason: FailReason) -> bool:
    """Whether a failure breaks no normative requirement, although no reading gives it."""
    if entry.expect != "accept" and reason not in ("crash", "timeout"):
        return False
    levels = suite.header.requirements[entry.op]
    return {levels[x].level for x in broken_by(entry, reason, None, suite.header)} != {"normative"}


def test_a_rejection_is_excused_where_another_reading_rejects(any_core: Path) -> None:
    """And in no other valid case."""
    suite = open_suite(any_core)
    valid = [entry for entry in suite.entries if entry.expect == "accept"]
    broken = {x.id: broken_by(x, "rejected-valid", None, suite.header) for x in valid}
    notes = {x.id: suite.header.requirements[x.op] for x in valid}

    assert {x.id for x in valid if x.readings.reject} == {
        name for name, broke in broken.items() if all(notes[name][x].level == "interpretation" for x in broke)
    }
