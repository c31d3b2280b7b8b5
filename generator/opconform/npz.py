"""`.npz` files: written with the same bytes everywhere, read without trusting a word of them."""

import io
import math
import zipfile
import zlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from opconform.errors import SuiteError
from opconform.tensors import Array

#: The oldest date that a zip container can hold; every member bears it.
_EPOCH = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
_HEADER_LIMIT = 10_000


def member(name: str) -> zipfile.ZipInfo:
    """A zip member's metadata, the same for every member but for the name: stored, dated 1980, readable by all."""
    metadata = zipfile.ZipInfo(name, _EPOCH)
    metadata.create_system = _UNIX
    metadata.external_attr = 0o644 << 16
    return metadata


def npz_bytes(arrays: Mapping[str, Array]) -> bytes:
    """An `.npz` container of named arrays, byte for byte the same under every Python and numpy."""
    container = io.BytesIO()
    with zipfile.ZipFile(container, "w") as archive:
        for name, array in arrays.items():
            npy = io.BytesIO()
            little = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
            np.lib.format.write_array(npy, little, version=(1, 0), allow_pickle=False)
            archive.writestr(member(f"{name}.npy"), npy.getbuffer())
    return container.getvalue()


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
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            total = sum(each.file_size for each in archive.infolist())
            if total > limit + _HEADER_LIMIT * len(archive.infolist()):
                raise SuiteError(f"{where} holds {total:,} bytes of arrays where at most {limit:,} are allowed.")
            return {each.filename.removesuffix(".npy"): _array(archive, each) for each in archive.infolist()}
    except (zipfile.BadZipFile, zlib.error, ValueError, EOFError, OSError, NotImplementedError, RuntimeError) as fault:
        raise SuiteError(f"{where} is not a readable .npz file: {fault}.") from fault


def _array(archive: zipfile.ZipFile, metadata: zipfile.ZipInfo) -> Array:
    content = archive.read(metadata)
    head = _head(content)
    shape, fortran, dtype = _header(head)
    if dtype.hasobject:
        raise ValueError(f"{metadata.filename} is pickled, and nothing pickled is ever loaded")
    start = len(head)
    if math.prod(shape) * dtype.itemsize != len(content) - start:
        raise ValueError(f"{metadata.filename} says shape {shape} of {dtype}, but holds {len(content) - start} bytes")
    flat = np.frombuffer(content, dtype, offset=start) if len(content) > start else np.empty(0, dtype)
    array = flat.reshape(shape, order="F" if fortran else "C")
    return array.astype(dtype.newbyteorder("="), order="C", copy=False)


def _head(content: bytes) -> bytes:
    """The bytes before the elements: magic, version, and a header whose length is said in two bytes or in four."""
    width = 4 if content[6:7] == b"\2" else 2
    return content[: 8 + width + int.from_bytes(content[8 : 8 + width], "little")]


@lru_cache(maxsize=4_096)
def _header(head: bytes) -> tuple[tuple[int, ...], bool, "np.dtype[Any]"]:
    """Shape, order and dtype. The same few headers come again and again, and numpy takes long to read one."""
    stream = io.BytesIO(head)
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(stream, max_header_size=_HEADER_LIMIT)
    if version == (2, 0):
        return np.lib.format.read_array_header_2_0(stream, max_header_size=_HEADER_LIMIT)
    raise ValueError(f"version {version} of the .npy format is not read here, only 1.0 and 2.0")
