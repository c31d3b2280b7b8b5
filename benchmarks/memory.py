"""The memory and the processor time of a command with all its processes."""

import subprocess
import time
from collections.abc import Sequence

import psutil

#: The interval between samples, in seconds.
_INTERVAL = 0.05


def peak_of(command: Sequence[str]) -> int:
    """The most bytes that a command and its child processes take together; memory that they share counts once."""
    return usage_of(command)[0]


def usage_of(command: Sequence[str]) -> tuple[int, float]:
    """The most bytes, and the seconds of processor time, of a command and its child processes together.

    Both are sampled, so that shorter peaks, and the last moments of each process, are missed.
    """
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak, processor = 0, dict[int, float]()
    while process.poll() is None:
        family = _family(process.pid)
        peak = max(peak, sum(map(_proportional, family)))
        processor |= {x.pid: _processor(x) or processor.get(x.pid, 0.0) for x in family}
        time.sleep(_INTERVAL)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return peak, sum(processor.values())


def _family(pid: int) -> list[psutil.Process]:
    try:
        parent = psutil.Process(pid)
        return [parent, *parent.children(recursive=True)]
    except psutil.Error:
        return []


def _processor(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)


def _proportional(process: psutil.Process) -> int:
    try:
        return int(process.memory_full_info().pss)
    except psutil.Error:
        return 0
