"""The export for ONNX, read back by ONNX's own test runner."""

import json
import unittest
import warnings
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx.backend.base import Backend, BackendRep, Device, DeviceType
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import Runner
from onnx.reference import ReferenceEvaluator

from opconform.suite.reader import open_suite
from tests.conftest import Run, made_once

pytestmark = pytest.mark.ci_only  # ONNX's runner makes all of ONNX's own tests first

#: What `onnxruntime.backend` says of an array of bfloat16, which it cannot take from Python.
NO_BFLOAT16 = "Numpy_type 256 can't be converted to MLDataType"


class Prepared(BackendRep):
    """A model in the reference evaluator."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self._evaluator = ReferenceEvaluator(model)

    def run(self, inputs: list[Any], **_: Any) -> tuple[Any, ...]:
        """The outputs."""
        return tuple(self._evaluator.run(None, dict(zip(self._evaluator.input_names, inputs, strict=True))))


class Reference(Backend):
    """ONNX's reference evaluator as a backend of its runner."""

    @classmethod
    def prepare(cls, model: onnx.ModelProto, *_: Any, **__: Any) -> Prepared:
        """A model that can be run."""
        return Prepared(model)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether it is the CPU."""
        return bool(Device(device).type == DeviceType.CPU)


@pytest.fixture(scope="session")
def exported(opconform: Run, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A suite of three operations, and its export beside it."""

    def make(out: Path) -> None:
        ops = ("Split-1", "VariadicSplit-1", "Slice-8")
        opconform("generate", *ops, "--profile", "core", "--dialect", "onnx", "--out", out / "suite", "--jobs", "1")
        opconform("export", out / "suite", "--as", "onnx", "--out", out / "onnx")

    return made_once(tmp_path_factory, worker_id, "onnx-export", make)


def outcome(backend: type, folder: Path) -> tuple[int, dict[str, str]]:
    """How many tests ONNX's runner has executed on a backend, and the last words of those that failed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runner = Runner(backend, __name__)
        for case in load_model_tests(data_dir=str(folder), kind="valid"):
            runner._add_model_test(case, "Conformance")
        tests = unittest.defaultTestLoader.loadTestsFromTestCase(runner.test_cases["OnnxBackendConformanceModelTest"])
        result = unittest.TestResult()
        tests.run(result)
    failed = [*result.failures, *result.errors]
    names = {str(test).partition(" ")[0].removesuffix("_cpu"): said.strip() for test, said in failed}
    return result.testsRun - len(result.skipped), names


def test_the_reference_evaluator_passes(exported: Path) -> None:
    """Each valid case of the export is one test of ONNX's runner."""
    about = json.loads((exported / "onnx" / "export.json").read_text())
    by_id = open_suite(exported / "suite").by_id
    valid = [name for name in about["cases"] if by_id[name].expect == "accept"]

    assert outcome(Reference, exported / "onnx") == (len(valid), {})
    assert len(valid) > 300


@pytest.mark.filterwarnings("ignore:onnx.version is deprecated")
def test_onnx_runtime_fails_what_it_fails_here(opconform: Run, exported: Path, tmp_path: Path) -> None:
    """Its own backend for ONNX's runner takes no bf16; all else that fails there is a finding here, and the reverse."""
    from onnxruntime.backend.backend import OnnxRuntimeBackend

    opconform("run", exported / "suite", "--backend", "onnxruntime", "--out", tmp_path, code=1)
    results = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()[1:-1]]
    expected = {x["id"] for x in results if x["expect"] == "accept" and x["verdict"] == "fail"}
    tests, failed = outcome(OnnxRuntimeBackend, exported / "onnx")

    found = {name for name, said in failed.items() if NO_BFLOAT16 not in said}
    assert found == {f"test_{x.lower().replace('-', '_').replace('/', '_')}" for x in expected}
    assert "VariadicSplit-1/dimension-over-16-bits/c4b023156d" in expected
    assert len(found) < len(failed) < 10 < tests
