"""pip and uv: what installs packages in an environment, as the user has configured it."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from opconform.errors import HarnessError
from opconform.system.text import one_line
from opconform_runners.harness.command import SAFE_PATH

#: Where pip would install, which the user may have set for another purpose.
_ELSEWHERE = ("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER")
#: The settings of pip that say where packages come from; uv has options of the same names, but does not read them.
_INDEX = re.compile(r"^[\w:-]+\.(index-url|extra-index-url|find-links|no-index)='(.*)'$", re.MULTILINE)
_ERROR = re.compile(r"^ *(?:ERROR|error|cause|\u00d7|\u2570\u2500\u25b6)[: ]+(.*)", re.MULTILINE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Installer:
    """The interpreter that has pip, and the program uv if there is one."""

    python: str
    uv: str | None = None

    def pip(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run pip."""
        command = (self.python, SAFE_PATH, "-m", "pip", "--disable-pip-version-check", "--no-input", *words)
        return _run(*command)

    def install(self, python: Path, *requirements: str) -> None:
        """Install packages for an interpreter; a `HarnessError` says why they cannot be installed."""
        if self.uv is None:
            done = self.pip("--python", str(python), "install", "--quiet", *requirements)
        else:
            done = _run(self.uv, "pip", "install", "--python", str(python), *self._index(), *requirements)
        if done.returncode:
            raise HarnessError(f"{requirements[0]} cannot be installed: {said(done).rstrip('.')}.")

    def _index(self) -> list[str]:
        """The options of uv for where the user's pip takes packages from: it prefers no index."""
        options = ["--index-strategy=unsafe-best-match"]
        for name, value in _INDEX.findall(self.pip("config", "list").stdout):
            if name == "no-index":
                options += ["--no-index"] if value.lower() in ("1", "true", "yes", "on") else []
            else:
                options += [f"--{name}={place}" for place in value.replace("\\n", " ").split()]
        return list(dict.fromkeys(options))


def installer_in(cache: Path) -> Installer:
    """The installer: this interpreter's pip, or else one in an environment in a cache folder, and uv."""
    uv = shutil.which("uv")
    if find_spec("pip") is not None:
        return Installer(python=sys.executable, uv=uv)
    folder = cache / f"pip-{sys.implementation.cache_tag}"
    if not interpreter_in(folder).exists() or _run(str(interpreter_in(folder)), "-m", "pip", "--version").returncode:
        make_environment(folder, "--clear")
    return Installer(python=str(interpreter_in(folder)), uv=uv)


def make_environment(folder: Path, *options: str) -> None:
    """Make a virtual environment; a `HarnessError` says why that fails."""
    done = _run(sys.executable, SAFE_PATH, "-m", "venv", *options, str(folder))
    if done.returncode:
        raise HarnessError(f"The environment {folder} cannot be made: {said(done).rstrip('.')}.")


def interpreter_in(folder: Path) -> Path:
    """The interpreter of a virtual environment."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def said(done: "subprocess.CompletedProcess[str]") -> str:
    """What a program said last, as one sentence: its errors, or its last line."""
    text = done.stderr.strip() or done.stdout.strip()
    return one_line(" ".join(_ERROR.findall(text)[-2:]) or (text.splitlines() or ["it said nothing"])[-1], 400)


def _run(*command: str) -> "subprocess.CompletedProcess[str]":
    environment = {name: value for name, value in os.environ.items() if name not in _ELSEWHERE}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, errors="replace")
