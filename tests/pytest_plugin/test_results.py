"""The results of cases in pytest: what fails, is an error, is expected or is skipped."""

import re
from pathlib import Path

import pytest

from tests import fake_harnesses
from tests.harness.test_faults import RAISES
from tests.pytest_plugin.repository import Pytest, miniature, outcomes


def test_a_crash_costs_only_its_case_and_is_described(run_pytest: Pytest, suite: Path) -> None:
    """The twin that crashed makes its case inconclusive; the message is a sentence, and holds no traceback."""
    done = run_pytest("-rfs", "--opconform-backend", miniature("Aborts"), "--opconform-suite", suite, "opconform")
    [failed] = re.findall(r"_+ (VariadicSplit-1/accepted\[\S+\]) _+\n(.*?)(?=\n_|\n=)", done.stdout, re.DOTALL)

    assert outcomes(done) == {"failed": 2, "passed": 3, "skipped": 1}
    assert "Traceback" not in done.stdout
    assert failed[1].splitlines()[:2] == [
        "data f32[6, 2], axis 0, split_lengths [2, 2, 2]: crash: the backend process was terminated by SIGSEGV; end of its standard error: about to fall over",
        "requirement: lengths.remainder (normative): A length of -1, at any position, takes all remaining elements of the dimension.",
    ]
    assert failed[0] == "VariadicSplit-1/accepted[f32-axis0-split_lengths2,2,2]"
    again = r"--select VariadicSplit-1/accepted/(\w{10}) --out again/\1"
    assert re.search(f"--backend {miniature('Aborts')} {again}$", failed[1].splitlines()[2])
    assert "inconclusive: its twin VariadicSplit-1/rejected/" in done.stdout


def test_a_process_that_ends_late_is_an_error_and_no_failure(run_pytest: Pytest, suite: Path) -> None:
    """At the test of the case that was not answered, which passes alone; the cases before it are named."""
    done = run_pytest("-q", "--opconform-backend", miniature("EndsLater"), "--opconform-suite", suite)

    assert outcomes(done) == {"passed": 7, "errors": 3}
    assert "ERROR at teardown of VariadicSplit-1/" in done.stdout
    assert "the backend process was terminated by SIGSEGV; this did not recur with VariadicSplit-1/" in done.stdout
    assert done.returncode == 1


@pytest.mark.ci_only
def test_an_error_that_does_not_recur_is_a_warning(run_pytest: Pytest, suite: Path) -> None:
    """With the case and its message."""
    done = run_pytest("-q", "--opconform-backend", miniature("RaisesLater"), "--opconform-suite", suite)

    assert outcomes(done)["passed"] == 7
    assert "ended in an error, and not when it was executed again alone: miniatures.py:" in done.stdout
    assert done.returncode == 0


def test_a_case_is_named_by_what_it_is(run_pytest: Pytest, suite: Path) -> None:
    """Its node id, its case id and a part of either select it; `--deselect` takes the same patterns."""
    options = ("-q", "--opconform-backend", miniature("Perfect"), "--opconform-suite", suite, "--collect-only")
    shown = run_pytest(*options, "opconform::VariadicSplit-1/accepted[f32-axis0-split_lengths2,2,2]").stdout
    case = next((suite / "VariadicSplit-1" / "nans").iterdir()).name
    left = run_pytest(*options, "opconform", "--deselect", "opconform::VariadicSplit-1/accepted").stdout
    wrong = run_pytest(*options, "--deselect", "opconform::VariadicSplit-1/acepted").stderr

    assert shown.splitlines()[0] == "opconform::VariadicSplit-1/accepted[f32-axis0-split_lengths2,2,2]"
    assert "1 test collected" in shown
    assert run_pytest(*options, "-k", case).stdout.splitlines()[-1].startswith("1/7 tests collected")
    assert "3/6 tests collected (3 deselected)" in left
    assert "Did you mean 'VariadicSplit-1/accepted'?" in wrong


def test_a_baseline_makes_known_failures_expected(run_pytest: Pytest, suite: Path, tmp_path: Path) -> None:
    """Others fail, and so does a case that passes although the baseline expects it to fail."""
    (tmp_path / "known.txt").write_text(
        "VariadicSplit-1/accepted/*  count  # https://example.org/1\nVariadicSplit-1/nans/* value\n"
    )
    options = ("-rfx", "--opconform-suite", suite, "--opconform-baseline", "known.txt", "opconform")
    missing = run_pytest("--opconform-backend", miniature("MissesOneOutput"), *options)
    perfect = run_pytest("--opconform-backend", miniature("Perfect"), *options)
    (tmp_path / "known.txt").write_text("VariadicSplit-1/acepted/* count\n")
    stale = run_pytest("--opconform-backend", miniature("Perfect"), *options)

    assert outcomes(missing) == {"failed": 2, "xfailed": 3, "skipped": 1}
    assert "known.txt:1 expects count" in missing.stdout
    assert "known.txt:2 expects value" in missing.stdout
    assert outcomes(perfect) == {"failed": 4, "passed": 2}
    assert stale.stderr.startswith(
        "ERROR: known.txt:1: no case matches 'VariadicSplit-1/acepted/*'. Delete the line, or"
    )


@pytest.mark.ci_only
def test_a_hang_ends_at_the_timeout(run_pytest: Pytest, suite: Path) -> None:
    """And the next case has a harness again."""
    options = ("--opconform-backend", miniature("Hangs"), "--opconform-suite", suite, "--opconform-timeout", "1")
    done = run_pytest(*options, "-k", "accepted")

    assert outcomes(done) == {"failed": 1, "passed": 2, "deselected": 4}
    assert "timeout: no answer within 1 second\n" in done.stdout


def test_another_reading_fails_only_with_strict(run_pytest: Pytest, suite: Path) -> None:
    """A case that breaks only an interpretation is expected to fail."""
    options = ("-rx", "--opconform-backend", miniature("QuietsNans"), "--opconform-suite", suite, "-k", "nans")
    done = run_pytest(*options)

    assert outcomes(done) == {"xfailed": 1, "deselected": 6}
    assert "not counted: data.nan-payload" in done.stdout
    assert outcomes(run_pytest(*options, "--opconform-strict")) == {"failed": 1, "deselected": 6}


def test_a_harness_that_fails_is_an_error_and_no_failure(run_pytest: Pytest, suite: Path) -> None:
    """Of a backend in Python, and of a harness in any language."""
    python = run_pytest("-q", "--opconform-backend", miniature("Raises"), "--opconform-suite", suite, "-m", "core")
    command = fake_harnesses.command("says an error")
    other = run_pytest("-q", "--opconform-harness", command, "--opconform-suite", suite, "-m", "core")

    assert outcomes(python) == {"passed": 2, "deselected": 4, "error": 1}
    assert f"harness error: miniatures.py:{RAISES}: KeyError: 'lost'" in python.stdout
    assert outcomes(other)["error"] == 1
    assert "harness error: out of paper" in other.stdout


def test_what_is_not_supported_is_skipped_with_its_reason(run_pytest: Pytest, suite: Path) -> None:
    """And so is the case whose twin is not."""
    done = run_pytest(
        "-rs", "--opconform-backend", miniature("SupportsNothing"), "--opconform-suite", suite, "opconform"
    )

    assert outcomes(done) == {"skipped": 6}
    assert "unsupported: not today" in done.stdout


def test_a_claimed_case_that_is_not_supported_fails(run_pytest: Pytest, suite: Path, tmp_path: Path) -> None:
    """One that the claims leave out is skipped, and the last lines count those that pass all the same."""
    head = "backend: numpy\nsuite: 2.0.0\nsupported:\n- VariadicSplit-1\nunsupported:"
    options = ("-rfs", "--opconform-suite", suite, "--opconform-claims", "support.yaml", "opconform")
    (tmp_path / "support.yaml").write_text(f"{head} []\n")
    claimed = run_pytest("--opconform-backend", miniature("SupportsSome"), *options)
    (tmp_path / "support.yaml").write_text(f"{head.replace('numpy', 'torch')}\n- VariadicSplit-1: data has rank 2\n")
    unclaimed = run_pytest("--opconform-backend", miniature("SupportsSome"), *options)

    assert outcomes(claimed)["failed"] == 2
    assert "claimed: claimed, but not supported: not today" in claimed.stdout
    assert "failed" not in outcomes(unclaimed)
    assert "opconform: 2 cases pass, although the claims do not cover it." in unclaimed.stdout
    assert "opconform: support.yaml claims what torch supports, and this is numpy. Learn them again" in unclaimed.stdout


def test_lost_support_fails_against_a_baseline(run_pytest: Pytest, suite: Path, tmp_path: Path) -> None:
    """Without one, it is skipped."""
    (tmp_path / "known.txt").write_text("")
    options = ("--opconform-backend", miniature("SupportsSome"), "--opconform-suite", suite, "-rf", "opconform")
    lost = run_pytest("--opconform-baseline", "known.txt", *options)

    assert outcomes(lost) == {"failed": 2, "passed": 3, "skipped": 1}
    assert "no longer supported: not today; the baseline does not expect it" in lost.stdout
    assert outcomes(run_pytest(*options)) == {"passed": 3, "skipped": 3}
