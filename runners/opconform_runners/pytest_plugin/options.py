"""The plugin's options, read from pytest's configuration."""

import os
import shlex
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from opconform.errors import OpconformError
from opconform_runners.harness.command import LARGEST, Command, command_of, memory_limit
from opconform_runners.harness.registry import file_of

#: The default time limit for a case, in seconds.
TIMEOUT = 20.0


@dataclass(frozen=True, kw_only=True, slots=True)
class PluginOptions:
    """The backend's command, the suite (None for the shipped cases), the profiles (empty for all), and the rules."""

    command: Command
    suite: Path | None
    profiles: tuple[str, ...]
    timeout: float
    strict: bool


def options_of(config: pytest.Config) -> PluginOptions:
    """The plugin's options; raises `pytest.UsageError` if they are contradictory or wrong."""
    timeout = config.getoption("opconform_timeout")
    if timeout is not None and not 0 < timeout <= LARGEST:
        raise pytest.UsageError(f"--opconform-timeout must be above 0 and at most {LARGEST:,}.")
    suite, backend, harness, python = (
        config.getoption(f"opconform_{each}") for each in ("suite", "backend", "harness", "python")
    )
    if file := file_of(backend or ""):
        backend = f"{_located(config, 'backend', file)}{backend.removeprefix(file)}"
    try:
        interpreter = None if python is None else _located(config, "python", python)
        command = command_of(backend, harness, interpreter, prefix="--opconform-")
    except OpconformError as fault:
        raise pytest.UsageError(str(fault)) from fault
    return PluginOptions(
        command=replace(command, memory=memory_limit()),
        suite=None if suite is None else _located(config, "suite", suite),
        profiles=tuple(config.getoption("opconform_profile") or ()),
        timeout=timeout or TIMEOUT,
        strict=bool(config.getoption("opconform_strict")),
    )


def _located(config: pytest.Config, option: str, path: str) -> Path:
    """A path from the command line as it is, and one from a configuration file relative to that file's folder."""
    words = [*map(str, config.invocation_params.args), *shlex.split(os.environ.get("PYTEST_ADDOPTS", ""))]
    is_typed = any(each.partition("=")[0] == f"--opconform-{option}" for each in words)
    if is_typed or config.inipath is None or Path(path).is_absolute():
        return Path(path)
    return Path(os.path.relpath(config.inipath.parent / path))
