"""Results on standard output: one JSON document for programs, or text and tables for people."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import click

from opconform.errors import counted
from opconform_runners.cli.shared.output.streams import print_document

if TYPE_CHECKING:
    from rich.console import RenderableType

#: The most reasons that are printed.
_REASONS = 8


def reason_lines(reasons: Mapping[str, int], where: str) -> Iterator[str]:
    """How many cases have each reason, the most frequent first; `where` names what lists the others."""
    yield from (f"  {counted(count, 'case')}: {reason}" for reason, count in [*reasons.items()][:_REASONS])
    others = [*reasons.values()][_REASONS:]
    if others:
        yield f"  {counted(sum(others), 'case')}: {counted(len(others), 'other reason')}, which {where} list"


def print_result(document: object, lines: "Iterable[RenderableType]", *, as_json: bool, width: int = 120) -> None:
    """Print a result as JSON, or as plain lines, styled lines (`Text`) and tables; `width` as for `console_of`."""
    if as_json:
        print_json(document)
        return
    for line in lines:
        if isinstance(line, str):
            click.echo(line)
        else:
            from opconform_runners.cli.shared.output.console import print_styled  # rich takes long to import

            print_styled(line, width)


def print_lines(lines: Iterable[str], *, err: bool = False) -> None:
    """Print plain lines on standard output or standard error."""
    for line in lines:
        click.echo(line, err=err)


def print_json(document: object) -> None:
    """Print a JSON document. Bytes of a file name that are not UTF-8 are escaped."""
    text = json.dumps(document, indent=1, ensure_ascii=False)
    print_document(text.encode("utf-8", "backslashreplace").decode())
