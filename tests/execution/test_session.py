"""Sessions: single cases on request, also of one suite after another."""

from contextlib import closing
from pathlib import Path

from opconform.suite.reader import open_suite
from opconform_runners.execution.session import Session
from opconform_runners.harness.command import Launch, backend_command
from tests.conftest import MINIATURES


def test_a_twin_that_passed_is_not_executed_again_in_another_suite(small_suite: Path) -> None:
    """The rejection counts all the same."""
    suite = open_suite(small_suite)
    [rejected] = [entry for entry in suite.entries if entry.twin is not None]
    with closing(Session(suite, Launch(command=backend_command("numpy")))) as session:
        assert session.result_of(rejected).verdict == "pass"
        assert session.outcomes.keys() == {rejected.id, rejected.twin}
        session.turn_to(open_suite(small_suite))

        assert session.result_of(rejected).verdict == "pass"
        assert session.outcomes.keys() == {rejected.id}


def test_a_twin_that_failed_is_executed_again_in_another_suite(small_suite: Path) -> None:
    """Another case may have disturbed its harness."""
    suite = open_suite(small_suite)
    [rejected] = [entry for entry in suite.entries if entry.twin is not None]
    with closing(Session(suite, Launch(command=backend_command(f"{MINIATURES}:LosesAll")))) as session:
        assert session.result_of(rejected, once=True).verdict == "inconclusive"
        session.turn_to(open_suite(small_suite))

        assert session.result_of(rejected, once=True).verdict == "inconclusive"
        assert session.outcomes.keys() == {rejected.id, rejected.twin}
