"""Backends by name: those of entry points, and classes in files."""

import importlib
import importlib.util
import inspect
import re
import sys
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from opconform.errors import UsageError
from opconform_runners.backends.backend import Backend

GROUP = "opconform.backends"
#: The exit code of a Python harness whose last line says why the backend cannot be loaded.
UNUSABLE = 78

_IN_MODULE = re.compile(r"(?P<module>\w+(\.\w+)+):(?P<name>\w+)(:(?P<device>.+))?")
_IN_FILE = re.compile(r"(?P<path>.+\.py):(?P<name>\w+)(:(?P<device>.+))?")


def names() -> list[str]:
    """The names of the announced backends."""
    return sorted(each.name for each in entry_points(group=GROUP))


def is_shipped(name: str) -> bool:
    """Whether a backend is part of opconform, with an extra of that name for its packages."""
    own = [each for each in entry_points(group=GROUP) if each.dist is not None and each.dist.name == "opconform"]
    return name.partition(":")[0] in [each.name for each in own]


def load(name: str) -> Backend:
    """The backend of a name such as `openvino:CPU` or `path/file.py:ClassName`.

    Raises:
        UsageError: There is no such backend.
    """
    check(name)
    in_file = _IN_FILE.fullmatch(name)
    if in_file:
        return _made(_from_file(Path(in_file["path"]), in_file["name"]), in_file["device"])
    in_module = _IN_MODULE.fullmatch(name)
    if in_module:
        return _made(getattr(importlib.import_module(in_module["module"]), in_module["name"]), in_module["device"])
    plain, _, device = name.partition(":")
    return _made(_entry(plain).load(), device or None)


def check(name: str) -> None:
    """Check that a name can be that of a backend.

    Raises:
        UsageError: There is no such backend.
    """
    in_file = _IN_FILE.fullmatch(name)
    if in_file and not Path(in_file["path"]).is_file():
        raise UsageError(f"There is no file {in_file['path']}. A backend in a file is named as path/file.py:ClassName.")
    if name.endswith(".py"):
        raise UsageError(f"A backend in a file is named with its class, as {name}:ClassName.")
    if not in_file and not _IN_MODULE.fullmatch(name):
        _entry(name.partition(":")[0])


def file_of(name: str) -> str:
    """The file in a name such as `path/file.py:ClassName`; empty for any other name."""
    in_file = _IN_FILE.fullmatch(name)
    return in_file["path"] if in_file else ""


def placed(name: str) -> str:
    """The same backend by its module and class, for an interpreter without opconform's entry points.

    Raises:
        UsageError: There is no such backend.
    """
    check(name)
    if _IN_FILE.fullmatch(name) or _IN_MODULE.fullmatch(name):
        return name
    plain, _, device = name.partition(":")
    return f"{_entry(plain).value}:{device}" if device else _entry(plain).value


def _made(backend: Any, device: str | None) -> Backend:
    if device is not None:
        try:
            inspect.signature(backend).bind(device)
        except TypeError as fault:
            raise UsageError(f"The backend has no devices to choose from, and was given {device!r}.") from fault
    made: Backend = backend() if device is None else backend(device)
    return made


def _entry(name: str) -> EntryPoint:
    found = [each for each in entry_points(group=GROUP) if each.name == name]
    if not found:
        known = ", ".join(names())
        raise UsageError(
            f"{name!r} is not a backend. Allowed are: {known}, or path/file.py:ClassName; see also --harness."
        )
    return found[0]


def _from_file(path: Path, name: str) -> Any:
    found = importlib.util.spec_from_file_location(path.stem, path)
    if found is None or found.loader is None:
        raise UsageError(f"{path} cannot be imported.")
    module = importlib.util.module_from_spec(found)
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.resolve().parent))
    found.loader.exec_module(module)
    if not hasattr(module, name):
        raise UsageError(f"{path} holds no class {name}.")
    return getattr(module, name)
