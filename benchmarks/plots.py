"""The plots of docs/scale.md: speed and memory against the number of cases and of processes.

Usage: python -m benchmarks.plots [FOLDER]

Needs `pip install -e '.[benchmark]'`. Writes `performance-rate.png` and `performance-memory.png` to FOLDER (`docs`) and
prints the numbers. Suites are written to the temporary folder: set TMPDIR to a tmpfs to leave out the disk.
"""

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from matplotlib.figure import Figure

from benchmarks.measure import MIB, PROGRAM, spec
from benchmarks.memory import usage_of

#: The numbers of cases.
COUNTS = (500, 2_000, 8_000)


#: The plots and their axes. Other work on the machine disturbs the processor's time least.
LABELS = {"rate": "cases per second of processor time", "memory": "peak memory in MiB"}


class Point(NamedTuple):
    """One measured command: all its processes together."""

    cases: int
    seconds: float
    processor: float
    memory: float


def measured(command: Sequence[str], cases: int) -> Point:
    """The time, the processor's time and the peak memory of a command, in seconds and MiB."""
    started = time.perf_counter()
    memory, processor = usage_of(command)
    spent = time.perf_counter() - started
    return Point(cases=cases, seconds=spent, processor=processor, memory=memory / MIB)


def all_points(folder: Path) -> dict[str, list[Point]]:
    """The points of each line of the plots."""
    lines: dict[str, list[Point]] = {}
    for count in COUNTS:
        path, suite, out = spec(folder, count), folder / f"suite-{count}", folder / "results"
        for jobs in (1, 2):
            generation = [str(PROGRAM), "generate", str(path), "--out", str(suite), "--jobs", str(jobs)]
            run = [str(PROGRAM), "run", str(suite), "numpy", "--out", str(out), "--force", "--jobs", str(jobs)]
            for name, command in (("generate", generation), ("run", run)):
                point = measured(command, count)
                lines.setdefault(f"{name} --jobs {jobs}", []).append(point)
                rate, cost = point.cases / point.seconds, 1000 * point.processor / point.cases
                shown = f"{rate:8,.0f} cases/s {cost:6.2f} ms of processor time {point.memory:6.0f} MiB"
                print(f"{name} --jobs {jobs} {count:7,} cases {shown}", flush=True)
    return lines


def draw(lines: dict[str, list[Point]], path: Path, what: str) -> None:
    """Draw a line per command: the cases per second, or the memory."""
    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.add_subplot()
    for name, points in lines.items():
        values = [point.cases / point.processor if what == "rate" else point.memory for point in points]
        axes.plot([point.cases for point in points], values, marker="o", label=name)
    axes.set(xscale="log", xlabel="cases", ylabel=LABELS[what])
    axes.set_xticks(COUNTS, [f"{count:,}" for count in COUNTS])
    axes.set_xticks([], minor=True)
    axes.set_ylim(bottom=0)
    axes.grid(visible=True, alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=120, metadata={"Software": None})


def main() -> None:
    """Measure, print and draw."""
    out = Path(sys.argv[1] if len(sys.argv) > 1 else "docs")
    with tempfile.TemporaryDirectory() as folder:
        lines = all_points(Path(folder))
    for what in LABELS:
        draw(lines, out / f"performance-{what}.png", what)


if __name__ == "__main__":
    main()
