"""A repository that uses the plugin, and what pytest prints there."""

import os
import re
import subprocess
import sys
from collections.abc import Callable

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


def nested(words: list[str]) -> int:
    """Be a pytest in the current folder, with harnesses in this process."""
    sys.path.insert(0, os.getcwd())  # noqa: PTH109 - a string
    with served_in_process():
        return pytest.main(words)


def outcomes(done: "subprocess.CompletedProcess[str]") -> dict[str, int]:
    """What the last line of pytest counts."""
    return {
        name: int(number) for number, name in re.findall(r"(\d+) (\w+)", done.stdout.splitlines()[-1].split(" in ")[0])
    }


def miniature(name: str) -> str:
    """A faulty backend."""
    return f"{MINIATURES}:{name}"
