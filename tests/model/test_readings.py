"""Where other readings touch a case: by the semantics, and not by what its group lists."""

from dataclasses import replace
from pathlib import Path

import pytest

from opconform.generation.expansion import expand
from opconform.model.draft import Draft
from opconform.model.golden import golden_of
from opconform.model.readings import other_readings
from opconform.specs.loader import load_spec
from opconform.suite.manifest import OtherReadings
from opconform_runners.tools.fuzz.trial import decided

PAD = """\
op: Pad-12
groups:
  - id: a
    title: t
    requirements: [{requirements}]
    data: {{shape: [{size}]}}
    pads_begin: [{begin}]
    pads_end: [{end}]
    pad_mode: {mode}
    {more}
"""
SLICED = """\
op: StridedSlice-1
groups:
  - id: a
    title: t
    data: {{shape: [5], element_type: i32}}
    begin: [{begin}]
    end: [{end}]
    stride: [{stride}]
    begin_mask: [0]
    end_mask: [{mask}]
"""

FOLDED = """\
op: Col2Im-15
groups:
  - id: a
    title: t
    data: {{shape: [4, 6], element_type: {element_type}, fill: special}}
    output_size: [2, {columns}]
    kernel_size: [2, 2]
    strides: [1, {stride}]
    dilations: [1, 1]
    pads_begin: [0, 0]
    pads_end: [0, 0]
"""


def draft(tmp_path: Path, text: str) -> Draft:
    """The first draft of a spec."""
    path = tmp_path / "spec.yaml"
    path.write_text(text)
    return next(expand(load_spec(path).groups[0]))


def pad(
    tmp_path: Path,
    begin: int,
    end: int,
    *,
    size: int = 4,
    mode: str = "constant",
    listed: str = "outputs.shape",
    more: str = "",
) -> Draft:
    """A draft of Pad-12."""
    text = PAD.format(requirements=listed, size=size, begin=begin, end=end, mode=mode, more=more)
    return draft(tmp_path, text)


def of(given: Draft) -> OtherReadings:
    """The other readings that touch a draft."""
    return other_readings(golden_of(given, 0))


@pytest.mark.parametrize(
    ("begin", "end", "mode", "touched"),
    [
        (-5, 0, "constant", True),
        (-5, 3, "edge", True),
        (-3, -2, "reflect", True),
        (-4, 0, "constant", False),
        (-4, 3, "edge", False),
        (3, -4, "symmetric", False),
    ],
)
def test_a_case_that_lists_no_interpretation_is_touched_by_its_arguments(
    tmp_path: Path, begin: int, end: int, mode: str, touched: bool
) -> None:
    """It then lists the interpretation, and another reading rejects it."""
    found = pad(tmp_path, begin, end, mode=mode)

    assert found.requirements == ("outputs.shape", *(["pads.beyond"] if touched else []))
    assert of(found) == OtherReadings(reject=("pads.beyond",) if touched else ())


def test_an_interpretation_that_touches_nothing_is_not_listed(tmp_path: Path) -> None:
    """Whatever the group says: a rejection of this case would be excused otherwise."""
    assert pad(tmp_path, -1, 0, listed="pads.beyond, outputs.shape").requirements == ("outputs.shape",)


def test_a_twin_and_a_node_behind_another_one_are_touched(tmp_path: Path) -> None:
    """The second pad of a chain has fewer elements to remove."""
    path = tmp_path / "twin.yaml"
    more = "expect: {reject: reflect.limit}\n    twin: {pads_begin: [-5]}"
    path.write_text(PAD.format(requirements="reflect.limit", size=4, begin=9, end=0, mode="reflect", more=more))
    rejected, twin = expand(load_spec(path).groups[0])
    chained = pad(tmp_path, -3, 0, more="context: chain")

    assert rejected.requirements == ("reflect.limit",)
    assert of(rejected) == OtherReadings()
    assert twin.requirements == ("reflect.limit", "pads.beyond")
    assert chained.requirements == ("outputs.shape", "pads.beyond")


@pytest.mark.parametrize(
    ("begin", "end", "stride", "mask", "names"),
    [
        (2, 2, 1, 0, [("bounds.equal",)]),
        (2, 2, -1, 0, [("bounds.equal",)]),
        (2, 3, 1, 0, []),
        (4, 0, -1, 1, [("end_mask.backwards",)]),
        (-9, -9, -1, 0, [("bounds.before-first",)]),
        (-9, 0, -1, 1, [("bounds.before-first", "end_mask.backwards")]),
        (-9, 3, -1, 0, []),
        (9, 9, -1, 0, []),
    ],
)
def test_the_outputs_of_other_readings_are_known_by_their_digest(
    tmp_path: Path, begin: int, end: int, stride: int, mask: int, names: list[tuple[str, ...]]
) -> None:
    """Where two readings give the same outputs, both are named. Where both together give the golden ones, that is not a deviation."""
    found = of(draft(tmp_path, SLICED.format(begin=begin, end=end, stride=stride, mask=mask)))

    assert sorted(found.outputs.values()) == sorted(names)


@pytest.mark.parametrize(
    ("element_type", "columns", "stride", "names"),
    [
        ("f32", 12, 2, {("data.negative-zero",)}),  # whatever the sums leave of a NaN
        ("i32", 12, 2, set()),
        ("i32", 7, 1, {("blocks.added",)}),
    ],
)
def test_an_operation_that_computes_is_touched_by_elements_that_are_filled(
    tmp_path: Path, element_type: str, columns: int, stride: int, names: set[tuple[str, ...]]
) -> None:
    """Its draft does not know them: here special numbers, among them -0 and NaNs."""
    found = of(draft(tmp_path, FOLDED.format(element_type=element_type, columns=columns, stride=stride)))

    assert {*found.outputs.values(), *((name,) for name in found.elements)} == names


def test_another_reading_can_make_the_next_operation_reject_the_model(tmp_path: Path) -> None:
    """A slice of four elements cannot become the five that the model asks for."""
    sliced = SLICED.format(begin=4, end=0, stride=-1, mask=1)
    found = of(draft(tmp_path, f"{sliced}    then: {{op: Reshape-1, shape: [5], special_zero: false}}\n"))

    assert found == OtherReadings(reject=("end_mask.backwards",))


def test_a_drawn_case_is_touched_by_its_arguments(tmp_path: Path) -> None:
    """`fuzz` does not report what another reading rejects as a fault of another requirement."""
    found = decided(replace(pad(tmp_path, -6, 3), requirements=()))

    assert found is not None
    assert found.requirements == ("data.bits", "data.nan-payload", "pads.beyond")
