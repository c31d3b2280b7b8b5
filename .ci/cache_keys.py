"""The keys of the caches of the action, as outputs of a step: `environment`, and `suite` if it generates one.

Reads the action's inputs in the environment. A key stands for everything that decides what is cached: the code of
opconform, the interpreter, the backend, and the files that the inputs name.
"""

import hashlib
import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: What decides what an installation of opconform does.
PARTS = ("pyproject.toml", "constraints.txt", "generator", "runners", "cases", "templates")
#: Folders of compiled code, and of programs of others.
IGNORED = {"__pycache__", "node_modules"}


def files_of(*paths: Path) -> Iterator[Path]:
    """The files at some paths, and in the folders there, in an order that no file system decides."""
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            parts = file.relative_to(path).parts
            if file.is_file() and IGNORED.isdisjoint(parts) and not any(part.startswith(".") for part in parts):
                yield file


def digest_of(*texts: str, files: Iterator[Path] | tuple[Path, ...] = (), root: Path) -> str:
    """The digest of texts, and of the names below `root` and the contents of files."""
    digest = hashlib.sha256(repr(texts).encode())
    for file in files:
        name = os.path.relpath(file, root)
        digest.update(f"{name}\0{hashlib.sha256(file.read_bytes()).hexdigest()}\0".encode())
    return digest.hexdigest()[:32]


def keys() -> dict[str, str]:
    """The keys by name."""
    inputs = {name: os.environ.get(name, "") for name in ("BACKEND", "PACKAGES", "SPECS", "PROFILE")}
    opconform = digest_of(files=files_of(*(ROOT / part for part in PARTS)), root=ROOT)
    machine = (platform.system(), platform.machine(), platform.python_version())
    installed = (opconform, *machine, inputs["BACKEND"], inputs["PACKAGES"])
    found = {"environment": f"opconform-environment-{digest_of(*installed, root=ROOT)}"}
    if os.environ.get("COMMAND") == "run" and not os.environ.get("SUITE") and not os.environ.get("HARNESS"):
        # The dialects that a backend of the user reads are in its file, or in one that it imports.
        file, is_file, _ = inputs["BACKEND"].rpartition(".py:")
        folder = (Path(file).parent,) if is_file else ()
        sources = (path for path in files_of(*folder) if path.suffix == ".py")
        named = files_of(*(Path(line) for name in ("SPECS", "PACKAGES") for line in inputs[name].splitlines() if line))
        texts = (opconform, *inputs.values())
        found["suite"] = f"opconform-suite-{digest_of(*texts, files=(*sources, *named), root=Path.cwd())}"
    return found


if __name__ == "__main__":
    for name, key in keys().items():
        sys.stdout.write(f"{name}={key}\n")
