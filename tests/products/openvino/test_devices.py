"""Devices of OpenVINO: the one that is named is the one that executes."""

import json
import subprocess
import sys
from pathlib import Path

import openvino
import pytest

from opconform.errors import UsageError
from opconform.suite.declarations import DeclaredCase
from opconform.suite.reader import Suite
from opconform_products.openvino.backend import OpenVINO
from opconform_products.openvino.device import Device, device_of, executed_by
from opconform_runners.backends.backend import Inputs, Unsupported
from tests.conftest import Run
from tests.device_suite import given
from tests.result_files import report_in

#: The library of the CPU plugin that OpenVINO's wheel holds.
CPU_PLUGIN = Path(openvino.__file__).parent / "libs" / "libopenvino_intel_cpu_plugin.so"

#: Imports the backend, and shows whether OpenVINO's model converter is imported then, and can be imported later.
WITHOUT_CONVERTER = """
import sys
import opconform_products.openvino.backend
print("openvino.tools.ovc" in sys.modules)
import openvino.tools.ovc
"""


def openvino_case(suite: Suite) -> tuple[DeclaredCase, Path, list[Inputs]]:
    """A valid case for OpenVINO."""
    return given(suite, "bare", "openvino/model.xml")


def test_openvino_is_imported_without_its_model_converter() -> None:
    """In a process of its own, since other tests import the whole of OpenVINO."""
    done = subprocess.run([sys.executable, "-c", WITHOUT_CONVERTER], check=True, capture_output=True, text=True)

    assert done.stdout == "False\n"


@pytest.mark.parametrize("device", ["CPU", "AUTO", "AUTO:CPU", "HETERO:CPU", "IMPORT:CPU", "MULTI:CPU", "BATCH:CPU"])
def test_openvino_says_which_device_executed(suite: Suite, device: str) -> None:
    """A name that stands for others is resolved; the plugin is named with its version."""
    backend = OpenVINO(device)
    ran = backend.run(*openvino_case(suite))
    said = backend.describe()

    assert ran.placement.devices == ("CPU",)
    assert said.device == device
    precision = openvino.Core().get_property("CPU", "INFERENCE_PRECISION_HINT").get_type_name()
    assert f"openvino_intel_cpu_plugin {openvino.__version__}" in (said.driver or "")
    assert (said.driver or "").endswith(f", inference precision {precision}")
    assert "execution mode" not in (said.driver or "")
    assert said.hardware == openvino.Core().get_property("CPU", "FULL_DEVICE_NAME")


def test_openvino_executes_the_imported_model(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only where the name of the device says so."""
    compiled: list[openvino.CompiledModel] = []
    imported = openvino.Core.import_model

    def recorded(core: openvino.Core, stream: object, name: str) -> openvino.CompiledModel:
        compiled.append(imported(core, stream, name))
        return compiled[-1]

    monkeypatch.setattr(openvino.Core, "import_model", recorded)
    outputs = [OpenVINO(device).run(*openvino_case(suite)).outputs for device in ("CPU", "IMPORT:CPU")]

    assert len(compiled) == 1
    assert [output.array.tolist() for output in outputs[0][0]] == [output.array.tolist() for output in outputs[1][0]]


@pytest.mark.parametrize("device", ["ACCURACY:CPU", "IMPORT:ACCURACY:CPU", "ACCURACY:HETERO:CPU"])
def test_openvino_keeps_the_types_of_a_model_where_it_is_asked_to(suite: Suite, device: str) -> None:
    """By its documented execution mode, which is named."""
    backend = OpenVINO(device)
    said = backend.describe()
    outputs = [x.run(*openvino_case(suite)).outputs for x in (backend, OpenVINO())]

    assert (said.driver or "").endswith(", execution mode ACCURACY")
    assert said.device == f"ACCURACY:{device.replace('ACCURACY:', '')}"
    assert [x.array.tolist() for x in outputs[0][0]] == [x.array.tolist() for x in outputs[1][0]]


def test_openvino_says_how_many_threads_executed(suite: Suite) -> None:
    """As many as the process has cores, unless the product decides otherwise."""
    compiled = openvino.Core().compile_model(openvino_case(suite)[1], "CPU")

    assert OpenVINO("CPU").run(*openvino_case(suite)).placement.threads == compiled.get_property(
        "INFERENCE_NUM_THREADS"
    )


@pytest.mark.parametrize(
    ("name", "allowed", "excluded", "executed", "allows"),
    [
        ("CPU", ("CPU",), (), "CPU", True),
        ("CPU", ("CPU",), (), "GPU.0", False),
        ("GPU", ("GPU",), (), "GPU.1", True),
        ("GPU.0", ("GPU.0",), (), "GPU.1", False),
        ("GPU.1", ("GPU.1",), (), "GPU.11", False),
        ("AUTO", (), (), "GPU.1", True),
        ("AUTO:-GPU", (), ("GPU",), "GPU.1", False),
        ("HETERO:GPU,CPU", ("GPU", "CPU"), (), "CPU", True),
        ("HETERO:GPU,CPU", ("GPU", "CPU"), (), "NPU", False),
    ],
)
def test_a_name_covers_devices(
    name: str, allowed: tuple[str, ...], excluded: tuple[str, ...], executed: str, allows: bool
) -> None:
    """All of a kind, one by its number, what a list holds, and whatever is there where nothing is listed."""
    assert Device(name=name, allowed=allowed, excluded=excluded).allows(executed) is allows


class Compiled:
    """A compiled model whose plugin says this of where it executes; None: it has no such property."""

    def __init__(self, executed: list[str] | None) -> None:
        self._executed = executed

    def get_property(self, name: str) -> list[str]:
        """The property, as OpenVINO gives it."""
        if self._executed is None:
            raise RuntimeError(f"{name} is not supported")
        return self._executed


def test_what_openvino_executes_elsewhere_is_unsupported() -> None:
    """Whatever the outputs are; brackets are how AUTO marks a device that fills in."""
    named = Device(name="GPU", allowed=("GPU",))

    with pytest.raises(Unsupported, match="OpenVINO executed the case on CPU, not on GPU"):
        executed_by(Compiled(["GPU.0", "(CPU)"]), named)
    assert executed_by(Compiled(["(CPU)"]), Device(name="AUTO")) == ("CPU",)
    assert executed_by(Compiled(None), named) == ()


def test_an_openvino_plugin_is_loaded_by_its_path(opconform: Run, suite: Suite, tmp_path: Path) -> None:
    """The wheel's own CPU plugin from another place, under another name, by OpenVINO and its ONNX frontend."""
    library = tmp_path / "libmine.so"
    library.symlink_to(CPU_PLUGIN)
    out = tmp_path / "out"
    opconform("run", suite.store.root, "--backend", f"openvino:MYCPU={library}", "--out", out)
    report = json.loads((out / "report.json").read_text())

    assert report["implementation"]["device"] == "MYCPU"
    assert report["environment"]["devices"] == ["MYCPU"]
    assert report["environment"]["driver"].startswith("openvino_intel_cpu_plugin ")
    assert report["summary"]["pass"] == 4


@pytest.mark.parametrize(
    ("device", "sentence"),
    [
        ("CPU=", "The device 'CPU=' needs a name and a library, as in MYCPU=path/libplugin.so."),
        ("MYCPU=no.so", "File not found: no.so. Name the device of a plugin as NAME=path/libplugin.so."),
        (
            "MINE={plugin}",
            "{plugin} implements CPU. The name of its device must contain that, as in MYCPU={plugin}.",
        ),
        ("MYCPU={text}", "OpenVINO cannot load {text} as the device MYCPU: Cannot load library .*"),
        ("GPU={plugin}", "OpenVINO cannot load {plugin} as the device GPU: .*in the OpenVINO Runtime."),
        (
            "HETERO:CPU,XPU",
            "OpenVINO has no device 'XPU' on this machine. Allowed: CPU, .*, or NAME=path/libplugin.so.",
        ),
        ("CPU.", "OpenVINO has no device 'CPU.' on this machine. .*"),
        ("HETERO:CP+", "'HETERO:CP+' is not a list of devices, as in HETERO:GPU,CPU or AUTO:-CPU."),
    ],
)
def test_a_missing_openvino_device_is_reported_in_one_sentence(device: str, sentence: str, tmp_path: Path) -> None:
    """What is wrong, and what is allowed."""
    text = tmp_path / "text.so"
    text.write_text("no library")
    places = {"plugin": str(CPU_PLUGIN), "text": str(text)}
    for name, place in places.items():
        sentence = sentence.replace(f"{{{name}}}", place)
        device = device.replace(f"{{{name}}}", place)

    with pytest.raises(UsageError) as caught:
        device_of(openvino.Core(), device)
    beginning, star, end = sentence.partition(".*")
    assert str(caught.value).startswith(beginning)
    assert str(caught.value).endswith(end) if star else str(caught.value) == sentence
    assert "\n" not in str(caught.value)


def test_excluding_every_device_is_refused() -> None:
    """Otherwise each case would be refused, which is not a verdict on the product."""
    core = openvino.Core()
    devices = sorted({available_device.partition(".")[0] for available_device in core.available_devices})

    with pytest.raises(UsageError, match="excludes every device that OpenVINO has on this machine"):
        device_of(core, "AUTO:" + ",".join(f"-{device}" for device in devices))


@pytest.mark.parametrize("device", ["AUTO", "HETERO:CPU"])
def test_openvino_runs_on_other_devices(opconform: Run, small_suite: Path, tmp_path: Path, device: str) -> None:
    """A device is what follows the backend's name."""
    opconform("run", small_suite, "--backend", f"openvino:{device}", "--out", tmp_path, code=0)
    report = report_in(tmp_path)

    assert report["implementation"]["device"] == device
    assert report["summary"]["pass"] == 6


@pytest.mark.ci_only
def test_the_list_of_backends_names_the_default_device(opconform: Run) -> None:
    """As for every installed backend that has devices."""
    found = {backend["name"]: backend for backend in json.loads(opconform("backends", "--json").stdout)}

    assert found["openvino"]["device"] == "CPU"
