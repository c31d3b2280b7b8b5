"""How progress looks: bars on a terminal, lines elsewhere, and nothing if nothing is wanted."""

import io
import re
import sys
import time

import pytest

from opconform_runners.cli.shared.output.progress import progress

STAGE = "Executing 1,297 failing cases again"


class Terminal(io.StringIO):
    """A terminal that remembers what is written to it."""

    def isatty(self) -> bool:
        """It is one."""
        return True


def narrow(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Standard error from now on, a terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", written := Terminal())
    return written


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which a test sets."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def last_picture(terminal: Terminal) -> list[str]:
    """The lines that were on the terminal before they were removed, with one sign for a bar and one for a time."""
    text = re.sub(r"\x1b\[[\d;]*m", "", terminal.getvalue().partition("\n\x1b[?25h")[0])
    text = re.sub(r"[\d-]:[\d-]{2}:[\d-]{2}", "◷", re.sub("[━╸╺]+", "━", text.rpartition("\x1b[2K")[2]))
    return [" ".join(line.split()) for line in text.split("\n")]


def test_the_bar_of_a_stage_replaces_a_full_one(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> None:
    """It has its own count, rate and time left, and fits 80 columns."""
    terminal = narrow(monkeypatch)
    with progress("run", quiet=False) as on_progress:
        on_progress(1.0, 8166)
        clock[0] = 100.0
        on_progress(0.0, 0, STAGE)
        for clock[0] in (110.0, 120.0):
            on_progress((clock[0] - 100.0) / 1297, int(clock[0]) - 100, STAGE)

    assert last_picture(terminal) == [f"{STAGE} ━ 20 cases 1.0/s ◷"]


def test_the_bar_of_a_stage_within_the_work_is_below_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """And goes with it: the next batch has no stage yet."""
    terminal = narrow(monkeypatch)
    with progress("generate and run", quiet=False) as on_progress:
        on_progress(0.5, 0)
        on_progress(0.0, 0, STAGE)
    within = last_picture(terminal)
    terminal.truncate(0)
    with progress("generate and run", quiet=False) as on_progress:
        on_progress(0.5, 0)
        on_progress(0.0, 0, STAGE)
        on_progress(0.6, 0)

    assert within == ["generate and run ━ 0 cases ◷", f"{STAGE} ━ 0 cases"]
    assert last_picture(terminal) == ["generate and run ━ 0 cases ◷"]


@pytest.mark.parametrize("titled", [False, True])
def test_lines_name_the_stage(clock: list[float], capsys: pytest.CaptureFixture[str], titled: bool) -> None:
    """Every ten seconds one line, whatever is going on."""
    with progress("openvino" if titled else "run", titled=titled, quiet=False) as on_progress:
        for now, *call in (
            (9.0, 0.5, 1),
            (11.0, 0.5, 1),
            (12.0, 1.0, 2),
            (21.0, 0.0, 0, STAGE),
            (31.5, 0.5, 649, STAGE),
        ):
            clock[0] = now
            on_progress(*call)
    name, of = ("openvino", "openvino: ") if titled else ("run", "")

    assert capsys.readouterr().err.splitlines() == [
        f"{name}: 1 case, 50%",
        f"{of}{STAGE}: 0 cases, 0%",
        f"{of}{STAGE}: 649 cases, 50%",
    ]


@pytest.mark.parametrize("fraction", [0.0, 1.0])
def test_no_bar_is_full_while_there_is_more_to_do(
    monkeypatch: pytest.MonkeyPatch, clock: list[float], fraction: float
) -> None:
    """Before the first case and after the last one the bar moves to and fro, and has no time left."""
    terminal = narrow(monkeypatch)
    with progress("run", quiet=False) as on_progress:
        clock[0] = 2.0
        on_progress(fraction, 100)

    assert last_picture(terminal) == ["run ━ 100 cases 50/s"]


def test_lines_of_a_stage_within_the_work_say_both(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    """The failures of a batch are executed again before the next batch is generated."""
    with progress("generate and run", quiet=False) as on_progress:
        on_progress(0.25, 500)
        clock[0] = 10.0
        on_progress(0.5, 2, "Executing 4 failing cases again")

    assert capsys.readouterr().err == (
        "generate and run: 500 cases, 25%; Executing 4 failing cases again: 2 cases, 50%\n"
    )


def test_quiet_work_says_nothing(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    """Neither the work nor its stages."""
    with progress("run", quiet=True) as on_progress:
        clock[0] = 99.0
        on_progress(1.0, 6)
        on_progress(0.0, 0, STAGE)

    assert capsys.readouterr().err == ""
