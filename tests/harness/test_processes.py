"""Harness processes: how long they are waited for, and that nothing of them outlives opconform.

These tests need processes: what they are about is what the system does with them.
"""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from opconform_runners.harness.command import Command
from opconform_runners.harness.process import HarnessEnded, started
from tests.conftest import HARNESSES

#: How long the system may take to end a process, on a busy machine, in seconds.
PATIENCE = 60.0

#: A harness that leaves a process in a session of its own, with no parent, and says its number.
DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print(os.getpid(), flush=True)
        time.sleep(3600)
    os._exit(0)
{then}
"""


def python(source: str) -> Command:
    """A harness that is a few lines of Python."""
    return Command(arguments=(sys.executable, "-I", "-S", "-c", source), name="python")


def eventually(holds: Callable[[], bool]) -> bool:
    """Whether something comes to hold in time."""
    end = time.monotonic() + PATIENCE
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)
    return holds()


async def line_after_pause(command: Command, *, pause: float, within: float) -> bytes:
    """The first line of a harness; opconform is stopped while it is waited for."""
    process = await started(command)
    try:
        asyncio.get_running_loop().call_soon(time.sleep, pause)
        return await process.receive(within)
    finally:
        await process.kill()


def test_a_reply_that_came_while_opconform_was_stopped_counts() -> None:
    """However long that was."""
    harness = python("print('reply', flush=True); import time; time.sleep(3600)")

    assert asyncio.run(line_after_pause(harness, pause=4.0, within=0.2)) == b"reply\n"


def test_time_in_which_opconform_was_stopped_does_not_count() -> None:
    """The harness was stopped, too, and has its time afterwards."""
    harness = python("import time; time.sleep(5); print('reply', flush=True); time.sleep(3600)")

    assert asyncio.run(line_after_pause(harness, pause=4.0, within=30.0)) == b"reply\n"


def test_a_harness_that_stays_silent_is_not_waited_for_any_longer() -> None:
    """Also where opconform was stopped."""
    with pytest.raises(TimeoutError):
        asyncio.run(line_after_pause(python("import time; time.sleep(3600)"), pause=1.0, within=0.6))


async def daemon_after(then: str) -> tuple[int, str]:
    """The number of a daemon that a harness left, after the harness was ended, and how it ended."""
    process = await started(python(DAEMON.format(then=then)))
    how = "was killed"
    try:
        number = int(await process.receive(PATIENCE))
        if "exit" in then:
            await process.receive(PATIENCE)
    except HarnessEnded as ending:
        how = ending.how
    finally:
        await process.kill()
    return number, how


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells which processes a daemon was started by")
@pytest.mark.parametrize(
    ("then", "how"),
    [
        ("time.sleep(3600)", "was killed"),
        ("time.sleep(1); os._exit(7)", "it ended with code 7"),
        ("time.sleep(1); sys.exit(os.kill(os.getpid(), 11))", "it was ended by SIGSEGV"),
    ],
)
def test_a_daemon_ends_with_its_harness(then: str, how: str) -> None:
    """However the harness ends, and that is told as it was."""
    number, told = asyncio.run(daemon_after(then))

    assert told == how
    assert not psutil.pid_exists(number)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells which processes a daemon was started by")
def test_a_killed_opconform_leaves_neither_processes_nor_files(tmp_path: Path) -> None:
    """Its harness, what that started, and the scratch folder are gone soon."""
    source = (
        "import asyncio, sys\n"
        "from opconform_runners.harness.command import Command\n"
        "from opconform_runners.harness.process import started\n"
        "async def main():\n"
        "    process = await started(Command(arguments=tuple(sys.argv[1:]), name='it'))\n"
        "    print(int(await process.receive(60)), process.scratch, flush=True)\n"
        "    await asyncio.sleep(3600)\n"
        "asyncio.run(main())\n"
    )
    arguments = [sys.executable, "-c", source, *python(DAEMON.format(then="time.sleep(3600)")).arguments]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, env=environment) as opconform:
        assert opconform.stdout is not None
        number, scratch = opconform.stdout.readline().split()
        below = {int(number), *(each.pid for each in psutil.Process(opconform.pid).children(recursive=True))}
        opconform.kill()

    assert Path(scratch).parent == tmp_path
    assert len(below) >= 3  # the supervisor, the harness and the daemon
    assert eventually(lambda: not any(psutil.pid_exists(each) for each in below))
    assert eventually(lambda: not list(tmp_path.iterdir()))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_run_with_its_harness(small_suite: Path, tmp_path: Path, number: signal.Signals) -> None:
    """In order, although the harness hangs, and with the exit code that a shell gives to such an end."""
    (tmp_path / "scratch").mkdir()
    program, harness = Path(sys.executable).with_name("opconform"), f"{sys.executable} {HARNESSES} sleeps"
    arguments = [str(each) for each in (program, "run", small_suite, "--out", tmp_path / "out")]
    arguments += ["--timeout", "3600", "--harness", harness]
    environment = {**os.environ, "TMPDIR": str(tmp_path / "scratch")}
    results = tmp_path / "out" / "results.jsonl"
    with subprocess.Popen(arguments, env=environment, stderr=subprocess.PIPE, text=True) as run:
        assert eventually(lambda: results.is_file() and results.stat().st_size > 0)
        below = [each.pid for each in psutil.Process(run.pid).children(recursive=True)]
        run.send_signal(number)
        _, said = run.communicate(timeout=PATIENCE)

    assert (run.returncode, "Traceback" in said) == (128 + number, False)
    assert len(below) >= 2
    assert not any(psutil.pid_exists(each) for each in below)
    assert list((tmp_path / "scratch").iterdir()) == []
