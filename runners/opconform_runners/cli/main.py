"""The command line and its commands, each imported only when it is used, so that `--help` is quick."""

import contextlib
import importlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import click

from opconform import __version__
from opconform.errors import DiskError, OpconformError, OutputError
from opconform.interrupts import as_interrupts, defer_interrupts
from opconform_runners.cli.shared.streams import guarded_streams, harmless_streams

#: The summary of each command. Its module has the same name.
_COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "certify": "Generate a suite, run a backend on it, and report a verdict for each requirement.",
        "generate": "Write a suite from specs: golden inputs and outputs, and IR models.",
        "run": "Run a backend on a suite and compare every bit.",
        "report": "Write a run as an HTML report, JUnit XML, Markdown, CSV or a badge.",
        "diff": "Show what changed between two runs: regressions, fixes, new cases.",
        "baseline": "Maintain a file of expected failures.",
        "judge": "Judge outputs that `run --outputs` wrote on another machine.",
        "keygen": "Generate a key pair for signing certificates.",
        "sign": "Sign the results of a complete `certify` or `judge`.",
        "verify-certificate": "Check a certificate's signature, and its claims against results and suite.",
        "verify": "Find every missing, changed or unexpected file of a suite.",
        "list": "List the cases of specs or of a suite.",
        "show": "Display a case: its tensors, their outputs, and the expectation.",
        "repro": "Write a script that reproduces a case without opconform.",
        "backends": "List the installed backends, and what the others need.",
        "matrix": "Run every installed backend on one suite and compare them in a table.",
        "check-harness": "Check a harness against every rule of the protocol.",
        "adequacy": "Measure how well cases determine an operation's reference semantics.",
        "schema": "Print the JSON Schema of specs, for editors.",
    }
)


class _Lazy(click.Group):
    """A group that imports a command when it is used, and lists commands by their summaries."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        if cmd_name not in _COMMANDS:
            return None
        with defer_interrupts():  # an extension module interrupted during its import raises ImportError
            module = importlib.import_module(f"opconform_runners.cli.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([*_COMMANDS.items()])


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="opconform")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def _opconform(debug: bool) -> None:
    """Generate conformance suites for tensor operations, and certify backends with them.

    For example: opconform certify --backend openvino
    """


def main() -> None:
    """Run the command line; docs/cli.md lists the exit codes."""
    debug = "--debug" in sys.argv[1:]
    try:
        with guarded_streams(), harmless_streams():
            code = _code(debug=debug)
    except OutputError as fault:
        click.echo(f"error: {fault}", err=True)
        code = fault.exit_code
    sys.exit(code)


def _code(*, debug: bool) -> int:
    """The exit code of the command line; errors are printed to standard error."""
    with as_interrupts() as came:
        try:
            code = _opconform.main(standalone_mode=False, prog_name="opconform")
        except click.ClickException as fault:
            fault.show()
            return fault.exit_code
        except (click.Abort, KeyboardInterrupt):
            return _interrupted(came)
        except OpconformError as fault:
            if came:  # a worker process received the signal as well
                return _interrupted(came)
            if debug:
                raise
            click.echo(f"error: {fault}", err=True)
            return fault.exit_code
        except Exception as fault:
            if debug:
                raise
            if isinstance(fault, OSError) and DiskError.is_full(fault):
                click.echo(f"error: {DiskError(Path(fault.filename or 'the output'), fault)}", err=True)
                return DiskError.exit_code
            what = f"internal error: {type(fault).__name__}: {fault}"
            click.echo(f"error: {what}. Run `opconform --debug COMMAND`, and report the traceback.", err=True)
            return 70
    return code if isinstance(code, int) else 0


def _interrupted(came: Sequence[int]) -> int:
    """The exit code that a shell uses for Ctrl-C, or for the received signals."""
    with contextlib.suppress(OSError):  # the terminal may be closed
        click.echo("Interrupted. Completed results are kept; run the same command to continue.", err=True)
    return 128 + came[0] if came else 130
