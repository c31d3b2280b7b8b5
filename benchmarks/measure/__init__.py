"""Measured speed, as ratios against a floor or a peer in the same run.

Usage: python -m benchmarks.measure [generate|run|onnx|jobs|large|start|pytest|pack[:OPERATION,...]]...

Needs `pip install -e '.[openvino,onnxruntime,benchmark]'`. Nothing here passes or fails: it prints, and a person reads.
"""

import io
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.memory import peak_of
from benchmarks.packs import measure_pack
from opconform.generation.options import LIMITS, Options
from opconform.generation.pipeline import generate
from opconform.specs.loader import load_specs
from opconform.suite.reader import open_suite
from opconform_runners.execution.plan import RunOptions
from opconform_runners.execution.runner import run_suite
from opconform_runners.harness.command import backend_command

PROGRAM = Path(sys.executable).with_name("opconform")

SPEC = """\
op: VariadicSplit-1
groups:
  - id: measured
    title: as many cases as a measurement wants, shaped as the shipped ones are
    requirements: [outputs.order]
    matrix:
      number: ${{{{ range({count}) }}}}
      axis: [0, -1]
      lengths: [[1, -1], [2, 1, -1], [3, -1], [-1]]
    data: {{shape: [6, "${{{{ 1 + number % 7 }}}}", 6], fill: constant, value: "${{{{ number }}}}"}}
    axis: ${{{{ axis }}}}
    split_lengths: ${{{{ lengths }}}}
"""

LARGE = """\
op: Split-1
groups:
  - id: large
    title: a tensor that takes most of the memory of a case
    requirements: [outputs.order]
    data: {{shape: [2, {columns}], element_type: f32, fill: ramp}}
    axis: 0
    num_splits: 2
"""

MIB = 1 << 20


def seconds(act: Callable[[], object], times: int = 3, out: Path | None = None) -> float:
    """The least of several measurements, which other work on the machine disturbs least; `out` is removed before each.

    Removing it is not measured.
    """
    found = []
    for _ in range(times):
        if out is not None:
            shutil.rmtree(out, ignore_errors=True)
        started = time.perf_counter()
        act()
        found.append(time.perf_counter() - started)
    return min(found)


def say(name: str, value: float, unit: str, ratio: float, budget: str) -> None:
    """Print a measurement: what it is, its ratio to the floor or peer beside it, and the budget of the ratio."""
    print(f"{name:58} {value:10,.2f} {unit:9} ratio {ratio:6.2f}   budget {budget}")


def spec(folder: Path, count: int) -> Path:
    """A spec of that many cases."""
    path = folder / f"measured-{count}.yaml"
    path.write_text(SPEC.format(count=count // 8))
    return path


def generated(path: Path, out: Path, jobs: int) -> None:
    """Generate a suite."""
    generate(load_specs([path]), out, Options(jobs=jobs, limits=LIMITS))


def floor(source: Path, out: Path) -> None:
    """Write the same files with numpy and plain `open`, and nothing else."""
    for folder, content, arrays in source_of(source):
        place = out / folder
        os.makedirs(place / "openvino")  # noqa: PTH103 - the floor is what is quickest
        for name, values in arrays.items():
            np.savez(place / name, allow_pickle=False, **values)
        for name, text in content.items():
            with open(place / name, "wb") as file:  # noqa: PTH123 - the same
                file.write(text)


_SOURCES: dict[Path, list[tuple[str, dict[str, bytes], dict[str, dict[str, Any]]]]] = {}


def source_of(suite: Path) -> list[tuple[str, dict[str, bytes], dict[str, dict[str, Any]]]]:
    """A suite in memory: each case's folder, its plain files and its arrays."""
    if suite not in _SOURCES:
        found = []
        for case in sorted(suite.glob("*/*/*")):
            content = {
                path.relative_to(case).as_posix(): path.read_bytes()
                for path in case.rglob("*")
                if path.is_file() and path.suffix != ".npz"
            }
            arrays = {path.name: dict(np.load(io.BytesIO(path.read_bytes()))) for path in case.glob("*.npz")}
            found.append((case.relative_to(suite).as_posix(), content, arrays))
        _SOURCES[suite] = found
    return _SOURCES[suite]


def onnx_rate(folder: Path) -> float:
    """The cases per second of ONNX's own generator."""
    command = [sys.executable, "-m", "onnx.backend.test.cmd_tools", "generate-data", "-o", str(folder / "onnx")]
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    spent = time.perf_counter() - started
    return len(list((folder / "onnx").rglob("model.onnx"))) / spent


def peak_memory(folder: Path, count: int) -> float:
    """The peak memory of a generation, in MiB."""
    out = folder / f"memory-{count}"
    return peak_of([str(PROGRAM), "generate", str(spec(folder, count)), "--out", str(out), "--jobs", "1"]) / MIB


def measure_generate(folder: Path) -> None:
    """Generation against the floor of writing the bytes, against ONNX's generator, and on two processes."""
    count = 16_000
    path, suite, copy = spec(folder, count), folder / "suite", folder / "floor"
    one, two = (seconds(partial(generated, path, suite, jobs), out=suite) for jobs in (1, 2))
    source_of(suite)
    bare = seconds(lambda: floor(suite, copy), out=copy)
    say("generate, 1 process", count / one, "cases/s", bare / one, ">= 0.7 of the floor")
    say("  the floor: the same files with numpy and open", count / bare, "cases/s", 1.0, "")
    peer = onnx_rate(folder)
    say("  against ONNX's own generator", peer, "cases/s", count / one / peer, ">= 4 times")
    say("generate, 2 processes", count / two, "cases/s", one / two, ">= 1.8 times one")
    small, large = peak_memory(folder, 500), peak_memory(folder, 20_000)
    say("generate, peak memory at 20,000 cases against 500", large, "MiB", large / small, "does not grow")


def measure_run(folder: Path) -> None:
    """A run's wall time against the time spent inside the backend.

    The runs on numpy are long, so that the start of the harness takes little of the time of a case.
    """
    for name, count, budget in (
        ("openvino", 1_000, "<= 1.1 times the time inside"),
        ("numpy", 10_000, "<= 0.35 ms of overhead"),
    ):
        out = folder / f"run-suite-{count}"
        generate(load_specs([spec(folder, count)]), out, Options(jobs=2, dialects=("openvino",)))
        started = time.perf_counter()
        run = run_suite(open_suite(out), backend_command(name), folder / "run-out", RunOptions(force=True))
        wall = time.perf_counter() - started
        inside = sum(result.seconds or 0.0 for result in run.results)
        say(f"run on {name}, wall time", 1000 * wall / count, "ms/case", wall / inside, budget)
        print(f"  of it inside the backend: {1000 * inside / count:.2f} ms a case")


def measure_large(folder: Path) -> None:
    """The memory of all processes for one case with an input of 2 GiB, against that size.

    The temporary folder needs 8 GiB of a real disk, since files in memory would have to be counted too.
    """
    size = 2 << 30
    path, out = folder / "large.yaml", folder / "large"
    path.write_text(LARGE.format(columns=size // 8))
    limits = ["--max-elements", str(size // 4), "--max-bytes", str(4 * size)]
    generation = peak_of([str(PROGRAM), "generate", str(path), "--out", str(out), *limits])
    say("generate, a case of 2 GiB", generation / MIB, "MiB", generation / size, "<= 2.5 times its size")
    command = [str(PROGRAM), "run", str(out), "numpy", "--out", str(folder / "large-out"), "--timeout", "900"]
    run = peak_of(command)
    say("run on numpy, a case of 2 GiB", run / MIB, "MiB", run / size, "<= 2.5 times its size")


def measure_onnx(folder: Path) -> None:
    """What a case on ONNX Runtime costs beside ONNX Runtime, against `onnx.backend.test` on the same models.

    It is the difference of a long and a short run, so that what it takes to start counts for neither. ONNX runs its own
    backend tests with pytest; unittest is the quickest way to run them.
    """
    few, many = 400, 4_000
    suites = [folder / f"onnx-suite-{count}" for count in (few, many)]
    for count, out in zip((few, many), suites, strict=True):
        generate(load_specs([spec(folder, count)]), out, Options(jobs=2, dialects=("onnx",)))

    def slope(outside: Callable[[Path], float]) -> float:
        short, long = (min(outside(suite) for _ in range(5)) for suite in suites)
        return (long - short) / (many - few)

    own = slope(lambda suite: overhead(suite, folder / "onnx-out", "onnxruntime"))
    for by in ("pytest", "unittest"):
        peer = slope(lambda suite, by=by: peer_overhead(suite, by))  # type: ignore[misc]
        say("run on onnxruntime, overhead", 1000 * own, "ms/case", own / peer, "<= 1/3 of onnx.backend.test")
        say(f"  the peer by {by}, overhead", 1000 * peer, "ms/case", 1.0, "")


def peer_overhead(suite: Path, by: str) -> float:
    """The seconds that `onnx.backend.test` takes for a suite's models beside those inside ONNX Runtime."""
    command = [sys.executable, "-W", "ignore", str(Path(__file__).with_name("onnx_peer.py")), by, str(suite)]
    _, spent, inside = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return float(spent) - float(inside)


def overhead(suite: Path, out: Path, backend: str) -> float:
    """The seconds that a run takes beside those that are spent inside the backend."""
    opened = open_suite(suite)
    started = time.perf_counter()
    run = run_suite(opened, backend_command(backend), out, RunOptions(force=True))
    wall = time.perf_counter() - started
    return wall - sum(result.seconds or 0.0 for result in run.results)


def measure_jobs(folder: Path) -> None:
    """Two harness processes against one, where the backend is the cost and takes one core.

    TVM's compiler does. So does OpenVINO's, while its inferences, which take less time, use all cores.
    """
    count = 240
    out = folder / "jobs-suite"
    generate(load_specs([spec(folder, count)]), out, Options(jobs=2, dialects=("openvino", "onnx")))
    suite = open_suite(out)
    for name, budget in (("tvm", ">= 1.7 times one"), ("openvino", "(its inferences take all cores)")):
        python = os.environ.get(f"OPCONFORM_PYTHON_{name.upper()}")
        if python is None and find_spec(name) is None:
            print(f"run on {name}: not measured; it is not installed here")
            continue
        run = partial(run_suite, suite, backend_command(name, Path(python) if python else None), folder / "jobs-out")
        one, two = (seconds(partial(run, RunOptions(jobs=jobs, force=True))) for jobs in (1, 2))
        say(f"run on {name}, 2 processes", count / two, "cases/s", one / two, budget)


def measure_start(_: Path) -> None:
    """How long `--help` takes, against an import of click."""

    def median(command: list[str]) -> float:
        return statistics.median(
            seconds(lambda: subprocess.run(command, check=True, capture_output=True), 1) for _ in range(15)
        )

    own, peer = median([str(PROGRAM), "--help"]), median([sys.executable, "-c", "import click"])
    say("opconform --help", 1000 * own, "ms", own / peer, "<= 3 times `import click`")


def measure_pytest(folder: Path) -> None:
    """How long pytest takes to collect 10,000 cases as tests, against a pytest that collects nothing."""
    out, repository = folder / "pytest-suite", folder / "repository"
    repository.mkdir()
    generate(load_specs([spec(folder, 10_000)]), out, Options(jobs=2, dialects=()))
    bare = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "opconform", "-p", "no:cacheprovider"]
    options = ["--opconform-backend", "numpy", "--opconform-suite", str(out)]
    environment = {name: x for name, x in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def collected(command: list[str]) -> None:
        subprocess.run(command, check=False, capture_output=True, cwd=repository, env=environment)

    own, peer = seconds(lambda: collected([*bare, *options])), seconds(lambda: collected(bare))
    say("pytest, 10,000 cases collected", own, "s", own / peer, "under 3 s")


MEASUREMENTS: dict[str, Callable[..., None]] = {
    "generate": measure_generate,
    "run": measure_run,
    "onnx": measure_onnx,
    "jobs": measure_jobs,
    "large": measure_large,
    "start": measure_start,
    "pytest": measure_pytest,
    "pack": measure_pack,
}


def main() -> None:
    """Take the measurements that are named, or all of them."""
    for word in sys.argv[1:] or MEASUREMENTS:
        name, _, some = word.partition(":")
        with tempfile.TemporaryDirectory() as folder:
            MEASUREMENTS[name](Path(folder), *([some] if some else []))
