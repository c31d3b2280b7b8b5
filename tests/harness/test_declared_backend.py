"""A Python backend that knows the operations only by the declarations of the suite."""

import json
from pathlib import Path

from tests.conftest import Run

#: Refuses what declarations refuse, and else asks the numpy backend.
BACKEND = """\
from opconform_runners.backends.backend import Rejected
from opconform_runners.backends.numpy.backend import Numpy


class Declared(Numpy):
    def run(self, case, model, feeds):
        for node in case.graph.nodes:
            declaration = case.declaration(node.op)
            if node.under_test:
                operands = declaration.named(case.operands(feeds[0]))
                for requirement in declaration.violations(operands, node.attributes):
                    raise Rejected("build", f"{requirement} is declared")
        return super().run(case, model, feeds)
"""


def test_a_backend_refuses_a_case_by_its_declaration(opconform: Run, few_core: Path, tmp_path: Path) -> None:
    """An element type and an attribute that are declared otherwise; the twins pass."""
    (tmp_path / "declared.py").write_text(BACKEND)
    chosen = ("--select", "Split-1/axis-other-types", "--select", "pad_mode.values")
    opconform("run", few_core, "--backend", f"{tmp_path}/declared.py:Declared", *chosen, "--out", tmp_path / "out")
    lines = (tmp_path / "out" / "results.jsonl").read_text().splitlines()
    results = [json.loads(line) for line in lines[1:-1]]
    messages = {result["message"] for result in results if result["expect"] == "reject"}

    assert {result["verdict"] for result in results} == {"pass"}
    assert {result["expect"] for result in results} == {"accept", "reject"}
    assert messages == {
        "Split-1:axis.element-type is declared",
        "Pad-12:pad_mode.values is declared",
    }
