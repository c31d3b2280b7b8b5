"""Requests: small tensors go in the messages of harnesses that declare it, and all others in files."""

import json
from base64 import b64decode, b64encode
from pathlib import Path

import numpy as np
import pytest

from opconform.generation.options import LIMITS, Options
from opconform.generation.pipeline import generate
from opconform.specs.loader import load_specs
from opconform.suite.reader import Suite, open_suite
from opconform.tensors.npz import npz_bytes
from opconform_runners.execution.request import Place, Request, lay_out, outcome_of
from opconform_runners.harness.outcome import Error, Returned
from opconform_runners.harness.protocol import INLINE_LIMIT, Ok

SPEC = f"""\
op: Split-1
groups:
  - id: small
    title: inputs that fit into a message
    requirements: [outputs.shape]
    data: {{shape: [2], element_type: u8}}
    axis: 0
    num_splits: 2
  - id: large
    title: inputs that do not fit into a message
    requirements: [outputs.shape]
    data: {{shape: [{INLINE_LIMIT}], element_type: u8}}
    axis: 0
    num_splits: 2
"""
OUTPUTS = npz_bytes({"output_0": np.zeros(1, np.uint8), "output_1": np.ones(1, np.uint8)})


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """Both cases, with models."""
    folder = tmp_path_factory.mktemp("requests")
    (folder / "spec.yaml").write_text(SPEC)
    generate(load_specs([folder / "spec.yaml"]), folder / "suite", Options(limits=LIMITS, jobs=1))
    return open_suite(folder / "suite")


def laid_out(suite: Suite, group: str, scratch: Path, *, inline: bool, dialect: str | None = None) -> Request:
    """The request for the case of a group."""
    entry = next(entry for entry in suite.entries if f"/{group}/" in entry.id)
    place = Place(folder=str(scratch / "7"), outputs=str(scratch), inline=inline)
    return lay_out(suite, (entry, suite.case(entry)), dialect, seq=7, place=place)


def test_small_inputs_go_in_the_request_and_no_folder_is_made(suite: Suite, tmp_path: Path) -> None:
    """The base64 text is the file of the suite."""
    request = laid_out(suite, "small", tmp_path, inline=True)
    message = json.loads(request.line)
    [feed] = message["feeds"]

    assert b64decode(feed["npz"], validate=True) == suite.read(request.entry, "inputs.npz")
    assert (message["dir"], feed.keys()) == (None, {"npz", "outputs"})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("group", "inline"), [("small", False), ("large", True)])
def test_other_inputs_go_in_files(suite: Suite, tmp_path: Path, group: str, inline: bool) -> None:
    """Those of a harness that does not declare `inline`, and large ones."""
    request = laid_out(suite, group, tmp_path, inline=inline)
    message = json.loads(request.line)

    assert message["dir"] == str(tmp_path / "7")
    assert message["feeds"] == [{"inputs": "inputs.npz", "outputs": str(tmp_path / "7.npz")}]
    assert (tmp_path / "7" / "inputs.npz").read_bytes() == suite.read(request.entry, "inputs.npz")


def test_a_model_is_a_file_in_any_case(suite: Suite, tmp_path: Path) -> None:
    """Only the inputs are in the request."""
    message = json.loads(laid_out(suite, "small", tmp_path, inline=True, dialect="openvino").line)

    assert (Path(message["dir"]) / message["model"]).is_file()
    assert not (tmp_path / "7" / "inputs.npz").exists()


def test_outputs_in_a_reply_are_read(suite: Suite, tmp_path: Path) -> None:
    """As those in a file are."""
    request = laid_out(suite, "small", tmp_path, inline=True)
    outcome = outcome_of(suite, request, Ok(seq=7, outputs=(b64encode(OUTPUTS).decode(),)))

    assert isinstance(outcome, Returned)
    assert [output.tolist() for output in outcome.outputs[0]] == [[0], [1]]


def test_null_in_a_reply_means_that_the_file_is_written(suite: Suite, tmp_path: Path) -> None:
    """Its outputs were too large for a message."""
    request = laid_out(suite, "small", tmp_path, inline=True)
    Path(request.outputs[0]).write_bytes(OUTPUTS)

    assert isinstance(outcome_of(suite, request, Ok(seq=7, outputs=(None,))), Returned)


@pytest.mark.parametrize(
    ("outputs", "sentence"),
    [
        (("zeros",), "the outputs in the reply are not base64"),
        (("é",), "the outputs in the reply are not base64"),
        ((b64encode(OUTPUTS[:-1]).decode(),), "the reply is not a readable .npz file: File is not a zip file"),
        ((None, None), "the harness replied with the outputs of 2 feeds instead of 1"),
    ],
)
def test_wrong_outputs_in_a_reply_are_an_error_of_the_harness(
    suite: Suite, tmp_path: Path, outputs: tuple[str | None, ...], sentence: str
) -> None:
    """They say nothing about the backend."""
    request = laid_out(suite, "small", tmp_path, inline=True)

    assert outcome_of(suite, request, Ok(seq=7, outputs=outputs)) == Error(sentence=sentence)


def test_outputs_in_a_reply_that_were_not_asked_for_are_an_error_of_the_harness(suite: Suite, tmp_path: Path) -> None:
    """The harness gets files, since it does not declare `inline`."""
    request = laid_out(suite, "small", tmp_path, inline=False)
    reply = Ok(seq=7, outputs=(b64encode(OUTPUTS).decode(),))

    sentence = "the harness put outputs in the reply, although the inputs were in files"
    assert outcome_of(suite, request, reply) == Error(sentence=sentence)
