"""A harness of VariadicSplit-1 on the first axis that needs nothing but Python, so that it starts quickly.

It misbehaves at the case whose lengths are [2, 2, 2], and answers all the others as it should.
"""

import ast
import contextlib
import io
import json
import os
import signal
import struct
import sys
import zipfile
from pathlib import Path

from tests.fake_harnesses.misbehaviour import Act, Request

#: Names a folder or a pipe for some misbehaviours.
VARIABLE = "OPCONFORM_TEST_MARK"
ODD = (2, 2, 2)
START = {
    "protocol": 1,
    "implementation": {"name": "odd", "version": "1", "device": None, "language": "python"},
    "dialects": [],
    "element_types": ["f32", "i64"],
    "operations": ["VariadicSplit-1"],
    "dynamic": True,
    "bindings": ["constant", "parameter"],
}


def write(line: bytes) -> None:
    """Write to standard output, as far as it is open."""
    with contextlib.suppress(BrokenPipeError):
        while line:
            line = line[os.write(1, line) :]


def say(message: object) -> None:
    """Write a message."""
    write(json.dumps(message).encode() + b"\n")


def target(request: Request) -> Path:
    """The file of outputs that the request names."""
    return Path(request["feeds"][0]["outputs"])


def ok(request: Request, **more: object) -> None:
    """Reply that the outputs are written."""
    say({"seq": request["seq"], "status": "ok", **more})


def rejected(request: Request, message: str = "no", **more: object) -> None:
    """Reply that the backend rejects the case."""
    say({"seq": request["seq"], "status": "rejected", "stage": "run", "message": message, **more})


def right(request: Request) -> None:
    """Answer correctly."""
    try:
        target(request).write_bytes(npz(outputs_of(request)))
    except ValueError as error:
        rejected(request, str(error))
    else:
        ok(request, seconds=0.0)


def npz(members: dict[str, bytes]) -> bytes:
    """An `.npz` file."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def npy(header: str | bytes, elements: bytes = b"", version: bytes = b"\1\0") -> bytes:
    """An array with this header."""
    encoded = header.encode() if isinstance(header, str) else header
    return b"\x93NUMPY" + version + struct.pack("<H", len(encoded)) + encoded + elements


def header(shape: str = "(2, 2)", descr: str = "'<f4'", order: str = "False") -> str:
    """The header of an array."""
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"


def outputs_of(request: Request) -> dict[str, bytes]:
    """The right outputs, as the members of an `.npz` file.

    Raises:
        ValueError: The case must be rejected.
    """
    with zipfile.ZipFile(Path(request["dir"]) / request["feeds"][0]["inputs"]) as archive:
        content, lengths = archive.read("data.npy"), _lengths(archive.read("split_lengths.npy"))
    if lengths.count(-1) > 1:
        raise ValueError("more than one length is -1")
    start = 10 + int.from_bytes(content[8:10], "little")
    described, elements = ast.literal_eval(content[10:start].decode()), content[start:]
    rows, *others = described["shape"]
    width, outputs, row = len(elements) // rows, {}, 0
    for number, length in enumerate(lengths):
        size = rows - sum(lengths) - 1 if length == -1 else length
        head = header(str((size, *others)), repr(described["descr"]))
        outputs[f"output_{number}.npy"] = npy(head, elements[row * width : (row + size) * width])
        row += size
    return outputs


def _lengths(content: bytes) -> tuple[int, ...]:
    start = 10 + int.from_bytes(content[8:10], "little")
    return struct.unpack(f"<{(len(content) - start) // 8}q", content[start:])


def is_odd(request: Request) -> bool:
    """Whether the harness misbehaves at this case."""
    with zipfile.ZipFile(Path(request["dir"]) / request["feeds"][0]["inputs"]) as archive:
        return _lengths(archive.read("split_lengths.npy")) == ODD


def serve(act: Act) -> None:
    """Answer every request, one of them with a misbehaviour."""
    while line := sys.stdin.readline():
        request = json.loads(line)
        match request["cmd"]:
            case "start":
                say(START)
            case "run":
                try:
                    (act if is_odd(request) else right)(request)
                except OSError as error:
                    say({"seq": request["seq"], "status": "error", "message": str(error)})
            case _:
                return


def serve_until_marked() -> None:
    """Answer two cases, write to the pipe that is named in the environment, and hang; without one, answer all cases.

    Six requests have arrived before the pipe is opened. The sixth is sent when the results of two cases are written.
    """
    requests = (json.loads(line) for line in sys.stdin)
    next(requests)
    say(START)
    if VARIABLE in os.environ:
        for _ in range(2):
            right(next(requests))
        for _ in range(4):
            next(requests)
        Path(os.environ[VARIABLE]).write_text("waits")
        signal.pause()
    for request in requests:
        if request["cmd"] == "run":
            right(request)
