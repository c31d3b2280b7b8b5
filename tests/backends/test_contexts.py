"""Contexts and second inferences: what the graph around an operation and the inference before do to a verdict."""

import json
from pathlib import Path

import numpy as np
import pytest

from opconform.suite.case import harness_text
from opconform.suite.declarations import declared_case_from
from opconform.suite.manifest import expected_name, inputs_name
from opconform.suite.reader import open_suite
from opconform.tensors.tensor import Tensor
from opconform_runners.backends.backend import Backend, PlacedOutputs
from opconform_runners.backends.numpy.backend import Numpy
from opconform_runners.cli.main import main
from tests.conftest import MINIATURES
from tests.result_files import cases_in

CONTEXTS = """\
op: {op}
groups:
  - id: contexts
    title: every context, static and open
    requirements: [outputs.order]
    matrix:
      context: [bare, folded, concat, chain, partial, shared]
      axis: [0, 1, -1]
      dynamic: [null, all]
    where: context != "folded" or dynamic == none
    data: {{shape: [4, 4, 4], element_type: i32, fill: bits}}
    axis: ${{{{ axis }}}}
    {attribute}
    dynamic: ${{{{ dynamic }}}}
    context: ${{{{ context }}}}
"""

#: The operations, and the attribute that says how they cut.
CUTS = [("Split-1", "num_splits: 2"), ("VariadicSplit-1", "split_lengths: [1, -1]")]

SECOND = """\
op: VariadicSplit-1
groups:
  - id: second
    title: a second inference whose lengths are wrong
    requirements: [lengths.sum]
    data: {shape: [6, 6]}
    axis: 0
    split_lengths: [2, 4]
    binding: parameter
    feed: {split_lengths: [2, 5]}
    expect: {reject: lengths.sum}
    twin: {feed: {split_lengths: [3, 3]}}
"""


def opconform(*words: object, code: int = 0) -> None:
    """The command line, in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["opconform", *(str(word) for word in words)])
        with pytest.raises(SystemExit) as ended:
            main()

    assert ended.value.code == code


@pytest.mark.parametrize(("op", "attribute"), CUTS)
def test_a_context_is_the_same_graph_to_numpy(tmp_path: Path, op: str, attribute: str) -> None:
    """It executes cases directly, and gives the golden outputs."""
    check_contexts(tmp_path, op, attribute, Numpy())


def check_contexts(folder: Path, op: str, attribute: str, backend: Backend) -> None:
    """Check that a backend gives the golden outputs in every context."""
    (folder / "contexts.yaml").write_text(CONTEXTS.format(op=op, attribute=attribute))
    opconform("generate", folder / "contexts.yaml", "--out", folder / "suite", "--jobs", "1")
    suite = open_suite(folder / "suite")
    wrong = [entry.id for entry in suite.entries if not is_right(suite.store.root, entry.id, backend)]

    assert len(suite.entries) == 33
    assert wrong == []


def is_right(root: Path, name: str, backend: Backend) -> bool:
    """Whether a backend gives the golden outputs of a case, bit for bit."""
    suite = open_suite(root)
    entry = suite.by_id[name]
    case = declared_case_from(json.loads(harness_text(suite.case(entry), suite.declarations)))
    types = {input_.name: input_.element_type for input_ in case.inputs}
    arrays = suite.arrays(entry, inputs_name(0))
    feed = {key: Tensor(element_type=types[key], array=array) for key, array in arrays.items()}
    given = backend.run(case, root / name / "openvino" / "model.xml", [feed])
    [actual] = given.outputs if isinstance(given, PlacedOutputs) else given
    expected = suite.arrays(entry, expected_name(0))
    return [(x.shape, x.array.tobytes()) for x in actual] == [
        (x.shape, np.ascontiguousarray(x).tobytes())
        for x in (expected[f"output_{number}"] for number in range(len(expected)))
    ]


def test_a_fault_of_the_second_inference_must_be_refused(tmp_path: Path) -> None:
    """A backend that checks only the first inference fails, with both inputs in the report; one that checks both passes."""
    (tmp_path / "second.yaml").write_text(SECOND)
    opconform("generate", tmp_path / "second.yaml", "--out", tmp_path / "suite")
    opconform("run", tmp_path / "suite", "--backend", "numpy", "--out", tmp_path / "right")
    backend = f"{MINIATURES}:ChecksTheFirstFeedAlone"
    opconform("run", tmp_path / "suite", "--backend", backend, "--out", tmp_path / "wrong", code=1)
    cases = cases_in(tmp_path / "wrong")
    [failed] = [case for case in cases if case["verdict"] == "fail"]

    assert failed["reason"] == "accepted-invalid"
    assert failed["inputs"] == (
        "data f32[6, 6], axis 0 at run time, split_lengths [2, 4] at run time, then split_lengths [2, 5]"
    )
    assert failed["sentence"].endswith("; its outputs have the shapes [2, 6], [5, 6]")


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ("context: partial\n    split_lengths: [6]", "`partial` uses every second output"),
        ("context: chain\n    split_lengths: [2, 4]", "whose shape [4, 6] violates lengths.sum"),
        (
            "context: shared\n    expect: {reject: lengths.sum}\n    split_lengths: [2, 5]",
            "an invalid case has no outputs for the context `shared` to use",
        ),
        (
            "context: concat\n    expect: {reject: axis.range}\n    axis: 5\n    split_lengths: [2, 4]",
            "the outputs cannot be joined along an invalid axis",
        ),
        (
            (
                "binding: parameter\n    expect: {reject: lengths.sum}\n    split_lengths: [2, 5]\n"
                "    feed: {split_lengths: [2, 6]}"
            ),
            "feed: the first feed must be valid, but violates lengths.sum",
        ),
        ("seen: [a bug]\n    split_lengths: [6]", "it must be a tracker's thread such as apache/tvm#1595"),
    ],
)
def test_an_impossible_case_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], keys: str, sentence: str
) -> None:
    """A context that does not fit the case, an invalid first feed, and an invalid bug report."""
    axis = "" if "axis:" in keys else "\n    axis: 0"
    (tmp_path / "a.yaml").write_text(
        f"op: VariadicSplit-1\ngroups:\n  - id: a\n    title: t\n    data: {{shape: [6, 6]}}{axis}\n    {keys}\n"
    )
    opconform("generate", tmp_path / "a.yaml", "--out", tmp_path / "suite", code=2)

    assert sentence in capsys.readouterr().err
