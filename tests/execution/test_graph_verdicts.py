"""Graphs under test that fail: by the graph, where each node passes alone, and otherwise by the node."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from opconform.suite.reader import Suite, open_suite
from opconform_runners.verdicts.comparison import Mismatch, Reason
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
CONVERTED = """\
op: Graph-1
groups:
  - id: sum-of-a-conversion
    title: a sum of what a conversion gives for a number that its type lacks
    requirements: [values.behind]
    inputs: {x: {values: [200, 1]}}
    nodes:
      narrow: {op: Convert-1, data: x, destination_type: i8}
      sum: {op: Add-1, a: narrow, b: {element_type: i8, values: 1}}
    outputs: [sum]
"""
#: Two outputs, and a node that only the second one follows from.
TWO_OUTPUTS = """\
op: Graph-1
groups:
  - id: two-outputs
    title: a product, and a sum of it
    requirements: [values.behind]
    inputs: {x: {shape: [2, 2], fill: ramp}}
    nodes:
      product: {op: Multiply-1, a: x, b: -2}
      sum: {op: Add-1, a: product, b: [1, -3]}
    outputs: [product, sum]
"""
WRONG = "output_0[0, 0]: expected -1.0 (0xbf800000), got"


@pytest.fixture(scope="module")
def suite(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """A suite of one graph."""
    return suite_of(opconform, tmp_path_factory.mktemp("graphs"), SPEC)


def suite_of(opconform: Run, folder: Path, spec: str) -> Suite:
    """A suite of one spec."""
    (folder / "a.yaml").write_text(spec)
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


def test_another_reading_of_a_node_excuses_a_graph(opconform: Run, tmp_path: Path) -> None:
    """The verdict names the interpretation and the node, and needs no nodes alone."""
    case = failed(opconform, suite_of(opconform, tmp_path, CONVERTED), tmp_path / "out", "KeepsLowBits", code=0)

    assert (case["verdict"], case["broken"]) == ("fail", ["nodes.readings"])
    assert case["sentence"] == (
        "output_0[0]: expected -128 (0x80), got -55 (0xc9); differing elements: 1 of 2; "
        "another reading of Convert-1:floats.clamped (narrow) gives these outputs"
    )


#: Nodes side by side of which one has no output.
LOST = Fail(
    reason="count",
    sentence="expected 3 outputs, got 2",
    outputs=(Mismatch(reason="count", sentence="expected 3 outputs, got 2", feed=0),),
)
REJECTED = Fail(reason="rejected-valid", sentence="it is rejected")


def wrong(*outputs: str, reason: Reason = "value", readings: tuple[str, ...] = ()) -> Fail:
    """A failure in which some outputs differ."""
    mismatches = tuple(Mismatch(reason=reason, sentence=f"{x}: it differs", feed=0, output=x) for x in outputs)
    mismatches = tuple(replace(x, readings=readings) for x in mismatches)
    return Fail(reason=reason, sentence="it fails", mismatch=mismatches[0], outputs=mismatches)


@pytest.mark.parametrize(
    ("graph", "nodes", "end", "node_fails"),
    [
        (wrong("output_0"), wrong("output_1"), "each operation before output_0 passes alone", False),
        (wrong("output_0", "output_1"), wrong("output_1"), "each operation before output_0 passes alone", False),
        (wrong("output_1"), wrong("output_1"), "Add-1 (sum) fails alone, too: output_1: it differs", True),
        (wrong("output_1"), wrong("output_0"), "Multiply-1 (product) fails alone, too: output_0: it differs", True),
        (
            wrong("output_1"),
            wrong("output_0", reason="rounding"),
            "Multiply-1 (product) is less accurate alone, too: output_0: it differs",
            True,
        ),
        (
            wrong("output_1"),
            wrong("output_1", readings=("Add-1:values.wrap@sum",)),
            "Add-1 (sum) alone follows another reading of Add-1:values.wrap (sum): output_1: it differs",
            True,
        ),
        (wrong("output_1"), LOST, "one of its operations fails alone, too: expected 3 outputs, got 2", True),
        (REJECTED, wrong("output_1"), "none of its operations is rejected alone", False),
        (wrong("output_1"), REJECTED, "its operations alone have no verdict: it is rejected", False),
        (REJECTED, REJECTED, "one of its operations fails alone, too: it is rejected", True),
    ],
)
def test_a_wrong_output_is_a_fault_of_the_nodes_that_it_follows_from(
    opconform: Run, tmp_path: Path, graph: Fail, nodes: Fail, end: str, node_fails: bool
) -> None:
    """A node that no wrong output follows from explains nothing."""
    suite = suite_of(opconform, tmp_path, TWO_OUTPUTS)
    [entry] = suite.entries
    verdict = with_neighbour_check(suite.case(entry), graph, nodes)

    assert isinstance(verdict, Fail)
    assert (verdict.sentence, verdict.node_fails) == (f"{graph.sentence}; {end}", node_fails)
