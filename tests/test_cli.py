"""The command line: exit codes, and what each command prints."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml

from opconform.specs.loader import shipped_operations
from opconform.suite.reader import open_suite
from opconform_runners.cli.shared.matrix_run import start
from opconform_runners.cli.shared.options.backends import BackendOptions
from tests.conftest import MINIATURES, ROOT, Run
from tests.result_files import report_in
from tests.sampling import WHOLE


@pytest.mark.ci_only
def test_numpy_is_conformant(opconform: Run, shipped_suite: Path, tmp_path: Path) -> None:
    """The backend without a known fault passes everything; a sample of a release is incomplete."""
    run = ("run", shipped_suite, "--backend", "numpy", "--out", tmp_path / "out", "--strict")
    done = opconform(*run, code=0 if WHOLE else 1)
    report = report_in(tmp_path / "out")
    left = {case["sentence"] for case in report["cases"] if case["verdict"] != "pass"}

    assert f"{'CONFORMANT' if WHOLE else 'INCOMPLETE'}, " in done.stdout
    assert report["conformant"] is (True if WHOLE else None)
    assert report["summary"]["pass"] == len(open_suite(shipped_suite).entries)
    assert left == set()


@pytest.mark.parametrize(
    "ops", [("Split-1", "Sqrt-1"), pytest.param(tuple(shipped_operations()), marks=pytest.mark.ci_only)], ids=len
)
def test_the_schema_takes_the_shipped_specs_and_no_wrong_ones(opconform: Run, ops: tuple[str, ...]) -> None:
    """An editor that knows the schema agrees with the loader. Each spec is compared with the part on its operation."""
    schema = json.loads(opconform("schema").stdout)
    files = [file for op in ops for file in (ROOT / "cases" / op).glob("*.yaml")]
    specs = [yaml.load(file.read_text(), yaml.CSafeLoader) for file in files if file.name != "requirements.yaml"]

    assert {spec["op"] for spec in specs} == {*ops}
    assert schema["$id"] == "opconform-specs-1.schema.json"
    validator = jsonschema.validators.validator_for(schema)(schema)
    for item in specs:
        part = f"{item['op'].replace('-', '')}{'Spec' if 'groups' in item else 'Samples'}"
        validator.evolve(schema={"$ref": f"#/$defs/{part}"}).validate({"$schema": schema["$id"], **item})
    validator.validate({"op": "Minimum-1", "like": "Add-1"})
    with pytest.raises(jsonschema.ValidationError):
        validator.validate({"op": "Minimum-1"})
    with pytest.raises(jsonschema.ValidationError):
        validator.validate({"op": "Split-1", "groups": [{"id": "a", "title": "t", "profil": "core"}]})


@pytest.mark.parametrize(
    ("words", "dialects"),
    [
        (("--backend", "onnx-reference"), ("onnx",)),
        (("--backend", "numpy"), ("openvino",)),
        (("--backend", "onnx-reference", "--dialect", "stablehlo"), ("stablehlo",)),
    ],
    ids=" ".join,
)
def test_a_suite_for_a_backend_has_the_dialects_that_it_reads(
    opconform: Run, small_spec: Path, tmp_path: Path, words: tuple[str, ...], dialects: tuple[str, ...]
) -> None:
    """Unless others are named; one that reads none gets the default one."""
    opconform("generate", small_spec, *words, "--out", tmp_path / "suite", "--jobs", "1")

    assert open_suite(tmp_path / "suite").header.dialects.keys() == {*dialects}
    assert "Name a backend" in opconform("generate", "--python", "x", "--out", tmp_path / "b", code=2).stderr


@pytest.mark.ci_only
def test_backends_says_what_is_installed(opconform: Run) -> None:
    """Each backend has a line."""
    found = {load["name"]: load for load in json.loads(opconform("backends", "--json").stdout)}

    assert found["numpy"]["usable"]


def test_json_is_all_that_is_printed(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """`--json` prints one document, for a program to read."""
    done = opconform("run", small_suite, "--backend", f"{MINIATURES}:Perfect", "--out", tmp_path, "--json")

    assert json.loads(done.stdout)["conformant"] is True
    assert done.stderr == ""


def test_certify_takes_backends_and_specs_as_arguments(opconform: Run, small_spec: Path, tmp_path: Path) -> None:
    """An installed backend's name is a backend although a folder has that name."""
    (tmp_path / "numpy").mkdir()
    opconform("certify", "numpy", small_spec, "-j", "1", cwd=tmp_path)

    assert (tmp_path / "opconform-out" / "numpy" / "report.html").exists()


def test_several_backends_get_a_folder_and_a_certificate_each(opconform: Run, small_spec: Path, tmp_path: Path) -> None:
    """And a matrix; `run` does the same on a suite that exists."""
    opconform("certificate", "keygen", tmp_path / "me")
    perfect = f"{MINIATURES}:Perfect"
    certify = (
        "certify",
        "numpy",
        perfect,
        small_spec,
        "-j",
        "1",
        "-o",
        tmp_path / "out",
        "--sign",
        tmp_path / "me.key",
    )
    signed = opconform(*certify).stdout
    opconform("run", tmp_path / "out" / "suite", "-b", "numpy", "-b", perfect, "-o", tmp_path / "again")
    found = json.loads((tmp_path / "again" / "matrix.json").read_text())["backends"]
    names = [hit["name"].replace(" ", "-") for hit in found]

    assert "Next:" not in signed
    assert len(names) == 2
    for name in names:
        assert (tmp_path / "again" / name / "report.json").exists()
        assert f"Certificate: {tmp_path / 'out' / name}/certificate.json, PASSED" in signed
    assert (tmp_path / "again" / "matrix.md").read_text() == (tmp_path / "out" / "matrix.md").read_text()


def test_a_backend_is_not_replaced_by_one_of_the_same_name(tmp_path: Path) -> None:
    """A class in a file may test the product of an installed backend."""
    own = tmp_path / "own.py"
    own.write_text("from opconform_runners.backends.numpy.backend import Numpy as Own\n")

    started = start(BackendOptions(backends=(f"{own}:Own", "numpy"), timeout=20.0))

    assert {name: command.name for name, command in started.commands.items()} == {
        "numpy (2)": f"{own}:Own",
        "numpy": "numpy",
    }


def test_each_failing_backend_of_a_matrix_has_a_next_step(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """The case to look at first; the suite is not beside the results."""
    backends = ("numpy", f"{MINIATURES}:LosesNegativeZero", f"{MINIATURES}:AcceptsEverything")
    shown = opconform("run", small_suite, *(f"-b{backend}" for backend in backends), "-o", tmp_path, code=1).stdout
    steps = [shlex.split(line.removeprefix("Next: ")) for line in shown.splitlines()[-2:]]

    assert [step[:2] for step in steps] == [["opconform", "show"]] * 2
    assert [opconform(*step[1:]).stdout.count(": fail (") for step in steps] == [1, 1]
    several = opconform("show", steps[0][2], tmp_path, code=2).stderr
    assert several.startswith(f"error: {tmp_path} is a folder of runs. Name one of them: {tmp_path}/")


def test_the_next_step_after_a_harness_error_shows_it(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """Where nothing failed."""
    done = opconform("run", small_suite, "-b", f"{MINIATURES}:Raises", "-o", tmp_path, code=1).stdout
    [step] = [line.removeprefix("Next: ") for line in done.splitlines() if line.startswith("Next: opconform show")]

    assert ": error: miniatures.py:" in opconform(*shlex.split(step)[1:]).stdout


def test_the_verdict_on_own_specs_says_so(opconform: Run, small_spec: Path, tmp_path: Path) -> None:
    """It is not a verdict on the operation."""
    done = opconform("certify", "numpy", small_spec, "-j", "1", "-o", tmp_path)

    assert f"note: The verdict is on your own specs: VariadicSplit-1/{small_spec.name}.\n" in done.stderr
    assert (
        "note:" not in opconform("certify", "numpy", "Concat-1", "--profile", "core", "-o", tmp_path / "shipped").stderr
    )


def test_quiet_prints_the_verdict_and_verbose_what_is_folded(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """The next steps are commands that can be copied."""
    backend = ("run", small_suite, "-b", f"{MINIATURES}:AcceptsEverything", "-o", tmp_path, "--force")
    quiet = opconform(*backend, "-q", code=1)
    plain = opconform(*backend, code=1).stdout
    verbose = opconform(*backend, "-v", code=1).stdout

    assert quiet.stdout.startswith("NOT CONFORMANT, ")
    assert (len(quiet.stdout.splitlines()), quiet.stderr) == (1, "")
    show, report = (line.removeprefix("Next: ").split() for line in plain.splitlines()[-2:])
    assert "Worst finding: VariadicSplit-1 lengths.single-remainder: accepted-invalid, 1 case" in plain
    shown = opconform(*show[1:]).stdout
    assert "must be rejected" in shown
    assert "fail (accepted-invalid): accepted, although it violates lengths.single-remainder" in shown
    assert report == ["opconform", "report", str(tmp_path)]
    assert "Remarks" not in verbose
    assert verbose.count("VariadicSplit-1/rejected/") >= plain.count("VariadicSplit-1/rejected/")


def test_the_module_is_the_program() -> None:
    """`python -m opconform`, and the completion of a shell."""
    environment = {
        **os.environ,
        "_OPCONFORM_COMPLETE": "bash_complete",
        "COMP_WORDS": "opconform cer",
        "COMP_CWORD": "1",
    }
    command = [sys.executable, "-m", "opconform"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)

    assert done.stdout == "plain,certify\nplain,certificate\n"


def test_an_operation_stands_for_its_shipped_specs(opconform: Run, tmp_path: Path) -> None:
    """Where a spec can be named, unless there is a file of that name; a backend of part of the operations needs that."""
    listed = opconform("list", "Split-1", "--profile", "core").stdout
    assert {line.partition("/")[0] for line in listed.splitlines()} == {"Split-1"}
    assert listed == opconform("list", ROOT / "cases" / "Split-1", "--profile", "core").stdout

    (tmp_path / "Split-1").mkdir()
    assert "contains no spec" in opconform("list", "Split-1", cwd=tmp_path, code=2).stderr
