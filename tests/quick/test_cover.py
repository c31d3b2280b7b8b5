"""The greedy cover: what finds most for its price comes first."""

from tests.quick.__main__ import list_text
from tests.quick.cover import CoreCase, Fault, cover, found_by

CASES = {
    "A-1/x/0": CoreCase(id="A-1/x/0", twin=None, size=1),
    "A-1/x/1": CoreCase(id="A-1/x/1", twin=None, size=2),
    "A-1/x/2": CoreCase(id="A-1/x/2", twin="A-1/x/1", size=1),
    "A-1/x/3": CoreCase(id="A-1/x/3", twin=None, size=9),
}


def fault(name: str, *numbers: int, weight: float = 1.0) -> Fault:
    """One that some cases find."""
    return Fault(name=name, finders=tuple(f"A-1/x/{number}" for number in numbers), weight=weight)


def test_the_case_that_finds_most_is_taken_first() -> None:
    """Before one that finds the same less often."""
    faults = [fault("one", 0, 1), fault("two", 1), fault("three", 3)]

    assert cover(faults, CASES, most=1) == ["A-1/x/1"]
    assert cover(faults, CASES, most=2) == ["A-1/x/1", "A-1/x/3"]


def test_every_fault_is_found_twice_where_two_cases_can() -> None:
    """A third case is not taken."""
    assert cover([fault("one", 0, 1, 3)], CASES) == ["A-1/x/0", "A-1/x/1"]


def test_of_equal_cases_the_smaller_is_taken() -> None:
    """Whatever their order."""
    assert cover([fault("one", 3, 1, 0)], CASES, most=1) == ["A-1/x/0"]


def test_a_rejected_case_comes_with_its_twin() -> None:
    """The two count as two cases, and the pair is left out if only one fits."""
    assert cover([fault("one", 2)], CASES, most=2) == ["A-1/x/1", "A-1/x/2"]
    assert cover([fault("one", 2)], CASES, most=1) == []


def test_weight_comes_before_number() -> None:
    """One requirement is worth more than two mutants."""
    faults = [fault("requirement", 3, weight=10), fault("one", 0), fault("two", 0)]

    assert cover(faults, CASES, most=1) == ["A-1/x/3"]


def test_what_is_found_is_counted_by_kind() -> None:
    """Of each kind all, those found, and those found twice or as often as can be."""
    faults = [fault("mutants one", 0), fault("mutants two", 1, 3), fault("rows one", 3)]

    assert found_by(["A-1/x/0", "A-1/x/1"], faults) == {"mutants": (2, 2, 1), "rows": (1, 0, 0)}


def test_the_list_has_a_line_per_group() -> None:
    """With the digits of its cases."""
    assert list_text(["A-1/x/1", "A-1/x/0", "B-1/y/2"]) == '{\n "A-1/x": "0 1",\n "B-1/y": "2"\n}\n'
