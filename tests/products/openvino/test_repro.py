"""Scripts that show a case on OpenVINO: a mended backend ends them with 0."""

import json
import re
from importlib import import_module
from inspect import signature
from pathlib import Path

import pytest

from opconform.dialects.openvino import OPSETS
from opconform.explanation.case_list import one_case
from opconform.operations import OPERATIONS
from opconform_products.openvino.repro.calls import WITHOUT_FUNCTION, openvino_source
from opconform_products.openvino.repro.ir import short_ir
from opconform_runners.tools.repro.names import snake
from tests.conftest import Run, made_once
from tests.products.scripts import executed, generated, header_of, interpreter

#: A read past the end, wrong data, and a failure that does not count.
SOME_FINDINGS = (
    "VariadicSplit-1/remainder-over/17a2d48cd0",
    "Split-1/element-types/1faf64c2f9",
    "Split-1/other-types-in-contexts/1ec208159e",
)


@pytest.fixture(scope="session")
def suite(opconform: Run, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The suite of some findings."""
    return made_once(
        tmp_path_factory, worker_id, "some-findings", lambda out: generated(opconform, out, {*SOME_FINDINGS})
    )


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


@pytest.mark.timeout(120)
@pytest.mark.parametrize(("repeated", "last"), [(" ", "<dim>x"), ("<input>\n<port ", "x")])
def test_an_ir_is_shortened_in_linear_time(repeated: str, last: str) -> None:
    """A suite may come from a stranger; quadratic time would be hours."""
    assert short_ir(repeated * ((1 << 20) // len(repeated)) + last)


def test_openvino_has_every_function_that_a_script_calls() -> None:
    """A script that calls another name would be a failure of every release."""
    pytest.importorskip("openvino")
    modules = {op: OPSETS.get(op, f"opset{op.rpartition('-')[2]}") for op in OPERATIONS}
    called = {op: import_module(f"openvino.{modules[op]}") for op in modules.keys() - WITHOUT_FUNCTION}

    assert [op for op, module in called.items() if not hasattr(module, snake(OPERATIONS[op].type))] == []
    taken = {op: signature(getattr(module, snake(OPERATIONS[op].type))).parameters for op, module in called.items()}
    named = {op: {attribute.name for attribute in OPERATIONS[op].attributes} - {*taken[op]} for op in taken}
    assert {op: names for op, names in named.items() if names} == {
        "Constant-1": {"element_type", "shape"}
    }  # which a script writes out


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
