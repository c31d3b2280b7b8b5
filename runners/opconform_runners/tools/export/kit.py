"""The formats `gtest` and `ctest`: a CMake project in C++ whose tests execute the cases on a backend."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from opconform.suite.file_names import HEADER
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite
from opconform.suite.storage.extract import write_cases
from opconform.system.resources import root, text_of
from opconform_runners.execution.progress import OnProgress
from opconform_runners.tools.export.folder import written_cases

#: The formats, which differ in who runs the tests.
NAMES = ("gtest", "ctest")
_DATA, _CASES = "data", "cases.txt"
_PROJECT = "CMakeLists.txt"


def write(name: str, suite: Suite, entries: Sequence[Entry], model: str, out: Path, on_progress: OnProgress) -> None:
    """Write the project, and the cases as a suite in `data`; `model` is the model's file in the folder of a case."""
    for file in (root() / "runners" / "cpp").iterdir():
        if file.name == _PROJECT or file.name.endswith((".cpp", ".hpp")):
            (out / file.name).write_bytes(file.read_bytes())
    is_whole = len(entries) == len(suite.entries)
    header = suite.header if is_whole else replace(suite.header, select=suite.header.select or ("*",))
    cases = ((suite, entry) for entry in written_cases(entries, on_progress))
    written = write_cases(cases, header, out / _DATA)
    (out / _CASES).write_text("".join(f"{entry.id}\n" for entry in entries), encoding="utf-8")
    settings = {
        "CASES": len(entries),
        "HEADER": hashlib.sha256((out / _DATA / HEADER).read_bytes()).hexdigest(),
        "MANIFEST": written.digest,
        "MODEL": model,
    }
    lines = [f'set(OPCONFORM_KIT {name} CACHE STRING "The kind of tests: {" or ".join(NAMES)}")']
    lines += [f'set(OPCONFORM_{key} "{value}")' for key, value in settings.items()]
    (out / "kit.cmake").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (out / "README.md").write_text(text_of("export/kit.md"), encoding="utf-8")
