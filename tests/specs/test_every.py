"""Groups of every operation: the cases that they make of an operation's samples."""

from pathlib import Path

import pytest

from opconform.generation.expansion import expand
from opconform.model.draft import Draft
from opconform.operations import OPERATIONS
from opconform.specs.loader import load_spec
from opconform.specs.yaml_document import SpecMistakes

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
