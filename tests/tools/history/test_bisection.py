"""The search for the releases between which a case changes."""

from hypothesis import given
from hypothesis import strategies as st

from opconform_runners.findings.history import State
from opconform_runners.tools.history.bisection import change_between
from tests.findings.test_history import STATES, states


@given(st.text("gb.", max_size=30))
def test_a_bisection_finds_neighbours_that_differ(text: str) -> None:
    """Whatever the states are: no release between them passes or fails the case."""
    every, asked = states(text), list[str]()

    def state_of(version: str) -> State:
        asked.append(version)
        return every[version]

    found = change_between([*every], state_of)
    known = [state for state in every.values() if state != "unknown"]
    if not known or known[0] == known[-1]:
        assert found is None
    else:
        older, newer = found or ("", "")
        assert {every[older], every[newer]} == {"good", "bad"}
        assert {every[x] for x in [*every][int(older) : int(newer) - 1]} <= {"unknown"}


def test_a_bisection_asks_few_releases() -> None:
    """The two ends, one per halving, and the good one again."""
    every, asked = states("g" * 700 + "b" * 324), list[str]()

    def state_of(version: str) -> State:
        asked.append(version)
        return every[version]

    assert change_between([*every], state_of) == ("700", "701")
    assert len(asked) <= 13


def test_a_bisection_goes_on_where_the_good_release_turns_out_bad() -> None:
    """When it is asked again, since the case is known to be unsteady by then."""
    answers = {"1": ["good"], "2": ["good", "bad"], "3": ["bad"], "4": ["bad"]}

    def state_of(version: str) -> State:
        return STATES[(answers[version].pop(0) if len(answers[version]) > 1 else answers[version][0])[0]]

    assert change_between(["1", "2", "3", "4"], state_of) == ("1", "2")
