"""A repository that uses the plugin, and what pytest prints there."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from tests.conftest import MINIATURES
from tests.in_process import served_in_process

Pytest = Callable[..., "subprocess.CompletedProcess[str]"]


OWN = """\
def test_their_own():
    pass
"""


SPEC = """\
op: VariadicSplit-1
groups:
  - id: accepted
    title: lengths, one of which several miniatures do not bear
    profile: core
    requirements: [lengths.remainder]
    matrix:
      lengths: [[-1, 1, 2], [1, 2, -1], [2, 2, 2]]
    data: {shape: [6, 2], fill: special}
    axis: 0
    split_lengths: ${{ lengths }}
  - id: rejected
    title: at most one -1
    profile: robustness
    requirements: [lengths.single-remainder]
    data: {shape: [6, 4]}
    axis: 0
    split_lengths: [-1, -1, 2]
    expect: {reject: lengths.single-remainder}
    twin: {split_lengths: [2, 2, 2]}
  - id: nans
    title: a NaN's payload
    profile: types
    requirements: [data.nan-payload]
    data: {shape: [16], fill: special}
    axis: 0
    split_lengths: [8, 8]
"""


def nested(arguments: Sequence[str], folder: Path, environment: Mapping[str, str], written: Path) -> None:
    """Become a pytest in a folder, and write to files what it prints."""
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    for stream, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(written / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    with served_in_process():
        sys.exit(pytest.main(list(arguments)))


def outcomes(done: "subprocess.CompletedProcess[str]") -> dict[str, int]:
    """What the last line of pytest counts."""
    return {
        name: int(number) for number, name in re.findall(r"(\d+) (\w+)", done.stdout.splitlines()[-1].split(" in ")[0])
    }


def miniature(name: str) -> str:
    """A faulty backend."""
    return f"{MINIATURES}:{name}"
