"""What several tests need: the command line as a user runs it, and small suites."""

import contextlib
import fcntl
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Collection, Generator, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest import mock
from zlib import crc32

import pytest
from hypothesis import settings

from opconform.generation import expansion
from opconform.generation.options import Options
from opconform.generation.pipeline import generate
from opconform.specs.loader import load_specs
from opconform.specs.matrix.combinations import Combination, combinations_of
from opconform.specs.requirements import requirements_of
from opconform.suite.selection.selection import EXHAUSTIVE, Selection
from opconform_runners.cli.main import main
from opconform_runners.verdicts.results import read_written, write_results
from tests.in_process import flushed, in_free_thread, served_in_process
from tests.sampling import WHOLE

#: Where there is room in memory for the suites, which are thousands of small files that some disks are slow to make.
MEMORY = Path("/dev/shm")  # noqa: S108 - pytest makes a folder of its own in it


ROOM = 6 << 30


settings.register_profile("opconform", max_examples=50, deadline=None, derandomize=True)


settings.load_profile("opconform")


Run = Callable[..., "subprocess.CompletedProcess[str]"]


ROOT = Path(__file__).parents[1]


DIALECTS = ("openvino", "onnx", "stablehlo")


#: The operations whose core the tests read: some that move data, and some that compute.
FEW = (
    *("Concat-1", "Divide-1", "GatherND-8", "Pad-12", "Split-1", "Sqrt-1", "StridedSlice-1", "Transpose-1"),
    "VariadicSplit-1",
)


EVERY_DIALECT = [word for dialect in DIALECTS for word in ("--dialect", dialect)]


MINIATURES = ROOT / "tests" / "miniatures.py"


#: The beginning of a backend's file that imports from `tests`.
IMPORTS_TESTS = f"import sys\nsys.path.append({str(ROOT)!r})\n"


def pytest_configure() -> None:
    """Put temporary folders into memory, unless the user said where they go, and let commands be interrupted."""
    for item in (signal.SIGINT, signal.SIGHUP):  # ignored in a shell's background, under nohup, and in what they start
        if signal.getsignal(item) is signal.SIG_IGN:
            signal.signal(item, signal.default_int_handler if item is signal.SIGINT else signal.SIG_DFL)
    if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
        os.environ.setdefault("TMPDIR", str(MEMORY))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what judges whole campaigns, but before a release."""
    if not WHOLE:
        config.hook.pytest_deselected(items=[x for x in items if x.get_closest_marker("campaign")])
        items[:] = [x for x in items if not x.get_closest_marker("campaign")]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a skipped test in CI, where `OPCONFORM_REQUIRE_ALL` is 1."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("OPCONFORM_REQUIRE_ALL") == "1":
        report.outcome = "failed"
        report.longrepr = f"skipped, and OPCONFORM_REQUIRE_ALL is 1: {report.longrepr}"
    return report


def interpreter_with(package: str, variable: str) -> str:
    """An interpreter that can import a package: this one, or the one that an environment variable names."""
    if find_spec(package.partition(".")[0]) is not None and find_spec(package) is not None:
        return sys.executable
    return os.environ.get(variable) or pytest.skip(f"{package} is not installed, and {variable} names no interpreter")


def made_once(factory: pytest.TempPathFactory, worker: str, name: str, make: Callable[[Path], object]) -> Path:
    """A file or folder that the first of the xdist workers makes, and all of them use.

    So do the sessions that `OPCONFORM_MADE` gives one folder.
    """
    own = factory.getbasetemp() if worker == "master" else factory.getbasetemp().parent
    root = Path(os.environ.get("OPCONFORM_MADE", own))
    place = root / name
    with (root / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            make(place)
    return place


def whole(spec: str, *, without: Collection[str] = ()) -> str:
    """A spec of splits with a group for every other requirement, in a profile that is not run by default.

    A certification is incomplete if the specs have no case for a normative requirement.
    """
    [op] = re.findall(r"^op: (\S+)$", spec, re.MULTILINE)
    body = "data: {shape: [7]}, axis: 0, " + ("num_splits: 7" if op == "Split-1" else "split_lengths: [7]")
    names = (requirement.id for requirement in requirements_of(op).requirements if requirement.id not in without)
    groups = (
        f"  - {{id: other-{number}, title: t, profile: functional, requirements: [{name}], {body}}}\n"
        for number, name in enumerate(names)
    )
    return spec + "".join(groups)


SMALL_SPEC = whole("""\
op: VariadicSplit-1
groups:
  - id: accepted
    title: valid cases
    requirements: [lengths.remainder]
    matrix:
      lengths: [[-1, 1, 2], [1, -1, 2], [1, 2, -1], [2, 2, 2]]
    data: {shape: [6, 2], fill: special}
    axis: 0
    split_lengths: ${{ lengths }}
  - id: rejected
    title: at most one -1
    requirements: [lengths.single-remainder]
    data: {shape: [6, 4]}
    axis: 0
    split_lengths: [-1, -1, 2]
    expect: {reject: lengths.single-remainder}
    twin: {split_lengths: [-1, 2, 2]}
""")


#: Cases of which the semantics say what is expected, with twins that several of them share.
EXHAUSTIVE_SPEC = """\
op: VariadicSplit-1
groups:
  - id: sums
    title: two lengths
    profile: exhaustive
    requirements: [outputs.shape, outputs.order]
    matrix:
      lengths: ${{ lists([-1, 1, 3], 2, 2) }}
    data: {shape: [4], element_type: i32}
    axis: 0
    split_lengths: ${{ lengths }}
    expect: semantics
    twin: {split_lengths: [1, 3]}
  - id: axes
    title: axes in range and out of range
    profile: exhaustive
    requirements: [outputs.shape, outputs.order]
    matrix: {axis: [-2, -1, 0, 1]}
    data: {shape: [4], element_type: i32}
    axis: ${{ axis }}
    split_lengths: [1, 3]
    expect: semantics
    twin: {axis: 0}
"""


def killed(run: Path, cases: int = 2) -> bytes:
    """The log of a run as it would have left it if it had been killed after some cases, in the middle of a line."""
    lines = (run / "outcomes.jsonl").read_bytes().splitlines(keepends=True)
    return b"".join(lines[: cases + 1]) + lines[cases + 1][:20]


def interrupted(run: Path, out: Path, cases: int = 2) -> None:
    """Write the results of a run as it would have left them if it had been interrupted after some cases."""
    written = read_written(run / "results.jsonl")
    write_results(out, written.header, written.results[:cases], interrupted=True)


@pytest.fixture(scope="session")
def opconform() -> Run:
    """The command line, called in this process with its output captured, and with harnesses in this process as well."""

    def run(*arguments: object, cwd: Path | None = None, code: int | None = 0) -> "subprocess.CompletedProcess[str]":
        words = ["opconform", *(str(argument) for argument in arguments)]
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2))
        ended: object = None
        with (
            contextlib.chdir(cwd or Path.cwd()),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            mock.patch.object(sys, "argv", words),
            mock.patch.dict(os.environ, COLUMNS="200"),
            served_in_process(),
        ):
            try:
                in_free_thread(main)
            except SystemExit as end:
                ended = end.code
        printed, told = (x.buffer.getvalue().decode() for x in flushed(out, err))  # type: ignore[attr-defined]
        if code is not None:
            assert ended == code, f"{' '.join(words)}\n{printed}\n{told}"
        return subprocess.CompletedProcess(words, ended if isinstance(ended, int) else 1, printed, told)

    return run


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The wheel, built."""

    def make(folder: Path) -> None:
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)

    [path] = made_once(tmp_path_factory, worker_id, "wheel", make).glob("*.whl")
    return path


@pytest.fixture(scope="session")
def clone(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A folder with what README's first line gives in a clone: the results, an environment, and `said.json`.

    Of two operations, and before a release of all.
    """
    [line, *_] = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)

    def make(folder: Path) -> None:
        files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
        for name in files:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
        command = ["bash", "-c", f"{line.strip()} {'' if WHOLE else 'Split-1 VariadicSplit-1'}"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        said = {"code": done.returncode, "stdout": done.stdout, "stderr": done.stderr}
        (folder / "said.json").write_text(json.dumps(said))

    return made_once(tmp_path_factory, worker_id, "clone", make)


@pytest.fixture(scope="session")
def small_spec(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A spec of six cases: five accepted, one rejected with its twin."""
    path = tmp_path_factory.mktemp("specs") / "small.yaml"
    path.write_text(SMALL_SPEC)
    return path


@pytest.fixture(scope="session")
def small_suite(opconform: Run, small_spec: Path) -> Path:
    """The suite of the small spec."""
    out = small_spec.parent / "suite"
    opconform("generate", small_spec, "--out", out, "--jobs", "1")
    return out


@pytest.fixture(scope="session")
def shipped_suite(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The suite of all the shipped specs in every dialect, before a release; else a sample of it in none."""

    def make(out: Path) -> None:
        if WHOLE:
            generate(load_specs([]), out, Options(dialects=tuple(DIALECTS), jobs=2))
        else:
            write_sample(out, Selection(), 16)

    return made_once(tmp_path_factory, worker_id, "shipped", make)


@pytest.fixture(scope="session")
def core_suite(opconform: Run, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The suite of the shipped profile `core`, in every dialect, for tests that run in CI alone."""
    core = ("generate", "--profile", "core", *EVERY_DIALECT, "--out")
    return made_once(tmp_path_factory, worker_id, "core", lambda out: opconform(*core, out))


@pytest.fixture(scope="session")
def few_core(opconform: Run, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The part of that suite that is about a few operations, for all other tests."""
    core = ("generate", *FEW, "--profile", "core", *EVERY_DIALECT, "--jobs", "1", "--out")
    return made_once(tmp_path_factory, worker_id, "few", lambda out: opconform(*core, out))


def write_sample(out: Path, selection: Selection, of: int) -> None:
    """Writes the first case of each selected shipped group and about one in so many others, with their twins.

    Shards would take a minute, because each expands all cases to find its own.
    """
    first = crc32(b"0") % of

    def some_of(*given: Any) -> Iterator[Combination]:
        return (
            combination
            for number, combination in enumerate(combinations_of(*given))
            if crc32(b"%d" % number) % of == first
        )

    with mock.patch.object(expansion, "combinations_of", some_of):
        generate(load_specs([]), out, Options(dialects=(), selection=selection))


@pytest.fixture(scope="session")
def exhaustive_sample(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """One in 100 cases of the shipped profile `exhaustive`, with their twins."""
    selection = Selection(profiles=(EXHAUSTIVE,))
    return made_once(tmp_path_factory, worker_id, "exhaustive", lambda out: write_sample(out, selection, 100))


def core_with(op: str, request: pytest.FixtureRequest) -> Path:
    """The part of the core about a few operations if it has this one, or else the whole of it."""
    suite: Path = request.getfixturevalue("few_core" if op in FEW else "core_suite")
    return suite


_CORE = pytest.param("core_suite", marks=pytest.mark.ci_only, id="core")
_SHIPPED = pytest.param("shipped_suite", marks=[pytest.mark.ci_only, pytest.mark.campaign], id="shipped")


@pytest.fixture(scope="session", params=[pytest.param("few_core", id="few"), _CORE])
def any_core(request: pytest.FixtureRequest) -> Path:
    """The part of the core about a few operations, and in CI the whole of it."""
    suite: Path = request.getfixturevalue(request.param)
    return suite


@pytest.fixture(scope="session", params=[pytest.param("few_core", id="few"), _CORE, _SHIPPED])
def any_suite(request: pytest.FixtureRequest) -> Path:
    """The same, and before a release the suite of all the shipped specs too."""
    suite: Path = request.getfixturevalue(request.param)
    return suite
