"""What the files of one version of an operation take over from those of another one."""

from pathlib import Path

import pytest

from opconform.specs.every.groups import digest_of, neighbours
from opconform.specs.index import shipped_files, shipped_groups
from opconform.specs.loader import load_spec
from opconform.specs.requirements import cases_of, requirements_of
from opconform.specs.versions import completed
from opconform.specs.yaml_document import SpecMistakes, read_document

SAMPLES = """\
op: Gather-7
like: Gather-8
without: [batches]
samples: {columns: {indices: [6, 0]}}
"""


def test_a_version_has_the_requirements_of_another_one_but_for_what_differs() -> None:
    """Changed ones keep their place, and new ones come last; all are in the pages of the version."""
    newer, older = requirements_of("GatherND-8"), requirements_of("GatherND-5")

    assert [x.id for x in older.requirements] == [
        *(x.id for x in newer.requirements if x.id != "indices.negative"),
        "outputs.batches",
    ]
    assert older.by_id["indices.range"].text == "An index into a dimension of size s is in the range 0 .. s-1."
    assert older.by_id["data.rank"].text == newer.by_id["data.rank"].text
    assert {y for x in older.requirements for source in x.sources for y in source.revisions} == {"rst"}


def test_a_version_has_the_samples_of_another_one_with_changes(tmp_path: Path) -> None:
    """A sample is changed key by key, and one is left out."""
    (path := tmp_path / "samples.yaml").write_text(SAMPLES)
    newer = read_document(cases_of("Gather-8") / "samples.yaml", "newer").value["samples"]

    older = completed(read_document(path, "older"), "samples.yaml", cases_of).value["samples"]

    assert older == {
        **{name: sample for name, sample in newer.items() if name != "batches"},
        "columns": {**newer["columns"], "indices": [6, 0]},
    }


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ("Gather-8", "Gather-9", "2:7: like: 'Gather-9' is not another operation with samples.yaml."),
        ("Gather-8", "Gather-7", "2:7: like: 'Gather-7' is not another operation with samples.yaml."),
        ("[batches]", "[batch]", "3:10: without: Gather-8 has no batch."),
    ],
)
def test_what_another_version_does_not_have_is_an_error(tmp_path: Path, before: str, after: str, sentence: str) -> None:
    """With its place."""
    (path := tmp_path / "samples.yaml").write_text(SAMPLES.replace(before, after))
    with pytest.raises(SpecMistakes) as raised:
        load_spec(path)
    assert str(raised.value).splitlines()[0] == f"{path}:{sentence}"


def test_a_spec_names_groups_of_another_operation(tmp_path: Path) -> None:
    """They have the place at which they are written, and an unknown one has the place of its name."""
    (path := tmp_path / "a.yaml").write_text("op: Gather-7\ngroups:\n  - Gather-8/shapes\n")
    [group] = load_spec(path).groups
    assert (group.full_name, group.document.file) == ("Gather-7/shapes", "cases/Gather-8/indices.yaml")

    path.write_text("op: Gather-7\ngroups:\n  - Gather-8/shape\n")
    with pytest.raises(SpecMistakes) as raised:
        load_spec(path)
    assert str(raised.value) == f"{path}:3:5: 'Gather-8/shape' is not a group of another operation."


def test_such_groups_are_shipped_and_decide_the_digest(tmp_path: Path) -> None:
    """And an older version is no neighbour of other operations."""
    (tmp_path / "a.yaml").write_text("op: Gather-7\ngroups:\n  - Tile-1/blocks\n")
    (tmp_path / "b.yaml").write_text("op: Gather-7\ngroups:\n  - Roll-7/blocks\n")

    assert shipped_groups()["Gather-7/shapes"] == shipped_files()["Gather-7/shared.yaml"]
    assert digest_of(tmp_path / "a.yaml") != digest_of(tmp_path / "b.yaml")
    assert "Gather-7" not in {x["op"] for x in neighbours()}
