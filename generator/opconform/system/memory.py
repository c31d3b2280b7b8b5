"""Free memory, and checks against it."""

import contextlib
import gc
from collections.abc import Iterator
from pathlib import Path

from opconform.errors import SuiteError

#: The files with the limit, the usage and the page cache of a control group, in versions 2 and 1 of the interface.
_CONTROL_GROUPS = (
    ("memory.max", "memory.current", ("inactive_file", "active_file")),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", ("total_inactive_file", "total_active_file")),
)
_CONTROL_GROUP_ROOT = Path("/sys/fs/cgroup")
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")


def free_memory() -> int:
    """The free bytes of the machine, or of this process's control group if those are fewer."""
    import psutil

    free: int = psutil.virtual_memory().available
    return int(min(free, *(_left(*control_group) for control_group in _CONTROL_GROUPS)))


def check_memory(size: int, what: str) -> None:
    """Check that a number of bytes fits into free memory; `what` names their purpose in the `SuiteError`."""
    free = free_memory()
    if size > free:
        raise SuiteError(f"{what} needs {shown_bytes(size)} of memory, but only {shown_bytes(free)} is free.")


def shown_bytes(size: int) -> str:
    """A number of bytes with a unit, as in `24.0 GiB`."""
    power = min(max(size.bit_length() - 1, 0) // 10, len(_UNITS) - 1)
    return f"{size / (1 << 10 * power):,.1f} {_UNITS[power]}" if power else f"{size:,} bytes"


def _left(limit: str, used: str, cached: tuple[str, ...]) -> float:
    """The free bytes of a control group, including its page cache; infinity without a limit."""
    try:
        most, taken = (int((_CONTROL_GROUP_ROOT / name).read_text()) for name in (limit, used))
        statistics = (_CONTROL_GROUP_ROOT / used).with_name("memory.stat").read_text().split()
    except (OSError, ValueError):  # no such interface, or the limit is `max`
        return float("inf")
    values = dict(zip(statistics[::2], statistics[1::2], strict=False))
    return most - taken + sum(int(values.get(name, 0)) for name in cached)


@contextlib.contextmanager
def without_collection() -> Iterator[None]:
    """Have Python search for no garbage while many objects are made that stay, which would take half of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
