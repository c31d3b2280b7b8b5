"""The plan of a run: its options, its cases, and the header that follows from them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from opconform.errors import SuiteError
from opconform.suite.manifest import Entry, Header
from opconform.suite.reader import Suite
from opconform.suite.selection.hints import check_matches
from opconform.suite.selection.matches import Matches
from opconform.suite.selection.selection import EVERYTHING, Selection
from opconform.system.tasks import Workers
from opconform_runners.backends.backend import Implementation
from opconform_runners.execution.log.logged_outcome import LoggedOutcome
from opconform_runners.harness.command import Command
from opconform_runners.harness.environment import Environment, environment_of
from opconform_runners.verdicts.accuracy_level import LeastAccuracy
from opconform_runners.verdicts.claims import Claims
from opconform_runners.verdicts.results import Result
from opconform_runners.verdicts.run_header import RunHeader, ids_digest, note_of, suite_note


@dataclass(frozen=True, kw_only=True, slots=True)
class RunOptions:
    """How a suite is run.

    Attributes:
        jobs: The number of harness processes; if it is None, the backend's device and the number of cases decide.
        timeout: The time limit of a case, in seconds.
        selection: Which cases are run, together with the twins that their verdicts need.
        whole: Whether whole profiles are run, as a certificate needs.
        strict: Whether interpretations count as much as normative requirements.
        least_accuracy: The accuracy level below which a rounded result counts as a failure.
        force: Whether the results of another run are replaced.
        resume: Whether an interrupted run of the same kind is continued.
        executor: What executes batches of cases on other machines, or None for this machine.
        claims: What the backend's maker claims to support, or None.
        alone: Whether every case is executed alone, also where the backend takes packs.
        stops: Whether the run ends with a result, or None if it does not end before its last case.
    """

    jobs: int | None = 1
    timeout: float = 60.0
    selection: Selection = EVERYTHING
    whole: bool = False
    strict: bool = False
    least_accuracy: LeastAccuracy = "reduced"
    force: bool = False
    resume: bool = True
    executor: Workers | None = None
    claims: Claims | None = None
    alone: bool = False
    stops: "Callable[[RunHeader, Result], bool] | None" = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RunPlan:
    """A run, as far as it is known before its backend starts.

    Attributes:
        out: The folder for the results.
        environment_of: Returns the environment of a backend, without the devices that execute its cases.
        known: Executions of its cases elsewhere, before an interruption.

    It has the other attributes of `RunHeader`.
    """

    out: Path
    options: RunOptions
    environment_of: Callable[[Implementation], Environment]
    started: str = ""
    memory: int | None = None
    outputs: str | None = None
    program: str | None = None
    known: tuple[LoggedOutcome, ...] = ()


def local_plan(command: Command, out: Path, options: RunOptions) -> RunPlan:
    """A run of a backend on this machine."""
    return RunPlan(
        out=out,
        options=options,
        environment_of=lambda implementation: environment_of(command, implementation, ()),
        started=command.options,
        memory=command.memory,
        program=command.program,
    )


def check_not_blind(suite: Suite) -> None:
    """Refuse a suite without expected outputs."""
    if suite.header.blind:
        raise SuiteError(
            f"{suite.store.root} is blind: it has no expected outputs. Generate it without --blind, or "
            f"record its outputs with `run --record FILE.zip` and judge them elsewhere."
        )


def selected(suite: Suite, selection: Selection) -> list[Entry]:
    """The selected lines of a manifest and the twins of the invalid cases among them, each twin before its case.

    Without a profile the whole suite is selected. Only a shard can be empty.
    """
    selection.check_profiles(suite.known().groups, f"in {suite.store.root}")
    matches = Matches(selection, every_profile=True)
    wanted = [entry for entry in suite.entries if matches.wants(entry.id, entry.profile, entry.requirements)]
    hint = f" `opconform list {suite.store.root} --cases` lists its cases."
    check_matches(matches, suite.known, within=f" of {suite.store.root}", otherwise=hint)
    twins = {name.twin for name in wanted if name.twin is not None and name.twin in suite.by_id}
    return [suite.by_id[id_] for id_ in sorted({name.id for name in wanted} | twins)]


def run_header_of(suite: Suite, entries: Sequence[Entry], plan: RunPlan, implementation: Implementation) -> RunHeader:
    """The header of a run of some cases of a suite."""
    selection = plan.options.selection
    everything = entries if selection.shard is None else selected(suite, replace(selection, shard=None))
    return replace(
        empty_header(suite.header, plan, implementation),
        cases=len(entries),
        selected=ids_digest([entry.id for entry in everything]),
        suite=note_of(suite),
        partial=suite.header.is_selection or len(everything) < len(suite.entries),
    )


def empty_header(header: Header, plan: RunPlan, implementation: Implementation) -> RunHeader:
    """The header of a run of no cases of a suite, when only the suite's header is known."""
    selection = plan.options.selection
    return RunHeader(
        cases=0,
        selected=ids_digest(()),
        suite=suite_note(header),
        implementation=replace(implementation, hardware=None, driver=None),  # the environment has them
        started=plan.started,
        profiles=tuple(sorted(selection.profiles)),
        whole=plan.options.whole,
        partial=header.is_selection,
        strict=plan.options.strict,
        least_accuracy=plan.options.least_accuracy,
        alone=plan.options.alone,
        environment=plan.environment_of(implementation),
        timeout=plan.options.timeout,
        memory=plan.memory,
        outputs=plan.outputs,
        shard=selection.shard,
        program=plan.program,
        claims=None if plan.options.claims is None else plan.options.claims.text,
        requirements=header.requirements,
    )
