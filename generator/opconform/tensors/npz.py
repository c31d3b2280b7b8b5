"""Files in the `.npz` format: the same bytes on every machine; untrusted when read.

An `.npz` file is a zip file. Suites have many small ones, for which `zipfile` takes as long as the rest of a case. So
small uncompressed files are written and read here directly; `zipfile` handles all others.
"""

import io
import lzma
import math
import struct
import sys
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, BinaryIO, Literal, cast

import numpy as np

from opconform.errors import SuiteError
from opconform.tensors.tensor import Array

#: The content of a member: bytes, or a part of the bytes of a file.
Buffer = bytes | memoryview
#: The most bytes of one file of a suite, whatever its case declares (16 GiB).
FILE_LIMIT = 1 << 34
#: The date of every member: the oldest one that a zip file can hold.
_EPOCH = (1980, 1, 1, 0, 0, 0)
_EPOCH_BITS = 1 << 5 | 1
_UNIX = 3
_MODE = 0o644 << 16
_VERSION = 20
_HEADER_LIMIT = 10_000

#: The records of a zip file: before each member, per member in the directory, and at the end.
_LOCAL = struct.Struct("<4s5H3L2H")
_CENTRAL = struct.Struct("<4s2B5H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_LOCAL_MARK, _CENTRAL_MARK, _END_MARK = b"PK\3\4", b"PK\1\2", b"PK\5\6"
#: Larger files are left to `zipfile`, which supports the zip64 extensions, and their arrays are not copied.
_PLAIN = 1 << 26
#: The arrays of files up to this size are remembered.
_SMALL = 1 << 16
#: What `zipfile` raises for a file that is damaged, has invalid names, or uses features that it does not support.
ZIP_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError),
    *(EOFError, IndexError, NotImplementedError, OverflowError, RuntimeError, ValueError, struct.error),
)


def member(name: str) -> zipfile.ZipInfo:
    """The metadata of a zip member, which depends on its name only: not compressed, dated 1980, readable by all."""
    metadata = zipfile.ZipInfo(name, _EPOCH)
    metadata.create_system = _UNIX
    metadata.external_attr = _MODE
    return metadata


def npz_bytes(arrays: Mapping[str, Array]) -> bytes:
    """An `.npz` file of named arrays, the same bytes with every version of Python and numpy."""
    if not all(name.isascii() for name in arrays) or is_large(arrays):
        container = io.BytesIO()
        write_npz(container, arrays)
        return container.getvalue()
    members = {f"{name}.npy": _npy(array) for name, array in arrays.items()}
    parts, directory, offset = [], [], 0
    for name, content in members.items():
        encoded, crc, size = name.encode(), zlib.crc32(content), len(content)
        common = (_VERSION, 0, 0, 0, _EPOCH_BITS, crc, size, size, len(encoded), 0)
        parts += [_LOCAL.pack(_LOCAL_MARK, *common), encoded, content]
        directory += [_CENTRAL.pack(_CENTRAL_MARK, _VERSION, _UNIX, *common, 0, 0, 0, _MODE, offset), encoded]
        offset += _LOCAL.size + len(encoded) + size
    count, listed = len(members), b"".join(directory)
    return b"".join([*parts, listed, _END.pack(_END_MARK, 0, 0, count, count, len(listed), offset, 0)])


def _npy(array: Array) -> bytes:
    return _npy_head(array.dtype, array.shape) + array.astype(_ordered(array.dtype, "<"), copy=False).tobytes()


def is_large(arrays: Mapping[str, Array]) -> bool:
    """Whether arrays take so much memory that `write_npz` should write them, without a copy of all."""
    return sum(array.nbytes for array in arrays.values()) > _PLAIN


def write_npz(file: BinaryIO, arrays: Mapping[str, Array]) -> None:
    """Write the bytes of `npz_bytes` to a file that can be read; at most one array at a time is copied."""
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            head, metadata = _npy_head(array.dtype, array.shape), member(f"{name}.npy")
            metadata.file_size = len(head) + array.nbytes  # zip64 for large arrays alone
            with archive.open(metadata, "w") as target:
                target.write(head)
                target.write(_raw(array).data.cast("B"))


def npz_parts(arrays: Mapping[str, Array]) -> list[Buffer]:
    """The bytes of `npz_bytes` in parts, which share the memory of the arrays where these are in row-major order."""
    parts = _Parts()
    write_npz(cast("BinaryIO", parts), arrays)
    return parts.parts


class _Parts:
    """A file that keeps what is written to it without a copy. `zipfile` writes some headers again, as a whole."""

    def __init__(self) -> None:
        self.parts: list[Buffer] = []
        self._starts: list[int] = []
        self._end = self._at = 0

    def write(self, part: Buffer) -> int:
        """Append a part, or replace one."""
        if self._at < self._end:
            number = self._starts.index(self._at)
            if len(self.parts[number]) != len(part):
                raise ValueError("a part may only be replaced by one of the same size")
            self.parts[number] = part
        elif part:
            self._starts.append(self._at)
            self.parts.append(part)
            self._end += len(part)
        self._at += len(part)
        return len(part)

    def seek(self, place: int, _whence: int = 0) -> int:
        """Go to the start of a part."""
        self._at = place
        return place

    def tell(self) -> int:
        """The place of the next part."""
        return self._at

    def flush(self) -> None:
        """Nothing is buffered."""


def _raw(array: Array) -> Array:
    """The elements in row-major order, little-endian, as bytes; a copy only where they are not."""
    ordered = array.astype(_ordered(array.dtype, "<"), order="C", copy=False)
    return np.frombuffer(ordered, np.uint8) if ordered.size else np.empty(0, np.uint8)


@lru_cache(maxsize=1_024)
def _ordered(dtype: "np.dtype[Any]", order: Literal["<", "="]) -> "np.dtype[Any]":
    """The same dtype, little-endian or in this machine's byte order."""
    return dtype.newbyteorder(order)


@lru_cache(maxsize=4_096)
def _npy_head(dtype: "np.dtype[Any]", shape: tuple[int, ...]) -> bytes:
    """The header before the elements. It is cached, because few headers repeat often and numpy is slow to write one."""
    if dtype.hasobject:
        raise ValueError("object arrays are not allowed, because they require pickling")
    stream = io.BytesIO()
    head = {"descr": np.lib.format.dtype_to_descr(_ordered(dtype, "<")), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, head)
    return stream.getvalue()


def arrays_of(content: bytes, where: str, *, limit: int) -> dict[str, Array]:
    """The arrays of an `.npz` file, by name and in its order; together they may take `limit` bytes.

    It raises `SuiteError`, in which `where` names the file, for one that is damaged, pickled or larger than allowed.
    """
    try:
        if len(content) <= min(limit, _SMALL) and (arrays := _small_arrays(content)) is not None:
            return dict(arrays)
        members = _stored(content)
        if members is None or sum(len(x) for _, x in members) > limit:
            members = _unpacked(content, where, limit)
        return _arrays(members)
    except ZIP_ERRORS as error:
        raise SuiteError(f"{where} is not a readable .npz file: {error}.") from error


@lru_cache(maxsize=64)
def _small_arrays(content: bytes) -> Mapping[str, Array] | None:
    """The arrays of a small file that this module wrote, or None. Actual outputs mostly are the expected ones again."""
    members = _stored(content)
    return None if members is None else _arrays(members)


def _arrays(members: Sequence[tuple[str, Buffer]]) -> dict[str, Array]:
    arrays = {name.removesuffix(".npy"): _array(name, x) for name, x in members}
    if len(arrays) < len(members):
        raise ValueError("it contains an array twice")
    return arrays


def _stored(content: bytes) -> list[tuple[str, Buffer]] | None:
    """The members of a file as this module writes it, undamaged; None for any other."""
    end, reached = len(content) - _END.size, 0
    members: list[tuple[str, Buffer]] = []
    try:
        mark, _, _, _, count, size, place, _ = _END.unpack_from(content, max(end, 0))
        if mark != _END_MARK or place + size != end or len(content) > _PLAIN:
            return None
        for _ in range(count):
            mark, _, _, needed, flags, method, _, _, crc, packed, length, named, extra, note, _, _, _, offset = (
                _CENTRAL.unpack_from(content, place)
            )
            place += _CENTRAL.size + named
            name = content[place - named : place]
            start = offset + _LOCAL.size + named
            plain = _LOCAL.unpack_from(content, offset)
            same = plain[0] == _LOCAL_MARK and plain[6:] == (crc, length, length, named, 0)
            if mark != _CENTRAL_MARK or needed != _VERSION or flags or method or packed != length or extra or note:
                return None
            if not same or offset != reached or content[start - named : start] != name:
                return None
            reached = start + length
            data = content[start:reached]
            if zlib.crc32(data) != crc:
                return None
            members.append((name.decode("ascii"), data))
    except (struct.error, UnicodeDecodeError):
        return None
    return members if place == end else None


def _unpacked(content: bytes, where: str, limit: int) -> list[tuple[str, Buffer]]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        total = sum(m.file_size for m in archive.infolist())
        if total > limit + _HEADER_LIMIT * len(archive.infolist()):
            raise SuiteError(f"{where} contains {total:,} bytes of arrays; at most {limit:,} are allowed.")
        if min((m.header_offset for m in archive.infolist()), default=archive.start_dir) > 0:
            raise ValueError("it has bytes before its first member")
        return [(m.filename, _member_content(archive, m, content)) for m in archive.infolist()]


def _member_content(archive: zipfile.ZipFile, metadata: zipfile.ZipInfo, content: bytes) -> Buffer:
    """The content of a member, checked; where that takes no copy, a part of the file."""
    size = metadata.file_size
    if size <= _PLAIN // 64 or metadata.compress_type or metadata.flag_bits or size != metadata.compress_size:
        return archive.read(metadata)
    archive.open(metadata).close()  # checks the record before the member
    *_, named, extra = _LOCAL.unpack_from(content, metadata.header_offset)
    start = metadata.header_offset + _LOCAL.size + named + extra
    data = memoryview(content)[start : start + size]
    if len(data) != size or zlib.crc32(data) != metadata.CRC:
        raise zipfile.BadZipFile(f"Bad CRC-32 for file {metadata.filename!r}")
    return data


def _array(name: str, content: Buffer) -> Array:
    head = _head(content)
    shape, fortran, dtype = _header(head)
    if dtype.hasobject:
        raise ValueError(f"{name} is pickled, and pickled arrays are not loaded")
    start = len(head)
    if math.prod(shape) * dtype.itemsize != len(content) - start:
        raise ValueError(f"{name} declares the shape {shape} of {dtype}, but contains {len(content) - start} bytes")
    flat = np.frombuffer(content, dtype, offset=start) if len(content) > start else np.empty(0, dtype)
    if dtype.kind == "U" and flat.size and flat.view(dtype.byteorder + "u4").max() > sys.maxunicode:
        raise ValueError(f"{name} contains a value that is not a Unicode character")
    array = flat.reshape(shape, order="F" if fortran else "C")
    return array.astype(_ordered(dtype, "="), order="C", copy=False)


def _head(content: Buffer) -> bytes:
    """The bytes before the elements: magic, version, a length of two or four bytes, and the header."""
    width = 4 if content[6:7] == b"\2" else 2
    return bytes(content[: 8 + width + int.from_bytes(content[8 : 8 + width], "little")])


@lru_cache(maxsize=4_096)
def _header(head: bytes) -> tuple[tuple[int, ...], bool, "np.dtype[Any]"]:
    """Shape, order and dtype. They are cached, because few headers repeat often and numpy is slow to parse one."""
    stream = io.BytesIO(head)
    version = np.lib.format.read_magic(stream)
    if version not in _READERS:
        raise ValueError(f"version {version} of the .npy format is not supported, only 1.0 and 2.0")
    try:
        with warnings.catch_warnings(action="error"):
            shape, fortran, dtype = _READERS[version](stream, max_header_size=_HEADER_LIMIT)
    except _UNPARSABLE as error:
        raise ValueError("the header of an array cannot be parsed") from error
    if any(type(size) is not int or size < 0 for size in shape):
        raise ValueError(f"{shape} is not the shape of an array")
    return shape, fortran, dtype


_READERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
#: What numpy raises for a header that it cannot parse, or warns of: integers as Python 2 wrote them.
_UNPARSABLE = (Warning, ValueError, SyntaxError, TypeError, MemoryError, RecursionError, tokenize.TokenError)
