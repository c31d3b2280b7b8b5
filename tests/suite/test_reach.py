"""How far selections reach into groups, without their cases."""

from fnmatch import fnmatchcase

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from opconform.errors import UsageError
from opconform.suite.selection.matches import Known, is_match
from opconform.suite.selection.reach import check_groups, pattern_reach
from opconform.suite.selection.selection import Selection

GROUPS = {"Split-1/axis": "core", "Split-1/huge": "large"}


@pytest.mark.parametrize(
    ("pattern", "reach"),
    [
        ("Split-1", "all"),
        ("Split-1/axis", "all"),
        ("Split-1/ax*", "all"),
        ("S*", "all"),
        ("*", "all"),
        ("axis.range", "all"),
        ("Split-1/axis/0123456789", "some"),
        ("*/0123*", "some"),
        ("Split-1*0a1", "some"),
        ("Split-1/axis/[!0]*", "some"),
        ("Split-1/axs", "none"),
        ("Splt-1/*", "none"),
        ("*axs*", "none"),
        ("*/0123", "none"),
        ("*/xyz*", "none"),
        ("Split-1/axis/0123456789ab", "none"),
    ],
)
def test_a_pattern_reaches_all_cases_some_or_none(pattern: str, reach: str) -> None:
    """Digits of a case have ten hexadecimal characters."""
    assert pattern_reach([pattern], "Split-1/axis", ["axis.range"]) == reach


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="Sp1/a0f*?[]!-", max_size=14), st.text(alphabet="0af", min_size=10, max_size=10))
def test_a_reach_is_right_for_every_case(pattern: str, digits: str) -> None:
    """Whatever the pattern is."""
    reach = pattern_reach([pattern], "S-1/a", ())
    matches = is_match(pattern, f"S-1/a/{digits}", ())

    assert matches if reach == "all" else not matches if reach == "none" else True


def test_several_patterns_reach_what_one_of_them_reaches() -> None:
    """Without patterns, every case."""
    assert pattern_reach([], "Split-1/axis", ()) == "all"
    assert pattern_reach(["Tile-1", "Split-1/axis/0*"], "Split-1/axis", ()) == "some"
    assert pattern_reach(["Split-1", "Split-1/axis/0*"], "Split-1/axis", ()) == "all"
    assert fnmatchcase("Split-1/axis/0", "Split-1/axis/0*")


@pytest.mark.parametrize(
    ("selection", "sentence"),
    [
        (
            Selection(profiles=("cor",)),
            "Profile 'cor' is not in the specs. Did you mean 'core'? Allowed: default, core, large.",
        ),
        (
            Selection(profiles=("large",), operations=("Split-1", "Tile-1")),
            "No selected case is of Tile-1. Its profiles: .",
        ),
    ],
)
def test_a_selection_of_no_group_is_an_error(selection: Selection, sentence: str) -> None:
    """Before a case is expanded."""
    with pytest.raises(UsageError) as raised:
        check_groups(selection, GROUPS, lambda: Known(groups=GROUPS, requirements=()))
    assert str(raised.value) == sentence


def test_groups_of_profiles_that_are_not_run_by_default_have_to_be_named() -> None:
    """The error names the profile."""
    with pytest.raises(
        UsageError, match=r"^All groups are in profiles that are not run by default\. Add --profile large"
    ):
        check_groups(Selection(), {"Split-1/huge": "large"}, lambda: Known(groups={}, requirements=()))
