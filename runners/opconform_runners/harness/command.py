"""The command that starts a harness, of a Python backend or in any language."""

import hashlib
import os
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import opconform
from opconform.errors import UsageError
from opconform_runners.harness import bootstrap
from opconform_runners.harness.registry import backend_file_of, check, placed

#: The bytes of a GiB, the unit of `--memory`.
GIB = 1 << 30
#: The largest number of seconds for a case, and of GiB for a harness.
LARGEST = 1_000_000
#: An option of Python: no module is imported from the current folder or from the folder of a script.
SAFE_PATH = "-P"


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """How a harness is started: the program with its arguments, and its name in reports and file names.

    Attributes:
        options: The options of the command line that name the harness.
        memory: The bytes that it and its children may take before it is killed, or None.
        python: The interpreter of a Python backend; None for any other harness.
        elsewhere: Whether opconform is not installed for that interpreter.
    """

    arguments: tuple[str, ...]
    name: str
    options: str = ""
    memory: int | None = None
    python: str | None = None
    elsewhere: bool = False

    @property
    def program(self) -> str | None:
        """The SHA-256 of the file of a backend's class, or of the files in a harness's command; None without files."""
        if self.python is None:
            files = [Path(shutil.which(self.arguments[0]) or self.arguments[0]), *map(Path, self.arguments[1:])]
        else:
            files = [Path(backend_file_of(self.name))] if backend_file_of(self.name) else []
        digests = [hashlib.sha256(file.read_bytes()).digest() for file in files if file.is_file()]
        return hashlib.sha256(b"".join(digests)).hexdigest() if digests else None


def memory_limit(gib: float | None = None) -> int:
    """The memory limit of a harness in bytes: a number of GiB, or three quarters of the machine's memory."""
    if gib is not None:
        return int(gib * GIB)
    import psutil  # it takes long to import

    return psutil.virtual_memory().total * 3 // 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Launch:
    """How cases are executed.

    Attributes:
        command: The command of a harness.
        jobs: The number of harness processes; if it is None, the backend's device and the number of cases decide.
        timeout: The time limit of a case in seconds.
        alone: Whether every case is executed alone, also where the backend takes packs.
    """

    command: Command
    jobs: int | None = 1
    timeout: float = 60.0
    alone: bool = False


def backend_command(name: str, python: Path | None = None) -> Command:
    """The command of a Python backend such as `openvino:CPU` or `path/file.py:ClassName`.

    It runs in the interpreter `python`, or in this one.
    """
    check(name)
    options = f"--backend {shlex.quote(name)}"
    if python is None:
        arguments = (sys.executable, SAFE_PATH, "-m", "opconform_runners.harness.server", name)
        return Command(arguments=arguments, name=name, options=options, python=sys.executable)
    if not python.is_file() or not os.access(python, os.X_OK):
        raise UsageError(
            f"{python} is not an executable Python interpreter. Name one in an environment, as in venv/bin/python."
        )
    home = str(Path(opconform.__file__ or "").parent)
    return Command(
        arguments=(str(python), SAFE_PATH, bootstrap.__file__, home, placed(name)),
        name=name,
        options=f"{options} --python {shlex.quote(str(python))}",
        elsewhere=True,
        python=str(python),
    )


def harness_command(text: str) -> Command:
    """The command of a harness in any language, split as a shell would split it."""
    try:
        arguments = tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"--harness {text!r} cannot be split into words: {error}.") from error
    if not arguments:
        raise UsageError("--harness needs a command, as in --harness './my-harness --device 0'.")
    return Command(arguments=arguments, name=Path(arguments[0]).name, options=f"--harness {shlex.quote(text)}")
