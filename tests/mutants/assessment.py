"""What the failures of a mutant prove, given which requirements are normative."""

from collections.abc import Iterable
from dataclasses import dataclass

from opconform.suite.manifest import Header
from tests.mutants.kills import CORE, Kill, Place
from tests.mutants.row import MutantRow


@dataclass(frozen=True, kw_only=True, slots=True)
class Assessment:
    """One mutant, and whether the suite finds in it what it should.

    Attributes:
        row: The mutant.
        kill: What was found in it.
        normative: Whether a normative requirement caught it.
        by_core: Whether one did in the profile `core` alone.
        faults: What is wrong about the outcome, in sentences; none if all is as it should be.
    """

    row: MutantRow
    kill: Kill
    normative: bool
    by_core: bool
    faults: tuple[str, ...]


def assessed(
    row: MutantRow, kill: Kill, header: Header, *, strict: bool, profiles: Iterable[str], only_core: bool = False
) -> Assessment:
    """Assess a mutant.

    Args:
        row: The mutant.
        kill: What was found in it.
        header: The suite's header, with the level of each requirement.
        strict: Whether a mutant that only an interpretation rules out must be killed too.
        profiles: The profiles that were run.
        only_core: Whether only the profile `core` was wanted, which need not kill every mutant.
    """
    normative = any(_is_normative(place, header) for place in kill.caught)
    by_core = any(_is_normative(place, header) for place in kill.caught_by_core)
    faults = list(kill.errors[:1])
    if row.level == "normative" and not normative and (row.core or not only_core):
        faults.append("survives")
    elif row.level == "normative" and row.core and not by_core and CORE in profiles:
        faults.append(f"survives {CORE}")
    elif row.level == "interpretation" and normative:
        wrong = sorted(f"{op} {name}" for op, name in kill.caught if _is_normative((op, name), header))
        faults.append(f"is ruled out by an interpretation alone, and was caught by {', '.join(wrong)}")
    elif row.level == "interpretation" and strict and not kill.caught:
        faults.append("survives --strict")
    return Assessment(row=row, kill=kill, normative=normative, by_core=by_core, faults=tuple(faults))


def _is_normative(place: Place, header: Header) -> bool:
    op, name = place
    return header.requirements[op][name].level == "normative"
