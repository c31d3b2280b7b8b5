"""The memory that mutants may take."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

#: In bytes, beyond what is in use.
_ROOM = 1 << 30


@contextmanager
def bounded_memory() -> Iterator[None]:
    """Bound the memory that a mutant can take beyond what is in use, where the system can."""
    if sys.platform != "linux":
        yield
        return
    import resource  # unknown to other systems

    import psutil

    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (psutil.Process().memory_info().vms + _ROOM, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
