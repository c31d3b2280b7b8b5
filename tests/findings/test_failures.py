"""The order of failures: the worst first."""

from dataclasses import replace

import pytest

from opconform_runners.findings.failures import SEVERITIES, result_size, severity_of
from opconform_runners.findings.finding import Severity
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


@pytest.mark.parametrize(
    ("inputs", "elements"),
    [
        ("data f32[6, 2], axis 0, split_lengths [7, -1]", 12),
        ("inputs_0 u4[3, 5], inputs_1 u4[3, 3], axis 1", 24),
        ("data f32[]", 0),
        (f"data f32[{'9' * 5000}]", 0),
        (f"data f32[{', '.join(['9' * 18] * 5000)}]", 0),
    ],
    ids=["one", "two", "scalar", "digits", "dimensions"],
)
def test_failures_are_ordered_by_their_elements(inputs: str, elements: int) -> None:
    """As the description of the inputs has them, whichever program wrote it."""
    assert result_size(replace(failure("shape"), inputs=inputs))[0] == elements


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
        "claimed",
        "interpretation",
    )


@pytest.mark.parametrize(
    ("result", "severity"),
    [
        (failure("accepted-invalid", f"with elements that are in no input: {OUT_OF_BOUNDS}"), "memory"),
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
