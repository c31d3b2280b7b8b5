"""The finds of searches in a folder: a spec for each operation, and a script for each find."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from opconform.errors import UsageError
from opconform.files import replace_named
from opconform.generation.expansion import expand, specs_of
from opconform.generation.options import LIMITS, Options
from opconform.generation.pipeline import generate
from opconform.operations import OPERATIONS
from opconform.suite.reader import open_suite
from opconform_runners.reports.failures import SEVERITIES, severity_of
from opconform_runners.reports.text import counted, one_line
from opconform_runners.tools.fuzz.search import Find, Search
from opconform_runners.tools.fuzz.spec_text import group_of, spec_text
from opconform_runners.tools.fuzz.trial import GROUP, Trial, trial_of
from opconform_runners.tools.repro.observation import Observation, notes_of
from opconform_runners.tools.repro.script import SCRIPTS, script_of

#: The most characters of a sentence.
_LONGEST = 300


def earlier_trials(folder: Path, seed: int) -> list[Trial]:
    """The trials in the specs that an earlier search wrote to a folder.

    Raises:
        SpecMistakes: A spec there is wrong.
    """
    files = sorted(each for each in folder.glob("*.yaml") if each.stem in OPERATIONS)
    trials = []
    for group in (
        group for spec in (specs_of(files, seed=seed, limits=LIMITS) if files else ()) for group in spec.groups
    ):
        case, *twin = (replace(each, group=GROUP, profile=GROUP) for each in expand(group, seed=seed))
        trials.append(trial_of(case, twin[0]) if twin else Trial(draft=case))
    return trials


def write_finds(search: Search, folder: Path, backend: str, options: Options) -> None:
    """Write the specs with the new and the known finds, and the script of each new one if the backend has scripts."""
    if not search.found:
        return
    folder.mkdir(parents=True, exist_ok=True)
    specs = []
    for op, groups in _groups(search).items():
        specs.append(folder / f"{op}.yaml")
        replace_named(specs[-1], spec_text(op, groups).encode())
    name = backend.partition(":")[0]
    if name not in SCRIPTS:
        return
    loaded = specs_of(specs, seed=options.seed, limits=LIMITS)
    suite = open_suite(generate(loaded, folder / "suite", options).out)
    entries = {each.id.rpartition("/")[2]: each for each in suite.entries}
    for each in search.found.values():
        result, digits = each.failure.result, each.failure.trial.draft.digits
        notes = notes_of(suite, entries[digits], name, Observation(result=result, backend=search.batches.title))
        try:
            script = script_of(suite, entries[digits], backend, notes, result.reason)
        except UsageError:  # a script cannot express the case
            continue
        replace_named(folder / f"{digits}.py", script.encode())


def _groups(search: Search) -> Mapping[str, list[Mapping[str, object]]]:
    """The groups of all finds, by operation."""
    groups: dict[str, list[Mapping[str, object]]] = {}
    for each in search.fixed:
        groups.setdefault(each.draft.op, []).append(group_of(each, "no failure when it was last tested"))
    for find in (*search.known.values(), *sorted_finds(search)):
        result, trial = find.failure.result, find.failure.trial
        title = one_line(f"{severity_of(result)}: {result.sentence}", _LONGEST)
        groups.setdefault(trial.draft.op, []).append(group_of(trial, title))
    return groups


def sorted_finds(search: Search) -> list[Find]:
    """The new finds, the worst first."""
    return sorted(search.found.values(), key=lambda each: SEVERITIES.index(severity_of(each.failure.result)))


def lines_of(search: Search, folder: Path) -> Iterator[str]:
    """The new finds in words, and what was tested."""
    for number, each in enumerate(sorted_finds(search), 1):
        result, draft = each.failure.result, each.failure.trial.draft
        kind = severity_of(result)
        reason = "" if result.reason == kind else f" ({result.reason})"
        script = f", script {draft.digits}.py" if (folder / f"{draft.digits}.py").exists() else ""
        yield f"{number:>3}. {draft.op} {', '.join(result.broken)}: {kind}{reason}"
        yield f"     {one_line(result.sentence, _LONGEST)}"
        yield f"     {one_line(result.inputs, _LONGEST)}"
        yield f"     after {each.tests:,} cases, {each.seconds:.0f} s; group {GROUP}-{draft.digits}{script}"
    verdicts = ", ".join(f"{count:,} {name}" for name, count in search.counts.most_common())
    known = f", besides {counted(len(search.known), 'known one')}" if search.known else ""
    yield f"{counted(search.tests, 'case')} tested: {verdicts}. {counted(len(search.found), 'new fault')}{known}."
    if search.fixed:
        yield f"{counted(len(search.fixed), 'known case')} did not fail this time."
    if search.found:
        yield f"Next: opconform generate {shlex.quote(str(folder))} --profile {GROUP} --out suite"
