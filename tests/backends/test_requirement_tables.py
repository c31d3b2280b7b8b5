"""The tables in which backends and harnesses name requirements, against `requirements.yaml`.

The sources are read and not imported, so that no product has to be installed.
"""

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from opconform.specs.requirements import requirements_of
from opconform_runners.backends.backend import full_name
from tests.conftest import ROOT

BACKENDS = sorted((ROOT / "runners" / "opconform_runners" / "backends").glob("*.py"))
CPP = ROOT / "runners" / "cpp" / "openvino.cpp"
MESSAGES = sorted((ROOT / "runners" / "opconform_runners" / "backends").glob("*.toml"))
JAVASCRIPT = ROOT / "runners" / "javascript" / "backend.js"

#: What the tables are called whose rows are those of operations.
TABLES = ("INTEGERS", "MAPPED", "OPERATIONS")
SHORT = re.compile(r"[a-z0-9_]+(\.[a-z0-9_-]+)+")
FULL = re.compile(r'"([A-Z]\w*-\d+):([a-z0-9_.-]+)"')
#: The row of an operation in a table of the C++ harness.
ROW = re.compile(r'^    \{"([A-Z]\w*-\d+)",(.*?)(?=^    \{"[A-Z]|^\};)', re.MULTILINE | re.DOTALL)


def known() -> set[str]:
    """The full name of every requirement."""
    ops = [each.parent.name for each in (ROOT / "cases").glob("*/requirements.yaml")]
    return {full_name(op, each.id) for op in ops for each in requirements_of(op).requirements}


def strings(node: ast.AST, constants: Mapping[str, ast.AST]) -> Iterator[str]:
    """The texts of an expression but for its patterns, those of the module's constants that it names included."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile":
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    if isinstance(node, ast.Name) and node.id in constants:
        yield from strings(constants[node.id], constants)
    for child in ast.iter_child_nodes(node):
        yield from strings(child, constants)


def tables_of(source: str) -> dict[str, set[str]]:
    """The full names of the requirements in each table of a Python module."""
    body = ast.parse(source).body
    constants = {
        ast.unparse(target): each.value
        for each in body
        if isinstance(each, ast.Assign | ast.AnnAssign) and each.value is not None
        for target in (each.targets if isinstance(each, ast.Assign) else [each.target])
    }
    return {
        name: {
            full_name(ast.literal_eval(op), text)
            for op, row in zip(table.keys, table.values, strict=True)
            if op is not None
            for text in strings(row, constants)
            if SHORT.fullmatch(text)
        }
        for name in TABLES
        if name in constants
        for table in [next(each for each in ast.walk(constants[name]) if isinstance(each, ast.Dict))]
    }


@pytest.mark.parametrize("path", BACKENDS, ids=lambda path: path.name)
def test_every_requirement_in_a_backends_tables_is_one_of_its_operation(path: Path) -> None:
    """`axis.required` of one operation excuses no other's."""
    for name, named in tables_of(path.read_text()).items():
        assert named, name
        assert named - known() == set(), name


@pytest.mark.parametrize("path", MESSAGES, ids=lambda path: path.name)
def test_every_message_names_a_requirement_of_its_operation(path: Path) -> None:
    """A message about one operation says nothing about another."""
    tables = tomllib.loads(path.read_text())
    named = {full_name(op, text) for op, rows in tables.items() for text in rows.values()}

    assert named
    assert named - known() == set()
    assert all(re.compile(pattern) for rows in tables.values() for pattern in rows)


def test_the_tables_are_found() -> None:
    """A table that this test does not find would pass unseen."""
    found = {path.stem: tuple(tables_of(path.read_text())) for path in BACKENDS}

    assert {name: tables for name, tables in found.items() if tables} == {
        "direct_reshape": ("MAPPED",),
        "direct_split": ("MAPPED",),
        "iree": ("MAPPED",),
        "onnx_common": ("MAPPED",),
        "openvino": ("INTEGERS",),
        "tensorflow_operations": ("OPERATIONS",),
    }


def test_a_requirement_of_another_operation_is_found() -> None:
    """In a row, and through a constant that the row names."""
    source = """\
_AXIS = ((re.compile("some.text"), "axis.range"),)
OPERATIONS: Mapping[str, Support] = MappingProxyType(
    {"Split-1": Support(execute=_split, mapped=("lengths.sum",), messages=(*_AXIS, (re.compile("x"), "data.rank")))}
)
"""
    [named] = tables_of(source).values()

    assert named == {"Split-1:axis.range", "Split-1:data.rank", "Split-1:lengths.sum"}
    assert named - known() == {"Split-1:lengths.sum"}


@pytest.mark.parametrize("path", BACKENDS, ids=lambda path: path.name)
def test_every_requirement_that_a_backend_refuses_a_case_for_exists(path: Path) -> None:
    """In functions, where it is an argument of the refusal."""
    calls = (each for each in ast.walk(ast.parse(path.read_text())) if isinstance(each, ast.Call))
    refusals = (each for each in calls if ast.unparse(each.func) in ("Rejected", "_refuse"))
    named = {text for each in refusals for text in strings(each, {}) if SHORT.fullmatch(text)}

    assert named - {each.partition(":")[2] for each in known()} == set()


def test_the_harnesses_in_other_languages_name_requirements_of_the_operation() -> None:
    """The rows of the C++ harness's tables, and the list of the JavaScript one."""
    rows = ROW.findall(CPP.read_text())
    cpp = {full_name(op, text) for op, row in rows for text in re.findall(r'"([^"]*)"', row) if SHORT.fullmatch(text)}
    javascript = {full_name(*each) for each in FULL.findall(JAVASCRIPT.read_text())}
    messages = tomllib.loads((ROOT / "runners" / "opconform_runners" / "backends" / "openvino.toml").read_text())

    assert sorted(op for op, _ in rows) == sorted([*messages, "Split-1", "VariadicSplit-1"])
    assert len(cpp) > len(javascript) > 0
    assert (cpp | javascript) - known() == set()
