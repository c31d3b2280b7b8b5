"""`.npz` files: what is put together and taken apart here is what `zipfile` and numpy make of it."""

import io
import struct
import zipfile
from collections.abc import Callable
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from opconform.errors import SuiteError
from opconform.tensors import npz
from opconform.tensors.npz import arrays_of, member, npz_bytes, npz_parts
from opconform.tensors.tensor import Array

LIMIT = 1 << 20

ARRAYS = st.dictionaries(
    st.from_regex(r"[a-z_0-9é]{1,12}", fullmatch=True),
    hnp.arrays(
        st.one_of(hnp.boolean_dtypes(), hnp.integer_dtypes(), hnp.floating_dtypes(), st.just(np.dtype("<U3"))),
        hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4),
    ),
    max_size=4,
)


def by_zipfile(arrays: dict[str, Array]) -> bytes:
    """The container as `zipfile` and numpy write it."""
    container = io.BytesIO()
    with zipfile.ZipFile(container, "w") as archive:
        for name, array in arrays.items():
            npy = io.BytesIO()
            little = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
            np.lib.format.write_array(npy, little, version=(1, 0), allow_pickle=False)
            archive.writestr(member(f"{name}.npy"), npy.getvalue())
    return container.getvalue()


@given(ARRAYS)
def test_a_container_is_the_one_that_zipfile_writes(arrays: dict[str, Array]) -> None:
    """Byte for byte."""
    assert npz_bytes(arrays) == by_zipfile(arrays)


@given(ARRAYS)
def test_large_arrays_are_written_and_read_without_a_copy_and_with_the_same_bytes(arrays: dict[str, Array]) -> None:
    """Here every array counts as large."""
    with mock.patch.object(npz, "_PLAIN", -1):
        content = b"".join(npz_parts(arrays))
        read = arrays_of(content, "it", limit=LIMIT)

    assert content == by_zipfile(arrays)
    assert {name: x.tobytes() for name, x in read.items()} == {
        name: array.astype(array.dtype.newbyteorder("=")).tobytes() for name, array in arrays.items()
    }


def test_a_large_array_shares_the_memory_of_its_file_and_is_checked() -> None:
    """A changed byte is found, as in a small file."""
    array = np.arange(1_000, dtype=np.float32)
    damaged = bytearray(npz_bytes({"data": array}))
    damaged[2_000] ^= 1
    with mock.patch.object(npz, "_PLAIN", -1):
        whole, part = npz_parts({"data": array})[1:3]
        read = arrays_of(bytes(npz_bytes({"data": array})), "it", limit=LIMIT)["data"]
        with pytest.raises(SuiteError, match="Bad CRC-32"):
            arrays_of(bytes(damaged), "it", limit=LIMIT)

    assert np.shares_memory(np.frombuffer(part, np.uint8), array)
    assert len(whole) == 128
    assert not read.flags.owndata


@given(ARRAYS, st.sampled_from([np.savez, np.savez_compressed]))
def test_whatever_numpy_writes_is_read(arrays: dict[str, Array], save: Callable[..., None]) -> None:
    """Compressed or not, bit for bit."""
    container = io.BytesIO()
    save(container, **arrays)

    read = arrays_of(container.getvalue(), "it", limit=LIMIT)
    assert list(read) == list(arrays)
    for name, array in arrays.items():
        native = array.astype(array.dtype.newbyteorder("="))
        assert (read[name].shape, read[name].dtype) == (native.shape, native.dtype)
        assert read[name].tobytes() == native.tobytes()


#: Where a member's entry in the container's directory says which version of the format its reader needs to know.
_NEEDED = 6
#: Where the end of the container says how many members there are.
_COUNT = -12


@given(st.data(), st.binary(min_size=1, max_size=4))
def test_a_damaged_container_is_refused_or_read_as_zipfile_reads_it(data: st.DataObject, noise: bytes) -> None:
    """Nothing is believed that `zipfile` would not believe, and nothing but a sentence comes out."""
    whole = npz_bytes({"data": np.arange(6, dtype=np.float32), "axis": np.array(1)})
    place = data.draw(st.integers(0, len(whole) - 1))
    cut = data.draw(st.one_of(st.just(len(whole)), st.integers(0, len(whole))))
    damaged = (whole[:place] + noise + whole[place + len(noise) :])[:cut]
    try:
        read = arrays_of(damaged, "it", limit=LIMIT)
    except SuiteError:
        return
    with zipfile.ZipFile(io.BytesIO(damaged)) as archive:
        assert [name.removesuffix(".npy") for name in archive.namelist()] == list(read)
        for name in archive.namelist():
            assert archive.read(name).endswith(read[name.removesuffix(".npy")].tobytes())


@pytest.mark.parametrize("needed", [0, 64, 255])
def test_a_version_to_come_is_for_zipfile_to_judge(needed: int) -> None:
    """It refuses what it does not know, and so does the reader."""
    damaged = bytearray(npz_bytes({"data": np.arange(6)}))
    damaged[damaged.index(b"PK\1\2") + _NEEDED] = needed

    if needed:
        with pytest.raises(SuiteError, match=r"^it is not a readable .npz file: zip file version "):
            arrays_of(bytes(damaged), "it", limit=LIMIT)
    else:
        assert list(arrays_of(bytes(damaged), "it", limit=LIMIT)) == ["data"]


def test_a_member_beyond_every_file_is_refused() -> None:
    """Its place is one of 64 bits, which no file can be read at."""
    content = npz_bytes({"data": np.arange(6), "axis": np.array(1)})
    start, at, end = content.index(b"PK\1\2"), content.rindex(b"PK\1\2"), content.index(b"PK\5\6")
    place = struct.pack("<2HQ", 1, 8, 1 << 63)
    head = bytearray(content[at:end])
    head[42:46], head[30:32] = b"\xff" * 4, struct.pack("<H", len(place))
    last = bytearray(content[end:])
    last[12:16] = struct.pack("<L", at - start + len(head) + len(place))
    with pytest.raises(SuiteError, match=r"^it is not a readable \.npz file: Python int too large"):
        arrays_of(content[:at] + head + place + last, "it", limit=LIMIT)


def test_no_member_is_left_out() -> None:
    """The directory says what there is, whatever the count at the container's end says."""
    damaged = bytearray(npz_bytes({"data": np.arange(6), "axis": np.array(1)}))
    damaged[_COUNT] = 1

    assert list(arrays_of(bytes(damaged), "it", limit=LIMIT)) == ["data", "axis"]


def test_what_is_larger_than_allowed_is_refused() -> None:
    """Be it stored or compressed."""
    with pytest.raises(SuiteError, match=r"^it contains "):
        arrays_of(npz_bytes({"data": np.zeros(LIMIT)}), "it", limit=LIMIT)


@pytest.mark.parametrize("arrays", [{"data": np.zeros(2)}, {"data": np.zeros(2), "é": np.zeros(1)}, {}])
def test_bytes_before_the_first_member_are_refused(arrays: dict[str, Array]) -> None:
    """They may be another file."""
    content = npz_bytes(arrays)
    assert list(arrays_of(content, "it", limit=LIMIT)) == [*arrays]
    for before in (b"x", content):
        with pytest.raises(SuiteError, match="it has bytes before its first member"):
            arrays_of(before + content, "it", limit=LIMIT)


def test_objects_are_not_written() -> None:
    """They would be pickled."""
    with pytest.raises(ValueError, match="object arrays are not allowed"):
        npz_bytes({"data": np.array([{}], object)})


@pytest.mark.parametrize("order", "<>")
def test_a_character_beyond_unicode_is_refused(order: str) -> None:
    """Numpy reads it, and fails when the text is used."""
    text = np.array(["ab", "c"], f"{order}U2")
    text.view(f"{order}u4")[1] = 0x110000

    with pytest.raises(SuiteError, match=r"data\.npy contains a value that is not a Unicode character"):
        arrays_of(npz_bytes({"data": text}), "it", limit=LIMIT)
    assert arrays_of(npz_bytes({"data": text[1:]}), "it", limit=LIMIT)["data"].tolist() == ["c"]


@pytest.mark.parametrize("shape", ["(1L,)", "(1 if True else 1,)", "(0 is 0,)"])
def test_a_header_that_numpy_warns_of_is_refused(shape: str) -> None:
    """A header in the spelling of Python 2, or one that is not a plain literal, is an error and not a warning."""
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".encode()
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("x.npy", b"\x93NUMPY\1\0" + len(head).to_bytes(2, "little") + head + b"\0\0\0\0")

    with pytest.raises(SuiteError, match="the header of an array cannot be parsed"):
        arrays_of(stream.getvalue(), "x.npz", limit=LIMIT)


def test_a_file_that_is_read_again_is_not_changed_by_its_first_reader() -> None:
    """Small files are remembered."""
    content = npz_bytes({"one": np.arange(3), "two": np.zeros(2)})
    first = arrays_of(content, "it", limit=1 << 20)
    del first["one"]

    assert list(arrays_of(content, "it", limit=1 << 20)) == ["one", "two"]
    with pytest.raises(ValueError, match="read-only"):
        first["two"][0] = 1
