"""Scripts of a hostile suite: its texts become neither code nor the names of variables."""

import ast
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from opconform.suite.case import Case
from opconform.suite.reader import open_suite
from opconform_runners.tools.repro.graph_source import text_source
from opconform_runners.tools.repro.names import script_names
from opconform_runners.tools.repro.script import comments, script_of
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


def named(case: Case, inputs: list[str], nodes: list[str]) -> Case:
    """A case whose inputs, and copies of whose node, have some names."""
    node = case.graph.nodes[0]
    return replace(
        case,
        inputs=tuple(replace(x, name=name) for x, name in zip(case.inputs, inputs, strict=True)),
        graph=replace(case.graph, nodes=tuple(replace(node, name=name) for name in nodes)),
    )


@pytest.mark.parametrize(
    ("inputs", "nodes"),
    [
        (["np", "sys"], ["Expected", "Got"]),
        (["class", "print"], ["Match", "Abs"]),
        (["data", "data_node"], ["Data", "DataNode"]),
        (["data", "data_1"], ["Split", "Split"]),
        (["_", "__import__"], ["_", "__builtins__"]),
        (["opset1", "x" * 200], ["Opset8", "X" * 199]),
    ],
)
def test_no_two_variables_are_the_same_and_none_hides_what_a_script_uses(
    made: Path, inputs: list[str], nodes: list[str]
) -> None:
    """Names that the format allows."""
    read = open_suite(made)
    names = script_names(named(read.case(read.entries[0]), inputs, nodes))
    every = [*names.arrays.values(), *names.second.values(), *names.inputs.values(), *names.nodes]
    reserved = {"np", "sys", "ov", "expected", "got", "opset1", "opset8", *dir(__builtins__), "class", "match"}

    assert len(set(every)) == len(every)
    assert not reserved & {*every}
    assert all(name.isidentifier() and len(name) < 80 and not name.startswith("_") for name in every)


def test_the_names_of_an_ordinary_case_stay_as_they_are(made: Path) -> None:
    """A script is easier to read with them."""
    read = open_suite(made)
    names = script_names(read.case(read.entries[0]))

    assert names.arrays == {"data": "data", "axis": "axis"}
    assert names.inputs == {"data": "data_node", "axis": "axis_node"}
    assert names.nodes == ("split",)


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("place", ["an attribute's value", "a model", "a note", "a device"])
def test_no_text_of_a_suite_is_code_of_a_script(suite: Path, place: str, text: str) -> None:
    """A script with it has the same statements as one without it."""
    backend = f"openvino:{text}" if place == "a device" else "openvino"
    if place == "a model":
        (a_case(suite) / "openvino" / "model.xml").write_text(f"<net>{text}", newline="")

    def change(case: dict[str, object]) -> None:
        if place in ("an attribute's value", "a model"):  # a text in place of a number is written as the IR
            case["graph"]["nodes"][0]["attributes"]["num_splits"] = text  # type: ignore[index]

    read, entry = opened(suite, change)
    script = script_of(read, entry, backend, [text if place == "a note" else "x"], None)
    plain = script_of(read, entry, "openvino:x", ["x"], None)

    assert statements(script) == statements(plain)


def statements(script: str) -> list[str]:
    """The kinds of the nodes of a script's syntax tree."""
    return [type(node).__name__ for node in ast.walk(ast.parse(script))]


@pytest.mark.parametrize("text", [*HOSTILE, 'ends with "', "ends with \\", '"""', "\ud800"])
def test_a_text_is_the_value_of_its_literal(text: str) -> None:
    """Whatever is in it."""
    assert ast.literal_eval(text_source(text)) == text


@pytest.mark.parametrize("text", COMMENTS)
def test_a_comment_stays_one(text: str) -> None:
    """Whatever the text has at the end of a line."""
    for line in comments([text]):
        assert ast.parse(f"# {line}\n").body == []
        assert len(f"# {line}".splitlines()) == 1
