"""`requirements.yaml`: what wrong outputs break has to be normative."""

from pathlib import Path

import pytest

from opconform.specs import requirements
from opconform.specs.yaml_document import SpecMistakes

TEXT = """\
op: Some-1
pages: [{revision: rst, page: some.rst}]
establishes: {shape: [outputs.shape]}
requirements:
  - {id: outputs.shape, level: interpretation, text: a, sources: [{revisions: [rst], clause: b}], violable: false, reading: c}
"""


def test_a_stage_establishes_a_normative_requirement_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A case that lists only interpretations breaks it, and would otherwise be excused for wrong outputs."""
    (tmp_path / "cases" / "Some-1").mkdir(parents=True)
    (tmp_path / "cases" / "Some-1" / "requirements.yaml").write_text(TEXT)
    monkeypatch.setattr(requirements, "root", lambda: tmp_path)

    with pytest.raises(SpecMistakes) as raised:
        requirements.requirements_of.__wrapped__("Some-1")

    what = "shape: outputs.shape is an interpretation, but wrong outputs break the first requirement"
    assert [mistake.sentence for mistake in raised.value.mistakes] == [f"{what}. Name a normative one first."]
