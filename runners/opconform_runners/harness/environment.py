"""The environment of a run: everything besides the backend and the suite that decides a verdict."""

import os
import platform
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, entry_points, requires
from pathlib import Path
from typing import Self

from packaging.requirements import InvalidRequirement, Requirement
from pydantic import ConfigDict, TypeAdapter, ValidationError

import opconform
from opconform_runners.backends.backend import Implementation, Placement
from opconform_runners.harness.command import SAFE_PATH, Command
from opconform_runners.harness.registry import GROUP

#: The packages of every Python harness.
_ALWAYS = ("ml_dtypes", "numpy")
_MODEL_NAME = re.compile(r"^model name\s*:\s*(?P<name>\S.*?)\s*$", re.MULTILINE)
_ASK = """
import importlib.metadata, json, platform, sys
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
    """Where a backend ran, and what executed the cases.

    Attributes:
        system: The operating system and its release.
        machine: The processor's architecture.
        cores: The processor cores that the run was allowed to use.
        devices: The devices that executed cases, by the product's own names; empty if the harness did not say.
        threads: The numbers of threads that executed cases.
        runner: The version of opconform.
        packages: The versions of the packages that a Python backend consists of.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    system: str
    machine: str
    processor: str | None = None
    cores: int | None = None
    devices: tuple[str, ...] = ()
    hardware: str | None = None
    driver: str | None = None
    threads: tuple[int, ...] = ()
    runner: str
    python: str | None = None
    packages: Mapping[str, str] = field(default_factory=dict)

    def placed(self, placements: Iterable[Placement]) -> Self:
        """The same environment with the devices and threads that executed cases."""
        noted = list(placements)
        devices = sorted({name for x in noted for name in x.devices})
        threads = sorted({x.threads for x in noted if x.threads is not None})
        return replace(self, devices=tuple(devices), threads=tuple(threads))


#: The environment of a run that did not record it.
UNKNOWN = Environment(system="unknown", machine="unknown", runner="unknown")

_ANSWER: TypeAdapter[tuple[str, dict[str, str | None]]] = TypeAdapter(tuple[str, dict[str, str | None]])


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def environment_facts(environment: Environment, named: str | None) -> tuple[tuple[str, str], ...]:
    """The recorded facts of an environment that decide a verdict, in words and without the packages.

    `named` is the device that the backend was asked to use, if any.
    """
    cores = environment.cores
    counted = "" if cores is None else f"{cores:,} core{'' if cores == 1 else 's'}"
    facts = (
        ("Executed on", ", ".join(environment.devices) or ("not reported" if named else "")),
        ("Hardware", environment.hardware or ""),
        ("Driver", environment.driver or ""),
        ("Threads", ", ".join(str(thread) for thread in environment.threads)),
        ("Processor", ", ".join(x for x in (environment.processor, counted) if x)),
    )
    return tuple((what, value) for what, value in facts if value)


def environment_of(command: Command, implementation: Implementation, placements: Iterable[Placement]) -> Environment:
    """The environment in which a harness ran, with what executed each case, if the harness said so.

    Packages are recorded for Python backends only.
    """
    machine = Environment(
        system=f"{platform.system()} {platform.release()}",
        machine=platform.machine(),
        processor=_processor(),
        cores=cores(),
        hardware=implementation.hardware,
        driver=implementation.driver,
        runner=opconform.__version__,
    ).placed(placements)
    if command.python is None:
        return machine
    names = sorted({*_ALWAYS, *packages_of(command.name.partition(":")[0])})
    try:
        python, versions = _asked(command.python, *names)
    except (OSError, subprocess.SubprocessError, ValidationError):
        return machine
    packages = {name: version for name, version in versions.items() if version is not None}
    return replace(machine, python=python, packages=packages)


@cache
def _asked(python: str, *names: str) -> tuple[str, dict[str, str | None]]:
    """The versions of an interpreter and of packages in it. A streamed run asks once, not once per batch."""
    command = (python, SAFE_PATH, "-c", _ASK, *names)
    completed = subprocess.run(command, capture_output=True, check=True, timeout=_PATIENCE, text=True)
    return _ANSWER.validate_json(completed.stdout)


def _processor() -> str | None:
    """The processor's name; `platform.processor` leaves it out on Linux."""
    try:
        match = _MODEL_NAME.search(Path("/proc/cpuinfo").read_text(errors="replace"))
    except OSError:
        match = None
    return match["name"] if match else platform.processor() or None


def packages_of(backend: str) -> Iterator[str]:
    """The packages that a registered backend needs: the packages of its extra, or its own distribution."""
    for entry_point in entry_points(group=GROUP, name=backend):
        if entry_point.dist is not None:
            if entry_point.dist.name != "opconform":
                yield entry_point.dist.name
            yield from _needed(entry_point.dist.name, backend)


def _needed(distribution: str, extra: str) -> Iterator[str]:
    """The packages of an extra, and of the other extras of the distribution that it names."""
    try:
        requirements = [Requirement(require) for require in requires(distribution) or []]
    except (PackageNotFoundError, InvalidRequirement):
        return
    for requirement in requirements:
        if (
            requirement.marker is None
            or requirement.marker.evaluate({"extra": ""})
            or not requirement.marker.evaluate({"extra": extra})
        ):
            continue
        if requirement.name != distribution:
            yield requirement.name
        else:
            for own_extra in sorted(requirement.extras - {extra}):
                yield from _needed(distribution, own_extra)
