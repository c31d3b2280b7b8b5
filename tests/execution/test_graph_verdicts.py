"""Graphs under test that fail: by the graph, where each node passes alone, and otherwise by the node."""

from pathlib import Path
from typing import Any

import pytest

from opconform.suite.reader import Suite, open_suite
from opconform_runners.verdicts.neighbours import with_neighbour_check
from opconform_runners.verdicts.verdict import Fail, Nondeterministic, Pass, Unsupported
from tests.conftest import MINIATURES, Run
from tests.result_files import cases_in

SPEC = """\
op: Graph-1
groups:
  - id: sum-behind
    title: a sum behind a product
    requirements: [values.behind]
    inputs: {x: {shape: [2, 2], fill: ramp}}
    nodes:
      product: {op: Multiply-1, a: x, b: -2}
      sum: {op: Add-1, a: product, b: [1, -3]}
    outputs: [sum]
"""
WRONG = "output_0[0, 0]: expected -1.0 (0xbf800000), got"


@pytest.fixture(scope="module")
def suite(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """A suite of one graph."""
    folder = tmp_path_factory.mktemp("graphs")
    (folder / "a.yaml").write_text(SPEC)
    opconform("generate", folder / "a.yaml", "--out", folder / "suite", "--jobs", "1")
    return open_suite(folder / "suite")


def failed(opconform: Run, suite: Suite, out: Path, name: str, code: int = 1) -> dict[str, Any]:
    """The result of a miniature that fails the graph."""
    opconform("run", suite.store.root, "--backend", f"{MINIATURES}:{name}", "--out", out, code=code)
    case: dict[str, Any]
    [case] = cases_in(out)
    return case


def test_a_graph_whose_nodes_pass_alone_is_at_fault_itself(opconform: Run, suite: Suite, tmp_path: Path) -> None:
    """It breaks the requirement on the pattern."""
    case = failed(opconform, suite, tmp_path / "out", "DropsBehind")

    assert (case["verdict"], case["broken"]) == ("fail", ["values.behind"])
    assert case["sentence"].startswith(f"{WRONG} -2.0 (0xc0000000)")
    assert case["sentence"].endswith("; each of its operations passes alone")


def test_a_node_that_fails_alone_is_named(opconform: Run, suite: Suite, tmp_path: Path) -> None:
    """The fault counts in the cases of the operation, so that the run is conformant as far as it goes."""
    case = failed(opconform, suite, tmp_path / "out", "AddsWithoutSigns", code=0)

    assert (case["verdict"], case["broken"]) == ("fail", ["nodes.alone"])
    assert (
        f"; Add-1 (sum) fails alone, too: {WRONG.replace('output_0', 'output_1')} 1.0 (0x3f800000)" in case["sentence"]
    )


def test_what_a_failure_says_of_the_nodes(suite: Suite) -> None:
    """A crash is one of a node only if a node crashes alone, and only one verdict of two executions is told of."""
    [entry] = suite.entries
    case = suite.case(entry)
    value, crash = Fail(reason="value", sentence="it fails."), Fail(reason="crash", sentence="it crashed")
    twice = Nondeterministic(first=value, second=Pass())

    assert with_neighbour_check(case, value, Pass()) == Fail(
        reason="value", sentence="it fails; each of its operations passes alone"
    )
    assert with_neighbour_check(case, value, Unsupported(why="no sums")) == Fail(
        reason="value", sentence="it fails; its operations alone have no verdict: no sums"
    )
    assert with_neighbour_check(case, crash, value) == crash
    assert with_neighbour_check(case, crash, crash) == Fail(
        reason="crash",
        sentence="it crashed; one of its operations fails alone, too: it crashed",
        node_fails=True,
    )
    assert with_neighbour_check(case, twice, Pass()) == twice


def test_a_failure_shows_how_the_graph_is_made(opconform: Run, suite: Suite, tmp_path: Path) -> None:
    """Its nodes as calls, with inputs and constants by name."""
    case = failed(opconform, suite, tmp_path / "out", "DropsBehind")

    assert "product = Multiply-1(x, b_of_product), sum = Add-1(product, b_of_sum)" in case["inputs"]
