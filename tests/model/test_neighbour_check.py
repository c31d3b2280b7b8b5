"""The neighbour check of a case: the graph without the node under test, fed with that node's golden outputs."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from opconform.model.draft import Draft
from opconform.model.golden import Golden, golden_of, neighbour_check_of
from opconform.suite.case import case_text
from opconform.suite.file_names import CASE
from opconform.suite.manifest import NEIGHBOUR_CHECK, expected_name, inputs_name
from opconform.suite.reader import Suite, open_suite
from opconform.suite.verification import problems_of
from tests.conftest import Run
from tests.model.test_graph import split, variadic

SPEC = """\
op: Split-1
groups:
  - id: a
    title: joined again
    matrix: {context: [bare, folded, concat, chain, partial, shared]}
    data: {shape: [4, 6], element_type: i32, fill: ramp}
    axis: 0
    num_splits: 2
    context: ${{ context }}
"""


def golden(draft: Draft) -> Golden:
    """The golden of a draft."""
    return golden_of(draft, 0)


def neighbour_check(draft: Draft) -> Golden:
    """The neighbour check of a draft that has one."""
    found = neighbour_check_of(golden(draft))
    assert found is not None
    return found


def test_the_neighbour_is_given_the_outputs_of_the_node_under_test() -> None:
    """The values are golden, and so is what the neighbour makes of them."""
    whole, alone = golden(split("concat")), neighbour_check(split("concat"))
    first, second = (whole.tensors[0][f"Split_{number}"].array for number in range(2))

    assert [node.op for node in alone.graph.nodes] == ["Concat-1"]
    assert alone.inputs[0]["inputs_0"].array.tolist() == first.tolist()
    assert alone.inputs[0]["inputs_1"].array.tolist() == second.tolist()
    assert alone.outputs[0][0].array.tolist() == whole.outputs[0][0].array.tolist()


def test_only_the_outputs_of_the_neighbour_are_those_of_the_neighbour_check() -> None:
    """In `shared` the outputs of the node under test are outputs of the model, too."""
    assert len(golden(split("shared")).outputs[0]) == 3
    assert len(neighbour_check(split("shared")).outputs[0]) == 1


@pytest.mark.parametrize("context", ["bare", "folded", "chain", "partial"])
def test_a_case_without_a_neighbour_has_no_neighbour_check(context: str) -> None:
    """In `chain` both nodes are under test."""
    assert neighbour_check_of(golden(split(context))) is None


def test_what_computes_a_setting_input_is_its_neighbour_check() -> None:
    """It has the model's inputs and their bindings, and the computed values are its outputs."""
    alone = neighbour_check(split("convert", axis=1, run_time=True))

    assert [node.op for node in alone.graph.nodes] == ["Convert-1"]
    assert alone.draft.binding == {"axis": "parameter"}
    assert [output.array.tolist() for output in alone.outputs[0]] == [1]
    assert set(neighbour_check(split("convert")).draft.binding.values()) == {"constant"}


def test_a_chain_of_nodes_before_the_node_under_test_is_one_neighbour_check() -> None:
    """The declared dimensions of data are those of the case."""
    draft = variadic((4, -1))
    alone = neighbour_check(replace(draft, dynamic={"data": ("2..8", 6)}))

    assert [node.op for node in alone.graph.nodes][-1] == "Concat-1"
    assert alone.draft.dynamic == {"data": ("2..8", 6)}
    assert [output.array.tolist() for output in alone.outputs[0]] == [[4, -1]]


def test_a_rejected_case_has_no_neighbour_check() -> None:
    """It has no golden outputs."""
    draft = replace(split("concat", parts=3), rejected_for="num_splits.divides")

    assert neighbour_check_of(golden(draft)) is None


def test_what_the_model_does_not_know_the_neighbour_check_does_not_know() -> None:
    """Of the outputs of an operation on open data a model knows the rank, if that."""
    opened = split("concat", axis=1, dynamic=True)

    assert neighbour_check(opened).draft.dynamic == {"inputs_0": ("?", "?"), "inputs_1": ("?", "?")}
    assert neighbour_check(replace(opened, dynamic={"data": "..."})).draft.dynamic == {
        "inputs_0": "...",
        "inputs_1": "...",
    }
    assert neighbour_check(split("concat")).draft.dynamic == {}


def test_what_is_folded_is_folded_in_the_neighbour_check() -> None:
    """A neighbour of constants is not executed by the device, and so must not be in the neighbour check."""
    folded = replace(split("concat"), binding={"data": "constant", "axis": "constant"})

    assert set(neighbour_check(folded).draft.binding.values()) == {"constant"}
    assert set(neighbour_check(split("concat")).draft.binding.values()) == {"parameter"}


def test_a_second_feed_is_one_of_the_neighbour_check() -> None:
    """Both are fed to one model."""
    draft = split("concat", dynamic=True)
    both = neighbour_check(replace(draft, second={"data": replace(draft.tensors["data"], shape=(8, 6))}))

    assert [input_["inputs_0"].shape for input_ in both.inputs] == [(2, 6), (4, 6)]


@pytest.fixture(scope="module")
def suite(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """A suite with every context."""
    folder = tmp_path_factory.mktemp("neighbour checks")
    (folder / "a.yaml").write_text(SPEC)
    opconform("generate", folder / "a.yaml", "--out", folder / "suite", "--jobs", "1")
    return open_suite(folder / "suite")


def test_a_neighbour_check_is_files_in_the_folder_of_its_case_and_not_a_case(suite: Suite) -> None:
    """It has no line and is not counted."""
    held = {suite.case(entry).context: entry.neighbour_check for entry in suite.entries}

    assert suite.header.counts == {"accept": 6, "reject": 0}
    assert sorted(name for name, x in held.items() if x is not None) == ["concat", "shared"]
    assert all(x.neighbour_check is None for x in held.values() if x is not None)


def test_a_neighbour_check_is_read_as_a_case_is(suite: Suite) -> None:
    """By its id, which is that of its case and `neighbour-check`."""
    entry = next(entry for entry in suite.entries if suite.case(entry).context == "concat")
    assert entry.neighbour_check is not None
    read = suite.case(entry.neighbour_check)
    inputs = suite.arrays(entry.neighbour_check, inputs_name(0))
    expected = suite.arrays(entry.neighbour_check, expected_name(0))

    assert (read.id, read.op) == (f"{entry.id}/neighbour-check", "Concat-1")
    assert expected["output_0"].tolist() == np.concatenate([inputs["inputs_0"], inputs["inputs_1"]]).tolist()
    assert "openvino/model.xml" in entry.neighbour_check.files


def test_the_files_of_a_neighbour_check_are_verified(suite: Suite) -> None:
    """Against its own case.json, as those of the case are."""
    place = next(suite.store.root.rglob(NEIGHBOUR_CHECK)) / CASE
    written = place.read_bytes()
    document = json.loads(written)

    assert list(problems_of(suite.store.root)) == []
    assert document["requirements"] == []
    place.write_bytes(written + b" ")
    try:
        assert [fault.partition(": ")[2] for fault in problems_of(suite.store.root)] == [
            f"{place.relative_to(suite.store.root).as_posix()} was changed after the suite was generated."
        ]
    finally:
        place.write_bytes(written)


def test_a_blind_suite_has_no_neighbour_checks(opconform: Run, tmp_path: Path) -> None:
    """Their inputs would tell what is expected."""
    (tmp_path / "a.yaml").write_text(SPEC)
    opconform("generate", tmp_path / "a.yaml", "--out", tmp_path / "suite", "--blind", "--jobs", "1")

    assert [entry for entry in open_suite(tmp_path / "suite").entries if entry.neighbour_check is not None] == []


def test_case_text_is_what_a_neighbour_check_is_written_as(suite: Suite) -> None:
    """One spelling for cases and neighbour checks."""
    entry = next(entry.neighbour_check for entry in suite.entries if entry.neighbour_check is not None)

    assert case_text(suite.case(entry)).encode() == suite.read(entry, CASE)


def test_a_neighbour_check_is_left_out_of_the_dialects_that_its_case_is_left_out_of(
    opconform: Run, tmp_path: Path
) -> None:
    """ONNX has no u1, so neither is rendered there."""
    spec = SPEC.replace("[bare, folded, concat, chain, partial, shared]", "[concat], kind: [i32, u1]")
    spec = spec.replace("element_type: i32", "element_type: '${{ kind }}'")
    (tmp_path / "a.yaml").write_text(spec)
    opconform("generate", tmp_path / "a.yaml", "--out", tmp_path / "suite", "--jobs", "1", "--dialect", "onnx")
    [entry] = [entry for entry in open_suite(tmp_path / "suite").entries if entry.left_out]

    assert entry.neighbour_check is not None
    assert sorted(entry.neighbour_check.files) == ["case.json", "expected.npz", "inputs.npz"]
