"""The peer for ONNX Runtime: `onnx.backend.test` on the models of a suite, in the layout that it reads.

Usage: python benchmarks/onnx_peer.py unittest|pytest SUITE. Prints the number of cases, the seconds that they took, and
those of them that were spent inside ONNX Runtime.
"""

import contextlib
import io
import os
import sys
import tempfile
import time
import types
import unittest
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest
from onnx import load, numpy_helper
from onnx.backend.test.case.test_case import TestCase
from onnx.backend.test.runner import Runner

from opconform.suite.reader import Suite, open_suite


class Timed:
    """ONNX Runtime as `onnx.backend.test` wants a backend, and the seconds spent inside it."""

    inside = 0.0
    sessions = 0

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """The CPU alone."""
        return device == "CPU"

    @classmethod
    def prepare(cls, model: Any, _device: str) -> "Timed":
        """A session."""
        content = model.SerializeToString()
        started = time.perf_counter()
        session = ort.InferenceSession(content, providers=["CPUExecutionProvider"])
        cls.inside += time.perf_counter() - started
        cls.sessions += 1
        return cls(session)

    def __init__(self, session: ort.InferenceSession) -> None:
        self._session = session

    def run(self, inputs: list[Any]) -> list[Any]:
        """The outputs."""
        given = dict(zip((get_input.name for get_input in self._session.get_inputs()), inputs, strict=True))
        started = time.perf_counter()
        outputs = self._session.run(None, given)
        type(self).inside += time.perf_counter() - started
        return list(outputs)


def written(suite: Suite, folder: Path) -> list[TestCase]:
    """The suite's accepted cases as `onnx.backend.test` keeps them."""
    cases = []
    for number, entry in enumerate(entry for entry in suite.entries if entry.expect == "accept"):
        place = folder / f"test_{number}"
        (place / "test_data_set_0").mkdir(parents=True)
        (place / "model.onnx").write_bytes(suite.read(entry, "onnx/model.onnx"))
        model = load(place / "model.onnx")
        inputs, outputs = (np.load(io.BytesIO(suite.read(entry, f"{name}.npz"))) for name in ("inputs", "expected"))
        for kind, names, arrays in (
            ("input", [x.name for x in model.graph.input], inputs),
            ("output", [x.name for x in model.graph.output], outputs),
        ):
            for place_number, name in enumerate(names):
                proto = numpy_helper.from_array(arrays[name], name)
                path = place / "test_data_set_0" / f"{kind}_{place_number}.pb"
                path.write_bytes(proto.SerializeToString())
        name = f"test_{number}"
        cases.append(
            TestCase(
                name=name,
                model_name=name,
                url=None,
                model_dir=str(place),
                model=None,
                data_sets=None,
                kind="real",
                rtol=0,
                atol=0,
            )
        )
    return cases


def runner_of(suite: Path, folder: Path) -> Runner:
    """A runner of the suite's cases, and of none of its own."""
    runner = Runner(Timed)  # type: ignore[arg-type]  # it asks for no more than these methods
    runner._test_items.clear()
    for item in written(open_suite(suite), folder):
        runner._add_model_test(item, "Real")
    return runner


def main() -> None:
    """Run them by `unittest` or by `pytest`, and print how many there were, and the seconds in all and inside."""
    by, suite = sys.argv[1], Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        runner = runner_of(suite, Path(folder))
        started = time.perf_counter()
        if by == "pytest":
            module = types.ModuleType("peer")
            vars(module).update(runner.test_cases)
            sys.modules["peer"] = module
            failed = pytest.main(["-q", "-p", "no:cacheprovider", "-c", os.devnull, __file__])
            tests = Timed.sessions
        else:
            result = unittest.TextTestRunner(stream=io.StringIO(), verbosity=0).run(runner.test_suite)
            failed, tests = not result.wasSuccessful(), result.testsRun - len(result.skipped)
        spent = time.perf_counter() - started
    if failed:
        sys.exit("onnx.backend.test failed, and measures nothing.")
    print(tests, spent, Timed.inside)


if "peer" in sys.modules:  # collected by pytest: the test cases that `main` has put there
    globals().update(
        {name: variable for name, variable in vars(sys.modules["peer"]).items() if isinstance(variable, type)}
    )
elif __name__ == "__main__":
    main()
