"""`.npz` files: written with the same bytes everywhere, read without trusting a word of them.

The container is a zip file whose members are stored. Suites and harnesses hold many small ones, for which `zipfile`
takes as long as all the rest of a case; so such a container is put together and taken apart here, and `zipfile`
takes what is large or out of the ordinary.
"""

import io
import math
import struct
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from opconform.errors import SuiteError
from opconform.tensors.tensor import Array

#: The oldest date that a zip container can hold; every member bears it.
_EPOCH = (1980, 1, 1, 0, 0, 0)
_EPOCH_BITS = 1 << 5 | 1
_UNIX = 3
_MODE = 0o644 << 16
_VERSION = 20
_HEADER_LIMIT = 10_000

#: The parts of a zip container: before each member, once more for each in the directory, and at the end.
_LOCAL = struct.Struct("<4s5H3L2H")
_CENTRAL = struct.Struct("<4s2B5H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_LOCAL_MARK, _CENTRAL_MARK, _END_MARK = b"PK\3\4", b"PK\1\2", b"PK\5\6"
#: What is larger is left to `zipfile`, which knows the extensions for it.
_PLAIN = 1 << 30


def member(name: str) -> zipfile.ZipInfo:
    """A zip member's metadata, the same for every member but for the name: stored, dated 1980, readable by all."""
    metadata = zipfile.ZipInfo(name, _EPOCH)
    metadata.create_system = _UNIX
    metadata.external_attr = _MODE
    return metadata


def npz_bytes(arrays: Mapping[str, Array]) -> bytes:
    """An `.npz` container of named arrays, byte for byte the same under every Python and numpy."""
    members = {f"{name}.npy": _npy(array) for name, array in arrays.items()}
    if not all(name.isascii() for name in members) or sum(map(len, members.values())) > _PLAIN:
        return _packed(members)
    parts, directory, offset = [], [], 0
    for name, content in members.items():
        encoded, crc, size = name.encode(), zlib.crc32(content), len(content)
        common = (_VERSION, 0, 0, 0, _EPOCH_BITS, crc, size, size, len(encoded), 0)
        parts += [_LOCAL.pack(_LOCAL_MARK, *common), encoded, content]
        directory += [_CENTRAL.pack(_CENTRAL_MARK, _VERSION, _UNIX, *common, 0, 0, 0, _MODE, offset), encoded]
        offset += _LOCAL.size + len(encoded) + size
    count, listed = len(members), b"".join(directory)
    return b"".join([*parts, listed, _END.pack(_END_MARK, 0, 0, count, count, len(listed), offset, 0)])


def _packed(members: Mapping[str, bytes]) -> bytes:
    """The same container by `zipfile`."""
    container = io.BytesIO()
    with zipfile.ZipFile(container, "w") as archive:
        for name, content in members.items():
            archive.writestr(member(name), content)
    return container.getvalue()


def _npy(array: Array) -> bytes:
    return _npy_head(array.dtype, array.shape) + array.astype(_ordered(array.dtype, "<"), copy=False).tobytes()


@lru_cache(maxsize=1_024)
def _ordered(dtype: "np.dtype[Any]", order: Literal["<", "="]) -> "np.dtype[Any]":
    """The same dtype, little-endian or as this machine has it."""
    return dtype.newbyteorder(order)


@lru_cache(maxsize=4_096)
def _npy_head(dtype: "np.dtype[Any]", shape: tuple[int, ...]) -> bytes:
    """What stands before the elements. The same few come again and again, and numpy takes long to write one."""
    if dtype.hasobject:
        raise ValueError("an array of objects would be pickled, and nothing is ever pickled")
    stream = io.BytesIO()
    head = {"descr": np.lib.format.dtype_to_descr(_ordered(dtype, "<")), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, head)
    return stream.getvalue()


def arrays_of(content: bytes, where: str, *, limit: int) -> dict[str, Array]:
    """The arrays of an `.npz` container, by name and in its order.

    Args:
        content: The container's bytes.
        where: What to call the container in an error.
        limit: The most bytes that all the arrays may take together.

    Raises:
        SuiteError: It is no zip container, or is cut short, pickled, or larger than it says or may be.
    """
    try:
        members = _stored(content)
        if members is None or sum(len(each) for _, each in members) > limit:
            members = _unpacked(content, where, limit)
        arrays = {name.removesuffix(".npy"): _array(name, each) for name, each in members}
    except (zipfile.BadZipFile, zlib.error, ValueError, EOFError, OSError, NotImplementedError, RuntimeError) as fault:
        raise SuiteError(f"{where} is not a readable .npz file: {fault}.") from fault
    if len(arrays) < len(members):
        raise SuiteError(f"{where} is not a readable .npz file: it holds an array twice.")
    return arrays


def _stored(content: bytes) -> list[tuple[str, bytes]] | None:
    """The members of a plain container, or None where it is anything else, be it large, compressed or damaged."""
    try:
        return list(_members(content))
    except (struct.error, UnicodeDecodeError, _NotPlain):
        return None


class _NotPlain(Exception):  # noqa: N818 - it says what is seen, and nothing is wrong with that
    """A container that is not one of those that are written here."""


def _members(content: bytes) -> Iterator[tuple[str, bytes]]:
    end = len(content) - _END.size
    mark, _, _, _, count, size, place, _ = _END.unpack_from(content, max(end, 0))
    if mark != _END_MARK or place + size != end or len(content) > _PLAIN:
        raise _NotPlain
    reached = 0
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
            raise _NotPlain
        if not same or offset != reached or content[start - named : start] != name:
            raise _NotPlain
        reached = start + length
        held = content[start:reached]
        if zlib.crc32(held) != crc:
            raise _NotPlain
        yield name.decode("ascii"), held
    if place != end:
        raise _NotPlain


def _unpacked(content: bytes, where: str, limit: int) -> list[tuple[str, bytes]]:
    """The members of any container, by `zipfile`."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        total = sum(each.file_size for each in archive.infolist())
        if total > limit + _HEADER_LIMIT * len(archive.infolist()):
            raise SuiteError(f"{where} holds {total:,} bytes of arrays where at most {limit:,} are allowed.")
        return [(each.filename, archive.read(each)) for each in archive.infolist()]


def _array(name: str, content: bytes) -> Array:
    head = _head(content)
    shape, fortran, dtype = _header(head)
    if dtype.hasobject:
        raise ValueError(f"{name} is pickled, and nothing pickled is ever loaded")
    start = len(head)
    if math.prod(shape) * dtype.itemsize != len(content) - start:
        raise ValueError(f"{name} says shape {shape} of {dtype}, but holds {len(content) - start} bytes")
    flat = np.frombuffer(content, dtype, offset=start) if len(content) > start else np.empty(0, dtype)
    array = flat.reshape(shape, order="F" if fortran else "C")
    return array.astype(_ordered(dtype, "="), order="C", copy=False)


def _head(content: bytes) -> bytes:
    """The bytes before the elements: magic, version, and a header whose length is said in two bytes or in four."""
    width = 4 if content[6:7] == b"\2" else 2
    return content[: 8 + width + int.from_bytes(content[8 : 8 + width], "little")]


@lru_cache(maxsize=4_096)
def _header(head: bytes) -> tuple[tuple[int, ...], bool, "np.dtype[Any]"]:
    """Shape, order and dtype. The same few headers come again and again, and numpy takes long to read one."""
    stream = io.BytesIO(head)
    version = np.lib.format.read_magic(stream)
    if version not in _READERS:
        raise ValueError(f"version {version} of the .npy format is not read here, only 1.0 and 2.0")
    try:
        with warnings.catch_warnings(action="error"):
            shape, fortran, dtype = _READERS[version](stream, max_header_size=_HEADER_LIMIT)
    except _UNPARSABLE as fault:
        raise ValueError("the header of an array cannot be parsed") from fault
    if any(type(each) is not int or each < 0 for each in shape):
        raise ValueError(f"{shape} is not the shape of an array")
    return shape, fortran, dtype


_READERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
#: What numpy raises for a header that it cannot parse, a Python literal, or warns of: integers as Python 2 wrote them.
_UNPARSABLE = (Warning, ValueError, SyntaxError, TypeError, MemoryError, RecursionError, tokenize.TokenError)
