"""What tests of the C++ harness need: its build, in an exported kit."""

from pathlib import Path

import pytest

from tests.conftest import Run, made_once
from tests.cpp.builds import built, openvino


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
