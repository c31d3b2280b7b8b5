"""Scripts and C++ tests of cases whose outputs are rounded: they judge outputs as a run does."""

import contextlib
import io
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from unittest import mock

import numpy as np
import pytest

from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite, open_suite
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.tools.repro.script import script_of
from opconform_runners.verdicts.comparison import mismatch_of
from tests.conftest import Run
from tests.rounded import changed, rounded_suite

#: What is in place of the golden numbers; nothing, their bounds, numbers outside them, NaNs and infinities.
CHANGES = ("", "lower", "upper", "near", "nan", "inf")


@pytest.fixture(scope="module")
def suite(opconform: Run, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Suite:
    """Cases that are compared in each way."""
    return open_suite(rounded_suite(opconform, tmp_path_factory, worker_id))


def executed(script: str, outputs: Sequence[Sequence[Array]]) -> tuple[int, str]:
    """How a script ends, and what it prints, with an ONNX Runtime that returns some outputs."""
    feeds = iter(outputs)

    class Value:
        def __init__(self, array: Array) -> None:
            self.numpy, self.shape, self.data_ptr = lambda: array, lambda: array.shape, lambda: array.ctypes.data

    runtime = ModuleType("onnxruntime")
    runtime.InferenceSession = lambda *_, **__: SimpleNamespace(  # type: ignore[attr-defined]
        run=lambda *_: list(next(feeds)), run_with_ort_values=lambda *_: [*map(Value, next(feeds))]
    )
    runtime.OrtValue = SimpleNamespace(ortvalue_from_numpy_with_onnx_type=lambda *_: None)  # type: ignore[attr-defined]
    said = io.StringIO()
    with mock.patch.dict(sys.modules, {"onnxruntime": runtime}), contextlib.redirect_stdout(said):
        try:
            runpy.run_path(script)
        except SystemExit as end:
            return int(end.code or 0), said.getvalue()
    raise AssertionError(said.getvalue())


def other(suite: Suite, entry: Entry, feed: int, change: str) -> list[Array]:
    """The golden outputs of a feed, changed."""
    golden, bounds = suite.golden(entry, feed), suite.bounds(entry, feed)
    if change in ("lower", "upper"):
        return [
            x if bound is None else bound[change == "upper"] for x, bound in zip(golden.values(), bounds, strict=True)
        ]
    types = [output.element_type for output in suite.case(entry).outputs]
    tensors = [Tensor(element_type=kind, array=x) for kind, x in zip(types, golden.values(), strict=True)]
    return [changed(x, change).array if change else x.array for x in tensors]


def case_of(suite: Suite, group: str, element_type: str = "f32") -> Entry:
    """The case of a group whose first output has an element type."""
    return next(
        entry
        for entry in suite.entries
        if entry.id.startswith(f"{group}/") and suite.case(entry).outputs[0].element_type == element_type
    )


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("reason", [None, "rounding", "value", "nan-payload"])
def test_a_script_ends_as_the_verdict_says(suite: Suite, tmp_path: Path, change: str, reason: str | None) -> None:
    """For every kind of comparison and element type, whatever failure it was written for."""
    for entry in suite.entries:
        case, text = suite.case(entry), tmp_path / "script.py"
        text.write_text(script_of(suite, entry, "onnxruntime", (), reason))
        outputs = [other(suite, entry, feed, change) for feed in range(case.feeds)]
        found = [
            mismatch_of(
                [*suite.golden(entry, feed).values()],
                actual,
                [output.element_type for output in case.outputs],
                bounds=suite.bounds(entry, feed),
            )
            for feed, actual in enumerate(outputs)
        ]
        code, said = executed(str(text), outputs)

        assert code == any(mismatch is not None for mismatch in found), (entry.id, said)
        assert said.splitlines()[-1].startswith("WRONG" if code else "right")


@pytest.mark.parametrize(
    ("group", "element_type", "sentence"),
    [
        (
            "Exp-1/bounds",
            "f32",
            (
                "inference 1: output_0[0, 0]: expected 1.6487212181091309 (0x3fd3094c), got 1.6488432884216309 (0x3fd30d4c); "
                "allowed are 1.6487209796905518 to 1.6487215757369995; error: 1,024 units in the last place, "
                "341.3 times its bound; elements outside their bounds: 4 of 6"
            ),
        ),
        (
            "Exp-1/bounds",
            "bf16",
            (
                "inference 1: output_0[0, 0]: expected 1.6484375 (0x3fd3), got 1.6796875 (0x3fd7); "
                "allowed are 1.640625 to 1.6640625; error: 4 units in the last place, 2 times its bound; "
                "elements outside their bounds: 4 of 6"
            ),
        ),
        (
            "Add-1/numbers",
            "f32",
            (
                "output_0[0]: expected 1.75 (0x3fe00000), got 1.7501220703125 (0x3fe00400); "
                "error: 1,024 units in the last place; elements outside their bounds: 2 of 3"
            ),
        ),
        (
            "Concat-1/bits",
            "f32",
            "output_0[0]: expected 1.5 (0x3fc00000), got 1.5001220703125 (0x3fc00400); differing elements: 2 of 3",
        ),
    ],
)
def test_a_script_names_the_right_numbers_and_the_error(
    suite: Suite, tmp_path: Path, group: str, element_type: str, sentence: str
) -> None:
    """In units in the last place, and as a multiple of its bound; a type that numpy lacks is shown in numbers too."""
    entry, script = case_of(suite, group, element_type), tmp_path / "script.py"
    script.write_text(script_of(suite, entry, "onnxruntime", (), "rounding"))
    feeds = range(suite.case(entry).feeds)
    _, said = executed(str(script), [other(suite, entry, feed, "near") for feed in feeds])

    assert said.splitlines()[1] == sentence


def test_any_nan_is_right_for_a_nan_that_was_computed(suite: Suite, tmp_path: Path) -> None:
    """A NaN with other bits is right in a sum, and wrong among moved elements."""
    results = []
    for group in ("Add-1/numbers", "Concat-1/bits"):
        entry, script = case_of(suite, group), tmp_path / "script.py"
        [golden] = suite.golden(entry, 0).values()
        script.write_text(script_of(suite, entry, "onnxruntime", (), "nan-payload"))
        array = np.where(np.isnan(golden), np.uint32(0xFFC12345).view(np.float32), golden)
        results.append(executed(str(script), [[array]])[0])

    assert results == [0, 1]
