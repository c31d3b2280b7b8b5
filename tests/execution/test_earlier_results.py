"""Earlier results in the folder of a run: continued or replaced only by the same run."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from opconform.errors import UsageError
from opconform.suite.reader import Suite
from opconform.suite.selection.selection import Selection
from opconform_runners.harness.environment import UNKNOWN
from opconform_runners.verdicts.results import read_written
from tests.execution.fake_runs import IMPLEMENTATION, FakeBackend, plan_of, ran

CHANGES: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "another version": ({}, {"version": "2"}, "the backend (fake 1, now fake 2)"),
    "another device": ({}, {"device": "GPU"}, "the backend (fake 1, now fake 1 on GPU)"),
    "another time limit": ({"timeout": 5.0}, {}, "--timeout"),
    "another file": ({"program": "0" * 64}, {}, "the backend's file"),
    "another environment": ({"environment_of": lambda _: replace(UNKNOWN, machine="arm64")}, {}, "the environment"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_run_is_not_continued_under_other_conditions(suite: Suite, tmp_path: Path, name: str) -> None:
    """Verdicts would be mixed. With --force it starts over."""
    plan, backend, what = CHANGES[name]
    ran(suite, FakeBackend(suite, until=3), plan_of(tmp_path))
    held = (tmp_path / "outcomes.jsonl").read_bytes()
    new = FakeBackend(suite, implementation=replace(IMPLEMENTATION, **backend))
    with pytest.raises(UsageError) as refusal:
        ran(suite, new, plan_of(tmp_path, **plan))

    assert str(refusal.value) == (
        f"{tmp_path} contains the results of a run of fake 1 (6 cases), interrupted, and {what} "
        f"has changed since then. Use another --out, or replace them with --force."
    )
    assert (tmp_path / "outcomes.jsonl").read_bytes() == held
    assert len(ran(suite, new, plan_of(tmp_path, force=True, **plan)).results) == 6
    assert len(new.executed) == 6


def test_the_results_of_another_run_are_not_replaced(suite: Suite, tmp_path: Path) -> None:
    """Of a certification, another selection or another backend; nothing in the folder changes."""
    ran(suite, FakeBackend(suite), plan_of(tmp_path, whole=True))
    (tmp_path / "report.html").write_bytes(b"<!doctype html>\n<!-- opconform report -->")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    others = {
        "but this run is not a certification": (plan_of(tmp_path), None),
        "but this run has a different backend": (plan_of(tmp_path, started="--backend numpy", whole=True), None),
        "but this run has a different selection": (
            plan_of(tmp_path, whole=True, selection=Selection(profiles=("core",))),
            None,
        ),
    }
    for sentence, (plan, some) in others.items():
        with pytest.raises(UsageError, match=sentence):
            ran(suite, FakeBackend(suite), plan, some)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_the_same_run_replaces_its_own_results(suite: Suite, tmp_path: Path) -> None:
    """Also with another version of the backend, but not with other cases."""
    ran(suite, FakeBackend(suite), plan_of(tmp_path), suite.entries[:2])
    new = FakeBackend(suite, implementation=replace(IMPLEMENTATION, version="2"))
    ran(suite, new, plan_of(tmp_path), suite.entries[:2])
    assert len(new.executed) == 2
    assert read_written(tmp_path / "results.jsonl").header.implementation.version == "2"
    with pytest.raises(
        UsageError,
        match="contains the results of a run of fake 2 \\(2 cases\\), but this run has a different selection",
    ):
        ran(suite, new, plan_of(tmp_path), suite.entries[:3])


def test_a_certification_that_signs_starts_over(suite: Suite, tmp_path: Path) -> None:
    """Its first half could have been written by anyone who can write to the folder."""
    ran(suite, FakeBackend(suite, until=3), plan_of(tmp_path, whole=True))
    signing = FakeBackend(suite)
    ran(suite, signing, plan_of(tmp_path, whole=True, resume=False))

    assert len(signing.executed) == 6
