"""The process between opconform and a harness, which ends the harness with everything that it started.

This file is run as a script: `python supervisor.py CHANNEL SCRATCH HOME PROGRAM [ARGUMENT...]`. CHANNEL is the
descriptor of a socket whose other end opconform holds. That end is closed when opconform ends in any way or has no more
use for the harness. SCRATCH is the harness's folder, and HOME that of the package `opconform`. The harness has the
supervisor's standard streams, and the supervisor ends as the harness did: with its exit code, or by its signal.

On Linux the orphans of a harness, even those in a session of their own, become children of the supervisor, which kills
them.
"""

import contextlib
import ctypes
import os
import select
import signal
import socket
import sys
import time

#: The supervisor's messages: the harness runs; it does not (an error number follows); it left a process behind.
RUNS, FAILED, LEFT = b"r", b"f", b"l"
#: The messages of opconform: end the harness; the scratch folder is no longer needed.
END, DONE = b"e", b"d"
#: How long a process that the harness left behind may take to end by itself, in seconds.
PATIENCE = 0.3
_PAUSE = 0.02
#: How long the system may take to close the channel of a killed opconform after the input of its harness, in seconds.
_MOMENT = 0.1

_SET_DEATH_SIGNAL = 1
_SET_SUBREAPER = 36
#: The exit code if the harness's exit code is unknown.
_LOST = 127


def main(channel: int, arguments: list[str], scratch: str, home: str) -> None:
    """Start a harness, and end it when the channel closes.

    Its scratch folder is removed if opconform needs it no longer or has ended. Opconform removes what is left.
    """
    opconform = socket.socket(fileno=channel)
    opconform.set_inheritable(False)
    _control(_SET_SUBREAPER, 1)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    harness = _started(arguments, opconform)
    _release_streams()
    status, is_done = _waited(harness, opconform, woken)
    if status is not None:
        _note_left(opconform)
        is_done = is_done or _is_done_soon(opconform)
    status = _end_all(harness, status)
    if is_done:
        _remove(scratch, home)
    _end_like(status)


def _control(option: int, value: int) -> None:
    """Set an attribute of this process, on Linux only."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _started(arguments: list[str], opconform: socket.socket) -> int:
    """Start the program of the harness, and report to opconform whether that worked; returns its process id."""
    failure, report = os.pipe()
    pid = os.getpid()
    harness = os.fork()
    if harness == 0:
        _become(arguments, pid, report)
    os.close(report)
    number = os.read(failure, 16)
    os.close(failure)
    with contextlib.suppress(OSError):  # opconform may have ended
        opconform.send(FAILED + number if number else RUNS)
    if number:
        os._exit(_LOST)
    return harness


def _become(arguments: list[str], supervisor: int, report: int) -> None:
    """Become the harness, in its own session, which ends with the supervisor."""
    try:
        os.setsid()
        _control(_SET_DEATH_SIGNAL, signal.SIGKILL)
        for item in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD):
            signal.signal(item, signal.SIG_DFL)
        if os.getppid() == supervisor:
            os.execvp(arguments[0], arguments)  # noqa: S606 - a program without a shell
    except OSError as error:
        os.write(report, str(error.errno).encode())
    finally:
        os._exit(_LOST)


def _release_streams() -> None:
    """Close the standard streams, so that their readers notice when the harness closes its own."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)


def _waited(harness: int, opconform: socket.socket, woken: int) -> tuple[int | None, bool]:
    """The exit status of the harness, or None if it has to be ended; and whether the scratch folder can be removed."""
    is_done = False
    while True:
        while (ended := _reaped()) is not None:
            if ended[0] == harness:
                return ended[1], is_done
        readable, _, _ = select.select([opconform.fileno(), woken], [], [])
        if woken in readable:
            os.read(woken, 4_096)
        if opconform.fileno() in readable:
            message = _message(opconform)
            is_done = is_done or message in (DONE, b"")
            if message != DONE:
                return None, is_done


def _is_done_soon(opconform: socket.socket) -> bool:
    """Whether opconform needs the scratch folder no longer; a harness may notice first that opconform has ended."""
    select.select([opconform.fileno()], [], [], _MOMENT)
    return _message(opconform) in (DONE, b"")


def _message(opconform: socket.socket) -> bytes | None:
    """A message of opconform; b"" if it has ended, and None if there is no message."""
    try:
        return opconform.recv(1, socket.MSG_DONTWAIT)
    except BlockingIOError:
        return None
    except OSError:  # it ended before it read a message
        return b""


def _reaped(flags: int = os.WNOHANG) -> tuple[int, int] | None:
    """The process id and status of a child that has ended, or None."""
    try:
        ended, status = os.waitpid(-1, flags)
    except ChildProcessError:
        return None
    return (ended, status) if ended else None


def _note_left(opconform: socket.socket) -> None:
    """Report to opconform if the harness left processes behind that do not end by themselves."""
    end = time.monotonic() + PATIENCE
    while _children() and time.monotonic() < end:
        while _reaped() is not None:
            pass
        time.sleep(_PAUSE)
    if _children():
        with contextlib.suppress(OSError):
            opconform.send(LEFT)


def _end_all(harness: int, status: int | None) -> int | None:
    """Kill the harness with everything that it started; returns the status of the harness."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(harness, signal.SIGKILL)
    while children := _children() or ([harness] if status is None else []):
        for child in children:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGKILL)
        ended = _reaped(0)  # the children of an ended process become children of this one
        if ended is None:
            break
        if ended[0] == harness:
            status = ended[1]
    return status


def _children() -> list[int]:
    """The child processes, if the system lists them."""
    pid = os.getpid()
    try:
        with open(f"/proc/{pid}/task/{pid}/children", "rb") as file:  # noqa: PTH123 - pathlib takes long to import
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def _remove(folder: str, home: str) -> None:
    """Remove a folder as opconform does, whose package is in another one."""
    sys.path.append(home)
    from opconform.system.removal import remove_folder

    remove_folder(folder)


def _end_like(status: int | None) -> None:
    code = _LOST if status is None else os.waitstatus_to_exitcode(status)
    if code < 0:
        with contextlib.suppress(ImportError, ValueError, OSError):
            import resource  # rarely needed

            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with contextlib.suppress(OSError, ValueError):  # no handler may be set for SIGKILL
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code if code >= 0 else _LOST)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[4:], *sys.argv[2:4])
