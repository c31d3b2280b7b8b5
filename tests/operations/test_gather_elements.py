"""GatherElements-6: each clause of its page, and numpy's own function."""

from collections.abc import Iterator

import numpy as np
import pytest

from opconform.generation.expansion import expand
from opconform.model.draft import Draft
from opconform.model.golden import golden_of
from opconform.operations.arguments import Arguments, Operand
from opconform.operations.movement.gathers.gather_elements import GATHER_ELEMENTS
from opconform.specs.loader import load_specs
from opconform.specs.requirements import cases_of
from opconform.tensors.tensor import Tensor


def arguments(data: object, indices: object, axis: int) -> Arguments:
    """Arguments of nested numbers."""
    array, selected = np.array(data, np.int32), np.array(indices, object)
    tensor = Tensor(element_type="i32", array=array)
    integers = tuple(selected.reshape(-1).tolist())
    inputs = {
        "data": Operand(element_type="i32", shape=array.shape, tensor=tensor),
        "indices": Operand(element_type="i64", shape=selected.shape, integers=integers),
    }
    return Arguments(inputs=inputs, attributes={"axis": axis})


def accepted(op: str) -> Iterator[Draft]:
    """The valid cases of the profile `core` with the operation alone."""
    for group in (group for spec in load_specs([cases_of(op)]) for group in spec.groups):
        if group.settings.profile == "core":
            yield from (x for x in expand(group) if x.rejected_for is None and not x.has_other_nodes)


def test_goldens_agree_with_numpy() -> None:
    """Bit for bit with `numpy.take_along_axis`, in every inference of every valid case."""
    count = 0
    for draft in accepted("GatherElements-6"):
        golden = golden_of(draft, 0)
        axis = int(str(draft.attributes["axis"]))
        for feed, (output,) in zip(golden.inputs, golden.outputs, strict=True):
            expected = np.take_along_axis(feed["data"].array, feed["indices"].array, axis)
            assert output.shape == expected.shape, draft.id
            assert output.array.tobytes() == expected.tobytes(), draft.id
            count += 1
    assert count > 60


@pytest.mark.parametrize(
    ("data", "indices", "axis", "output"),
    [
        ([[1, 2], [3, 4]], [[0, 1], [0, 0]], 0, [[1, 4], [1, 2]]),
        ([[1, 7], [4, 3]], [[1, 1, 0], [1, 0, 1]], 1, [[7, 7, 1], [3, 4, 3]]),
        ([[1, 2, 3], [4, 5, 6], [7, 8, 9]], [[1, 0, 1], [1, 2, 0]], 0, [[4, 2, 6], [4, 8, 3]]),
    ],
)
def test_elements_are_selected_as_in_the_examples(data: object, indices: object, axis: int, output: object) -> None:
    """Of the page."""
    given = arguments(data, indices, axis)
    assert GATHER_ELEMENTS.evaluate(given)[0].array.tolist() == output
    assert [x.shape for x in GATHER_ELEMENTS.infer(given)] == [np.array(output).shape]


@pytest.mark.parametrize(
    ("indices", "axis", "violated"),
    [
        ([[0, 2]], 0, "indices.range"),
        ([[0, -1]], 0, "indices.negative"),
        ([[0]], 0, "indices.shape"),
        ([0, 1], 0, "indices.rank"),
        ([[0, 1]], 2, "axis.range"),
    ],
)
def test_indices_have_the_shape_of_data_beside_the_axis(indices: object, axis: int, violated: str) -> None:
    """And select elements that exist."""
    assert GATHER_ELEMENTS.judged(arguments([[1, 2], [3, 4]], indices, axis))[1] == (violated,)


def test_facts_tell_repeated_and_longer_indices() -> None:
    """And the last axis."""
    repeated, longer, last = GATHER_ELEMENTS.facts
    assert list(GATHER_ELEMENTS.facts_of(arguments([[1, 2]], [[0, 0]], 1))) == [repeated, last]
    assert list(GATHER_ELEMENTS.facts_of(arguments([[1], [2]], [[0], [1], [1]], 0))) == [repeated, longer]
    assert list(GATHER_ELEMENTS.facts_of(arguments([[1], [2]], [[1], [0]], 0))) == []
