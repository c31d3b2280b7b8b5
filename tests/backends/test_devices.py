"""Devices: the one that is named is the one that executes, and what decided a verdict is written down."""

import base64
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openvino
import pytest
from click.testing import CliRunner, Result

from opconform.errors import UsageError
from opconform.suite.case import harness_text
from opconform.suite.declarations import DeclaredCase, declared_case_from
from opconform.suite.manifest import Entry, inputs_name
from opconform.suite.reader import Suite, open_suite
from opconform.tensors.tensor import Tensor
from opconform_runners.backends.backend import Implementation, Inputs, Outputs, PlacedOutputs, Placement, Unsupported
from opconform_runners.backends.frameworks.numpy import Numpy
from opconform_runners.backends.onnx.onnxruntime import OnnxRuntime
from opconform_runners.backends.openvino.device import Device, device_of, executed_by
from opconform_runners.backends.openvino.plugin import OpenVINO
from opconform_runners.cli.shared.steps import folder_name
from opconform_runners.harness.command import backend_command
from opconform_runners.harness.environment import Environment, environment_facts, environment_of

SPEC = """\
op: VariadicSplit-1
groups:
  - id: accepted
    title: data from outside and data that is a constant of the model
    requirements: [outputs.order]
    matrix: {context: [bare, folded]}
    data: {shape: [6, 2]}
    axis: 0
    split_lengths: [1, 2, 3]
    context: ${{ context }}
  - id: rejected
    title: the lengths add up to another number
    requirements: [lengths.sum]
    data: {shape: [6, 4]}
    axis: 0
    split_lengths: [1, 2, 2]
    expect: {reject: lengths.sum}
    twin: {split_lengths: [1, 2, 3]}
"""

#: Imports the backend, and shows whether OpenVINO's model converter is imported then, and can be imported later.
WITHOUT_CONVERTER = """
import sys
import opconform_runners.backends.openvino.plugin
print("openvino.tools.ovc" in sys.modules)
import openvino.tools.ovc
"""

#: The library of the CPU plugin that OpenVINO's wheel holds.
CPU_PLUGIN = Path(openvino.__file__).parent / "libs" / "libopenvino_intel_cpu_plugin.so"


class OnTwoDevices(Numpy):
    """Right, and says of each case what executed it: of those with the context `folded` another device."""

    def describe(self) -> Implementation:
        """A device with a driver."""
        said = super().describe()
        return Implementation(
            name="double",
            version="1",
            device="PAIR",
            hardware="A pair <of> boards",
            driver="pair_driver 7.1",
            element_types=said.element_types,
            operations=said.operations,
            dynamic=True,
            bindings=said.bindings,
            graphs=said.graphs,
        )

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> PlacedOutputs:  # type: ignore[override]
        """What numpy gives, and where."""
        outputs: Sequence[Outputs] = super().run(case, model, feeds)
        device = "PAIR.1" if case.context == "folded" else "PAIR.0"
        return PlacedOutputs(outputs=outputs, placement=Placement(devices=(device,), threads=3))


def command(*arguments: object, code: int = 0) -> Result:
    """A command of opconform's, in this process; the first argument is its name."""
    name, *others = (str(argument) for argument in arguments)
    found = importlib.import_module(f"opconform_runners.cli.{name.replace('-', '_')}").command
    done = CliRunner().invoke(found, others, env={"COLUMNS": "300"})
    assert done.exit_code == code, (done.output, done.exception)
    return done


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """Four cases: three accepted, one of them folded, and one rejected."""
    folder = tmp_path_factory.mktemp("devices")
    from tests.conftest import whole  # this module is also a backend, whose process cannot import `tests`

    (folder / "spec.yaml").write_text(whole(SPEC))
    dialects = ("--dialect", "openvino", "--dialect", "onnx")
    command("generate", folder / "spec.yaml", "--out", folder / "suite", "--jobs", "1", *dialects)
    return open_suite(folder / "suite")


def given(suite: Suite, context: str, model: str) -> tuple[DeclaredCase, Path, list[Inputs]]:
    """The valid case in a context, as a backend is given it."""

    def is_wanted(entry: Entry) -> bool:
        return "/accepted/" in entry.id and suite.case(entry).context == context

    [entry] = filter(is_wanted, suite.entries)
    case = declared_case_from(json.loads(harness_text(suite.case(entry), suite.declarations)))
    arrays = suite.arrays(entry, inputs_name(0))
    feed = {input_.name: Tensor(element_type=input_.element_type, array=arrays[input_.name]) for input_ in case.inputs}
    return case, Path(str(suite.store.root)) / entry.id / model, [feed]


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
    assert f"openvino_intel_cpu_plugin {openvino.__version__}" in (said.driver or "")
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


def test_an_openvino_plugin_is_loaded_by_its_path(suite: Suite, tmp_path: Path) -> None:
    """The wheel's own CPU plugin from another place, under another name, by OpenVINO and its ONNX frontend."""
    library = tmp_path / "libmine.so"
    library.symlink_to(CPU_PLUGIN)
    out = tmp_path / "out"
    command("run", suite.store.root, "--backend", f"openvino:MYCPU={library}", "--out", out)
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


def test_a_provider_without_kernels_passes_nothing(suite: Suite, tmp_path: Path) -> None:
    """No verdict of the CPU's is given to another provider, and a refusal without a twin is evidence of nothing."""
    suite_folder = str(suite.store.root)
    found = importlib.import_module("opconform_runners.cli.run").command
    CliRunner().invoke(found, [suite_folder, "--backend", "onnxruntime:Azure", "--out", str(tmp_path / "out")])
    report = json.loads((tmp_path / "out" / "report.json").read_text())

    assert report["summary"] == {"pass": 0, "fail": 0, "unsupported": 3, "inconclusive": 1, "error": 0}
    assert report["environment"]["devices"] == []


@pytest.mark.parametrize(
    ("device", "beginning"),
    [
        ("Nowhere", "ONNX Runtime has no device 'Nowhere' on this machine. Allowed: "),
        ("X=no.so", "File not found: no.so."),
        ("X={text}", "ONNX Runtime cannot load {text}: Failed to load library"),
        ("X={plugin}", "ONNX Runtime cannot load {plugin}: Failed to get symbol CreateEpFactories"),
    ],
)
def test_a_missing_provider_is_reported_in_one_sentence(device: str, beginning: str, tmp_path: Path) -> None:
    """A name, a file and a library that is not an ONNX Runtime plugin."""
    text = tmp_path / "text.so"
    text.write_text("no library")
    for name, place in (("text", text), ("plugin", CPU_PLUGIN)):
        device, beginning = (x.replace(f"{{{name}}}", str(place)) for x in (device, beginning))

    with pytest.raises(UsageError) as caught:
        OnnxRuntime(device)
    assert str(caught.value).startswith(beginning)
    assert "\n" not in str(caught.value)


@pytest.mark.ci_only
@pytest.mark.parametrize("name", ["ggml", "ggml.CPU"])
def test_an_onnx_runtime_plugin_is_loaded_by_its_path(suite: Suite, tmp_path: Path, name: str) -> None:
    """The plugin onnxruntime-ggml, in a process of its own, which a loaded library never leaves."""
    library = provider_library()
    out = tmp_path / "out"
    command("run", suite.store.root, "--backend", f"onnxruntime:{name}={library}", "--out", out)
    report = json.loads((out / "report.json").read_text())
    cases = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()[1:-1]]
    verdicts = {case["id"].split("/")[1]: case["verdict"] for case in cases}

    assert report["implementation"]["device"] == name
    assert report["environment"]["devices"] == [name]
    assert report["environment"]["driver"].startswith("ggml 0.")
    assert report["summary"] == {"pass": 3, "fail": 0, "unsupported": 1, "inconclusive": 0, "error": 0}, verdicts


@pytest.mark.ci_only
def test_a_plugin_without_the_named_hardware_says_what_it_has(suite: Suite) -> None:
    """This plugin names its provider as it is registered: `ggml.GPU` must not become the name of the CPU."""
    library = provider_library()
    done = command("run", suite.store.root, "--backend", f"onnxruntime:ggml.GPU={library}", code=1)

    assert f"ggml.GPU does not name one device of {library}. Allowed: ggml.CPU." in str(done.exception)


def provider_library() -> Path:
    """The library of a plugin provider for ONNX Runtime."""
    named = os.environ.get("OPCONFORM_PROVIDER_LIBRARY")
    return Path(named or pytest.skip("OPCONFORM_PROVIDER_LIBRARY names no library; .ci/ci-only installs one"))


@pytest.fixture(scope="module")
def placed(suite: Suite, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a certified run on two devices, with its keys."""
    folder = tmp_path_factory.mktemp("placed")
    command("certificate", "keygen", folder / "me")
    spec = Path(str(suite.store.root)).with_name("spec.yaml")
    certify = ("certify", spec, "--backend", f"{__file__}:OnTwoDevices")
    done = command(*certify, "--out", folder / "out", "--sign", folder / "me.key")
    (folder / "printed").write_text(done.output)
    return folder


def statement(folder: Path) -> Any:
    """What the certificate says."""
    envelope = json.loads((folder / "out" / "certificate.json").read_text())
    return json.loads(base64.b64decode(envelope["payload"]))["predicate"]["opconform"]


def test_results_report_and_certificate_name_what_executed(placed: Path) -> None:
    """Each result its own device, and the report and certificate all of them, with the driver and the threads."""
    lines = [json.loads(line) for line in (placed / "out" / "results.jsonl").read_text().splitlines()[:-1]]
    devices = sorted(tuple(line["placement"]["devices"]) for line in lines if "placement" in line)
    report = json.loads((placed / "out" / "report.json").read_text())
    noted = report["environment"]

    assert devices == [("PAIR.0",), ("PAIR.0",), ("PAIR.1",)]
    assert noted["devices"] == ["PAIR.0", "PAIR.1"]
    assert (noted["threads"], noted["hardware"], noted["driver"]) == ([3], "A pair <of> boards", "pair_driver 7.1")
    assert noted["cores"] == len(os.sched_getaffinity(0))
    assert statement(placed)["environment"] == noted
    assert statement(placed)["backend"]["device"] == "PAIR"


@pytest.mark.parametrize("where", ["summary", "certificate"])
def test_what_executed_is_printed(placed: Path, where: str) -> None:
    """By the summary of a run, and by the check of a certificate."""
    shown = (placed / "printed").read_text()
    if where == "certificate":
        key = ("--key", placed / "me.pub")
        shown = command("certificate", "verify", placed / "out" / "certificate.json", *key).output
    printed = " ".join(shown.split())

    facts = (
        "executed on: PAIR.0, PAIR.1; hardware: A pair <of> boards; driver: pair_driver 7.1; threads: 3; processor: "
    )
    assert facts in printed


def test_the_page_names_what_executed(placed: Path) -> None:
    """In its header, as text."""
    page = (placed / "out" / "report.html").read_text()

    for what, said in (("Executed on", "PAIR.0, PAIR.1"), ("Hardware", "A pair &lt;of&gt; boards"), ("Threads", "3")):
        assert f"<dt>{what}</dt><dd>{said}</dd>" in page.replace("\n", "")


def test_a_certificate_names_the_devices_of_the_results(placed: Path) -> None:
    """Whatever `report.json` says, which is not signed."""
    report = placed / "out" / "report.json"
    right, before = report.read_text(), statement(placed)
    try:
        report.write_text(right.replace('"PAIR.1"\n  ],', '"PAIR.2"\n  ],'))
        assert report.read_text() != right
        command(
            *("certificate", "sign", placed / "out", "--key", placed / "me.key", "--suite", placed / "out" / "suite")
        )
    finally:
        report.write_text(right)

    assert statement(placed)["environment"] == before["environment"]


def test_recorded_outputs_keep_what_executed(suite: Suite, tmp_path: Path) -> None:
    """A judgement elsewhere names the devices of the run."""
    outputs, out = tmp_path / "outputs.zip", tmp_path / "judged"
    command("run", suite.store.root, "--backend", f"{__file__}:OnTwoDevices", "--record", outputs)
    command("certificate", "judge", outputs, "--suite", suite.store.root, "--out", out)
    noted = json.loads((out / "report.json").read_text())["environment"]

    assert (noted["devices"], noted["threads"], noted["driver"]) == (["PAIR.0", "PAIR.1"], [3], "pair_driver 7.1")


def test_an_unconfirmed_device_is_shown_as_not_reported() -> None:
    """A named device without a report is shown as such; an unnamed one is not shown."""
    nothing = Environment(system="s", machine="m", runner="r")

    assert environment_facts(nothing, "GPU") == (("Executed on", "not reported"),)
    assert environment_facts(nothing, None) == ()


def test_the_cores_are_those_that_the_process_may_use() -> None:
    """As `taskset` limits them: the machine may have more."""
    allowed = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        noted = environment_of(backend_command("numpy"), Numpy().describe(), ())
    finally:
        os.sched_setaffinity(0, allowed)

    assert noted.cores == 1
    assert noted.processor


@pytest.mark.parametrize(
    ("backend", "folder"),
    [
        ("openvino:MYCPU=/opt/maker/libplugin.so", "openvino-MYCPU"),
        ("onnxruntime:OpenVINO.CPU=lib.so", "onnxruntime-OpenVINO.CPU"),
        ("openvino:HETERO:CPU", "openvino-HETERO-CPU"),
        ("a=b/my_backend.py:Mine", "my_backend.py-Mine"),
    ],
)
def test_the_results_of_a_plugin_lie_under_its_name(backend: str, folder: str) -> None:
    """Not under the library's, of which a maker has many."""
    assert folder_name(backend) == folder
