"""Scripts that show a case, of every product that has them."""

from pathlib import Path

import pytest

from tests.conftest import Run, made_once
from tests.products.scripts import PRODUCTS, cases_of, executed, generated, interpreter


@pytest.fixture(scope="session")
def findings(opconform: Run, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The suite of the first finding of each product."""
    cases = {cases_of(product)[0] for product, _ in PRODUCTS.values()}
    return made_once(tmp_path_factory, worker_id, "first-findings", lambda out: generated(opconform, out, cases))


@pytest.mark.parametrize("backend", ["openvino", "openvino-onnx", "onnxruntime"])
def test_a_missing_device_is_not_a_rejection(opconform: Run, findings: Path, tmp_path: Path, backend: str) -> None:
    """The script of an invalid case ends with a traceback before it executes the case."""
    python, script, case = interpreter(backend), tmp_path / "script.py", cases_of(PRODUCTS[backend][0])[0]
    written = opconform("repro", case, "--backend", f"{backend}:NOWHERE", "--suite", findings, "--out", script)
    done = executed(script, python)

    assert written.stderr.endswith("The script was not checked against the backend.\n")
    assert 'print("expected: rejected", flush=True)' in script.read_text()
    assert done.returncode == 1
    assert "expected: " not in done.stdout
    assert "Traceback" in done.stderr
