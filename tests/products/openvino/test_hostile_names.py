"""C++ tests of a hostile suite: its texts do not become code."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite, open_suite
from opconform_products.openvino.repro.cpp_test import _CONTINUED, cpp_test_of
from opconform_runners.tools.repro.script import comments
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


@pytest.fixture(scope="module")
def made(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite of one case, with models of two dialects."""
    folder = tmp_path_factory.mktemp("names")
    (folder / "spec.yaml").write_text(SPEC)
    opconform("generate", folder / "spec.yaml", "--dialect", "openvino", "--out", folder / "suite", "--jobs", "1")
    return folder / "suite"


@pytest.fixture
def suite(made: Path, tmp_path: Path) -> Path:
    """A copy of the suite."""
    return Path(shutil.copytree(made, tmp_path / "suite"))


def opened(suite: Path, change: Callable[[dict[str, object]], None]) -> tuple[Suite, Entry]:
    """The suite, in which the document of the only case is changed and every digest is right."""
    path = a_case(suite) / "case.json"
    case = json.loads(path.read_text())
    change(case)
    path.write_text(json.dumps(case) + "\n")
    read = open_suite(reseal(suite))
    return read, read.entries[0]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_a_suite_is_code_of_a_c_test(suite: Path, text: str) -> None:
    """The model stands in one raw string, or in one with escapes."""
    (a_case(suite) / "openvino" / "model.xml").write_text(text, newline="")
    read, entry = opened(suite, lambda _: None)
    source = cpp_test_of(read, entry, "openvino", [text], None)
    literal = source.partition("const std::string ir = ")[2].partition("const std::vector<std::uint8_t> weights")[0]

    if literal.startswith("R"):
        mark = literal[2:].partition("(")[0]
        assert literal.strip() == f'R"{mark}({text}){mark}";'
        assert f'){mark}"' not in text
    else:
        assert literal.count("\n") <= 2
        assert literal.startswith('"')
    assert "\n#error" not in source.replace(literal, "")


@pytest.mark.parametrize("text", [*HOSTILE, "ends with \\", "ends with ??/", "a" * 115 + " \\ b"])
def test_a_comment_does_not_continue_on_the_next_line(text: str) -> None:
    """As the end of a line may, in C++."""
    for line in comments([text]):
        assert not _CONTINUED.sub("", line).endswith(("\\", "??/"))


@pytest.mark.parametrize("form", ["script", "issue", "gtest"])
def test_a_name_that_is_code_is_refused_before_anything_is_executed(
    opconform: Run, suite: Path, tmp_path: Path, form: str
) -> None:
    """Although every digest of the suite is right."""
    mark = tmp_path / "mark"
    opened(suite, lambda case: case["graph"]["nodes"][0].update(name=f"x = 1\nopen({str(mark)!r}, 'w')"))  # type: ignore[index]
    done = opconform("repro", "Split-1/*", "openvino", "--suite", suite, "--as", form, code=1)

    assert "graph.nodes.0.name: String should match pattern" in done.stderr
    assert not mark.exists()
