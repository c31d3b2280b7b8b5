"""`opconform new`."""

import keyword
import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import click

from opconform.errors import DiskError, UsageError, quoted
from opconform.operations import NAME, OPERATIONS
from opconform.suite.storage.ownership import check_outside_suites
from opconform.system.resources import render
from opconform_runners.cli.shared.help import HelpGroup

_WORD = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")


@click.group("new", cls=HelpGroup)
def command() -> None:
    """Create working starter files for an operation, a backend or a harness."""


@command.command("operation", example="new operation Mirror-1")
@click.argument("name")
@click.option("--computing", is_flag=True, help="Write an operation that computes, in place of one that moves data.")
def _operation(name: str, computing: bool) -> None:
    """Write a package of an operation and its cases.

    NAME is a versioned name, as in Mirror-1. The package is a folder in the current folder; once it is installed, NAME
    stands for its cases, and the backend `numpy` executes them with the function in `kernel.py`.
    """
    if not NAME.fullmatch(name):
        raise UsageError(f"{quoted(name)} is not the name of an operation. Name one with a version, as in Mirror-1.")
    if name in OPERATIONS:
        raise UsageError(f"The operation {name} exists already. Use another name.")
    package, distribution = _snake(name), _snake(name).replace("_", "-")
    folder = Path(distribution)
    cases = folder / package / "cases" / name
    values = {"name": name, "package": package, "distribution": distribution}
    kind = "operation/computing" if computing else "operation/movement"
    files = {
        folder / "pyproject.toml": "operation/pyproject.toml.j2",
        folder / package / "operation.py": f"{kind}/operation.py.j2",
        folder / package / "kernel.py": f"{kind}/kernel.py.j2",
        cases / "requirements.yaml": f"{kind}/requirements.yaml.j2",
        cases / "cases.yaml": f"{kind}/cases.yaml.j2",
    }
    _check_module(package, folder)
    contents = {file: str(render(f"new/{template}", **values)) for file, template in files.items()}
    _write({**contents, folder / package / "__init__.py": f'"""The operation {name}."""\n'}, top=folder)
    _say(
        f"{_python()} -m pip install -e {distribution}",
        f"opconform list {name}",
        f"opconform generate {name} --out {distribution}-suite",
        f"opconform run {distribution}-suite --backend numpy --out {distribution}-results",
        f"opconform adequacy {name}",
    )


@command.command("backend", example="new backend my-runtime")
@click.argument("name")
def _backend(name: str) -> None:
    """Write a backend: a class in a Python file.

    NAME is the name of the backend, in lower case, as in my-runtime. The file is written in the current folder.
    """
    file, class_name = _file_of(name), "".join(word.capitalize() for word in re.split("[-_]", name))
    _write({file: str(render("new/backend.py.j2", name=name, class_name=class_name))}, top=file)
    _say(
        f"opconform harness check --backend {file}:{class_name}",
        f"opconform certify {file}:{class_name} Concat-1 --profile core --out {name}-results",
    )


@command.command("harness", example="new harness my-harness")
@click.argument("name")
def _harness(name: str) -> None:
    """Write a harness: a Python file without opconform.

    The file speaks the protocol, and is a pattern for harnesses in other languages.

    NAME is the name of the backend, in lower case, as in my-harness. The file is written in the current folder.
    """
    file = _file_of(name)
    _write({file: str(render("new/harness.py.j2", name=name))}, top=file)
    harness = shlex.quote(f"{_python()} {file}")
    _say(
        f"opconform harness check --harness {harness}",
        f"opconform generate Concat-1 --profile core --out {name}-suite",
        f"opconform run {name}-suite --harness {harness} --out {name}-results",
    )


def _snake(name: str) -> str:
    """A name of an operation as the name of a package: `GatherND-8` gives `gather_nd_8`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|-", "_", name).lower()


def _file_of(name: str) -> Path:
    """The file of a backend or harness."""
    if not _WORD.fullmatch(name):
        raise UsageError(
            f"{quoted(name)} is not a valid name. Use lower-case letters, digits and hyphens, as in my-name."
        )
    file = Path(name.replace("-", "_") + ".py")
    _check_module(file.stem, file)
    return file


def _check_module(module: str, path: Path) -> None:
    """Check that nothing is at a path, and that a module of the name would take no other's place."""
    if os.path.lexists(path):
        raise UsageError(f"{path} exists already, and is not overwritten. Use another name, or move it.")
    if keyword.iskeyword(module) or module in sys.stdlib_module_names or find_spec(module) is not None:
        raise UsageError(f"{module} is the name of a Python keyword or of an installed module. Use another name.")


def _write(contents: Mapping[Path, str], *, top: Path) -> None:
    """Write new files. None is replaced, not even one that appeared a moment ago."""
    try:
        check_outside_suites(top)
        for file, content in contents.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("x", encoding="utf-8", newline="\n") as opened:
                opened.write(content)
            click.echo(f"wrote {file}")
    except OSError as error:
        if DiskError.is_full(error):
            raise DiskError(top, error) from error
        raise UsageError(f"{top} cannot be written: {error.strerror}. Use another folder.") from error


def _python() -> str:
    """This interpreter, as a command of a shell."""
    python = shutil.which("python")
    is_this = python is not None and Path(python).parent == Path(sys.executable).parent
    return "python" if is_this else shlex.quote(sys.executable)


def _say(*commands: str) -> None:
    click.echo("\nTry it:")
    for item in commands:
        click.echo(f"  {item}")
