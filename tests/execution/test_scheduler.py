"""How many harnesses a run starts."""

import pytest

from opconform_runners.execution.jobs import default_jobs


@pytest.mark.parametrize(
    ("device", "cases", "alone", "jobs"),
    [
        ("CPU", 7_610, False, 4),
        ("IMPORT:CPU", 1_304, False, 4),
        ("CPU", 250, False, 2),
        ("CPU", 14, False, 1),
        ("CPU", 11, True, 2),
        ("CPU", 2, True, 1),
        ("GPU", 7_610, False, 1),
        (None, 7_610, False, 1),
    ],
)
def test_many_cases_on_a_cpu_are_shared_by_several_harnesses(
    monkeypatch: pytest.MonkeyPatch, device: str | None, cases: int, alone: bool, jobs: int
) -> None:
    """At most four, and one on any other device, whose memory one harness may take."""
    monkeypatch.setattr("opconform_runners.execution.jobs.cores", lambda: 64)

    assert default_jobs(device, cases, alone=alone) == jobs


def test_no_more_harnesses_start_than_there_are_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """By default."""
    monkeypatch.setattr("opconform_runners.execution.jobs.cores", lambda: 2)

    assert default_jobs("CPU", 7_610, alone=False) == 2
