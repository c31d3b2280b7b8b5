"""The map of what backends support, from results made by hand."""

from dataclasses import replace

import pytest

from opconform.errors import MissingError
from opconform.operations import OPERATIONS
from opconform.suite.case import Binding, Case, Dynamic, Graph, Input, Node, Role
from opconform.suite.reader import Suite
from opconform_runners.findings.report import Report
from opconform_runners.reports.backend_matrix import Column
from opconform_runners.reports.html.page import page_text
from opconform_runners.reports.html.support import map_data, map_of, section_values
from opconform_runners.reports.support_map import (
    Area,
    Cell,
    Facets,
    State,
    SupportMap,
    facets_by_id,
    facets_of,
    support_document,
    support_map,
)
from opconform_runners.verdicts.tally import Kind, Tally
from opconform_runners.verdicts.verdict import FailReason
from tests.reports.conftest import subject
from tests.reports.test_coverage import report, result

PLAIN = Facets(type="f32", rank="2", binding="constant", dynamic="static", context="bare")


def map_from(*reports: Report, facets: tuple[Facets, ...] = (PLAIN,) * 9) -> SupportMap:
    """The map of backends named `a`, `b`, …, of which the case with each number has the facets at that place."""
    columns = [Column(name=name, report=of_backend) for name, of_backend in zip("abc", reports, strict=False)]
    return support_map(columns, {f"Split-1/group/{number:010x}": of_case for number, of_case in enumerate(facets)})


@pytest.mark.parametrize(
    ("cell", "state"),
    [
        (Cell(right=2), "supported"),
        (Cell(right=1, deviating=1), "supported"),
        (Cell(right=1, refused=1), "partly"),
        (Cell(right=1, rejected=1), "partly"),
        (Cell(right=1, undecided=1), "partly"),
        (Cell(right=9, wrong=1, refused=1), "wrong"),
        (Cell(refused=2), "refused"),
        (Cell(refused=2, undecided=1), "refused"),
        (Cell(refused=2, rejected=1), "rejected"),
        (Cell(undecided=1), "undecided"),
        (Cell(), None),
    ],
)
def test_a_cell_has_one_state(cell: Cell, state: State | None) -> None:
    """Wrong results outweigh what is right, and anything that was executed outweighs what was refused."""
    assert cell.state == state


def test_a_case_is_counted_by_its_verdict_and_its_reason() -> None:
    """A valid case that is rejected was not executed; a deviation from an interpretation is not wrong."""
    value, crash, rejection = (replace(result(n, "fail"), broken=("axis.range",)) for n in (1, 2, 3))
    excused, rejected = (result(n, "fail", broken=("data.rank",)) for n in (4, 5))
    found = map_from(
        report(
            result(0, "pass"),
            value,
            replace(crash, reason="crash"),
            replace(rejection, reason="rejected-valid"),
            excused,
            replace(rejected, reason="rejected-valid"),
            result(6, "unsupported"),
            result(7, "inconclusive"),
            missing=("Split-1/group/0000000008",),
        )
    )

    assert found.cells[Area("Split-1")] == (Cell(right=1, deviating=1, wrong=2, rejected=1, refused=2, undecided=2),)


@pytest.mark.parametrize("reason", ["count", "element-type", "shape", "timeout", "nondeterministic"])
def test_any_other_failure_of_a_valid_case_is_a_wrong_result(reason: FailReason) -> None:
    """Whatever the backend gave instead of the right outputs."""
    found = map_from(report(replace(result(0, "fail"), reason=reason)))

    assert found.cells[Area("Split-1")] == (Cell(wrong=1),)


def test_only_valid_cases_are_in_the_map() -> None:
    """An invalid case that is rejected says nothing about support."""
    assert map_from(report(result(0, "pass"), result(1, "pass")), facets=(PLAIN,)).cells[Area("Split-1")] == (
        Cell(right=1),
    )


def test_each_operation_has_a_cell_for_each_value_of_a_facet() -> None:
    """Element types in the order of the element types, ranks as numbers, the usual values before the unusual ones."""
    kinds = (
        PLAIN,
        Facets("i4", "10", "none", "dynamic rank", "then"),
        Facets("bf16", "9", "run time", "dynamic dimensions", "chain"),
    )
    found = map_from(report(result(0, "pass"), result(1, "unsupported"), result(2, "pass")), facets=kinds)

    assert {facet: found.values(facet) for facet in Facets._fields} == {
        "type": {"bf16": 1, "f32": 1, "i4": 1},
        "rank": {"2": 1, "9": 1, "10": 1},
        "binding": {"constant": 1, "run time": 1, "none": 1},
        "dynamic": {"static": 1, "dynamic dimensions": 1, "dynamic rank": 1},
        "context": {"bare": 1, "chain": 1, "then": 1},
    }
    assert found.cells[Area("Split-1", "rank", "10")] == (Cell(refused=1),)
    assert found.cells[Area("Split-1", "rank", "9")] == (Cell(right=1),)


def test_what_no_backend_executed_is_listed() -> None:
    """Unless a backend has no verdict on it, which may have executed it; of an operation as a whole no parts are listed."""
    kinds = (PLAIN, PLAIN._replace(type="u1"), PLAIN._replace(type="u2"), PLAIN._replace(type="u3"))
    first = report(result(0, "pass"), result(1, "unsupported"), result(2, "unsupported"), result(3, "unsupported"))
    rejection = replace(result(1, "fail", broken=("axis.range",)), reason="rejected-valid")
    second = report(result(0, "unsupported"), rejection, result(2, "pass"), result(3, "inconclusive"))
    none = report(result(0, "unsupported"), result(1, "unsupported"))

    assert map_from(first, second, facets=kinds).nowhere == (Area("Split-1", "type", "u1"),)
    assert map_from(none, none, facets=kinds).nowhere == (Area("Split-1"),)


def test_a_value_that_no_operation_executes_is_one_link() -> None:
    """Instead of one per operation."""
    ids = [f"{op}/group/0000000000" for op in ("Concat-1", "Split-1")]
    refused = [replace(result(0, "unsupported"), id=identity) for identity in ids]
    passes = [replace(result(0, "pass"), id=identity.replace("000", "001", 1)) for identity in ids]
    valid = {x.id: PLAIN._replace(type="u1" if x in refused else "f32") for x in (*refused, *passes)}
    columns = [Column(name=name, report=report(*refused, *passes)) for name in "ab"]

    assert section_values(support_map(columns, valid))["nowhere"] == [
        ("Element type u1", [("all 2 operations with such cases", "#cases?expect=accept&type=u1")])
    ]


def test_the_map_is_a_json_object() -> None:
    """Counts of 0 and backends without a case are left out."""
    kinds = (PLAIN, PLAIN._replace(type="u1"))
    found = map_from(
        report(result(0, "pass"), result(1, "unsupported")), report(result(1, "unsupported")), facets=kinds
    )
    document = support_document(found)
    rows = document["map"]

    assert isinstance(rows, list)
    assert document | {"map": rows[:3]} == {
        "format": 1,
        "suite": "0" * 64,
        "backends": [{"name": "a", "version": "1", "device": None}, {"name": "b", "version": "1", "device": None}],
        "nowhere": [{"operation": "Split-1", "facet": "type", "value": "u1"}],
        "map": [
            {
                "operation": "Split-1",
                "backends": {
                    "a": {"state": "partly", "cases": 2, "right": 1, "refused": 1},
                    "b": {"state": "refused", "cases": 1, "refused": 1},
                },
            },
            {
                "operation": "Split-1",
                "facet": "type",
                "value": "f32",
                "backends": {"a": {"state": "supported", "cases": 1, "right": 1}},
            },
            {
                "operation": "Split-1",
                "facet": "type",
                "value": "u1",
                "backends": {
                    "a": {"state": "refused", "cases": 1, "refused": 1},
                    "b": {"state": "refused", "cases": 1, "refused": 1},
                },
            },
        ],
    }


def case(*inputs: Input, op: str = "Split-1") -> Case:
    """A case with these inputs."""
    node = Node(name="node", op=op, inputs=tuple(x.name for x in inputs), outputs=("out",), under_test=True)
    return Case(
        id=f"{op}/group/0000000000",
        op=op,
        title="title",
        profile="core",
        requirements=(),
        context="chain",
        feeds=1,
        inputs=inputs,
        graph=Graph(nodes=(node,), outputs=("out",)),
    )


def tensor(
    name: str, role: Role = "data", *, binding: Binding = "parameter", dynamic: Dynamic | None = None, rank: int = 2
) -> Input:
    """An input; its element type tells the roles apart."""
    kind = "f16" if role == "data" else "i32"
    return Input(name=name, role=role, element_type=kind, shape=(2,) * rank, binding=binding, dynamic=dynamic)


def test_the_facets_of_a_case_are_those_of_its_first_port_and_its_setting_inputs() -> None:
    """Whatever the order in the case; indices are a setting input, although a spec may fill them like data."""
    axis, run_time = tensor("axis", "setting", binding="constant", rank=0), tensor("indices", rank=1)
    split, gather, concat = (OPERATIONS[op].declaration for op in ("Split-1", "Gather-8", "Concat-1"))
    mixed = case(axis, tensor("data", dynamic=("?", 2)), run_time, op="Gather-8")
    several = case(tensor("inputs_0", dynamic=("?", 2)), tensor("inputs_1", dynamic="..."), op="Concat-1")

    assert facets_of(case(axis, tensor("data")), split) == Facets("f16", "2", "constant", "static", "chain")
    assert facets_of(mixed, gather) == Facets("f16", "2", "both", "dynamic dimensions", "chain")
    assert facets_of(several, concat) == Facets("f16", "2", "none", "dynamic rank", "chain")
    assert facets_of(case(axis), split) == Facets("none", "none", "constant", "static", "chain")
    assert facets_of(case(axis), None) == Facets("i32", "0", "constant", "static", "chain")


def test_the_facets_of_a_case_are_read_from_its_suite(suite: Suite) -> None:
    """There are none of a case that the suite does not have."""
    read = facets_by_id(suite)

    assert read(suite.entries[0].id) == Facets("f32", "2", "constant", "static", "bare")
    assert read("Split-1/another/0000000000") is None


def test_without_the_suite_or_passing_cases_there_is_no_map(suite: Suite) -> None:
    """The page of the runs has no such part then, and the page of the map alone says why."""
    kind = Kind(op="Split-1", profile="core", verdict="pass", requirements=())
    alone = [subject(report(result(1, "pass")))]
    streamed = [subject(replace(report(), tallies=(Tally(kind=kind, cases=1),)), suite=suite)]
    foreign = [subject(report(result(1, "pass")), suite=suite)]

    for subjects, sentence in (
        (alone, r"The suite of these results was not found, so there is no map\. Name it with --suite\."),
        (streamed, r"The streamed run of some 1 only counted the cases that pass, so there is no map\. Run a suite "),
        (foreign, r"These results have no valid case, so there is no map\."),
    ):
        with pytest.raises(MissingError, match=sentence):
            map_of(subjects)
        assert 'id="support"' not in page_text(subjects)


def test_the_script_reads_one_row_of_cells_per_operation() -> None:
    """A backend without a case has a 0, and a value without any case has nothing."""
    kinds = (PLAIN, PLAIN._replace(type="u1"))
    found = map_from(report(result(0, "pass")), report(result(1, "unsupported")), facets=kinds)
    data = map_data(found)
    tables = data["tables"]

    assert isinstance(tables, dict)
    assert data["rows"] == [["Split-1", [["supported", 1, 0, 0, 0, 0, 0], ["refused", 0, 0, 0, 0, 1, 0]]]]
    assert tables["type"] == {
        "title": "Element type",
        "values": [("f32", 1), ("u1", 1)],
        "rows": [[[["supported", 1, 0, 0, 0, 0, 0], 0], [0, ["refused", 0, 0, 0, 0, 1, 0]]]],
    }
