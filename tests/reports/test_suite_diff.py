"""`diff` of two suites: which cases came, went and changed, and what version such changes need."""

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from opconform.suite.manifest import Entry, Header, RequirementNote, entry_line
from opconform.suite.reader import open_suite
from opconform.tensors.npz import npz_bytes
from tests.conftest import Run
from tests.forgery import forge, seal

Change = Callable[[Path], object]


@pytest.fixture
def newer(small_suite: Path, tmp_path: Path) -> Path:
    """A copy of the small suite, to be changed."""
    return Path(shutil.copytree(small_suite, tmp_path / "newer"))


def version(text: str) -> Callable[[Header], Header]:
    """A header of another version."""
    return lambda header: replace(header, version=text)


def sealed(suite: Path, change: Callable[[Entry], Entry | None], header: Callable[[Header], Header]) -> None:
    """A suite with some entries changed or left out; the files stay."""
    changed = [change(entry) for entry in open_suite(suite).entries]
    seal(suite, b"".join(entry_line(entry).encode() for entry in changed if entry is not None), header)


def test_equal_suites_have_no_changes(opconform: Run, small_suite: Path, newer: Path) -> None:
    """Only their versions may differ."""
    sealed(newer, lambda entry: entry, version("2.1.0"))
    done = opconform("diff", small_suite, newer)

    assert done.stdout == "Suite version: 2.0.0 → 2.1.0\n\nNo case changed.\n"


def test_cases_that_came_and_went_are_listed(opconform: Run, small_suite: Path, newer: Path) -> None:
    """New ones need a minor version; missing ones a major version."""
    left = open_suite(small_suite).entries[0].id
    sealed(newer, lambda entry: None if entry.id == left else entry, version("3.0.0"))
    went, came = opconform("diff", small_suite, newer), opconform("diff", newer, small_suite)

    assert f"\nMissing cases: 1\n  {left}\n\n1 missing case.\n" in went.stdout
    assert f"\nNew cases: 1\n  {left}\n\n1 new case.\n" in came.stdout
    changes = json.loads(opconform("diff", "--json", small_suite, newer).stdout)
    assert (changes["went"], changes["came"], changes["needs"], changes["is_worse"]) == ([left], [], "major", False)


def test_a_change_that_the_version_does_not_tell_ends_with_1(opconform: Run, small_suite: Path, newer: Path) -> None:
    """As when a golden is another one in the same version."""
    forged = forge(newer)
    done = opconform("diff", small_suite, newer, code=1)

    assert f"\nChanged cases: {forged}\n" in done.stdout
    assert "  golden\n" in done.stdout
    assert done.stdout.endswith("Such changes need a new major version of the suite.\n")


@pytest.mark.parametrize(
    ("file", "what", "needs"),
    [
        ("inputs.npz", "input", "major"),
        ("openvino/model.xml", "model", "major"),
        ("neighbour-check/expected.npz", "golden", "major"),
        ("case.json", "text", "patch"),
    ],
)
def test_what_changed_of_a_case_is_said(
    opconform: Run, small_suite: Path, newer: Path, file: str, what: str, needs: str
) -> None:
    """By the file whose digest differs."""
    sealed(newer, lambda entry: replace(entry, files=dict(entry.files) | {file: "0" * 64}), version("2.0.0"))
    changes = json.loads(opconform("diff", "--json", small_suite, newer, code=1).stdout)

    assert {tuple(x["changed"]) for x in changes["changed"]} == {(what,)}
    assert (changes["needs"], changes["is_worse"]) == (needs, True)


def test_other_bounds_are_another_comparison(opconform: Run, tmp_path: Path) -> None:
    """The golden numbers are the same, and so they are if only the way to compare them changes; a verdict can change."""
    (tmp_path / "spec.yaml").write_text(
        "op: Exp-1\ngroups:\n  - {id: it, title: t, requirements: [values.bounded], data: {values: [0.5]}}\n"
    )
    old = tmp_path / "old"
    opconform("generate", tmp_path / "spec.yaml", "--out", old)
    [entry] = open_suite(old).entries
    arrays = open_suite(old).arrays(entry, "expected.npz")
    exact = {name: array for name, array in arrays.items() if name not in ("output_0.lower", "output_0.upper")}
    numbers = (old / entry.id / "case.json").read_bytes().replace(b'"comparison": "bounds"', b'"comparison": "numbers"')
    changes = {
        "wider": {"expected.npz": npz_bytes(arrays | {"output_0.upper": arrays["output_0.upper"] * 1.001})},
        "without": {"expected.npz": npz_bytes(exact), "case.json": numbers},
        "golden": {"expected.npz": npz_bytes(arrays | {"output_0": arrays["output_0.upper"]})},
    }
    found = {}
    for name, files in changes.items():
        new = Path(shutil.copytree(old, tmp_path / name))
        for file, content in files.items():
            (new / entry.id / file).write_bytes(content)
        digests = {file: hashlib.sha256(content).hexdigest() for file, content in files.items()}
        seal(new, entry_line(replace(entry, files={**entry.files, **digests})).encode())
        [changed] = json.loads(opconform("diff", "--json", old, new, code=1).stdout)["changed"]
        found[name] = changed["changed"]

    assert found == {"wider": ["comparison"], "without": ["comparison"], "golden": ["golden"]}


def test_models_are_compared_in_the_dialects_of_both(opconform: Run, small_suite: Path, newer: Path) -> None:
    """A release with another dialect changes no case."""
    sealed(
        newer,
        lambda entry: replace(entry, files={**entry.files, "onnx/model.onnx": "0" * 64}),
        lambda header: replace(header, dialects={**header.dialects, "onnx": "onnx/model.onnx"}),
    )
    done = opconform("diff", small_suite, newer)

    assert "Suite dialects: openvino → openvino, onnx\n" in done.stdout
    assert done.stdout.endswith("\nNo case changed.\n")


def test_another_expectation_and_another_level_change_what_a_verdict_means(
    opconform: Run, small_suite: Path, newer: Path
) -> None:
    """Both need a major version."""

    def relaxed(header: Header) -> Header:
        notes = header.requirements["VariadicSplit-1"]
        other: dict[str, RequirementNote] = {**notes} | {
            "lengths.remainder": replace(notes["lengths.remainder"], level="interpretation")
        }
        return replace(header, version="2.1.0", requirements={"VariadicSplit-1": other})

    sealed(newer, lambda entry: replace(entry, essential=not entry.essential), relaxed)
    done = opconform("diff", small_suite, newer, code=1)

    assert "  expectation\n" in done.stdout
    assert "\nRequirements of another level: 1\n  VariadicSplit-1 lengths.remainder\n" in done.stdout


def test_a_suite_is_not_compared_with_a_run(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """The sentence says what each of the two is."""
    opconform("run", small_suite, "numpy", "--out", tmp_path / "out")

    assert "is a results folder, not a suite" in opconform("diff", small_suite, tmp_path / "out", code=2).stderr
    assert "is a suite, not a results folder" in opconform("diff", tmp_path / "out", small_suite, code=2).stderr
