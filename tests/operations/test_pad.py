"""Pad-12: each clause of its page, and numpy's own `pad`."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opconform.operations.arguments import Arguments, Operand
from opconform.operations.movement.pad import PAD, PAD_1
from opconform.tensors.tensor import Array, Tensor


def operand(element_type: str, array: Array) -> Operand:
    """An operand with elements in the storage dtype."""
    return Operand(element_type=element_type, shape=array.shape, tensor=Tensor(element_type=element_type, array=array))


def pads(values: Sequence[int]) -> Operand:
    """The operand of a list of pads."""
    return Operand(element_type="i64", shape=(len(values),), integers=tuple(values))


def arguments(
    shape: tuple[int, ...] = (3, 2),
    begin: Sequence[int] = (1, 0),
    end: Sequence[int] = (0, 1),
    mode: str = "constant",
    value: Operand | None = None,
    element_type: str = "i32",
) -> Arguments:
    """The arguments for ramp data of a shape."""
    storage = {"i32": "i4", "string": "U3"}.get(element_type, "u1")
    array = np.arange(1, 1 + np.prod(shape)).reshape(shape).astype(storage)
    inputs = {"data": operand(element_type, array), "pads_begin": pads(begin), "pads_end": pads(end)}
    return Arguments(inputs=inputs | ({} if value is None else {"pad_value": value}), attributes={"pad_mode": mode})


@pytest.mark.parametrize(
    "accepted",
    [
        arguments((0, 2), (0, 1), (0, 0), "reflect"),
        arguments((0, 2), (0, 1), (-1, 2), "symmetric"),
        arguments((0, 2), (0, 1), (-1, 2), "edge"),
        arguments(begin=(0, -1), end=(-1, 0), element_type="f8e8m0"),
        arguments(mode="edge", element_type="f8e8m0"),
        arguments(mode="edge", value=operand("i32", np.array(9, "i4"))),
    ],
)
def test_pads_that_add_nothing_violate_no_limit(accepted: Arguments) -> None:
    """Nor does a type without a zero, or a value in another mode, where nothing is added with it."""
    assert len(PAD.infer(accepted)) == 1


@given(data=st.data())
def test_the_output_is_a_window_on_what_numpy_pads(data: st.DataObject) -> None:
    """Elements are added to all of data first, and what negative pads remove is removed after that."""
    mode = data.draw(st.sampled_from(["constant", "edge", "reflect", "symmetric"]))
    shape = tuple(data.draw(st.lists(st.integers(1, 4), max_size=3)))
    most = [{"reflect": size - 1, "symmetric": size}.get(mode, 6) for size in shape]
    begin, end = ([data.draw(st.integers(-6, x)) for x in most] for _ in range(2))
    array = np.arange(1, 1 + np.prod(shape), dtype="i4").reshape(shape)
    extra = {"constant_values": 9} if mode == "constant" else {}
    widths = [(max(before, 0), max(after, 0)) for before, after in zip(begin, end, strict=True)]
    whole = np.pad(array, widths, mode, **extra) if shape else array  # type: ignore[call-overload]
    expected = whole[
        tuple(
            slice(max(-before, 0), max(size + min(after, 0), -before, 0))
            for before, after, size in zip(begin, end, whole.shape, strict=True)
        )
    ]
    value = operand("i32", np.array(9, "i4")) if mode == "constant" else None

    [output] = PAD.evaluate(arguments(shape, begin, end, mode, value))

    assert output.array.tolist() == expected.tolist()
    assert [x.shape for x in PAD.infer(arguments(shape, begin, end, mode, value))] == [expected.shape]


def test_pads_that_cancel_each_other_are_exact() -> None:
    """Beyond 64 bits, and on either side of data."""
    [left] = PAD.evaluate(arguments((3,), (1 << 64,), (-(1 << 64),), "edge"))
    [right] = PAD.evaluate(arguments((3,), (-(1 << 64),), (1 << 64,), "edge"))

    assert (left.array.tolist(), right.array.tolist()) == ([1, 1, 1], [3, 3, 3])


def test_the_default_is_the_zero_of_the_type() -> None:
    """An empty string for strings, and the code of 0 for nf4."""
    [text] = PAD.evaluate(arguments((1,), (1,), (0,), element_type="string"))
    [code] = PAD.evaluate(arguments((1,), (1,), (0,), element_type="nf4"))

    assert (text.array.tolist(), code.array.tolist()) == (["", "1"], [7, 1])


def test_a_long_string_is_not_cut() -> None:
    """Although data has shorter ones."""
    [output] = PAD.evaluate(
        arguments((1,), (1,), (0,), value=operand("string", np.array("longer")), element_type="string")
    )

    assert output.array.tolist() == ["longer", "1"]


def test_pad_1_has_no_negative_pads_and_no_strings() -> None:
    """Its other requirements are those of Pad-12."""
    assert PAD_1.judged(arguments((3,), (1,), (-1,), "edge"))[1] == ("pads.negative",)
    assert PAD_1.judged(arguments((1,), (1,), (0,), element_type="string"))[1] == ("data.element-type",)
    assert PAD_1.judged(arguments((3,), (3,), (0,), "reflect"))[1] == ("reflect.limit",)
    assert PAD_1.evaluate(arguments((3,), (1,), (2,), "edge"))[0].array.tolist() == [1, 1, 2, 3, 3, 3]
