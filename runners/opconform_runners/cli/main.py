"""The command line and its commands, each imported only when it is used, so that `--help` is quick."""

import contextlib
import importlib
import sys
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

import click

from opconform import __version__
from opconform.errors import DiskError, OpconformError, OutputError, near_word
from opconform.system.interrupts import as_interrupts, defer_interrupts
from opconform_runners.cli.shared.help import HELP_OPTION, HelpGroup
from opconform_runners.cli.shared.output.streams import guarded_streams, harmless_streams

#: The commands and their summaries, in the sections of the help; each is in the module of its name, with `_` for `-`.
SECTIONS: Mapping[str, Mapping[str, str]] = {
    "Common commands": {
        "certify": "Generate a suite, run backends on it, report verdicts",
        "run": "Run backends on a suite and judge their outputs",
        "merge": "Merge the results of shards",
        "report": "Write HTML, JUnit XML, SARIF, Markdown or a badge",
        "list": "List the cases of specs or of a suite",
        "show": "Display a case: inputs, outputs, expectation",
        "support": "Say what a backend supports, as rules and as a map",
        "diff": "Show what changed between two runs",
        "history": "Run the releases of a product, and date each failure",
        "from-model": "Write specs of the operations that a model uses",
        "fuzz": "Search for failures beyond the shipped cases",
        "repro": "Write a standalone script that reproduces a failure",
    },
    "Suites, backends and certificates": {
        "generate": "Write a suite",
        "verify": "Find what changed in a suite",
        "export": "Write ONNX, gtest or numpy",
        "adequacy": "Measure how well cases cover",
        "backends": "List installed backends",
        "new": "operation, backend, harness",
        "harness": "Test it: check, schema",
        "certificate": "keygen, sign, verify, judge",
        "schema": "Print the schema of specs",
    },
}
_FIRST = tuple(name for section in SECTIONS.values() for name in section)
_GROUPS: Mapping[str, Sequence[str]] = {
    "new": ("operation", "backend", "harness"),
    "harness": ("check", "schema"),
    "certificate": ("keygen", "sign", "verify", "judge"),
}
#: All commands, with the commands of the groups.
COMMANDS = tuple(f"{name} {x}".rstrip() for name in _FIRST for x in _GROUPS.get(name, ("",)))
#: The width of the first of two columns.
_COLUMN = 39
#: What an interrupted command leaves behind.
_RESUMED = "Completed results are kept; run the same command to continue."
_KEPT = {
    "export": "No part of the export is written, and an earlier one is unchanged.",
    "fuzz": "The failures until then are written, not reduced. The same command begins a new search.",
    "from-model": "Specs that were written are kept. The same command writes all of them.",
    "generate": "No part of the suite is written, and an earlier one is unchanged.",
}


class _Lazy(HelpGroup):
    """A group that imports a command when it is used, and lists commands by their summaries."""

    def known(self, ctx: click.Context) -> Sequence[str]:  # noqa: ARG002 - click's signature
        return COMMANDS

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return [*_FIRST]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The words of a command; `help COMMAND` is `COMMAND --help`."""
        return super().parse_args(ctx, [*args[1:], "--help"] if args[:1] == ["help"] else args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        with defer_interrupts():  # an extension module interrupted during its import raises ImportError
            module = importlib.import_module(f"opconform_runners.cli.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        width = max(map(len, _FIRST))
        (common, commands), (others, rest) = SECTIONS.items()
        formatter.write_heading(common)
        with formatter.indentation():
            formatter.write_dl([(f"{name:{width}}", summary) for name, summary in commands.items()])
        formatter.write_heading(others)
        cells = [
            f"  {name:{11 if number % 2 else 8}}  {summary}" for number, (name, summary) in enumerate(rest.items())
        ]
        for left, right in zip_longest(cells[::2], cells[1::2], fillvalue=""):  # two columns, for a screen of 24 lines
            formatter.write(f"{left:{_COLUMN}}{right}".rstrip() + "\n")
        formatter.write_text("Options: --version, --debug (show the traceback of an error), -h, --help")


@click.group(cls=_Lazy, context_settings={**HELP_OPTION, "max_content_width": 100})
@click.version_option(__version__, prog_name="opconform")
@click.option("--debug", is_flag=True)
def cli(debug: bool) -> None:
    """Certify backends with conformance suites, as in: opconform certify openvino."""


def main() -> None:
    """Run the command line; docs/cli.md lists the exit codes."""
    debug = "--debug" in sys.argv[1:]
    try:
        with guarded_streams(), harmless_streams():
            code = _code(debug=debug)
    except OutputError as error:
        click.echo(f"error: {error}", err=True)
        code = error.exit_code
    sys.exit(code)


def _code(*, debug: bool) -> int:
    """The exit code of the command line; errors are printed to standard error."""
    with as_interrupts() as came:
        try:
            code = cli.main(standalone_mode=False, prog_name="opconform")
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            return error.exit_code
        except click.ClickException as error:
            click.echo(f"error: {_nearer(error).format_message()}", err=True)
            context = error.ctx if isinstance(error, click.UsageError) else None
            if context is not None:
                click.echo(f"Try `{context.command_path} --help`.", err=True)
            return error.exit_code
        except (click.Abort, KeyboardInterrupt):
            return _interrupted(came)
        except OpconformError as error:
            if came:  # a worker process received the signal as well
                return _interrupted(came)
            if debug:
                raise
            click.echo(f"error: {error}", err=True)
            return error.exit_code
        except Exception as error:
            if debug:
                raise
            if isinstance(error, OSError) and DiskError.is_full(error):
                click.echo(f"error: {DiskError(Path(error.filename or 'the output'), error)}", err=True)
                return DiskError.exit_code
            what = f"internal error: {type(error).__name__}: {error}"
            click.echo(f"error: {what}. Run `opconform --debug COMMAND`, and report the traceback.", err=True)
            return 70
    return code if isinstance(code, int) else 0


def _nearer(error: click.ClickException) -> click.ClickException:
    """An error; an unknown option's error suggests only what is probably meant."""
    if not isinstance(error, click.NoSuchOption):
        return error
    near = near_word(error.option_name, error.possibilities or ())
    return click.NoSuchOption(error.option_name, error.message, [near] if near else None, error.ctx)


def _interrupted(came: Sequence[int]) -> int:
    """The exit code that a shell uses for Ctrl-C, or for the received signals."""
    with contextlib.suppress(OSError):  # the terminal may be closed
        name = next((x for x in sys.argv[1:] if x in _FIRST), "")
        click.echo(f"Interrupted. {_KEPT.get(name, _RESUMED)}", err=True)
    return 128 + came[0] if came else 130
