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
from opconform_products.frameworks.adapters import (
    blocks,
    gather,
    layout,
    pads,
    scatters,
    slices,
    split,
    squeeze,
    unique,
)
from opconform_products.frameworks.framework import Adapter
from opconform_runners.backends.backend import full_name
from tests.conftest import ROOT

CORE, PRODUCTS = (ROOT / "runners" / name for name in ("opconform_runners/backends", "opconform_products"))
MODULES = sorted([*CORE.rglob("*.py"), *PRODUCTS.rglob("*.py")])
#: The backends with a row for each operation, and the others.
WITH_ROWS = ("numpy", "frameworks", "jax", "tensorflow", "tinygrad", "torch")
FRAMEWORKS = [path for path in MODULES if not {*path.parts}.isdisjoint(WITH_ROWS)]
BACKENDS = [path for path in MODULES if path not in FRAMEWORKS]
CPP = ROOT / "runners" / "cpp" / "openvino.cpp"
MESSAGES = sorted(PRODUCTS.rglob("*.toml"))
JAVASCRIPT = ROOT / "runners" / "javascript" / "backend.js"

#: What the tables are called whose rows are those of operations.
TABLES = ("MAPPED",)
#: What rows name: adapters, functions that make adapters, and tuples of requirements.
NAMED = {
    name: value
    for module in (blocks, gather, layout, pads, scatters, slices, split, squeeze, unique)
    for name, value in vars(module).items()
}
#: The functions that make adapters without any argument.
MAKERS = (pads.pairs, pads.added, scatters.elements_at, scatters.tuples_at)
OPERATION = re.compile(r"[A-Z]\w*-\d+")
SHORT = re.compile(r"[a-z0-9_]+(\.[a-z0-9_-]+)+")
FULL = re.compile(r'"([A-Z]\w*-\d+):([a-z0-9_.-]+)"')
#: The row of an operation in a table of the C++ harness.
ROW = re.compile(r'^    \{"([A-Z]\w*-\d+)",(.*?)(?=^    \{"[A-Z]|^\};)', re.MULTILINE | re.DOTALL)


def place_of(path: Path) -> str:
    """A module and its folder."""
    return f"{path.parent.name}/{path.stem}"


def known() -> set[str]:
    """The full name of every requirement."""
    ops = [p.parent.name for p in (ROOT / "cases").glob("*/requirements.yaml")]
    return {full_name(op, requirement.id) for op in ops for requirement in requirements_of(op).requirements}


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
        ast.unparse(target): x.value
        for x in body
        if isinstance(x, ast.Assign | ast.AnnAssign) and x.value is not None
        for target in (x.targets if isinstance(x, ast.Assign) else [x.target])
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
        for table in [next(p for p in ast.walk(constants[name]) if isinstance(p, ast.Dict))]
    }


@pytest.mark.parametrize("path", BACKENDS, ids=place_of)
def test_every_requirement_in_a_backends_tables_is_one_of_its_operation(path: Path) -> None:
    """`axis.required` of one operation excuses no other's."""
    for name, named in tables_of(path.read_text()).items():
        assert named, name
        assert named - known() == set(), name


def rows_of(source: str) -> dict[str, set[str]]:
    """The full names of the requirements and words that each row of a framework's module names, by operation."""
    nodes = [*ast.walk(ast.parse(source))]
    tables = [p for p in nodes if isinstance(p, ast.Dict) and p.keys]
    shared = {ast.unparse(p.targets[0]): p.value for p in nodes if isinstance(p, ast.Assign)}
    rows = [
        (ast.literal_eval(op), row)
        for table in tables
        for op, value in zip(table.keys, table.values, strict=True)
        for row in [shared.get(ast.unparse(value), value)]
        if op is not None and OPERATION.fullmatch(ast.unparse(op).strip("'")) and isinstance(row, ast.Call)
    ]
    return {op: {full_name(op, name) for name in names_in(row)} for op, row in rows}


def names_in(row: ast.AST) -> Iterator[str]:
    """The requirements and words that a row names, or the adapters that it names."""
    yield from (string for string in strings(row, {}) if SHORT.fullmatch(string))
    for item in ast.walk(row):
        value = NAMED.get(item.id) if isinstance(item, ast.Name) else None
        value = value() if value in MAKERS else value
        if isinstance(value, Adapter):
            yield from (*value.mapped, *(value.constraints or ()))
        elif isinstance(value, tuple):
            yield from (text for text in value if "." in text)


@pytest.mark.parametrize("path", FRAMEWORKS, ids=place_of)
def test_every_requirement_in_a_frameworks_row_is_one_of_its_operation(path: Path) -> None:
    """An adapter of another operation would map what does not exist."""
    named = {name for row in rows_of(path.read_text()).values() for name in row}
    words = {x.rpartition(".")[0] for x in known()}

    assert named - known() - words == set()


def test_an_adapter_of_another_operation_is_found() -> None:
    """By what it maps, and by the constraints that it names."""
    rows = rows_of('ROWS = {"Split-1": Row(split, SLICES, ("axis.rang",)), "Concat-1": Row(join, CONCAT)}')

    assert rows["Concat-1"] - known() == set()
    assert {"Split-1:axes.unique", "Split-1:start", "Split-1:axis.rang"} <= rows["Split-1"] - known()


@pytest.mark.parametrize("path", MESSAGES, ids=place_of)
def test_every_message_names_a_requirement_of_its_operation(path: Path) -> None:
    """A message about one operation says nothing about another."""
    tables = tomllib.loads(path.read_text())
    named = {full_name(op, text) for op, rows in tables.items() for text in rows.values()}

    assert named
    assert named - known() == set()
    assert all(re.compile(pattern) for rows in tables.values() for pattern in rows)


def test_the_tables_are_found() -> None:
    """A table that this test does not find would pass unseen."""
    found = {place_of(path): tuple(tables_of(path.read_text())) for path in BACKENDS}

    assert {name: tables for name, tables in found.items() if tables} == {
        "iree/backend": ("MAPPED",),
        "backends/onnx_dialect": ("MAPPED",),
    }
    assert {place_of(path): len(rows_of(path.read_text())) for path in FRAMEWORKS if rows_of(path.read_text())} == {
        "jax/backend": 80,
        "numpy/binary": 24,
        "numpy/reductions": 9,
        "numpy/unary": 26,
        "tensorflow/rows": 85,
        "tinygrad/backend": 77,
        "rows/table": 63,
        "rows/products": 9,
        "rows/reductions": 11,
        "rows/scatters": 6,
    }


def test_a_requirement_of_another_operation_is_found() -> None:
    """In a row, and through a constant that the row names."""
    source = """\
_AXIS = ((re.compile("some.text"), "axis.range"),)
MAPPED: Mapping[str, Support] = MappingProxyType(
    {"Split-1": Support(execute=_split, mapped=("lengths.sum",), messages=(*_AXIS, (re.compile("x"), "data.rank")))}
)
"""
    [named] = tables_of(source).values()

    assert named == {"Split-1:axis.range", "Split-1:data.rank", "Split-1:lengths.sum"}
    assert named - known() == {"Split-1:lengths.sum"}


@pytest.mark.parametrize("path", [*BACKENDS, *FRAMEWORKS], ids=place_of)
def test_every_requirement_that_a_backend_refuses_a_case_for_exists(path: Path) -> None:
    """In functions, where it is an argument of the refusal."""
    calls = (p for p in ast.walk(ast.parse(path.read_text())) if isinstance(p, ast.Call))
    refusals = (call for call in calls if ast.unparse(call.func) in ("Rejected", "refuse_if"))
    named = {text for refusal in refusals for text in strings(refusal, {}) if SHORT.fullmatch(text)}

    assert named - {x.partition(":")[2] for x in known()} == set()


def test_the_harnesses_in_other_languages_name_requirements_of_the_operation() -> None:
    """The rows of the C++ harness's tables, and the list of the JavaScript one."""
    rows = ROW.findall(CPP.read_text())
    cpp = {full_name(op, text) for op, row in rows for text in re.findall(r'"([^"]*)"', row) if SHORT.fullmatch(text)}
    javascript = {full_name(*match) for match in FULL.findall(JAVASCRIPT.read_text())}
    messages = tomllib.loads((PRODUCTS / "openvino" / "backend.toml").read_text())

    assert sorted(op for op, _ in rows) == sorted(messages)
    assert len(cpp) > len(javascript) > 0
    assert (cpp | javascript) - known() == set()
