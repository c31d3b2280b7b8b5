"""The small suite, and outputs that were recorded on it without its expected outputs."""

import json
from pathlib import Path

import pytest

from opconform.suite.case import canonical_json
from opconform.suite.reader import Suite, open_suite
from tests.conftest import MINIATURES, Run


@pytest.fixture(scope="module")
def blind_suite(opconform: Run, small_spec: Path) -> Path:
    """The small suite without its expected outputs, as one file."""
    out = small_spec.parent / "blind.zip"
    opconform("generate", small_spec, "--blind", "--out", out)
    return out


@pytest.fixture(scope="module")
def outputs(opconform: Run, blind_suite: Path) -> Path:
    """The recorded outputs of a perfect backend."""
    out = blind_suite.parent / "outputs.zip"
    opconform("run", blind_suite, "--backend", f"{MINIATURES}:Perfect", "--record", out)
    return out


def _unlinked(line: bytes) -> bytes:
    """A line of a log without its digest."""
    document = json.loads(line)
    document.pop("chain", None)
    return canonical_json(document).encode() + b"\n"


@pytest.fixture
def suite(small_suite: Path) -> Suite:
    """The small suite: four valid cases, a rejected one and its twin."""
    return open_suite(small_suite)
