"""Fake harnesses: one table of misbehaviours at one case, and one of broken rules of the protocol."""

import shlex
import sys
from pathlib import Path

from tests.fake_harnesses.misbehaviour import Misbehaviour
from tests.fake_harnesses.outputs import OUTPUTS
from tests.fake_harnesses.processes import PROCESSES
from tests.fake_harnesses.replies import REPLIES

__all__ = ["MISBEHAVIOURS", "command", "words"]

#: What a harness does at one case, by name, with the verdicts that the case may have.
MISBEHAVIOURS: dict[str, Misbehaviour] = {
    **{f"says {name}": misbehaviour for name, misbehaviour in REPLIES.items()},
    **{f"writes {name}": misbehaviour for name, misbehaviour in OUTPUTS.items()},
    **PROCESSES,
}


def words(name: str, *operations: str) -> tuple[str, ...]:
    """The command of the fake harness that misbehaves so, or breaks this rule, as a list of words."""
    return (sys.executable, "-S", str(Path(__file__).with_name("__main__.py")), name, *operations)


def command(name: str) -> str:
    """The same as the value of `--harness`."""
    return shlex.join(words(name))
