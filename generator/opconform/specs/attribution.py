"""What groups are evidence for: the profiles of each requirement, and warnings (docs/verdicts.md)."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from opconform.errors import nearest, quoted
from opconform.operations import OPERATIONS
from opconform.specs.group import Group, Spec
from opconform.specs.matrix.expressions import is_expression
from opconform.specs.requirements import requirements_of
from opconform.specs.yaml_document import Mistake
from opconform.suite.case import GRAPH
from opconform.suite.selection.selection import PROFILES

#: The most warnings that are given; the last one then counts the others.
MOST = 5
#: The most requirements that a warning names.
_NAMED = 5
_WORD = re.compile(r"[a-z0-9_]+(?:[.-][a-z0-9_]+)*")


def warnings_of(specs: Sequence[Spec]) -> list[str]:
    """One sentence for each doubtful twin, profile, requirement and variable; at most `MOST`."""
    groups = [group for spec in specs for group in spec.groups]
    checks = (_twins, _profiles, _behind_others, _not_violated, _unused, _repeated)
    warnings = [str(x) for check in checks for x in check(groups)]
    left = len(warnings) - MOST
    more = "is 1 more warning" if left == 1 else f"are {left:,} more warnings"
    return warnings if left <= 0 else [*warnings[:MOST], f"There {more}."]


def profiles_of(specs: Sequence[Spec]) -> Mapping[tuple[str, str], tuple[str, ...]]:
    """The profiles in which some specs have cases for each requirement, by operation and id; nothing is evaluated."""
    profiles: dict[tuple[str, str], set[str]] = defaultdict(set)
    for group in (group for spec in specs for group in spec.groups):
        is_valid = _violated(group) is None or group.twin is not None
        for name in _listed(group) | (established(group.op) if is_valid else set()):
            profiles[group.op, name].add(group.settings.profile)
    return {name: tuple(sorted(profile)) for name, profile in profiles.items()}


def untested(specs: Sequence[Spec]) -> Iterator[str]:
    """One sentence for each operation with requirements that no case tests, unless all its cases are uses in models."""
    tested = profiles_of(specs)
    decided = {group.op for spec in specs for group in spec.groups if _is_decided(group)}
    for op in sorted({spec.op for spec in specs if not all(group.settings.uses for group in spec.groups)}):
        every = requirements_of(op).requirements
        lacking = [x.id for x in every if (op, x.id) not in tested and not (x.violable and op in decided)]
        if lacking:
            more = f" and {len(lacking) - _NAMED} more" if len(lacking) > _NAMED else ""
            what = f"{op}: {len(lacking)} of {len(every)} requirements have no case"
            yield f"{what}: {', '.join(lacking[:_NAMED])}{more}. `certify` is incomplete without the normative ones."


def bits_of(op: str) -> str | None:
    """The requirement of an operation that its outputs have the exact bits of its inputs; None for a graph."""
    return None if op == GRAPH else OPERATIONS[op].bits


def established(op: str) -> set[str]:
    """The requirements that every passing comparison of outputs shows to be met, whatever a group lists."""
    stages = requirements_of(op).establishes.items()
    names = {x for stage, of_stage in stages if stage != "nan-payload" for x in of_stage}
    return names | ({bits} if (bits := bits_of(op)) is not None else set())


def _listed(group: Group) -> set[str]:
    """The requirements that a group's cases are evidence for; every id in the group if an expression names them."""
    if group.settings.requirements:
        return set(group.settings.requirements)
    expect = group.keys.get("expect", "accept")
    if isinstance(expect, dict) and not is_expression(expect["reject"]):
        return {expect["reject"]}
    if isinstance(expect, dict) or is_expression(expect):
        return set(_WORD.findall(repr((group.keys, group.settings)))) & requirements_of(group.op).by_id.keys()
    return set()


def _twins(groups: Sequence[Group]) -> Iterator[Mistake]:
    """Groups of invalid cases without a twin, and groups of valid cases with one."""
    for group in groups:
        rejected = _violated(group) is not None or _is_decided(group)
        if rejected and group.twin is None:
            what = "its invalid cases have no twin, so a rejection is inconclusive: a backend may reject everything"
            yield group.mistake((), f"{what}. Add `twin` with the keys that make the case valid.")
        if not rejected and group.twin is not None:
            what = "`twin` has no effect, because no case is rejected"
            yield group.mistake((), f"{what}. Add `expect`, or remove `twin`.")


def _profiles(groups: Sequence[Group]) -> Iterator[Mistake]:
    """Profiles of the group's own whose names are nearly the names of shipped profiles."""
    for group in groups:
        own = group.settings.profile
        if own not in PROFILES and (hint := nearest(own, PROFILES)):
            yield group.mistake(("profile",), f"no shipped case has the profile {own!r}. {hint.rstrip()}")


def _behind_others(groups: Sequence[Group]) -> Iterator[Mistake]:
    """Requirements that every group lists after another one, to which a failure is then attributed."""
    counted: set[tuple[str, str]] = set()
    behind: dict[tuple[str, str], tuple[Group, str]] = {}
    for group in groups:
        violated = _violated(group)
        if violated is None:
            first, *others = _left_open(group) or [""]
            counted.add((group.op, first))
            for requirement in others:
                behind.setdefault((group.op, requirement), (group, first))
        else:
            counted |= {(group.op, requirement) for requirement in violated}
    for (op, requirement), (group, first) in behind.items():
        if (op, requirement) not in counted:
            why = f"every group lists another requirement before it, such as {first}"
            what = f"no failure can be attributed to {requirement}, because {why}"
            yield group.mistake((), f"{what}. List it first in a group that tests it.")


def _not_violated(groups: Sequence[Group]) -> Iterator[Mistake]:
    """Requirements that a group of invalid cases lists and that none of its cases violates."""
    for group in groups:
        violated = _violated(group)
        for requirement in group.settings.requirements:
            if violated is not None and requirement not in violated:
                what = f"its cases do not violate {requirement}, so they do not test it"
                yield group.mistake((), f"{what}. Remove it from `requirements`.")


def _unused(groups: Sequence[Group]) -> Iterator[Mistake]:
    for group in groups:
        settings = [value for name, value in group.settings if name != "matrix"]
        text = repr((group.keys, group.twin, settings, [*group.settings.matrix.values()]))
        for name in group.settings.matrix.keys() - ({"sample"} if group.samples else set()):
            if not re.search(rf"\b{name}\b", text):
                yield group.mistake(("matrix", name), f"the matrix variable {name} is not used, so it adds no case.")


def _repeated(groups: Sequence[Group]) -> Iterator[Mistake]:
    for group in groups:
        for name, values in group.settings.matrix.items():
            seen: set[str] = set()
            for index, value in enumerate(() if is_expression(values) else values):
                if repr(value) in seen:
                    what = f"the matrix variable {name} has the value {quoted(value)} twice, which adds no case"
                    yield group.mistake(("matrix", name, index), f"{what}.")
                seen.add(repr(value))


def _violated(group: Group) -> set[str] | None:
    """The requirements that invalid cases violate, all that are listed where an expression decides; else None."""
    expect = group.keys.get("expect", "accept")
    if expect == "accept" or _is_decided(group):
        return None
    named = [expect["reject"], *expect.get("also", ())] if isinstance(expect, dict) else [expect]
    return set(group.settings.requirements) if any(map(is_expression, named)) else set(named)


def _is_decided(group: Group) -> bool:
    return group.keys.get("expect") == "semantics"


def _left_open(group: Group) -> list[str]:
    """The normative requirements that a group of valid cases lists and that no comparison establishes."""
    known, bits = requirements_of(group.op), bits_of(group.op)
    first = (names for stage, names in known.establishes.items() if stage != "value")  # nothing is compared after it
    established = {bits, *(name for names in first for name in names)}
    return [
        requirement
        for requirement in group.settings.requirements
        if requirement not in established and known.by_id[requirement].level == "normative"
    ]
