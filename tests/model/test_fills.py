"""Element types, elements and fills."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opconform.model.draft import TensorDraft
from opconform.model.fills import fill
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.literals import checked, encoded
from opconform.tensors.npz import arrays_of, npz_bytes
from opconform.tensors.philox import random_words
from opconform.tensors.tensor import patterns

NAMES = list(ELEMENT_TYPES)


def filled(name: str, how: str, *shape: int) -> "np.ndarray[tuple[int, ...], np.dtype[np.generic]]":
    """The array of a filled tensor."""
    return fill(TensorDraft(element_type=name, shape=shape, fill=how), 0, "key").array  # type: ignore[arg-type]


@pytest.mark.parametrize("name", [name for name in NAMES if ELEMENT_TYPES[name].native is not None])
def test_a_native_type_has_the_width_of_the_table(name: str) -> None:
    """Numpy and ml_dtypes agree with the table on how wide a type is."""
    row = ELEMENT_TYPES[name]
    if row.kind == "string":
        return
    native = row.native
    assert native is not None
    if row.kind == "float":
        assert ml_dtypes.finfo(native).bits == row.bits  # type: ignore[no-untyped-call]
    elif row.is_integer:
        info = ml_dtypes.iinfo(native)  # type: ignore[no-untyped-call]
        assert (int(info.min), int(info.max)) == (row.minimum, row.maximum)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("how", ["ramp", "bits", "binades", "special"])
def test_every_type_can_be_filled(name: str, how: str) -> None:
    """A fill has the shape, the storage dtype and no bit beyond the type's width; none is pickled."""
    row = ELEMENT_TYPES[name]
    array = filled(name, how, 5, 40)

    assert array.shape == (5, 40)
    assert array.dtype == row.storage or row.kind == "string"
    if row.kind not in ("string", "boolean"):
        assert int(patterns(array).max()) < 1 << row.bits
    assert filled(name, how, 0, 3).shape == (0, 3)
    back = arrays_of(npz_bytes({"x": array}), "x", limit=1 << 20)["x"]
    assert back.tobytes() == array.tobytes()


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("boolean", "u1", "u2", "u3")])
def test_a_ramp_tells_its_elements_apart_as_far_as_the_type_can(name: str) -> None:
    """As many elements as a type has numbers are all different, and later ones are not the same at any one distance."""
    row = ELEMENT_TYPES[name]
    count = 4096 if row.bits == 0 or row.bits > 12 else 200 if row.bits == 8 else 14
    array = filled(name, "ramp", count)

    assert len({x.tobytes() if row.bits else str(x) for x in array}) == count


def test_a_ramp_of_u8_does_not_repeat_after_256() -> None:
    """A piece that is displaced by 256 elements is seen."""
    ramp = filled("u8", "ramp", 1024)

    assert not np.any(ramp[256:] == ramp[:-256])


@pytest.mark.parametrize(("name", "count"), [("bf16", 255), ("f16", 31), ("f32", 255), ("f64", 2047)])
def test_binades_are_powers_of_two_and_then_their_negatives(name: str, count: int) -> None:
    """From the denormal numbers to the largest ones, without infinities."""
    kind = ELEMENT_TYPES[name]
    numbers = filled(name, "binades", 2, count).view(kind.arithmetic).astype(np.float64)
    exponents = np.maximum(np.frexp(np.abs(numbers))[1], int(kind.layout.minexp))
    assert exponents.tolist() == [[*range(int(kind.layout.minexp), int(kind.layout.maxexp) + 1)]] * 2
    assert (np.sign(numbers) == [[1], [-1]]).all()


def test_special_values_come_first() -> None:
    """Even a small tensor holds a NaN with a payload, a negative zero and what no f32 holds."""
    special = filled("f64", "special", 4).view(np.uint64)

    assert [hex(x) for x in special] == [
        "0x7ff8000000000001",
        "0x8000000000000000",
        "0x3ff0000000000001",
        "0x1",
    ]


def test_bits_are_the_raw_stream_of_philox() -> None:
    """The random words are pinned: they must not change with numpy's release."""
    assert [hex(random_word) for random_word in random_words(2, 0, "pinned")] == [
        "0xa6b1e6acd368c41a",
        "0x98ded96f7ca0259",
    ]


@pytest.mark.parametrize(
    ("name", "element", "pattern"),
    [
        ("f32", "0x7fc00001", 0x7FC00001),
        ("f32", "nan", 0x7FC00000),
        ("f32", -0.0, 0x80000000),
        ("f16", 1, 0x3C00),
        ("bf16", 1.0, 0x3F80),
        ("f8e4m3", 1.0, 0x38),
        ("i4", -1, 0xF),
        ("i8", "0xff", 0xFF),
        ("u64", 2**64 - 1, 2**64 - 1),
        ("boolean", True, 1),
        ("nf4", 7, 7),
    ],
)
def test_an_element_becomes_its_bits(name: str, element: float | str, pattern: int) -> None:
    """Numbers, NaNs and bit patterns are written exactly."""
    array = encoded(name, [checked(name, element)])

    assert int(patterns(array.view(np.uint8) if array.dtype == bool else array)[0]) == pattern


@pytest.mark.parametrize(
    ("name", "element"),
    [
        ("i8", 128),
        ("u8", -1),
        ("i64", 1.0),
        ("i64", True),
        ("boolean", 2),
        ("f16", 70000),
        ("f32", "one"),
        ("u3", "0x8"),
        ("string", 1),
        ("f64", 10**400),
    ],
)
def test_an_element_that_the_type_has_not_is_refused(name: str, element: float | str) -> None:
    """Nothing is rounded away or wrapped around in silence."""
    with pytest.raises(ValueError, match=r"."):
        checked(name, element)


@given(st.integers(-(2**63), 2**63 - 1))
def test_integers_survive(number: int) -> None:
    """Every i64 is kept to the last bit."""
    assert int(encoded("i64", [checked("i64", number)])[0]) == number
