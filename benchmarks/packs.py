"""What packs save, and whether they change a verdict: a run with packs against two runs of each case alone.

Run as a module with a suite, a backend and a folder, it executes one run and prints its times as JSON.
"""

import json
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from opconform.generation.options import Options
from opconform.generation.pipeline import generate
from opconform.specs.loader import load_specs
from opconform.specs.operation_names import named_operations
from opconform.suite.reader import open_suite
from opconform.suite.selection.selection import Selection
from opconform_runners.execution.plan import RunOptions
from opconform_runners.execution.runner import run_suite
from opconform_runners.findings.packs import pack_counts
from opconform_runners.harness.command import backend_command
from opconform_runners.verdicts.results import RESULTS, Result, read_results

#: The backends that take packs, and the time limit of a case.
BACKENDS, TIMEOUT = ("openvino", "onnxruntime", "openvino-onnx"), 20.0


@dataclass(frozen=True, kw_only=True)
class Spent:
    """The seconds of processor time and wall time until a moment of a run, in this process and in its harnesses."""

    processor: float
    wall: float


@dataclass
class Stopwatch:
    """The times at the end of the first executions, and at the end of the run."""

    started: float
    first: Spent | None = None

    def now(self) -> Spent:
        """The times so far."""
        usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        spent = sum(usage.ru_utime + usage.ru_stime for usage in usages)
        return Spent(processor=spent, wall=time.monotonic() - self.started)

    def on_progress(self, _fraction: float, _done: int, stage: str = "", /) -> None:
        """The first stage with a title follows the first executions."""
        if stage and self.first is None:
            self.first = self.now()


def main(suite: Path, backend: str, out: Path, *, alone: bool) -> None:
    """Execute one run, and print its times."""
    watch = Stopwatch(started=time.monotonic())
    options = RunOptions(jobs=None, timeout=TIMEOUT, alone=alone, force=True)
    run_suite(open_suite(suite), backend_command(backend), out, options, watch.on_progress)
    whole = watch.now()
    print(json.dumps({"first": vars(watch.first or whole), "whole": vars(whole)}))


def _timed(suite: Path, backend: str, out: Path, *, alone: bool) -> tuple[dict[str, Spent], dict[str, Result]]:
    """The times of a run in a process of its own, and its results."""
    command = [sys.executable, "-m", "benchmarks.packs", str(suite), backend, str(out), *(["alone"] if alone else [])]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    times = {name: Spent(**spent) for name, spent in json.loads(printed).items()}
    return times, {result.id: result for result in read_results(out / RESULTS)}


def _differences(first: dict[str, Result], second: dict[str, Result]) -> set[str]:
    """The cases with other verdicts, or other reasons of failures."""
    return {
        name
        for name, result in first.items()
        if (result.verdict, result.reason) != (second[name].verdict, second[name].reason)
    }


def compare(suite: Path, folder: Path) -> None:
    """Run each backend with packs and twice without, and print the times and the differences."""
    for backend in BACKENDS:
        outs = [folder / f"{backend}-{name}" for name in ("packs", "alone", "again")]
        (times, packed), (alone_times, alone), (_, again) = (
            _timed(suite, backend, out, alone=number > 0) for number, out in enumerate(outs)
        )
        counts = pack_counts([*packed.values()], ())
        for stage in ("first", "whole"):
            spent, other = times[stage], alone_times[stage]
            print(
                f"{backend}, {'first executions' if stage == 'first' else 'whole run'}: {spent.processor:.0f} s of "
                f"processor time and {spent.wall:.0f} s with packs, {other.processor:.0f} s and {other.wall:.0f} s "
                f"alone: {spent.processor / other.processor:.2f} and {spent.wall / other.wall:.2f} times"
            )
        own, varying = _differences(packed, alone), _differences(alone, again)
        steady = own - varying
        others = sum(packed[name].verdict != alone[name].verdict for name in steady)
        print(f"{backend}, {len(packed):,} cases: {len(own)} results differ from those alone, {len(steady)} of them")
        print(f"  where two runs alone agree, {others} in more than the reason of a failure. {counts}")
        print(f"  Two runs alone differ in {len(varying)}.")
        for name in sorted(own | varying):
            verdicts = [f"{x[name].verdict} {x[name].reason or ''}".strip() for x in (packed, alone, again)]
            print(f"  {name}: packs {verdicts[0]}, alone {verdicts[1]}, again {verdicts[2]}")
        sys.stdout.flush()


def measure_pack(folder: Path, operations: str = "") -> None:
    """The three backends on the core, or on that of some operations, separated by commas."""
    selection, specs = Selection(profiles=("core",)), load_specs([])
    if operations:
        named = [Path(operation) for operation in operations.split(",")]
        selection, specs = Selection(profiles=("core",), operations=named_operations(named)), load_specs(named)
    generate(specs, folder / "suite", Options(dialects=("openvino", "onnx"), jobs=2, selection=selection))
    compare(folder / "suite", folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), alone=sys.argv[4:] == ["alone"])
