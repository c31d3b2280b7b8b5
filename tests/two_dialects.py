"""Suites of VariadicSplit-1 with models in two dialects, and with a rejected case."""

from pathlib import Path

from tests.conftest import Run

#: A group of a rejected case and its twin.
REJECTED = """\
  - id: rejected
    title: the lengths add up to another number
    requirements: [lengths.sum]
    data: {shape: [6, 4]}
    axis: 0
    split_lengths: [1, 2, 2]
    expect: {reject: lengths.sum}
    twin: {split_lengths: [1, 2, 3]}
"""


def suite_in_two_dialects(opconform: Run, folder: Path, spec: str) -> Path:
    """The suite of a spec, generated beside its `spec.yaml`."""
    (folder / "spec.yaml").write_text(spec)
    dialects = ("--dialect", "openvino", "--dialect", "onnx")
    opconform("generate", folder / "spec.yaml", "--out", folder / "suite", "--jobs", "1", *dialects)
    return folder / "suite"
