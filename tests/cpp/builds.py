"""Builds of C++ projects with CMake."""

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

#: CMake's messages for a missing package, as opposed to a mistake in the build.
ABSENT = re.compile(
    r"No CMAKE_CXX_COMPILER could be found"
    r'|Could not find a package configuration file provided by "\w+"'
    r"|Could NOT find \w+"
    r"|No package '\w+' found|Package '\w+'[ ,'\w:-]* not found"
)


def configured(source: Path, build: Path, *options: str) -> Path:
    """Configure a project; the test is skipped if a package is not installed."""
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    configure = ["cmake", "-S", str(source), "-B", str(build), *options]
    done = subprocess.run(configure, capture_output=True, text=True, check=False)
    absent = ABSENT.search(" ".join((done.stdout + done.stderr).split()))
    if done.returncode != 0 and absent is not None:
        pytest.skip(f"{source} cannot be built: {absent[0]}")
    assert done.returncode == 0, done.stderr
    return build


def built(source: Path, build: Path, *options: str) -> Path:
    """The folder in which a project is configured and built."""
    configured(source, build, *options)
    done = subprocess.run(["cmake", "--build", str(build)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return build


def openvino() -> str:
    """The option of CMake for the installed OpenVINO."""
    if importlib.util.find_spec("openvino") is None:
        pytest.skip("openvino is not installed")
    find = [sys.executable, "-c", "from openvino.utils import get_cmake_path; print(get_cmake_path())"]
    return f"-DOpenVINO_DIR={subprocess.run(find, capture_output=True, text=True, check=True).stdout.strip()}"
