"""`opconform repro`."""

import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

import click

from opconform.errors import HarnessError, UsageError
from opconform.files import replace_named
from opconform.generation.options import LIMITS, Options
from opconform.generation.pipeline import generate
from opconform.specs.loader import Spec, load_specs
from opconform.suite.case import Reject
from opconform.suite.manifest import Entry, inputs_name
from opconform.suite.reader import Suite, open_suite
from opconform.suite.selection import Selection
from opconform_runners.backends.backend import full_name
from opconform_runners.cli.shared.options import PATH, BackendOptions, python_option, timeout_option
from opconform_runners.cli.shared.terminal import print_document
from opconform_runners.execution.session import Session
from opconform_runners.harness.command import Command, Launch
from opconform_runners.tools.repro.script import SCRIPTS, Reproduced, dialects_needed, script_of
from opconform_runners.verdicts.description import description_of
from opconform_runners.verdicts.judge import FAILS_UNDECLARED
from opconform_runners.verdicts.results import Result

#: Cases of the profile `large` are found as well; a case too large for a script is refused later.
_LIMITS = replace(LIMITS, elements=1 << 31)
#: The line that marks a script written by opconform.
_OURS = re.compile(rb"^# The case \S+ of opconform\.\r?$", re.MULTILINE)
_SHOWN = 5
#: The advice for a script that shows a memory fault.
_PRIVATE = "This is probably a memory fault: report it to the maker privately before you publish this script"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Seen:
    """The result of a case on the installed backend."""

    result: Result
    version: str


@click.command("repro")
@click.argument("case")
@click.option(
    "--backend",
    required=True,
    metavar="NAME[:DEVICE]",
    help=f"The backend that the script calls: {', '.join(SCRIPTS)}.",
)
@click.option("--suite", type=PATH, help="The suite that has the case; the shipped cases by default.")
@python_option
@timeout_option
@click.option("--out", type=PATH, help="The file to write; standard output by default.")
def command(case: str, backend: str, suite: Path | None, python: Path | None, timeout: float, out: Path | None) -> None:
    """Write a script that reproduces CASE with nothing but the backend's own interface, for its issue tracker.

    The script prints the expected and the actual outputs. It exits with 1 if the bug is present and with 0 if it is
    fixed. CASE is an id, its digits, or a pattern that matches one case. The case is executed first, and the script
    says what was observed.
    """
    name, _, device = backend.partition(":")
    dialects = dialects_needed(backend)
    if out is not None:
        _check_place(out)
    started = BackendOptions(backend=backend, python=python, timeout=timeout).command()
    with tempfile.TemporaryDirectory(prefix="opconform-") as folder:
        opened = open_suite(suite) if suite is not None else _generated(case, dialects, Path(folder) / "suite")
        entry = _found(opened, case)
        seen = _seen(opened, entry, started, timeout)
        script = script_of(
            name,
            Reproduced(
                suite=opened,
                entry=entry,
                device=device,
                notes=tuple(_notes(opened, entry, name, seen)),
                reason=seen.result.reason if isinstance(seen, _Seen) else None,
            ),
        )
    if out is None:
        print_document(script, nl=False)
        return
    replace_named(out, script.encode())
    click.echo(f"{out}: {len(script.splitlines())} lines; run it with python {out}")
    if isinstance(seen, _Seen) and _is_memory_fault(seen.result):
        click.echo(f"note: {_PRIVATE}; see SECURITY.md of opconform.", err=True)


def _check_place(out: Path) -> None:
    """Refuse to overwrite a file that opconform did not write."""
    try:
        is_foreign = out.is_file() and not _OURS.search(out.read_bytes())
    except OSError as fault:
        raise UsageError(f"{out} cannot be read: {fault.strerror}. Name another --out.") from fault
    if is_foreign:
        raise UsageError(f"{out} was not written by opconform, and nothing is overwritten. Name another --out.")


def _pattern(case: str) -> str:
    return case if "/" in case else f"*/{case}*"


def _generated(case: str, dialects: Sequence[str], out: Path) -> Suite:
    """A suite of the case and its twin."""
    specs = [_narrowed(each, case) for each in load_specs([])]
    profiles = tuple(sorted({group.settings.profile for each in specs for group in each.groups}))
    if not profiles:
        raise UsageError(f"No case matches {case!r}. `opconform list` lists them.")
    selection = Selection(profiles=profiles, patterns=(_pattern(case),))
    options = Options(dialects=tuple(dialects), selection=selection, limits=_LIMITS)
    return open_suite(generate(specs, out, options).out)


def _narrowed(spec: Spec, case: str) -> Spec:
    """A spec without the groups whose cases cannot match, to save their expansion."""
    beginning = case.rpartition("/")[0]
    return replace(
        spec, groups=tuple(each for each in spec.groups if fnmatchcase(f"{spec.op}/{each.id}", beginning or "*"))
    )


def _found(suite: Suite, case: str) -> Entry:
    found = [each for each in suite.entries if fnmatchcase(each.id, _pattern(case))]
    if not found:
        raise UsageError(f"No case of {suite.store.root} matches {case!r}. `opconform list` lists them.")
    if len(found) > 1:
        some = ", ".join(each.id for each in found[:_SHOWN])
        raise UsageError(
            f"{len(found):,} cases match {case!r}: {some}{', …' if len(found) > _SHOWN else ''}. Name one."
        )
    return found[0]


def _seen(suite: Suite, entry: Entry, command: Command, timeout: float) -> _Seen | str:
    """The result of the case on the installed backend, or the reason why there is none."""
    session = Session(suite, Launch(command=command, timeout=timeout), once=True)
    try:
        result = session.result_of(entry)
        who = session.implementation
    except HarnessError as fault:
        click.echo(f"warning: {fault} The script was not checked against the backend.", err=True)
        return str(fault)
    finally:
        session.close()
    if isinstance(suite.case(entry).expect, Reject) and full_name(entry.op, result.requirements[0]) in who.mapped:
        raise UsageError(
            f"{entry.id} tests {result.requirements[0]}, which the harness implements for {who.name}. "
            f"A script cannot show it."
        )
    if result.verdict != "fail" and FAILS_UNDECLARED not in result.findings:
        click.echo(f"warning: {who.name} {who.version} does not fail {entry.id} here: {_said(result)}", err=True)
    return _Seen(result=result, version=who.title)


def _is_memory_fault(result: Result) -> bool:
    """Whether a failure is probably an access out of bounds: a crash, or outputs larger than the inputs."""
    return result.reason == "crash" or "memory past" in result.sentence


def _said(result: Result) -> str:
    """The result of the case in words."""
    name = result.reason or result.verdict
    return f"{name}: {result.sentence.rstrip('.')}" if result.sentence else name


def _notes(suite: Suite, entry: Entry, name: str, seen: _Seen | str) -> Iterator[str]:
    case = suite.case(entry)
    yield f"{entry.op}: {case.title}."
    feeds = [suite.arrays(entry, inputs_name(feed)) for feed in range(case.feeds)]
    yield f"Given: {description_of(case, feeds)}."
    broken = seen.result.broken if isinstance(seen, _Seen) else ()
    for each in broken or entry.requirements:
        note = suite.header.requirements.get(entry.op, {}).get(each)
        yield f"Requirement {each}" + (f" ({note.level}): {note.text}" if note else "")
    if isinstance(seen, _Seen):
        yield f"Seen with {seen.version}: {_said(seen.result)}."
        if _is_memory_fault(seen.result):
            yield f"{_PRIVATE}."
    yield f"Needs: pip install {' '.join(SCRIPTS[name].needs)}"
