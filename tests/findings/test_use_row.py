"""The uses in models: the nodes that failures concern."""

from dataclasses import replace

from opconform_runners.findings.report import Report
from opconform_runners.findings.use_row import use_rows, uses_sentence
from opconform_runners.reports.terminal.conclusion import conclusion
from opconform_runners.verdicts.results import Result
from tests.reports.test_coverage import report, result

#: Two uses, of three nodes and of one, which share the cases of a group.
USES = {
    "Split-1/first-use": {"first": 3},
    "Split-1/second-use": {"second": 1},
    "Split-1/both-empty": {"first": 3, "second": 1},
}


def case(group: str, found: Result, profile: str = "core") -> Result:
    """A result as that of a case of a group."""
    return replace(found, id=f"Split-1/{group}/{found.id.rpartition('/')[2]}", profile=profile)


def of_model(*results: Result) -> Report:
    """The report of a run of a model's specs."""
    found = report(*results)
    return replace(found, suite=replace(found.suite, uses=USES))


def failing(number: int, requirement: str = "axis.range") -> Result:
    """A failure that breaks one requirement."""
    return result(number, "fail", requirement, broken=(requirement,))


def test_a_failure_beside_uses_affects_the_nodes_of_all_of_them() -> None:
    """The uses themselves pass."""
    found = of_model(
        case("first-use", result(1, "pass", "axis.range")),
        case("second-use", result(2, "pass", "axis.shape")),
        case("both-empty", failing(3), "robustness"),
    )
    [row] = use_rows(found)

    assert (row.nodes(), row.nodes(row.affected), row.nodes(row.itself)) == (4, 4, 0)
    assert (row.cases, row.failing, {*row.broken}) == (3, 1, {"Split-1:axis.range"})
    assert uses_sentence((row,)) == (
        "Uses in models: 2 uses (4 nodes) of 1 operation touch 2 requirements; 1 of these fails, for 2 uses (4 nodes). "
        "As the models have them, failing: no use; unsupported: no use."
    )


def test_a_use_fails_itself_if_its_own_case_does() -> None:
    """It weighs as much as the nodes that have it."""
    [row] = use_rows(of_model(case("first-use", failing(1)), case("second-use", result(2, "pass", "axis.range"))))

    assert (row.nodes(row.affected), row.nodes(row.itself)) == (3, 3)


def test_a_use_that_the_backend_refuses_is_unsupported() -> None:
    """What lies beside it is not."""
    found = of_model(
        case("first-use", result(1, "unsupported", "axis.range")),
        case("second-use", result(2, "pass", "axis.range")),
        case("both-empty", result(3, "unsupported", "axis.range"), "robustness"),
    )
    [row] = use_rows(found)

    assert {*row.unsupported} == {"first"}
    assert uses_sentence((row,)).endswith("failing: no use; unsupported: 1 use (3 nodes).")


def test_what_does_not_count_affects_no_node() -> None:
    """An interpretation, and a case that stands for no use."""
    found = of_model(case("first-use", failing(1, "data.rank")), failing(2))
    [row] = use_rows(found)

    assert (row.cases, row.failing, row.nodes(row.affected)) == (1, 0, 0)
    assert "none of these fails." in uses_sentence((row,))


def test_a_report_without_uses_does_not_mention_models() -> None:
    """Nor does a suite of other specs beside those of a model."""
    assert use_rows(report(failing(1))) == ()
    assert not [sentence for sentence in conclusion(report(failing(1))) if "models" in sentence]
