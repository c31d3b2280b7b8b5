"""Highlights: the tensor of a case that consists of the others."""

from pathlib import Path

from opconform.explanation.pictures import highlight_of
from opconform.generation.options import Options
from opconform.generation.pipeline import generate
from opconform.specs.loader import load_specs
from opconform.suite.manifest import inputs_name
from opconform.suite.reader import open_suite
from opconform_runners.reports.terminal.case_text import drawing_lines

SPECS = {
    "split": "op: Split-1\ngroups:\n  - {id: a, title: t, data: {shape: [2, 4]}, axis: 1, num_splits: 2}\n",
    "join": "op: Concat-1\ngroups:\n  - {id: a, title: t, inputs: [{shape: [2, 1]}, {shape: [2, 3]}], axis: -1}\n",
}


def test_an_input_consists_of_outputs_or_the_output_of_inputs(tmp_path: Path) -> None:
    """The picture names the tensors and their sizes along the axis."""
    for name, text in SPECS.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    specs = load_specs([tmp_path / f"{name}.yaml" for name in SPECS])
    suite = open_suite(generate(specs, tmp_path / "suite", Options(dialects=())).out)
    found = {}
    for entry in suite.entries:
        case, arrays = suite.case(entry), suite.arrays(entry, inputs_name(0))
        highlight = highlight_of(case, arrays)
        assert highlight is not None
        found[entry.op] = (highlight.tensor, highlight.axis, highlight.names, highlight.sizes)
        last = drawing_lines(case, arrays)[-1]
        assert (
            last
            == {
                "Concat-1": "output_0 along axis 1: inputs_0: 1, inputs_1: 3",
                "Split-1": "axis 1 runs from left to right; outputs: output_0: 2, output_1: 2",
            }[entry.op]
        )

    assert found == {
        "Concat-1": ("output_0", 1, ("inputs_0", "inputs_1"), (1, 3)),
        "Split-1": ("data", 1, ("output_0", "output_1"), (2, 2)),
    }
