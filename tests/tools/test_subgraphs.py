"""The smallest subgraph that still fails."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast
from unittest import mock

import pytest

from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite, open_suite
from opconform_runners.findings.finding import Subgraph
from opconform_runners.reports.report_file import read_report
from opconform_runners.tools.subgraphs import Search
from opconform_runners.verdicts.results import Result
from tests.conftest import MINIATURES, Run

#: A chain of five nodes, in which a sum is behind a product.
SPEC = """\
op: Graph-1
groups:
  - id: five-nodes
    title: a sum behind a product, between other operations
    requirements: [values.chain]
    inputs: {x: {shape: [2, 3], fill: exact}}
    nodes:
      negative: {op: Negative-1, data: x}
      product: {op: Multiply-1, a: negative, b: -2}
      sum: {op: Add-1, a: product, b: [1, -3, 2]}
      positive: {op: ReLU-1, data: sum}
      turned: {op: Transpose-1, arg: positive, input_order: [1, 0]}
    outputs: [turned]
"""
SENTENCE = "Add-1 behind Multiply-1 (2 of 5 nodes)"
#: How a graph of some nodes ends: the reason of the failure, or None if it passes.
Ending = Callable[[set[str]], str | None]


@pytest.fixture(scope="module")
def suite(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """A suite of one graph."""
    folder = tmp_path_factory.mktemp("graphs")
    (folder / "a.yaml").write_text(SPEC)
    opconform("generate", folder / "a.yaml", "--out", folder / "suite", "--jobs", "1")
    return open_suite(folder / "suite")


def result_of(entry: Entry, reason: str | None) -> Result:
    """A result of a case."""
    verdict: Any = "pass" if reason is None else "fail"
    return Result(id=entry.id, profile=entry.profile, expect="accept", verdict=verdict, reason=cast("Any", reason))


class FakeSession:
    """Executes no case: its nodes decide how it ends."""

    def __init__(self, ending: Ending) -> None:
        self._ending = ending

    def turn_to(self, suite: Suite) -> None:
        """Take another suite."""
        self._suite = suite

    def result_of(self, entry: Entry) -> Result:
        """How the graph of the case ends."""
        case = self._suite.case(self._suite.by_id[entry.id])
        return result_of(entry, self._ending({node.name for node in case.graph.nodes}))


def searched(suite: Suite, folder: Path, ending: Ending, *, executions: int = 40, until: float = math.inf) -> Subgraph:
    """The smallest subgraph of a case that fails by a value."""
    session: Any = FakeSession(ending)
    [entry] = suite.entries
    search = Search(session=session, folder=folder / "parts", until=until, executions=executions)
    found = search.smallest(suite, entry, result_of(entry, "value"))
    assert found is not None
    return found.subgraph


def test_nodes_are_left_out_as_long_as_the_rest_fails(suite: Suite, tmp_path: Path) -> None:
    """At the outputs and at the inputs."""
    found = searched(suite, tmp_path, lambda nodes: "value" if {"sum", "positive"} <= nodes else None)

    assert (found.nodes, found.text, found.is_smallest) == (("sum", "positive"), "ReLU-1 behind Add-1", True)


def test_another_symptom_is_another_failure(suite: Suite, tmp_path: Path) -> None:
    """A part that fails otherwise does not count."""
    found = searched(suite, tmp_path, lambda nodes: "value" if len(nodes) > 3 else "shape")

    assert found.nodes == ("negative", "product", "sum", "positive")
    assert searched(suite, tmp_path / "all", lambda _: "shape").sentence.endswith(" (all 5 nodes)")


def test_a_search_ends_with_its_budget(suite: Suite, tmp_path: Path) -> None:
    """After a number of executions or a time, with what was found so far."""
    once = searched(suite, tmp_path, lambda _: "value", executions=1)

    assert once.sentence.endswith("(4 of 5 nodes; the search was not finished)")
    assert searched(suite, tmp_path, lambda _: "value", until=-math.inf) == replace(
        once,
        nodes=("negative", "product", "sum", "positive", "turned"),
        text="Transpose-1 behind ReLU-1 behind Add-1 behind Multiply-1 behind Negative-1",
    )


def test_an_interrupted_search_leaves_the_run_complete(opconform: Run, suite: Suite, tmp_path: Path) -> None:
    """The report has the finding without its subgraph."""
    with mock.patch.object(Search, "smallest", side_effect=KeyboardInterrupt):
        opconform("run", suite.store.root, "--backend", f"{MINIATURES}:DropsBehind", "--out", tmp_path / "out", code=1)
    report = read_report(tmp_path / "out")
    [finding] = report.findings

    assert (report.conformant, finding.subgraph) == (False, None)


def test_a_finding_names_the_nodes_that_matter(opconform: Run, suite: Suite, tmp_path: Path) -> None:
    """The two of five nodes that a compiler takes for one, in every report, also of merged shards."""
    run = ("run", suite.store.root, "--backend", f"{MINIATURES}:DropsBehind")
    done = opconform(*run, "--out", tmp_path / "out", code=1)
    [finding] = read_report(tmp_path / "out").findings

    assert f"  subgraph {SENTENCE}\n" in done.stdout
    assert finding.subgraph == Subgraph(
        case=finding.cases[0], nodes=("product", "sum"), text="Add-1 behind Multiply-1", of=5
    )

    shown = opconform("show", finding.cases[0], tmp_path / "out", "--suite", suite.store.root).stdout
    assert f"\n  smallest failing subgraph: {SENTENCE}\n" in shown

    formats = {"--html": "a.html", "--sarif": "a.sarif", "--markdown": "a.md", "--junit": "a.xml"}
    opconform("report", tmp_path / "out", *(word for x in formats.items() for word in x), cwd=tmp_path)
    assert f"<dt>Smallest failing subgraph</dt><dd>{SENTENCE}</dd>" in (tmp_path / "a.html").read_text()
    assert f"Smallest failing subgraph: {SENTENCE}." in (tmp_path / "a.sarif").read_text()
    assert f"smallest failing subgraph: <code>{SENTENCE}</code> |" in (tmp_path / "a.md").read_text()

    for shard in ("1", "2"):
        opconform(*run, "--shard", f"{shard}/2", "--out", tmp_path / shard, code=None)
    opconform("merge", tmp_path / "1", tmp_path / "2", "--out", tmp_path / "merged", code=1)
    [merged] = read_report(tmp_path / "merged").findings
    assert merged.subgraph == finding.subgraph
