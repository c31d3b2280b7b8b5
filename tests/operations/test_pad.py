"""Pad-12: each clause of its page, and numpy's own `pad`."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opconform.operations.arguments import Arguments, Operand, Rejection
from opconform.operations.pad import PAD
from opconform.tensors.tensor import Array, Tensor


def operand(element_type: str, array: Array) -> Operand:
    """An operand with elements in the storage dtype."""
    return Operand(element_type=element_type, shape=array.shape, tensor=Tensor(element_type=element_type, array=array))


def pads(values: Sequence[int] | None, element_type: str = "i64") -> Operand | None:
    """The operand of a list of pads, or None."""
    return None if values is None else Operand(element_type=element_type, shape=(len(values),), integers=tuple(values))


def arguments(
    shape: tuple[int, ...] | None = (3, 2),
    begin: Operand | Sequence[int] | None = (1, 0),
    end: Operand | Sequence[int] | None = (0, 1),
    mode: object = "constant",
    value: Operand | None = None,
    element_type: str = "i32",
) -> Arguments:
    """The arguments for ramp data of a shape; None omits one."""
    storage = {"i32": "i4", "string": "U3"}.get(element_type, "u1")
    array = None if shape is None else np.arange(1, 1 + np.prod(shape)).reshape(shape).astype(storage)
    inputs = {
        "data": None if array is None else operand(element_type, array),
        "pads_begin": begin if isinstance(begin, Operand) else pads(begin),
        "pads_end": end if isinstance(end, Operand) else pads(end),
        "pad_value": value,
    }
    attributes = {} if mode is None else {"pad_mode": mode}
    return Arguments(
        inputs={name: each for name, each in inputs.items() if each is not None},
        attributes=attributes,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("given_arguments", "violated"),
    [
        (arguments(None), {"data.required"}),
        (arguments(begin=None), {"pads_begin.required"}),
        (arguments(end=None), {"pads_end.required"}),
        (arguments(begin=Operand(element_type="i64", shape=(), integers=(1,))), {"pads_begin.rank"}),
        (arguments(end=Operand(element_type="f32", shape=(1, 2))), {"pads_end.rank", "pads_end.element-type"}),
        (arguments(begin=Operand(element_type="f32", shape=(2,))), {"pads_begin.element-type"}),
        (arguments(begin=(1,)), {"pads_begin.count"}),
        (arguments(end=(1, 0, 0)), {"pads_end.count"}),
        (arguments(mode=None), {"pad_mode.required"}),
        (arguments(mode="wrap"), {"pad_mode.values"}),
        (arguments(mode=0), {"pad_mode.values"}),
        (arguments(mode="EDGE"), {"pad_mode.spelling"}),
        (arguments(mode="edge", element_type="string"), {"data.string-mode"}),
        (arguments(value=operand("i32", np.ones(1, "i4"))), {"pad_value.scalar"}),
        (arguments(value=operand("i64", np.array(1))), {"pad_value.element-type"}),
        (arguments(element_type="f8e8m0"), {"pad_value.no-zero"}),
        (arguments((0, 2), mode="edge"), {"edge.empty"}),
        (arguments(begin=(3, 0), mode="reflect"), {"reflect.limit"}),
        (arguments(end=(0, 2), mode="reflect"), {"reflect.limit"}),
        (arguments((0, 2), mode="reflect"), {"reflect.limit"}),
        (arguments(begin=(4, 0), mode="symmetric"), {"symmetric.limit"}),
        (arguments(end=(-9, 3), mode="symmetric"), {"symmetric.limit"}),
        (arguments((0, 2), mode="symmetric"), {"symmetric.limit"}),
    ],
)
def test_every_violated_requirement_is_named(given_arguments: Arguments, violated: set[str]) -> None:
    """And no other."""
    with pytest.raises(Rejection) as raised:
        PAD.infer(given_arguments)

    assert set(raised.value.requirements) == violated


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
    begin, end = ([data.draw(st.integers(-6, each)) for each in most] for _ in range(2))
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
    assert [each.shape for each in PAD.infer(arguments(shape, begin, end, mode, value))] == [expected.shape]


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
