"""Commands whose help begins with an example, and groups that suggest a command for a mistyped one."""

from collections.abc import Iterable
from typing import Any

import click

from opconform.errors import nearest

#: The options that few users need, which help lists last.
_RARE = frozenset(
    {"seed", "dialects", "max_cases", "max_elements", "max_bytes", "memory", "timeout", "pythons", "python"}
)


class Command(click.Command):
    """A command whose help begins with an example and ends with the options that few users need."""

    def __init__(self, *args: Any, example: str, **settings: Any) -> None:
        """Make a command; `example` is its everyday use."""
        super().__init__(*args, **settings)
        self._example = example

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the usage and the example."""
        super().format_usage(ctx, formatter)
        formatter.write_usage("opconform", self._example, prefix="Example: ")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in two sections."""
        records = [
            (each.name in _RARE, each.get_help_record(ctx))
            for each in self.get_params(ctx)
            if isinstance(each, click.Option)
        ]
        for title, is_rare in (("Options", False), ("Rarely needed", True)):
            if rows := [record for rare, record in records if record is not None and rare is is_rare]:
                with formatter.section(title):
                    formatter.write_dl(rows)


class Group(click.Group):
    """A group of commands; a mistyped one is an error that names the nearest."""

    command_class = Command

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The commands in the order of their definition."""
        return [*self.commands]

    def known(self, ctx: click.Context) -> Iterable[str]:
        """The commands that an error may suggest."""
        return self.list_commands(ctx)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command, or a usage error."""
        if not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            known = {each: each.split() for each in self.known(ctx)}
            guesses = {"-".join(reversed(words)): each for each, words in known.items()}  # check-harness
            names = {words[-1]: each for each, words in known.items()} | guesses | {each: each for each in known}
            ctx.fail(f"There is no command {args[0]!r}. {nearest(args[0], names, names)}".rstrip())
        return super().resolve_command(ctx, args)
