"""C++ tests of a hostile suite: its texts do not become code."""

import shutil
from pathlib import Path

import pytest

from opconform_products.openvino.repro.cpp_test import _CONTINUED, cpp_test_of
from opconform_runners.tools.repro.script import comments
from tests.conftest import Run
from tests.hostile_names import COMMENTS, HOSTILE, opened, suite_of_one_case
from tests.robustness.hostile_suites import a_case


@pytest.fixture(scope="module")
def made(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite of one case."""
    return suite_of_one_case(opconform, tmp_path_factory.mktemp("names"))


@pytest.fixture
def suite(made: Path, tmp_path: Path) -> Path:
    """A copy of the suite."""
    return Path(shutil.copytree(made, tmp_path / "suite"))


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


@pytest.mark.parametrize("text", COMMENTS)
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
