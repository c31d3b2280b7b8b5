"""The dialect stablehlo on IREE."""

from pathlib import Path

import pytest

from opconform.suite.reader import open_suite
from tests.conftest import Run, interpreter_with
from tests.dialects.neighbours import CONVOLVED, NEIGHBOURS, TESTED, WITHOUT, behind, convolved
from tests.result_files import cases_in
from tests.sampling import WHOLE


@pytest.mark.ci_only
@pytest.mark.timeout(900)
def test_iree_returns_the_goldens(opconform: Run, tmp_path: Path) -> None:
    """Of every case that StableHLO can express, in one run; each neighbour behind one operation, before a release behind all."""
    python, specs, count = interpreter_with("iree.compiler", "OPCONFORM_PYTHON_IREE"), [], 0
    neighbours = {op: [*NEIGHBOURS][place :: 1 if WHOLE else len(TESTED)] for place, op in enumerate(TESTED)}
    for op in sorted({*CONVOLVED} - WITHOUT["stablehlo"]):
        groups = [convolved(op), *(behind(op, neighbour) for neighbour in neighbours.get(op, ()))]
        specs.append(tmp_path / f"{op}.yaml")
        specs[-1].write_text(f"op: {op}\ngroups:\n{''.join(groups)}")
        count += len(groups)
    opconform("certify", "--backend", "iree", "--python", python, *specs, "--out", tmp_path / "out", code=1)
    entries = open_suite(tmp_path / "out" / "suite").entries
    expressed = {entry.id: "stablehlo/model.mlir" in entry.files for entry in entries}

    assert len(entries) == count
    assert sum(expressed[x.id] for x in entries if x.op in TESTED) > sum(map(len, neighbours.values())) / 2
    assert {case["id"]: case["verdict"] for case in cases_in(tmp_path / "out")} == {
        name: _verdict(name) if known else "unsupported" for name, known in expressed.items()
    }


def _verdict(case: str) -> str:
    """IREE takes angles modulo a turn in f32, with errors of up to 12 units in the last place, where 5 are allowed."""
    return "fail" if case.startswith(("Cos-1/", "Sin-1/", "Tan-1/")) else "pass"
