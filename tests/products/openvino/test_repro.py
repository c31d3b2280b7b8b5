"""Scripts that show a case without opconform: each finding's script shows it, and a mended backend ends it with 0."""

import json
import re
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from opconform.dialects.openvino import OPSETS
from opconform.explanation.case_list import one_case
from opconform.operations import OPERATIONS
from opconform.suite.reader import open_suite
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_products.openvino.calls import WITHOUT_FUNCTION, openvino_source
from opconform_runners.tools.repro.names import snake
from opconform_runners.tools.repro.script import script_of
from opconform_runners.tools.repro.variables import nan_source, output_source
from tests.conftest import Run, made_once
from tests.products.scripts import PRODUCTS, cases_of, executed, generated, header_of, interpreter

#: A read past the end, wrong data, and a failure that does not count.
SOME_FINDINGS = (
    "VariadicSplit-1/remainder-over/17a2d48cd0",
    "Split-1/element-types/1faf64c2f9",
    "Split-1/other-types-in-contexts/1ec208159e",
)


@pytest.fixture(scope="session")
def suite(opconform: Run, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The suite of some findings, among them the first of each product."""
    cases = {*SOME_FINDINGS, *(cases_of(product)[0] for product, _ in PRODUCTS.values())}
    return made_once(tmp_path_factory, worker_id, "some-findings", lambda out: generated(opconform, out, cases))


def test_openvinos_factory_makes_the_nodes_that_it_has_no_functions_for() -> None:
    """An attribute without a value that the factory takes is left to the IR."""
    [too_many, spelled] = (
        openvino_source(one_case(f"Reverse-1/{case}").case)
        for case in ("too-many-indices/331c3fc997", "other-spellings/574bc126fd")
    )

    assert spelled is None
    assert too_many is not None
    assert too_many.steps == (
        ("reverse", """NodeFactory("opset1").create("Reverse", [data_node, axis_node], {'mode': 'index'})"""),
    )


def test_openvino_has_every_function_that_a_script_calls() -> None:
    """A script that calls another name would be a failure of every release."""
    pytest.importorskip("openvino")
    modules = {op: OPSETS.get(op, f"opset{op.rpartition('-')[2]}") for op in OPERATIONS}
    called = {op: import_module(f"openvino.{modules[op]}") for op in modules.keys() - WITHOUT_FUNCTION}

    assert [op for op, module in called.items() if not hasattr(module, snake(OPERATIONS[op].type))] == []


def test_a_function_is_of_the_first_opset_that_has_the_operation() -> None:
    """OpenVINO's ScatterNDUpdate-3 is in its opset 4."""
    source = openvino_source(one_case("ScatterNDUpdate-3/negative/c2038f916d").case)

    assert source is not None
    assert source.steps == (("scatter_nd_update", "opset4.scatter_nd_update(data_node, indices_node, updates_node)"),)


def test_a_variable_hides_no_function_of_python() -> None:
    """A script that compares rounded results takes absolute values of errors."""
    source = openvino_source(one_case("Abs-1/special-values/6a6efc3d05").case)

    assert source is not None
    assert source.steps == (("abs_", "opset1.abs(data_node)"),)


@pytest.mark.parametrize(("case", "private"), [(SOME_FINDINGS[0], True), (SOME_FINDINGS[1], False)])
def test_a_memory_fault_asks_for_a_private_report(
    opconform: Run, suite: Path, tmp_path: Path, case: str, private: bool
) -> None:
    """The terminal and the script say so of a read past the end, and not of wrong data."""
    interpreter("openvino")
    script = tmp_path / "script.py"
    written = opconform("repro", case, "--backend", "openvino", "--suite", suite, "--out", script)

    assert ("report it to the vendor privately" in written.stderr) is private
    assert ("report it to the vendor privately" in header_of(script.read_text())) is private


def ids(suite: Path, *, accepted: bool) -> list[str]:
    """The ids of the cases of a suite that are accepted, or of those that are not."""
    entries = [json.loads(line) for line in (suite / "manifest.jsonl").read_text().splitlines()]
    return [entry["id"] for entry in entries if (entry["expect"] == "accept") is accepted]


@pytest.mark.parametrize(
    ("accepted", "said", "end"),
    [
        (
            True,
            "expected: 3 outputs\nright\n",
            "Exits with 0 if the outputs are as expected, and with 1 if they differ or the case is rejected.",
        ),
        (
            False,
            "expected: rejected\nrejected, as expected: ",
            "Exits with 0 if the case is rejected as expected, and with 1 if it is accepted.",
        ),
    ],
)
def test_the_script_of_a_case_that_passes_ends_with_0(
    opconform: Run, small_suite: Path, tmp_path: Path, accepted: bool, said: str, end: str
) -> None:
    """So it tells when the bug is mended; that there is none is said when it is written."""
    python, case = interpreter("openvino"), ids(small_suite, accepted=accepted)[0]
    script = tmp_path / "script.py"
    written = opconform("repro", case, "--backend", "openvino", "--suite", small_suite, "--out", script)
    done = executed(script, python)

    assert f"does not fail {case} here: pass\n" in written.stderr
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(said)
    assert end in header_of(script.read_text())


@pytest.mark.parametrize("backend", ["openvino", "openvino-onnx", "onnxruntime"])
def test_a_missing_device_is_not_a_rejection(opconform: Run, suite: Path, tmp_path: Path, backend: str) -> None:
    """The script of an invalid case ends with a traceback before it executes the case."""
    python, script, case = interpreter(backend), tmp_path / "script.py", cases_of(PRODUCTS[backend][0])[0]
    written = opconform("repro", case, "--backend", f"{backend}:NOWHERE", "--suite", suite, "--out", script)
    done = executed(script, python)

    assert written.stderr.endswith("The script was not checked against the backend.\n")
    assert 'print("expected: rejected", flush=True)' in script.read_text()
    assert done.returncode == 1
    assert "expected: " not in done.stdout
    assert "Traceback" in done.stderr


def test_a_failure_that_does_not_count_has_its_sentence(opconform: Run, suite: Path) -> None:
    """The script of an undeclared case that fails states the reason."""
    interpreter("openvino")
    written = opconform("repro", SOME_FINDINGS[2], "--backend", "openvino", "--suite", suite)

    assert re.search(
        r" on CPU: unsupported: the backend does not declare u1; rejected at run time, although it is valid: \S",
        header_of(written.stdout),
    )


def test_the_script_for_an_imported_model_imports_it(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """The device's name is not one that OpenVINO knows."""
    python, script = interpreter("openvino"), tmp_path / "script.py"
    case = ids(small_suite, accepted=True)[0]
    opconform("repro", case, "--backend", "openvino:IMPORT:ACCURACY:CPU", "--suite", small_suite, "--out", script)

    assert 'import_model(compiled.export_model(), "CPU", {"EXECUTION_MODE_HINT": "ACCURACY"})' in script.read_text()
    assert executed(script, python).returncode == 0


def test_only_a_script_is_overwritten(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """Whatever else is there is left as it is."""
    interpreter("openvino")
    case, script, foreign = ids(small_suite, accepted=False)[0], tmp_path / "new" / "script.py", tmp_path / "notes.md"
    foreign.write_text("The case was refused.\n")
    command = ("repro", case, "--backend", "openvino", "--suite", small_suite, "--out")
    opconform(*command, script)
    first = script.read_text()
    script.write_text(first + "print()\n")
    opconform(*command, script)
    refused = opconform(*command, foreign, code=2)

    assert script.read_text() == first
    assert foreign.read_text() == "The case was refused.\n"
    assert refused.stderr == (
        f"error: opconform did not write {foreign} and does not overwrite it. Use another --out.\n"
    )


@pytest.mark.parametrize(("given", "returned"), [("bf16", "f32"), ("f32", "bf16")])
def test_a_script_compares_outputs_in_their_own_type(opconform: Run, tmp_path: Path, given: str, returned: str) -> None:
    """Which a conversion does not have in common with its input; numpy lacks bf16."""
    (tmp_path / "spec.yaml").write_text(
        "op: Convert-1\ngroups:\n  - {id: of, title: t, requirements: [values.exact], "
        f"data: {{shape: [3], element_type: {given}}}, destination_type: {returned}}}\n"
    )
    opconform("generate", "spec.yaml", "--dialect", "onnx", "--out", "suite", cwd=tmp_path)
    suite = open_suite(tmp_path / "suite")
    [entry] = suite.entries
    (tmp_path / "script.py").write_text(script_of(suite, entry, "onnxruntime", (), None))
    done = executed(tmp_path / "script.py", sys.executable)

    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "right"), done.stdout + done.stderr


@pytest.mark.parametrize(
    ("group", "element_type", "call"),
    [
        ("Divide-1/element-types", "i32", "torch.div(a, b, rounding_mode='floor')"),
        ("Divide-1/element-types", "f32", "torch.div(a, b)"),
        ("TopK-11/order-of-equal-elements", "i32", "torch.topk(data, 2, 0, False, True)[1].to(torch.int64)"),
        ("TopK-11/equal-elements", "f32", "torch.sort(data, dim=1, descending=True, stable=True)[0].narrow(1, 0, 8)"),
    ],
)
@pytest.mark.ci_only
def test_a_script_for_pytorch_has_the_calls_of_the_backend(
    core_suite: Path, group: str, element_type: str, call: str
) -> None:
    """Of integers, too, whose quotients `torch.div` does not round unless it is told how, and of several outputs."""
    suite = open_suite(core_suite)
    cases = (x for x in suite.entries if x.id.startswith(f"{group}/") and x.expect == "accept")
    entry = next(x for x in cases if suite.case(x).inputs[0].element_type == element_type)

    assert call in script_of(suite, entry, "torch", (), None)


@pytest.mark.parametrize(
    "name", [element_type.name for element_type in ELEMENT_TYPES.values() if element_type.bits in (8, 16)]
)
def test_a_script_knows_the_nans(name: str) -> None:
    """Of every pattern of a type, as numpy or ml_dtypes know them."""
    kind = ELEMENT_TYPES[name]
    held = np.arange(1 << kind.bits).astype(f"u{kind.storage.itemsize}").view(kind.storage)
    source = nan_source(name, "held")
    found = eval(source, {"np": np, "held": held}) if source else np.zeros(held.shape, np.bool_)  # noqa: S307 - our own line
    with np.errstate(all="ignore"):
        expected = np.isnan(held.view(kind.arithmetic)) if kind.kind == "float" else np.zeros(held.shape, np.bool_)

    assert found.tolist() == expected.tolist()
    assert bool(source) == (kind.kind == "float")


@pytest.mark.parametrize(
    ("index", "source"),
    [
        ((slice(1, 3),), "data[1:3]"),
        ((slice(None), slice(0, 5, 2)), "data[:, 0:5:2]"),
        ((slice(None), slice(4, None, -2)), "data[:, 4::-2]"),
        ((slice(0, 1), slice(2)), "np.array([3, 1], np.int32).reshape(1, 2)"),
    ],
)
def test_a_script_knows_the_slices(index: tuple[slice, ...], source: str) -> None:
    """An output that is a slice along one dimension is written as one, and any other one by its elements."""
    data = np.array([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3], [5, 8, 9, 7, 9]], np.int32)
    found = output_source(data[index], {"data": data})

    assert found == source
    assert eval(found, {"np": np, "data": data}).tolist() == data[index].tolist()  # noqa: S307 - our own line


def test_what_a_spec_says_cannot_become_code(opconform: Run, tmp_path: Path) -> None:
    """Titles and attributes of a stranger's spec stand in comments and literals, whatever they hold."""
    python, script = interpreter("openvino"), tmp_path / "script.py"
    (tmp_path / "spec.yaml").write_text(STRANGER)
    opconform("generate", tmp_path / "spec.yaml", "--out", tmp_path / "suite")
    [case] = ids(tmp_path / "suite", accepted=False)
    opconform("repro", case, "--backend", "openvino", "--suite", tmp_path / "suite", "--out", script)
    done = executed(script, python)

    assert "exit(7)" in script.read_text()
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("expected: rejected\nrejected, as expected: ")


def test_a_case_that_a_script_cannot_show_is_refused(opconform: Run, small_suite: Path) -> None:
    """A backend without scripts, a missing case, and several matches."""
    command = ("repro", "--suite", small_suite, "--backend")
    accepted = [id_ for id_ in ids(small_suite, accepted=True) if "/accepted/" in id_]

    assert opconform(*command, "numpy", "x", code=2).stderr == (
        "error: opconform repro does not support 'numpy'. Allowed: onnxruntime, openvino, openvino-onnx, torch. "
        "For other backends, `opconform run SUITE --backend NAME --select CASE` executes the case again.\n"
    )
    assert "Did you mean 'openvino'?" in opconform(*command, "opnvino", "x", code=2).stderr
    assert opconform(*command, "buggy.py:Buggy", "x", code=2).stderr.startswith(
        "error: opconform repro does not support 'buggy.py:Buggy'. Allowed: "
    )
    assert opconform(*command, "torch:cuda", accepted[0], code=2).stderr.splitlines()[-1] == (
        "error: opconform repro does not support torch:cuda. Allowed: eager, compile."
    )
    assert opconform(*command, "openvino", "Split-1/no/1", code=2).stderr == (
        f"error: No case matches 'Split-1/no/1' in {small_suite}. `opconform list` lists them.\n"
    )
    assert opconform(*command, "openvino", "VariadicSplit-1/accepted/*", code=2).stderr == (
        f"error: 4 cases match 'VariadicSplit-1/accepted/*': {', '.join(accepted)}. Name one.\n"
    )


STRANGER = r"""
op: Split-1
groups:
  - id: stranger
    title: "exit(7) \"\"\" \\"
    data: {shape: [4, 2]}
    axis: 0
    num_splits: "\"\"\"\nexit(7)\\"
    expect: {reject: num_splits.type}
    twin: {num_splits: 2}
"""
