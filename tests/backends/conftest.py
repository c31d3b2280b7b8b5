"""What tests of devices need: a suite of four cases, and commands in this process."""

import importlib
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from opconform.suite.case import harness_text
from opconform.suite.declarations import DeclaredCase, declared_case_from
from opconform.suite.manifest import Entry, inputs_name
from opconform.suite.reader import Suite, open_suite
from opconform.tensors.tensor import Tensor
from opconform_runners.backends.backend import Inputs
from tests.backends.cpp import built, openvino
from tests.conftest import Run, made_once, whole
from tests.in_process import served_in_process

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


def command(*arguments: object, code: int = 0) -> Result:
    """A command of opconform's, in this process; the first argument is its name."""
    name, *others = (str(argument) for argument in arguments)
    found = importlib.import_module(f"opconform_runners.cli.{name.replace('-', '_')}").command
    with served_in_process():
        done = CliRunner().invoke(found, others, env={"COLUMNS": "300"})
    assert done.exit_code == code, (done.output, done.exception)
    return done


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """Four cases: three accepted, one of them folded, and one rejected."""
    folder = tmp_path_factory.mktemp("devices")
    (folder / "spec.yaml").write_text(whole(SPEC))
    dialects = ("--dialect", "openvino", "--dialect", "onnx")
    command("generate", folder / "spec.yaml", "--out", folder / "suite", "--jobs", "1", *dialects)
    return open_suite(folder / "suite")


@pytest.fixture(scope="session")
def cpp(opconform: Run, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A folder with the core of some operations as `suite`, its export as a kit, and the `build` of harness and tests.

    They move elements, round each result once, and have bounds.
    """

    def make(out: Path) -> None:
        core = ("--profile", "core", "--dialect", "openvino", "--jobs", "1")
        opconform(
            "generate", "Split-1", "VariadicSplit-1", "ReLU-1", "Exp-1", "SoftMax-8", *core, "--out", out / "suite"
        )
        opconform("export", out / "suite", "--as", "gtest", "--out", out / "kit")
        built(out / "kit", out / "build", openvino())

    return made_once(tmp_path_factory, worker_id, "cpp", make)


def given(suite: Suite, context: str, model: str) -> tuple[DeclaredCase, Path, list[Inputs]]:
    """The valid case in a context, as a backend is given it."""

    def is_wanted(entry: Entry) -> bool:
        return "/accepted/" in entry.id and suite.case(entry).context == context

    [entry] = filter(is_wanted, suite.entries)
    case = declared_case_from(json.loads(harness_text(suite.case(entry), suite.declarations)))
    arrays = suite.arrays(entry, inputs_name(0))
    feed = {input_.name: Tensor(element_type=input_.element_type, array=arrays[input_.name]) for input_ in case.inputs}
    return case, Path(str(suite.store.root)) / entry.id / model, [feed]
