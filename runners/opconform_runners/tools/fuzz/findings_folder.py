"""The findings of searches in a folder: a spec for each operation, and a script for each finding."""

import os
import re
import shlex
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import yaml

from opconform.errors import OpconformError, UsageError, counted
from opconform.generation.expansion import families, specs_of
from opconform.generation.options import LIMITS, Options
from opconform.generation.pipeline import generate
from opconform.operations import OPERATIONS
from opconform.specs.requirements import requirements_of
from opconform.suite.case import GRAPH
from opconform.suite.reader import open_suite
from opconform.suite.storage.ownership import replace_named
from opconform.system.text import one_line
from opconform_runners.findings.failures import SEVERITIES, severity_of
from opconform_runners.tools.fuzz.cases.spec_text import group_of, groups_text, spec_text
from opconform_runners.tools.fuzz.finding import FuzzFinding
from opconform_runners.tools.fuzz.search import Search
from opconform_runners.tools.fuzz.trial import GROUP, Trial, trial_of
from opconform_runners.tools.repro.observation import Observation, notes_of
from opconform_runners.tools.repro.script import SCRIPTS, script_of

#: So few cases of an operation without a pass or a failure do not show that a longer search has none either.
_FEW = 16
#: The most characters of a sentence.
_LONGEST = 300


def earlier_trials(folder: Path, seed: int) -> list[Trial]:
    """The trials in the specs of a folder, to which findings can be appended.

    Raises:
        SpecMistakes: A spec there is wrong.
        UsageError: Nothing can be written there, or a spec is of another operation or cannot be extended.
    """
    place = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    if not place.is_dir() or not os.access(place, os.W_OK):
        raise UsageError(f"{place} is not a folder that can be written to. Name another folder with --out.")
    files = _specs_in(folder)
    trials = {}
    for path, spec in zip(files, specs_of(files, seed=seed, limits=LIMITS) if files else (), strict=True):
        if spec.op != path.stem:
            raise UsageError(f"{path} has cases of {spec.op}. Rename it, or name another folder with --out.")
        extended(path, [{"id": "probe"}])
        for family in (family for group in spec.groups for family in families(group, seed=seed)):
            case, *twin = (replace(case, group=GROUP, profile=GROUP) for case in family.cases)
            trials[case.id] = trial_of(case, twin[0]) if twin else Trial(draft=case)
    return [*trials.values()]


def _specs_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.yaml") if path.stem in OPERATIONS or path.stem == GRAPH)


def extended(path: Path, groups: Sequence[Mapping[str, object]]) -> str:
    """The text of a spec, which need not exist, with more groups at its end; what it has is kept as it is.

    Raises:
        UsageError: Its groups are not a list at its end.
    """
    if not path.exists():
        return spec_text(path.stem, groups)
    text = path.read_text(encoding="utf-8").rstrip() + "\n"
    added = groups_text(groups)
    first = re.search(r"^groups:[^\n]*\n(?:[ ]*(?:#[^\n]*)?\n)*([ ]*)- ", text, re.MULTILINE)
    more = text + textwrap.indent(added, first[1] if first else "")
    try:
        is_extended = yaml.safe_load(more)["groups"] == [*yaml.safe_load(text)["groups"], *yaml.safe_load(added)]
    except (yaml.YAMLError, TypeError):
        is_extended = False
    if not is_extended:
        raise UsageError(f"{path} does not end with a list of groups. Move it, or name another folder with --out.")
    return more


def write_findings(findings: Sequence[FuzzFinding], folder: Path) -> None:
    """Append findings to the specs in a folder that do not have them yet."""
    groups: dict[str, list[Mapping[str, object]]] = {}
    for finding in findings:
        result, trial = finding.failure.result, finding.failure.trial
        if not _is_written(finding, folder):
            title = one_line(f"{severity_of(result)}: {result.sentence}", _LONGEST)
            groups.setdefault(trial.draft.op, []).append(group_of(trial, title))
    for op, finds_of_op in groups.items():
        path = _spec(folder, op)
        replace_named(path, extended(path, finds_of_op).encode())


def _spec(folder: Path, op: str) -> Path:
    return folder / f"{op}.yaml"


def _is_written(finding: FuzzFinding, folder: Path) -> bool:
    """Whether a spec in the folder has the group of a finding."""
    draft = finding.failure.trial.draft
    path = _spec(folder, draft.op)
    return path.exists() and f"{GROUP}-{draft.digits}" in path.read_text(encoding="utf-8")


def write_findings_suite(search: Search, folder: Path, backend: str, options: Options) -> None:
    """Write the suite of the specs in a folder and the scripts of findings, also those missing from earlier searches.

    Only some backends have scripts.
    """
    files = _specs_in(folder)
    digits = {x.draft.digits for x in search.earlier}
    digits.update(finding.failure.trial.draft.digits for finding in search.found.values())
    if not files or not digits:
        return
    if search.found or not _has_cases(folder / "suite", digits):
        generate(specs_of(files, seed=options.seed, limits=LIMITS), folder / "suite", options)
    suite = open_suite(folder / "suite")
    name = backend.partition(":")[0]
    entries = {entry.id.rpartition("/")[2]: entry for entry in suite.entries}
    findings = [finding for finding in (*search.found.values(), *search.known.values()) if _is_written(finding, folder)]
    for finding in findings if name in SCRIPTS else ():
        result, draft = finding.failure.result, finding.failure.trial.draft
        implementation = search.batches.implementation
        seen = None if implementation is None else Observation(result=result, implementation=implementation)
        notes = notes_of(suite, entries[draft.digits], SCRIPTS[name].requires, seen)
        path = folder / f"{draft.digits}.py"
        if path.exists():
            continue
        try:
            script = script_of(suite, entries[draft.digits], backend, notes, result.reason)
        except UsageError:  # a script cannot express the case
            continue
        replace_named(path, script.encode())


def _has_cases(suite: Path, digits: set[str]) -> bool:
    """Whether there is a suite with some cases, which are named by their digits."""
    try:
        entries = open_suite(suite).entries
    except OpconformError:
        return False
    return digits <= {entry.id.rpartition("/")[2] for entry in entries}


def sorted_findings(search: Search) -> list[FuzzFinding]:
    """The new findings, the worst first."""
    return sorted(search.found.values(), key=lambda x: SEVERITIES.index(severity_of(x.failure.result)))


def _names(op: str, broken: Sequence[str]) -> str:
    """The names of requirements; interpretations are marked."""
    known = requirements_of(op).by_id
    marks = {"interpretation": " (interpretation)"}
    return ", ".join(f"{requirement}{marks.get(known[requirement].level, '')}" for requirement in broken)


def lines_of(search: Search, folder: Path, backend: str, operations: Sequence[str] = ()) -> Iterator[str]:
    """The new findings in words, and what was tested of some operations."""
    for number, finding in enumerate(sorted_findings(search), 1):
        yield from _lines_of_finding(number, finding, folder)
    for error in search.errors.values():
        yield f"error: {error.op}: {one_line(error.sentence, _LONGEST)}; with {one_line(error.inputs, _LONGEST)}"
    verdicts = ", ".join(f"{count:,} {name}" for name, count in search.counts.most_common()) or "none"
    known = f", besides {counted(len(search.known), 'known one')}" if search.known else ""
    yield f"{counted(search.tests, 'case')} tested: {verdicts}. {counted(len(search.found), 'new finding')}{known}."
    if search.unsettled:
        yield f"{counted(search.unsettled, 'failure')} did not recur when the case was executed again."
    if search.fixed:
        yield f"{counted(len(search.fixed), 'known case')} did not fail this time."
    if search.fails:
        failing = f"{search.counts['fail']} of the {search.decided.total()} that passed or failed"
        yield f"The search ended early, because nearly every case fails: {failing}. Correct the backend first."
    else:
        yield from _lines_of_coverage(search, operations)
    if search.found:
        yield f"Next: opconform run {shlex.quote(str(folder / 'suite'))} {shlex.quote(backend)}"


def _lines_of_coverage(search: Search, operations: Sequence[str]) -> Iterator[str]:
    """The operations without a case that passed or failed: those of which few cases were executed, and the others."""
    undecided = [operation for operation in operations if not search.decided[operation]]
    waiting = [operation for operation in undecided if search.decided and search.executed[operation] < _FEW]
    if waiting:
        yield f"Not reached in this time: {', '.join(waiting)}."
    if missing := [operation for operation in undecided if operation not in waiting]:
        what = ", ".join(missing) if search.decided else "everything"
        yield f"Not tested, because no case passed or failed: {what}."


def _lines_of_finding(number: int, finding: FuzzFinding, folder: Path) -> Iterator[str]:
    result, draft = finding.failure.result, finding.failure.trial.draft
    kind = severity_of(result)
    reason = "" if result.reason == kind else f" ({result.reason})"
    script = f", script {draft.digits}.py" if (folder / f"{draft.digits}.py").exists() else ""
    rest = "" if finding.is_reduced else ", not reduced completely"
    rest = rest if finding.is_confirmed else ", executed only once"
    rest += ", fails only sometimes" if finding.varies else ""
    yield f"{number:>3}. {draft.op} {_names(draft.op, result.broken)}: {kind}{reason}"
    yield f"     {one_line(result.sentence, _LONGEST)}"
    yield f"     {one_line(result.inputs, _LONGEST)}"
    after = f"after {counted(finding.tests, 'case')}, {finding.seconds:.0f} s"
    yield f"     {after}{rest}; group {GROUP}-{draft.digits}{script}"
