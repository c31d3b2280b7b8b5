"""ONNX files without their weights, which are neither read nor opened: the file is mapped, and elements are skipped."""

import mmap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from opconform.errors import UsageError
from opconform.system.files import open_regular
from opconform_runners.tools.from_model.models.node import STRUCTURE_LIMIT, check_count

#: The most bytes of a message that is kept as it is, elements included, and the deepest nesting, as in protobuf.
_SMALL, _DEPTH = 1 << 10, 100
#: The most fields of all messages that are read one by one; the models of this size take seconds.
_MOST_FIELDS = 3_000_000
#: The messages that can be large, by the numbers of their fields. None leaves a field out: the elements of a tensor,
#: and of a model its metadata, training information and functions.
_TENSOR: Mapping[int, Any] = dict.fromkeys((4, 5, 6, 7, 9, 10, 11))
_SPARSE: Mapping[int, Any] = {1: _TENSOR, 2: _TENSOR}
_ATTRIBUTE: dict[int, Any] = {5: _TENSOR, 10: _TENSOR, 22: _SPARSE, 23: _SPARSE}
_NODE: Mapping[int, Any] = {5: _ATTRIBUTE}
_GRAPH: Mapping[int, Any] = {1: _NODE, 5: _TENSOR, 15: _SPARSE}
_ATTRIBUTE |= {6: _GRAPH, 11: _GRAPH}
_MODEL: Mapping[int, Any] = {7: _GRAPH, 14: None, 20: None, 25: None}
#: The bytes with which a graph in an attribute begins.
_GRAPHS = (b"\x32", b"\x5a")
#: The bytes of a field by its wire type, besides a number and what says its length.
_WIDTHS, _NUMBER, _DELIMITED = {1: 8, 5: 4}, 0, 2


def model_without_weights(path: Path) -> Any:
    """The `ModelProto` of a file, without the elements of larger tensors, and without its functions.

    Raises:
        UsageError: The file is not an ONNX model, or too large besides its weights.
    """
    from google.protobuf.message import DecodeError
    from onnx import ModelProto

    wrong = f"{path} is not an ONNX model with nodes, or is truncated. Export it again."
    try:
        with (
            open_regular(path, follow_links=True) as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            model = ModelProto.FromString(_Reduction(data, str(path)).message(0, len(data), _MODEL))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error
    except (DecodeError, ValueError) as error:
        raise UsageError(wrong) from error
    if not model.graph.node:
        raise UsageError(wrong)
    return model


class _Reduction:
    """The reduction of one file; `ValueError` for bytes that are not an ONNX model."""

    def __init__(self, data: mmap.mmap, name: str) -> None:
        self._data, self._name, self._kept, self._nodes, self._read = data, name, 0, 0, 0

    def message(self, start: int, end: int, fields: Mapping[int, Any], depth: int = 0) -> bytes:
        """The bytes of a message without its large elements."""
        if depth > _DEPTH:
            raise ValueError
        parts: list[bytes] = []
        for number, head, body, after in self._fields(start, end):
            self._nodes += fields is _GRAPH and number == 1
            if number not in fields or (fields is not _MODEL and not self._is_opened(fields[number], body, after)):
                parts.append(self._data[head:after])
                self._kept += after - head
            elif fields[number] is not None:
                inner = self.message(body, after, fields[number], depth + 1)
                parts += [_varint(number << 3 | _DELIMITED), _varint(len(inner)), inner]
            if self._kept > STRUCTURE_LIMIT:
                limit = STRUCTURE_LIMIT >> 20
                raise UsageError(f"{self._name} has more than {limit} MiB besides its weights. Read a part of it.")
            check_count(self._nodes, self._name)
        return b"".join(parts)

    def _is_opened(self, fields: Mapping[int, Any] | None, body: int, after: int) -> bool:
        """Whether a message may have large elements, or nodes to count."""
        has_graph = (fields is _NODE or fields is _ATTRIBUTE) and any(
            self._data.find(x, body, after) >= 0 for x in _GRAPHS
        )
        return after - body > _SMALL or fields is _GRAPH or has_graph

    def _fields(self, start: int, end: int) -> Iterator[tuple[int, int, int, int]]:
        """The number of each field, where it begins, and where its content begins and ends."""
        place = start
        while place < end:
            tag, body = self._number(place)
            kind, length = tag & 7, 0
            if kind == _NUMBER:
                after = self._number(body)[1]
            else:
                length, body = self._number(body) if kind == _DELIMITED else (_WIDTHS.get(kind, end), body)
                after = body + length
            self._read += 1
            if after > end or not tag >> 3 or self._read > _MOST_FIELDS:
                raise ValueError
            yield tag >> 3, place, body, after
            place = after

    def _number(self, place: int) -> tuple[int, int]:
        """The varint at a place, and where it ends."""
        value = shift = 0
        while place < len(self._data) and shift <= 63:  # noqa: PLR2004 - bits
            byte = self._data[place]
            value, place, shift = value | (byte & 0x7F) << shift, place + 1, shift + 7
            if byte < 0x80:  # noqa: PLR2004 - the last byte
                return value, place
        raise ValueError


def _varint(value: int) -> bytes:
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + _varint(rest) if rest else bytes([low])
