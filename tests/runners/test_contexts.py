"""Contexts and second inferences: what the graph around an operation and the inference before do to a verdict."""

import json
from pathlib import Path

import pytest

from tests.conftest import Run

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
    {cut}
    dynamic: ${{{{ dynamic }}}}
    context: ${{{{ context }}}}
"""

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

MANY = """\
op: VariadicSplit-1
groups:
  - id: many
    title: many outputs
    requirements: [outputs.count]
    data: {shape: [2000]}
    axis: 0
    split_lengths: ${{ repeat(1, 2000) }}
"""


@pytest.mark.parametrize(("op", "cut"), [("Split-1", "num_splits: 2"), ("VariadicSplit-1", "split_lengths: [1, -1]")])
@pytest.mark.parametrize("backend", ["numpy", "openvino"])
def test_a_context_is_the_same_graph_to_every_backend(
    opconform: Run, tmp_path: Path, op: str, cut: str, backend: str
) -> None:
    """One that executes cases directly and one that loads the rendered model give the golden outputs."""
    (tmp_path / "contexts.yaml").write_text(CONTEXTS.format(op=op, cut=cut))
    opconform("certify", tmp_path / "contexts.yaml", "--backend", backend, "--out", tmp_path / "out")
    report = json.loads((tmp_path / "out" / "report.json").read_text())

    assert report["summary"]["pass"] == len(report["cases"]) == 33


def test_a_fault_of_the_second_inference_must_be_refused(opconform: Run, tmp_path: Path) -> None:
    """Who checks the first one only is caught, and told with both inputs; who checks both passes."""
    (tmp_path / "second.yaml").write_text(SECOND)
    opconform("generate", tmp_path / "second.yaml", "--out", tmp_path / "suite")
    for backend in ("numpy", "openvino", "mutant:right/bytes"):
        opconform("run", tmp_path / "suite", "--backend", backend, "--out", tmp_path / backend.replace("/", "-"))
    opconform(
        "run", tmp_path / "suite", "--backend", "mutant:state/second-unchecked", "--out", tmp_path / "out", code=1
    )
    cases = json.loads((tmp_path / "out" / "report.json").read_text())["cases"]
    [failed] = [each for each in cases if each["verdict"] == "fail"]

    assert failed["reason"] == "accepted-invalid"
    assert failed["inputs"] == (
        "data f32[6, 6], axis 0 at run time, split_lengths [2, 4] at run time, then split_lengths [2, 5]"
    )
    assert "shapes [2, 6], [5, 6], which is more than data holds" in failed["sentence"]


def test_outputs_that_are_far_too_large_are_a_failure_and_not_read(opconform: Run, tmp_path: Path) -> None:
    """A backend that hands out all of data each time must not fill the memory of who tests it."""
    (tmp_path / "many.yaml").write_text(MANY)
    opconform("generate", tmp_path / "many.yaml", "--out", tmp_path / "suite")
    command = ("run", tmp_path / "suite", "--backend", "mutant:shapes/shape-of-data", "--out", tmp_path / "out")
    opconform(*command, code=1)
    [case] = json.loads((tmp_path / "out" / "report.json").read_text())["cases"]

    assert (case["verdict"], case["reason"]) == ("fail", "shape")
    assert case["sentence"].endswith("which is far more than can be right")


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ("context: partial\n    split_lengths: [6]", "`partial` uses every second output"),
        ("context: chain\n    split_lengths: [2, 4]", "of its shape [4, 6] that violates lengths.sum"),
        (
            "context: shared\n    expect: {reject: lengths.sum}\n    split_lengths: [2, 5]",
            "a rejected case has no outputs for the context 'shared' to use",
        ),
        (
            "context: concat\n    expect: {reject: axis.range}\n    axis: 5\n    split_lengths: [2, 4]",
            "the outputs cannot be joined along an axis that is wrong",
        ),
        (
            (
                "binding: parameter\n    expect: {reject: lengths.sum}\n    split_lengths: [2, 5]\n"
                "    feed: {split_lengths: [2, 6]}"
            ),
            "feed: the first feed must be right, and violates lengths.sum",
        ),
        ("seen: [a bug]\n    split_lengths: [6]", "it must be a tracker's thread such as apache/tvm#1595"),
    ],
)
def test_what_cannot_be_is_told(opconform: Run, tmp_path: Path, keys: str, sentence: str) -> None:
    """A context that the case leaves nothing for, a first feed that is wrong, a report that is none."""
    axis = "" if "axis:" in keys else "\n    axis: 0"
    (tmp_path / "a.yaml").write_text(
        f"op: VariadicSplit-1\ngroups:\n  - id: a\n    title: t\n    data: {{shape: [6, 6]}}{axis}\n    {keys}\n"
    )

    assert sentence in opconform("generate", "a.yaml", "--out", "suite", cwd=tmp_path, code=2).stderr
