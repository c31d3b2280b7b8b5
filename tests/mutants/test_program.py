"""The program that runs mutants: what it lists and what it says."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.mutants import __main__ as program
from tests.mutants.catalogue import MUTANTS, concerns
from tests.test_mutants import SIGN_LOST, ZERO_AXIS

THIN = """\
op: Split-1
groups:
  - id: one
    title: one case
    requirements: [outputs.order]
    data: {shape: [6, 2]}
    axis: 0
    num_splits: 2
"""


def run_program(*arguments: object) -> Result:
    """`python -m tests.mutants` in this process."""
    return CliRunner().invoke(program.command, [str(argument) for argument in arguments], env={"COLUMNS": "200"})


def test_only_mutants_of_the_operations_of_the_specs_are_run(tmp_path: Path) -> None:
    """What is right for an operation cannot survive its cases."""
    (tmp_path / "thin.yaml").write_text(THIN)
    done = run_program(tmp_path / "thin.yaml", "--select", "lengths/*")

    assert done.exit_code == 2
    assert done.stderr == "error: None of the selected mutants changes Split-1. `--list` lists them.\n"
    assert concerns(MUTANTS["lengths/ignored"], "VariadicSplit-1")


def test_the_matrix_names_survivors(tmp_path: Path) -> None:
    """For a suite that tests too little, the program lists the survivors and ends with 1."""
    (tmp_path / "thin.yaml").write_text(THIN)
    chosen = ("--select", "outputs/Split-1/backwards", "--select", SIGN_LOST)
    done = run_program(tmp_path / "thin.yaml", *chosen, "--jobs", 1)

    assert done.exit_code == 1
    assert "✓ outputs/Split-1/backwards" in done.stdout
    assert f"✗ {SIGN_LOST}" in done.stdout
    assert f"{SIGN_LOST} survives: The values of axis of Split-1 are read without their sign." in done.stdout
    assert "1 of 2 normative mutants are killed" in done.stdout


@pytest.mark.ci_only
def test_the_report_lists_what_one_case_alone_kills(tmp_path: Path) -> None:
    """On the terminal and in JSON; a mutant that two cases kill, and one that survives, are not in the list."""
    (tmp_path / "two.yaml").write_text(THIN.replace("    axis: 0", "    matrix: {axis: [0, 1]}\n    axis: ${{ axis }}"))
    chosen = ("outputs/Split-1/backwards", ZERO_AXIS, "refusals/Split-1/context/folded", "lengths/ignored")
    options = (tmp_path / "two.yaml", *(word for x in chosen for word in ("--select", x)), "--jobs", 1)
    listed = run_program(*options).stdout
    [name] = (only := json.loads(run_program(*options, "--json").stdout)["alone"])

    assert name == ZERO_AXIS
    assert only[name].startswith("Split-1/one/")
    assert f"1 of 3 mutants is killed by one case alone:\n  {ZERO_AXIS} {only[name]}\n" in listed


def test_a_pattern_that_matches_no_mutant_is_an_error() -> None:
    """In one sentence."""
    done = run_program("--select", "axis/nowhere")

    assert (done.exit_code, done.stderr) == (2, "error: No mutant matches axis/nowhere. `--list` lists them.\n")


def test_the_list_has_every_mutant_with_its_level_and_report() -> None:
    """One line per implementation."""
    lines = run_program("--list").stdout.splitlines()

    assert [line.split()[0] for line in lines] == [*MUTANTS]
    assert lines[[*MUTANTS].index("axis/always-last")].split(maxsplit=2)[1:] == [
        "normative",
        "The last dimension is split, whatever the axis is. Seen: apache/tvm#3520.",
    ]
