"""Groups of every operation: the cases that they make of an operation's samples."""

from pathlib import Path

import pytest

from opconform.generation.expansion import expand
from opconform.model.draft import Draft
from opconform.operations import OPERATIONS
from opconform.specs.every.groups import every_group_ids
from opconform.specs.index import shipped_files
from opconform.specs.loader import load_spec, shipped_operations
from opconform.specs.yaml_document import SpecMistakes

#: The operations without a setting input.
_ATTRIBUTES_ONLY = {op for op in shipped_operations() if not any(port.setting for port in OPERATIONS[op].inputs)}
_NUMERIC = ("int", "ints", "float")
#: Those of them without an attribute that has numbers.
_NO_INTEGERS = {op for op in _ATTRIBUTES_ONLY if not any(spec.type in _NUMERIC for spec in OPERATIONS[op].attributes)}
#: The operations on numbers of the common floating-point types alone.
_REALS = {op for op in shipped_operations() if OPERATIONS[op].inputs[0].types == ("bf16", "f16", "f32", "f64")}
#: The operations on strings, whose ports have one type.
_STRINGS = {"StringTensorPack-15", "StringTensorUnpack-15"}
#: The operations on several types of data, without strings.
_NO_TEXTS = {
    op
    for op in shipped_operations()
    if all(port.types is not None and "string" not in port.types for port in OPERATIONS[op].data)
    and any(len(port.types or ()) > 1 for port in OPERATIONS[op].data)
}
#: The operations with the axes as their only setting.
_REDUCTIONS = {f"Reduce{name}-1" for name in ("Max", "Mean", "Prod", "Sum")}
#: The operations on two tensors, without an attribute that is an integer.
_BINARY = {
    f"{name}-1"
    for name in [
        "Add",
        "Divide",
        "Equal",
        "FloorMod",
        "Less",
        "LogicalAnd",
        "Maximum",
        "Minimum",
        "Multiply",
        "Power",
        "Select",
        "Subtract",
    ]
}
#: Groups that need a sample or a port that an operation may lack, with the operations that have none.
WITHOUT = {
    "element-types-in-breadth": {"StringTensorUnpack-15"},
    "extended-types": {"Log-1", "LogicalAnd-1", "ReduceMean-1", "StringTensorPack-15", *_REALS},
    "types-folded": {"StringTensorPack-15"},
    "types-in-contexts": {"StringTensorPack-15"},
    # whose data has few dimensions
    "behind-a-convolution": {"Col2Im-15", "GatherTree-1", "LogicalAnd-1", "Select-1", "Sqrt-1", *_STRINGS},
    "high-ranks": {"Col2Im-15", "Convolution-1", "ExtractImagePatches-3", "GatherTree-1", "StringTensorPack-15"},
    "one-setting-at-run-time": {
        *_ATTRIBUTES_ONLY,
        *_REDUCTIONS,
        "Concat-1",
        "CumSum-3",
        "GatherElements-6",
        "GatherND-5",
        "GatherND-8",
        "MVN-6",
        "Reshape-1",
        "Reverse-1",
        "ReverseSequence-1",
        "ScatterNDUpdate-3",
        "ScatterNDUpdate-15",
        "Select-1",
        "Split-1",
        "Squeeze-1",
        "Squeeze-15",
        "Tile-1",
        "TopK-11",
        "Transpose-1",
        "Unique-10",
        "Unsqueeze-1",
    },
    "run-time": {"Concat-1", "Unique-10", *_ATTRIBUTES_ONLY},
    "settings-only-at-run-time": {"Concat-1", "Unique-10", *_ATTRIBUTES_ONLY},
    "extreme-values": {
        *_NO_INTEGERS,
        "Convert-1",
        "GatherTree-1",
        "ShapeOf-1",
        "ShapeOf-3",
        "StringTensorUnpack-15",
        *_BINARY,
    },
    "extreme-values-in-a-second-inference": {*_ATTRIBUTES_ONLY, "Concat-1", "GatherTree-1", "Select-1", "Unique-10"},
    "wrong-arguments": {"Convert-1", "Equal-1", "Less-1", "MatMul-1", "ShapeOf-1", "ShapeOf-3"},
    # whose first sample has a mode that strings cannot have, or numbers, or that take no strings
    "texts-folded": {"Pad-1", "Pad-12", "Unique-10", *_NO_TEXTS},
    # whose page has no result without elements
    "without-elements": {"ReduceMax-1"},
    "zero-sizes": {"ReduceMax-1"},
    "types-of-settings": {"Concat-1", "Select-1", *_ATTRIBUTES_ONLY},
    # that compute, or whose samples have an even number of elements
    "odd-half-bytes": {
        "Abs-1",
        "Add-1",
        "BatchToSpace-2",
        "Clamp-1",
        "Col2Im-15",
        "Concat-1",
        "Convolution-1",
        "CumSum-3",
        "DepthToSpace-1",
        "Divide-1",
        "Equal-1",
        "Erf-1",
        "Exp-1",
        "ExtractImagePatches-3",
        "FloorMod-1",
        "Gelu-7",
        "Less-1",
        "Log-1",
        "LogicalAnd-1",
        "MatMul-1",
        "Maximum-1",
        "Minimum-1",
        "Multiply-1",
        "MVN-6",
        "Negative-1",
        "Power-1",
        "ReduceMax-1",
        "ReduceMean-1",
        "ReduceProd-1",
        "ReduceSum-1",
        "ReLU-1",
        "Sigmoid-1",
        "SoftMax-8",
        "SpaceToBatch-2",
        "SpaceToDepth-1",
        "Split-1",
        "Sqrt-1",
        "StringTensorPack-15",
        "StringTensorUnpack-15",
        "Subtract-1",
        "Tanh-1",
        "TopK-11",
        "Unique-10",
    },
}

SAMPLES = """\
op: Transpose-1
requirements: [order.direction]
samples:
  rows: {arg: {shape: [3, 4]}, input_order: [1, 0], second: [{input_order: [0, 1]}, {arg: {shape: [5, 4]}}]}
  high: {arg: {shape: [1, 1, 1, 1, 1, 1, 1, 1, 2]}, input_order: [8, 1, 2, 3, 4, 5, 6, 7, 0]}
"""


def drafts(tmp_path: Path, text: str = SAMPLES) -> dict[str, list[Draft]]:
    """The cases of the groups of samples, by the groups' ids."""
    path = tmp_path / "samples.yaml"
    path.write_text(text)
    return {group.id: list(expand(group)) for group in load_spec(path).groups}


def mistake(tmp_path: Path, text: str) -> str:
    """The first mistake of some samples, without the folder."""
    with pytest.raises(SpecMistakes) as raised:
        drafts(tmp_path, text)
    return str(raised.value).splitlines()[0].removeprefix(f"{tmp_path}/")


@pytest.mark.ci_only
def test_every_group_has_cases_of_every_operation() -> None:
    """A group without one for an operation is listed above, and the list has no others."""
    names, lacking = {*every_group_ids()} - {"large"}, set()
    for op in shipped_operations():
        groups = load_spec(shipped_files()[f"{op}/samples.yaml"]).groups
        has_cases = {group.id for group in groups if group.id in names and any(True for _ in expand(group))}
        lacking |= {(op, name) for name in names - has_cases}
    assert lacking == {(op, group) for group, ops in WITHOUT.items() for op in ops}


def test_every_operation_has_samples_of_twelve_dimensions_and_of_none() -> None:
    """Ranks up to 12, and dimensions of 0."""
    for op in shipped_operations():
        samples = load_spec(shipped_files()[f"{op}/samples.yaml"]).groups[0].samples
        assert samples is not None
        described = list(samples.described())
        assert op in WITHOUT["high-ranks"] | _STRINGS or {9, 12} <= {x["rank"] for x in described}, op
        assert op in WITHOUT["zero-sizes"] or any(x["elements"] == 0 for x in described), op


def test_a_group_overrides_the_data_of_a_sample(tmp_path: Path) -> None:
    """Its element type and fill; the settings stay."""
    found = drafts(tmp_path)["element-types"]
    assert [(hit.tensors["arg"].element_type, hit.tensors["arg"].fill) for hit in found][:2] == [
        ("boolean", "special"),
        ("bf16", "special"),
    ]
    assert {hit.tensors["input_order"].elements for hit in found} == {(1, 0)}
    assert [hit.essential for hit in found].count(True) == 1


def test_a_second_feed_frees_what_it_changes(tmp_path: Path) -> None:
    """A changed setting comes at run time, and a changed dimension is dynamic; the last feed has only other data."""
    settings, shape, data, *_ = drafts(tmp_path)["second-feed"]
    assert settings.binding == {"arg": "parameter", "input_order": "parameter"}
    assert settings.dynamic == {}
    assert shape.binding == {"arg": "parameter", "input_order": "constant"}
    assert shape.dynamic == {"arg": ("?", 4)}
    assert (data.dynamic, list(data.second or {})) == ({}, ["arg"])


def test_requirements_are_those_of_the_samples_and_of_the_ports(tmp_path: Path) -> None:
    """`data` and `settings` stand for ports, and an id that the operation lacks is dropped."""
    found = drafts(tmp_path)
    assert found["element-types"][0].requirements == (
        "arg.element-type",
        "arg.bits",
        "arg.nan-payload",
        "outputs.element-type",
    )
    assert found["types-of-settings"][0].requirements == ("order.element-type", "order.direction")


def test_what_a_group_makes_invalid_is_left_out(tmp_path: Path) -> None:
    """A neighbour that does not accept the output; every integer type but the default one has the values."""
    found = drafts(tmp_path)
    types = {
        type_.tensors["input_order"].element_type for type_ in found["types-of-settings"] if len(type_.attributes) == 0
    }
    assert types == set(OPERATIONS["Transpose-1"].inputs[1].types or ()) - {"i64"}
    neighbours = {x.then.op for x in found["then"] if x.then}
    assert {"Concat-1", "Transpose-1"} <= neighbours
    assert all(not x.inferences[0].violated for x in found["then"])


def test_an_invalid_sample_is_a_mistake(tmp_path: Path) -> None:
    """With the place of the sample, and the violated requirement."""
    text = SAMPLES.replace("[3, 4]}, input_order: [1, 0]", "[3, 4]}, input_order: [1, 1]")
    assert mistake(tmp_path, text).startswith("samples.yaml:4:9: group 'rows': expect: ")
    assert "order.unique" in mistake(tmp_path, text)


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        (
            "order.direction",
            "order.dirction",
            "samples.yaml:2:16: 'order.dirction' is not a requirement of Transpose-1.",
        ),
        ("samples:", "seen: {type: [a/b#1]}\nsamples:", "samples.yaml:3:8: 'type' is not a group in cases/every."),
        ("input_order: [1, 0]", "order: [1, 0]", "samples.yaml:4:32: Unknown key 'order'."),
    ],
)
def test_mistakes_have_places(tmp_path: Path, before: str, after: str, sentence: str) -> None:
    """Line and column in the file of samples."""
    assert mistake(tmp_path, SAMPLES.replace(before, after)).startswith(sentence)
