"""Weighing: what the failures of a mutant prove, given which requirements are normative."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from opconform.suite import Header
from opconform_runners.mutants.catalogue import Mutant
from opconform_runners.mutants.killing import CORE, Kill, Place


@dataclass(frozen=True, kw_only=True, slots=True)
class Weighed:
    """One mutant, and whether the suite does with it what it should.

    Attributes:
        mutant: The mutant.
        kill: What was found in it.
        normative: Whether a normative requirement caught it.
        by_core: Whether one did in the profile `core` alone.
        faults: What is wrong about the outcome, in sentences; none if all is as it should be.
    """

    mutant: Mutant
    kill: Kill
    normative: bool
    by_core: bool
    faults: tuple[str, ...]


def weighed(mutant: Mutant, kill: Kill, header: Header, *, strict: bool, profiles: Iterable[str]) -> Weighed:
    """Weigh a mutant.

    Args:
        mutant: The mutant.
        kill: What was found in it.
        header: The suite's header, with the level of each requirement.
        strict: Whether a mutant that only an interpretation rules out must be killed too.
        profiles: The profiles that were run.
    """
    normative = any(_is_normative(place, header) for place in kill.caught)
    by_core = any(_is_normative(place, header) for place in kill.caught_by_core)
    faults = list(kill.errors[:1])
    if mutant.level == "normative" and not normative:
        faults.append("survives")
    elif mutant.level == "normative" and not by_core and CORE in profiles:
        faults.append(f"survives {CORE}")
    elif mutant.level == "interpretation" and normative:
        wrong = sorted(f"{op} {name}" for op, name in kill.caught if _is_normative((op, name), header))
        faults.append(f"is ruled out by an interpretation alone, and was caught by {', '.join(wrong)}")
    elif mutant.level == "interpretation" and strict and not kill.caught:
        faults.append("survives --strict")
    return Weighed(mutant=mutant, kill=kill, normative=normative, by_core=by_core, faults=tuple(faults))


def right_faults(kills: Mapping[str, Kill], names: Iterable[str]) -> list[str]:
    """What is wrong about right variants: they must pass everything, interpretations included."""
    return [
        f"{name}: fails {', '.join((*kills[name].core, *kills[name].others)[:3]) or kills[name].errors[0]}"
        for name in names
        if kills[name].core or kills[name].others or kills[name].errors
    ]


def _is_normative(place: Place, header: Header) -> bool:
    op, name = place
    return header.requirements[op][name].level == "normative"
