"""How many harnesses execute cases at a time, unless the user says it."""

from opconform_runners.harness.environment import cores

#: The most harnesses by default, and how many cases pay for another one: cases that share it, or cases executed alone.
_MOST, _SHARED, _ALONE = 4, 100, 5


def default_jobs(device: str | None, cases: int, *, alone: bool) -> int:
    """The number of harnesses that execute cases on a device: one per core for many cases on a CPU.

    Other devices execute one case at a time. So do short runs, since another harness does not pay.
    """
    if "CPU" not in (device or "").split(":"):
        return 1
    return max(1, min(cores(), _MOST, cases // (_ALONE if alone else _SHARED)))
