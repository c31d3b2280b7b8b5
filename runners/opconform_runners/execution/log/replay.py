"""The judgement of recorded outputs against a suite, as if the harness were here."""

import contextlib
from dataclasses import replace
from pathlib import Path

from opconform.errors import SuiteError
from opconform.suite.reader import Suite
from opconform_runners.backends.backend import full_names
from opconform_runners.execution.case_verdicts import NOT_RECORDED, CaseVerdicts
from opconform_runners.execution.dialects import dialect_of
from opconform_runners.execution.log.outcomes import OutcomeLog
from opconform_runners.execution.log.record import Record, blind_digest
from opconform_runners.execution.plan import RunOptions, RunPlan, check_not_blind, run_header_of
from opconform_runners.execution.progress import OnProgress
from opconform_runners.execution.run import Run
from opconform_runners.harness.outcome import NotSent
from opconform_runners.verdicts.results import write_results


def judge(
    suite: Suite,
    recorded: Record,
    out: Path,
    on_progress: OnProgress = lambda *_: None,
    options: RunOptions | None = None,
) -> Run:
    """Judge recorded outputs, and write `results.jsonl` to the folder `out`; `options` say what counts and is replaced.

    The suite has its expected outputs; the recorded ones are of that suite, or of the same suite made with --blind.
    """
    _check_suite(suite, recorded)
    check_not_blind(suite)
    implementation = recorded.header.implementation
    entries = [entry for entry in suite.entries if entry.id in recorded.lines]
    profiles = {entry.profile for entry in entries}
    is_whole = not suite.header.is_selection and len(entries) == sum(
        entry.profile in profiles for entry in suite.entries
    )
    plan = RunPlan(
        out=out,
        options=replace(options or RunOptions(), timeout=recorded.header.timeout, whole=is_whole),
        environment_of=lambda _: recorded.header.environment,
        outputs=recorded.digest,
    )
    header, verdicts = run_header_of(suite, entries, plan, implementation), CaseVerdicts(suite, implementation)
    with contextlib.closing(OutcomeLog(out, force=plan.options.force, resume=False)) as log:
        log.begin(header)
        for number, entry in enumerate(entries, 1):
            case = suite.case(entry)
            for logged in recorded.lines[entry.id]:
                outcome = recorded.outcome(suite, entry, case, logged)
                if isinstance(outcome, NotSent) and dialect_of(suite, entry, case, implementation)[1] is None:
                    raise SuiteError(f"{recorded.path} says that {entry.id} could not be sent, but it can be.")
                log.add(*verdicts.add(entry, logged.execution, case, outcome, *logged.incidents))
            on_progress(number / len(entries), number)
        verdicts.give_up_neighbour_checks(entries, NOT_RECORDED)
        results = tuple(verdicts.result(entry) for entry in entries)
        write_results(out, header, results)
    return Run(header=header, results=results)


def _check_suite(suite: Suite, recorded: Record) -> None:
    """Check that outputs were recorded of the suite, or of the same suite made with --blind."""
    if (digest := blind_digest(suite)) != (recorded_digest := recorded.header.suite.digest):
        raise SuiteError(
            f"{recorded.path} has outputs of a different suite: the blind digest of {suite.store.root} is "
            f"{digest[:16]}, not {recorded_digest[:16]}. Generate the suite with the same specs, profiles, seed, "
            f"dialects and version."
        )
    foreign = next((case for case in recorded.lines if case not in suite.by_id), None)
    if foreign is not None:
        raise SuiteError(f"{recorded.path} has outputs of {foreign}, which is not in {suite.store.root}.")
    unknown = sorted(set(recorded.header.implementation.mapped).difference(full_names(suite.header.requirements)))
    if unknown:
        raise SuiteError(f"{recorded.path} maps {unknown[0]}, which is not a requirement of {suite.store.root}.")
