"""Asking: what the plugin's options ask for, and where each was given, which says what a path is relative to."""

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from pathlib import Path

import pytest

from opconform.errors import OpconformError
from opconform_runners.harness.command import LARGEST, Command, backend_command, harness_command
from opconform_runners.harness.registry import file_of

#: What a case may take by default, in seconds.
TIMEOUT = 20.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What the options ask for.

    Attributes:
        command: How the backend's harness is started.
        suite: The suite, or None for the shipped cases.
        profiles: The profiles; none at all for all of them.
        timeout: What a case may take, in seconds.
        strict: Whether interpretations count as much as normative requirements.
    """

    command: Command
    suite: Path | None
    profiles: tuple[str, ...]
    timeout: float
    strict: bool


class _Source(IntEnum):
    """Where an option was given; the greater one overrules."""

    NOWHERE = 0
    FILE = 1
    ENVIRONMENT = 2
    TYPED = 3


def asked_of(config: pytest.Config) -> Asked:
    """What pytest's options ask for.

    Raises:
        pytest.UsageError: They contradict each other, or name what there is not.
    """
    timeout = config.getoption("opconform_timeout")
    if timeout is not None and not 0 < timeout <= LARGEST:
        raise pytest.UsageError(f"--opconform-timeout must be over 0 and at most {LARGEST:,}.")
    suite = config.getoption("opconform_suite")
    return Asked(
        command=replace(_command(config), memory=_memory()),
        suite=None if suite is None else Path(_located(config, "suite", suite)),
        profiles=tuple(config.getoption("opconform_profile") or ()),
        timeout=timeout or TIMEOUT,
        strict=bool(config.getoption("opconform_strict")),
    )


def _command(config: pytest.Config) -> Command:
    """How the harness is started: of a backend and a harness that which overrules the other."""
    backend, harness = config.getoption("opconform_backend"), config.getoption("opconform_harness")
    python = config.getoption("opconform_python")
    if backend is None and harness is None:
        raise pytest.UsageError(
            "Name what to test with either --opconform-backend NAME or --opconform-harness COMMAND."
        )
    if backend is not None and harness is not None and _source(config, "backend") == _source(config, "harness"):
        raise pytest.UsageError("Both --opconform-backend and --opconform-harness are given; leave one of them out.")
    driven = harness is not None and (backend is None or _source(config, "harness") > _source(config, "backend"))
    if driven and python is not None and _source(config, "python") >= _source(config, "harness"):
        raise pytest.UsageError(
            "--opconform-python goes with --opconform-backend; a harness names its own interpreter."
        )
    try:
        if driven:
            return harness_command(harness)
        file = file_of(backend)
        name = f"{_located(config, 'backend', file)}{backend.removeprefix(file)}" if file else backend
        return backend_command(name, None if python is None else Path(_located(config, "python", python)))
    except OpconformError as fault:
        raise pytest.UsageError(str(fault)) from fault


def _source(config: pytest.Config, option: str) -> _Source:
    typed = [str(each) for each in config.invocation_params.args]
    sources = {
        _Source.TYPED: typed,
        _Source.ENVIRONMENT: shlex.split(os.environ.get("PYTEST_ADDOPTS", "")),
        _Source.FILE: config.getini("addopts"),
    }
    return next((source for source, words in sources.items() if _stands(option, words)), _Source.NOWHERE)


def _stands(option: str, words: Sequence[str]) -> bool:
    return any(each.partition("=")[0] == f"--opconform-{option}" for each in words)


def _located(config: pytest.Config, option: str, path: str) -> str:
    """A path as it is found from here.

    What was typed is relative to the folder where pytest was called, and what stands in a file to that file's folder;
    where there is nothing at that place, it is looked for at the other.
    """
    here, there = config.invocation_params.dir, config.inipath.parent if config.inipath else config.rootpath
    folders = [there, here] if _source(config, option) is _Source.FILE else [here, there]
    folder = next((each for each in folders if (each / path).exists()), folders[0])
    return path if folder == here or Path(path).is_absolute() else os.path.relpath(folder / path)


def _memory() -> int:
    import psutil

    return int(psutil.virtual_memory().total * 3 // 4)
