"""Harnesses that break the protocol, each right but for one case. `--harness "python tests/harnesses.py NAME"`.

The fault shows at the case whose lengths are [2, 2, 2]; all the other cases are answered as they should be.
"""

import io
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Request = dict[str, Any]

SAID = {
    "protocol": 1,
    "implementation": {"name": "odd", "version": "1", "device": None, "language": "python"},
    "dialects": [],
    "element_types": ["f32", "i64"],
    "operations": ["VariadicSplit-1"],
    "dynamic": True,
    "bindings": ["constant", "parameter"],
}


def say(message: object) -> None:
    """Write a line of JSON."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def inputs(request: Request) -> dict[str, Any]:
    """The inputs of a request."""
    with np.load(Path(request["dir"]) / request["feeds"][0]["inputs"]) as arrays:
        return dict(arrays)


def outputs_of(request: Request) -> list[Any]:
    """The right outputs.

    Raises:
        ValueError: The case must be rejected.
    """
    given = inputs(request)
    data, axis, lengths = given["data"], int(given["axis"]), given["split_lengths"].tolist()
    if lengths.count(-1) > 1:
        raise ValueError("more than one length is -1")
    sizes = [data.shape[axis] - sum(lengths) - 1 if each == -1 else each for each in lengths]
    return np.split(data, np.cumsum(sizes)[:-1], axis)


def save(request: Request, arrays: list[Any], **options: Any) -> Path:
    """Write outputs where the request wants them."""
    path = Path(request["feeds"][0]["outputs"])
    np.savez(path, **{f"output_{number}": each for number, each in enumerate(arrays)}, **options)
    return path


def right(request: Request) -> None:
    """Answer correctly."""
    try:
        save(request, outputs_of(request))
    except ValueError as fault:
        say({"seq": request["seq"], "status": "rejected", "stage": "build", "message": str(fault)})
    else:
        say({"seq": request["seq"], "status": "ok", "seconds": 0.001})


def garbage(_: Request) -> None:
    """A line that is not JSON."""
    sys.stdout.write("Segmentation fault (not really)\n")
    sys.stdout.flush()


def not_utf8(_: Request) -> None:
    """A line that is not UTF-8."""
    os.write(1, b"\xff\xfe\x00\n")


def other_seq(request: Request) -> None:
    """An answer to a request that was never made."""
    say({"seq": request["seq"] + 1000, "status": "ok"})


def out_of_order(request: Request) -> None:
    """The next request is answered first."""
    following = sys.stdin.readline()
    right(json.loads(following)) if following else other_seq(request)
    right(request)


def unknown_status(request: Request) -> None:
    """A status that the protocol does not know."""
    say({"seq": request["seq"], "status": "fine"})


def unknown_key(request: Request) -> None:
    """A key that the protocol does not know."""
    say({"seq": request["seq"], "status": "ok", "mood": "good"})


def long_line(request: Request) -> None:
    """A line of 10 MB."""
    say({"seq": request["seq"], "status": "rejected", "stage": "run", "message": "x" * 10_000_000})


def no_outputs(request: Request) -> None:
    """`ok`, and no file."""
    say({"seq": request["seq"], "status": "ok"})


def truncated(request: Request) -> None:
    """Half an .npz file."""
    path = save(request, outputs_of(request))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    say({"seq": request["seq"], "status": "ok"})


def pickled(request: Request) -> None:
    """An .npz file with a pickle in it."""
    save(request, [np.array([{"a": 1}], dtype=object)])
    say({"seq": request["seq"], "status": "ok"})


def bomb(request: Request) -> None:
    """An .npz file that unpacks to 128 MiB, far more than its case can need."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "|u1", "fortran_order": False, "shape": (1 << 27,)})
    with (
        zipfile.ZipFile(request["feeds"][0]["outputs"], "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("output_0.npy", "w", force_zip64=True) as member,
    ):
        member.write(header.getvalue())
        for _ in range(8):
            member.write(bytes(1 << 24))
    say({"seq": request["seq"], "status": "ok"})


def lying_header(request: Request) -> None:
    """An array that says it has a trillion elements."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f4", "fortran_order": False, "shape": (10**12,)})
    with zipfile.ZipFile(request["feeds"][0]["outputs"], "w") as archive:
        archive.writestr("output_0.npy", header.getvalue() + b"1234")
    say({"seq": request["seq"], "status": "ok"})


def wrong_names(request: Request) -> None:
    """Outputs under other names."""
    np.savez(request["feeds"][0]["outputs"], y=np.zeros(3, np.float32))
    say({"seq": request["seq"], "status": "ok"})


def says_no_types(request: Request) -> None:
    """The right outputs, and the element types of no feed."""
    save(request, outputs_of(request))
    say({"seq": request["seq"], "status": "ok", "element_types": []})


def says_too_long(request: Request) -> None:
    """The right outputs, which took longer than the harness was waited for."""
    save(request, outputs_of(request))
    say({"seq": request["seq"], "status": "ok", "seconds": 1_000_000})


def says_another_type(request: Request) -> None:
    """Outputs of f64, which are said to be of f32."""
    arrays = [each.astype(np.float64) for each in outputs_of(request)]
    save(request, arrays)
    say({"seq": request["seq"], "status": "ok", "element_types": [["f32"] * len(arrays)]})


def leaves(_: Request) -> None:
    """The harness ends in the middle of things."""
    sys.exit(3)


def orphan(_: Request) -> None:
    """A child that keeps standard output open while the harness ends."""
    subprocess.Popen(["sleep", "3600"])
    os._exit(4)


def sleeps(_: Request) -> None:
    """No answer."""
    time.sleep(3600)


def waits() -> None:
    """Answer two cases, write to the pipe that is named in the environment, and hang; without one, answer all cases.

    Six requests have arrived before the pipe is opened. The sixth is sent when the results of two cases are written.
    """
    requests = (json.loads(line) for line in sys.stdin)
    assert next(requests)["cmd"] == "start"
    say(SAID)
    if "OPCONFORM_TEST_MARK" in os.environ:
        for _ in range(2):
            right(next(requests))
        for _ in range(4):
            next(requests)
        Path(os.environ["OPCONFORM_TEST_MARK"]).write_text("waits")
        signal.pause()
    for request in requests:
        if request["cmd"] == "run":
            right(request)


def deep(request: Request) -> None:
    """Folders in folders, deeper than Python recurses, where the files of the case are and where its outputs are."""
    for folder in (Path(request["dir"]), Path(request["feeds"][0]["outputs"]).parent):
        inner = os.open(folder, os.O_RDONLY)
        for _ in range(1_500):
            os.mkdir("d" * 100, dir_fd=inner)
            outer, inner = inner, os.open("d" * 100, os.O_RDONLY, dir_fd=inner)
            os.close(outer)
        os.close(inner)
    right(request)


def changes_others(request: Request) -> None:
    """The inputs of the cases that wait are made those of this one, or removed."""
    folder = Path(request["dir"])
    for number, other in enumerate(sorted(folder.parent.glob("*/inputs.npz"))):
        if other.parent != folder:
            other.write_bytes((folder / "inputs.npz").read_bytes()) if number % 2 else other.unlink()
    right(request)


def links_away(request: Request) -> None:
    """A link to another folder in place of the scratch folder."""
    scratch = Path(request["feeds"][0]["outputs"]).parent
    scratch.rename(f"{scratch}-moved")
    scratch.symlink_to(os.environ["OPCONFORM_TEST_MARK"])
    say({"seq": request["seq"], "status": "rejected", "stage": "run", "message": "no"})


def takes_the_report(request: Request) -> None:
    """A folder where the report of the run belongs."""
    (Path(os.environ["OPCONFORM_TEST_MARK"]) / "report.json").mkdir()
    right(request)


def own_error(request: Request) -> None:
    """The harness says that it failed."""
    say({"seq": request["seq"], "status": "error", "message": "out of paper", "traceback": "line 1"})


def names_its_files(request: Request) -> None:
    """The harness says that it failed, and with which files."""
    folder, feed = request["dir"], request["feeds"][0]
    message, log = f"cannot read {folder}/{feed['inputs']}", f"in {folder}: {feed['outputs']}"
    say({"seq": request["seq"], "status": "error", "message": message, "traceback": log})


def main(name: str) -> None:
    """Serve, with one fault."""
    if name == "waits":
        return waits()
    odd: Callable[[Request], None] = globals()[name]
    for line in sys.stdin:
        request = json.loads(line)
        match request["cmd"]:
            case "start":
                if name == "never_starts":
                    time.sleep(3600)
                say(SAID)
            case "run" if inputs(request)["split_lengths"].tolist() == [2, 2, 2]:
                odd(request)
            case "run":
                right(request)
            case _:
                break
    return None


if __name__ == "__main__":
    main(sys.argv[1])
