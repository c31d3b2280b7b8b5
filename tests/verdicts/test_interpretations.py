"""What another reading of the specification excuses."""

from pathlib import Path

import pytest

from tests.conftest import MINIATURES, ROOT, Run
from tests.result_files import cases_in, report_in
from tests.verdicts.conftest import report


def test_an_interpretation_counts_only_with_strict(opconform: Run, tmp_path: Path) -> None:
    """A backend that changes NaN payloads is conformant without --strict."""
    (tmp_path / "spec.yaml").write_text(
        "op: Split-1\ngroups:\n  - {id: a, title: t, data: {shape: [4], fill: special}, axis: 0, num_splits: 2,\n"
        "     requirements: [data.bits, data.nan-payload]}\n"
    )
    opconform("generate", tmp_path / "spec.yaml", "--out", tmp_path / "suite")
    found = report(opconform, tmp_path / "suite", tmp_path / "out", "QuietsNans", code=0)
    strict = report(opconform, tmp_path / "suite", tmp_path / "out", "QuietsNans", "--strict", code=1)

    assert (found["conformant"], strict["conformant"]) == (True, False)
    assert found["cases"][0]["broken"] == ["data.nan-payload"]


def test_less_accurate_results_count_only_where_accuracy_is_asked_for(opconform: Run, tmp_path: Path) -> None:
    """Pages state no accuracy, so a deviation is all that they are; a buyer of a device can ask for more."""
    (tmp_path / "spec.yaml").write_text(
        "op: MatMul-1\ngroups:\n  - id: a\n    title: t\n    requirements: [outputs.shape, values.bounded]\n"
        "    a: {shape: [3, 64], fill: normal}\n    b: {shape: [64, 5], fill: normal}\n"
    )
    opconform("generate", tmp_path / "spec.yaml", "--out", tmp_path / "suite")
    found = report(opconform, tmp_path / "suite", tmp_path / "out", "KeepsEightBits", code=0)
    words = ("--backend", f"{MINIATURES}:KeepsEightBits", "--out", tmp_path / "out", "--accuracy", "bounded")
    shown = opconform("run", tmp_path / "suite", *words, code=1).stdout
    asked = report_in(tmp_path / "out")

    assert (found["conformant"], found["least_accuracy"]) == (True, "reduced")
    assert (asked["conformant"], asked["least_accuracy"]) == (False, "bounded")
    assert found["cases"][0]["broken"] == asked["cases"][0]["broken"] == ["values.bounded"]
    assert "1 requirement is broken" in shown
    assert "Accuracy level bounded asked for." in shown


def test_wrong_outputs_are_not_excused_by_an_interpretation(opconform: Run, tmp_path: Path) -> None:
    """Rejecting a length of 0 is another interpretation; accepting it and returning wrong outputs is a failure."""
    (tmp_path / "spec.yaml").write_text(
        "op: VariadicSplit-1\ngroups:\n  - {id: a, title: t, data: {shape: [4, 2]}, axis: 0, split_lengths: [0, -1],\n"
        "     requirements: [lengths.zero, outputs.shape]}\n"
    )
    opconform("generate", tmp_path / "spec.yaml", "--out", tmp_path / "suite")
    found = {}
    for name, code in (("readings/VariadicSplit-1/lengths.zero/rejects", 0), ("remainder/exchanged-with-zero", 1)):
        opconform(
            "run",
            tmp_path / "suite",
            "--backend",
            f"{MUTANT}:{name}",
            "--out",
            tmp_path / f"out{code}",
            code=code,
        )
        [case] = cases_in(tmp_path / f"out{code}")
        found[case["reason"]] = case["broken"]

    assert found == {"rejected-valid": ["lengths.zero"], "shape": ["outputs.shape"]}


CROPPED = """\
op: Pad-12
groups:
  - id: a
    title: more elements are removed than there are
    requirements: [outputs.shape, pads_begin.crop]
    data: {shape: [4]}
    pads_begin: [-6]
    pads_end: [3]
    pad_mode: constant
"""
EQUAL = """\
op: StridedSlice-1
groups:
  - id: a
    title: a slice that ends where it begins
    requirements: [outputs.shape, begin.inclusive]
    data: {shape: [4]}
    begin: [2]
    end: [2]
    begin_mask: [0]
    end_mask: [0]
"""
MUTANT = f"{ROOT}/tests/mutants/harness.py:Mutant"
SCALAR = """\
op: Reshape-1
groups:
  - id: a
    title: an empty shape
    requirements: [shape.empty]
    data: {shape: [1, 1]}
    shape: {shape: [0], values: []}
    special_zero: false
"""


@pytest.mark.parametrize(
    ("spec", "backend", "conformant", "broken"),
    [
        (CROPPED, f"{MUTANT}:readings/Pad-12/pads.beyond/rejects", True, ["pads.beyond"]),
        (CROPPED, f"{MINIATURES}:AddsADimension", False, ["outputs.shape"]),
        (EQUAL, f"{MUTANT}:readings/StridedSlice-1/bounds.equal/gives-0", True, ["bounds.equal"]),
        (EQUAL, f"{MUTANT}:slicing/StridedSlice-1/empty-refused", False, ["outputs.shape"]),
        (SCALAR, f"{MUTANT}:readings/Reshape-1/shape.empty/rejects", True, ["shape.empty"]),
        (SCALAR, f"{MINIATURES}:AddsADimension", False, ["outputs.shape"]),
    ],
)
def test_only_what_another_reading_gives_is_excused(
    opconform: Run, tmp_path: Path, spec: str, backend: str, conformant: bool, broken: list[str]
) -> None:
    """Whether the spec lists the interpretation or not: the semantics say which cases it touches."""
    (tmp_path / "spec.yaml").write_text(spec)
    opconform("generate", tmp_path / "spec.yaml", "--out", tmp_path / "suite", code=None)
    words = ("--backend", backend, "--out", tmp_path / "out")
    opconform("run", tmp_path / "suite", *words, code=0 if conformant else 1)
    [case] = cases_in(tmp_path / "out")

    assert case["broken"] == broken
    assert ("another reading of bounds.equal gives" in case["sentence"]) == (broken == ["bounds.equal"])
