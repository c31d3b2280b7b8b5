"""Small models for tests, and the bytes of hostile ones."""

from pathlib import Path
from typing import Any

import pytest

onnx = pytest.importorskip("onnx")

#: A model of three operations that have cases, one twice, and of two others.
SMALL = """
<ir_version: 8, opset_import: ["" : 18, "mine" : 1]>
small (float[N, 64, 160] x, float[N, 64, 160] y) => (float[?, ?, ?] out, float[?, ?, ?] other)
<int64[1] start = {16}, int64[1] stop = {48}, int64[1] axes = {1}>
{
    joined = Concat<axis = 1>(x, y)
    part = Slice(joined, start, stop, axes)
    out = Transpose<perm = [0, 2, 1]>(part)
    again = Selu(x)
    last = mine.Scale(again)
    other = Transpose<perm = [0, 2, 1]>(y)
}
"""


def saved(text: str, path: Path) -> Path:
    """A model in ONNX's text format, as a file."""
    path.write_bytes(onnx.parser.parse_model(text).SerializeToString())
    return path


def varint(value: int) -> bytes:
    """A number as protobuf writes it."""
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + varint(rest) if rest else bytes([low])


def head(number: int, size: int) -> bytes:
    """The beginning of a field with a content of some size."""
    return varint(number << 3 | 2) + varint(size)


def message(number: int, content: bytes) -> bytes:
    """A field with its content."""
    return head(number, len(content)) + content


def node(kind: str, inputs: list[str], outputs: list[str], **attributes: Any) -> bytes:
    """A node of a graph as a field of it."""
    return message(1, onnx.helper.make_node(kind, inputs, outputs, **attributes).SerializeToString())


#: The version of the format, and opset 18.
BEGINNING = bytes([0x08, 0x08]) + message(8, bytes([0x10, 0x12]))


def layer(number: int, kind: str, inputs: str = "", outputs: str = "", data: str = "") -> str:
    """A layer of OpenVINO's IR with one port of one dimension per letter of `inputs` and `outputs`."""
    ports = [f'<port id="{n}" precision="FP32"><dim>4</dim></port>' for n in range(len(inputs + outputs))]
    count = len(inputs)
    parts = (("input", ports[:count]), ("output", ports[count:]))
    inner = "".join(f"<{name}>{''.join(of_part)}</{name}>" for name, of_part in parts if of_part)
    return f'<layer id="{number}" name="{kind}" type="{kind}" version="opset1">{data}{inner}</layer>'


def ir(layers: list[str], edges: list[tuple[int, int, int, int]], declaration: str = "") -> str:
    """A model in OpenVINO's IR."""
    lines = [f'<edge from-layer="{a}" from-port="{b}" to-layer="{c}" to-port="{d}"/>' for a, b, c, d in edges]
    inside = f"<layers>{''.join(layers)}</layers><edges>{''.join(lines)}</edges>"
    return f'<?xml version="1.0"?>{declaration}<net name="n" version="11">{inside}</net>'
