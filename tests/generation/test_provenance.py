"""A suite of any specs has the expectations that the reference semantics give for its inputs."""

import hashlib
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from opconform.errors import SuiteError
from opconform.generation.identity.provenance import check_goldens
from opconform.generation.options import Options
from opconform.generation.pipeline import generate
from opconform.specs.loader import load_specs
from opconform.suite.case import Accept, Case, Output, Reject, case_text
from opconform.suite.file_names import CASE
from opconform.suite.manifest import entry_line
from opconform.suite.reader import Suite, open_suite
from tests.forgery import forge, seal

SPEC = """\
op: VariadicSplit-1
groups:
  - id: parts
    title: parts of a tensor, whose shape changes in the second feed
    matrix: {context: [bare, concat]}
    data: {shape: [6, 2]}
    axis: 0
    split_lengths: [2, -1, 1]
    dynamic: ["?", "?"]
    feed: {data: {shape: [7, 2]}}
    context: ${{ context }}
  - id: texts
    title: texts
    data: {element_type: string, shape: [2], values: ["", "longer"]}
    axis: 0
    split_lengths: [1, 1]
  - id: two-remainders
    title: two remainders
    data: {shape: [6]}
    axis: 0
    split_lengths: [-1, -1]
    expect: {reject: lengths.single-remainder}
"""


@pytest.fixture(scope="module")
def genuine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite of specs that opconform does not ship."""
    folder = tmp_path_factory.mktemp("provenance")
    (folder / "own.yaml").write_text(SPEC)
    return generate(load_specs([folder / "own.yaml"]), folder / "suite", Options()).out


@pytest.fixture
def copy(genuine: Path, tmp_path: Path) -> Path:
    """A copy of the suite to forge."""
    return Path(shutil.copytree(genuine, tmp_path / "suite"))


def changed(folder: Path, group: str, change: Callable[[Case], Case]) -> Suite:
    """A suite whose cases of a group are changed, sealed again."""
    lines = []
    for item in open_suite(folder).entries:
        entry = item
        if f"/{group}/" in item.id:
            case = change(open_suite(folder).case(item))
            text = case_text(case).encode()
            (folder / item.id / CASE).unlink()
            (folder / item.id / CASE).write_bytes(text)
            files = {**item.files, CASE: hashlib.sha256(text).hexdigest()}
            entry = replace(item, expect=case.expect if isinstance(case.expect, Reject) else "accept", files=files)
        lines.append(entry_line(entry).encode())
    return seal(folder, b"".join(lines))


@pytest.mark.parametrize("blind", [False, True])
def test_a_suite_as_it_was_generated_is_right(genuine: Path, tmp_path: Path, blind: bool) -> None:
    """Contexts, neighbour checks, strings, second feeds and rejections among its cases."""
    specs = load_specs([genuine.parent / "own.yaml"])
    check_goldens(open_suite(generate(specs, tmp_path / "suite.zip", Options(blind=blind)).out))


def test_a_suite_of_graphs_is_right_with_the_readings_of_its_nodes(tmp_path: Path) -> None:
    """They are derived again, of the graph and of its nodes side by side."""
    (tmp_path / "graph.yaml").write_text(
        "op: Graph-1\ngroups:\n  - id: a\n    title: t\n    requirements: [values.chain]\n"
        "    inputs: {x: {values: [200, 1]}}\n    nodes:\n"
        "      narrow: {op: Convert-1, data: x, destination_type: i8}\n"
        "      sum: {op: Add-1, a: narrow, b: narrow}\n    outputs: [sum]\n"
    )
    suite = open_suite(generate(load_specs([tmp_path / "graph.yaml"]), tmp_path / "suite.zip", Options()).out)

    assert "Convert-1:floats.clamped@narrow" in suite.entries[0].readings.elements
    check_goldens(suite)


def test_a_changed_output_is_found(copy: Path) -> None:
    """Though the files have the digests that the manifest names."""
    assert forge(copy) == 3

    with pytest.raises(SuiteError, match=r"expected(\.\d)?\.npz differs from the result of the reference semantics\.$"):
        check_goldens(open_suite(copy))


def test_an_expected_rejection_of_a_valid_case_is_found(copy: Path) -> None:
    """It would take a backend that implements the operation for one that does not."""
    forged = changed(copy, "texts", lambda case: replace(case, expect=Reject(reject="lengths.sum")))

    with pytest.raises(SuiteError, match=r"the reference semantics accept feed 0, but case.json names lengths.sum\.$"):
        check_goldens(forged)


def test_an_accepted_case_that_the_semantics_reject_is_found(copy: Path) -> None:
    """Nor is another requirement than the violated one believed."""
    output = Output(name="output_0", element_type="f32", shape=(6,))
    accepted = changed(copy, "two-remainders", lambda case: replace(case, expect=Accept(accept=(output,))))
    with pytest.raises(SuiteError, match=r"reject feed 0 for lengths.single-remainder\.$"):
        check_goldens(accepted)

    other = changed(copy, "two-remainders", lambda case: replace(case, expect=Reject(reject="lengths.sum")))
    with pytest.raises(SuiteError, match=r"reject feed 0 for lengths.single-remainder\.$"):
        check_goldens(other)


def test_an_unknown_operation_is_refused(copy: Path) -> None:
    """Its goldens cannot be evaluated."""

    def other(case: Case) -> Case:
        [node] = case.graph.nodes
        return replace(case, graph=replace(case.graph, nodes=(replace(node, op="Mirror-1"),)))

    with pytest.raises(SuiteError, match=r"the reference semantics cannot evaluate its graph\.$"):
        check_goldens(changed(copy, "texts", other))


GRAPHS = {
    "no node of its graph is under test": {"under_test": False},
    "the node VariadicSplit takes nothing, which is neither an input nor": {"inputs": ("data", "axis", "nothing")},
    "its output VariadicSplit_0 is not in its graph": {"outputs": ("other", "VariadicSplit_1")},
}


@pytest.mark.parametrize("sentence", GRAPHS)
def test_a_graph_that_does_not_hold_together_is_refused(copy: Path, sentence: str) -> None:
    """The reader says so, before anything walks the graph."""

    def other(case: Case) -> Case:
        [node] = case.graph.nodes
        return replace(case, graph=replace(case.graph, nodes=(replace(node, **GRAPHS[sentence]),)))  # type: ignore[arg-type]

    forged = changed(copy, "texts", other)
    with pytest.raises(SuiteError, match=re.escape(sentence)):
        check_goldens(forged)


def test_other_declared_outputs_are_found(copy: Path) -> None:
    """A blind suite has nothing else to compare."""
    swapped = changed(copy, "parts", lambda case: replace(case, expect=Accept(accept=case.expect.accept[:1])))  # type: ignore[union-attr]

    with pytest.raises(SuiteError, match=r"case.json: the reference semantics give different outputs\.$"):
        check_goldens(swapped)
