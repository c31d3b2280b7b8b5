"""The order of failures: the worst first."""

import pytest

from opconform_runners.reports.failures import SEVERITIES, Severity, severity_of
from opconform_runners.verdicts.comparison import Mismatch
from opconform_runners.verdicts.judge import OUT_OF_BOUNDS
from opconform_runners.verdicts.results import Result
from opconform_runners.verdicts.verdict import FailReason


def failure(reason: FailReason, sentence: str = "", *, altered: bool = False) -> Result:
    """A case that fails for a reason."""
    return Result(
        id="Split-1/group/0123456789",
        profile="core",
        expect="accept",
        verdict="fail",
        reason=reason,
        sentence=sentence,
        mismatch=Mismatch(reason="value", sentence="", feed=0, output="output_0", altered=altered),
    )


def test_the_severities_are_ordered_from_the_worst() -> None:
    """A memory fault comes first, and a difference from an interpretation last."""
    assert SEVERITIES == (
        "memory",
        "crash",
        "hang",
        "wrong data",
        "nondeterministic",
        "accepted-invalid",
        "rejected-valid",
        "interpretation",
    )


@pytest.mark.parametrize(
    ("result", "severity"),
    [
        (failure("accepted-invalid", f"more than the 12 elements of the inputs: {OUT_OF_BOUNDS}"), "memory"),
        (failure("nondeterministic", altered=True), "memory"),
        (failure("nondeterministic"), "nondeterministic"),
        (failure("crash"), "crash"),
        (failure("timeout"), "hang"),
        (failure("value", altered=True), "wrong data"),
        (failure("nan-payload"), "wrong data"),
        (failure("count"), "wrong data"),
        (failure("element-type"), "wrong data"),
        (failure("shape"), "wrong data"),
        (failure("accepted-invalid"), "accepted-invalid"),
        (failure("rejected-valid"), "rejected-valid"),
    ],
)
def test_a_failure_has_the_severity_of_its_symptom(result: Result, severity: Severity) -> None:
    """The reason decides, except where the data shows a memory fault."""
    assert severity_of(result) == severity


def test_a_difference_from_an_interpretation_is_the_least_severe_unless_memory_is_at_fault() -> None:
    """Only the standing tells a difference from an interpretation."""
    assert severity_of(failure("accepted-invalid"), "read") == "interpretation"
    assert severity_of(failure("accepted-invalid", OUT_OF_BOUNDS), "read") == "memory"
