"""Element types that a page defines: a backend that refuses them breaks a normative requirement."""

from pathlib import Path

import pytest

from opconform.suite.reader import open_suite
from opconform_runners.verdicts.judge import broken_by
from tests.conftest import Run

SPEC = """\
op: {op}
groups:
  - id: booleans
    title: t
    requirements: [data.boolean]
    matrix: {{reduction: [{reductions}]}}
    data: {{element_type: boolean, values: [true, false, true]}}
    indices: {indices}
    updates: {{element_type: boolean, values: [true, true]}}
    reduction: ${{{{ reduction }}}}
{axis}"""


@pytest.mark.parametrize(
    ("op", "reductions", "indices", "axis"),
    [
        ("ScatterNDUpdate-15", "none, sum, sub, prod", "[[0], [1]]", ""),
        ("ScatterElementsUpdate-12", "none, sum, prod", "[0, 1]", "    axis: 0\n"),
    ],
)
def test_a_refusal_of_booleans_is_no_interpretation(
    opconform: Run, tmp_path: Path, op: str, reductions: str, indices: str, axis: str
) -> None:
    """Their reductions are OR, AND and XOR. Only an order of them is open."""
    broken = {}
    for kind, names in (("defined", reductions), ("open", "min, max")):
        (tmp_path / f"{kind}.yaml").write_text(SPEC.format(op=op, reductions=names, indices=indices, axis=axis))
        opconform("generate", tmp_path / f"{kind}.yaml", "--out", tmp_path / kind)
        suite = open_suite(tmp_path / kind)
        levels = suite.header.requirements[op]
        broken[kind] = {
            levels[name].level
            for entry in suite.entries
            for name in broken_by(entry, "rejected-valid", None, suite.header)
        }

    assert broken == {"defined": {"normative"}, "open": {"interpretation"}}
