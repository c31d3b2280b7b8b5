"""What is known to be findable in the core: recorded kills, the rows of findings, and normative requirements."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from maintenance.findings import products

from opconform.generation.expansion import expand
from opconform.model.draft import Draft
from opconform.model.golden import file_bytes
from opconform.specs.group import Spec
from opconform.specs.requirements import requirements_of
from tests.mutants.kills import CORE
from tests.quick.cover import CoreCase, Fault

#: What a requirement and a row of findings are worth: more than any number of mutants that one case kills, and a
#: requirement with a rejected case and its twin more than any row.
_REQUIREMENT, _ROW = 10_000.0, 1_000.0


def core_drafts(specs: Sequence[Spec]) -> list[Draft]:
    """The cases of the core."""
    return [case for spec in specs for x in spec.groups if x.settings.profile == CORE for case in expand(x)]


def core_cases(drafts: Sequence[Draft]) -> dict[str, CoreCase]:
    """What a cover needs to know of the cases, by id."""
    return {x.id: CoreCase(id=x.id, twin=x.twin, size=file_bytes(x)) for x in drafts}


def requirement_faults(drafts: Sequence[Draft]) -> Iterator[Fault]:
    """Each normative requirement, with its valid cases and with its invalid ones."""
    cases: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for draft in drafts:
        kind = "accept" if draft.rejected_for is None else "reject"
        for name in draft.requirements if draft.rejected_for is None else (draft.rejected_for,):
            row = requirements_of(draft.op).by_id.get(name)
            if row is not None and row.level == "normative":
                cases[draft.op, name, kind].append(draft.id)
    for (op, name, kind), ids in cases.items():
        yield Fault(name=f"requirements {op}:{name} {kind}", finders=tuple(ids), weight=_REQUIREMENT)


def finding_faults(cases: Mapping[str, CoreCase]) -> Iterator[Fault]:
    """The rows of the findings in all products, with their cases in the core."""
    for product, rows in products().items():
        for row in rows.findings:
            if finders := tuple(id_ for id_ in row.cases if id_ in cases):
                yield Fault(name=f"findings/{product} {row.number}", finders=finders, weight=_ROW)


def mutant_faults(record: Path, cases: Mapping[str, CoreCase]) -> Iterator[Fault]:
    """The mutants of an operation that cases of the core kill, as recorded in a file."""
    document = json.loads(record.read_text())
    for name, indices in document["kills"].items():
        if finders := tuple(x for index in indices if (x := document["cases"][index]) in cases):
            yield Fault(name=f"{name} ({record.stem})", finders=finders)
