"""The processes that a harness started: which they are, their memory, and their end."""

import contextlib

import psutil

#: The variable that marks the processes of a harness with its scratch folder.
MARK = "OPCONFORM_HARNESS"


def below(supervisor: int) -> list[psutil.Process]:
    """A harness and its children, by the number of its supervisor; empty where that has ended."""
    try:
        return psutil.Process(supervisor).children(recursive=True)
    except psutil.Error:
        return []


def kill_marked(folder: str) -> None:
    """Kill what is left of a harness whose supervisor was killed, perhaps by one of these processes."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get(MARK) == folder:
                process.kill()


def resident(process: psutil.Process) -> int:
    """The memory of a process, in bytes, and 0 of one that has ended."""
    try:
        return process.memory_info().rss
    except psutil.Error:
        return 0


def proportional(process: psutil.Process) -> int:
    """The memory of a process, with its share of shared memory if the system reports it."""
    try:
        memory = process.memory_full_info()
    except psutil.Error:
        return resident(process)
    return getattr(memory, "pss", memory.uss)
