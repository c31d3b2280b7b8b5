"""The command line: which commands there are. Each is imported only when it is used, so that `--help` is quick."""

import contextlib
import importlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import click

from opconform import __version__
from opconform.errors import DiskError, OpconformError, OutputError
from opconform.interrupts import as_interrupts, put_off
from opconform_runners.cli.shared.streams import guarded_streams
from opconform_runners.cli.shared.terminal import harmless_streams


class _Command(NamedTuple):
    module: str
    summary: str


_COMMANDS: Mapping[str, _Command] = MappingProxyType(
    {
        "certify": _Command("certify", "Generate the shipped suites, run a backend on them, and give a verdict."),
        "generate": _Command("generate", "Write a suite: golden inputs and outputs, and IR, from specs."),
        "run": _Command("run", "Run a backend on a suite and compare every bit."),
        "report": _Command("report", "Write what came of a run as an HTML page, JUnit XML, Markdown, CSV or a badge."),
        "diff": _Command("diff", "Say what changed between two runs: regressions, fixes, other cases."),
        "baseline": _Command("baseline", "Keep the failures that are expected in a file."),
        "judge": _Command("judge", "Judge the outputs that `run --outputs` wrote elsewhere."),
        "keygen": _Command("keygen", "Make a pair of keys to sign certificates with."),
        "sign": _Command("sign", "Sign the results of a whole `certify` or `judge`: a certificate to hand on."),
        "verify-certificate": _Command(
            "verify_certificate", "Check a certificate: its signature, and what it says against results and suite."
        ),
        "verify": _Command("verify", "Find every missing, changed or foreign file of a suite."),
        "list": _Command("list", "List the cases of specs or of a suite."),
        "show": _Command("show", "Draw a case: the tensor, its chunks, and what is expected."),
        "repro": _Command("repro", "Write a script that shows a case to a backend's maker, without opconform."),
        "backends": _Command("backends", "List the backends that are installed, and what the others need."),
        "matrix": _Command("matrix", "Run every installed backend on one suite, and compare them in one table."),
        "check-harness": _Command(
            "check_harness", "Play a harness through the protocol and say which rules it breaks."
        ),
        "adequacy": _Command("adequacy", "Tell how well cases pin down the reference semantics of an operation."),
        "schema": _Command("schema", "Print the JSON Schema of specs, for an editor."),
    }
)

_INTERRUPTED = 130
_FAILED = 70


class _Lazy(click.Group):
    """A group whose commands are known by name and summary until one is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        if cmd_name not in _COMMANDS:
            return None
        with put_off():  # an extension module that is interrupted while it is imported calls that an ImportError
            module = importlib.import_module(f"opconform_runners.cli.{_COMMANDS[cmd_name].module}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, each.summary) for name, each in _COMMANDS.items()])


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="opconform")
@click.option("--debug", is_flag=True, help="Show a traceback where a fault of opconform's own would be one sentence.")
def _opconform(debug: bool) -> None:
    """Conformance suites for tensor operations: generate them, and certify any backend with them.

    The main job in one line: opconform certify --backend openvino
    """


def main() -> None:
    """Run the command line. Ends with 0, or 1, 2 or 3 as `docs/cli.md` says."""
    debug = "--debug" in sys.argv[1:]
    try:
        with guarded_streams(), harmless_streams():
            code = _code(debug=debug)
    except OutputError as fault:
        click.echo(f"error: {fault}", err=True)
        code = fault.exit_code
    sys.exit(code)


def _code(*, debug: bool) -> int:
    """What the command line ends with; an error is told on standard error."""
    with as_interrupts() as came:
        try:
            code = _opconform.main(standalone_mode=False, prog_name="opconform")
        except click.ClickException as fault:
            fault.show()
            return fault.exit_code
        except (click.Abort, KeyboardInterrupt):
            return _interrupted(came)
        except OpconformError as fault:
            if came:  # a worker process had the signal, too
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
            sentence = f"opconform failed: {type(fault).__name__}: {fault}. Run it with --debug and report it."
            click.echo(f"error: {sentence}", err=True)
            return _FAILED
    return code if isinstance(code, int) else 0


def _interrupted(came: Sequence[int]) -> int:
    """The exit code that a shell gives to an end by Ctrl-C or by the signals that came."""
    with contextlib.suppress(OSError):  # the terminal may be closed
        click.echo("Interrupted. The same command continues; what was done is kept.", err=True)
    return 128 + came[0] if came else _INTERRUPTED
