"""The map of what backends support, as a section of a page."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from opconform.errors import MissingError, counted
from opconform_runners.reports.backend_matrix import counts_text
from opconform_runners.reports.html.subject import Subject, cases_place, suite_of
from opconform_runners.reports.support_map import (
    FACETS,
    Area,
    Cell,
    FacetsById,
    State,
    SupportMap,
    facets_by_id,
    support_map,
)

#: A text and the place in the page that it leads to.
Link = tuple[str, str]
#: The mark of each state, and its meaning.
MARKS: Mapping[State, tuple[str, str]] = MappingProxyType(
    {
        "supported": ("✓", "supported: the right outputs in every case"),
        "partly": ("◐", "partly; 3/8: right in 3 of 8 cases"),
        "wrong": ("✗", "wrong results, crash or timeout; ✗ 2: in 2 cases"),
        "rejected": ("⊘", "rejected as invalid"),
        "refused": ("\N{EN DASH}", "refused as unsupported"),
        "undecided": ("?", "undecided"),
    }
)


def map_of(subjects: Sequence[Subject], facets: FacetsById | None = None) -> SupportMap:
    """The map of runs, given what reads the facets of a case; a MissingError if there is none."""
    found = map_or_why_not(subjects, facets)
    if isinstance(found, str):
        raise MissingError(found)
    return found


def map_or_why_not(subjects: Sequence[Subject], facets: FacetsById | None = None) -> SupportMap | str:
    """The map of runs, or a sentence that says why there is none."""
    suite = suite_of(subjects)
    if suite is None:
        return "The suite of these results was not found, so there is no map. Name it with --suite."
    for subject in subjects:
        if subject.column.report.tallies:
            return (
                f"The streamed run of {subject.column.title} only counted the cases that pass, so there is no map. "
                "Run a suite that `generate` wrote."
            )
    read = facets or facets_by_id(suite)
    valid = {entry.id: read(entry.id) for entry in suite.entries if entry.expect == "accept"}
    found = support_map([subject.column for subject in subjects], valid)
    return found if found.cells else "These results have no valid case, so there is no map."


def section_values(found: SupportMap | None) -> dict[str, object]:
    """The values of the template's section on support; there is no section without a map."""
    return {
        "support": found,
        "support_counts": None if found is None else _totals(found),
        "nowhere": _nowhere(found) if found is not None and len(found.columns) > 1 else [],
        "facets": FACETS,
        "marks": MARKS,
        "counted": counted,
        "cases_place": cases_place,
    }


def map_data(found: SupportMap) -> dict[str, object]:
    """The map as the page's script reads it: for each facet the values, and a row of cells per operation."""
    return {
        "fates": Cell._fields,
        "marks": {state: mark for state, (mark, _) in MARKS.items()},
        "rows": [[operation, _cells(found, Area(operation))] for operation in found.operations],
        "tables": {
            facet: {
                "title": title,
                "values": list(values.items()),
                "rows": [[_cells(found, Area(row, facet, value)) for value in values] for row in found.operations],
            }
            for facet, title in FACETS.items()
            for values in [found.values(facet)]
        },
    }


def _cells(found: SupportMap, area: Area) -> list[object]:
    """For each backend the state and the counts of an area; 0 where there is no case, and nothing without any."""
    return [[cell.state, *cell] if cell.cases else 0 for cell in found.cells.get(area, ())]


def _totals(found: SupportMap) -> list[str]:
    """The valid cases of each backend by what became of them, as in `9 right, 2 refused`."""
    whole = [found.cells[Area(operation)] for operation in found.operations]
    sums = (Cell(*map(sum, zip(*of_backend, strict=True))) for of_backend in zip(*whole, strict=True))
    return [counts_text(cell._asdict()) for cell in sums]


def _nowhere(found: SupportMap) -> list[tuple[str, list[Link]]]:
    """What no backend executed: a row for operations, then one per value with its operations, most operations first."""
    whole = {area.operation for area in found.nowhere if not area.facet}
    rows: dict[Area, list[Link]] = defaultdict(list)
    for operation, facet, value in found.nowhere:
        wanted = {facet: value} if facet else {}
        place = cases_place(op=operation, expect="accept", **wanted)
        rows[Area("", facet, value)].append((operation, place))
    having = Counter((area.facet, area.value) for area in found.cells if area.operation not in whole)
    return [
        (
            f"{FACETS[facet]} {value}" if facet else "Operation",
            [(f"all {len(links)} operations with such cases", cases_place(expect="accept", **{facet: value}))]
            if facet and 1 < len(links) == having[facet, value]
            else links,
        )
        for (_, facet, value), links in sorted(rows.items(), key=lambda row: (row[0].facet != "", -len(row[1])))
    ]
