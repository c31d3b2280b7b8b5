"""Wrong commands: each ends with 2 and a sentence."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import MINIATURES, ROOT, Run
from tests.suite.test_suite import tree

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


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["generate"], "Missing option '--out' / '-o'"),
        (["no-such-command"], "Unknown command 'no-such-command'."),
        (
            ["generate", "--out", "x", "--dialect", "onx"],
            "'onx' is not a dialect. Did you mean 'onnx'? Allowed: openvino, onnx, onnx-13, onnx-17, stablehlo.",
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
        (["harness", "check", "-b", "numpy", "--harness", "true"], "Name only one of these backends: numpy, true."),
        (["certify", "numpy", "-k", "Split-1/*"], "Use `opconform run SUITE BACKEND --select 'Split-1/*'`."),
        (
            ["certify", "numpy", "--executor", "tcp://host:1"],
            "Write it as dask://HOST:8786.",
        ),
        (["certify", "numpy", "--resources", "NPU=1"], "--resources works only with --executor dask://HOST:PORT"),
        (["run", "SUITE", "numpy", "--resources", "NPU"], "'NPU' must have the form NAME=N, as in NPU=1."),
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
        (["repro", "nosuch", "torch", "-b", "openvino"], "Name only one of these backends: torch, openvino."),
        (["certify", "SUITE", "numpy"], "is a suite, not a spec. Use `opconform run"),
        (["run", "SPEC", "-b", "numpy"], "small.yaml is a spec, not a suite. Use `opconform certify"),
        (["run", "numpy"], "numpy is a backend. Use `opconform certify numpy` or `opconform run SUITE numpy`."),
        (["run", "SUITE", "-b", "numpy", "--update-baseline"], "--update-baseline needs --baseline FILE"),
        (["certfy", "numpy"], "Unknown command 'certfy'. Did you mean 'certify'?\nTry `opconform --help`."),
        (["check-harness"], "Unknown command 'check-harness'. Did you mean 'harness check'?"),
        (["certificate", "sing"], "Unknown command 'sing'. Did you mean 'sign'?"),
        (["certify", "-b", "numpy", "-b", "torch", "--python", "p"], "--python 'p' must be NAME=PATH, as in"),
        (["certify", "-b", "numpy", "-b", "torch", "--python", "a=p"], "--python names 'a', which is not one of"),
        (["certify", "--backend", "numpy", "--python", "/usr"], "/usr is not an executable Python interpreter."),
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
        (
            ["certify", "--backend", "numpy", "--python", "/nonexistent"],
            "/nonexistent is not an executable Python interpreter",
        ),
        (["certify", "--harness", "a 'b"], "cannot be split into words: No closing quotation."),
        (["show", "Split-1/nothing", "--suite", "SUITE"], "No case matches 'Split-1/nothing'."),
        (["show", "*/accepted/*", "--suite", "SUITE"], "4 cases match '*/accepted/*'"),
        (["list", "SUITE", "--select", "nothing"], " matches 'nothing'. `opconform list --cases` lists the cases.\n"),
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


def test_an_operation_that_is_not_there_has_a_suggestion(opconform: Run) -> None:
    """It is taken for a backend otherwise."""
    done = opconform("certify", "numpy", "Pad-13", code=2)

    assert done.stderr == "error: 'Pad-13' is neither a backend nor an operation. Did you mean 'Pad-1'?\n"


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
    """Naming it on the command line does not mean that it was tested."""
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
        "error: openvino cannot be used: openvino is not installed. "
        'Install it with: pip install "opconform[openvino]" (in a clone: pip install ".[openvino]").\n'
    )


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


@pytest.mark.parametrize("backends", [("numpy", "onnxruntime"), ("-b", "numpy", "-b", "onnxruntime")])
@pytest.mark.parametrize("option", [("--baseline", "known.txt"), ("--record", "outputs.zip"), ("--last-failed",)])
def test_what_is_of_one_backend_is_refused_for_several(
    opconform: Run, small_suite: Path, backends: tuple[str, ...], option: tuple[str, ...]
) -> None:
    """However they are named: nothing is left out without a word."""
    done = opconform("run", small_suite, *backends, *option, code=2)

    assert (
        done.stderr
        == "error: --baseline, --known, --claims, --record and --last-failed work with one backend. Name one.\n"
    )
