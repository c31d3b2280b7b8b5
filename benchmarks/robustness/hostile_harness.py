"""A harness that is right for every case but one, at which it does the hostile thing that it is named for.

Usage: python hostile_harness.py NAME SUITE RESULTS

It copies the expected outputs of the suite, so that it needs nothing but Python. `HOSTILE` has what it can do, and the
verdicts that its own case may have then.
"""

import contextlib
import io
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

Request = dict[str, Any]

#: What is in the title of the case at which a harness is hostile.
MARK = "hostile"
FOREVER = 3_600


class Hostile(NamedTuple):
    """A hostile thing to do, and the verdicts that its case may have."""

    act: Callable[[Request], None]
    verdicts: tuple[str, ...] = ("error",)


def suite() -> Path:
    """The suite that is run."""
    return Path(sys.argv[2])


def results() -> Path:
    """The folder of the run's results."""
    return Path(sys.argv[3])


def write(line: bytes) -> None:
    """Write to standard output."""
    with contextlib.suppress(BrokenPipeError):
        while line:
            line = line[os.write(1, line) :]


def say(message: object) -> None:
    """Write a line of JSON."""
    write(json.dumps(message).encode() + b"\n")


def target(request: Request) -> Path:
    """The file of outputs that is wanted."""
    return Path(request["feeds"][0]["outputs"])


def expected(request: Request) -> Path:
    """The expected outputs of a case."""
    return suite().joinpath(str(request["case"]["id"]), "expected.npz")


def ok(request: Request, **more: object) -> None:
    """Say that the outputs are written."""
    say({"seq": request["seq"], "status": "ok", **more})


def right(request: Request, **more: object) -> None:
    """Answer as one should."""
    if expected(request).is_file():
        target(request).write_bytes(expected(request).read_bytes())
        ok(request, **more)
    else:
        say({"seq": request["seq"], "status": "rejected", "stage": "build", "message": "no"})


def saying(line: str | bytes) -> Callable[[Request], None]:
    """A harness that writes a line; SEQ in it stands for the number of the request."""
    raw = line.encode() if isinstance(line, str) else line

    def act(request: Request) -> None:
        target(request).write_bytes(expected(request).read_bytes())
        write(raw.replace(b"SEQ", str(request["seq"]).encode()) + b"\n")

    return act


def writing(make: Callable[[Path, Request], object]) -> Callable[[Request], None]:
    """A harness that makes something in the place of its outputs, and says `ok`."""

    def act(request: Request) -> None:
        make(target(request), request)
        ok(request)

    return act


def before(do: Callable[[Request], object]) -> Callable[[Request], None]:
    """A harness that does something, and answers as it should."""

    def act(request: Request) -> None:
        do(request)
        right(request)

    return act


def after(do: Callable[[Request], object]) -> Callable[[Request], None]:
    """A harness that answers as it should, and does something."""

    def act(request: Request) -> None:
        right(request)
        do(request)

    return act


def steps(*acts: Callable[[Request], object]) -> Callable[[Request], None]:
    """A harness that does several things."""

    def act(request: Request) -> None:
        for each in acts:
            each(request)

    return act


def npz(members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    """A zip container."""
    container = io.BytesIO()
    with zipfile.ZipFile(container, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return container.getvalue()


def npy(header: str | bytes, elements: bytes = b"", version: bytes = b"\1\0") -> bytes:
    """An array with a header of one's own."""
    raw = header.encode() if isinstance(header, str) else header
    return b"\x93NUMPY" + version + struct.pack("<H", len(raw)) + raw + elements


def header(shape: str = "(2, 2)", descr: str = "'<f4'", order: str = "False") -> str:
    """The header of an array."""
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"


def array(content: bytes) -> Callable[[Request], None]:
    """A harness whose one output is an array of these bytes."""
    return writing(lambda path, _: path.write_bytes(npz({"output_0.npy": content})))


def changed(change: Callable[[dict[str, bytes]], dict[str, bytes]]) -> Callable[[Request], None]:
    """A harness that gives the right outputs otherwise."""

    def make(path: Path, request: Request) -> None:
        with zipfile.ZipFile(expected(request)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        path.write_bytes(npz(change(members)))

    return writing(make)


def patched(patch: Callable[[bytes], bytes]) -> Callable[[Request], None]:
    """A harness that gives the bytes of the right outputs otherwise."""
    return writing(lambda path, request: path.write_bytes(patch(expected(request).read_bytes())))


def bomb(path: Path, _: Request) -> None:
    """A small file that unpacks to 1 GiB."""
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("output_0.npy", "w", force_zip64=True) as member,
    ):
        member.write(npy(header(f"({1 << 30},)", "'|u1'")))
        for _number in range(64):
            member.write(bytes(1 << 24))


def sparse(path: Path, _: Request) -> None:
    """A file of 1 TiB that takes no room."""
    with path.open("wb") as file:
        file.truncate(1 << 40)


def bind(path: Path, _: Request) -> None:
    """A socket."""
    os.chdir(path.parent)
    socket.socket(socket.AF_UNIX).bind(path.name)


def fed_pipe(path: Path, _: Request) -> None:
    """A pipe with an endless writer."""
    os.mkfifo(path)
    subprocess.Popen(["sh", "-c", f"exec yes > '{path}'"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def scratch(request: Request) -> Path:
    """The scratch folder of the harness."""
    return target(request).parent


def move_scratch(request: Request) -> None:
    """Put a link to the suite in the place of the scratch folder."""
    scratch(request).rename(f"{scratch(request)}-moved")
    scratch(request).symlink_to(suite())
    shutil.rmtree(f"{scratch(request)}-moved", ignore_errors=True)


def remove_scratch(request: Request) -> None:
    """Remove the scratch folder, into which opconform may write at the same time."""
    shutil.rmtree(scratch(request), ignore_errors=True)


def empty_others(request: Request) -> None:
    """Remove the files of all the other requests."""
    for each in scratch(request).iterdir():
        if each.is_dir() and each != Path(request["dir"]):
            shutil.rmtree(each, ignore_errors=True)


def fill(request: Request) -> None:
    """Many files, and a large one."""
    for number in range(2_000):
        (scratch(request) / f"{number}").touch()
    (scratch(request) / "large").write_bytes(bytes(1 << 26))


def read_only(request: Request) -> None:
    """Remove the permission to write, which affects every user except root."""
    Path(request["dir"]).chmod(0)
    scratch(request).chmod(0o500)


def daemon(act: Callable[[], object]) -> None:
    """Do something in a process of its own session that has no parent."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            act()
            os._exit(0)
        os._exit(0)
    os.wait()


def late_hello() -> None:
    """Write an unrequested line a moment later."""
    time.sleep(0.05)
    write(b"hello\n")


def sleep(*_: object) -> None:
    """Sleep for an hour."""
    time.sleep(FOREVER)


def deaf(_: Request) -> None:
    """Sleep, and hear no signal that asks for an end."""
    for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(each, signal.SIG_IGN)
    sleep()


def spin(_: Request) -> None:
    """Use the processor for ever."""
    while True:
        pass


def grow(_: Request) -> None:
    """Take more and more memory."""
    held = []
    while True:
        held.append(bytes(1 << 24).replace(b"\0", b"x"))
        time.sleep(0.01)


def many(_: Request) -> None:
    """Start a hundred processes that sleep."""
    for _number in range(100):
        if os.fork() == 0:
            sleep()


def late(line: bytes) -> Callable[[Request], None]:
    """Write a line from a thread, a moment later."""
    return lambda _: threading.Timer(0.05, write, [line]).start()


def flood(number: int, chunk: bytes) -> Callable[[Request], None]:
    """Write to a stream for ever."""

    def act(_: Request) -> None:
        with contextlib.suppress(OSError):
            while True:
                os.write(number, chunk)
        sleep()

    return act


def close_all(_: Request) -> None:
    """Close every descriptor."""
    os.closerange(0, 256)
    sleep()


def ahead(request: Request) -> None:
    """Answer the requests that follow by their numbers, which are yet to come."""
    right(request)
    for number in range(1, 6):
        say({"seq": request["seq"] + number, "status": "rejected", "stage": "run", "message": "early"})


def next_first(request: Request) -> None:
    """Answer the next request before this one."""
    following = sys.stdin.readline()
    if following:
        right(json.loads(following))
    right(request)


def next_with_it(request: Request) -> None:
    """Answer the next request wrongly, together with this one."""
    right(request)
    following = json.loads(sys.stdin.readline() or "{}")
    if following.get("cmd") == "run":
        say({"seq": following["seq"], "status": "error", "message": "not this one"})


def repeated(request: Request) -> None:
    """Answer twice."""
    right(request)
    say({"seq": request["seq"], "status": "rejected", "stage": "run", "message": "again"})


def hurt(number: int, who: Callable[[], int]) -> Callable[[Request], None]:
    """Send a signal, and sleep."""

    def act(_: Request) -> None:
        os.kill(who(), number)
        sleep()

    return act


def end(code: int) -> Callable[[Request], None]:
    """End the process."""
    return lambda _: os._exit(code)


OK = '{"seq":SEQ,"status":"ok"%s}'
FAILS, ENDS = ("fail",), ("fail",)
ANY = ("pass", "fail", "error")

LINES: dict[str, Hostile] = {
    "text": Hostile(saying("Segmentation fault (not really)")),
    "bytes that are not UTF-8": Hostile(saying(b"\xff\xfe\x00")),
    "a byte order mark": Hostile(saying(b"\xef\xbb\xbf" + (OK % "").encode()), ANY),
    "an empty line": Hostile(saying("")),
    "spaces": Hostile(saying("   ")),
    "null": Hostile(saying("null")),
    "a list": Hostile(saying("[]")),
    "a number": Hostile(saying("42")),
    "an empty object": Hostile(saying("{}")),
    "an open object": Hostile(saying('{"seq":SEQ,')),
    "100,000 brackets": Hostile(saying("[" * 100_000)),
    "a `seq` of 400 digits": Hostile(saying('{"seq":' + "9" * 400 + ',"status":"ok"}')),
    "a `seq` of 100,000 digits": Hostile(saying('{"seq":' + "9" * 100_000 + ',"status":"ok"}')),
    "a negative `seq`": Hostile(saying('{"seq":-SEQ,"status":"ok"}')),
    "`seq` as text": Hostile(saying('{"seq":"SEQ","status":"ok"}'), ANY),
    "`seq` as a fraction": Hostile(saying('{"seq":SEQ.5,"status":"ok"}')),
    "`seq` as true": Hostile(saying('{"seq":true,"status":"ok"}')),
    "no `seq`": Hostile(saying('{"status":"ok"}')),
    "no `status`": Hostile(saying('{"seq":SEQ}')),
    "an unknown `status`": Hostile(saying('{"seq":SEQ,"status":"fine"}')),
    "`status` as a number": Hostile(saying('{"seq":SEQ,"status":1}')),
    "an unknown key": Hostile(saying(OK % ',"mood":"good"')),
    "`seconds` of 1e999": Hostile(saying(OK % ',"seconds":1e999')),
    "`seconds` of 1e308": Hostile(saying(OK % ',"seconds":1e308')),
    "`seconds` of NaN": Hostile(saying(OK % ',"seconds":NaN')),
    "`seconds` of -1": Hostile(saying(OK % ',"seconds":-1')),
    "`seconds` as a list": Hostile(saying(OK % ',"seconds":[]')),
    "no `element_types`": Hostile(saying(OK % ',"element_types":[]')),
    "`element_types` of no output": Hostile(saying(OK % ',"element_types":[[]]')),
    "an unknown element type": Hostile(saying(OK % ',"element_types":[["f31","f31","f31"]]')),
    "100,000 element types": Hostile(saying(OK % (',"element_types":[[' + ",".join(['"f32"'] * 100_000) + "]]"))),
    "a refusal without a stage": Hostile(saying('{"seq":SEQ,"status":"rejected","message":"no"}')),
    "a refusal at another stage": Hostile(saying('{"seq":SEQ,"status":"rejected","stage":"compile","message":"no"}')),
    "a message of half a surrogate": Hostile(
        saying('{"seq":SEQ,"status":"rejected","stage":"run","message":"\\ud800"}'), ("error", "fail")
    ),
    "a message of control characters": Hostile(
        saying('{"seq":SEQ,"status":"rejected","stage":"run","message":"\\u0000\\u001b[2J\\n::error::x"}'), FAILS
    ),
    "a message of a million letters": Hostile(
        saying('{"seq":SEQ,"status":"rejected","stage":"run","message":"' + "x" * 1_000_000 + '"}'), FAILS
    ),
    "an unknown requirement": Hostile(
        saying('{"seq":SEQ,"status":"rejected","stage":"run","message":"","requirement":"no.such"}'), FAILS
    ),
    "an error without a message": Hostile(saying('{"seq":SEQ,"status":"error"}')),
    "a long traceback": Hostile(
        saying('{"seq":SEQ,"status":"error","message":"m","traceback":"' + "x\\n" * 200_000 + '"}')
    ),
    "a line of 1 MiB and one byte": Hostile(saying("x" * (1 << 20))),
    "a line of 10 MB": Hostile(saying("x" * 10_000_000)),
    "half a line": Hostile(steps(lambda _: write(b'{"seq":'), end(0)), ENDS),
    "half a line and silence": Hostile(steps(lambda _: write(b'{"seq":'), sleep), ENDS),
    "two lines": Hostile(before(lambda _: write(b"first\n"))),
    "a line too many": Hostile(after(lambda _: write(b"last\n")), ("pass", "error")),
    "a line too many, late": Hostile(after(late(b"late\n")), ("pass", "error")),
    "two answers": Hostile(repeated, ("pass", "error")),
    "answers ahead": Hostile(ahead, ("pass", "error")),
    "the next answer first": Hostile(next_first, ("pass", "error", "fail")),
    "an error for the next request": Hostile(next_with_it, ("pass", "error", "fail")),
    "an answer to no request": Hostile(saying('{"seq":7,"status":"ok"}')),
    "lines for ever": Hostile(flood(1, b"x\n" * 1_000)),
    "letters for ever": Hostile(flood(1, b"x" * 4_096)),
    "errors for ever": Hostile(flood(2, b"x" * 4_096), ENDS),
}

OUTPUTS: dict[str, Hostile] = {
    "no outputs": Hostile(ok),
    "a pipe": Hostile(writing(lambda path, _: os.mkfifo(path))),
    "a pipe that is written to": Hostile(writing(fed_pipe)),
    "a folder": Hostile(writing(lambda path, _: path.mkdir())),
    "a folder with files": Hostile(writing(lambda path, _: (path / "a" / "b").mkdir(parents=True))),
    "a socket": Hostile(writing(bind)),
    "a link to zeros": Hostile(writing(lambda path, _: path.symlink_to("/dev/zero"))),
    "a link to a terminal": Hostile(writing(lambda path, _: path.symlink_to("/dev/tty"))),
    "a link to the expected outputs": Hostile(writing(lambda path, it: path.symlink_to(expected(it)))),
    "a hard link to the expected outputs": Hostile(writing(lambda path, it: path.hardlink_to(expected(it)))),
    "a link to nothing": Hostile(writing(lambda path, _: path.symlink_to("nothing"))),
    "a link to itself": Hostile(writing(lambda path, _: path.symlink_to(path))),
    "a link to memory": Hostile(writing(lambda path, _: path.symlink_to("/proc/self/mem"))),
    "a sparse file": Hostile(writing(sparse), FAILS),
    "an empty file": Hostile(writing(lambda path, _: path.touch())),
    "text": Hostile(writing(lambda path, _: path.write_text("outputs"))),
    "half a file": Hostile(patched(lambda content: content[: len(content) // 2])),
    "a changed element": Hostile(patched(lambda content: content.replace(b"\x93NUMPY", b"\x93NUMPX", 1))),
    "a wrong sum": Hostile(patched(lambda content: content[:175] + b"\xff" + content[176:]), ("error", "fail")),
    "a file with a tail": Hostile(patched(lambda content: content + b"tail"), ANY),
    "a bomb": Hostile(writing(bomb), ("error", "fail")),
    "100,000 outputs": Hostile(
        writing(lambda path, _: path.write_bytes(npz({f"output_{n}.npy": b"" for n in range(100_000)})))
    ),
    "no arrays": Hostile(writing(lambda path, _: path.write_bytes(npz({}))), ("error", "fail")),
    "a pickle": Hostile(array(npy(header("()", "'|O'"), b"cos\nsystem\n(S'true'\ntR."))),
    "a shape of truth": Hostile(array(npy(header("(True, 4)"), bytes(16))), ("error", "fail")),
    "9,000 brackets": Hostile(array(npy("(" * 9_000))),
    "9,000 minus signs": Hostile(array(npy(header("-" * 9_000 + "1")))),
    "a negative shape": Hostile(array(npy(header("(-1, -4)"), bytes(16)))),
    "a shape of 10**18": Hostile(array(npy(header(f"({10**18},)"), bytes(16)))),
    "a shape of 10**400": Hostile(array(npy(header(f"({10**400}, 0)")))),
    "a rank of 65": Hostile(array(npy(header("(" + "1, " * 65 + ")"), bytes(4)))),
    "a shape of text": Hostile(array(npy(header("'ab'"), bytes(16)))),
    "a shape of fractions": Hostile(array(npy(header("(2.0, 2)"), bytes(16)))),
    "Fortran order of text": Hostile(array(npy(header(order="'no'"), bytes(16))), ("error", "fail")),
    "texts of 4 GB": Hostile(array(npy(header("(1,)", "'<U1000000000'")))),
    "a type of nothing": Hostile(array(npy(header(f"({10**6},)", "'|V0'"))), ("error", "fail")),
    "a letter beyond Unicode": Hostile(array(npy(header("(1,)", "'<U1'"), b"\xff" * 4)), ("error", "fail")),
    "times": Hostile(array(npy(header("(2,)", "'<M8[s]'"), bytes(16))), FAILS),
    "bytes of any type": Hostile(array(npy(header("(2,)", "'|V4'"), bytes(8))), FAILS),
    "records": Hostile(array(npy(header("(2,)", "[('a', '<f4'), ('b', '<i4')]"), bytes(16))), ("error", "fail")),
    "records in records": Hostile(array(npy(header("(2,)", "[('a', " * 200 + "'<f4'" + ")]" * 200)))),
    "an unknown type": Hostile(array(npy(header("(2,)", "'<q9'")))),
    "version 3 of the format": Hostile(array(npy(header(), bytes(16), b"\3\0"))),
    "version 9 of the format": Hostile(array(npy(header(), bytes(16), b"\x09\x09"))),
    "a header that is cut": Hostile(array(b"\x93NUMPY\1\0\xff\xff{")),
    "a header of NUL": Hostile(array(npy(b"\0" * 200, bytes(16)))),
    "a header that calls": Hostile(array(npy("__import__('os').abort()"))),
    "an output twice": Hostile(
        patched(lambda content: npz({"output_0.npy": content}) + npz({"output_0.npy": b""})), ("error", "fail")
    ),
    "another name": Hostile(changed(lambda held: {f"../../{name}": each for name, each in held.items()})),
    "an output missing": Hostile(changed(lambda held: dict(list(held.items())[:-1])), FAILS),
    "an output too many": Hostile(
        changed(lambda held: {**held, f"output_{len(held)}.npy": held["output_0.npy"]}), FAILS
    ),
    "outputs in another order": Hostile(
        changed(lambda held: dict(zip(held, reversed(held.values()), strict=True))), ("fail", "pass")
    ),
}

SYSTEM: dict[str, Hostile] = {
    "removes its case's folder": Hostile(before(lambda it: shutil.rmtree(it["dir"])), ("pass",)),
    "removes its scratch folder": Hostile(steps(remove_scratch, ok)),
    "removes its scratch folder afterwards": Hostile(after(remove_scratch), ("pass", "error")),
    "moves its scratch folder": Hostile(steps(move_scratch, ok)),
    "closes its scratch folder": Hostile(before(read_only), ANY),
    "removes the files of the others": Hostile(before(empty_others), ("pass",)),
    "fills its scratch folder": Hostile(before(fill), ("pass",)),
    "removes the results and fails": Hostile(
        steps(
            lambda _: shutil.rmtree(results(), ignore_errors=True),
            changed(lambda held: dict(list(held.items())[:-1])),
        ),
        FAILS,
    ),
    "removes the results": Hostile(before(lambda _: shutil.rmtree(results(), ignore_errors=True)), ("pass",)),
    "removes its outputs afterwards": Hostile(after(lambda it: target(it).unlink(missing_ok=True)), ("pass", "error")),
    "ends with 0": Hostile(end(0), ENDS),
    "ends with 3": Hostile(end(3), ENDS),
    "answers and ends": Hostile(after(end(0)), ("pass",)),
    "answers and ends with 3": Hostile(after(end(3)), ("pass",)),
    "aborts": Hostile(lambda _: os.abort(), ENDS),
    "kills itself": Hostile(hurt(signal.SIGKILL, os.getpid), ENDS),
    "stops itself": Hostile(hurt(signal.SIGSTOP, os.getpid), ENDS),
    "kills its supervisor": Hostile(hurt(signal.SIGKILL, os.getppid), ENDS),
    "stops its supervisor": Hostile(hurt(signal.SIGSTOP, os.getppid), ENDS),
    "kills its group": Hostile(lambda _: os.killpg(0, signal.SIGKILL), ENDS),
    "sleeps": Hostile(sleep, ENDS),
    "is deaf": Hostile(deaf, ENDS),
    "spins": Hostile(spin, ENDS),
    "takes all memory": Hostile(grow, ENDS),
    "closes its standard output": Hostile(steps(lambda _: os.close(1), sleep), ENDS),
    "closes its standard input": Hostile(before(lambda _: os.close(0)), ("pass", "fail")),
    "closes everything": Hostile(close_all, ENDS),
    "leaves a daemon": Hostile(before(lambda _: daemon(sleep)), ("pass",)),
    "leaves a daemon and ends": Hostile(steps(lambda _: daemon(sleep), end(0)), ENDS),
    "leaves a daemon that is deaf": Hostile(before(lambda it: daemon(lambda: deaf(it))), ("pass",)),
    "leaves a hundred children": Hostile(before(many), ("pass",)),
    "leaves a child that talks": Hostile(after(lambda _: daemon(late_hello)), ("pass", "error")),
}

#: Everything hostile that a harness can do.
HOSTILE: dict[str, Hostile] = {
    **{f"says {name}": each for name, each in LINES.items()},
    **{f"writes {name}": each for name, each in OUTPUTS.items()},
    **SYSTEM,
}


def main() -> None:
    """Serve."""
    start = {
        "protocol": 1,
        "implementation": {"name": "hostile", "version": "1"},
        "element_types": ["f32"],
        "operations": ["VariadicSplit-1"],
        "dynamic": True,
        "bindings": ["constant", "parameter"],
    }
    while line := sys.stdin.readline():
        request = json.loads(line)
        match request["cmd"]:
            case "start":
                say(start)
            case "run" if MARK in request["case"]["title"]:
                HOSTILE[sys.argv[1]].act(request)
            case "run":
                with contextlib.suppress(OSError):
                    right(request)
                    continue
                say({"seq": request["seq"], "status": "error", "message": "a file is missing"})
            case _:
                return


if __name__ == "__main__":
    main()
