"""Requirements without a case: `generate` warns of them, and a certification that leaves one out is incomplete."""

import json
from pathlib import Path

import pytest

from opconform.specs.attribution import profiles_of, untested
from opconform.specs.loader import load_spec
from opconform.suite.reader import open_suite
from tests.conftest import SMALL_SPEC, Run, whole

#: A spec with cases for two requirements.
PART = SMALL_SPEC.partition("  - {id: other-0")[0]
REJECTED = """\
op: Split-1
groups:
  - id: rejected
    title: the requirement that is violated, from the matrix
    profile: types
    matrix: {axis: [1, 2], broken: [axis.range]}
    data: {shape: [6]}
    axis: ${{ axis }}
    num_splits: 2
    expect: {reject: "${{ broken }}"}
    twin: {axis: 0}
"""


@pytest.fixture
def lacking(tmp_path: Path) -> Path:
    """A spec with cases for all normative requirements but two, one of which has cases in another profile."""
    text = whole(PART, without=("lengths.sum", "lengths.negative"))
    more = "  - {id: large, title: t, profile: large, requirements: [lengths.negative], data: {shape: [4]}, axis: 0, "
    (tmp_path / "spec.yaml").write_text(f"{text}{more}split_lengths: [4]}}\n")
    return tmp_path / "spec.yaml"


def test_a_suite_says_in_which_profiles_each_requirement_has_cases(
    opconform: Run, lacking: Path, tmp_path: Path
) -> None:
    """Also in those that it has no cases of."""
    opconform("generate", lacking, "--out", tmp_path / "suite")
    notes = open_suite(tmp_path / "suite").header.requirements["VariadicSplit-1"]

    assert notes["lengths.remainder"].profiles == ("core", "functional")
    assert notes["lengths.negative"].profiles == ("large",)
    assert notes["lengths.sum"].profiles == ()


def test_the_requirement_that_an_expression_names_has_a_case(tmp_path: Path) -> None:
    """It is read and not evaluated."""
    (tmp_path / "spec.yaml").write_text(REJECTED)

    profiles = profiles_of([load_spec(tmp_path / "spec.yaml")])
    assert profiles["Split-1", "axis.range"] == ("types",)
    assert ("Split-1", "axis.required") not in profiles


def test_what_every_comparison_establishes_has_a_case_where_a_valid_case_is(tmp_path: Path) -> None:
    """Whatever a group lists; not if all its cases are invalid."""
    (tmp_path / "spec.yaml").write_text(REJECTED)
    (tmp_path / "alone.yaml").write_text(REJECTED.partition("    twin:")[0])

    assert profiles_of([load_spec(tmp_path / "spec.yaml")])["Split-1", "outputs.shape"] == ("types",)
    assert profiles_of([load_spec(tmp_path / "alone.yaml")]) == {("Split-1", "axis.range"): ("types",)}


def test_generate_warns_of_requirements_without_a_case(opconform: Run, tmp_path: Path) -> None:
    """One line for each operation, in the order of its requirements."""
    (tmp_path / "spec.yaml").write_text(PART)
    told = opconform("generate", tmp_path / "spec.yaml", "--out", tmp_path / "suite").stderr

    assert told == (
        "warning: VariadicSplit-1: 19 of 29 requirements have no case: data.required, data.rank, data.nan-payload, "
        "axis.required, axis.shape and 14 more. `certify` is incomplete without the normative ones.\n"
    )


def test_requirements_that_the_semantics_decide_are_not_warned_of(tmp_path: Path) -> None:
    """Any requirement that can be violated may be."""
    (tmp_path / "spec.yaml").write_text(REJECTED.replace('{reject: "${{ broken }}"}', "semantics"))
    [sentence] = untested([load_spec(tmp_path / "spec.yaml")])

    assert "axis." not in sentence.replace("axis.negative", "")


def test_a_certification_without_a_case_for_a_requirement_is_incomplete(
    opconform: Run, lacking: Path, tmp_path: Path
) -> None:
    """It names the requirement; one with cases in another profile is not listed."""
    done = opconform("certify", lacking, "numpy", "-j", "1", "--out", tmp_path / "out", code=1)
    report = json.loads((tmp_path / "out" / "report.json").read_text())

    assert report["conformant"] is None
    assert report["incomplete"] == ["the specs have no case for VariadicSplit-1:lengths.sum"]
    assert (
        "\n2 of 29 requirements tested.\nINCOMPLETE, 6 of 6 cases supported: the specs have no case for " in done.stdout
    )
    assert "2 of 29 requirements tested." in (tmp_path / "out" / "report.html").read_text()


def test_a_run_of_the_same_suite_concludes_without_it(opconform: Run, lacking: Path, tmp_path: Path) -> None:
    """A run may cover a selection, and says how many requirements it tested."""
    opconform("generate", lacking, "--out", tmp_path / "suite")
    done = opconform("run", tmp_path / "suite", "numpy", "-j", "1", "--out", tmp_path / "out")

    assert "\n2 of 29 requirements tested.\nCONFORMANT, " in done.stdout


def test_a_verbose_summary_lists_every_requirement(opconform: Run, lacking: Path, tmp_path: Path) -> None:
    """Those without a case are marked."""
    opconform("generate", lacking, "--out", tmp_path / "suite")
    short = opconform("run", tmp_path / "suite", "numpy", "-j", "1", "--out", tmp_path / "out").stdout
    long = opconform("report", tmp_path / "out", "-v").stdout

    assert "\n2 requirements: no case fails; 27 requirements: no case (report OUT -v lists them)\n" in short
    assert long.count("\n✓ ") == 2
    assert long.count("\n· ") == long.count("no case  ") == 27


def test_adequacy_lists_requirements_without_a_case(opconform: Run, tmp_path: Path) -> None:
    """And a review with them is not finished."""
    (tmp_path / "spec.yaml").write_text(
        whole(PART, without=("lengths.remainder-zero",)).replace("profile: functional", "profile: core")
    )
    found = json.loads(opconform("adequacy", tmp_path / "spec.yaml", "--json").stdout)
    shown = opconform("adequacy", tmp_path / "spec.yaml").stdout

    assert "VariadicSplit-1:lengths.remainder-zero" in found["untested"]
    assert "VariadicSplit-1:lengths.sum" not in found["untested"]
    assert "\nno case  VariadicSplit-1:lengths.remainder-zero\n" in shown
