"""Exports of cases whose outputs are rounded: each format can tell a right output from a wrong one."""

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import onnx
import pytest
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import Runner

from opconform.suite.reader import Suite, open_suite
from opconform.system.resources import text_of
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.verdicts.comparison import mismatch_of
from tests.conftest import Run
from tests.rounded import changed, rounded_suite

OVERFLOW = """\
op: Exp-1
groups:
  - {id: overflow, title: t, requirements: [values.bounded], data: {values: [88.722839]}}
"""


@pytest.fixture(scope="module")
def suite(opconform: Run, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Suite:
    """Cases that are compared in each way."""
    return open_suite(rounded_suite(opconform, tmp_path_factory, worker_id))


@pytest.fixture(scope="module")
def exported(opconform: Run, suite: Suite, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Their export for ONNX."""
    out = tmp_path_factory.mktemp("rounded") / "onnx"
    opconform("export", suite.store.root, "--as", "onnx", "--out", out)
    return out


def judged(folder: Path, change: str) -> Iterator[tuple[str, bool]]:
    """The names of the tests, and whether ONNX's runner accepts the changed outputs of their first inference."""
    for test in load_model_tests(data_dir=str(folder), kind="valid"):
        place = Path(str(test.model_dir)) / "test_data_set_0"
        [expected] = [onnx.numpy_helper.to_array(onnx.load_tensor(place / "output_0.pb"))]
        bound = place / f"{change}_0.pb"
        if bound.exists():
            actual = onnx.numpy_helper.to_array(onnx.load_tensor(bound))
        else:
            names = {"float32": "f32", "float16": "f16", "float64": "f64", "bfloat16": "bf16"}
            kind = names[expected.dtype.name]
            stored = expected.view(np.uint16) if kind == "bf16" else expected
            tensor = Tensor(element_type=kind, array=stored)
            actual = (
                expected if change in ("", "lower", "upper") else changed(tensor, change).array.view(expected.dtype)
            )
        try:
            Runner.assert_similar_outputs([expected], [actual], test.rtol, test.atol)
        except AssertionError:
            yield test.name, False
        else:
            yield test.name, True


@pytest.mark.parametrize("change", ["", "lower", "upper"])
def test_onnxs_runner_accepts_every_right_output(exported: Path, change: str) -> None:
    """Golden numbers, and the least and the largest right ones."""
    assert {name for name, is_accepted in judged(exported, change) if not is_accepted} == set()


@pytest.mark.parametrize("change", ["near", "nan", "inf"])
def test_onnxs_runner_refuses_wrong_outputs(exported: Path, change: str) -> None:
    """Also numbers that are wrong by units in the last place."""
    assert {name for name, is_accepted in judged(exported, change) if is_accepted} == set()


def test_outputs_that_only_bits_or_numbers_are_right_for_have_no_tolerance(exported: Path) -> None:
    """And those with bounds have them as tensors too, which ONNX's runner does not read."""
    documents = {
        test.parent.name: json.loads(test.read_text()) for test in sorted((exported / "valid").glob("*/data.json"))
    }
    compared = {comparison for document in documents.values() for comparison in document["comparison"]}
    tensors = {x.parent.parent.name for x in (exported / "valid").glob("*/*/upper_0.pb")}

    assert compared == {"bits", "numbers", "bounds"}
    for name, document in documents.items():
        is_bounded = document["comparison"] == ["bounds"]
        assert (name in tensors, document["rtol"] + document["atol"] > 0) == (is_bounded, is_bounded)


def test_numbers_beside_an_infinity_are_left_out_for_onnx(opconform: Run, tmp_path: Path) -> None:
    """An infinity and the largest numbers are right there, which no tolerance says."""
    (tmp_path / "spec.yaml").write_text(OVERFLOW)
    opconform("generate", tmp_path / "spec.yaml", "--dialect", "onnx", "--out", tmp_path / "suite")
    said = opconform("export", tmp_path / "suite", "--as", "onnx", "--out", tmp_path / "onnx", code=1).stderr

    assert "1 case: ONNX's runner has no tolerance for numbers beside an infinity." in said


def imported(path: Path) -> ModuleType:
    """A module that an export has."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_numpy_export_judges_outputs(opconform: Run, suite: Suite, tmp_path: Path) -> None:
    """By the comparison of each output, with numpy alone; the bounds lie beside the outputs."""
    opconform("export", suite.store.root, "--as", "numpy", "--out", tmp_path / "out")
    loader, comparison = (imported(tmp_path / "out" / f"{name}.py") for name in ("loader", "comparison"))
    found: dict[str, set[bool]] = {}
    for case, _, feeds in loader.load():
        for output in case["expect"]["accept"]:
            for feed in feeds:
                array = feed[output["name"]]
                tensor = Tensor(element_type=output["element_type"], array=array)
                longer = np.append(array, array[..., :1])
                others: dict[str, Array] = {x: changed(tensor, x).array for x in ("near", "nan", "inf")}
                bounds = [feed.get(f"{output['name']}.{x}", array) for x in ("lower", "upper")]
                for change, actual in {
                    "right": array,
                    "lower": bounds[0],
                    "upper": bounds[1],
                    "longer": longer,
                    **others,
                }.items():
                    found.setdefault(change, set()).add(comparison.is_right(output, feed, actual))

    assert found == {
        **{key: {True} for key in ("right", "lower", "upper")},
        **{key: {False} for key in ("near", "nan", "inf", "longer")},
    }


@pytest.mark.parametrize("name", [kind.name for kind in ELEMENT_TYPES.values() if kind.kind == "float"])
def test_the_comparison_of_the_numpy_export_is_that_of_a_verdict(name: str, tmp_path: Path) -> None:
    """For random patterns of each floating-point type, NaNs, infinities and zeros among them."""
    (tmp_path / "comparison.py").write_text(text_of("export/comparison.py.j2"))
    comparison, kind, random = imported(tmp_path / "comparison.py"), ELEMENT_TYPES[name], np.random.default_rng(7)
    some = [0, 1, 1 << (kind.bits - 1), *random.integers(0, 1 << kind.bits, 80, np.uint64).tolist()]
    unsigned = np.dtype(f"u{kind.storage.itemsize}")
    for golden, actual in zip(some, [*some[1:], *some[:1]], strict=True):
        row = np.array([golden, actual, golden, golden + 2, golden + 1], np.uint64).astype(unsigned)
        want, have, low, high, near = (
            x.view(kind.storage) for x in (row & unsigned.type((1 << kind.bits) - 1)).reshape(5, 1)
        )
        numbers = [float(x.view(kind.arithmetic)[0].astype(np.float64)) for x in (low, want, high)]
        bounds = (low, high) if numbers[0] <= numbers[1] <= numbers[2] else (want, want)
        expected = {"output_0": want, "output_0.lower": bounds[0], "output_0.upper": bounds[1]}
        for other in (want, have, near, bounds[0], bounds[1]):
            for way, pair in {"bits": None, "numbers": (want, want), "bounds": bounds}.items():
                output = {"name": "output_0", "element_type": name, "comparison": way}
                found = mismatch_of([want], [other], [name], bounds=[pair])
                assert comparison.is_right(output, expected, other) is (found is None), (way, want, other, bounds)
