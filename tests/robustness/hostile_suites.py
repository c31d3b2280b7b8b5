"""Hostile suites: files that block or grow, links, and documents that contradict one another under right digests."""

import hashlib
import io
import json
import os
import shutil
import warnings
import zipfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np


def packed(suite: Path, place: Path, compression: int = zipfile.ZIP_STORED) -> Path:
    """A suite as a zip file."""
    with zipfile.ZipFile(place, "w", compression) as archive:
        for path in sorted(path for path in suite.rglob("*") if path.is_file()):
            archive.write(path, path.relative_to(suite).as_posix())
    return place


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
            path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in folder.rglob("*")
            if path.is_file()
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
        members = [(n, archive.read(n)) for n in archive.namelist()]
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
