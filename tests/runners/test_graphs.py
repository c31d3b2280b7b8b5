"""What the harness does itself for frameworks whose operation lacks a notion, and what it leaves to them."""

import numpy as np
import pytest

from opconform.case import Attribute, Case, Context, Input
from opconform.tensors import Array, Tensor
from opconform_runners.backend import Inputs, Rejected, Unsupported
from opconform_runners.graphs import Graph, alike_of, axis_of, check_pieces_are_equal, filled, plain


def integers(values: object, kind: str = "i64") -> Tensor:
    """A tensor of an integer type."""
    return Tensor(element_type=kind, array=np.array(values, {"i64": np.int64, "u4": np.uint8, "i4": np.uint8}[kind]))


def feed_of(shape: tuple[int, ...], **inputs: Tensor) -> Inputs:
    """Data of a shape, and other inputs."""
    return {"data": Tensor(element_type="f32", array=np.zeros(shape, np.float32)), **inputs}


def case_of(op: str, feed: Inputs, context: Context = "bare", **attributes: Attribute) -> Case:
    """A case of these inputs."""
    given = [
        Input(name=name, element_type=each.element_type, shape=each.shape, binding="constant")
        for name, each in feed.items()
    ]
    return Case(
        id=f"{op}/case/0123456789",
        op=op,
        title="a case",
        profile="core",
        requirements=(),
        attributes=attributes,
        context=context,
        feeds=1,
        inputs=tuple(given),
    )


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


def test_an_axis_that_is_wrong_leaves_the_remainder_to_the_framework() -> None:
    """It must refuse the axis, and is not to be saved from it by the harness."""
    assert filled([-1, 2], (2, 6), 2) == [-1, 2]
    assert filled([-1, 2], (2, 6), -3) == [-1, 2]
    assert filled([-1, 2], (2, 6), [1]) == [-1, 2]


@pytest.mark.parametrize(
    ("size", "count", "requirement"),
    [(6, 4, "num_splits.divides"), (6, 7, "num_splits.at-most-dimension"), (1, 2, "num_splits.at-most-dimension")],
)
def test_uneven_pieces_are_refused_by_what_they_violate(size: int, count: int, requirement: str) -> None:
    """A framework that makes uneven pieces has no such notion."""
    feed = feed_of((size, 2), axis=integers(-2))
    with pytest.raises(Rejected) as refusal:
        check_pieces_are_equal(case_of("Split-1", feed, num_splits=count), feed, "run")

    assert (refusal.value.stage, refusal.value.requirement) == ("run", requirement)


@pytest.mark.parametrize("count", [0, -1, 2.5, "2", True])
def test_a_number_that_is_wrong_in_itself_is_left_to_the_framework(count: Attribute) -> None:
    """So are a dimension of 0 and an axis out of range, whatever the number is."""
    for feed in (
        feed_of((5, 2), axis=integers(0)),
        feed_of((5, 2), axis=integers(2)),
        feed_of((0, 2), axis=integers(0)),
    ):
        check_pieces_are_equal(case_of("Split-1", feed, num_splits=count), feed, "run")
    beyond, none = feed_of((5, 2), axis=integers(2)), feed_of((0, 2), axis=integers(0))
    check_pieces_are_equal(case_of("Split-1", beyond, num_splits=3), beyond, "run")
    check_pieces_are_equal(case_of("Split-1", none, num_splits=3), none, "run")


def test_an_axis_that_is_left_out_is_no_default() -> None:
    """The frameworks would split the first dimension."""
    feed = feed_of((6,))
    with pytest.raises(Rejected, match="axis is missing") as refusal:
        axis_of(case_of("Split-1", feed, num_splits=2), feed, "build")

    assert refusal.value.requirement == "axis.required"


def test_only_variadic_split_has_an_axis_of_one_element() -> None:
    """For Split-1 the framework gets the list as it is, and must refuse it."""
    feed = feed_of((6,), axis=integers([0]))

    assert axis_of(case_of("VariadicSplit-1", feed), feed, "run").shape == ()
    assert axis_of(case_of("Split-1", feed), feed, "run").shape == (1,)
    assert axis_of(case_of("VariadicSplit-1", feed), {"axis": integers([[0]])}, "run").shape == (1, 1)


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
    """Integers of every type are Python's, and what is no integer does not become one."""
    written = plain(Tensor(element_type=kind, array=array), ("i64", "u64", "i4"))

    assert written == expected
    assert repr(written) == repr(expected)


def test_a_type_that_the_framework_lacks_is_unsupported() -> None:
    """The value alone would hide that the framework cannot be given it."""
    with pytest.raises(Unsupported, match="no element type u4"):
        plain(integers(1, "u4"), ("i64",))
    with pytest.raises(Unsupported, match="no element type nf4"):
        plain(Tensor(element_type="nf4", array=np.array(1, np.uint8)), ("i64",))


def test_a_context_is_built_of_the_operation_and_a_join() -> None:
    """Each gives what docs/specs.md says, here of lists of numbers."""

    def split(whole: list[int], axis: int) -> list[list[int]]:
        assert axis == -1
        return [whole[:1], whole[1:2], whole[2:]]

    def join(pieces: object, axis: int) -> list[int]:
        return [axis, *(number for each in pieces for number in each)]  # type: ignore[attr-defined]

    feed = feed_of((2, 4), axis=integers(-1), split_lengths=integers([1, 1, -1]))

    def outputs(context: Context) -> list[list[int]]:
        case = case_of("VariadicSplit-1", feed, context)
        graph = Graph(case=case, rank=2, alike=alike_of(case, feed), split=split, join=join)
        return graph.outputs([1, 2, 3, 4], -1)

    assert outputs("bare") == outputs("folded") == [[1], [2], [3, 4]]
    assert outputs("concat") == [[-1, 1, 2, 3, 4]]
    assert outputs("chain") == [[1], [2], [3], [4], []]
    assert outputs("partial") == [[2]]
    assert outputs("shared") == [[1], [2], [3, 4], [0, 3, 4]]


def test_shared_joins_the_pieces_of_the_last_ones_length() -> None:
    """The remainder's length is worked out for it; all the pieces of Split-1 are alike."""
    lengths = feed_of((6, 2), axis=integers(0), split_lengths=integers([2, 1, -1, 1]))
    even = feed_of((6, 2), axis=integers(0))

    assert alike_of(case_of("VariadicSplit-1", lengths, "shared"), lengths) == (1, 3)
    assert alike_of(case_of("Split-1", even, "shared", num_splits=3), even) == (0, 1, 2)
    assert alike_of(case_of("Split-1", even, "bare", num_splits=3), even) == ()
