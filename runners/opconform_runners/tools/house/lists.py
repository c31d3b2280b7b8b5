"""Rules on files that are written from the cases, and on the profile `exhaustive`."""

import json
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from opconform.generation.identity.header import SUITE_VERSION, spec_digests
from opconform.model.draft import Draft
from opconform.specs.index import INDEX, cases_folder, index_of
from opconform.suite.release import TABLE, specs_digests
from opconform.suite.selection.quick import LIST, QUICK, quick_cases
from opconform.suite.selection.selection import EXHAUSTIVE
from opconform_runners.tools.house.lacks import Lack
from opconform_runners.tools.house.operation import CORE, HouseOperation

#: The most requirements that are named.
_NAMED = 3
#: A requirement, and whether cases are evidence for it by being accepted.
Evidence = tuple[str, bool]


def exhaustive(house: HouseOperation) -> Iterator[Lack]:
    """All small arguments are tested by the profile `exhaustive`, whose cases are in a file of their own."""
    file = house.file(f"{EXHAUSTIVE}.yaml")
    if file not in {spec.file for spec in house.specs}:
        yield Lack(file, None, f"write groups of the profile {EXHAUSTIVE}, which test all small arguments")
    for spec in house.specs:
        for group in spec.groups:
            if (group.settings.profile == EXHAUSTIVE) is not (spec.file == file):
                yield house.group_lack(group, f"only {file} has the profile {EXHAUSTIVE}, and has no other profile")


def index(house: HouseOperation) -> Iterator[Lack]:
    """The index has the specs as they are."""
    known = index_of([house.name])
    changed = ", ".join((*known.changed, *sorted(known.outdated)))
    if changed:
        yield Lack(f"cases/{INDEX}", None, f"it is out of date for {changed}: run `python -m maintenance.index`")


def quick(house: HouseOperation) -> Iterator[Lack]:
    """The profile `quick` lists cases that exist, with twins, and has what `core` has of each normative requirement."""
    core = {draft.id: draft for draft in house.drafts if draft.profile == CORE}
    listed = {id_ for group, ids in quick_cases().items() if group.startswith(f"{house.name}/") for id_ in ids}
    todo = "run `python -m tests.quick FOLDER`, then `python -m maintenance.index`"
    gone = sorted(listed - core.keys())
    if gone:
        yield Lack(f"cases/{LIST}", None, f"{CORE} has no case {gone[0]}: {todo}")
    twins = {twin for id_ in listed & core.keys() if (twin := core[id_].twin) is not None} - listed
    if twins:
        yield Lack(f"cases/{LIST}", None, f"the twin {min(twins)} is not listed: {todo}")
    lacking = _tested(house, core, core.keys()) - _tested(house, core, listed & core.keys())
    if lacking or not listed:
        names = sorted(f"{name} ({'valid' if is_accepted else 'rejected'})" for name, is_accepted in lacking)
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        what = f"the profile {QUICK} has no case of {', '.join(names[:_NAMED]) or house.name}{more}"
        yield Lack(f"cases/{LIST}", None, f"{what}: {todo}")


def _tested(house: HouseOperation, core: dict[str, Draft], ids: AbstractSet[str]) -> set[Evidence]:
    """The normative requirements that some cases are evidence for."""
    known = house.requirements.by_id
    return {
        (name, draft.rejected_for is None)
        for draft in map(core.__getitem__, ids)
        for name in (draft.requirements if draft.rejected_for is None else (draft.rejected_for,))
        if known[name].level == "normative"
    }


def releases(house: HouseOperation) -> Iterator[Lack]:
    """The table of releases has the specs of the present version as they are."""
    table = json.loads((cases_folder() / TABLE).read_bytes())
    digest = specs_digests(spec_digests(house.specs)).get(house.name)
    if table.get(SUITE_VERSION, {}).get("specs", {}).get(house.name) != digest:
        what = f"the row of the version {SUITE_VERSION} has other cases of {house.name}"
        yield Lack(f"cases/{TABLE}", None, f"{what}: run `python -m maintenance.releases`")
