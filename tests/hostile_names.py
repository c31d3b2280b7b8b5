"""A suite of one case in whose document, with right digests, a test puts hostile texts."""

import json
from collections.abc import Callable
from pathlib import Path

from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite, open_suite
from tests.conftest import Run
from tests.robustness.hostile_suites import a_case, reseal

SPEC = "op: Split-1\ngroups:\n  - {id: halves, title: two halves, data: {shape: [4, 2]}, axis: 0, num_splits: 2}\n"
#: Texts that end a comment, a string or a line, in one language or another.
HOSTILE = (
    'x"\nimport os; os._exit(7)\n"""\\',
    "x\r\x0b\x0c\x1c\x85\u2028import os; os._exit(7)",
    '){ir}" ??/\n#error out',
    "$(exit 7) `exit 7` ;exit 7 <!-- --> ]]> </script>",
)
#: Texts for comments: also with what continues a line in C++.
COMMENTS = (*HOSTILE, "ends with \\", "ends with ??/", "a" * 115 + " \\ b")


def suite_of_one_case(opconform: Run, folder: Path) -> Path:
    """The suite, with the model in IR."""
    (folder / "spec.yaml").write_text(SPEC)
    opconform("generate", folder / "spec.yaml", "--out", folder / "suite", "--jobs", "1")
    return folder / "suite"


def opened(suite: Path, change: Callable[[dict[str, object]], None]) -> tuple[Suite, Entry]:
    """The suite, in which the document of the only case is changed and every digest is right."""
    path = a_case(suite) / "case.json"
    case = json.loads(path.read_text())
    change(case)
    path.write_text(json.dumps(case) + "\n")
    read = open_suite(reseal(suite))
    return read, read.entries[0]
