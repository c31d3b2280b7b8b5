"""The index of the shipped specs: it is up to date, and what differs from it is read again."""

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from maintenance.index import FILE, index_text, quick_in, quick_of

from opconform.errors import SpecError
from opconform.explanation.shipped_groups import ShippedGroups, kinds_of
from opconform.generation.options import LIMITS
from opconform.specs import index
from opconform.specs.every import groups as groups_module
from opconform.specs.every.groups import neighbours_in
from opconform.specs.index import REFERENCE, index_of, sample_files, shipped_files, shipped_groups, specified_operations
from opconform.specs.loader import load_spec
from opconform.specs.operation_names import operations_of
from opconform.suite.selection.selection import Selection
from tests.conftest import ROOT
from tests.sampling import WHOLE

#: The file of the pairs, which follow from the samples of all operations.
PAIRS = "Graph-1/pairs.yaml"
OWN = """\
op: Split-1
groups:
  - id: of-mine
    title: a group of one's own
    requirements: [outputs.order]
    data: {shape: [6]}
    axis: 0
    num_splits: 2
"""
CACHED = (
    *(index.shipped_files, index.specified_operations, index.every_files, index.sample_files, index.shipped_groups),
    *(index.shipped_requirements, index.are_neighbours_known, index.content_of, index.stored_index),
)


def known_neighbours_of(op: str) -> Mapping[str, object]:
    """The neighbours that the index has of an operation."""
    samples: Mapping[str, object] = json.loads(FILE.read_text())["neighbours"][op]["samples"]
    return samples


def forget() -> None:
    """Have the files be read again, as in a new process."""
    for function in CACHED:
        function.cache_clear()


@pytest.fixture
def cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the shipped cases in place of them, which can be edited."""
    folder = Path(shutil.copytree(ROOT / "cases", tmp_path / "cases"))
    monkeypatch.setattr(index, "cases_folder", lambda: folder)
    forget()
    yield folder
    forget()


def test_the_index_has_every_file_as_it_is() -> None:
    """After a change of cases, `python -m maintenance.index` writes it again."""
    known = index_of(specified_operations())
    stored = json.loads(FILE.read_text())

    assert (known.changed, known.outdated) == ((), frozenset())
    assert stored["specs"].keys() == shipped_files().keys()
    # the list may name cases that are gone, which `generate` reports
    assert [name for name, entry in stored["specs"].items() if not quick_in(entry) <= quick_of(name)] == []


@pytest.mark.ci_only
def test_the_index_is_what_the_specs_expand_to() -> None:
    """After a change of the reference semantics, `python -m maintenance.index all` writes it again.

    One file in eight is expanded, and before a release every file, with the pairs of all operations.
    """
    stored = json.loads(FILE.read_text())["specs"]
    expanded = {*stored} if WHOLE else {*sorted(stored)[::8]} - {PAIRS}

    assert index_text({name: entry for name, entry in stored.items() if name not in expanded}) == FILE.read_text()


@pytest.mark.parametrize("op", ["Split-1", "GatherND-5"])
def test_the_index_of_an_operation_is_what_its_specs_expand_to(op: str) -> None:
    """Some of what CI checks of every operation."""
    known = index_of([op])
    groups = [x for name, path in shipped_files().items() if name.startswith(f"{op}/") for x in load_spec(path).groups]

    assert {group.full_name for group in groups} == known.groups.keys() <= shipped_groups().keys()
    for group in groups:
        indexed = known.groups[group.full_name]
        assert (indexed.profile, indexed.title) == (group.settings.profile, group.settings.title)
        if group.settings.profile in ("core", "types"):
            assert [*(indexed.kinds or ())] == kinds_of(group, LIMITS)


def test_the_neighbours_of_the_index_are_those_of_the_samples() -> None:
    """As values, so that cases are the same bytes whether or not they are read from the index."""
    stored = json.loads(FILE.read_text())["neighbours"]

    for path in sample_files()[::10]:
        assert repr(stored[path.parent.name]["samples"]) == repr(neighbours_in(path))


def test_an_edited_an_added_and_a_removed_file_are_noticed(cases: Path) -> None:
    """Only their groups are read again."""
    (cases / "Split-1" / "own.yaml").write_text(OWN)
    (cases / "Split-1" / "axis.yaml").unlink()
    with (cases / "Tile-1" / "samples.yaml").open("a") as file:
        file.write("# edited\n")
    known = index_of(["Split-1", "Tile-1"])
    removed = [name for name, path in shipped_groups().items() if path.name == "axis.yaml" and "/Split-1/" in str(path)]

    assert known.changed == ("Split-1/own.yaml", "Tile-1/samples.yaml")
    assert known.groups.keys().isdisjoint(removed)
    groups = ShippedGroups(["Split-1"])
    [listed] = groups.selected(Selection(patterns=("Split-1/of-mine",)))
    assert (listed.title, [kind.cases for kind in listed.kinds]) == ("a group of one's own", [1])


def test_a_repeated_id_in_an_added_file_is_a_mistake(cases: Path) -> None:
    """Although the other file is not read for anything else."""
    (cases / "Split-1" / "own.yaml").write_text(OWN.replace("of-mine", "axis-values"))

    with pytest.raises(
        SpecError, match=r"own\.yaml:3:9: .* the id is already used by the group at .*/Split-1/axis.yaml:"
    ):
        ShippedGroups(["Split-1"])


def test_neighbours_are_known_without_their_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a command on one operation reads the specs of no other."""
    monkeypatch.setattr(groups_module, "read_document", None)
    monkeypatch.setattr(groups_module, "_neighbours", groups_module._neighbours.__wrapped__)

    assert groups_module.neighbour("Transpose-1", next(iter(known_neighbours_of("Transpose-1"))))["op"] == "Transpose-1"


def test_expressions_of_files_in_the_index_are_compiled_when_they_are_used(cases: Path) -> None:
    """A malformed one in a file that was edited is found when the file is loaded."""
    axis = cases / "Split-1" / "axis.yaml"
    assert index.is_known(axis)
    axis.write_text(axis.read_text().replace("${{", "${{ (", 1))
    forget()

    assert not index.is_known(axis)
    with pytest.raises(SpecError, match="is not a valid expression"):
        load_spec(axis)


@pytest.mark.parametrize(
    ("file", "op"),
    [
        ("Split-1/requirements.yaml", "Split-1"),
        ("every/types.yaml", "Split-1"),
        ("Gather-8/shapes.yaml", "Gather-7"),
        ("Add-1/samples.yaml", "Multiply-1"),
    ],
)
def test_a_change_of_what_a_file_is_used_with_is_noticed(cases: Path, file: str, op: str) -> None:
    """The requirements, the groups of every operation, and files of other operations that it names."""
    assert index_of([op]).changed == ()
    with (cases / file).open("a") as stream:
        stream.write("# edited\n")
    forget()

    assert index_of([op]).changed != ()


def test_other_neighbours_outdate_the_groups_with_neighbours(cases: Path) -> None:
    """And no others."""
    with (cases / "Tile-1" / "samples.yaml").open("a") as stream:
        stream.write("# edited\n")

    assert index_of(["Split-1"]).outdated == {"Split-1/then"}


def test_without_an_index_every_file_is_read(cases: Path) -> None:
    """As in a checkout in which it was removed."""
    (cases / index.INDEX).unlink()

    assert set(index_of(["Split-1"]).changed) == {name for name in shipped_files() if name.startswith("Split-1/")}
    assert REFERENCE.findall("  - Gather-8/shapes") == [("Gather-8", "shapes")]


@pytest.mark.parametrize(
    ("patterns", "operations"),
    [
        (["Split-1/axis*", "Split-1/*", "Gather-8/a/0123456789"], ["Split-1", "Gather-8"]),
        (["Split-1/axis*", "axis.range"], []),
        (["*/axis*"], []),
        ([], []),
    ],
)
def test_patterns_of_ids_say_which_operations_are_read(patterns: list[str], operations: list[str]) -> None:
    """A suite of some cases of one operation needs no other one; any operation may have a requirement."""
    assert [str(path) for path in operations_of(patterns)] == operations
