"""The progress of a run: that of its cases, and then that of each stage that executes failures once more."""

from pathlib import Path

import pytest

from opconform.suite.reader import Suite, open_suite
from opconform_runners.execution.plan import RunOptions
from opconform_runners.execution.progress import OnProgress, staged
from opconform_runners.execution.runner import judged, run_suite
from opconform_runners.execution.scale import remote
from opconform_runners.harness.command import backend_command
from tests.conftest import MINIATURES
from tests.execution.fake_runs import FakeBackend, odd_ways, plan_of
from tests.execution.test_remote import Here
from tests.in_process import served_in_process

#: The fraction, the number of cases and the stage of each call.
Calls = list[tuple[object, ...]]


def into(calls: Calls) -> OnProgress:
    """What appends each call to a list."""
    return lambda *call: calls.append(call)


def test_each_stage_counts_its_own_cases(suite: Suite, tmp_path: Path) -> None:
    """Of six cases two are wrong at first, one of which passes again and then alone; one hangs."""
    calls: Calls = []
    judged(suite, suite.entries, FakeBackend(suite, odd=odd_ways(suite)), plan_of(tmp_path), into(calls))
    again, alone = "Executing 2 failing cases again", "Executing 2 cases alone"

    assert calls == [
        *((number / 6, number) for number in range(1, 7)),
        *((number / 2, number, again) for number in range(3)),
        *((number / 2, number, alone) for number in range(3)),
    ]


def test_workers_count_the_cases_of_a_continued_run_once(
    suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch is done when its failures are; nothing is complete before all of them are."""
    monkeypatch.setattr(remote, "SMALLEST", 2)
    calls: Calls = []
    with served_in_process():
        command = backend_command(f"{MINIATURES}:AcceptsEverything")
        run_suite(open_suite(suite.store.root), command, tmp_path, RunOptions(executor=Here()), into(calls))

    assert calls == [(2 / 6, 2), (4 / 6, 4), (1.0, 6)]


def test_a_stage_is_announced_before_its_first_item() -> None:
    """The first item may take long."""
    calls: Calls = []
    items = staged("ab", into(calls), "Spelling")

    assert next(items) == "a"
    assert calls == [(0.0, 0, "Spelling")]
    assert [*items] == ["b"]
    assert calls[1:] == [(0.5, 1, "Spelling"), (1.0, 2, "Spelling")]
