"""Try to break opconform in every way that broke it once, and count what held.

Usage: python -m benchmarks.robustness [--count N] [PART...]

Without a PART all run. `--count` scales a part: the number of kills, of hostile inputs or of fuzzed ones. Everything
random is seeded. Ends with 1 where anything did not hold.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import get_args

from .attempt import Attempt, Outcome

PARTS = (
    "generation_kills",
    "kills",
    "full_disk",
    "hostile_harnesses",
    "hostile_suites",
    "hostile_specs",
    "fuzzed_readers",
)
#: How many attempts that did not hold are shown in full.
_SHOWN = 20


def main() -> int:
    """Run the parts that are named, print a line for each, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.robustness", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--count", type=int, metavar="N", help="how many attempts a part makes")
    arguments = parser.parse_args()
    if unknown := sorted(set(arguments.parts) - set(PARTS)):
        parser.error(f"unknown part: {', '.join(unknown)}; allowed are {', '.join(PARTS)}")
    total: Counter[Outcome] = Counter()
    for part in arguments.parts or PARTS:
        attempts: Callable[[Path, int | None], Iterator[Attempt]] = import_module(f"{__package__}.{part}").attempts
        total += _count(part, attempts, arguments.count)
    _print("all", total, None)
    return 0 if set(total) <= {"held"} else 1


def _count(part: str, attempts: Callable[[Path, int | None], Iterator[Attempt]], count: int | None) -> Counter[Outcome]:
    """Run one part in a scratch folder of its own, and print what did not hold."""
    started, outcomes = time.monotonic(), Counter[Outcome]()
    with tempfile.TemporaryDirectory(prefix="robustness-", ignore_cleanup_errors=True) as scratch:
        for each in attempts(Path(scratch), count):
            outcomes[each.outcome] += 1
            if each.outcome != "held" and sum(outcomes.values()) - outcomes["held"] <= _SHOWN:
                print(f"  {each.outcome}: {each.what}: {each.detail}", flush=True)
    _print(part, outcomes, time.monotonic() - started)
    return outcomes


def _print(part: str, outcomes: Counter[Outcome], seconds: float | None) -> None:
    """Print the figures of a part: how many attempts there were, and how many ended in each way."""
    figures = ", ".join(f"{name} {outcomes[name]:,}" for name in get_args(Outcome))
    duration = "" if seconds is None else f" ({seconds:.0f} s)"
    print(f"{part}: tried {outcomes.total():,}, {figures}{duration}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
