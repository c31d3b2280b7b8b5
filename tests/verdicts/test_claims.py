"""Claims: what a backend's maker says that it supports, and what loses it."""

import json
from pathlib import Path

import pytest

from opconform_runners.findings.support.claims_parser import ClaimsParser
from tests.conftest import MINIATURES, Run, whole
from tests.result_files import report_in

TYPES = whole("""\
op: VariadicSplit-1
groups:
  - id: types
    title: three element types
    profile: core
    requirements: [outputs.order]
    matrix: {type: [f32, f16, i8], size: [4, 6]}
    data: {shape: ["${{ size }}"], element_type: "${{ type }}"}
    axis: 0
    split_lengths: [1, -1]
  - id: rejected
    title: at most one -1
    profile: core
    requirements: [lengths.single-remainder]
    data: {shape: [6], element_type: f16}
    axis: 0
    split_lengths: [-1, -1]
    expect: {reject: lengths.single-remainder}
    twin: {split_lengths: [-1, 2]}
""")
PERFECT, LOSES = (f"{MINIATURES}:{name}" for name in ("Perfect", "LosesAType"))
HEAD = """\
# All valid cases of the supported operations, without those that a rule or an id below names (docs/support.md).
backend: numpy
suite: 2.0.0
supported:
- VariadicSplit-1
unsupported:"""


@pytest.fixture(scope="module")
def place(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a suite of three element types, a run on it with all of them, and one without f16."""
    folder = tmp_path_factory.mktemp("claims")
    (folder / "types.yaml").write_text(TYPES)
    opconform("generate", "types.yaml", "--profile", "core", "--out", "suite", cwd=folder)
    for backend, out in ((PERFECT, "all"), (LOSES, "fewer")):
        opconform("run", "suite", backend, "--out", out, cwd=folder, code=None)
        opconform("support", out, "-o", f"{out}.yaml", cwd=folder)
    return folder


def test_support_prints_rules_with_their_cases_and_writes_them(opconform: Run, place: Path) -> None:
    """The invalid case, which is refused too, is not in the counts."""
    shown = opconform("support", "fewer", cwd=place).stdout
    document = json.loads(opconform("support", "fewer", "--json", cwd=place).stdout)

    assert shown.splitlines()[1:] == [
        "Supported: 1 operation.",
        "Exceptions:",
        "  VariadicSplit-1: data is f16 (3 refused cases; 4 others executed)",
    ]
    assert shown.splitlines()[0].endswith(": 4 valid cases executed, 3 refused as unsupported.")
    assert document["rules"] == [
        {"operation": "VariadicSplit-1", "facts": [["data is f16"]], "refused": 3, "executed": 4}
    ]
    assert (place / "fewer.yaml").read_text() == f"{HEAD}\n- VariadicSplit-1: data is f16\n"
    assert (place / "all.yaml").read_text() == f"{HEAD} []\n"


def test_a_claimed_case_that_is_refused_fails(opconform: Run, place: Path, tmp_path: Path) -> None:
    """An invalid one is not: to refuse it is right."""
    shown = opconform(
        "run", place / "suite", LOSES, "--claims", place / "all.yaml", "--out", tmp_path / "o", code=1
    ).stdout
    report = json.loads((tmp_path / "o" / "report.json").read_text())

    assert report["summary"] == {"pass": 4, "fail": 3, "unsupported": 1, "inconclusive": 0, "error": 0}
    assert report["claims"] | {"digest": ""} == {"digest": "", "claimed": 7, "valid": 7, "refused": 3}
    assert report["findings"][0]["symptoms"] == {"claimed": 3}
    assert "3 claimed cases are not supported." in shown
    assert "VariadicSplit-1 claims: claimed, 3 cases\n" in shown
    assert "  got      claimed, but not supported: f16 has no kernel\n" in shown
    assert "NOT CONFORMANT, 4 of 8 cases supported: 3 cases fail" in shown


def test_support_that_the_claims_leave_out_may_be_lost(opconform: Run, place: Path, tmp_path: Path) -> None:
    """It is neither a failure nor, with a baseline beside the claims, new; a case that passes all the same is said."""
    (tmp_path / "known.txt").write_text("")
    options = ("--claims", place / "fewer.yaml", "--baseline", "known.txt", "--out")
    lost = opconform(
        "run", place / "suite", LOSES, *options, "lost", "-k", "VariadicSplit-1/types/*", cwd=tmp_path
    ).stdout
    has = opconform("run", place / "suite", PERFECT, *options, "has", cwd=tmp_path).stdout

    assert "Against known.txt: NOTHING NEW." in lost
    assert "4 of 6 valid cases claimed." in lost
    assert "Remarks: 3 cases passed, although the claims do not cover it.\n" in has


def test_an_unclaimed_case_that_crashes_fails(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """As without claims."""
    (tmp_path / "none.yaml").write_text(f"{HEAD}\n- VariadicSplit-1: data has rank 2\n")
    command = ("run", small_suite, f"{MINIATURES}:Aborts", "--claims", "none.yaml", "--out", "o")
    shown = opconform(*command, cwd=tmp_path, code=1).stdout

    assert "0 of 5 valid cases claimed." in shown
    assert json.loads((tmp_path / "o" / "report.json").read_text())["findings"][0]["severity"] == "crash"


def test_lost_support_is_a_regression_in_a_comparison(opconform: Run, place: Path) -> None:
    """Of two runs, and against a baseline."""
    changed = opconform("diff", "all", "fewer", cwd=place, code=1).stdout

    assert "Lost support (passed and is undecided now, or failed and is unsupported now): 4 cases" in changed
    (place / "none.txt").write_text("")
    opconform("run", "suite", LOSES, "--baseline", "none.txt", "--out", "baseline", cwd=place, code=1)


def test_claims_are_updated_to_a_run(opconform: Run, place: Path, tmp_path: Path) -> None:
    """Each change is a line; the results in the folder are used again."""
    claims = tmp_path / "support.yaml"
    claims.write_text((place / "all.yaml").read_text())
    command = ("run", place / "suite", LOSES, "--claims", claims, "--update-claims", "--out", tmp_path / "out")
    first, again = (opconform(*command, code=None).stdout.splitlines() for _ in range(2))

    assert first[:2] == ["added: VariadicSplit-1: data is f16", f"{claims}: 1 operation, 1 exception."]
    assert again[0] == f"{claims}: 1 operation, 1 exception."
    assert claims.read_text() == (place / "fewer.yaml").read_text()


def test_claims_of_another_backend_or_suite_are_said(opconform: Run, place: Path, tmp_path: Path) -> None:
    """With what to do."""
    text = (place / "all.yaml").read_text().replace("backend: numpy", "backend: torch on CPU").replace("2.0.0", "1.0.0")
    (tmp_path / "support.yaml").write_text(text)
    said = opconform(
        "run", place / "suite", PERFECT, "--claims", "support.yaml", "--out", "o", cwd=tmp_path, code=None
    ).stderr

    advice = "Learn them again with `run --update-claims`, and look at what changed."
    assert f"note: support.yaml claims what torch on CPU supports, and this is numpy. {advice}\n" in said
    assert f"note: support.yaml is from version 1.0.0 of the suite, and this is 2.0.0. {advice}\n" in said


def test_a_killed_run_is_judged_by_its_claims(opconform: Run, place: Path, tmp_path: Path) -> None:
    """They are in its log; with other claims it is not continued."""
    out, suite = tmp_path / "out", place / "suite"
    opconform("run", suite, LOSES, "--claims", place / "all.yaml", "--out", out, code=1)
    for name in ("results.jsonl", "report.json"):
        (out / name).unlink()
    derived = opconform("report", out, "--markdown", "-", "--suite", suite, code=None).stdout
    other = opconform("run", suite, LOSES, "--claims", place / "fewer.yaml", "--out", out, code=2).stderr

    assert "7 of 7 valid cases claimed, 3 of them refused." in derived.replace("&#44;", ",")
    assert "the claims" in other


@pytest.mark.parametrize(
    "lines",
    [
        "supported:\n" + "- Split-1\n" * 100_000 + "unsupported: []\n",
        "supported: [Split-1]\nunsupported:\n" + "- x\n" * 100_000,
        f"supported: [{'Splat-1, ' * 80_000}]\nunsupported: []\n",
    ],
    ids=["repeated", "no rules", "misspelt"],
)
def test_of_very_many_mistakes_the_first_are_told(lines: str) -> None:
    """A hint for each of them would take minutes."""
    assert len(ClaimsParser(f"backend: numpy\nsuite: 2.0.0\n{lines}").mistakes) <= 101


def test_results_that_are_less_accurate_than_claimed_fail(opconform: Run, tmp_path: Path) -> None:
    """Claims are learnt from an accurate backend, with its levels; one that rounds to bf16 does not keep them."""
    (tmp_path / "spec.yaml").write_text(
        "op: MatMul-1\ngroups:\n  - id: a\n    title: t\n    requirements: [outputs.shape, values.bounded]\n"
        "    a: {shape: [3, 64], fill: normal}\n    b: {shape: [64, 5], fill: normal}\n"
    )
    opconform("generate", "spec.yaml", "--out", "suite", cwd=tmp_path)
    opconform("run", "suite", PERFECT, "--out", "accurate", cwd=tmp_path)
    opconform("support", "accurate", "-o", "support.yaml", cwd=tmp_path)
    learnt = (tmp_path / "support.yaml").read_text()
    words = ("run", "suite", f"{MINIATURES}:KeepsEightBits", "--claims", "support.yaml", "--out", "out")
    shown = opconform(*words, cwd=tmp_path, code=1).stdout
    report = report_in(tmp_path / "out")
    updated = opconform(*words, "--update-claims", cwd=tmp_path).stdout

    assert learnt.endswith("accuracy:\n- MatMul-1: f32 bounded\n")
    assert [case["reason"] for case in report["cases"]] == ["accuracy"]
    assert report["conformant"] is False
    assert report["accuracy"]["MatMul-1"]["f32"]["level"] == "reduced"
    assert "claimed to be bounded in f32, but reduced: output_0[" in shown
    assert "added: MatMul-1: f32 reduced" in updated
    assert "- MatMul-1: f32 reduced\n" in (tmp_path / "support.yaml").read_text()
