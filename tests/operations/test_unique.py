"""Unique-10: each clause of its page, and numpy's own function."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from opconform.generation.expansion import expand
from opconform.model.draft import Draft
from opconform.model.golden import golden_of
from opconform.model.graph import declared
from opconform.operations.arguments import Arguments, Operand
from opconform.operations.movement.unique import UNIQUE
from opconform.specs.loader import load_specs
from opconform.specs.requirements import cases_of
from opconform.tensors.tensor import Array, Tensor

EXAMPLE = [[2.0, 3.0, 1.0], [1.0, 3.0, 3.0], [2.0, 3.0, 1.0]]


def arguments(data: object, axis: int | None = None, **attributes: str | bool) -> Arguments:
    """Arguments of nested numbers."""
    array = np.array(data, np.float32)
    inputs = {"data": Operand(element_type="f32", shape=array.shape, tensor=Tensor(element_type="f32", array=array))}
    if axis is not None:
        inputs["axis"] = Operand(element_type="i64", shape=(), integers=(axis,))
    return UNIQUE.arguments(inputs, attributes)


def results(given: Arguments) -> list[object]:
    """The outputs as nested lists; their types are those that were inferred."""
    outputs = UNIQUE.evaluate(given)
    assert [(x.element_type, x.shape) for x in UNIQUE.infer(given)] == [(x.element_type, x.shape) for x in outputs]
    return [x.array.tolist() for x in outputs]


def accepted() -> Iterator[Draft]:
    """The valid cases of all profiles with the operation alone."""
    for group in (group for spec in load_specs([cases_of("Unique-10")]) for group in spec.groups):
        yield from (x for x in expand(group) if x.rejected_for is None and not x.has_other_nodes)


def by_numpy(data: Tensor, axis: int | None, *, is_sorted: bool) -> list[Array]:
    """The outputs of `numpy.unique`, in the order of first occurrences unless they are sorted."""
    array = data.array.view(data.type.arithmetic) if data.element_type != "string" else data.array
    values, firsts, reverse, counts = np.unique(array, True, True, True, axis=axis)
    order = np.arange(len(firsts)) if is_sorted else np.argsort(firsts)
    reverse = np.argsort(order)[reverse.ravel()]
    return [np.take(values, order, axis or 0), firsts[order], reverse, counts[order]]


@pytest.mark.ci_only
def test_goldens_agree_with_numpy() -> None:
    """With `numpy.unique`, for every type that it sorts, in every inference of every valid case."""
    count = 0
    for draft in accepted():
        golden = golden_of(draft, 0)
        for feed, outputs in zip(golden.inputs, golden.outputs, strict=True):
            data, axis = feed["data"], feed["axis"].integers()[0] if "axis" in feed else None
            if data.type.storage != data.type.arithmetic or data.element_type in ("i4", "nf4") or not data.array.size:
                continue
            for output, expected in zip(
                outputs, by_numpy(data, axis, is_sorted=draft.attributes.get("sorted") is not False), strict=True
            ):
                assert output.array.tolist() == expected.tolist(), draft.id
            count += 1
    assert count > 600


@pytest.mark.parametrize(
    ("given", "outputs"),
    [
        (arguments(EXAMPLE, 0, sorted=False), [[EXAMPLE[0], EXAMPLE[1]], [0, 1], [0, 1, 0], [2, 1]]),
        (arguments(EXAMPLE, 0), [[EXAMPLE[1], EXAMPLE[0]], [1, 0], [1, 0, 1], [1, 2]]),
        (arguments(EXAMPLE), [[1, 2, 3], [2, 0, 1], [1, 2, 0, 0, 2, 2, 1, 2, 0], [3, 2, 4]]),
        (arguments(EXAMPLE, sorted=False), [[2, 3, 1], [0, 1, 2], [0, 1, 2, 2, 1, 1, 0, 1, 2], [2, 4, 3]]),
        (arguments(7), [[7], [0], [0], [1]]),
        (arguments(np.zeros((3, 0)), 0), [[[]], [0], [0, 0, 0], [3]]),
        (arguments(np.zeros((0, 3)), 0), [[], [], [], []]),
        (arguments([1, -0.0, 0.0]), [[0, 1], [1, 0], [1, 0, 0], [2, 1]]),
    ],
)
def test_elements_and_slices_are_unique(given: Arguments, outputs: list[object]) -> None:
    """With the places of first occurrences, reverse indices and counts."""
    assert results(given) == outputs


def test_types_of_indices_and_counts_are_attributes() -> None:
    """Both are i64 by default."""
    types = [x.element_type for x in UNIQUE.infer(arguments([1], index_element_type="i32"))]
    assert types == ["f32", "i32", "i32", "i64"]
    assert UNIQUE.infer(arguments([1], count_element_type="i32"))[3].element_type == "i32"


@pytest.mark.ci_only
def test_shapes_are_known_for_constants_alone() -> None:
    """A model leaves the other ones open, also where the elements of its first inference are known."""
    for draft in accepted():
        is_constant = set(draft.binding.values()) == {"constant"}
        dimensions = [x for name, x in declared(draft, golden_of(draft, 0).graph).items() if name.startswith("Unique")]
        assert all((None not in x.dimensions) is is_constant for x in dimensions), draft.id
    unknown = Arguments(
        inputs={"data": Operand(element_type="f32", shape=(2, 3))}, attributes=arguments([1]).attributes
    )
    assert [x.shape for x in UNIQUE.infer(unknown)] == [(6,), (6,), (6,), (6,)]


def test_an_axis_at_run_time_is_refused() -> None:
    """The page connects it to a constant, since it decides the rank of the outputs."""
    given = arguments([[1, 1], [2, 2]], 0)
    late = replace(given, inputs={**given.inputs, "axis": replace(given.inputs["axis"], is_given_at_run_time=True)})

    assert UNIQUE.judged(given)[1] == ()
    assert UNIQUE.judged(late)[1] == ("axis.constant",)


def test_other_readings_compare_bits_and_the_last_element_first() -> None:
    """And reject slices without elements."""
    same = arguments([[1, 1], [2, 2]], 0)
    for name, given, kept in (
        ("data.signed-zero", arguments([1, -0.0, 0.0]), [-0.0, 0.0, 1]),
        ("slices.order", arguments([[1, 2], [2, 1]], 0), [[2, 1], [1, 2]]),
    ):
        [rewrite] = UNIQUE.readings[name].rewrites
        assert results(rewrite(given))[0] == kept
        assert rewrite(same) is same
    assert UNIQUE.readings["slices.empty"].rejects(arguments(np.zeros((3, 0)), 0))
