"""Backends by name: entry points, and classes in files and modules."""

import ast
import importlib
import importlib.util
import inspect
import re
import sys
from importlib.machinery import PathFinder
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from opconform.errors import UsageError, nearest

if TYPE_CHECKING:
    from opconform_runners.backends.backend import Backend

GROUP = "opconform.backends"
#: The exit code of a Python harness whose last line says why the backend cannot be loaded.
UNUSABLE = 78

#: A class in a file or in a module, as in `path/file.py:ClassName:DEVICE` and `package.module:ClassName`.
_CLASS = re.compile(r"(?:(?P<file>.+\.py)|(?P<module>\w+(?:\.\w+)+)):(?P<name>\w+)(?::(?P<device>.+))?")


def names() -> list[str]:
    """The names of the registered backends."""
    return sorted(entry_point.name for entry_point in entry_points(group=GROUP))


def is_shipped(name: str) -> bool:
    """Whether a backend is part of opconform, with an extra of that name for its packages."""
    points = entry_points(group=GROUP, name=name.partition(":")[0])
    return any(point.dist is not None and point.dist.name == "opconform" for point in points)


def missing_package(name: str) -> str | None:
    """A package that a shipped backend imports and that is not installed, found without importing the backend."""
    if not is_shipped(name):
        return None
    spec = importlib.util.find_spec(_entry(name.partition(":")[0]).module)
    if spec is None or spec.origin is None:
        return None
    for node in ast.parse(Path(spec.origin).read_bytes()).body:
        match node:
            case ast.Import(names=aliases):
                modules = [alias.name for alias in aliases]
            case ast.ImportFrom(module=str(module), level=0):
                modules = [module]
            case _:
                continue
        for package in (module.partition(".")[0] for module in modules):
            if importlib.util.find_spec(package) is None:
                return package
    return None


def folder_of_backend(name: str) -> Path | None:
    """The folder of the module of a registered backend, which is not imported; None for any other name."""
    points = tuple(entry_points(group=GROUP, name=name.partition(":")[0]))
    spec = importlib.util.find_spec(points[0].module) if points else None
    return Path(spec.origin).parent if spec is not None and spec.origin is not None else None


def load(name: str) -> "Backend":
    """The backend of a name such as `openvino:CPU` or `path/file.py:ClassName`."""
    check(name)
    match = _CLASS.fullmatch(name)
    if match is None:
        plain, _, device = name.partition(":")
        return _made(_entry(plain).load(), device or None)
    module = _from_file(Path(match["file"])) if match["file"] else importlib.import_module(match["module"])
    if not hasattr(module, match["name"]):
        classes = [key for key, value in vars(module).items() if isinstance(value, type)]
        hint = f" {nearest(match['name'], classes)}".rstrip()
        raise UsageError(f"{match['file'] or match['module']} does not define a class {match['name']}.{hint}")
    return _made(getattr(module, match["name"]), match["device"])


def check(name: str) -> None:
    """Check that a name names a registered backend, or a class in a file or module."""
    if (file := backend_file_of(name)) and not Path(file).is_file():
        raise UsageError(f"File not found: {file}. Name a backend in a file as path/file.py:ClassName.")
    if name.endswith(".py"):
        raise UsageError(f"Add the class name, as in {name}:ClassName.")
    if not _CLASS.fullmatch(name):
        _entry(name.partition(":")[0])


def backend_file_of(name: str) -> str:
    """The file in a name such as `path/file.py:ClassName`; empty for any other name."""
    match = _CLASS.fullmatch(name)
    return match["file"] or "" if match else ""


def placed(name: str) -> str:
    """The same backend by its module and class, for an interpreter without opconform's entry points."""
    if _CLASS.fullmatch(name):
        return name
    plain, colon, device = name.partition(":")
    return f"{_entry(plain).value}{colon if device else ''}{device}"


def _made(backend: Any, device: str | None) -> "Backend":
    if device is not None and not _takes(backend, device):
        raise UsageError(f"The backend has no devices, but the device {device!r} was named. Leave it out.")
    made: Backend = backend() if device is None else backend(device)
    for method, parameters in (("describe", ()), ("run", ("case", "model", "feeds"))):
        if not _takes(getattr(made, method, None), *parameters):
            lacks = f"{type(made).__name__} has no method {method}({', '.join(parameters)})."
            needs = "A backend has the methods describe() and run(case, model, feeds); see docs/new-backend.md."
            raise UsageError(f"{lacks} {needs}")
    return made


def _takes(function: Any, *arguments: object) -> bool:
    """Whether something can be called with some positional arguments."""
    try:
        inspect.signature(function).bind(*arguments)
    except (TypeError, ValueError):
        return False
    return True


def _entry(name: str) -> EntryPoint:
    if points := tuple(entry_points(group=GROUP, name=name)):
        return points[0]
    known = names()
    raise UsageError(
        f"{name!r} is not a backend. {nearest(name, known)}Allowed: {', '.join(known)}, or path/file.py:ClassName; "
        "see also --harness."
    )


def _from_file(path: Path) -> ModuleType:
    """The module in a file, which may import its neighbours. Neither the file nor they replace any other module."""
    resolved = path.resolve()
    installed = PathFinder.find_spec(path.stem)
    is_taken = path.stem in sys.stdlib_module_names or (installed is not None and installed.origin != str(resolved))
    name = f"opconform_backend_{path.stem}" if is_taken else path.stem
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} cannot be imported.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.append(str(resolved.parent))
    spec.loader.exec_module(module)
    return module
