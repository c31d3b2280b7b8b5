"""Devices of ONNX Runtime: the one that is named is the one that executes."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from opconform.errors import UsageError
from opconform.suite.reader import Suite
from opconform_products.onnx.onnxruntime import OnnxRuntime
from opconform_runners.backends.backend import Placement, Unsupported
from tests.conftest import Run
from tests.device_suite import given
from tests.result_files import cases_in

#: A library that has nothing of ONNX Runtime.
OTHER_LIBRARY = next(Path(np.__file__).parent.rglob("_multiarray_umath*.so"))


@pytest.mark.parametrize(
    ("context", "reason"),
    [
        (
            "bare",
            (
                "[ONNXRuntimeError] : 1 : FAIL : This session contains graph nodes that are assigned to the default CPU EP, "
                "but fallback to CPU EP has been explicitly disabled by the user."
            ),
        ),
        ("folded", "ONNX Runtime executes the case on the CPU, by constant folding, not on Azure"),
    ],
)
def test_onnx_runtime_never_falls_back_to_the_cpu(suite: Suite, context: str, reason: str) -> None:
    """The provider Azure has no kernel of its own for any case, and a folded model runs nowhere but on the CPU."""
    with pytest.raises(Unsupported) as caught:
        OnnxRuntime("Azure").run(*given(suite, context, "onnx/model.onnx"))

    assert str(caught.value) == reason


def test_onnx_runtimes_cpu_says_that_it_executed(suite: Suite) -> None:
    """There the CPU is what was named."""
    ran = OnnxRuntime().run(*given(suite, "folded", "onnx/model.onnx"))

    assert ran.placement == Placement(devices=("CPU",))


def test_a_provider_without_kernels_passes_nothing(opconform: Run, suite: Suite, tmp_path: Path) -> None:
    """No verdict of the CPU's is given to another provider, and a refusal without a twin is evidence of nothing."""
    opconform("run", suite.store.root, "--backend", "onnxruntime:Azure", "--out", tmp_path / "out", code=None)
    report = json.loads((tmp_path / "out" / "report.json").read_text())

    assert report["summary"] == {"pass": 0, "fail": 0, "unsupported": 3, "inconclusive": 1, "error": 0}
    assert report["environment"]["devices"] == []


@pytest.mark.parametrize(
    ("device", "beginning"),
    [
        ("Nowhere", "ONNX Runtime has no device 'Nowhere' on this machine. Allowed: "),
        ("X=no.so", "File not found: no.so."),
        ("X={text}", "ONNX Runtime cannot load {text}: Failed to load library"),
        ("X={other}", "ONNX Runtime cannot load {other}: Failed to get symbol CreateEpFactories"),
    ],
)
def test_a_missing_provider_is_reported_in_one_sentence(device: str, beginning: str, tmp_path: Path) -> None:
    """A name, a file and a library that is not an ONNX Runtime plugin."""
    text = tmp_path / "text.so"
    text.write_text("no library")
    for name, place in (("text", text), ("other", OTHER_LIBRARY)):
        device, beginning = (x.replace(f"{{{name}}}", str(place)) for x in (device, beginning))

    with pytest.raises(UsageError) as caught:
        OnnxRuntime(device)
    assert str(caught.value).startswith(beginning)
    assert "\n" not in str(caught.value)


@pytest.mark.ci_only
@pytest.mark.parametrize("name", ["ggml", "ggml.CPU"])
def test_an_onnx_runtime_plugin_is_loaded_by_its_path(opconform: Run, suite: Suite, tmp_path: Path, name: str) -> None:
    """The plugin onnxruntime-ggml, in a process of its own, which a loaded library never leaves."""
    library = provider_library()
    out = tmp_path / "out"
    opconform("run", suite.store.root, "--backend", f"onnxruntime:{name}={library}", "--out", out)
    report = json.loads((out / "report.json").read_text())
    verdicts = {case["id"].split("/")[1]: case["verdict"] for case in cases_in(out)}

    assert report["implementation"]["device"] == name
    assert report["environment"]["devices"] == [name]
    assert report["environment"]["driver"].startswith("ggml 0.")
    assert report["summary"] == {"pass": 3, "fail": 0, "unsupported": 1, "inconclusive": 0, "error": 0}, verdicts


@pytest.mark.ci_only
def test_a_plugin_without_the_named_hardware_says_what_it_has(opconform: Run, suite: Suite) -> None:
    """This plugin names its provider as it is registered: `ggml.GPU` must not become the name of the CPU."""
    library = provider_library()
    done = opconform("run", suite.store.root, "--backend", f"onnxruntime:ggml.GPU={library}", code=3)

    assert f"ggml.GPU does not name one device of {library}. Allowed: ggml.CPU." in done.stderr


def provider_library() -> Path:
    """The library of a plugin provider for ONNX Runtime."""
    named = os.environ.get("OPCONFORM_PROVIDER_LIBRARY")
    return Path(named or pytest.skip("OPCONFORM_PROVIDER_LIBRARY names no library; .ci/ci-only installs one"))
