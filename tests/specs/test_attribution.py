"""Warnings about requirements that a group lists without effect."""

from collections.abc import Callable
from pathlib import Path

import pytest

from opconform.specs.attribution import MOST, warnings_of
from opconform.specs.loader import load_spec
from tests.conftest import Run

SPEC = """\
op: VariadicSplit-1
groups:
  - id: both
    title: two requirements at once
    requirements: [{requirements}]
    data: {{shape: [6, 2]}}
    axis: 0
    split_lengths: [-1, 2]
"""
REJECTED = """\
  - id: wrong
    title: at most one -1
    requirements: [{requirements}]
    data: {{shape: [6, 2]}}
    axis: 0
    split_lengths: [-1, -1]
    expect: {{reject: {reject}}}
    twin: {{split_lengths: [-1, 2]}}
"""
Warnings = Callable[[str], list[str]]


@pytest.fixture
def warnings(tmp_path: Path) -> Warnings:
    """The warnings about a spec, without its path."""

    def warnings(text: str) -> list[str]:
        path = tmp_path / "spec.yaml"
        path.write_text(text)
        return [warning.removeprefix(f"{path}:") for warning in warnings_of([load_spec(path)])]

    return warnings


def test_a_requirement_behind_another_in_every_group_is_warned_of(warnings: Warnings) -> None:
    """A failure counts against the first requirement that no comparison establishes."""
    sentence = (
        "3:5: group 'both': no failure can be attributed to lengths.remainder, because every group lists another "
        "requirement before it, such as axis.negative. List it first in a group that tests it."
    )

    assert warnings(SPEC.format(requirements="axis.negative, lengths.remainder")) == [sentence]


@pytest.mark.parametrize(
    "requirements",
    [
        "",
        "lengths.remainder",
        "lengths.remainder, data.bits",
        "data.bits, lengths.remainder",
        "outputs.count, outputs.shape, lengths.remainder",
        "lengths.remainder, lengths.zero",
    ],
)
def test_what_a_comparison_tells_apart_is_not_warned_of(warnings: Warnings, requirements: str) -> None:
    """Bits, counts and shapes are established by a comparison; an interpretation is broken by a refusal."""
    assert warnings(SPEC.format(requirements=requirements)) == []


def test_a_requirement_that_comes_first_in_another_group_is_not_warned_of(warnings: Warnings) -> None:
    """One group that tests it is enough."""
    second = SPEC.format(requirements="lengths.remainder").replace("id: both", "id: one").partition("groups:\n")[2]

    assert warnings(SPEC.format(requirements="axis.negative, lengths.remainder") + second) == []


def test_a_requirement_that_another_group_violates_is_not_warned_of(warnings: Warnings) -> None:
    """An invalid case counts against what it violates."""
    accepted = SPEC.format(requirements="lengths.remainder, lengths.single-remainder")

    assert warnings(accepted + REJECTED.format(requirements="", reject="lengths.single-remainder")) == []


def test_a_rejected_group_may_list_only_what_its_cases_violate(warnings: Warnings) -> None:
    """Its cases would pass as evidence for the others, and test nothing of them."""
    rejected = REJECTED.format(requirements="lengths.single-remainder, axis.range", reject="lengths.single-remainder")

    sentence = (
        "9:5: group 'wrong': its cases do not violate axis.range, so they do not test it. "
        "Remove it from `requirements`."
    )

    assert warnings(SPEC.format(requirements="") + rejected) == [sentence]


def test_a_requirement_that_an_expression_names_is_not_warned_of(warnings: Warnings) -> None:
    """Each of the requirements may be violated by one of the cases."""
    reject = '"${{ name }}"'
    rejected = REJECTED.format(requirements="lengths.single-remainder, lengths.sum", reject=reject)
    matrix = "    matrix: {name: [lengths.single-remainder]}\n"

    assert warnings(SPEC.format(requirements="") + rejected + matrix) == []


def test_a_group_has_a_twin_if_its_cases_are_rejected(warnings: Warnings) -> None:
    """Without a twin, a backend that rejects everything could not be detected."""
    accepted = SPEC.format(requirements="")
    rejected, _, twin = REJECTED.format(requirements="", reject="lengths.single-remainder").partition("    twin")

    assert warnings(f"{accepted}    twin{twin}") == [
        "3:5: group 'both': `twin` has no effect, because no case is rejected. Add `expect`, or remove `twin`."
    ]
    [sentence] = warnings(accepted + rejected)
    assert sentence == (
        "9:5: group 'wrong': its invalid cases have no twin, so a rejection is inconclusive: a backend may reject "
        "everything. Add `twin` with the keys that make the case valid."
    )


def test_there_are_only_a_few_warnings(warnings: Warnings) -> None:
    """The last one counts the others."""
    many = "axis.negative, lengths.remainder, lengths.sum, lengths.required, axis.range, axis.shape, lengths.rank, data.shape, outputs.order"
    found = warnings(SPEC.format(requirements=many))

    assert len(found) == MOST + 1
    assert found[-1] == "There are 2 more warnings."


def test_generate_prints_the_warnings(opconform: Run, tmp_path: Path) -> None:
    """On standard error, beside the suite."""
    (tmp_path / "a.yaml").write_text(SPEC.format(requirements="axis.negative, lengths.remainder"))
    done = opconform("generate", "a.yaml", "--out", "suite", "--jobs", "1", cwd=tmp_path)

    assert "warning: a.yaml:3:5: group 'both': no failure can be attributed to lengths.remainder" in done.stderr


def test_a_matrix_variable_that_nothing_names_is_reported(warnings: Warnings) -> None:
    """Its values add no case, since equal cases are one."""
    group = SPEC.format(requirements="outputs.order").replace(
        "    axis: 0\n", "    matrix: {{axis: [0], other: [1, 2]}}\n"
    )
    found = warnings(group.replace("{{", "{").replace("}}", "}") + '    axis: "${{ axis }}"\n')

    assert found == ["7:32: group 'both': the matrix variable other is not used, so it adds no case."]


def test_a_value_that_a_matrix_variable_has_twice_is_reported(warnings: Warnings) -> None:
    """The number of cases is then lower than the author may think; 1 and 1.0 are different values."""
    group = SPEC.format(requirements="outputs.order").replace(
        "    axis: 0\n", "    matrix: {axis: [0, 0], n: [[1], 1, 1.0, [1]]}\n    where: rank(n) > 0\n"
    )

    assert warnings(group + '    axis: "${{ axis }}"\n') == [
        "7:24: group 'both': the matrix variable axis has the value 0 twice, which adds no case.",
        "7:45: group 'both': the matrix variable n has the value [1] twice, which adds no case.",
    ]


def test_a_profile_that_is_nearly_a_shipped_one_is_warned_of(warnings: Warnings) -> None:
    """Cases of the profile `cores` are not in a run of `core`. A name of one's own is fine."""
    spec = SPEC.format(requirements="lengths.remainder")
    assert warnings(f"{spec}    profile: cores\n") == [
        "9:14: group 'both': no shipped case has the profile 'cores'. Did you mean 'core'?"
    ]
    assert warnings(f"{spec}    profile: nightly\n") == []


def test_a_group_whose_expectation_the_semantics_decide_needs_a_twin(warnings: Warnings) -> None:
    """It may have invalid cases, and otherwise counts as a group of valid ones."""
    spec = SPEC.format(requirements="lengths.remainder") + "    expect: semantics\n"

    assert len(warnings(spec)) == 1
    assert warnings(f"{spec}    twin: {{split_lengths: [1, 5]}}\n") == []
