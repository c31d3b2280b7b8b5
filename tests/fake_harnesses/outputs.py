"""Files in the place of the outputs of one case."""

import os
import socket
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

from tests.fake_harnesses.misbehaviour import ANY, ERROR_OR_FAIL, FAIL, Act, Misbehaviour, Request
from tests.fake_harnesses.server import header, npy, npz, ok, outputs_of, target

Members = dict[str, bytes]


def place(make: Callable[[Path], object]) -> Act:
    """Make something in the place of the outputs, and reply `ok`."""

    def act(request: Request) -> None:
        make(target(request))
        ok(request)

    return act


def array(head: str | bytes, elements: bytes = b"", version: bytes = b"\1\0") -> Act:
    """One output with this header."""
    return place(lambda path: path.write_bytes(npz({"output_0.npy": npy(head, elements, version)})))


def changed(change: Callable[[Members], Members], **more: object) -> Act:
    """Other outputs than the right ones."""

    def act(request: Request) -> None:
        target(request).write_bytes(npz(change(outputs_of(request))))
        ok(request, **more)

    return act


def patched(patch: Callable[[bytes], bytes]) -> Act:
    """Other bytes than those of the right outputs."""

    def act(request: Request) -> None:
        target(request).write_bytes(patch(npz(outputs_of(request))))
        ok(request)

    return act


def linked(link: Callable[[Path, Path], object]) -> Act:
    """A link to a file with the right outputs."""

    def act(request: Request) -> None:
        elsewhere = target(request).with_suffix(".elsewhere")
        elsewhere.write_bytes(npz(outputs_of(request)))
        link(target(request), elsewhere)
        ok(request)

    return act


def _bomb(path: Path) -> None:
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("output_0.npy", "w", force_zip64=True) as member,
    ):
        member.write(npy(header(f"({1 << 27},)", "'|u1'")))
        for _ in range(8):
            member.write(bytes(1 << 24))


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


def _bind(path: Path) -> None:
    os.chdir(path.parent)
    socket.socket(socket.AF_UNIX).bind(path.name)


def _fed_pipe(path: Path) -> None:
    os.mkfifo(path)
    subprocess.Popen(["sh", "-c", f"exec yes > '{path}'"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def _floats(members: Members) -> Members:
    return dict.fromkeys(members, npy(header("(2, 2)", "'<f8'"), bytes(32)))


_UNREADABLE = "the harness's output file is not a readable .npz file"

OUTPUTS: dict[str, Misbehaviour] = {
    "no outputs": Misbehaviour(ok, sentence="the harness replied `ok` but wrote no outputs"),
    "a pipe": Misbehaviour(place(os.mkfifo)),
    "a pipe that is written to": Misbehaviour(place(_fed_pipe)),
    "a folder": Misbehaviour(place(Path.mkdir)),
    "a folder with files": Misbehaviour(place(lambda path: (path / "a" / "b").mkdir(parents=True))),
    "a socket": Misbehaviour(place(_bind)),
    "a link to zeros": Misbehaviour(place(lambda path: path.symlink_to("/dev/zero"))),
    "a link to a terminal": Misbehaviour(place(lambda path: path.symlink_to("/dev/tty"))),
    "a link to outputs": Misbehaviour(linked(Path.symlink_to)),
    "a hard link to outputs": Misbehaviour(linked(Path.hardlink_to)),
    "a link to nothing": Misbehaviour(place(lambda path: path.symlink_to("nothing"))),
    "a link to itself": Misbehaviour(place(lambda path: path.symlink_to(path))),
    "a link to memory": Misbehaviour(place(lambda path: path.symlink_to("/proc/self/mem"))),
    "a sparse file": Misbehaviour(place(_sparse), FAIL),
    "an empty file": Misbehaviour(place(Path.touch)),
    "text": Misbehaviour(place(lambda path: path.write_text("outputs"))),
    "half a file": Misbehaviour(patched(lambda content: content[: len(content) // 2]), sentence=_UNREADABLE),
    "a changed element": Misbehaviour(patched(lambda content: content.replace(b"\x93NUMPY", b"\x93NUMPX", 1))),
    "a wrong checksum": Misbehaviour(patched(lambda content: content[:120] + b"\xff" + content[121:]), ERROR_OR_FAIL),
    "a file with a tail": Misbehaviour(patched(lambda content: content + b"tail"), ANY),
    "a bomb": Misbehaviour(place(_bomb), sentence="the harness's output file contains"),
    "100,000 outputs": Misbehaviour(
        place(lambda path: path.write_bytes(npz({f"output_{number}.npy": b"" for number in range(100_000)})))
    ),
    "no arrays": Misbehaviour(changed(lambda _: {}), ERROR_OR_FAIL),
    "a pickle": Misbehaviour(array(header("()", "'|O'"), b"cos\nsystem\n(S'true'\ntR."), sentence=_UNREADABLE),
    "a shape of truth": Misbehaviour(array(header("(True, 4)"), bytes(16)), ERROR_OR_FAIL),
    "9,000 brackets": Misbehaviour(array("(" * 9_000)),
    "9,000 minus signs": Misbehaviour(array(header("-" * 9_000 + "1"))),
    "a negative shape": Misbehaviour(array(header("(-1, -4)"), bytes(16))),
    "a shape of 10**12": Misbehaviour(array(header(f"({10**12},)"), bytes(4)), sentence="the shape (1000000000000,)"),
    "a shape of 10**18": Misbehaviour(array(header(f"({10**18},)"), bytes(16))),
    "a shape of 10**400": Misbehaviour(array(header(f"({10**400}, 0)"))),
    "a rank of 65": Misbehaviour(array(header("(" + "1, " * 65 + ")"), bytes(4))),
    "a shape of text": Misbehaviour(array(header("'ab'"), bytes(16))),
    "a shape of fractions": Misbehaviour(array(header("(2.0, 2)"), bytes(16))),
    "Fortran order of text": Misbehaviour(array(header(order="'no'"), bytes(16)), ERROR_OR_FAIL),
    "texts of 4 GB": Misbehaviour(array(header("(1,)", "'<U1000000000'"))),
    "a type of nothing": Misbehaviour(array(header(f"({10**6},)", "'|V0'")), ERROR_OR_FAIL),
    "a letter beyond Unicode": Misbehaviour(array(header("(1,)", "'<U1'"), b"\xff" * 4), ERROR_OR_FAIL),
    "times": Misbehaviour(array(header("(2,)", "'<M8[s]'"), bytes(16)), FAIL),
    "bytes of any type": Misbehaviour(array(header("(2,)", "'|V4'"), bytes(8)), FAIL),
    "records": Misbehaviour(array(header("(2,)", "[('a', '<f4'), ('b', '<i4')]"), bytes(16)), ERROR_OR_FAIL),
    "records in records": Misbehaviour(array(header("(2,)", "[('a', " * 200 + "'<f4'" + ")]" * 200))),
    "an unknown type": Misbehaviour(array(header("(2,)", "'<q9'"))),
    "version 3 of the format": Misbehaviour(array(header(), bytes(16), b"\3\0")),
    "version 9 of the format": Misbehaviour(array(header(), bytes(16), b"\x09\x09")),
    "a header that is cut": Misbehaviour(changed(lambda _: {"output_0.npy": b"\x93NUMPY\1\0\xff\xff{"})),
    "a header of NUL": Misbehaviour(array(b"\0" * 200, bytes(16))),
    "a header that calls": Misbehaviour(array("__import__('os').abort()")),
    "an output twice": Misbehaviour(patched(lambda content: npz({"output_0.npy": content}) * 2), ERROR_OR_FAIL),
    "a path as a name": Misbehaviour(changed(lambda held: {f"../../{name}": held[name] for name in held})),
    "another name": Misbehaviour(
        changed(lambda held: {"y.npy": held["output_0.npy"]}),
        sentence="the arrays in the harness's output file are called y",
    ),
    "an output missing": Misbehaviour(changed(lambda held: dict(list(held.items())[:-1])), FAIL),
    "an output too many": Misbehaviour(changed(lambda held: {**held, "output_3.npy": held["output_0.npy"]}), FAIL),
    "outputs in another order": Misbehaviour(
        changed(lambda held: dict(zip(held, reversed(held.values()), strict=True))), FAIL
    ),
    "another type than it says": Misbehaviour(
        changed(_floats, element_types=[["f32"] * 3]), FAIL, "output_0: expected f32, got float64 in the file"
    ),
}
