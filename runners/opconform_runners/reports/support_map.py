"""The map of what backends support: their valid cases by operation and by a property of the case, such as the rank."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from types import MappingProxyType
from typing import Literal, NamedTuple

from opconform.suite.case import Case, Input
from opconform.suite.declarations import Declaration, Port
from opconform.suite.reader import Suite
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_runners.findings.failures import standings
from opconform_runners.findings.report import Report
from opconform_runners.reports.backend_matrix import Column

FORMAT = 1
State = Literal["supported", "partly", "wrong", "rejected", "refused", "undecided"]
#: The reasons of failures in which a backend executed nothing: it refused a case that it has to execute.
_REFUSALS: Mapping[str, str] = {"rejected-valid": "rejected", "claimed": "refused"}
_FATES: Mapping[str, str] = {"pass": "right", "fail": "wrong", "unsupported": "refused"}
#: The order of the values, as far as it is not the alphabet's.
_ORDER = (*ELEMENT_TYPES, "constant", "run time", "both", "static", "dynamic dimensions", "dynamic rank", "bare")


class Facets(NamedTuple):
    """The properties of a case that the map has a table for.

    Attributes:
        type: The element type of the data, which is the first input of the operation.
        rank: The rank of the data.
        binding: Whether the setting inputs are `constant`, known at `run time`, `both` or `none`.
        dynamic: Whether the inputs are `static`, have `dynamic dimensions`, or one has a `dynamic rank`.
        context: How the graph surrounds the operation.
    """

    type: str
    rank: str
    binding: str
    dynamic: str
    context: str


#: The facets, with their titles.
FACETS: Mapping[str, str] = MappingProxyType(
    {
        "type": "Element type",
        "rank": "Rank",
        "binding": "Setting inputs",
        "dynamic": "Shapes",
        "context": "Context",
    }
)
#: The facets of the case with an id, or None.
FacetsById = Callable[[str], Facets | None]


class Cell(NamedTuple):
    """How many valid cases of an area a backend executed, refused or left undecided.

    Attributes:
        right: The outputs are right.
        deviating: The outputs deviate from an interpretation only, which does not count against the backend.
        wrong: The outputs are wrong, or the backend crashed or did not answer.
        rejected: The case was rejected as invalid.
        refused: The case is not supported, or an interpretation that does not count allows to reject it.
        undecided: The case proves nothing, or has no verdict.
    """

    right: int = 0
    deviating: int = 0
    wrong: int = 0
    rejected: int = 0
    refused: int = 0
    undecided: int = 0

    @property
    def cases(self) -> int:
        """How many cases there are."""
        return sum(self)

    @property
    def supported(self) -> int:
        """How many cases were executed without a failure that counts."""
        return self.right + self.deviating

    @property
    def is_refused(self) -> bool:
        """Whether it is known that no case was executed."""
        return self.rejected + self.refused == self.cases

    @property
    def state(self) -> State | None:
        """What the cell says; None without a case."""
        if self.wrong:
            return "wrong"
        if self.supported:
            return "supported" if self.supported == self.cases else "partly"
        if self.rejected or self.refused:
            return "rejected" if self.rejected else "refused"
        return "undecided" if self.undecided else None


def place_of(value: str) -> tuple[object, ...]:
    """The place of a value among the values of its facet, to sort by."""
    place = _ORDER.index(value) if value in _ORDER else len(_ORDER)
    return value == "none", place, len(value) if value.isdigit() else 0, value


class Area(NamedTuple):
    """The valid cases of an operation: all, or those with one value of a facet."""

    operation: str
    facet: str = ""
    value: str = ""


@dataclass(frozen=True, kw_only=True)
class SupportMap:
    """What some runs on one suite show to be supported: for each area one cell per backend."""

    columns: tuple[Column, ...]
    cells: Mapping[Area, tuple[Cell, ...]]

    @cached_property
    def operations(self) -> tuple[str, ...]:
        """The operations that have valid cases."""
        return tuple(area.operation for area in self.cells if not area.facet)

    def values(self, facet: str) -> dict[str, int]:
        """The values of a facet in the order of the map, with the number of cases."""
        sizes: Counter[str] = Counter()
        for area, cells in self.cells.items():
            if area.facet == facet:
                sizes[area.value] += max(cell.cases for cell in cells)
        return {value: sizes[value] for value in sorted(sizes, key=place_of)}

    @cached_property
    def nowhere(self) -> tuple[Area, ...]:
        """What no backend executed: operations, then what of the others; nothing that is undecided on a backend."""
        refused = [area for area, cells in self.cells.items() if all(cell.is_refused for cell in cells)]
        whole = {area.operation for area in refused if not area.facet}
        parts = [area for area in refused if area.facet and area.operation not in whole]
        return (*(Area(operation) for operation in sorted(whole)), *parts)


def facets_by_id(suite: Suite | None) -> FacetsById:
    """A function that reads the facets of a case once; None for a case that the suite does not have."""

    @cache
    def read(identity: str) -> Facets | None:
        if suite is None or identity not in suite.by_id:
            return None
        case = suite.recent_case(suite.by_id[identity])
        return facets_of(case, next((x for x in suite.header.declarations if x.name == case.op), None))

    return read


def facets_of(case: Case, declaration: Declaration | None) -> Facets:
    """The facets of a case, given the declaration of its operation if there is one."""
    ports = () if declaration is None else declaration.inputs
    first = next((x for x in case.inputs if not ports or ports[0].takes(x.name)), None)
    bindings = {"constant" if x.binding == "constant" else "run time" for x in case.inputs if _is_setting(x, ports)}
    dynamic = [x.dynamic for x in case.inputs if x.dynamic is not None]
    return Facets(
        type="none" if first is None else first.element_type,
        rank="none" if first is None else str(len(first.shape)),
        binding="both" if len(bindings) > 1 else next(iter(bindings), "none"),
        dynamic="dynamic rank" if "..." in dynamic else "dynamic dimensions" if dynamic else "static",
        context=case.context,
    )


def _is_setting(input_: Input, ports: Sequence[Port]) -> bool:
    return input_.role == "setting" or any(port.setting and port.takes(input_.name) for port in ports)


def support_map(columns: Sequence[Column], valid: Mapping[str, Facets | None]) -> SupportMap:
    """The map of runs on one suite; `valid` has the facets of its valid cases by id."""
    counts: dict[Area, list[Counter[str]]] = defaultdict(lambda: [Counter() for _ in columns])
    for number, column in enumerate(columns):
        for identity, fate in _fates(column.report):
            if (facets := valid.get(identity)) is not None:
                for area in _areas(identity.partition("/")[0], facets):
                    counts[area][number][fate] += 1
    cells = {area: tuple(Cell(**of_backend) for of_backend in counts[area]) for area in sorted(counts, key=_row_of)}
    return SupportMap(columns=tuple(columns), cells=cells)


def _areas(operation: str, facets: Facets) -> Iterator[Area]:
    yield Area(operation)
    yield from (Area(operation, name, value) for name, value in zip(Facets._fields, facets, strict=True))


def _fates(report: Report) -> Iterator[tuple[str, str]]:
    """The ids of the cases of a run, with the field of `Cell` that counts each."""
    stands = standings(replace(report, baseline=None))
    for result in report.results:
        is_refusal = result.reason in _REFUSALS
        if stands[result.id] == "read":
            yield result.id, "refused" if is_refusal else "deviating"
        else:
            yield result.id, _REFUSALS[result.reason or ""] if is_refusal else _FATES.get(result.verdict, "undecided")
    yield from ((identity, "undecided") for identity in report.missing)


def _row_of(area: Area) -> tuple[object, ...]:
    order = ("", *Facets._fields)
    return area.operation, order.index(area.facet), place_of(area.value)


def support_document(found: SupportMap) -> dict[str, object]:
    """A map as a JSON object."""
    implementations = [column.report.implementation for column in found.columns]
    return {
        "format": FORMAT,
        "suite": found.columns[0].report.suite.digest,
        "backends": [
            {"name": column.name, "version": x.version, "device": x.device}
            for column, x in zip(found.columns, implementations, strict=True)
        ],
        "nowhere": [_filled(area._asdict()) for area in found.nowhere],
        "map": [
            _filled(area._asdict())
            | {
                "backends": {
                    column.name: {"state": cell.state, "cases": cell.cases} | _filled(cell._asdict())
                    for column, cell in zip(found.columns, cells, strict=True)
                    if cell.cases
                }
            }
            for area, cells in found.cells.items()
        ],
    }


def _filled(document: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in document.items() if value}
