"""Hostile suites: changed bytes, files that block or grow, links, and documents that contradict one another.

`verify` must report each of them, `run` must refuse it or end normally, and nothing may hang, take the machine's memory
or end in an internal error.
"""

import hashlib
import io
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from opconform.generation.options import Options
from opconform.generation.pipeline import generate
from opconform.specs.loader import load_specs
from opconform.suite.verification import faults_of

from .attempt import Attempt, Outcome

#: How many single bytes are changed, of a folder and of a zip file each.
CHANGES = 300
_SEED = 2026
#: How long a command may take, in seconds, and how much memory it may take.
_PATIENCE = 120
_MEMORY = 4 << 30
_INTERNAL = 70
_SPEC = """\
op: Split-1
groups:
  - id: halves
    title: two halves
    data: {shape: [4, 2]}
    axis: 0
    num_splits: 2
  - id: indivisible
    title: three parts of four
    data: {shape: [4, 2]}
    axis: 0
    num_splits: 3
    expect: {reject: num_splits.divides}
    twin: {num_splits: 2}
"""


def attempts(scratch: Path, count: int | None) -> Iterator[Attempt]:
    """Change single bytes of a suite, then replace its files by hostile ones."""
    suite = a_suite(scratch)
    yield from changed_bytes(suite, CHANGES if count is None else count)
    yield from changed_bytes(packed(suite, scratch / "changed.zip"), CHANGES if count is None else count)
    for what, make in list(HOSTILE.items())[:count]:
        hostile = make(copied(suite, scratch / "hostile"))
        yield _command(f"verify {what}", ["verify", hostile], may_pass=False)
        yield _command(f"list {what}", ["list", hostile], may_pass=True)
        out = scratch / "out"
        yield _command(f"run {what}", ["run", hostile, "--backend", "numpy", "--out", out], may_pass=True)
        shutil.rmtree(out, ignore_errors=True)
    yield from _results(suite, scratch)


def a_suite(scratch: Path) -> Path:
    """A suite of a few cases."""
    spec = scratch / "spec.yaml"
    spec.write_text(_SPEC)
    return generate(load_specs([spec]), scratch / "suite", Options()).out


def copied(suite: Path, place: Path) -> Path:
    """A copy of a suite, in the place of an earlier one."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(suite, place)
    return place


def packed(suite: Path, place: Path, compression: int = zipfile.ZIP_STORED) -> Path:
    """A suite as a zip file."""
    with zipfile.ZipFile(place, "w", compression) as archive:
        for path in sorted(each for each in suite.rglob("*") if each.is_file()):
            archive.write(path, path.relative_to(suite).as_posix())
    return place


def changed_bytes(suite: Path, count: int) -> Iterator[Attempt]:
    """Change one byte at a time, and restore it. A zip file's own metadata may change where every member stays."""
    places = random.Random(_SEED)  # noqa: S311 - no secret
    files = sorted(each for each in suite.rglob("*") if each.is_file()) or [suite]
    whole = _members(suite)
    for _ in range(count):
        path = places.choice(files)
        content = path.read_bytes()
        at, bit = places.randrange(len(content)), 1 << places.randrange(8)
        path.write_bytes(content[:at] + bytes([content[at] ^ bit]) + content[at + 1 :])
        what = f"byte {at} of {path.name}"
        try:
            accepted = not list(faults_of(suite)) and _members(suite) != whole
            outcome: Outcome = "false-verdict" if accepted else "held"
            yield Attempt(what=what, outcome=outcome)
        except Exception as fault:  # noqa: BLE001 - any exception is what is looked for
            yield Attempt(what=what, outcome="traceback", detail=repr(fault))
        path.write_bytes(content)


def _members(suite: Path) -> Mapping[str, bytes] | None:
    """The files of a suite by path, or None where `zipfile` cannot read it."""
    if suite.is_dir():
        return {str(each): each.read_bytes() for each in suite.rglob("*") if each.is_file()}
    try:
        with zipfile.ZipFile(suite) as archive:
            return {each.filename: archive.read(each) for each in archive.infolist()}
    except Exception:  # noqa: BLE001 - zipfile raises many kinds of errors for a damaged file
        return None


def _command(what: str, arguments: list[object], *, may_pass: bool) -> Attempt:
    """Run a command in a process of its own, with limited time and memory."""
    program = str(Path(sys.executable).with_name("opconform"))
    limit = partial(resource.setrlimit, resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            [program, *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=_PATIENCE,
            env=environment,
            preexec_fn=limit,
        )
    except subprocess.TimeoutExpired:
        return Attempt(what=what, outcome="hang", detail=f"no end after {_PATIENCE} s")
    outcome: Outcome = "held"
    if done.returncode == _INTERNAL or "Traceback" in done.stderr:
        outcome = "traceback"
    elif done.returncode < 0:
        outcome = "run-ended"
    elif done.returncode == 0 and not may_pass:
        outcome = "false-verdict"
    detail = (done.stderr or done.stdout).strip()[-300:]
    return Attempt(what=what, outcome=outcome, detail="" if outcome == "held" else detail)


def _results(suite: Path, scratch: Path) -> Iterator[Attempt]:
    """Put what blocks in the place of each file of a run, and read the run."""
    out, hostile, key = scratch / "run", scratch / "hostile-run", scratch / "signer.key"
    _command("keygen", ["certificate", "keygen", key.with_suffix("")], may_pass=True)
    _command("run", ["run", suite, "--backend", "numpy", "--out", out], may_pass=True)
    for name in ("results.jsonl", "report.json", "outputs.zip", "certificate.json"):
        for kind, make in BLOCKING.items():
            shutil.rmtree(hostile, ignore_errors=True)
            shutil.copytree(out, hostile)
            make(hostile / name)
            what = f"{kind} as {name}"
            yield _command(f"report {what}", ["report", hostile, "--suite", suite], may_pass=True)
            yield _command(f"diff {what}", ["diff", out, hostile], may_pass=True)
            yield _command(
                f"sign {what}", ["certificate", "sign", hostile, "--suite", suite, "--key", key], may_pass=False
            )


def a_case(suite: Path) -> Path:
    """The folder of an accepted case."""
    return min(suite.rglob("expected.npz")).parent


def reseal(suite: Path) -> Path:
    """Write manifest and header anew, so that every digest is right."""
    lines = []
    for line in (suite / "manifest.jsonl").read_text().splitlines():
        entry = json.loads(line)
        folder = suite / entry["id"]
        entry["files"] = {
            each.relative_to(folder).as_posix(): hashlib.sha256(each.read_bytes()).hexdigest()
            for each in folder.rglob("*")
            if each.is_file()
        }
        lines.append(json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n")
    return reseal_header(suite, "".join(lines).encode())


def reseal_header(suite: Path, manifest: bytes, **changed: object) -> Path:
    """Write a manifest, and the header for it with some keys changed."""
    (suite / "manifest.jsonl").write_bytes(manifest)
    header = json.loads((suite / "suite.json").read_text()) | changed
    header["digest"] = hashlib.sha256(manifest).hexdigest()
    del header["checksum"]
    canonical = json.dumps(header, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    header["checksum"] = hashlib.sha256(canonical.encode()).hexdigest()
    (suite / "suite.json").write_text(json.dumps(header, indent=1, ensure_ascii=False) + "\n")
    return suite


def _a_link(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to("/dev/zero")


def _a_fifo(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def _a_folder(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()


def _a_sparse_file(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 36)


#: What takes the place of a file and gives a reader no end.
BLOCKING: Mapping[str, Callable[[Path], None]] = MappingProxyType(
    {"a FIFO": _a_fifo, "a link to a device": _a_link, "a folder": _a_folder, "64 GiB of nothing": _a_sparse_file}
)


def _replaced(make: Callable[[Path], None], name: str, suite: Path) -> Path:
    make(suite / name if name in ("suite.json", "manifest.jsonl") else a_case(suite) / name)
    return suite


def _case_as(change: Callable[[str], str], suite: Path) -> Path:
    path = a_case(suite) / "case.json"
    path.write_text(change(path.read_text()))
    return reseal(suite)


def _arrays_as(name: str, arrays: Mapping[str, Any], suite: Path) -> Path:
    np.savez(a_case(suite) / name, **arrays)
    return reseal(suite)


def _compressed(suite: Path) -> Path:
    """Inputs of 64 KiB that unpack to 64 MiB."""
    np.savez_compressed(a_case(suite) / "inputs.npz", data=np.zeros((1 << 24,), np.float32), axis=np.array(0))
    return reseal(suite)


def _head(header: str, suite: Path) -> Path:
    """An array whose header says something else than it holds."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        text = header.encode()
        for name in ("data", "axis"):
            archive.writestr(f"{name}.npy", b"\x93NUMPY\1\0" + len(text).to_bytes(2, "little") + text)
    (a_case(suite) / "inputs.npz").write_bytes(stream.getvalue())
    return reseal(suite)


def _array_twice(suite: Path) -> Path:
    path = a_case(suite) / "inputs.npz"
    with zipfile.ZipFile(path) as archive:
        members = [(each, archive.read(each)) for each in archive.namelist()]
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in [*members, *members]:
            _add_member(archive, name, content)
    return reseal(suite)


def _linked_folder(suite: Path) -> Path:
    """A case's folder that is a link out of the suite."""
    outside, case = suite.with_name("outside"), a_case(suite)
    shutil.rmtree(outside, ignore_errors=True)
    case.rename(outside)
    case.symlink_to(outside)
    return suite


def _manifest_as(change: Callable[[str], str], suite: Path) -> Path:
    return reseal_header(suite, change((suite / "manifest.jsonl").read_text()).encode())


def _many_lines(suite: Path) -> Path:
    return reseal_header(suite, b"\n" * (1 << 26), counts={"accept": 1 << 40, "reject": 0})


def _zip_bomb(suite: Path) -> Path:
    """A zip file of about 4 MiB that unpacks to 4 GiB."""
    place = packed(suite, suite.with_name("bomb.zip"), zipfile.ZIP_DEFLATED)
    with (
        zipfile.ZipFile(place, "a", zipfile.ZIP_DEFLATED) as archive,
        archive.open("zeros", "w", force_zip64=True) as file,
    ):
        for _ in range(1 << 12):
            file.write(bytes(1 << 20))
    return place


def _bomb_of_inputs(suite: Path) -> Path:
    """A zip file one of whose members unpacks to more than its case can hold."""
    name = f"{a_case(suite).relative_to(suite)}/inputs.npz"
    (suite / name).unlink()
    place = packed(suite, suite.with_name("inputs.zip"), zipfile.ZIP_DEFLATED)
    with (
        zipfile.ZipFile(place, "a", zipfile.ZIP_DEFLATED) as archive,
        archive.open(name, "w", force_zip64=True) as file,
    ):
        for _ in range(1 << 9):
            file.write(bytes(1 << 20))
    with zipfile.ZipFile(place, "a") as archive:
        archive.writestr("filler", os.urandom(6 << 20))
    return place


def _zip_with(name: str, suite: Path) -> Path:
    place = packed(suite, suite.with_name("member.zip"))
    with zipfile.ZipFile(place, "a") as archive:
        _add_member(archive, name, b"foreign")
    return place


def _add_member(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    """Add a member whatever its name, be it one that is there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        archive.writestr(zipfile.ZipInfo(name), content)


def _zip_fifo(suite: Path) -> Path:
    place = suite.with_name("fifo.zip")
    _a_fifo(place)
    return place


def _deep(text: str) -> str:
    return text.replace('"attributes": {', '"attributes": {"deep": ' + "[" * 100_000 + "]" * 100_000 + ", ", 1)


_BRACKETS = "{'descr': '<f4', 'fortran_order': False, 'shape': " + "(" * 4_500 + ")" * 4_500 + "}"
_HUGE = "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }"
_BOOLEAN = "{'descr': '<f4', 'fortran_order': False, 'shape': (True, 0), }"
_PICKLED = "{'descr': '|O', 'fortran_order': False, 'shape': (0,), }"

_FILES = ("suite.json", "manifest.jsonl", "case.json", "inputs.npz", "expected.npz", "openvino/model.xml")
#: What makes a whole suite a hostile one; each is given a copy of its own, and returns the suite to read.
HOSTILE: Mapping[str, Callable[[Path], Path]] = MappingProxyType(
    {
        **{f"{kind} as {name}": partial(_replaced, make, name) for kind, make in BLOCKING.items() for name in _FILES},
        "a case's folder that is a link": _linked_folder,
        "a key of case.json twice": partial(_case_as, lambda text: text.replace("{", '{"op": "Concat-1", ', 1)),
        "a key of a line twice": partial(_manifest_as, lambda text: text.replace("{", '{"profile": "other", ', 1)),
        "deep JSON in case.json": partial(_case_as, _deep),
        "a huge shape in case.json": partial(_case_as, lambda text: text.replace("[4, 2]", f"[{10**30}, 2]")),
        "another shape in case.json": partial(_case_as, lambda text: text.replace("[4, 2]", "[2, 4]", 1)),
        "an input that the arrays lack": partial(_arrays_as, "inputs.npz", {"axis": np.array(0)}),
        "an array that is not an input": partial(
            _arrays_as,
            "inputs.npz",
            {"data": np.zeros((4, 2), np.float32), "axis": np.array(0), "other": np.array(0)},
        ),
        "an output of another element type": partial(
            _arrays_as,
            "expected.npz",
            {"output_0": np.zeros((2, 2), np.float64), "output_1": np.zeros((2, 2), np.float64)},
        ),
        "an output that the arrays lack": partial(
            _arrays_as, "expected.npz", {"output_0": np.zeros((2, 2), np.float32)}
        ),
        "outputs of a feed that is not there": partial(
            _arrays_as, "expected.1.npz", {"output_0": np.zeros(1, np.float32)}
        ),
        "an array twice": _array_twice,
        "compressed arrays": _compressed,
        "an array with a header of brackets": partial(_head, _BRACKETS),
        "an array with a huge header": partial(_head, _HUGE),
        "an array with a boolean in its shape": partial(_head, _BOOLEAN),
        "a pickled array": partial(_head, _PICKLED),
        "a path out of the suite": partial(
            _manifest_as, lambda text: text.replace('"inputs.npz"', '"../inputs.npz"', 1)
        ),
        "an absolute path": partial(_manifest_as, lambda text: text.replace('"inputs.npz"', '"/etc/passwd"', 1)),
        "a manifest of empty lines": _many_lines,
        "a zip file that unpacks to 4 GiB": _zip_bomb,
        "a zip file with inputs of 512 MiB": _bomb_of_inputs,
        "a zip file with a path out of it": partial(_zip_with, "../outside"),
        "a zip file with a member twice": partial(_zip_with, "suite.json"),
        "a FIFO as a zip file": _zip_fifo,
    }
)
