"""Devices: what executed a case is written down wherever a verdict is."""

import base64
import json
import os
from pathlib import Path
from typing import Any

import pytest

from opconform.suite.reader import Suite
from opconform_runners.backends.numpy.backend import Numpy
from opconform_runners.cli.shared.steps import folder_name
from opconform_runners.harness.command import backend_command
from opconform_runners.harness.environment import Environment, environment_facts, environment_of
from tests.conftest import ROOT, Run
from tests.device_suite import device_suite

TWO_DEVICES = ROOT / "tests" / "backends" / "two_devices.py"


@pytest.fixture(scope="module")
def suite(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """Four cases: three accepted, one of them folded, and one rejected."""
    return device_suite(opconform, tmp_path_factory.mktemp("devices"))


@pytest.fixture(scope="module")
def placed(opconform: Run, suite: Suite, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a certified run on two devices, with its keys."""
    folder = tmp_path_factory.mktemp("placed")
    opconform("certificate", "keygen", folder / "me")
    spec = Path(str(suite.store.root)).with_name("spec.yaml")
    certify = ("certify", spec, "--backend", f"{TWO_DEVICES}:OnTwoDevices")
    done = opconform(*certify, "--out", folder / "out", "--sign", folder / "me.key")
    (folder / "printed").write_text(done.stdout + done.stderr)
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
def test_what_executed_is_printed(opconform: Run, placed: Path, where: str) -> None:
    """By the summary of a run, and by the check of a certificate."""
    shown = (placed / "printed").read_text()
    if where == "certificate":
        key = ("--key", placed / "me.pub")
        shown = opconform("certificate", "verify", placed / "out" / "certificate.json", *key).stdout
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


def test_a_certificate_names_the_devices_of_the_results(opconform: Run, placed: Path) -> None:
    """Whatever `report.json` says, which is not signed."""
    report = placed / "out" / "report.json"
    right, before = report.read_text(), statement(placed)
    try:
        report.write_text(right.replace('"PAIR.1"\n  ],', '"PAIR.2"\n  ],'))
        assert report.read_text() != right
        opconform(
            *("certificate", "sign", placed / "out", "--key", placed / "me.key", "--suite", placed / "out" / "suite")
        )
    finally:
        report.write_text(right)

    assert statement(placed)["environment"] == before["environment"]


def test_recorded_outputs_keep_what_executed(opconform: Run, suite: Suite, tmp_path: Path) -> None:
    """A judgement elsewhere names the devices of the run."""
    outputs, out = tmp_path / "outputs.zip", tmp_path / "judged"
    opconform("run", suite.store.root, "--backend", f"{TWO_DEVICES}:OnTwoDevices", "--record", outputs)
    opconform("certificate", "judge", outputs, "--suite", suite.store.root, "--out", out)
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
