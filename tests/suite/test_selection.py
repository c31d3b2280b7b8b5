"""Which cases a selection wants, and the error for each part of it that matches none."""

import pytest

from opconform.errors import UsageError
from opconform.suite.selection.hints import check_matches
from opconform.suite.selection.matches import Known, Matches
from opconform.suite.selection.selection import Selection, Shard, pattern_of

GROUPS = {"Split-1/axis": "core", "Split-1/page-example": "core", "Split-1/huge": "large", "Concat-1/axis": "types"}
KNOWN = Known(groups=GROUPS, requirements=("axis.range", "axis.type"))


def sentences(selection: Selection, *cases: tuple[str, str, tuple[str, ...]]) -> list[str]:
    """The lines of the error after some cases: the id, profile and requirements of each."""
    matches = Matches(selection)
    for case in cases or (("Split-1/axis/0123456789", "core", ("axis.range",)),):
        matches.wants(*case)
    try:
        check_matches(matches, lambda: KNOWN, within=" of s")
    except UsageError as error:
        return str(error).splitlines()
    return []


@pytest.mark.parametrize(
    "pattern",
    ["Split-1", "Split-1/axis", "Split-1/ax*", "Split-1/axis/0123456789", "*/0123*", "axis.range"],
)
def test_a_pattern_names_an_operation_a_group_a_case_or_a_requirement(pattern: str) -> None:
    """A shell pattern may do so as well."""
    matches = Matches(Selection(patterns=(pattern,)))

    assert matches.may_want("Split-1/axis", ["axis.range"])
    assert matches.wants("Split-1/axis/0123456789", "core", ("axis.range",))
    assert not matches.wants("Concat-1/other/abcdef0123", "core", ("axis.type",))
    check_matches(matches, lambda: KNOWN)


@pytest.mark.parametrize("pattern", ["Split-1/ax*", "Split-1/axis/0123456789", "Split*", "axis.range"])
def test_a_group_that_no_pattern_can_match_is_not_expanded(pattern: str) -> None:
    """Neither by the ids of its cases nor by a requirement."""
    assert not Matches(Selection(patterns=(pattern,))).may_want("Concat-1/axis", ["axis.type"])


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(patterns=("Split-1/axis",), profiles=("core",), operations=("Split-1",)), []),
        (Selection(), []),
        (Selection(profiles=("core", "default")), []),
        (
            Selection(patterns=("axis.range", "Split-1/page-exmple", "nonsense")),
            [
                "No case of s matches 'Split-1/page-exmple'. Did you mean 'Split-1/page-example'?",
                "No case of s matches 'nonsense'. `opconform list --cases` lists the cases.",
            ],
        ),
        (
            Selection(patterns=("Split-1/axis", "Split-1/huge/*")),
            ["No case of s matches 'Split-1/huge/*'. Its cases are of the profile large, which is not selected."],
        ),
        (
            Selection(profiles=("core", "types")),
            ["No selected case of s is of the profile types. Select other cases, or leave the profile out."],
        ),
        (
            Selection(patterns=("Split-1",), operations=("Split-1", "Concat-1"), profiles=("core", "types")),
            [
                "No selected case of s is of the profile types. Select other cases, or leave the profile out.",
                "No selected case of s is of Concat-1. Select others, or leave it out.",
            ],
        ),
        (
            Selection(profiles=("core",), operations=("Split-1", "Concat-1")),
            ["No selected case of s is of Concat-1. Its profiles: types."],
        ),
    ],
)
def test_every_part_that_matches_nothing_is_an_error(selection: Selection, expected: list[str]) -> None:
    """One line for each, even if the others match."""
    assert sentences(selection) == expected


def test_the_first_digits_name_a_case() -> None:
    """With or without its group; a whole id and a pattern stay as they are."""
    names = ("17a2", "Split-1/axis/17a2", "Split-1/axis/0123456789", "Split-1/axis/*", "Split-1/axis")

    assert [pattern_of(name) for name in names] == ["*/17a2*", "Split-1/axis/17a2*", *names[2:]]


def test_a_shard_without_the_case_of_a_pattern_is_no_error() -> None:
    """Another shard has it."""
    identity = "Split-1/axis/0123456789"
    [other] = [Shard(number=number, of=2) for number in (1, 2) if not Shard(number=number, of=2).holds(identity)]
    matches = Matches(Selection(patterns=("Split-1/axis",), shard=other))

    assert not matches.wants(identity, "core", ())
    check_matches(matches, lambda: KNOWN)
