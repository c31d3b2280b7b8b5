"""Help: every command has some, and the options of every day are on its first screen."""

import re
import subprocess
import sys

import click
import pytest
from click.shell_completion import ShellComplete

from opconform.specs.loader import load_specs
from opconform_runners.cli.main import COMMANDS, cli
from tests.conftest import Run


def test_help_names_every_command(opconform: Run) -> None:
    """On one screen of 24 lines, with the prompt; each command has help of its own."""
    shown = opconform("--help").stdout

    assert len(shown.splitlines()) < 24
    for name in COMMANDS:
        own = opconform(*name.split(), "--help").stdout
        first, _, second = name.partition(" ")
        [line] = [line for line in shown.splitlines() if f"  {first} " in line]
        assert second in line
        assert own.startswith(f"Usage: opconform {name}")
        assert f"\nExample: opconform {name}" in own
        assert len(own.splitlines()) <= 40


def help_of(name: str, width: int) -> list[str]:
    """The lines of a command's help on a terminal of a width."""
    command: click.Command = cli
    context = click.Context(cli, info_name="opconform", terminal_width=width, help_option_names=["-h", "--help"])
    for word in name.split():
        assert isinstance(command, click.Group)
        found = command.get_command(context, word)
        assert found is not None
        command = found
        context = click.Context(command, parent=context, info_name=word, terminal_width=width)
    return command.get_help(context).splitlines()


@pytest.mark.parametrize("name", COMMANDS)
def test_the_first_screen_of_help_has_every_everyday_option(name: str) -> None:
    """A terminal of 24 lines of 80 columns shows the help up to `--help`; rare options come last."""
    shown = help_of(name, 80)
    [last] = [number for number, line in enumerate(shown) if line.startswith("  -h, --help ")]
    rare = shown.index("Advanced options:") if "Advanced options:" in shown else len(shown)

    assert last < 24
    assert last < rare
    assert all(line.startswith("  ") for line in shown[rare + 1 :])


@pytest.mark.parametrize("name", ["fuzz", "harness check"])
def test_a_command_for_one_backend_does_not_offer_several(name: str) -> None:
    """It refuses them."""
    shown = " ".join(help_of(name, 200))

    assert "repeatable" not in shown
    assert "or all" not in shown


@pytest.mark.ci_only
def test_help_lists_the_profiles_of_the_shipped_cases() -> None:
    """All of them."""
    profiles = {group.settings.profile for spec in load_specs([]) for group in spec.groups}
    [line] = [x for x in help_of("run", 200) if x.lstrip().startswith("--profile")]
    listed, _, others = line.partition(" NAME ")[2].partition(", default ")
    assert set(re.findall(r"[a-z]+", listed)) == profiles
    assert others == "(first 7) or quick."


@pytest.mark.ci_only
def test_every_command_works_without_docstrings() -> None:
    """As under `PYTHONOPTIMIZE=2`, where their help has no text."""
    program = (
        "from click.testing import CliRunner\n"
        "from opconform_runners.cli.main import COMMANDS, cli\n"
        "for each in COMMANDS:\n"
        "    done = CliRunner().invoke(cli, [*each.split(), '--help'])\n"
        "    print(each, done.exit_code)\n"
        "from opconform_runners.tools.protocol_check.check import RuleResult\n"
        "print(RuleResult(id='smoke').sentence)\n"
    )
    done = subprocess.run([sys.executable, "-OO", "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.splitlines() == [*(f"{command} 0" for command in COMMANDS), "smoke"]


@pytest.mark.parametrize(
    ("words", "begun", "found"),
    [
        ([], "cer", ["certify", "certificate"]),
        (["certify"], "Variadic", ["VariadicSplit-1"]),
        (["certify"], "num", ["numpy"]),
        (["run", "suite"], "openvino-", ["openvino-onnx", "openvino-reference"]),
        (["run", "suite", "-b"], "num", ["numpy"]),
        (["run", "suite"], "--base", ["--baseline"]),
    ],
)
def test_a_shell_completes_commands_options_backends_and_operations(
    words: list[str], begun: str, found: list[str]
) -> None:
    """As click's scripts for bash, zsh and fish ask for them."""
    completion = ShellComplete(cli, {}, "opconform", "_OPCONFORM_COMPLETE")

    assert [item.value for item in completion.get_completions(words, begun)] == found


def test_help_is_also_a_command(opconform: Run) -> None:
    """With the name of another one, as in git."""
    assert opconform("help").stdout == opconform("--help").stdout
    assert opconform("help", "certificate", "sign").stdout == opconform("certificate", "sign", "--help").stdout
