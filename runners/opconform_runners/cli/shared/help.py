"""Commands whose help begins with examples, and groups that suggest a command for a mistyped one."""

import functools
import inspect
from collections.abc import Iterable
from typing import Any

import click

from opconform.errors import near_word

#: The settings of every command, since click makes the option once, for the first context of a command.
HELP_OPTION = {"help_option_names": ["-h", "--help"]}


#: The key, in a context's `meta`, of the words after the name of the command.
WORDS = "opconform.words"


class RareOption(click.Option):
    """An option that few users need, which help lists last."""


rare_option = functools.partial(click.option, cls=RareOption)


class Command(click.Command):
    """A command whose help fits its everyday use on the first screen; the details and `RareOption`s follow."""

    def __init__(self, name: str, *, help: str | None, example: str, **settings: Any) -> None:  # noqa: A002 - as click has it
        """Make a command; `example` has its everyday uses, one per line."""
        summary, _, details = inspect.cleandoc(help or "").partition("\n\n")
        super().__init__(name, help=summary, context_settings=HELP_OPTION, **settings)
        self._example, self._details = example, details

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the words of the command line, so that a message can repeat them."""
        ctx.meta[WORDS] = [*args]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, with what it reads and writes at URLs."""
        from opconform_runners.cli.shared.stores import transfers  # it takes long to import, and help does not need it

        with transfers(ctx):
            return super().invoke(ctx)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the usage and the examples."""
        super().format_usage(ctx, formatter)
        for number, line in enumerate(self._example.splitlines()):
            formatter.write_usage("opconform", line, prefix="         " if number else "Example: ")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the everyday options, the details, and the other options."""
        options = [option for option in self.get_params(ctx) if isinstance(option, click.Option)]
        rare = [option for option in options if isinstance(option, RareOption)]
        self._write(ctx, formatter, "Options", [option for option in options if option not in rare])
        if self._details:
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(self._details)
        self._write(ctx, formatter, "Rarely needed", rare)

    @staticmethod
    def _write(ctx: click.Context, formatter: click.HelpFormatter, title: str, options: Iterable[click.Option]) -> None:
        if rows := [record for option in options if (record := option.get_help_record(ctx)) is not None]:
            with formatter.section(title):
                formatter.write_dl(rows)


class Group(click.Group):
    """A group of commands; the error for a mistyped one names the nearest."""

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
            known = {x: x.split() for x in self.known(ctx)}
            guesses = {"-".join(reversed(words)): key for key, words in known.items()}  # check-harness
            names = {words[-1]: key for key, words in known.items()} | guesses | {x: x for x in known}
            near = near_word(args[0], names)
            ctx.fail(f"Unknown command {args[0]!r}." + (f" Did you mean {names[near]!r}?" if near else ""))
        return super().resolve_command(ctx, args)
