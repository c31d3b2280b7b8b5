"""The environment that a backend runs in: machine, interpreter, and the versions of the packages that it is made of."""

import json
import platform
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, entry_points, requires

from pydantic import ConfigDict, TypeAdapter, ValidationError

import opconform
from opconform_runners.commands import Command
from opconform_runners.installed import GROUP

#: What every Python harness is made of, whatever its backend.
_ALWAYS = ("ml_dtypes", "numpy")
_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9._-]+)\s*(\[(?P<extras>[^\]]*)\])?")
_EXTRA = re.compile(r"""extra\s*==\s*['"](?P<name>[^'"]+)['"]""")
_ASK = """
import sys
sys.path = [each for each in sys.path if each]  # modules of any name may lie where the command is given
import importlib.metadata, json, platform
def version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
print(json.dumps([platform.python_implementation() + " " + platform.python_version(), {n: version(n) for n in sys.argv[1:]}]))
"""  # noqa: E501 - a line of another program
_PATIENCE = 60.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Environment:
    """Where a backend ran.

    Attributes:
        system: The operating system and its release.
        machine: The kind of processor.
        runner: The version of opconform that drove it.
        python: The interpreter, for a Python backend.
        packages: The versions of the packages that a Python backend is made of.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    system: str
    machine: str
    runner: str
    python: str | None = None
    packages: Mapping[str, str] = field(default_factory=dict)


#: The environment of a run that did not note it.
UNKNOWN = Environment(system="unknown", machine="unknown", runner="unknown")

_ENVIRONMENT = TypeAdapter(Environment)
_ANSWER: TypeAdapter[tuple[str, dict[str, str | None]]] = TypeAdapter(tuple[str, dict[str, str | None]])


def environment_document(environment: Environment) -> dict[str, object]:
    """An environment as a JSON object."""
    document: dict[str, object] = _ENVIRONMENT.dump_python(environment, mode="json")
    return document


def environment_of(command: Command) -> Environment:
    """The environment in which a harness is started; of one that is not written in Python only the machine is known."""
    system, machine = f"{platform.system()} {platform.release()}", platform.machine()
    if command.python is None:
        return Environment(system=system, machine=machine, runner=opconform.__version__)
    names = sorted({*_ALWAYS, *_packages_of(command.name.partition(":")[0])})
    try:
        asked = subprocess.run(
            [command.python, "-c", _ASK, *names], capture_output=True, check=True, timeout=_PATIENCE, text=True
        )
        python, versions = _ANSWER.validate_python(json.loads(asked.stdout))
    except (OSError, subprocess.SubprocessError, json.JSONDecodeError, ValidationError):
        return Environment(system=system, machine=machine, runner=opconform.__version__)
    packages = {name: version for name, version in versions.items() if version is not None}
    return Environment(system=system, machine=machine, runner=opconform.__version__, python=python, packages=packages)


def _packages_of(backend: str) -> Iterator[str]:
    """The packages that an announced backend needs: those of its distribution's extra, or all of another's."""
    for each in entry_points(group=GROUP):
        if each.name == backend and each.dist is not None:
            if each.dist.name != "opconform":
                yield each.dist.name
            yield from _needed(each.dist.name, backend)


def _needed(distribution: str, extra: str) -> Iterator[str]:
    try:
        lines = requires(distribution) or []
    except PackageNotFoundError:
        return
    for line in lines:
        marker = _EXTRA.search(line)
        named = _REQUIREMENT.match(line)
        if named is None or marker is None or marker["name"] != extra:
            continue
        if named["name"] != distribution:
            yield named["name"]
        for other in (named["extras"] or "").split(","):
            if named["name"] == distribution and other.strip() not in ("", extra):
                yield from _needed(distribution, other.strip())
