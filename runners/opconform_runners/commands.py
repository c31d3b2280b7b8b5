"""Commands: how a harness is started, be it a Python backend's or any other."""

import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import opconform
import opconform_runners
from opconform.errors import UsageError
from opconform_runners.installed import check, placed

#: The bytes of a GiB, in which people say how much memory a harness may take.
GIB = 1 << 30


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """How a harness is started.

    Attributes:
        arguments: The program and its arguments.
        environment: What is set for it beside the environment of this process.
        name: What it is called in reports and file names.
        memory: The most bytes that it may take together with its children before it is killed, or None.
    """

    arguments: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    name: str
    memory: int | None = None


def backend_command(name: str, python: Path | None = None) -> Command:
    """The command of a Python backend.

    Args:
        name: As in `openvino:CPU` or `path/file.py:ClassName`.
        python: The interpreter to run it in; this one by default.

    Raises:
        UsageError: There is no such backend or interpreter.
    """
    check(name)
    arguments = (str(python or sys.executable), "-m", "opconform_runners.harness", name)
    if python is None:
        return Command(arguments=arguments, name=name)
    if not os.access(python, os.X_OK):
        raise UsageError(f"{python} is no interpreter that can be run. Name the python of a virtual environment.")
    arguments = (*arguments[:-1], placed(name))
    roots = dict.fromkeys(str(Path(each.__file__ or "").parents[1]) for each in (opconform, opconform_runners))
    return Command(arguments=arguments, environment={"PYTHONPATH": os.pathsep.join(roots)}, name=name)


def harness_command(text: str) -> Command:
    """The command of a harness in any language, split as a shell would split it.

    Raises:
        UsageError: It is empty, or a quote is not closed.
    """
    try:
        arguments = tuple(shlex.split(text))
    except ValueError as fault:
        raise UsageError(f"--harness {text!r} cannot be split into words: {fault}.") from fault
    if not arguments:
        raise UsageError("--harness needs a command, as in --harness './my-harness --device 0'.")
    return Command(arguments=arguments, name=Path(arguments[0]).name)
