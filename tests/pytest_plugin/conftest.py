"""A suite, and pytest in a repository that uses the plugin."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.forked import forked
from tests.pytest_plugin.repository import OWN, SPEC, Pytest, nested


@pytest.fixture(scope="module")
def suite(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six cases: four accepted of one group and its twin, one rejected, one with NaNs."""
    folder = tmp_path_factory.mktemp("plugin")
    (folder / "spec.yaml").write_text(SPEC)
    opconform("generate", folder / "spec.yaml", "--out", folder / "suite", "--jobs", "1")
    return folder / "suite"


@pytest.fixture
def run_pytest(tmp_path: Path) -> Pytest:
    """A pytest process in a repository with one test: the plugin takes part in pytest's start.

    It loads no other plugin.
    """
    (tmp_path / "test_own.py").write_text(OWN)

    def run(*arguments: object, folder: str = ".") -> "subprocess.CompletedProcess[str]":
        plugins = ["--assert=plain", "-p", "opconform", *(("-p", "xdist") if "-n" in arguments else ())]
        words = [*plugins, *(str(argument) for argument in arguments)]
        environment = {name: x for name, x in os.environ.items() if not name.startswith("PYTEST_")}
        environment |= {"COLUMNS": "300", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        return forked(nested, words, environment, folder=tmp_path / folder)

    return run
