"""Scripts that reproduce a case, and the products that they run on."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import pytest
from maintenance.findings import products

from tests.conftest import Run

#: The product with findings of each backend that there are scripts for, and the packages that its scripts need.
PRODUCTS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "openvino": ("openvino-2026.4", ("openvino",)),
    "openvino-onnx": ("openvino-onnx-2026.4", ("openvino", "onnx")),
    "onnxruntime": ("onnxruntime-1.31", ("onnxruntime", "onnx")),
    "torch": ("torch-2.13.0", ("torch",)),
}

#: The seconds after which a script hangs.
_MOST = 60
#: What takes minutes instead of ending.
ENDLESS = frozenset({"GatherND-8/batches-out-of-range-in-breadth/613f9bbe18"})


def cases_of(product: str) -> list[str]:
    """The cases that the findings in a product name, in the order of their numbers."""
    findings = sorted(products()[product].findings, key=lambda finding: finding.number)
    return list(dict.fromkeys(case for finding in findings for case in finding.cases if case not in ENDLESS))


def interpreter(backend: str) -> str:
    """The interpreter that has a backend's packages."""
    if all(find_spec(p) for p in PRODUCTS[backend][1]):
        return sys.executable
    return os.environ.get(f"OPCONFORM_PYTHON_{backend.upper()}") or pytest.skip(f"{backend} is not installed")


def header_of(script: str) -> str:
    """The comment that a script begins with, as one line."""
    return " ".join(line.removeprefix("# ") for line in script.partition("\nimport ")[0].splitlines())


def executed(script: Path, python: str) -> "subprocess.CompletedProcess[str]":
    """A script, executed where opconform cannot help it, and killed if it does not end."""
    command = [python, str(script)]
    try:
        return subprocess.run(command, cwd=script.parent, capture_output=True, text=True, check=False, timeout=_MOST)
    except subprocess.TimeoutExpired as hang:
        said = [(part or b"").decode() for part in (hang.stdout, hang.stderr)]
        return subprocess.CompletedProcess(command, -signal.SIGKILL, *said)


def generated(opconform: Run, out: Path, cases: set[str]) -> None:
    """Generates the suite of some cases."""
    selected = [word for case in sorted(cases) for word in ("--select", case)]
    dialects = [word for name in ("openvino", "onnx") for word in ("--dialect", name)]
    ops = sorted({case.partition("/")[0] for case in cases})
    opconform("generate", *ops, *selected, *dialects, "--out", out)
