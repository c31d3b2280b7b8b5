"""Small valid cases of calls: sizes for unknown dimensions, and small numbers that mean what large ones did."""

import math

import pytest

from opconform.model.draft import Draft
from opconform.suite.case import Attribute
from opconform_runners.tools.from_model.instance import instance_of
from opconform_runners.tools.from_model.models.node import Call, Known, constant, integers
from opconform_runners.tools.from_model.variants import variants_of
from opconform_runners.tools.fuzz.trial import is_defined


def data(*dimensions: int | str, is_constant: bool = False) -> Known:
    """Data of f32."""
    return Known(element_type="f32", dimensions=dimensions, is_constant=is_constant)


def found(op: str, inputs: dict[str, Known], **attributes: Attribute) -> Draft:
    """The case of a call that has one."""
    draft = instance_of(Call(op=op, inputs=inputs, attributes=attributes))
    assert draft is not None
    return draft


def test_large_dimensions_become_small_and_stay_distinct() -> None:
    """A transposition of equal sizes would not be seen."""
    draft = found("Transpose-1", {"arg": data(1, 64, 160, 320), "input_order": integers([0, 2, 3, 1])})

    shape = draft.tensors["arg"].shape
    assert len({*shape}) == 4
    assert shape[0] == 1
    assert max(shape) < 9
    assert draft.tensors["input_order"].elements == (0, 2, 3, 1)


@pytest.mark.parametrize(
    ("start", "stop", "selected"),
    [
        (0, 32, slice(0, -1)),
        (32, 64, slice(1, None)),
        (0, 9223372036854775807, slice(None)),
        (-16, 64, slice(1, None)),
    ],
)
def test_the_bounds_of_a_slice_are_scaled_with_the_dimension(start: int, stop: int, selected: slice) -> None:
    """What was all of the dimension, its beginning or its end stays so; what stands for the end is kept."""
    inputs = {"data": data(2, 64), "start": integers([start]), "stop": integers([stop]), "step": integers([1])}
    draft = found("Slice-8", {**inputs, "axes": integers([1])})

    size = draft.tensors["data"].shape[1]
    begin, end = (int(draft.tensors[name].elements[0]) for name in ("start", "stop"))
    kept, whole = range(size)[begin:end], range(size)[selected]
    assert size < 9
    assert kept
    assert {*kept} <= {*whole}
    assert (len(kept) == size) is (selected == slice(None))


def test_the_lengths_of_a_split_still_have_the_sum_of_the_dimension() -> None:
    """A split of 64 into 16 and 48 is one of fewer elements."""
    inputs = {"data": data("N", 64), "axis": integers(1), "split_lengths": integers([16, 48])}
    draft = found("VariadicSplit-1", inputs)

    lengths = [int(x) for x in draft.tensors["split_lengths"].elements]
    assert sum(lengths) == draft.tensors["data"].shape[1] <= 16
    assert 0 < lengths[0] < lengths[1]
    assert draft.dynamic["data"][0] == "?"


def test_a_product_of_dimensions_is_scaled_with_them() -> None:
    """A reshape of 40 by 40 into 1,600."""
    draft = found("Reshape-1", {"data": data(1, 64, 40, 40), "shape": integers([1, 64, 1600])}, special_zero=True)

    shape = draft.tensors["data"].shape
    assert shape[2] == shape[3] < 9
    assert draft.tensors["shape"].elements == (1, shape[1], shape[2] * shape[3])


def test_unknown_dimensions_get_valid_sizes_and_are_declared_unknown() -> None:
    """The dimensions beside the axis of a Concat must be equal."""
    draft = found("Concat-1", {"inputs_0": data("N", 3, "a"), "inputs_1": data("N", "c", "b")}, axis=1)

    first, second = (draft.tensors[name].shape for name in ("inputs_0", "inputs_1"))
    assert (first[0], first[2]) == (second[0], second[2])
    assert draft.dynamic == {"inputs_0": ("?", 3, "?"), "inputs_1": ("?", "?", "?")}


def test_a_squeezed_dimension_of_unknown_size_is_1() -> None:
    """Of the valid sizes, the least unusual one."""
    draft = found("Squeeze-1", {"data": data("a", "b", "c"), "axes": integers([1])})

    assert draft.tensors["data"].shape[1] == 1


def test_data_of_unknown_rank_gets_a_rank_that_fits() -> None:
    """The order of a transposition says it."""
    arg = Known(element_type="f32", dimensions=None)
    draft = found("Transpose-1", {"arg": arg, "input_order": integers([1, 0, 2, 4, 3])})

    assert len(draft.tensors["arg"].shape) == 5


def test_a_setting_that_is_not_known_is_fed_at_run_time() -> None:
    """Its values are some that are valid."""
    shape = Known(element_type="i64", dimensions=(2,))
    draft = found("Reshape-1", {"data": data("N", 6), "shape": shape}, special_zero=True)

    assert draft.binding["shape"] == "parameter"
    assert draft.rejected_for is None


def test_constant_data_is_a_constant_beside_data_that_is_fed() -> None:
    """A constant input of a Concat stays one, but a use of constants alone would be folded."""
    both = found("Concat-1", {"inputs_0": data(2), "inputs_1": data(3, is_constant=True)}, axis=0)
    alone = found("Concat-1", {"inputs_0": data(2, is_constant=True)}, axis=0)

    assert both.binding == {"inputs_0": "parameter", "inputs_1": "constant"}
    assert alone.binding == {"inputs_0": "parameter"}


def test_an_index_is_within_data_of_unknown_size() -> None:
    """Beyond it, ONNX has an error, and Gather-8 zeros."""
    draft = found("Gather-8", {"data": data("a"), "indices": integers([1]), "axis": integers(0)}, batch_dims=0)

    assert draft.tensors["data"].shape == (2,)


def test_indices_at_run_time_select_different_elements() -> None:
    """A backend that ignores them fails."""
    indices = Known(element_type="i64", dimensions=(2,))
    draft = found("Gather-8", {"data": data("N", 4), "indices": indices, "axis": integers(1)}, batch_dims=0)

    assert draft.tensors["indices"].elements == (1, 0)


def test_a_mask_of_infinities_is_kept() -> None:
    """It says what is left out; other constants are filled."""
    mask, bias = (constant("f32", (2, 2), numbers) for numbers in ([0.0, -math.inf, 0.0, 0.0], [0.5, 0.25, 0.0, 0.0]))
    draft = found("Add-1", {"a": data("N", 2, 2), "b": mask}, auto_broadcast="numpy")
    other = found("Add-1", {"a": data("N", 2, 2), "b": bias}, auto_broadcast="numpy")

    assert draft.tensors["b"].elements == (0.0, -math.inf, 0.0, 0.0)
    assert other.tensors["b"].fill == "ramp"


def test_unknown_sizes_are_also_broadcast() -> None:
    """Each input in turn has 1 in place of them."""
    draft = found("Add-1", {"a": data("N", "M", 4), "b": data("N", "M", 4)}, auto_broadcast="numpy")
    made = {
        x.word: x.trial.draft.tensors
        for x in variants_of(draft, (), is_convolved=False)
        if x.word.startswith("broadcast")
    }

    assert {word: (x["a"].shape, x["b"].shape) for word, x in made.items()} == {
        "broadcast-1": ((1, 1, 4), (2, 3, 4)),
        "broadcast-2": ((2, 3, 4), (1, 1, 4)),
    }


def test_every_case_beside_a_use_has_results() -> None:
    """No sum of drawn numbers whose order decides whether it is finite."""
    inputs = {"data": data("N", 2, 1, 1), "filters": data(6, 2, 1, 1, is_constant=True)}
    windows = {"strides": (1, 1), "dilations": (1, 1), "pads_begin": (0, 0), "pads_end": (0, 0)}
    draft = found("Convolution-1", inputs, **windows, auto_pad="explicit")
    trials = [x.trial for x in variants_of(draft, (), is_convolved=False)]

    assert [trial for trial in trials if not is_defined(trial, 0)] == []


def test_a_call_that_nothing_makes_valid_has_no_case() -> None:
    """Its axis is out of range whatever the sizes are."""
    assert instance_of(Call(op="Concat-1", inputs={"inputs_0": data(2, "a")}, attributes={"axis": 5})) is None
