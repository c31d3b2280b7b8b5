"""How the operations that write updates into data become calls of a framework, and what is refused on its behalf."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pytest

from opconform_products.frameworks.adapters.scatters import REGION_OF_SHAPE, elements_at, places_at, tuples_at
from opconform_products.frameworks.framework import Adapter
from opconform_runners.backends.backend import Rejected, Unsupported


class Empty(NamedTuple):
    """A tensor without elements that anything reads."""

    shape: tuple[int, ...]
    dtype: str = "f32"


def of(*shape: int) -> Empty:
    """A tensor of a shape."""
    return Empty(shape)


def arguments_of(adapter: Adapter, *operands: Any, **attributes: Any) -> list[Any]:
    """The arguments of a framework's function, without data."""
    assert adapter.arguments is not None
    _, *arguments = adapter.arguments(*operands, **attributes)
    return arguments


@pytest.mark.parametrize(
    ("adapter", "operands", "attributes", "expected"),
    [
        (
            REGION_OF_SHAPE,
            (of(4, 5), of(4, 2), [1], [4], [2], [-1]),
            {},
            [of(4, 2), (slice(None), slice(1, 4, 2))],
        ),
        (elements_at(), (of(4, 2), of(5, 2), of(5, 2), [-2]), {}, [of(5, 2), of(5, 2), 0, "none", True]),
        (tuples_at(), (of(4, 2), of(3, 1), of(3, 2)), {"reduction": "sum"}, [of(3, 1), of(3, 2), "sum"]),
    ],
)
def test_settings_become_what_frameworks_take(
    adapter: Adapter, operands: tuple[Any, ...], attributes: Mapping[str, Any], expected: list[Any]
) -> None:
    """The axis is counted from the front, index inputs are Python's slices, and attributes have their defaults."""
    assert arguments_of(adapter, *operands, **attributes) == expected


@pytest.mark.parametrize(
    ("adapter", "operands", "requirement"),
    [
        (REGION_OF_SHAPE, (of(4), of(2), [1], [4], [1], None), "updates.shape"),
        (REGION_OF_SHAPE, (of(4), of(), [1], [4], [1], None), "updates.rank"),
        (REGION_OF_SHAPE, (of(4), Empty((3,), "i8"), [1], [4], [1], None), "updates.element-type"),
        (elements_at("updates.shape"), (of(4, 2), of(1, 2), of(2, 2), 0), "updates.shape"),
        (elements_at("indices.rank"), (of(4, 2), of(2), of(2), 0), "indices.rank"),
        (elements_at("updates.size"), (of(4, 2), of(5, 3), of(5, 3), 0), "updates.size"),
        (elements_at("updates.size", reaches_beyond=False), (of(4, 2), of(5, 2), of(5, 2), 0), "updates.size"),
        (elements_at(), (of(4, 2), of(1, 2), of(1, 2), 2), "axis.range"),
        (tuples_at("updates.shape"), (of(4, 2), of(3, 1), of(1, 2)), "updates.shape"),
        (tuples_at("updates.rank"), (of(4, 2), of(3, 1), of(2)), "updates.rank"),
        (tuples_at("indices.tuple-length"), (of(4, 2), of(1, 3), of(1)), "indices.tuple-length"),
        (tuples_at("updates.element-type"), (of(4), of(1, 1), Empty((1,), "i8")), "updates.element-type"),
    ],
)
def test_an_adapter_refuses_what_the_framework_does_not_check(
    adapter: Adapter, operands: tuple[Any, ...], requirement: str
) -> None:
    """The requirement is named, and is one that the adapter maps."""
    with pytest.raises(Rejected) as refusal:
        arguments_of(adapter, *operands)

    assert refusal.value.requirement == requirement
    assert requirement in adapter.mapped


@pytest.mark.parametrize(
    ("adapter", "operands"),
    [
        (elements_at(), (of(4, 2), of(1, 3), of(1, 2), 0)),
        (tuples_at(), (of(4, 2), of(3, 1), of(2))),
        (tuples_at(), (of(4, 2), of(1, 3), of(1))),
        (REGION_OF_SHAPE, (of(4), of(1), [1], [4], [0], None)),
    ],
)
def test_what_the_framework_checks_is_left_to_it(adapter: Adapter, operands: tuple[Any, ...]) -> None:
    """Other shapes, tuples that are too long, and a step of 0."""
    assert arguments_of(adapter, *operands)


def test_a_single_update_is_taken_out_of_a_tensor_of_any_rank() -> None:
    """A tuple of one index per dimension selects one element, whose update frameworks take as a scalar."""
    data, update = np.zeros((4, 2), np.float32), np.full((1, 1), 5, np.float32)
    _, taken, _ = arguments_of(tuples_at("updates.rank"), data, np.array([3, 1]), update)

    assert (taken.shape, float(taken)) == ((), 5)


def test_the_index_of_tuples_has_an_array_per_place() -> None:
    """An empty tuple is an index only where there is no list of them."""
    first, second = places_at(np.array([[3, 1], [2, 0]]))

    assert (first.tolist(), second.tolist()) == ([3, 2], [1, 0])
    assert places_at(np.zeros((0,), int)) == ()
    with pytest.raises(Unsupported, match="no index of empty tuples"):
        places_at(np.zeros((2, 0), int))
