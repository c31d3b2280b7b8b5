"""`opconform harness`."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import click
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from opconform.dialects import DEFAULT, DIALECTS
from opconform.generation.options import Options
from opconform.generation.pipeline import generate
from opconform.interrupts import run_loop
from opconform.specs.loader import load_specs
from opconform.suite.reader import open_suite
from opconform.suite.selection import Selection
from opconform.temporary import TemporaryFolder
from opconform_runners.cli.shared.backend_options import BackendOptions, one_backend_options
from opconform_runners.cli.shared.help import Group
from opconform_runners.cli.shared.options import json_option
from opconform_runners.cli.shared.output import print_json, print_result
from opconform_runners.cli.shared.progress import progress
from opconform_runners.harness.command import Launch
from opconform_runners.harness.protocol import schema as messages_schema
from opconform_runners.reports.text import counted
from opconform_runners.tools.protocol_check.conversation import abridged, greeting_of
from opconform_runners.tools.protocol_check.rules import Checked, check, is_checked

#: The number of breaches shown per rule.
_MOST = 3
_UNCHECKED = "The harness was not checked, because no simple case was executed: see run.plain."
_MARKS = {"holds": "[green]✓[/green]", "broken": "[red]✗[/red]", "not applicable": "[dim]–[/dim]"}  # noqa: RUF001


@click.group("harness", cls=Group)
def command() -> None:
    """Check a harness, and print the schema of its messages."""


@command.command("check", example="harness check numpy\nharness check --harness ./my-harness")
@click.argument("named", nargs=-1, metavar="[BACKEND]")
@one_backend_options
@json_option("the result for each rule")
def _check(named: tuple[str, ...], backend: BackendOptions, as_json: bool) -> None:
    """Check a harness against the protocol.

    Shows the messages that break a rule, and the rules that are not applicable.

    Exit code: 0 if the harness obeys every applicable rule, 1 if it breaks one or executed no simple case, 3 if it
    cannot start.
    """
    started = replace(backend, backends=(*named, *backend.backends)).command()
    checked = _checked(Launch(command=started, timeout=backend.timeout), quiet=as_json)
    broken = [each.id for each in checked if each.breaches]
    holds = not broken and is_checked(checked)
    document = {"harness": started.name, "holds": holds, "rules": [_document(each) for each in checked]}
    print_result(document, _lines(started.name, checked, broken), as_json=as_json)
    raise click.exceptions.Exit(0 if holds else 1)


@command.command("schema", example="harness schema > messages.schema.json")
def _schema() -> None:
    """Print the JSON Schema of the protocol's messages."""
    print_json(messages_schema())


def _checked(launch: Launch, *, quiet: bool) -> tuple[Checked, ...]:
    """The result for each rule, from cases of the profile `core` in the dialects that the harness reads."""
    greeting = run_loop(greeting_of(launch))
    said = greeting.document.get("dialects")
    dialects = tuple(each for each in DIALECTS if isinstance(said, list) and each in said)
    options = Options(dialects=dialects or DEFAULT, selection=Selection(profiles=("core",)))
    with TemporaryFolder() as folder:
        with progress("generate", quiet=quiet) as on_progress:
            generated = generate(load_specs([]), Path(folder) / "suite", options, on_progress)
        with progress("check", of="rules", quiet=quiet) as on_progress:
            return check(launch, greeting, open_suite(generated.out), tuple(DIALECTS), on_progress)


def _lines(name: str, checked: Sequence[Checked], broken: Sequence[str]) -> Iterator[RenderableType]:
    width = max(len(each.id) for each in checked)
    for each in checked:
        row = Table.grid(padding=(0, 1))
        row.add_column(no_wrap=True)
        row.add_column(no_wrap=True, min_width=width)
        row.add_column()
        row.add_row(_MARKS[each.state], each.id, Text(each.sentence))
        yield row
        yield from _remarks(each)
    held, unasked = (sum(each.state == state for each in checked) for state in ("holds", "not applicable"))
    named = f", {counted(len(broken), 'is broken', 'are broken')}: {', '.join(broken)}" if broken else ""
    aside = f"; {counted(unasked, 'is', 'are')} not applicable" if unasked else ""
    unknown = "" if is_checked(checked) else f" {_UNCHECKED}"
    yield f"{name}: {counted(held, 'rule is obeyed', 'rules are obeyed')}{named}{aside}.{unknown}"


def _remarks(each: Checked) -> Iterator[Text]:
    for sentence, exchange in islice(each.breaches.items(), _MOST):
        for arrow, message in (("→", exchange.request), ("←", exchange.reply)):
            if message is not None:
                yield Text(f"    {arrow} {abridged(message)}")
        yield Text(f"    {sentence}", "red")
    if len(each.breaches) > _MOST:
        yield Text(f"    and {len(each.breaches) - _MOST} more", "red")
    if each.not_applicable is not None:
        yield Text(f"    not applicable: {each.not_applicable}", "dim")
    yield from (Text(f"    note: {note}", "dim") for note in each.notes)


def _document(each: Checked) -> dict[str, object]:
    document: dict[str, object] = {"id": each.id, "rule": each.sentence, "state": each.state}
    if each.breaches:
        document["breaches"] = [
            {"request": _shown(exchange.request), "reply": _shown(exchange.reply), "wrong": sentence}
            for sentence, exchange in each.breaches.items()
        ]
    if each.not_applicable is not None:
        document["why"] = each.not_applicable
    return document | ({"notes": list(each.notes)} if each.notes else {})


def _shown(line: bytes | None) -> str | None:
    return None if line is None else abridged(line)
