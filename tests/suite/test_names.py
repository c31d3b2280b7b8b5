"""Names: no text of a suite can be more than a name, and nothing that is generated has a name that is refused."""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from opconform.dialects import _check as check_dialect
from opconform.dialects.dialect import Dialect
from opconform.errors import SuiteError, UsageError
from opconform.model.graph import _named as named
from opconform.operations import _check as check_operation
from opconform.operations.contract import ContextError
from opconform.operations.operation import Movement
from opconform.specs.loader import load_spec
from opconform.suite.case import Graph, Node
from opconform.suite.declarations import Port
from opconform.suite.reader import open_suite
from opconform.system.entry_points import Unusable
from tests.robustness.hostile_suites import a_case, reseal, reseal_header

#: What breaks out of Python, C++, CMake, MLIR, XML and a shell.
CODE = "x\nimport os; os.abort()\n"
#: The changes of a header or a case that put code in place of a name, by what has the name.
NAMES: Mapping[str, Callable[[Any], None]] = {
    "a node": lambda case: case["graph"]["nodes"][0].update(name=CODE),
    "a node's operation": lambda case: case["graph"]["nodes"][0].update(op=CODE),
    "an input": lambda case: case["inputs"][0].update(name=CODE),
    "a node's input": lambda case: case["graph"]["nodes"][0].update(inputs=[CODE]),
    "a node's output": lambda case: case["graph"]["nodes"][0].update(outputs=[CODE]),
    "the model's output": lambda case: case["graph"].update(outputs=[CODE]),
    "an expected output": lambda case: case["expect"]["accept"][0].update(name=CODE),
    "an attribute": lambda case: case["graph"]["nodes"][0].update(attributes={CODE: 1}),
    "an element type": lambda case: case["inputs"][0].update(element_type=CODE),
    "a declared dimension": lambda case: case["inputs"][0].update(dynamic=[CODE]),
    "the operation": lambda case: case.update(op=CODE),
    "the title": lambda case: case.update(title=CODE),
    "the profile": lambda case: case.update(profile=CODE),
    "a requirement": lambda case: case.update(requirements=[CODE]),
    "a report": lambda case: case.update(seen=[CODE]),
    "the context": lambda case: case.update(context=CODE),
    "the twin": lambda case: case.update(twin=CODE),
    "the id": lambda case: case.update(id=CODE),
}
#: The same of the header.
HEADERS: Mapping[str, Any] = {
    "the version": {"version": CODE},
    "the generator": {"generator": CODE},
    "a dialect": {"dialects": {CODE: "openvino/model.xml"}},
    "a dialect's model": {"dialects": {"openvino": CODE}},
    "a spec": {"specs": {f"Split-1/{CODE}": "0" * 64}},
    "a page's operation": {"specification": {CODE: ["rst"]}},
    "a page's revision": {"specification": {"Split-1": [CODE]}},
    "a requirement's operation": {"requirements": {CODE: {}}},
    "a requirement": {"requirements": {"Split-1": {CODE: {"level": "normative", "text": "x"}}}},
    "an established requirement": {"establishes": {"Split-1": {"bits": [CODE]}}},
    "a declaration": {"declarations": [{"name": CODE, "inputs": [], "moves_data": True}]},
    "a port": {"declarations": [{"name": "Split-1", "inputs": [{"name": CODE}], "moves_data": True}]},
    "a port's type": {
        "declarations": [{"name": "Split-1", "inputs": [{"name": "data", "types": [CODE]}], "moves_data": True}]
    },
    "a declared attribute": {
        "declarations": [
            {"name": "Split-1", "inputs": [], "attributes": [{"name": CODE, "type": "int"}], "moves_data": True}
        ]
    },
    "a use's group": {"uses": {CODE: {"x": 1}}},
    "a use": {"uses": {"Split-1/halves": {CODE: 1}}},
    "a profile": {"cases": {"Split-1": {CODE: 1}}},
    "a count": {"counts": {CODE: 1}},
}
SPEC = "op: Split-1\ngroups:\n  - {id: halves, title: two halves, data: {shape: [4, 2]}, axis: 0, num_splits: 2}\n"


@pytest.fixture(scope="module")
def suite(opconform: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite of one case."""
    folder = tmp_path_factory.mktemp("names")
    (folder / "spec.yaml").write_text(SPEC)
    opconform("generate", folder / "spec.yaml", "--out", folder / "suite", "--jobs", "1")
    return folder / "suite"


@pytest.fixture
def copy(suite: Path, tmp_path: Path) -> Path:
    """A copy of the suite."""
    return Path(shutil.copytree(suite, tmp_path / "suite"))


@pytest.mark.parametrize("what", NAMES)
def test_no_name_in_a_case_is_code(copy: Path, what: str) -> None:
    """Under digests that are right, so that only the pattern refuses it."""
    path = a_case(copy) / "case.json"
    case = json.loads(path.read_text())
    NAMES[what](case)
    path.write_text(json.dumps(case) + "\n")
    reseal(copy)
    read = open_suite(copy)

    with pytest.raises(SuiteError, match=r"pattern|not an element type|valid"):
        read.case(read.entries[0])


@pytest.mark.parametrize("what", HEADERS)
def test_no_name_in_a_header_is_code(copy: Path, what: str) -> None:
    """As in a case."""
    reseal_header(copy, (copy / "manifest.jsonl").read_bytes(), **HEADERS[what])

    with pytest.raises(SuiteError, match=r"pattern|not an element type"):
        open_suite(copy)


def test_an_operation_with_another_name_is_refused_before_a_suite_has_it(tmp_path: Path) -> None:
    """Of a port, and of a context: the maker reads which one."""
    (tmp_path / "cases" / "Mine-1").mkdir(parents=True)
    (tmp_path / "cases" / "Mine-1" / "requirements.yaml").touch()
    operation = Movement(name="Mine-1", inputs=(Port("data"),), moved=lambda _, places: [places["data"]])
    port = replace(operation, inputs=(Port("my data"),))
    context = replace(operation, contexts={"My context": lambda _: Graph(nodes=(), outputs=())})
    check_operation("Mine-1", operation, tmp_path / "mine.py")

    with pytest.raises(Unusable, match=r"inputs\.0\.name: 'my data': String should match pattern"):
        check_operation("Mine-1", port, tmp_path / "mine.py")
    with pytest.raises(Unusable, match="its context 'My context' is not lower-case words"):
        check_operation("Mine-1", context, tmp_path / "mine.py")


def test_a_dialect_with_another_name_is_refused_before_a_suite_has_it(tmp_path: Path) -> None:
    """The name of its model becomes that of a file, and a setting of a build."""
    with pytest.raises(Unusable, match=r"its model is 'mine/a\"b'\. Rename it\."):
        check_dialect("mine", Dialect(model='mine/a"b', files_of=lambda *_: {}), tmp_path)


def test_a_context_with_another_name_is_a_mistake_of_the_group_that_uses_it() -> None:
    """Of a context of an installed operation; those that are shipped have right names."""
    node = Node(name="my node", op="Abs-1", inputs=("data",), outputs=("out",))

    with pytest.raises(ContextError, match="'my node': use letters, digits and underscores"):
        named(Graph(nodes=(node,), outputs=("out",)))


@pytest.mark.parametrize("name", ["a\nb.yaml", "a\udcff.yaml"])
def test_a_spec_whose_name_no_suite_can_have_is_refused(tmp_path: Path, name: str) -> None:
    """Before anything is generated."""
    path = tmp_path / name
    path.write_text(SPEC)

    with pytest.raises(UsageError, match="a spec's name must be one line of UTF-8 text"):
        load_spec(path)
