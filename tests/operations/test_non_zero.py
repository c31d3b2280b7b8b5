"""NonZero-3: each clause of its page, and numpy's own function."""

from collections.abc import Iterator

import numpy as np
import pytest

from opconform.generation.expansion import expand
from opconform.model.draft import Draft
from opconform.model.golden import golden_of
from opconform.operations.arguments import Arguments, Operand, Rejection
from opconform.operations.movement.non_zero import NON_ZERO
from opconform.specs.loader import load_specs
from opconform.specs.requirements import cases_of
from opconform.tensors.tensor import Tensor


def arguments(data: object, element_type: str = "f32", **attributes: str) -> Arguments:
    """Arguments of nested numbers."""
    array = np.array(data, object if element_type == "string" else np.float32)
    tensor = Tensor(element_type=element_type, array=array)
    operand = Operand(element_type=element_type, shape=array.shape, tensor=tensor)
    return NON_ZERO.arguments({"data": operand}, attributes)


def indices(data: object, **attributes: str) -> list[object]:
    """The output as nested lists; its type is the one that was inferred."""
    given = arguments(data, **attributes)
    [output] = NON_ZERO.evaluate(given)
    [type_] = NON_ZERO.infer(given)
    assert (type_.element_type, type_.shape) == (output.element_type, output.shape)
    rows: list[object] = output.array.tolist()
    return rows


def accepted() -> Iterator[Draft]:
    """The valid cases of all profiles with the operation alone."""
    for group in (group for spec in load_specs([cases_of("NonZero-3")]) for group in spec.groups):
        yield from (x for x in expand(group) if x.rejected_for is None and not x.has_other_nodes)


def test_goldens_agree_with_numpy() -> None:
    """With `numpy.nonzero`, for every type that numpy or ml_dtypes has, in every inference of every valid case."""
    count = 0
    for draft in accepted():
        golden = golden_of(draft, 0)
        for feed, outputs in zip(golden.inputs, golden.outputs, strict=True):
            data, [output] = feed["data"], outputs
            if data.type.kind == "lookup":
                continue
            expected = np.nonzero(np.atleast_1d(data.array.view(data.type.arithmetic)))
            if data.shape == ():
                assert output.shape == (0, len(expected[0])), draft.id
            else:
                assert np.array_equal(output.array, expected), draft.id
            count += 1
    assert count > 300


def test_the_page_s_example() -> None:
    """The columns are the tuples of the page."""
    assert indices([[1, 0], [1, 1]]) == [[0, 1, 1], [0, 0, 1]]


@pytest.mark.parametrize(("data", "shape"), [(5.0, (0, 1)), (0.0, (0, 0)), ([], (1, 0)), ([[], []], (2, 0))])
def test_a_row_is_a_dimension_and_a_column_is_an_element(data: object, shape: tuple[int, ...]) -> None:
    """A scalar has no dimensions, so its index has no elements."""
    [output] = NON_ZERO.evaluate(arguments(data))

    assert output.shape == shape


def test_nan_is_other_than_zero_and_a_negative_zero_is_not() -> None:
    """As numbers."""
    assert indices([-0.0, np.nan, 0.0, 1e-45]) == [[1, 3]]


@pytest.mark.parametrize(("name", "other"), [("data.negative-zero", [[0, 1, 3]]), ("data.nan", [[3]])])
def test_another_reading_gives_other_indices(name: str, other: list[list[int]]) -> None:
    """Kernels that compare bits, and those that ask for less and greater."""
    [computes] = NON_ZERO.readings[name].computes
    [output] = computes(arguments([-0.0, np.nan, 0.0, 1.0]))

    assert output.array.tolist() == other


def test_strings_are_rejected() -> None:
    """The page does not say which of them are zero."""
    with pytest.raises(Rejection) as rejection:
        NON_ZERO.evaluate(arguments(["", "0"], "string"))
    assert rejection.value.requirements == ("data.strings",)
