"""Cases as GoogleTest tests in C++: compiled against the released OpenVINO, they fail where the backend fails."""

import re
import subprocess
from pathlib import Path

import pytest

from opconform.suite.reader import open_suite
from opconform_products.openvino.repro.cpp_test import _literal, _raw, cpp_test_of
from opconform_runners.tools.repro.script import script_of
from tests.conftest import Run
from tests.cpp.builds import built, openvino
from tests.products.scripts import interpreter
from tests.verdicts.test_alternatives import SCATTER

#: Wrong outputs, numbers outside their bounds, a number for a NaN, and an invalid case that is accepted. None damages
#: the process, in which all tests run.
FAILING = (
    "Split-1/element-types/1faf64c2f9",
    "Split-1/extreme-values-in-a-second-inference/4f41df0a5f",
    "Exp-1/element-types-in-breadth/cd30cf4738",
    "SoftMax-8/special-values/50d5da4434",
)
#: Two inferences, packed elements that end within a byte, NaNs, numbers within their bounds and an invalid case.
PASSING = (
    "Exp-1/second-feed/7591252596",
    "Add-1/special/19c0c9835c",
    "Split-1/second-axis-from-shape/0fbe5f2f3a",
    "Split-1/element-types/a4dfb6d2eb",
    "Split-1/element-types/80bda1d540",
    "Split-1/second-axis-from-shape-out-of-range/135cb064d3",
)
HEADERS = ("algorithm", "cmath", "cstdint", "sstream", "string", "vector", "gtest/gtest.h", "openvino/openvino.hpp")
BUILD = """\
cmake_minimum_required(VERSION 3.22)
project(cases LANGUAGES CXX)
find_package(GTest REQUIRED)
find_package(OpenVINO REQUIRED COMPONENTS Runtime)
add_executable(cases cases.cpp)
target_compile_features(cases PRIVATE cxx_std_17)
target_compile_options(cases PRIVATE -O0 -Wall -Werror=comment)
target_link_libraries(cases PRIVATE GTest::gtest_main openvino::runtime)
"""


@pytest.mark.ci_only
@pytest.mark.timeout(600)
def test_a_test_fails_where_the_backend_fails(opconform: Run, tmp_path: Path) -> None:
    """All are compiled at once, each in a namespace of its own; one alone needs no other file, as the includes show."""
    sources = [f"#include <{name}>" for name in HEADERS]
    for case in (*FAILING, *PASSING):
        file = tmp_path / f"case_{case.rpartition('/')[2]}.cpp"
        opconform("repro", case, "openvino", "--as", "gtest", "--out", file)
        assert {*re.findall("^#include <(.*)>$", file.read_text(), re.MULTILINE)} <= {*HEADERS}
        sources.append(f'namespace {file.stem} {{\n#include "{file.name}"\n}}')
    (tmp_path / "cases.cpp").write_text("\n".join(sources) + "\n")
    (tmp_path / "CMakeLists.txt").write_text(BUILD)
    program = built(tmp_path, tmp_path / "build", openvino()) / "cases"
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    ended = {
        state: sorted(re.findall(rf"^\[{state}\] \S+_(\w+) \(", done.stdout, re.MULTILINE))
        for state in ("  FAILED  ", "       OK ")
    }

    assert ended == {
        "  FAILED  ": sorted(case.rpartition("/")[2] for case in FAILING),
        "       OK ": sorted(case.rpartition("/")[2] for case in PASSING),
    }
    assert "\n    Which is: { 9223372036854775808, 9223372036854775807, 9007199254740993," in done.stdout
    assert (
        "element 0: expected 2.7182818284590451, allowed are 2.7182818284590442 to 2.7182818284590464, "
        "got 2.7182819843292236; error: 350988439 units in the last place, 116996146.33333333 times its bound; "
        "elements outside their bounds: 1 of 1"
    ) in done.stdout
    assert "element 1: expected nan, got 0; elements outside their bounds: 6 of 8" in done.stdout
    assert (
        "Expected: execute() throws an exception of type std::exception.\n  Actual: it throws nothing." in done.stdout
    )


def test_a_test_says_what_it_tests(opconform: Run, small_suite: Path) -> None:
    """Its comment is that of a script, and a test of another device names it."""
    interpreter("openvino")
    case = next(entry.id for entry in open_suite(small_suite).entries if entry.expect != "accept")
    written = opconform("repro", case, "openvino:IMPORT:ACCURACY:CPU", "--suite", small_suite, "--as", "gtest")

    assert written.stdout.startswith("// VariadicSplit-1: at most one -1.\n// Given: data f32[6, 4], axis 0, ")
    assert f"\n// The case {case} of opconform.\n#include <algorithm>\n" in written.stdout
    mode = ", ov::hint::execution_mode(ov::hint::ExecutionMode::ACCURACY)"
    assert f'\n    compiled = core.import_model(exported, "CPU"{mode});\n' in written.stdout
    assert f"\nTEST(VariadicSplit_1, rejected_{case.rpartition('/')[2]}) {{\n    EXPECT_THROW(" in written.stdout
    assert written.stderr.endswith(f"does not fail {case} here: pass\n")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ("{shape: [4, 2], element_type: u3}", "A test cannot pack u3, since versions of OpenVINO differ."),
        ("{shape: [2, 4096]}", "A tensor of 8,192 elements is too large for a test. Use `opconform run --select`."),
    ],
)
def test_what_a_test_cannot_express_is_refused(opconform: Run, tmp_path: Path, data: str, sentence: str) -> None:
    """With the reason, and nothing is written."""
    interpreter("openvino")
    spec = f"op: Split-1\ngroups:\n  - {{id: a, title: t, data: {data}, axis: 0, num_splits: 2}}\n"
    (tmp_path / "spec.yaml").write_text(spec)
    opconform("generate", tmp_path / "spec.yaml", "--out", tmp_path / "suite")
    written = opconform("repro", "Split-1/*", "openvino", "--suite", tmp_path / "suite", "--as", "gtest", code=2)

    assert written.stderr.splitlines()[-1] == f"error: {sentence}"
    assert written.stdout == ""


def test_a_backend_without_a_cpp_api_here_is_refused(opconform: Run) -> None:
    """Before the case is executed."""
    written = opconform("repro", "Split-1/page-example/*", "onnxruntime", "--as", "gtest", code=2)

    assert written.stderr.startswith(
        "error: opconform repro --as gtest does not support 'onnxruntime'. Allowed: openvino. "
    )


def test_no_comment_continues_on_the_next_line(small_suite: Path) -> None:
    """A backslash at the end of a line would make the next one part of the comment."""
    suite = open_suite(small_suite)
    text = cpp_test_of(suite, suite.entries[0], "openvino", ["x" * 115 + "\\ \nexit(7);", "\\"], None)

    assert not re.search(r"\\$", text.partition("#include")[0], re.MULTILINE)
    assert all(line.startswith("//") for line in text.partition("#include")[0].splitlines())


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("<net/>\n", 'R"ir(<net/>\n)ir"'),
        ('a="x)ir"" b="x)ir1""', 'R"ir2(a="x)ir"" b="x)ir1"")ir2"'),
        ('"\r\u202e\\', r'"\042\015\342\200\256\134"'),
        ("a\0b", r'std::string("a\000b", 3)'),
    ],
)
def test_a_model_stands_in_the_source_as_it_is(text: str, source: str) -> None:
    """In a raw string that does not end in it, or with escapes if it has invisible characters."""
    assert _raw(text) == source


def test_a_string_of_any_bytes_is_a_literal() -> None:
    """A digit behind an escape does not belong to it."""
    assert _literal(b'\xff1"\\') == r'"\3771\042\134"'


def test_a_script_and_a_test_in_cpp_know_every_right_element(opconform: Run, tmp_path: Path) -> None:
    """Beside the expected ones."""
    (tmp_path / "spec.yaml").write_text(SCATTER)
    opconform("generate", tmp_path / "spec.yaml", "--out", tmp_path / "suite")
    scattered = open_suite(tmp_path / "suite")
    for entry in scattered.entries:
        [output] = scattered.case(entry).outputs
        text = script_of(scattered, entry, "openvino", (), None)
        source = cpp_test_of(scattered, entry, "openvino", (), None)

        assert ("also = [" in text) is ("expect_equal" in source) is True, output.element_type
        assert source.count("as right") == 1
