"""The judgement of recorded outputs against a suite, as if the harness were here."""

from collections.abc import Sequence
from pathlib import Path

from opconform.errors import SuiteError
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite
from opconform_runners.backends.backend import full_names
from opconform_runners.execution.journal import Attempt
from opconform_runners.execution.outputs_archive import Recorded, blind_digest
from opconform_runners.execution.request import dialect_of
from opconform_runners.execution.runner import OnProgress, Run, RunOptions, RunPlan, judged
from opconform_runners.execution.scheduler import OnOutcome, OnReady
from opconform_runners.harness.outcome import NotSent


def judge(
    suite: Suite,
    recorded: Recorded,
    out: Path,
    on_progress: OnProgress = lambda *_: None,
    *,
    strict: bool = False,
    force: bool = False,
) -> Run:
    """Judge recorded outputs, and write `results.jsonl` to the folder `out`.

    The suite has its expected outputs; the recorded ones are of that suite, or of the same suite made with --blind.
    """
    digest = blind_digest(suite)
    if recorded.origin.suite != digest:
        raise SuiteError(
            f"{recorded.path} has outputs of a different suite: the blind digest of {suite.store.root} is "
            f"{digest[:16]}, not {recorded.origin.suite[:16]}. Generate the suite with the same specs, profiles, seed, "
            f"dialects and version."
        )
    foreign = next((each for each in recorded.lines if each not in suite.by_id), None)
    if foreign is not None:
        raise SuiteError(f"{recorded.path} has outputs of {foreign}, which is not in {suite.store.root}.")
    implementation = recorded.origin.implementation
    unknown = sorted(set(implementation.mapped).difference(full_names(suite.header.requirements)))
    if unknown:
        raise SuiteError(f"{recorded.path} maps {unknown[0]}, which is not a requirement of {suite.store.root}.")

    def executor(entries: Sequence[Entry], attempt: Attempt, on_outcome: OnOutcome, on_ready: OnReady) -> None:
        on_ready(implementation)
        for entry in entries:
            case = suite.case(entry)
            outcome = recorded.outcome(suite, entry, case, again=attempt != "first")
            if isinstance(outcome, NotSent) and dialect_of(suite, entry, case, implementation)[1] is None:
                raise SuiteError(f"{recorded.path} says that {entry.id} could not be sent, but it can be.")
            on_outcome(entry, case, outcome, *(recorded.lines[entry.id].incidents if attempt == "first" else ()))

    entries = [each for each in suite.entries if each.id in recorded.lines]
    profiles = {each.profile for each in entries}
    is_whole = not suite.header.select and len(entries) == sum(each.profile in profiles for each in suite.entries)
    plan = RunPlan(
        out=out,
        options=RunOptions(timeout=recorded.origin.timeout, whole=is_whole, strict=strict, force=force, resume=False),
        environment_of=lambda _: recorded.origin.environment,
        outputs=recorded.digest,
    )
    return judged(suite, entries, executor, plan, on_progress)
