"""`requirements.yaml`: what follows from the declaration, and what wrong outputs break has to be normative."""

from pathlib import Path

import pytest

from opconform.specs import requirements
from opconform.specs.requirements import Requirement, Source, requirements_of
from opconform.specs.yaml_document import SpecMistakes

HEAD = """\
op: Tile-1
pages: [{revision: old, page: a.md}, {revision: new, page: a.rst}, {revision: rules, page: rules.rst, other: true}]
requirements:
"""


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The requirements of Tile-1 in a folder of cases."""
    (tmp_path / "cases" / "Tile-1").mkdir(parents=True)
    monkeypatch.setattr(requirements, "root", lambda: tmp_path)
    return tmp_path / "cases" / "Tile-1" / "requirements.yaml"


def stated(file: Path, text: str) -> list[Requirement]:
    """The requirements in a text."""
    file.write_text(HEAD + text)
    return [*requirements_of.__wrapped__("Tile-1").requirements]


def test_a_clause_is_enough_for_what_the_declaration_says(written: Path) -> None:
    """Its text, whether cases can violate it, its level and its reading follow; the clause is in every revision."""
    [rank, bits, payload] = stated(
        written,
        "  repeats.rank: Inputs, 2\n  data.bits: Outputs\n  data.nan-payload: Outputs\n",
    )
    assert rank == Requirement(
        id="repeats.rank",
        level="normative",
        text="The input repeats is a list.",
        sources=(Source(revisions=("old", "new"), clause="Inputs, 2"),),
        violable=True,
        reading=None,
    )
    assert (bits.text, bits.violable) == ("Every element keeps all its bits in the output.", False)
    assert (payload.level, payload.violable) == ("interpretation", False)
    assert payload.reading is not None


def test_own_words_replace_those_of_the_declaration(written: Path) -> None:
    """A reading makes an interpretation of a requirement, unless its level says otherwise."""
    [rank, required] = stated(
        written,
        "  repeats.rank: {clause: a, text: Repeats are a list., reading: b}\n"
        "  repeats.required: {sources: [{revisions: [rules], clause: c}], level: normative, reading: d}\n",
    )
    assert (rank.text, rank.level, rank.reading) == ("Repeats are a list.", "interpretation", "b")
    assert (required.level, required.sources) == ("normative", (Source(revisions=("rules",), clause="c"),))


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ("some.sum: a", "some.sum: it needs its `text`, which does not follow from the declaration of Tile-1."),
        ("data.required: {}", "data.required: it needs its `clause`."),
        (
            "data.required: {sources: [{revisions: [newest], clause: a}]}",
            "data.required: the revisions ['newest'] are not among `pages`.",
        ),
        (
            "data.required: {clause: a, level: interpretation}",
            "data.required: an interpretation needs its `reading`.",
        ),
    ],
)
def test_what_a_requirement_lacks_is_a_mistake(written: Path, entry: str, sentence: str) -> None:
    """At its line and column."""
    with pytest.raises(SpecMistakes) as raised:
        stated(written, f"  {entry}\n")
    assert str(raised.value) == f"cases/Tile-1/requirements.yaml:4:3: {sentence}"


def test_a_stage_establishes_a_normative_requirement_first(written: Path) -> None:
    """A case that lists only interpretations breaks it, and would otherwise be excused for wrong outputs."""
    with pytest.raises(SpecMistakes) as raised:
        stated(written, "  outputs.shape: {clause: b, text: a, reading: c}\nestablishes: {shape: [outputs.shape]}\n")

    what = "shape: outputs.shape is an interpretation, but wrong outputs break the first requirement"
    assert [mistake.sentence for mistake in raised.value.mistakes] == [f"{what}. Name a normative one first."]
