"""Rules on requirements: each has evidence, failures count against the right one, and interpretations decide alone."""

from collections import defaultdict
from collections.abc import Iterator

from opconform.errors import SpecError
from opconform.generation.case_files import case_files
from opconform.generation.options import Options
from opconform.specs.attribution import warnings_of
from opconform.specs.group import Group
from opconform.suite.manifest import Level
from opconform_runners.tools.house.exceptions import is_excepted
from opconform_runners.tools.house.lacks import Lack, lacks_in
from opconform_runners.tools.house.operation import CORE, HouseOperation

#: What a case of an interpretation may list beside it, by the ids that operations share: what outputs are once the
#: case is accepted.
_OF_OUTPUTS = frozenset({"outputs.count", "outputs.element-type", "outputs.order", "outputs.shape"})
#: The common floating-point types whose random bits are NaNs now and then, and the fills with such bits.
_FLOATS, _BITS = frozenset({"bf16", "f16", "f32", "f64", "f8e4m3", "f8e5m2"}), ("bits", "special")
_NORMATIVE: Level = "normative"
_NO_MODELS = Options(dialects=())


def evidence(house: HouseOperation) -> Iterator[Lack]:
    """Each requirement has a valid case, and a rejected one where it can be violated; normative ones in `core`."""
    accepted: dict[str, set[str]] = defaultdict(set)
    rejected: dict[str, set[str]] = defaultdict(set)
    for draft in house.drafts:
        for name in draft.requirements if draft.twin is None else ():
            accepted[name].add(draft.profile)
        if draft.rejected_for is not None:
            rejected[draft.rejected_for].add(draft.profile)
    for x in house.requirements.requirements:
        where = f" of the profile {CORE}" if x.level == _NORMATIVE else ""
        if not (CORE in accepted[x.id] if where else accepted[x.id]):
            yield house.lack(
                x.id, f"no valid case{where} lists {x.id}: name it in `requirements` of a group that tests it"
            )
        if x.violable and not (CORE in rejected[x.id] if where else rejected[x.id]):
            todo = f"write a group with `expect: {{reject: {x.id}}}` and a `twin`"
            yield house.lack(x.id, f"no case{where} violates {x.id}: {todo}")
        if not x.violable and rejected[x.id]:
            yield house.lack(x.id, f"cases violate {x.id}: set `violable: true`")


def attribution(house: HouseOperation) -> Iterator[Lack]:
    """`generate` has no warning: each requirement is listed first in some group, and each invalid case has a twin."""
    yield from lacks_in(warnings_of(house.specs), f"cases/{house.name}")
    for group, drafts in house.cases:
        if any(not draft.requirements for draft in drafts):
            yield house.group_lack(group, "a case lists no requirement. Name what it tests in `requirements`.")


def own_reasons(house: HouseOperation) -> Iterator[Lack]:
    """No two groups have the same title or the same case, and the core is not random.

    Groups of every operation may have cases of others.
    """
    titles: dict[str, str] = {}
    for group, _ in house.cases:
        first = titles.setdefault(group.settings.title, group.id)
        if first != group.id:
            yield house.group_lack(group, f"the group {first} has the same title. Say what only this one tests.")
        if group.settings.profile == CORE and group.settings.random is not None:
            yield house.group_lack(group, f"its cases are random. Use another profile than {CORE}.")
    origins: dict[str, str] = {}
    for group, drafts in house.cases:
        if group.samples is None:
            others = {origins.setdefault(draft.digits, group.id) for draft in drafts if not draft.is_twin} - {group.id}
            for other in sorted(others):
                yield house.group_lack(group, f"the group {other} has a case of it, too. Remove one of the two.")
    for group, drafts in house.cases:
        shared = {origins[draft.digits] for draft in drafts if not draft.is_twin and draft.digits in origins}
        if group.samples is not None and shared:
            yield from _repeated(house, group.id, shared)


def _repeated(house: HouseOperation, every: str, shared: set[str]) -> Iterator[Lack]:
    """The groups with a case that the group of every operation has, too."""
    for group in house.groups:
        if group.id in shared and group.samples is None:
            yield house.group_lack(group, f"the group {every} of cases/every has a case of it, too. Remove it here.")


def interpretations(house: HouseOperation) -> Iterator[Lack]:
    """An interpretation decides about nothing else, and one that no case violates has another reading."""
    known = house.requirements
    compared = {name for part in ("nan-payload", "rounding") for name in known.establishes.get(part, ())}
    open_ones = {x.id for x in known.requirements if x.level != _NORMATIVE and not x.violable}
    readings = house.operation.readings
    for name in sorted(open_ones - compared - {*readings}):
        yield house.lack(
            name, f"{name} has no other reading: declare one in `readings` of the operation, or a violation"
        )
    for name in sorted(x for x in {*readings} - open_ones if not readings[x].by_element):
        yield house.lack(name, f"{name} has another reading, but is no interpretation that no case can violate")
    for group, drafts in house.cases:
        if _is_excepted(group, "interpretations"):
            continue
        listed = {*group.settings.requirements}
        read = {name for name in listed if known.by_id[name].level != _NORMATIVE}
        others = listed - read
        if read - compared and others:
            allowed = not any(draft.rejected_for for draft in drafts)
            for name in sorted(others - _OF_OUTPUTS if allowed else others):
                what = f"it lists {name} beside the interpretation {min(read - compared)}. Test each in its own group."
                yield house.group_lack(group, what)


def nan_payloads(house: HouseOperation) -> Iterator[Lack]:
    """Cases with random bits of floats list the requirement on NaN payloads, which a change of one breaks alone."""
    payloads = {*house.requirements.establishes.get("nan-payload", ())}
    for group, drafts in house.cases:
        if group.settings.profile == "large" or _is_excepted(group, "nan-payloads"):
            continue
        for draft in drafts:
            data = (x for name, x in draft.tensors.items() if house.operation.port_of(name).role == "data")
            has_nans = any(x.element_type in _FLOATS and x.fill in _BITS for x in data)
            if has_nans and payloads - {*draft.requirements}:
                todo = f"List {', '.join(sorted(payloads))}."
                yield house.group_lack(
                    group, f"its cases have NaNs, and do not list what is said of their payloads. {todo}"
                )
                break


def _is_excepted(group: Group, rule: str) -> bool:
    """Whether a group need not keep a rule; groups of the core always keep it."""
    return group.settings.profile != CORE and is_excepted(group.op, rule)


def rounding(house: HouseOperation) -> Iterator[Lack]:
    """`establishes` names a requirement on rounding if results have bounds; without it, no such case is written."""
    samples = house.samples
    is_numeric = samples is not None and any(sample["computes"] for sample in samples.described())
    if not is_numeric or "rounding" in house.requirements.establishes:
        return
    for draft in house.drafts:
        if draft.profile == CORE and draft.rejected_for is None:
            try:
                case_files(draft, _NO_MODELS)
            except SpecError as error:
                yield from lacks_in([str(error)], house.file("requirements.yaml"))
                return
