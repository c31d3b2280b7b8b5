"""The memory of a command with all its processes."""

import subprocess
import time
from collections.abc import Sequence

import psutil

#: The interval between samples, in seconds.
_INTERVAL = 0.05


def peak_of(command: Sequence[str]) -> int:
    """The most bytes that a command and its child processes take together; memory that they share counts once.

    The memory is sampled, so that shorter peaks are missed.
    """
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        peak = max(peak, sum(map(_proportional, _family(process.pid))))
        time.sleep(_INTERVAL)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return peak


def _family(pid: int) -> list[psutil.Process]:
    try:
        parent = psutil.Process(pid)
        return [parent, *parent.children(recursive=True)]
    except psutil.Error:
        return []


def _proportional(process: psutil.Process) -> int:
    try:
        return int(process.memory_full_info().pss)
    except psutil.Error:
        return 0
