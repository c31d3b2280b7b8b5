"""Harness processes: how long they are waited for, and that nothing of them outlives opconform.

These tests need processes: what they are about is what the system does with them.
"""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path

import psutil
import pytest

from opconform_runners.harness.command import Command
from opconform_runners.harness.processes.process import HarnessEnded, Process, started
from tests import fake_harnesses
from tests.conftest import EXHAUSTIVE_SPEC
from tests.sampling import in_line

#: How long the system may take to end a process, on a busy machine, in seconds.
PATIENCE = 60.0
#: The last line of a harness that does nothing until it is killed.
STAY = "import signal; signal.pause()"
#: A harness that leaves a process in a session of its own, with no parent, and prints that process's number.
DAEMON = """
import os, signal, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print(os.getpid(), flush=True)
        signal.pause()
    os._exit(0)
{then}
"""


def python(source: str) -> Command:
    """A harness that is a few lines of Python."""
    return Command(arguments=(sys.executable, "-I", "-S", "-c", source), name="python")


def line_after_pause(
    command: Command, monkeypatch: pytest.MonkeyPatch, *, until: Callable[[], object], within: float
) -> bytes:
    """The first line of a harness; while it is waited for, opconform is stopped for an hour that ends with an event."""

    async def received() -> bytes:
        loop, lost = asyncio.get_running_loop(), 0.0
        clock = loop.time

        def pause() -> None:
            nonlocal lost
            until()
            lost = 3_600.0

        monkeypatch.setattr(loop, "time", lambda: clock() + lost)
        process = await started(command)
        try:
            loop.call_soon(pause)
            return await process.receive(within)
        finally:
            await process.kill()

    return asyncio.run(received())


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """A named pipe: opening either end waits for the other."""
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


def test_a_reply_that_arrived_while_opconform_was_stopped_counts(pipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long that was."""
    harness = python(f"print('reply', flush=True); open({str(pipe)!r}, 'w').close(); {STAY}")

    assert line_after_pause(harness, monkeypatch, until=pipe.read_bytes, within=0.2) == b"reply\n"


def test_time_in_which_opconform_was_stopped_does_not_count(pipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The harness was stopped, too, and has its time afterwards."""
    harness = python(f"open({str(pipe)!r}).read(); print('reply', flush=True); {STAY}")

    line = line_after_pause(harness, monkeypatch, until=lambda: pipe.write_bytes(b"continue"), within=30.0)

    assert line == b"reply\n"


def test_a_silent_harness_is_not_waited_for_any_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where opconform was stopped."""
    with pytest.raises(TimeoutError):
        line_after_pause(python(STAY), monkeypatch, until=lambda: None, within=0.6)


def test_a_harness_that_ends_a_second_after_its_output_has_a_code() -> None:
    """On a busy machine the code of a process may come that late."""

    async def received() -> bytes:
        process = await started(python("import os, time; os.close(1); time.sleep(1); os._exit(3)"))
        try:
            return await process.receive(PATIENCE)
        finally:
            await process.kill()

    with pytest.raises(HarnessEnded) as ended:
        asyncio.run(received())
    assert ended.value.how == "ended with code 3"


async def daemon_after(then: str) -> tuple[int, str]:
    """The number of a daemon that a harness left, after the harness was ended, and how it ended."""
    process = await started(python(DAEMON.format(then=then)))
    how = "was killed"
    try:
        number = int(await process.receive(PATIENCE))
        if "exit" in then:
            process.send(b"exit\n")
            await process.receive(PATIENCE)
    except HarnessEnded as ending:
        how = ending.how
    finally:
        await process.kill()
    return number, how


#: A process that starts a harness with its arguments, and prints what the harness says, and the scratch folder.
STARTS = """
import asyncio, sys
from opconform_runners.harness.command import Command
from opconform_runners.harness.processes.process import started
async def main():
    process = await started(Command(arguments=tuple(sys.argv[1:]), name="it"))
    print(int(await process.receive(60)), process.scratch, flush=True)
    await asyncio.Event().wait()
asyncio.run(main())
"""


def test_a_daemon_that_kills_its_supervisor_does_not_outlive_the_harness() -> None:
    """It is found by the mark in its environment."""
    number, _ = asyncio.run(daemon_after("sys.stdin.readline(); os.kill(os.getppid(), 9)  # exit"))

    _, alive = psutil.wait_procs([psutil.Process(number)] if psutil.pid_exists(number) else [], timeout=PATIENCE)
    assert [x for x in alive if x.status() != psutil.STATUS_ZOMBIE] == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells which processes a daemon was started by")
def test_a_killed_opconform_leaves_neither_processes_nor_files(tmp_path: Path) -> None:
    """The supervisor ends its harness, all processes of the harness, and the scratch folder."""
    arguments = [sys.executable, "-c", STARTS, *python(DAEMON.format(then="signal.pause()")).arguments]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, env=environment) as opconform:
        assert opconform.stdout is not None
        number, scratch = opconform.stdout.readline().split()
        below = {psutil.Process(int(number)), *psutil.Process(opconform.pid).children(recursive=True)}
        opconform.kill()
        _, alive = psutil.wait_procs(below, timeout=PATIENCE)

    assert Path(scratch).parent == tmp_path
    assert len(below) >= 3  # the supervisor, the harness and the daemon
    assert alive == []
    assert list(tmp_path.iterdir()) == []


def test_a_harness_that_ends_before_its_supervisor_notices_leaves_no_files(tmp_path: Path) -> None:
    """When opconform is killed, the input of the harness ends, and the harness may end first."""
    source = "import os, sys; print(os.getpid(), flush=True); sys.stdin.read()"
    arguments = [sys.executable, "-c", STARTS, *python(source).arguments]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, env=environment) as opconform:
        assert opconform.stdout is not None
        harness = psutil.Process(int(opconform.stdout.readline().split()[0]))
        supervisor = harness.parent()
        assert supervisor is not None
        supervisor.suspend()
        opconform.kill()
        opconform.wait()
        while harness.status() != psutil.STATUS_ZOMBIE:
            pass
        supervisor.resume()
        _, alive = psutil.wait_procs([supervisor], timeout=PATIENCE)

    assert alive == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("end", [Process.stop, Process.kill])
def test_the_supervisor_removes_the_scratch_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, end: Callable[[Process], Coroutine[None, None, None]]
) -> None:
    """So that nothing is left if opconform is killed just before it would do that. Links are not followed."""
    (tmp_path / "kept").write_text("kept")

    async def ended() -> Path:
        process = await started(python("import sys; sys.stdin.read()"))
        (process.scratch / "a").mkdir()
        (process.scratch / "a" / "b").symlink_to(tmp_path)
        assert (process.scratch / "a" / "b" / "kept").exists()
        monkeypatch.setattr(type(process._folder), "cleanup", lambda folder: folder._finalizer.detach())
        await end(process)
        return process.scratch

    scratch = asyncio.run(ended())
    assert not scratch.exists()
    assert (tmp_path / "kept").exists()


@pytest.mark.parametrize("number", in_line([signal.SIGTERM, signal.SIGHUP], signal.SIGTERM))
def test_a_signal_ends_a_run_with_its_harness(
    small_suite: Path, tmp_path: Path, pipe: Path, number: signal.Signals
) -> None:
    """The harness hangs; the exit code is the one that a shell gives to a signal."""
    (tmp_path / "scratch").mkdir()
    program, harness = Path(sys.executable).with_name("opconform"), fake_harnesses.command("waits for a signal")
    arguments = [str(x) for x in (program, "run", small_suite, "--out", tmp_path / "out")]
    arguments += ["--timeout", "3600", "--harness", harness]
    environment = {**os.environ, "TMPDIR": str(tmp_path / "scratch"), "OPCONFORM_TEST_MARK": str(pipe)}
    with subprocess.Popen(arguments, env=environment, stderr=subprocess.PIPE, text=True) as run:
        assert pipe.read_text() == "waits"
        below = [child.pid for child in psutil.Process(run.pid).children(recursive=True)]
        run.send_signal(number)
        _, said = run.communicate(timeout=PATIENCE)

    assert (run.returncode, "Traceback" in said) == (128 + number, False)
    assert len(below) >= 2
    assert not any(psutil.pid_exists(x) for x in below)
    assert list((tmp_path / "scratch").iterdir()) == []


#: Runs a program in the terminal that its standard input is.
IN_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)


@pytest.mark.parametrize("command", in_line(["run", "certify", "stream"], "run"))
def test_a_closed_terminal_ends_a_command_as_a_hangup_does(
    small_suite: Path, tmp_path: Path, pipe: Path, command: str
) -> None:
    """Nothing can be printed any more; the report so far is written all the same, unless the run is streamed."""
    program, harness = Path(sys.executable).with_name("opconform"), fake_harnesses.command("waits for a signal")
    (tmp_path / "stream.yaml").write_text(EXHAUSTIVE_SPEC)
    given = {
        "run": ("run", small_suite),
        "certify": ("certify", small_suite.parent / "small.yaml"),
        "stream": ("certify", tmp_path / "stream.yaml", "--profile", "exhaustive"),
    }
    arguments = [program, *given[command], "--out", tmp_path / "out", "--timeout", "3600", "--harness", harness]
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", IN_TERMINAL, *map(str, arguments)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "OPCONFORM_TEST_MARK": str(pipe)},
        start_new_session=True,
    ) as run:
        os.close(theirs)
        assert pipe.read_text() == "waits"
        os.close(ours)
        run.wait(PATIENCE)

    assert run.returncode == 128 + signal.SIGHUP
    if command != "stream":
        assert "Interrupted" in json.loads((tmp_path / "out" / "report.json").read_text())["gave_up"]


def test_a_harness_is_killed_though_its_stop_is_cancelled() -> None:
    """As an interrupt does; nothing of the harness is left to be closed without an event loop."""

    async def cancelled() -> Process:
        process = await started(python(STAY))
        stop = asyncio.create_task(process.stop())
        await asyncio.sleep(0)
        stop.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await stop
        return process

    process = asyncio.run(cancelled())

    assert not process.scratch.exists()
    assert process._process.returncode is not None
