"""Termination signals end a command as Ctrl-C does. Each test signals a process of its own, not the one of the tests."""

import subprocess
import sys

import pytest

PROGRAM = """\
import asyncio, os, signal, sys, time
from opconform.system.interrupts import as_interrupts, run_loop

async def work():
    os.kill(os.getpid(), signal.SIGTERM)
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        print("cancelled")
        raise

async def start():
    loop = asyncio.get_running_loop()
    connect = loop.connect_read_pipe

    async def connect_late(*given):
        loop.connect_read_pipe = connect
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.sleep(0.01)
        return await connect(*given)

    loop.connect_read_pipe = connect_late
    await asyncio.create_subprocess_exec("sleep", "60", stdin=-1, stdout=-1, stderr=-1)

class Dropping:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0)

async def closing():
    try:
        yield
    finally:
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.sleep(0)
        print("closed")

held = []

async def left_open():
    held.append(closing())
    await anext(held[0])

async def main():
    if "closing" in sys.argv:
        return await left_open()
    await asyncio.gather(start() if "start" in sys.argv else work())

signal.signal(signal.SIGINT, signal.SIG_IGN if "background" in sys.argv else signal.default_int_handler)
with as_interrupts() as came:
    try:
        if "loop" in sys.argv:
            run_loop(main())
        elif "finalizer" in sys.argv:
            Dropping()
            time.sleep(30)
        else:
            os.kill(os.getpid(), signal.SIGTERM)
    except KeyboardInterrupt:
        print("interrupted", *came)
"""


def program(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """The program above, at its end."""
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, check=False, timeout=50
    )


@pytest.mark.parametrize("place", ["background", "foreground"])
def test_a_signal_during_a_task_interrupts_the_event_loop(place: str) -> None:
    """The task is cancelled where it waits, and no unhandled exception is printed, also where Ctrl-C is ignored."""
    done = program("loop", place)

    assert (done.returncode, done.stdout, done.stderr) == (0, "cancelled\ninterrupted 15\n", "")


@pytest.mark.parametrize("place", ["background", "foreground"])
def test_a_signal_while_a_process_starts_does_not_hang(place: str) -> None:
    """The pipes of a subprocess are connected in a task of asyncio's own, which must not be cancelled."""
    done = program("loop", "start", place)

    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["interrupted 15"])


@pytest.mark.parametrize("place", ["background", "foreground"])
def test_a_signal_outside_an_event_loop_interrupts_at_once(place: str) -> None:
    """Also where Ctrl-C is ignored."""
    done = program(place)

    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted 15\n", "")


def test_a_signal_after_the_task_interrupts_when_the_event_loop_is_closed() -> None:
    """What asyncio does at the end is not disturbed, and the interrupt is not lost."""
    done = program("loop", "closing", "foreground")

    assert (done.returncode, done.stdout, done.stderr) == (0, "closed\ninterrupted 15\n", "")


@pytest.mark.parametrize("place", ["background", "foreground"])
def test_a_signal_in_a_finalizer_interrupts_after_it(place: str) -> None:
    """Python drops an exception that is raised in a finalizer, and prints it."""
    done = program("finalizer", place)

    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted 15 15\n", "")
