"""`opconform harness`."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from opconform.dialects import DIALECTS
from opconform.errors import counted
from opconform.generation.options import Options
from opconform.generation.pipeline import generate
from opconform.specs.loader import load_specs
from opconform.specs.operation_names import tested_operations
from opconform.specs.requirements import cases_of
from opconform.suite.reader import open_suite
from opconform.suite.selection.selection import Selection
from opconform.system.interrupts import run_loop
from opconform.system.resources import DEFAULT_DIALECTS
from opconform.system.temporary import TemporaryFolder
from opconform_runners.cli.shared.help import HelpGroup
from opconform_runners.cli.shared.options.backends import BackendOptions, one_backend_options
from opconform_runners.cli.shared.options.general import json_option
from opconform_runners.cli.shared.output.printer import print_json, print_result
from opconform_runners.cli.shared.output.progress import progress
from opconform_runners.harness.command import Command, Launch
from opconform_runners.harness.connection import Harness, connect
from opconform_runners.harness.protocol import message_schema as messages_schema
from opconform_runners.tools.protocol_check.check import RuleResult, check_protocol

#: The most characters of a message that are shown.
_LONGEST = 320
#: The operations whose cases are tried first: they have some for every rule. Generating the cases of all operations
#: takes a minute.
_FIRST = ("Concat-1", "Split-1", "VariadicSplit-1")
_UNCHECKED = "The harness was not checked, because no simple case was executed: see smoke."
_MARKS = {"holds": "[green]✓[/green]", "broken": "[red]✗[/red]", "not applicable": "[dim]–[/dim]"}  # noqa: RUF001


@click.group("harness", cls=HelpGroup)
def command() -> None:
    """Check a harness, and print the schema of its messages."""


@command.command("check", example="harness check numpy\nharness check --harness ./my-harness")
@click.argument("named", nargs=-1, metavar="[BACKEND]")
@one_backend_options
@json_option("the result for each rule")
def _check(named: tuple[str, ...], backend: BackendOptions, as_json: bool) -> None:
    """Check a harness against the protocol.

    Begins with a smoke test: if no simple case passes, the harness is probably wrong, not the implementation. Every
    message is compared with the schema of messages.

    Exit code: 0 if the harness obeys every applicable rule, 1 if it breaks one or executed no simple case, 3 if it
    cannot start.
    """
    started = replace(backend, backends=(*named, *backend.backends)).command()
    checked = _checked(Launch(command=started, timeout=backend.timeout), quiet=as_json)
    holds = _is_checked(checked) and not _broken(checked)
    document = {"harness": started.name, "holds": holds, "rules": [_document(result) for result in checked]}
    print_result(document, _lines(started.name, checked), as_json=as_json)
    raise click.exceptions.Exit(0 if holds else 1)


@command.command("schema", example="harness schema > messages.schema.json")
def _schema() -> None:
    """Print the JSON Schema of the protocol's messages."""
    print_json(messages_schema())


def _checked(launch: Launch, *, quiet: bool) -> tuple[RuleResult, ...]:
    """The result for each rule; from all operations if no simple case of the first ones can be executed."""
    harness = run_loop(_declared(launch.command))
    if (declared := harness.implementation.operations) and not {*_FIRST} <= {*declared}:
        return _checked_with({*tested_operations()} & {*declared}, launch, harness, quiet=quiet)
    checked = _checked_with(_FIRST, launch, harness, quiet=quiet)
    return checked if _is_checked(checked) else _checked_with((), launch, harness, quiet=quiet)


def _checked_with(ops: Iterable[str], launch: Launch, harness: Harness, *, quiet: bool) -> tuple[RuleResult, ...]:
    """The result for each rule, from the core of some operations, or of all, in the dialects that the harness reads."""
    dialects = tuple(name for name in DIALECTS if name in harness.implementation.dialects)
    options = Options(dialects=dialects or DEFAULT_DIALECTS, selection=Selection(profiles=("core",)))
    with TemporaryFolder() as folder:
        with progress("generate", quiet=quiet) as on_progress:
            generated = generate(
                load_specs([*map(cases_of, sorted(ops))]), Path(folder) / "suite", options, on_progress
            )
        with progress("check", of="rules", quiet=quiet) as on_progress:
            return check_protocol(launch, harness, open_suite(generated.out), on_progress)


async def _declared(command: Command) -> Harness:
    """A harness that has answered `start`, stopped again."""
    harness = await connect(command)
    await harness.process.stop()
    return harness


def _broken(checked: Sequence[RuleResult]) -> list[str]:
    return [result.id for result in checked if result.state == "broken"]


def _is_checked(checked: Sequence[RuleResult]) -> bool:
    """Whether a simple case was executed; otherwise little is known of the harness."""
    return any(result.id == "smoke" and result.state != "not applicable" for result in checked)


def _lines(name: str, checked: Sequence[RuleResult]) -> Iterator[RenderableType]:
    width = max(len(result.id) for result in checked)
    for result in checked:
        row = Table.grid(padding=(0, 1))
        row.add_column(no_wrap=True)
        row.add_column(no_wrap=True, min_width=width)
        row.add_column()
        row.add_row(_MARKS[result.state], result.id, Text(result.sentence))
        yield row
        yield from _remarks(result)
    obeyed, unasked = (sum(result.state == state for result in checked) for state in ("holds", "not applicable"))
    broken = _broken(checked)
    named = f", {counted(len(broken), 'is broken', 'are broken')}: {', '.join(broken)}" if broken else ""
    aside = f"; {counted(unasked, 'is', 'are')} not applicable" if unasked else ""
    unknown = "" if _is_checked(checked) else f" {_UNCHECKED}"
    yield f"{name}: {counted(obeyed, 'rule is obeyed', 'rules are obeyed')}{named}{aside}.{unknown}"


def _remarks(result: RuleResult) -> Iterator[Text]:
    if result.violation is not None:
        for arrow, message in (("→", result.violation.request), ("←", result.violation.reply)):
            if message is not None:
                yield Text(f"    {arrow} {_abridged(message)}")
        yield Text(f"    {result.violation.sentence}", "red")
    if result.not_applicable is not None:
        yield Text(f"    not applicable: {result.not_applicable}", "dim")


def _document(result: RuleResult) -> dict[str, object]:
    document: dict[str, object] = {"id": result.id, "rule": result.sentence, "state": result.state}
    if (violation := result.violation) is not None:
        messages = {"request": violation.request, "reply": violation.reply}
        shown = {name: None if line is None else _abridged(line) for name, line in messages.items()}
        document["violation"] = {**shown, "wrong": violation.sentence}
    return document | ({"why": result.not_applicable} if result.not_applicable else {})


def _abridged(line: bytes) -> str:
    """A line to print: the beginning and the end of a long one."""
    text, half = line.decode(errors="replace").rstrip("\n"), _LONGEST // 2
    return text if len(text) <= _LONGEST else f"{text[:half]} … {text[-half:]}"
