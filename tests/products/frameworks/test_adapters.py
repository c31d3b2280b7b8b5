"""How adapters make the arguments of a framework's functions, and what they refuse on its behalf."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pytest

from opconform.tensors.tensor import Array, Tensor
from opconform_products.frameworks.adapters.gather import ALONG, TUPLES, indexed, indexed_nd
from opconform_products.frameworks.adapters.layout import ORDER, SIZES
from opconform_products.frameworks.adapters.pads import pairs
from opconform_products.frameworks.adapters.pools import AVERAGED
from opconform_products.frameworks.adapters.slices import SLICES, STRIDED
from opconform_products.frameworks.adapters.split import check_equal_outputs, filled, scalar_axis
from opconform_products.frameworks.framework import Adapter
from opconform_products.frameworks.settings import plain
from opconform_runners.backends.backend import Rejected, Unsupported

#: Windows of two elements in one dimension with padding at both ends.
WINDOWS: Mapping[str, Any] = {
    **dict.fromkeys(("strides", "kernel"), (2,)),
    **dict.fromkeys(("pads_begin", "pads_end"), (1,)),
    "auto_pad": "explicit",
    "exclude_pad": False,
}


class Empty(NamedTuple):
    """A tensor without elements that anything reads."""

    shape: tuple[int | None, ...]
    dtype: str = "f32"


def arguments_of(adapter: Adapter, *operands: Any, **attributes: Any) -> list[Any]:
    """The arguments of a framework's function, without the tensor that is the first one."""
    assert adapter.arguments is not None
    _, *arguments = adapter.arguments(*operands, **attributes)
    return arguments


@pytest.mark.parametrize(
    ("adapter", "operands", "attributes", "expected"),
    [
        (SIZES, ((2, 3), [0, -1]), {"special_zero": True}, [[2, -1]]),
        (SIZES, ((2, 3), [0, -1]), {"special_zero": False}, [[0, -1]]),
        (ORDER, ((2, 3, 4), [2, 0, 1]), {}, [[2, 0, 1]]),
        (ORDER, ((2, 3, 4), []), {}, [[2, 1, 0]]),
        (SLICES, ((4, 5), [1], [4], [2], [-1]), {}, [(slice(None), slice(1, 4, 2))]),
        (SLICES, ((4, 5), [1], [4], [2], None), {}, [(slice(1, 4, 2), slice(None))]),
        (STRIDED, ((4, 5), [1, 2], [3, 4], None), {"shrink_axis_mask": (0, 1)}, [(slice(1, 3, 1), 2)]),
        (STRIDED, ((4,), [-9], [-8], [-1]), {}, [(slice(0, -8, -1),)]),
        (STRIDED, ((None,), [-9], [-8], [-1]), {}, [(slice(-9, -8, -1),)]),
        (pairs(), ((2, 3), [1, 0], [0, -2], None), {"pad_mode": "edge"}, [[(1, 0), (0, -2)], "edge", None]),
    ],
)
def test_settings_become_what_frameworks_take(
    adapter: Adapter, operands: tuple[Any, ...], attributes: Mapping[str, Any], expected: list[Any]
) -> None:
    """Zeros are sizes, an empty order is the inverted one, and indices and masks are Python's slices."""
    shape, *settings = operands

    assert arguments_of(adapter, Empty(shape), *settings, **attributes) == expected


@pytest.mark.parametrize(
    ("adapter", "operands", "attributes", "requirement"),
    [
        (SIZES, ((2,), [2, 0]), {"special_zero": True}, "shape.zero-after-last"),
        (SIZES, ((2,), [1, 1, 0]), {"special_zero": True}, "shape.zero-index"),
        (ORDER, ((2, 3), [0, -1]), {}, "order.negative"),
        (SLICES, ((4,), [1], [2], [1], [1]), {}, "axes.range"),
        (SLICES, ((4,), [1, 1], [2, 2], [1, 1], [0, -1]), {}, "axes.unique"),
        (SLICES, ((4,), [1], [2], [1, 1], [0]), {}, "indices.count"),
        (STRIDED, ((4,), [1], [2, 3], None), {}, "indices.count"),
        (pairs(), ((2,), [1, 1], [1], None), {"pad_mode": "edge"}, "pads_begin.count"),
        (pairs(), ((2,), [1], [], None), {"pad_mode": "edge"}, "pads_end.count"),
        (pairs(), ((2,), [1], [1], Empty((1,))), {"pad_mode": "constant"}, "pad_value.scalar"),
        (pairs(), ((2,), [1], [1], Empty((), "i8")), {"pad_mode": "constant"}, "pad_value.element-type"),
        (ALONG, ((2, 3), Empty((2,)), 2), {"batch_dims": 0}, "axis.range"),
        (ALONG, ((2, 3), Empty((2,)), [0]), {"batch_dims": 2}, "batch_dims.range"),
        (ALONG, ((2, 3), Empty((2,)), 0), {"batch_dims": 1}, "batch_dims.axis"),
        (ALONG, ((2, 3), Empty((4,)), 1), {"batch_dims": 1}, "batch_dims.equal"),
        (TUPLES, ((2, 3), Empty((2, 1))), {"batch_dims": 2}, "batch_dims.range"),
        (TUPLES, ((2, 3), Empty((4, 1))), {"batch_dims": 1}, "batch_dims.broadcastable"),
        (TUPLES, ((2, 3), Empty((2, 3))), {"batch_dims": 0}, "indices.tuple-length"),
        (TUPLES, ((2, 3), Empty((2, 2))), {"batch_dims": 1}, "indices.tuple-after-batches"),
    ],
)
def test_an_adapter_refuses_what_frameworks_have_no_concept_of(
    adapter: Adapter, operands: tuple[Any, ...], attributes: Mapping[str, Any], requirement: str
) -> None:
    """The requirement is named, and is one that the adapter maps."""
    shape, *settings = operands
    with pytest.raises(Rejected) as refusal:
        arguments_of(adapter, Empty(shape), *settings, **attributes)

    assert refusal.value.requirement == requirement
    assert requirement in adapter.mapped


def test_a_zero_is_not_added_where_there_is_none() -> None:
    """f8e8m0 has no zero, and pads that only remove elements add none."""
    data = Empty((2,), "float8_e8m0fnu")
    with pytest.raises(Rejected) as refusal:
        arguments_of(pairs(), data, [0], [1], None, pad_mode="constant")

    assert refusal.value.requirement == "pad_value.no-zero"
    assert arguments_of(pairs(), data, [0], [-1], None, pad_mode="constant")
    assert arguments_of(pairs(), data, [0], [1], None, pad_mode="edge")


@pytest.mark.parametrize(("mode", "pads"), [("edge", [1]), ("reflect", [-1])])
def test_a_mode_that_a_framework_lacks_is_unsupported(mode: str, pads: list[int]) -> None:
    """And so are negative pads in a mode where it has none."""
    with pytest.raises(Unsupported, match=f"mode {mode}"):
        arguments_of(pairs(("constant", "reflect"), crops=("constant",)), Empty((2,)), pads, [0], None, pad_mode=mode)


@pytest.mark.parametrize(("axis", "batches"), [(0, 0), (1, 0), (2, 0), (1, 1), (2, 1), (2, 2)])
def test_indexing_gathers_along_an_axis_in_each_batch(axis: int, batches: int) -> None:
    """As `numpy.take` in each batch."""

    class Permuted(np.ndarray[Any, Any]):
        """An array with the method that frameworks have."""

        def permute(self, order: tuple[int, ...]) -> Any:
            return self.transpose(order)

    data = np.arange(24).reshape(2, 3, 4).view(Permuted)
    indices = np.arange(12).reshape(2, 3, 2) % 2
    output = indexed(np.arange, data, indices, axis, batches)
    expected = np.empty((*data.shape[:axis], *indices.shape[batches:], *data.shape[axis + 1 :]), int)
    for place in np.ndindex(*data.shape[:batches]):
        expected[place] = np.take(data[place], indices[place], axis - batches)

    assert output.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("shape", "indices", "batches", "expected"),
    [
        ((2, 2), [[0, 1], [1, 1]], 0, [1, 3]),
        ((2, 2), [[1], [0]], 1, [1, 2]),
        ((1, 2), [[1], [0]], 1, [1, 0]),
        ((2, 2), [[1]], 1, [1, 3]),
        ((2, 2), [[], []], 1, [[0, 1], [2, 3]]),
        ((2, 2), [[], [], []], 0, [[[0, 1], [2, 3]]] * 3),
    ],
)
def test_indexing_gathers_slices_by_tuples(
    shape: tuple[int, ...], indices: list[Any], batches: int, expected: list[Any]
) -> None:
    """Batch dimensions of 1 are repeated, and an empty tuple takes a whole batch."""
    data, tuples = np.arange(np.prod(shape)).reshape(shape), np.array(indices, np.int64)
    output = indexed_nd(np.arange, np.broadcast_to, data, tuples, batches)

    assert output.tolist() == expected


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ([-1, 1, 2], [3, 1, 2]),
        ([4, -1, 2], [4, 0, 2]),
        ([7, -1], [7, -1]),
        ([9, -1], [9, -3]),
        ([-1, -1, 2], [-1, -1, 2]),
        ([2, 4], [2, 4]),
        ([-1.0, 2.0], [-1.0, 2.0]),
        ([True, -1], [True, -1]),
        ([[-1], [2]], [[-1], [2]]),
        (-1, -1),
    ],
)
def test_a_single_remainder_is_worked_out_and_nothing_else_is_mended(lengths: object, expected: object) -> None:
    """What is wrong reaches the framework as it is: two -1, too much, other types, other shapes."""
    assert filled(lengths, (2, 6), 1) == expected
    assert filled(lengths, (2, 6), -1) == expected


@pytest.mark.parametrize("axis", [2, -3, [1], True, 1.0])
def test_an_axis_that_is_wrong_leaves_the_remainder_to_the_framework(axis: object) -> None:
    """It must refuse the axis, and the harness does not do that for it."""
    assert filled([-1, 2], (2, 6), axis) == [-1, 2]


@pytest.mark.parametrize(
    ("size", "count", "requirement"),
    [(6, 4, "num_splits.divides"), (6, 7, "num_splits.at-most-dimension"), (1, 2, "num_splits.at-most-dimension")],
)
def test_uneven_outputs_are_refused_by_what_they_violate(size: int, count: int, requirement: str) -> None:
    """A framework that makes uneven outputs has no such notion."""
    with pytest.raises(Rejected) as refusal:
        check_equal_outputs(count, (size, 2), -2)

    assert refusal.value.requirement == requirement


@pytest.mark.parametrize(
    ("count", "shape", "axis"),
    [
        *((count, (5, 2), 0) for count in (None, 0, -1, 2.5, "2", True)),
        *((3, shape, axis) for shape, axis in (((5, 2), 2), ((5, 2), -3), ((5, 2), [0]), ((5, 2), 0.0), ((0, 2), 0))),
        (5, (5, 2), 0),
    ],
)
def test_what_is_wrong_in_itself_is_left_to_the_framework(count: object, shape: tuple[int, ...], axis: object) -> None:
    """A number or an axis that is wrong, and a dimension of 0."""
    check_equal_outputs(count, shape, axis)


@pytest.mark.parametrize(("axis", "expected"), [([0], 0), (["0"], "0"), ([[0]], [[0]]), ([0, 1], [0, 1]), (1, 1)])
def test_the_only_element_of_an_axis_is_taken_where_the_operation_allows_it(axis: object, expected: object) -> None:
    """Otherwise the framework gets the list as it is, and must refuse it."""
    assert scalar_axis(axis) == expected


@pytest.mark.parametrize(
    ("kind", "array", "expected"),
    [
        ("i64", np.array([[1, -2], [3, 4]]), [[1, -2], [3, 4]]),
        ("i64", np.zeros((2, 0), np.int64), [[], []]),
        ("i64", np.zeros((0,), np.int64), []),
        ("u64", np.array(2**64 - 1, np.uint64), 2**64 - 1),
        ("i4", np.array([15, 7], np.uint8), [-1, 7]),
        ("boolean", np.array([True]), [True]),
        ("bf16", np.array([0x3F80], np.uint16), [1.0]),
        ("string", np.array("0"), "0"),
    ],
)
def test_numbers_are_what_a_user_would_write(kind: str, array: Array, expected: object) -> None:
    """Integers of every type are Python's, and a value of another type does not become an integer."""
    written = plain(Tensor(element_type=kind, array=array), ("i64", "u64", "i4"))

    assert written == expected
    assert repr(written) == repr(expected)


@pytest.mark.parametrize("kind", ["u4", "nf4"])
def test_a_type_that_the_framework_lacks_is_unsupported(kind: str) -> None:
    """The value alone would hide that the framework cannot be given it."""
    with pytest.raises(Unsupported, match=f"no element type {kind}"):
        plain(Tensor(element_type=kind, array=np.array(1, np.uint8)), ("i64",))


@pytest.mark.parametrize(
    ("length", "rounding", "is_ceil"), [(4, "ceil", True), (3, "ceil_torch", True), (3, "floor", False)]
)
def test_windows_of_a_framework_are_those_of_data(length: int, rounding: str, is_ceil: bool) -> None:
    """The last one starts in data or before it."""
    pool, _ = arguments_of(AVERAGED, Empty((1, 2, length)), **WINDOWS, rounding_type=rounding)

    assert pool.is_ceil == is_ceil


def test_no_framework_has_a_last_window_that_starts_behind_data() -> None:
    """The rounding type ceil has one, which PyTorch and tinygrad leave out by their documentation."""
    with pytest.raises(Unsupported, match="starts behind data"):
        arguments_of(AVERAGED, Empty((1, 2, 3)), **WINDOWS, rounding_type="ceil")
