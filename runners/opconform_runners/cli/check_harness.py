"""`opconform check-harness`."""

import asyncio
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from opconform.dialects import DEFAULT, DIALECTS
from opconform.generation.options import Options
from opconform.generation.pipeline import generate
from opconform.specs.loader import load_specs
from opconform.suite.reader import open_suite
from opconform.suite.selection import Selection
from opconform_runners.cli.shared.options import BackendOptions, backend_options, json_option
from opconform_runners.cli.shared.output import print_result
from opconform_runners.cli.shared.progress import progress
from opconform_runners.harness.command import Command, Launch
from opconform_runners.reports.text import counted
from opconform_runners.tools.protocol_check.check import Broken, Checked, Held, Unasked, check
from opconform_runners.tools.protocol_check.conversation import greeting_of, shortened

#: The number of breaches shown per rule.
_MOST = 3

_MARKS = {Held: "[green]✓[/green]", Broken: "[red]✗[/red]", Unasked: "[dim]–[/dim]"}  # noqa: RUF001 - a dash is meant
_STATES = {Held: "holds", Broken: "broken", Unasked: "not applicable"}


@click.command("check-harness")
@backend_options
@json_option("the state of each rule")
def command(backend: BackendOptions, as_json: bool) -> None:
    """Check a harness against every rule of the protocol, and show the messages that break a rule.

    Exit code: 0 if every applicable rule holds, 1 if one is broken, 3 if the harness cannot be started.
    """
    started = backend.command()
    checked = _checked(Launch(command=started, timeout=backend.timeout), quiet=as_json)
    broken = [each.id for each in checked if isinstance(each.finding, Broken)]
    document = {"harness": started.name, "holds": not broken, "rules": [_document(each) for each in checked]}
    print_result(document, _lines(started, checked, broken), as_json=as_json)
    raise click.exceptions.Exit(1 if broken else 0)


def _checked(launch: Launch, *, quiet: bool) -> tuple[Checked, ...]:
    """The finding for each rule, from cases of the profile `core` in the dialects that the harness reads."""
    greeting = asyncio.run(greeting_of(launch.command, launch.timeout))
    said = greeting.answer.document.get("dialects")
    dialects = tuple(each for each in DIALECTS if isinstance(said, list) and each in said)
    options = Options(dialects=dialects or DEFAULT, selection=Selection(profiles=("core",)))
    with tempfile.TemporaryDirectory(prefix="opconform-", ignore_cleanup_errors=True) as folder:
        with progress("generate", quiet=quiet) as on_progress:
            generated = generate(load_specs([]), Path(folder) / "suite", options, on_progress)
        with progress("check", of="rules", quiet=quiet) as on_progress:
            return check(launch, greeting, open_suite(generated.out), tuple(DIALECTS), on_progress)


def _lines(started: Command, checked: Sequence[Checked], broken: Sequence[str]) -> Iterator[RenderableType]:
    width = max(len(each.id) for each in checked)
    for each in checked:
        row = Table.grid(padding=(0, 1))
        row.add_column(no_wrap=True)
        row.add_column(no_wrap=True, min_width=width)
        row.add_column()
        row.add_row(_MARKS[type(each.finding)], each.id, Text(each.sentence))
        yield row
        for text, style in _remarks(each):
            yield Text(f"    {text}", style)
    held = sum(isinstance(each.finding, Held) for each in checked)
    unasked = len(checked) - held - len(broken)
    named = f", {len(broken)} {'is' if len(broken) == 1 else 'are'} broken: {', '.join(broken)}" if broken else ""
    aside = f"; {unasked} {'is' if unasked == 1 else 'are'} not applicable" if unasked else ""
    yield f"{started.name}: {counted(held, 'rule holds', 'rules hold')}{named}{aside}."


def _remarks(each: Checked) -> Iterator[tuple[str, str]]:
    """The lines below a rule, with their styles."""
    match each.finding:
        case Broken(breaches=breaches):
            for breach in breaches[:_MOST]:
                for arrow, message in (("→", breach.request), ("←", breach.reply)):
                    if message is not None:
                        yield f"{arrow} {shortened(message)}", ""
                yield breach.sentence, "red"
            if len(breaches) > _MOST:
                yield f"and {len(breaches) - _MOST} more", "red"
        case Unasked(why=why):
            yield f"not applicable: {why}", "dim"
    yield from ((f"note: {note}", "dim") for note in each.notes)


def _document(each: Checked) -> dict[str, object]:
    document: dict[str, object] = {"id": each.id, "rule": each.sentence, "state": _STATES[type(each.finding)]}
    match each.finding:
        case Broken(breaches=breaches):
            document["breaches"] = [
                {"request": _shown(one.request), "reply": _shown(one.reply), "wrong": one.sentence} for one in breaches
            ]
        case Unasked(why=why):
            document["why"] = why
    return document | ({"notes": list(each.notes)} if each.notes else {})


def _shown(line: bytes | None) -> str | None:
    return None if line is None else shortened(line)
