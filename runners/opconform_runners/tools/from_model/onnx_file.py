"""ONNX files without their weights, which are neither read nor opened: the file is mapped, and large data is skipped."""

import mmap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from opconform.errors import UsageError
from opconform.system.files import open_regular
from opconform_runners.tools.from_model.node import STRUCTURE_LIMIT, check_count

#: The most bytes of a message that is copied as it is, and of the elements of a tensor that are kept.
_SMALL = 1 << 10
#: The deepest nesting of messages, as protobuf limits it.
_DEPTH = 100
#: The fields of each message that can have large data, by number: those of a tensor with elements are left out.
_ELEMENTS: Mapping[int, Any] = dict.fromkeys((4, 5, 6, 7, 9, 10, 11))
_SPARSE: Mapping[int, Any] = {1: _ELEMENTS, 2: _ELEMENTS}
_ATTRIBUTE: dict[int, Any] = {5: _ELEMENTS, 10: _ELEMENTS, 22: _SPARSE, 23: _SPARSE}
_GRAPH: Mapping[int, Any] = {1: {5: _ATTRIBUTE}, 5: _ELEMENTS, 15: _SPARSE}
_ATTRIBUTE |= {6: _GRAPH, 11: _GRAPH}
#: A model's graph; its metadata, training information and functions are left out.
_MODEL: Mapping[int, Any] = {7: _GRAPH, 14: None, 20: None, 25: None}
_NODE = 1
_LENGTHS = {1: 8, 5: 4}
_DELIMITED = 2


class _NoModelError(Exception):
    """Bytes that are not an ONNX model."""


def model_without_weights(path: Path) -> Any:
    """The `ModelProto` of a file, without the elements of larger tensors, and without its functions.

    Raises:
        UsageError: The file is not an ONNX model, or too large besides its weights.
    """
    from google.protobuf.message import DecodeError
    from onnx import ModelProto

    try:
        with open_regular(path, follow_links=True) as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            pruned = _Pruning(data, str(path)).message(0, len(data), _MODEL)
        model = ModelProto.FromString(pruned)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error
    except (_NoModelError, DecodeError, ValueError) as error:
        raise UsageError(f"{path} is not an ONNX model, or is truncated. Export it again.") from error
    if not model.graph.node:
        raise UsageError(f"{path} has no nodes, or is not an ONNX model.")
    return model


class _Pruning:
    """The state of one file: how many bytes are kept, and how many nodes."""

    def __init__(self, data: mmap.mmap, name: str) -> None:
        self._data, self._name = data, name
        self._kept = self._nodes = 0

    def message(self, start: int, end: int, fields: Mapping[int, Any], depth: int = 0) -> bytes:
        """The bytes of a message without its large data."""
        if depth > _DEPTH:
            raise _NoModelError
        parts: list[bytes] = []
        for number, head, body, after in self._fields(start, end):
            if fields is _GRAPH and number == _NODE:
                self._nodes += 1
                check_count(self._nodes, self._name)
            is_known, is_large = number in fields, after - body > _SMALL
            if is_known and is_large and fields[number] is not None:
                inner = self.message(body, after, fields[number], depth + 1)
                parts += [_varint(number << 3 | _DELIMITED), _varint(len(inner)), inner]
            elif not (is_known and fields[number] is None and (is_large or fields is _MODEL)):
                self._keep(after - head)
                parts.append(self._data[head:after])
        return b"".join(parts)

    def _keep(self, size: int) -> None:
        self._kept += size
        if self._kept > STRUCTURE_LIMIT:
            limit = STRUCTURE_LIMIT >> 20
            raise UsageError(f"{self._name} has more than {limit} MiB besides its weights. Read a part of it.")

    def _fields(self, start: int, end: int) -> Iterator[tuple[int, int, int, int]]:
        """The number of each field, where it begins, and where its content begins and ends."""
        place = start
        while place < end:
            tag, body = self._number(place, end)
            kind = tag & 7
            if kind == _DELIMITED:
                length, body = self._number(body, end)
                after = body + length
            elif kind == 0:
                after = self._number(body, end)[1]
            else:
                after = body + _LENGTHS.get(kind, end)
            if after > end:
                raise _NoModelError
            yield tag >> 3, place, body, after
            place = after

    def _number(self, place: int, end: int) -> tuple[int, int]:
        """A varint, and where it ends."""
        value = 0
        for shift in range(0, 70, 7):
            if place >= end:
                break
            byte = self._data[place]
            place += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:  # noqa: PLR2004 - the last byte has no eighth bit
                return value, place
        raise _NoModelError


def _varint(value: int) -> bytes:
    parts = []
    while value > 0x7F:  # noqa: PLR2004
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])
