"""Neighbour checks: where the neighbour alone fails, too, the failure of a case is not the operation's."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite, open_suite
from opconform_runners.execution.session import Session
from opconform_runners.harness.command import Launch, backend_command
from opconform_runners.harness.outcome import Error
from opconform_runners.verdicts.comparison import Mismatch
from opconform_runners.verdicts.neighbours import neighbour_check_due, with_neighbour_check
from opconform_runners.verdicts.verdict import (
    Fail,
    FailReason,
    Inconclusive,
    Nondeterministic,
    Pass,
    Unsupported,
)
from tests.conftest import MINIATURES, Run
from tests.result_files import cases_in

SPEC = """\
op: VariadicSplit-1
groups:
  - id: contexts
    title: in contexts
    requirements: [data.bits]
    matrix: {context: [concat, shared, partial]}
    data: {shape: [6, 4], element_type: i32, fill: constant, value: 7}
    axis: 0
    split_lengths: [3, -1]
    context: ${{ context }}
"""
WITHOUT = "the neighbour check, the same graph without VariadicSplit-1,"
LOST = "output_0[0, 0]: expected 7 (0x00000007), got 0 (0x00000000); differing elements: 24 of 24"


def failure(reason: FailReason = "value", output: str = "output_0") -> Fail:
    """A failure, of an output where values differ."""
    mismatch = Mismatch(reason="value", sentence="it differs", feed=0, output=output) if reason == "value" else None
    return Fail(reason=reason, sentence="it fails", mismatch=mismatch)


@pytest.fixture(scope="module")
def suite(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """A suite with one case in each of three contexts."""
    folder = tmp_path_factory.mktemp("neighbour checks")
    (folder / "a.yaml").write_text(SPEC)
    opconform("generate", folder / "a.yaml", "--out", folder / "suite", "--jobs", "1")
    return open_suite(folder / "suite")


def entry_in(suite: Suite, context: str) -> Entry:
    """The case in a context."""
    return next(entry for entry in suite.entries if suite.case(entry).context == context)


@pytest.fixture(scope="module")
def lost_joins(opconform: Run, suite: Suite, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a backend whose Concat-1 alone is wrong."""
    out = tmp_path_factory.mktemp("neighbour checks") / "out"
    run(opconform, suite, out, "LosesJoins", 0)
    return out


def run(opconform: Run, suite: Suite, out: Path, name: str, code: int) -> dict[str, Any]:
    """The results of a miniature by context."""
    words = ("run", suite.store.root, "--backend", f"{MINIATURES}:{name}", "--out", out)
    opconform(*words, code=code)
    cases = cases_in(out)
    return by_context(suite, cases)


def by_context(suite: Suite, cases: list[dict[str, Any]]) -> dict[str, Any]:
    """The cases of a report by their context."""
    return {suite.case(suite.by_id[case["id"]]).context: case for case in cases}


@pytest.mark.parametrize("neighbour_check", [failure(), failure("shape"), failure("rejected-valid"), failure("crash")])
def test_a_failure_with_a_failing_neighbour_check_is_inconclusive(suite: Suite, neighbour_check: Fail) -> None:
    """For any kind of failure of the neighbour check."""
    case = suite.case(entry_in(suite, "concat"))
    why = f"it fails; {WITHOUT} fails too: its Concat-1: it fails"

    assert with_neighbour_check(case, failure(), neighbour_check) == Inconclusive(why=why)
    assert isinstance(
        with_neighbour_check(case, Nondeterministic(first=failure(), second=Pass()), neighbour_check), Inconclusive
    )


def test_a_failure_with_a_passing_neighbour_check_stands(suite: Suite) -> None:
    """The neighbour check passes."""
    assert with_neighbour_check(suite.case(entry_in(suite, "concat")), failure(), Pass()) == failure()


@pytest.mark.parametrize("reason", ["crash", "timeout"])
def test_a_crash_is_excused_only_by_a_crash_of_the_neighbour_check(suite: Suite, reason: FailReason) -> None:
    """Also a crash in only one of two executions."""
    case, ended = suite.case(entry_in(suite, "concat")), failure(reason)
    once = Nondeterministic(first=failure(), second=ended)

    assert with_neighbour_check(case, ended, failure()) == ended
    assert with_neighbour_check(case, once, failure()) == once
    assert isinstance(with_neighbour_check(case, ended, failure("crash")), Inconclusive)


@pytest.mark.parametrize("neighbour_check", [Unsupported(why="no joins"), Error(sentence="no joins")])
def test_a_failure_whose_neighbour_check_has_no_verdict_stands(
    suite: Suite, neighbour_check: Unsupported | Error
) -> None:
    """The sentence says why; the backend may have no function for the neighbour."""
    stands = with_neighbour_check(suite.case(entry_in(suite, "concat")), failure(), neighbour_check)

    assert stands == Fail(
        reason="value", sentence=f"it fails; {WITHOUT} has no verdict: no joins", mismatch=failure().mismatch
    )


def test_a_neighbour_check_is_due_where_the_neighbour_may_be_at_fault(suite: Suite) -> None:
    """Not where an output of the operation itself is wrong, nor where nothing failed."""
    concat, shared, partial = (entry_in(suite, name) for name in ("concat", "shared", "partial"))

    assert neighbour_check_due(concat, suite.case(concat), failure()) == concat.neighbour_check
    assert neighbour_check_due(concat, suite.case(concat), failure("count")) == concat.neighbour_check
    assert neighbour_check_due(concat, suite.case(concat), Pass()) is None
    assert neighbour_check_due(shared, suite.case(shared), failure(output="output_1")) is None
    assert neighbour_check_due(shared, suite.case(shared), failure(output="output_2")) == shared.neighbour_check
    assert neighbour_check_due(partial, suite.case(partial), failure()) is None


def test_a_backend_with_a_faulty_join_does_not_fail(suite: Suite, lost_joins: Path) -> None:
    """Its cases with a join are inconclusive and name Concat-1; no requirement is broken."""
    found = by_context(suite, cases_in(lost_joins))

    assert {context: hit["verdict"] for context, hit in found.items()} == {
        "concat": "inconclusive",
        "shared": "inconclusive",
        "partial": "pass",
    }
    assert found["concat"]["sentence"] == f"{LOST}; {WITHOUT} fails too: its Concat-1: {LOST}"
    assert "broken" not in found["concat"]


def test_a_backend_with_a_faulty_operation_fails(opconform: Run, suite: Suite, tmp_path: Path) -> None:
    """Its neighbour checks pass."""
    found = run(opconform, suite, tmp_path, "LosesSplits", 1)

    assert {hit["verdict"] for hit in found.values()} == {"fail"}
    assert found["concat"]["sentence"] == LOST
    assert found["concat"]["broken"] == ["data.bits"]


@pytest.mark.parametrize(("name", "verdict"), [("LosesShapes", "inconclusive"), ("LosesSplits", "fail")])
def test_nodes_that_compute_an_input_may_be_at_fault(opconform: Run, tmp_path: Path, name: str, verdict: str) -> None:
    """Then the wrong output is one of the node under test, and still not evidence against it."""
    (tmp_path / "a.yaml").write_text(
        SPEC.replace("[concat, shared, partial]", "[shape-of]").replace("[3, -1]", "[4, -1]")
    )
    opconform("generate", tmp_path / "a.yaml", "--out", tmp_path / "suite", "--jobs", "1")
    [case] = run(opconform, open_suite(tmp_path / "suite"), tmp_path / "out", name, 1).values()

    assert case["verdict"] == verdict
    sentence = f"{LOST.replace('24', '16')}; {WITHOUT} fails too: its ShapeOf-3, Gather-8, Concat-1: output_0[0]: "
    assert verdict == "fail" or case["sentence"].startswith(sentence)


def test_recorded_outputs_have_no_neighbour_checks(opconform: Run, suite: Suite, tmp_path: Path) -> None:
    """A failure in them stands, and says so."""
    backend = f"{MINIATURES}:LosesJoins"
    opconform("run", suite.store.root, "--backend", backend, "--record", tmp_path / "outputs.zip", code=0)
    opconform(
        "certificate", "judge", tmp_path / "outputs.zip", "--suite", suite.store.root, "--out", tmp_path / "out", code=1
    )
    cases = cases_in(tmp_path / "out")
    concat = next(case for case in cases if case["id"] == entry_in(suite, "concat").id)

    assert concat["verdict"] == "fail"
    assert concat["sentence"] == f"{LOST}; {WITHOUT} has no verdict: recorded outputs are those of cases alone"


def test_a_session_gives_the_verdict_of_a_run(suite: Suite) -> None:
    """As the pytest plugin does for a single case."""
    entry = entry_in(suite, "concat")
    with closing(Session(suite, Launch(command=backend_command(f"{MINIATURES}:LosesJoins")))) as session:
        result = session.result_of(entry)

    assert (result.verdict, result.sentence) == (
        "inconclusive",
        f"{LOST}; {WITHOUT} fails too: its Concat-1: {LOST}",
    )


def test_an_interrupted_run_continues_with_the_neighbour_checks(
    opconform: Run, suite: Suite, lost_joins: Path, tmp_path: Path
) -> None:
    """Neighbour checks in the log are not executed again; the others are."""
    backend, complete = f"{MINIATURES}:LosesJoins", lost_joins / "results.jsonl"
    lines = (lost_joins / "outcomes.jsonl").read_bytes().splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if b'"execution":"neighbour-check"' in line)
    (tmp_path / "outcomes.jsonl").write_bytes(b"".join(lines[: first + 1]))
    told = opconform("run", suite.store.root, "--backend", backend, "--out", tmp_path, code=0)

    assert "was continued; 3 of 3 cases had been executed before." in told.stderr
    assert results(complete.read_bytes()) == results((tmp_path / "results.jsonl").read_bytes())
    assert (tmp_path / "outcomes.jsonl").read_bytes().startswith(b"".join(lines[: first + 1]))
    assert (tmp_path / "outcomes.jsonl").read_bytes().count(b"\n") == len(lines)


def results(content: bytes) -> list[tuple[str, str]]:
    """The id and the verdict of each case in results."""
    lines = [json.loads(line) for line in content.splitlines()]
    return [(line["id"], line["verdict"]) for line in lines if "id" in line]
