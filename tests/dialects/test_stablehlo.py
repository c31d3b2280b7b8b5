"""The modules of the dialect `stablehlo` are read by a real loader: the MLIR of IREE's compiler."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.conftest import Run, interpreter_with

pytestmark = pytest.mark.ci_only

#: Reads paths of modules from standard input, and prints the loader's message about each one that it rejects.
LOADER = """\
import json, sys
from pathlib import Path
from iree.compiler.ir import Context, MLIRError, Module

context, refused = Context(), {}
for path in json.load(sys.stdin):
    try:
        module = Module.parse(Path(path).read_text(), context)
        assert module.operation.verify()
    except MLIRError as fault:
        refused[path] = str(fault)
print(json.dumps(refused))
"""


def refused(modules: list[Path]) -> dict[str, str]:
    """What the loader says of those that it refuses."""
    python = interpreter_with("iree.compiler", "OPCONFORM_PYTHON_IREE")
    told = json.dumps([str(module) for module in modules])
    done = subprocess.run([python, "-c", LOADER], input=told, capture_output=True, text=True, check=True)
    said: dict[str, str] = json.loads(done.stdout)
    return said


def test_every_module_is_read(any_suite: Path) -> None:
    """Each is StableHLO: its syntax, its types, its constants and the shapes of its slices."""
    modules = sorted(any_suite.rglob("*.mlir"))

    assert len(modules) > 200
    assert refused(modules) == {}


def test_the_loader_refuses_a_slice_of_another_shape(opconform: Run, small_spec: Path, tmp_path: Path) -> None:
    """The reader is more than a parser: it infers the types of slices."""
    opconform("generate", small_spec, "--out", tmp_path / "suite", "--dialect", "stablehlo")
    whole, *_ = sorted((tmp_path / "suite").rglob("*.mlir"))
    broken = tmp_path / "broken.mlir"
    broken.write_text(whole.read_text().replace("[0:1,", "[0:2,"))

    assert broken.read_text() != whole.read_text()
    assert [*refused([whole, broken])] == [str(broken)]
