"""The command line: help, exit codes, and what each command prints."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import jsonschema
import pytest
import yaml

from opconform.explanation.case_list import specs_of_case
from opconform.specs.loader import load_specs, shipped_files
from opconform_runners.cli.main import COMMANDS, cli
from opconform_runners.cli.shared.matrix_run import start
from opconform_runners.cli.shared.options.backends import BackendOptions
from tests.conftest import MINIATURES, ROOT, Run
from tests.result_files import cases_in, report_in
from tests.suite.test_suite import tree


def test_help_names_every_command(opconform: Run) -> None:
    """On one screen of 24 lines, with the prompt; each command has help of its own."""
    shown = opconform("--help").stdout

    assert len(shown.splitlines()) < 24
    for name in COMMANDS:
        own = opconform(*name.split(), "--help").stdout
        first, _, second = name.partition(" ")
        [line] = [line for line in shown.splitlines() if line.startswith(f"  {first} ")]
        assert second in line
        assert own.startswith(f"Usage: opconform {name}")
        assert f"\nExample: opconform {name}" in own
        assert len(own.splitlines()) <= 40


#: One of the shipped specs; reading all of them takes seconds.
AXIS = str(ROOT / "cases" / "Split-1" / "axis.yaml")


#: A case that has no model in StableHLO, where the rank is known.
OPEN_RANK = """\
op: Split-1
groups:
  - id: open-rank
    title: data of any rank
    requirements: [outputs.order]
    data: {shape: [6]}
    axis: 0
    num_splits: 2
    dynamic: "..."
"""


def help_of(name: str, width: int) -> list[str]:
    """The lines of a command's help on a terminal of a width."""
    command: click.Command = cli
    context = click.Context(cli, info_name="opconform", terminal_width=width, help_option_names=["-h", "--help"])
    for word in name.split():
        assert isinstance(command, click.Group)
        found = command.get_command(context, word)
        assert found is not None
        command = found
        context = click.Context(command, parent=context, info_name=word, terminal_width=width)
    return command.get_help(context).splitlines()


@pytest.mark.parametrize("name", COMMANDS)
def test_the_first_screen_of_help_has_every_everyday_option(name: str) -> None:
    """A terminal of 24 lines of 80 columns shows the help up to `--help`; rare options come last."""
    shown = help_of(name, 80)
    [last] = [number for number, line in enumerate(shown) if line.startswith("  -h, --help ")]
    rare = shown.index("Rarely needed:") if "Rarely needed:" in shown else len(shown)

    assert last < 24
    assert last < rare
    assert all(line.startswith("  ") for line in shown[rare + 1 :])


@pytest.mark.parametrize("name", ["fuzz", "harness check"])
def test_a_command_for_one_backend_does_not_offer_several(name: str) -> None:
    """It refuses them."""
    shown = " ".join(help_of(name, 200))

    assert "repeatable" not in shown
    assert "or all" not in shown


def test_help_lists_the_profiles_of_the_shipped_cases() -> None:
    """All of them."""
    profiles = {group.settings.profile for spec in load_specs([]) for group in spec.groups}
    [line] = [x for x in help_of("run", 200) if x.lstrip().startswith("--profile")]
    listed, _, default = line.partition("Use only")[2].partition(" or default ")
    assert set(re.findall(r"[a-z]+", listed)) == profiles
    assert default == "(the first six; repeatable)."


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["generate"], "Missing option '--out' / '-o'"),
        (["no-such-command"], "Unknown command 'no-such-command'."),
        (
            ["generate", "--out", "x", "--dialect", "onx"],
            "'onx' is not a dialect. Did you mean 'onnx'? Allowed: openvino, onnx, stablehlo.",
        ),
        (["generate", "--out", ""], "--out '.' is not the name of a folder. Name one, such as --out suite."),
        (
            ["generate", "--out", "s.tar"],
            "s.tar cannot be written: a suite is a folder or a file NAME.zip. Use another --out.",
        ),
        (["generate", "--out", "x", "--jobs", "0"], "'--jobs' / '-j': '0' is not a whole number of at least 1."),
        (["generate", "--out", "x", "--jobs", "x"], "'--jobs' / '-j': 'x' is not a whole number of at least 1."),
        (
            ["generate", "--out", "x", "--profile", "cor"],
            "Profile 'cor' is not in the specs. Did you mean 'core'? Allowed: default, context, core",
        ),
        (["generate", AXIS, "--out", "x", "--select", "nothing"], "No case matches 'nothing'."),
        (["run", "x", "-b", "numpy", "--harness", "true", "--record", "r.zip"], "work with one backend. Name one."),
        (["harness", "check", "-b", "numpy", "--harness", "true"], "Name one backend, not numpy, true."),
        (["certify", "numpy", "-k", "Split-1/*"], "Use `opconform run SUITE BACKEND --select 'Split-1/*'`."),
        (
            ["certify", "numpy", "--executor", "tcp://host:1"],
            "Name its scheduler and the port, as in dask://HOST:8786.",
        ),
        (["certify", "numpy", "--resources", "NPU=1"], "--resources works only with --executor dask://HOST:PORT"),
        (["run", "SUITE", "numpy", "--resources", "NPU"], "'NPU' is not NAME=N, as in NPU=1."),
        (["run", "SUITE", "numpy", "--executor", "dask://a:1", "-j", "2"], "--jobs and --executor cannot be used"),
        (["run", "SUITE", "numpy", "--executor", "dask://a:1", "--record", "r.zip"], "Record on one machine."),
        (["certify", "numpy", "--suite", "s"], "`certify` generates its suite. Use `opconform run s BACKEND`."),
        (["certify", "numpy", "--baseline", "b"], "Use `opconform run SUITE BACKEND --baseline b`."),
        (["fuzz", "numpy", "--op", "Split-1"], "Name operations without an option: `opconform fuzz BACKEND Split-1`."),
        (["certify", "--unlike"], "No such option '--unlike'.\nTry"),
        (
            ["run", "a.py:A", "s"],
            "a.py:A is a backend. Use `opconform certify a.py:A` or `opconform run SUITE a.py:A`.",
        ),
        (["harness", "check", "numpi"], "'numpi' is not a backend. Did you mean 'numpy'?"),
        (["run", "SUITE", "numpy", "Split-1"], "Split-1 is an operation. Use `opconform run "),
        (["show", "SUITE"], " is a suite. Use `opconform show CASE --suite "),
        (["show", "Split-1/a/0123456789", "SUITE"], " is a suite. Use `opconform show CASE --suite "),
        (["show", "Split-1"], "It is an operation; `opconform list Split-1` lists its groups."),
        (["repro", "nosuch"], "Name the backend, as in `opconform repro CASE openvino`."),
        (["repro", "nosuch", "torch"], "error: No case matches 'nosuch'. `opconform list` lists"),
        (["repro", "nosuch", "torch", "-b", "openvino"], "Name one backend, not torch, openvino."),
        (["certify", "SUITE", "numpy"], "is a suite, not a spec. Use `opconform run"),
        (["run", "SPEC", "-b", "numpy"], "small.yaml is a spec, not a suite. Use `opconform certify"),
        (["run", "numpy"], "numpy is a backend. Use `opconform certify numpy` or `opconform run SUITE numpy`."),
        (["run", "SUITE", "-b", "numpy", "--update-baseline"], "--update-baseline needs --baseline FILE"),
        (["certfy", "numpy"], "Unknown command 'certfy'. Did you mean 'certify'?\nTry `opconform --help`."),
        (["check-harness"], "Unknown command 'check-harness'. Did you mean 'harness check'?"),
        (["certificate", "sing"], "Unknown command 'sing'. Did you mean 'sign'?"),
        (["certify", "-b", "numpy", "-b", "torch", "--python", "p"], "--python 'p' must be NAME=PATH, as in"),
        (["certify", "-b", "numpy", "-b", "torch", "--python", "a=p"], "--python names 'a', which is not one of"),
        (["certify", "--backend", "numpy", "--python", "/usr"], "/usr is not an interpreter that can be run."),
        (["run", "x"], "Name a backend, such as numpy, or use --harness COMMAND."),
        (["harness", "check"], "Name a backend, such as numpy, or use --harness COMMAND."),
        (
            ["harness", "check", "--backend", "numpy", "--timeout", "0"],
            "'0' is not a number above 0 and at most 1,000,000.",
        ),
        (["certify"], "Name a backend, such as numpy, or use --harness COMMAND."),
        (
            ["certify", "--backend", "numpi"],
            "'numpi' is not a backend. Did you mean 'numpy'? Allowed: ",
        ),
        (["certify", "--backend", "a.py"], "Add the class name, as in a.py:ClassName."),
        (["certify", "--backend", "nowhere/a.py:A"], "File not found: nowhere/a.py."),
        (["certify", "--backend", "numpy", "--python", "/nonexistent"], "/nonexistent is not an interpreter"),
        (["certify", "--harness", "a 'b"], "cannot be split into words: No closing quotation."),
        (["show", "Split-1/nothing", "--suite", "SUITE"], "No case matches 'Split-1/nothing'."),
        (["show", "*/accepted/*", "--suite", "SUITE"], "4 cases match '*/accepted/*'"),
        (["list", "SUITE", "--select", "nothing"], " matches 'nothing'.\n"),
        (["list", AXIS, "--select", "Split"], "No case matches 'Split'. Did you mean 'Split-1'?\n"),
        (
            ["certify", "no.yaml", "numpy"],
            "Spec not found: no.yaml. Name a YAML file, a folder of them, or an operation such as Split-1.\n",
        ),
        (["list", "Split"], "error: Spec not found: Split. Did you mean 'Split-1'?\n"),
        (["list", AXIS, "--select", "axis.rnge"], "No case matches 'axis.rnge'. Did you mean 'axis.range'?\n"),
        (["show", "axis.range"], "It is a requirement; `opconform list --cases --select axis.range` lists its cases."),
        (["list", "--profile", "nope"], "Profile 'nope' is not in the specs. Allowed: default, context, core"),
        (["list", "--profile", "core", "--profile", "typs"], "Did you mean 'types'? Allowed: default, context, core"),
        (
            ["generate", AXIS, "--out", "x", "--select", "Split-1/axis-integer-typs/*"],
            "No case matches 'Split-1/axis-integer-typs/*'. Did you mean 'Split-1/axis-integer-types'?\n",
        ),
        (["show", "nosuch"], "error: No case matches 'nosuch'. `opconform list` lists the shipped cases; "),
        (
            ["repro", "nosuch", "-b", "torch"],
            "error: No case matches 'nosuch'. `opconform list` lists the shipped cases; ",
        ),
        (["repro", "lengths.sm", "-b", "torch"], "No case matches 'lengths.sm'. Did you mean 'lengths.sum'?\n"),
        (
            ["show", "Split-1/axis-integer-typs/12"],
            "No case matches 'Split-1/axis-integer-typs/12'. Did you mean 'Split-1/axis-integer-types'?\n",
        ),
    ],
)
def test_a_wrong_command_ends_with_2_and_a_sentence(
    opconform: Run, small_suite: Path, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    """Nothing wrong on the command line gives a traceback, or does anything."""
    done = opconform(
        *(
            {"SUITE": small_suite, "SPEC": small_suite.parent / "small.yaml"}.get(argument, argument)
            for argument in arguments
        ),
        cwd=tmp_path,
        code=2,
    )

    assert sentence in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_missing_suite_ends_with_2(opconform: Run, tmp_path: Path) -> None:
    """The sentence says how to write one."""
    done = opconform("run", tmp_path / "suite", "--backend", "numpy", code=2, cwd=tmp_path)

    assert done.stderr.startswith(f"error: Suite not found: {tmp_path / 'suite'}. Write one with")


def test_a_folder_of_certify_leads_to_its_suite(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """Which is where who names it wants to go."""
    (tmp_path / "certified").mkdir()
    (tmp_path / "certified" / "suite").symlink_to(small_suite)
    done = opconform("run", "certified", "--backend", "numpy", code=2, cwd=tmp_path)

    assert done.stderr == (
        "error: certified contains no suite.json: it is not a suite or is incomplete; "
        f"did you mean {Path('certified', 'suite')}?\n"
    )


def test_a_suite_knows_its_near_misses(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """Of its profiles, of its groups with or without their operation, and of its requirements."""
    near = {
        "lengths.remaindr": "lengths.remainder",
        "acepted": "VariadicSplit-1/accepted",
        "VariadicSplit-1/rejectd/*": "VariadicSplit-1/rejected",
    }
    for typed, meant in near.items():
        listed = opconform("list", small_suite, "--select", typed, code=2)
        done = opconform("run", small_suite, "--backend", "numpy", "--select", typed, "--out", tmp_path, code=2)
        assert listed.stderr == f"error: No case of {small_suite} matches {typed!r}. Did you mean {meant!r}?\n"
        assert done.stderr == f"error: No case of {small_suite} matches {typed!r}. Did you mean {meant!r}?\n"
    done = opconform("list", small_suite, "--profile", "cor", code=2)
    sentence = f"Profile 'cor' is not in {small_suite}. Did you mean 'core'? Allowed: default, core."
    assert done.stderr == f"error: {sentence}\n"


@pytest.mark.ci_only
def test_numpy_is_conformant(opconform: Run, tmp_path: Path) -> None:
    """The backend without a known fault passes everything."""
    done = opconform("certify", "--backend", "numpy", "--out", tmp_path / "out", "--strict", cwd=tmp_path)
    report = report_in(tmp_path / "out")
    left = {case["sentence"] for case in report["cases"] if case["verdict"] != "pass"}

    assert "CONFORMANT, " in done.stdout
    assert report["conformant"] is True
    assert report["whole"] is True
    assert left == set()
    opconform("verify", tmp_path / "out" / "suite")


@pytest.mark.parametrize("device", ["AUTO", "HETERO:CPU"])
def test_openvino_runs_on_other_devices(opconform: Run, small_suite: Path, tmp_path: Path, device: str) -> None:
    """A device is what follows the backend's name."""
    opconform("run", small_suite, "--backend", f"openvino:{device}", "--out", tmp_path, code=0)
    report = report_in(tmp_path)

    assert report["implementation"]["device"] == device
    assert report["summary"]["pass"] == 6


def test_show_draws_the_tensor_and_its_chunks(opconform: Run, core_suite: Path) -> None:
    """A case is drawn with a line between its chunks."""
    shown = opconform("show", "VariadicSplit-1/page-example-remainder/*", "--suite", core_suite).stdout

    assert "axis 0 runs downwards; outputs: output_0: 4, output_1: 2" in shown
    assert "must be accepted, with 2 outputs:" in shown
    assert "output_1: f32[2, 12, 10, 24]" in shown


def test_the_first_digits_of_a_case_are_enough(opconform: Run) -> None:
    """With its group."""
    whole = opconform("show", "Slice-8/second-invalid/dfbb93918d").stdout

    assert opconform("show", "Slice-8/second-invalid/dfbb").stdout == whole


def test_show_has_what_changes_in_a_second_inference(opconform: Run) -> None:
    """The violation may be there alone."""
    shown = opconform("show", "Slice-8/second-invalid/dfbb93918d").stdout

    assert "\n  inference 2 on the same model, changed inputs:\n    axes: i64[1] = [4294967296]\n\n" in shown
    assert "must be rejected in inference 2: it violates axes.range" in shown


def test_an_operation_that_is_not_there_has_a_suggestion(opconform: Run) -> None:
    """It is taken for a backend otherwise."""
    done = opconform("certify", "numpy", "Pad-13", code=2)

    assert done.stderr == "error: 'Pad-13' is neither a backend nor an operation. Did you mean 'Pad-12'?\n"


def test_every_selection_that_matches_nothing_is_an_error(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """Even if another one matches: a run of the rest would say that the backend is conformant."""
    matching = ("--select", "VariadicSplit-1/accepted", "--select", "VariadicSplit-1/rejectd")
    expected = "matches 'VariadicSplit-1/rejectd'. Did you mean 'VariadicSplit-1/rejected'?\n"
    for words in (("list", small_suite), ("run", small_suite, "numpy")):
        assert (
            opconform(*words, *matching, code=2, cwd=tmp_path).stderr == f"error: No case of {small_suite} {expected}"
        )
    spec = small_suite.parent / "small.yaml"
    done = opconform("generate", spec, *matching, "--out", "s", code=2, cwd=tmp_path)
    assert done.stderr == f"error: No case {expected}"
    assert not list(tmp_path.iterdir())


def test_an_operation_without_a_selected_case_is_an_error(opconform: Run, tmp_path: Path) -> None:
    """Its name on the command line does not mean that it was tested."""
    words = ("Split-1", "Transpose-1", "--select", "Split-1/page-example")
    listed = opconform("list", *words, code=2).stderr
    generated = opconform("generate", *words, "--out", "s", code=2, cwd=tmp_path).stderr

    assert listed == "error: No selected case is of Transpose-1. Select others, or leave it out.\n"
    assert generated == listed


def test_a_dialect_without_models_is_an_error(opconform: Run, tmp_path: Path) -> None:
    """Nothing is written that looks as if it could test the dialect."""
    (tmp_path / "open.yaml").write_text(OPEN_RANK)
    done = opconform("generate", "open.yaml", "--dialect", "stablehlo", "--out", "s", code=2, cwd=tmp_path)

    assert done.stderr == "error: No case has a model in the dialect stablehlo. Leave the dialect out.\n"
    assert not (tmp_path / "s").exists()


def test_fuzz_refuses_an_operation_that_the_backend_does_not_declare(opconform: Run, tmp_path: Path) -> None:
    """Every case of it would be unsupported."""
    done = opconform("fuzz", f"{MINIATURES}:SplitsOnly", "Concat-1", "--tests", "1", code=2, cwd=tmp_path)

    assert done.stderr == (
        "error: splits 1 does not declare Concat-1. Leave it out, or name another. Declared: Split-1, VariadicSplit-1.\n"
    )


def test_show_says_what_a_rejected_case_violates(opconform: Run, core_suite: Path) -> None:
    """So that a reader need not open a file."""
    rejected = opconform("list", core_suite, "--select", "lengths.required", "--cases", "--json").stdout
    [case] = [load for load in json.loads(rejected) if load["expect"] != "accept"]
    shown = opconform("show", case["id"], "--suite", core_suite)

    assert "must be rejected: it violates lengths.required" in shown.stdout
    assert f"its twin, which is accepted: {case['twin']}" in shown.stdout


def test_the_schema_takes_the_shipped_specs_and_no_wrong_ones(opconform: Run) -> None:
    """An editor that knows the schema agrees with the loader."""
    schema = json.loads(opconform("schema").stdout)
    files = (ROOT / "cases").glob("*/*.yaml")
    specs = [file for file in files if file.name != "requirements.yaml" and file.parent.name != "every"]

    assert len({spec.parent for spec in specs}) > 3
    validator = jsonschema.validators.validator_for(schema)(schema)
    for item in specs:
        validator.validate(yaml.load(item.read_text(), yaml.CSafeLoader))
    with pytest.raises(jsonschema.ValidationError):
        validator.validate({"op": "Split-1", "groups": [{"id": "a", "title": "t", "profil": "core"}]})


@pytest.mark.ci_only
def test_backends_says_what_is_installed(opconform: Run) -> None:
    """Each backend has a line."""
    found = {load["name"]: load for load in json.loads(opconform("backends", "--json").stdout)}

    assert found["numpy"]["usable"]
    assert found["openvino"]["device"] == "CPU"


def test_a_backend_whose_package_is_missing_says_what_to_install(small_suite: Path, tmp_path: Path) -> None:
    """The sentence is the command that mends it."""
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "openvino.py").write_text("raise ModuleNotFoundError(\"No module named 'openvino'\")")
    program = str(Path(sys.executable).with_name("opconform"))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "hidden")}
    command = [program, "run", str(small_suite), "--backend", "openvino", "--out", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)

    assert done.returncode == 3
    assert done.stderr == (
        "error: openvino cannot be used: openvino is not installed; "
        'pip install "opconform[openvino]", or ".[openvino]" in a clone.\n'
    )


def test_json_is_all_that_is_printed(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """`--json` prints one document, for a program to read."""
    done = opconform("run", small_suite, "--backend", f"{MINIATURES}:Perfect", "--out", tmp_path, "--json")

    assert json.loads(done.stdout)["conformant"] is True
    assert done.stderr == ""


def test_no_suite_replaces_one_of_other_specs(opconform: Run, small_spec: Path, tmp_path: Path) -> None:
    """A suite is updated with its own specs and with further ones; what it alone has is not lost."""
    other = tmp_path / "other.yaml"
    other.write_text(small_spec.read_text().replace("id: ", "id: other-"))
    signed, made = tmp_path / "signed", tmp_path / "made"
    opconform("certificate", "keygen", tmp_path / "me")
    certify = ("--backend", "numpy", "--jobs", "1", "--out", signed)
    opconform("certify", small_spec, *certify, "--sign", tmp_path / "me.key")
    opconform("generate", small_spec, "--jobs", "1", "--out", made)
    held = [tree(signed), tree(made)]
    refused = opconform("certify", other, *certify, code=2).stderr
    seeded = opconform("certify", small_spec, *certify, "--seed", "5", code=2).stderr
    generated = opconform("generate", other, "--out", made, code=2).stderr

    sentence = "is a suite of other specs: VariadicSplit-1/small.yaml. Use another --out, or delete the folder"
    assert refused == f"error: {signed}/suite {sentence} {signed}/suite.\n"
    assert generated == f"error: {made} {sentence} {made}.\n"
    assert seeded.startswith(f"error: {signed} contains the results of a certification of numpy ")
    assert [tree(signed), tree(made)] == held
    opconform("generate", small_spec, other, "--jobs", "1", "--out", made)
    opconform("certify", other, *certify, "--force")
    assert not (signed / "certificate.json").exists()


def test_certify_leaves_a_suite_as_it_is(opconform: Run, small_suite: Path) -> None:
    """A folder for results that is a suite is refused before anything is generated."""
    held = tree(small_suite)
    done = opconform("certify", "numpy", "--out", small_suite, code=2)

    assert done.stderr.startswith(f"error: Results cannot be written to {small_suite}: it is part of the suite ")
    assert tree(small_suite) == held


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
    own.write_text("from opconform_runners.backends.frameworks.numpy import Numpy as Own\n")

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


def test_show_has_what_a_backend_returned(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """Expected and returned elements, with the differences marked, and the likely cause."""
    ran = opconform("run", small_suite, "-b", f"{MINIATURES}:LosesNegativeZero", "-o", tmp_path / "out", code=1)
    results = cases_in(tmp_path / "out")
    failed = next(result["id"] for result in results if result["verdict"] == "fail")
    passed = next(result["id"] for result in results if result["verdict"] == "pass")
    show = ("--suite", small_suite)
    shown = opconform("show", failed, tmp_path / "out", *show).stdout.splitlines()
    marked = [[text for text in x.split() if text.startswith("*")] for x in shown if "differs" not in x]

    assert "  cause    Negative zero became positive zero (likely)\n" in ran.stdout
    assert any(x.startswith("  breaks data.bits: ") for x in shown)
    assert any(x.startswith("  likely cause: ") for x in shown)
    assert any(" should equal data[" in x for x in shown)
    assert [x for x in marked if x] == [["*-0"], ["*0"]]
    assert ": pass\n" in opconform("show", passed, tmp_path / "out", *show).stdout
    refused = opconform("show", failed, tmp_path / "out", "--json", code=2).stderr
    assert refused.startswith("error: --json prints case.json. The result of the case is in results.jsonl in ")
    opconform("run", small_suite, "-b", "numpy", "-k", passed, "-o", tmp_path / "one")
    assert f"The run has no result of {failed}." in opconform("show", failed, tmp_path / "one", *show, code=2).stderr


def test_show_says_that_it_did_not_find_the_suite_of_a_run(opconform: Run, tmp_path: Path) -> None:
    """Without it, nothing is known about the returned outputs."""
    failed = "VariadicSplit-1/remainder-over/17a2d48cd0"
    opconform("generate", "VariadicSplit-1", "-k", failed, "-o", tmp_path / "elsewhere" / "s", "-j", "1")
    backend = f"{MINIATURES}:AcceptsEverything"
    opconform("run", tmp_path / "elsewhere" / "s", "-b", backend, "-o", tmp_path / "out", code=1)

    assert opconform("show", failed, tmp_path / "out").stdout.endswith(
        "\n\n  The suite of the run was not found, so the returned outputs are not shown. Name it with --suite.\n"
    )


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
    assert report == ["opconform", "report", str(tmp_path), "--suite", str(small_suite)]
    assert "Remarks" not in verbose
    assert verbose.count("VariadicSplit-1/rejected/") >= plain.count("VariadicSplit-1/rejected/")


def test_list_prints_a_line_per_group_or_per_case(opconform: Run, small_suite: Path, small_spec: Path) -> None:
    """From a suite and from its spec."""
    for source in (small_suite, small_spec):
        assert opconform("list", source).stdout == (
            "VariadicSplit-1/accepted     4  accepted: valid cases\n"
            "VariadicSplit-1/rejected     2  1 accepted, 1 rejected for lengths.single-remainder: at most one -1\n"
        )
        assert opconform("list", source, "--cases", "-k", "lengths.single-remainder").stdout.splitlines()[-1] == (
            "VariadicSplit-1/rejected/edf4e822b0  rejected for lengths.single-remainder: "
            "data f32[6, 4], axis 0, split_lengths [-1, -1, 2]"
        )
        [first, _] = json.loads(opconform("list", source, "--json").stdout)
        assert first == {
            "id": "VariadicSplit-1/accepted",
            "profile": "core",
            "title": "valid cases",
            "cases": 4,
            "expect": {"accepted": 4},
        }


def test_a_case_is_found_without_the_other_specs() -> None:
    """The ids of groups are read from the text of the shipped specs."""
    groups = sorted(group.full_name for spec in load_specs([]) for group in spec.groups)

    for item in groups[::20]:
        assert [one.full_name for spec in specs_of_case(f"{item}/*") for one in spec.groups] == [item]


def test_a_name_of_no_group_loads_no_spec() -> None:
    """Unless it is digits, or a pattern that may match any group but those that are too large to expand."""
    every = len([shipped_file for shipped_file in shipped_files().values() if shipped_file.stem != "exhaustive"])

    assert specs_of_case("axis.range") == []
    assert [[one.full_name for one in spec.groups] for spec in specs_of_case("Split-1/page-example")] == [
        ["Split-1/page-example"]
    ]
    assert len(specs_of_case("0a1")) == len(specs_of_case("Split-1*0a1")) == every


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


def test_every_command_works_without_docstrings() -> None:
    """As under `PYTHONOPTIMIZE=2`, where their help has no text."""
    program = (
        "from click.testing import CliRunner\n"
        "from opconform_runners.cli.main import COMMANDS, cli\n"
        "for each in COMMANDS:\n"
        "    done = CliRunner().invoke(cli, [*each.split(), '--help'])\n"
        "    print(each, done.exit_code)\n"
        "from opconform_runners.tools.protocol_check.rules import Checked\n"
        "print(Checked(id='smoke').sentence)\n"
    )
    done = subprocess.run([sys.executable, "-OO", "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.splitlines() == [*(f"{command} 0" for command in COMMANDS), "smoke"]


def test_an_operation_stands_for_its_shipped_specs(opconform: Run, tmp_path: Path) -> None:
    """Where a spec can be named, unless there is a file of that name; a backend of part of the operations needs that."""
    listed = opconform("list", "Split-1", "--profile", "core").stdout
    assert {line.partition("/")[0] for line in listed.splitlines()} == {"Split-1"}
    assert listed == opconform("list", ROOT / "cases" / "Split-1", "--profile", "core").stdout

    (tmp_path / "Split-1").mkdir()
    assert "contains no spec" in opconform("list", "Split-1", cwd=tmp_path, code=2).stderr
