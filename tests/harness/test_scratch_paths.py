"""What a harness says names no folder of the machine that it ran in, so that results of two runs compare."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from opconform_runners.cli.run import command as run
from opconform_runners.harness.outcome import Crashed, Error
from opconform_runners.harness.processes.scratch import without_scratch
from opconform_runners.harness.protocol import Refused
from tests.fake_harnesses import command
from tests.result_files import cases_in

SCRATCH = Path("/var/my tmp/opconform-mac3ukku")

TEXTS = {
    f"Load model from {SCRATCH}/1061/onnx/model.onnx failed": "Load model from onnx/model.onnx failed",
    f"'{SCRATCH}/7/inputs.1.npz'": "'inputs.1.npz'",
    f"cannot write {SCRATCH}/12.npz, nor {SCRATCH}/12.1.npz": "cannot write outputs.npz, nor outputs.1.npz",
    f"in {SCRATCH}/12: empty; in {SCRATCH}/: empty": "in the case's folder: empty; in the case's folder: empty",
    "file:///private/tmp/opconform-mac3ukku/3/model.xml": "model.xml",
    "onform-x/opconform-mac3ukku/3/model.xml": "model.xml",
    "/home/x/backend.py, line 3": "/home/x/backend.py, line 3",
}


@pytest.mark.parametrize("text", TEXTS)
def test_a_file_is_named_as_in_the_suite(text: str) -> None:
    """For every location and spelling of the scratch folder."""
    assert without_scratch(Crashed(how=text), SCRATCH) == Crashed(how=TEXTS[text])


def test_every_text_of_an_outcome_is_changed() -> None:
    """Messages and the log of a harness; other fields stay."""
    text = f'File "{SCRATCH}/1/kernel.py", line 3'
    refused = Refused(seq=1, stage="build", message=text)

    assert without_scratch(refused, SCRATCH) == Refused(seq=1, stage="build", message='File "kernel.py", line 3')
    assert without_scratch(Error(sentence=text, log=text), SCRATCH).log == 'File "kernel.py", line 3'
    assert without_scratch(Error(sentence="x"), SCRATCH) == Error(sentence="x")


def test_results_of_two_runs_are_the_same(small_suite: Path, tmp_path: Path) -> None:
    """Of a harness whose messages, traceback and standard error name its files."""
    harness = command("says an error with the names of its files")
    sentences = []
    for out in (tmp_path / "one", tmp_path / "two"):
        CliRunner().invoke(run, [str(small_suite), "--harness", harness, "--timeout", "60", "--out", str(out)])
        cases = cases_in(out)
        sentences.append([(case["sentence"], case["log"]) for case in cases if case["verdict"] == "error"])

    assert sentences == [[("cannot read inputs.npz", "in the case's folder: outputs.npz")]] * 2
