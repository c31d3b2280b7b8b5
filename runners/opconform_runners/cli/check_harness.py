"""`opconform check-harness`."""

import asyncio
import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from rich.markup import escape
from rich.table import Table

from opconform.dialects import DIALECTS
from opconform.generation.pipeline import generate
from opconform.specs.loader import load_specs
from opconform.suite.reader import open_suite
from opconform.suite.selection import Selection
from opconform_runners.cli.shared.console import console_of
from opconform_runners.cli.shared.options import BackendOptions, GenerationOptions, backend_options, json_option
from opconform_runners.cli.shared.progress import progress
from opconform_runners.cli.shared.terminal import print_document
from opconform_runners.harness.command import Command, Launch
from opconform_runners.tools.protocol_check.check import Broken, Checked, Held, Unasked, check
from opconform_runners.tools.protocol_check.conversation import greeting_of, shortened
from opconform_runners.tools.protocol_check.probe import Breach

#: The profile whose cases are sent.
_PROFILE = "core"
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
    checked = _checked(started, backend.timeout, quiet=as_json)
    if as_json:
        print_document(json.dumps(_document(started, checked), ensure_ascii=False))
    else:
        _print(started, checked)
    raise click.exceptions.Exit(1 if any(isinstance(each.finding, Broken) for each in checked) else 0)


def _checked(started: Command, timeout: float, *, quiet: bool) -> tuple[Checked, ...]:
    """The finding for each rule, from cases of the profile `core` in the dialects that the harness reads."""
    greeting = asyncio.run(greeting_of(started, timeout))
    said = greeting.answer.document.get("dialects")
    dialects = tuple(each for each in DIALECTS if isinstance(said, list) and each in said)
    options = GenerationOptions(dialects=dialects, jobs=1).options(Selection(profiles=(_PROFILE,)))
    with tempfile.TemporaryDirectory(prefix="opconform-", ignore_cleanup_errors=True) as folder:
        with progress("generate", quiet=quiet) as on_progress:
            generated = generate(load_specs([]), Path(folder) / "suite", options, on_progress)
        with progress("check", of="rules", quiet=quiet) as on_progress:
            launch = Launch(command=started, timeout=timeout)
            return check(launch, greeting, open_suite(generated.out), tuple(DIALECTS), on_progress)


def _print(started: Command, checked: Sequence[Checked]) -> None:
    console = console_of()
    width = max(len(each.id) for each in checked)
    for each in checked:
        row = Table.grid(padding=(0, 1))
        row.add_column(no_wrap=True)
        row.add_column(no_wrap=True, min_width=width)
        row.add_column()
        row.add_row(_MARKS[type(each.finding)], each.id, escape(each.sentence))
        console.print(row)
        for line in _lines(each):
            console.print(f"    {line}", soft_wrap=True)
    console.print(escape(_summary(started, checked)), soft_wrap=True)


def _lines(each: Checked) -> Iterator[str]:
    """The lines printed below a rule."""
    match each.finding:
        case Broken(breaches=breaches):
            for breach in breaches[:_MOST]:
                yield from _breach_lines(breach)
            if len(breaches) > _MOST:
                yield f"[red]and {len(breaches) - _MOST} more[/red]"
        case Unasked(why=why):
            yield f"[dim]not applicable: {escape(why)}[/dim]"
    yield from (f"[dim]note: {escape(note)}[/dim]" for note in each.notes)


def _breach_lines(breach: Breach) -> Iterator[str]:
    if breach.request is not None:
        yield f"→ {escape(shortened(breach.request))}"
    if breach.reply is not None:
        yield f"← {escape(shortened(breach.reply))}"
    yield f"[red]{escape(breach.sentence)}[/red]"


def _summary(started: Command, checked: Sequence[Checked]) -> str:
    held = sum(isinstance(each.finding, Held) for each in checked)
    broken = [each.id for each in checked if isinstance(each.finding, Broken)]
    unasked = len(checked) - held - len(broken)
    named = f", {len(broken)} {'is' if len(broken) == 1 else 'are'} broken: {', '.join(broken)}" if broken else ""
    aside = f"; {unasked} {'is' if unasked == 1 else 'are'} not applicable" if unasked else ""
    return f"{started.name}: {held} {'rule holds' if held == 1 else 'rules hold'}{named}{aside}."


def _document(started: Command, checked: Sequence[Checked]) -> dict[str, object]:
    return {
        "harness": started.name,
        "holds": not any(isinstance(each.finding, Broken) for each in checked),
        "rules": [_rule_document(each) for each in checked],
    }


def _rule_document(each: Checked) -> dict[str, object]:
    document: dict[str, object] = {"id": each.id, "rule": each.sentence, "state": _STATES[type(each.finding)]}
    match each.finding:
        case Broken(breaches=breaches):
            document["breaches"] = [
                {"request": _text(one.request), "reply": _text(one.reply), "wrong": one.sentence} for one in breaches
            ]
        case Unasked(why=why):
            document["why"] = why
    return document | ({"notes": list(each.notes)} if each.notes else {})


def _text(line: bytes | None) -> str | None:
    return None if line is None else shortened(line)
