"""Names and messages from outside control neither a terminal nor a GitHub workflow."""

import io
import json
import sys

import click
import pytest

from opconform_runners.cli import main as cli
from opconform_runners.cli.shared.output.console import console_of
from opconform_runners.cli.shared.output.streams import PrintableStream, harmless, harmless_streams, print_document

HOSTILE = "name\n::error title=x::injected\r\n  ::set-output name=x::y\n##[error]z \x1b[31m\u202e\x9b"


def shown(*texts: str, fence: str | None = "fence") -> str:
    """What a stream has written once texts were written to it."""
    written = io.StringIO(newline="")
    stream = PrintableStream(written, fence)
    for text in texts:
        stream.write(text)
    stream.close_fence()
    return written.getvalue()


def test_what_steers_a_terminal_is_spelled_out() -> None:
    """As JSON spells it, so that a document that is printed as text stays one."""
    assert harmless("naïve 数\t\x1b[31m\x7f\u202e\x9b\r\n") == "naïve 数\t\\u001b[31m\\u007f\\u202e\\u009b\\r\n"
    assert json.loads(harmless(json.dumps("\x7f\u202e\U000e0001", ensure_ascii=False))) == "\x7f\u202e\U000e0001"


def test_outside_a_workflow_there_is_no_fence() -> None:
    """And what would be a command there is text."""
    assert shown("::error::x\n", fence=None) == "::error::x\n"


def test_in_a_workflow_all_text_is_fenced_and_no_line_is_a_command() -> None:
    """The fence alone would do, if standard output and standard error were read in order."""
    assert shown(HOSTILE) == (
        "::stop-commands::fence\n"
        "name\n\\u003a:error title=x::injected\\r\n  \\u003a:set-output name=x::y\n#\\u0023[error]z \\u001b[31m\\u202e\\u009b\n"
        "::fence::\n"
    )


def test_a_line_that_is_written_in_parts_is_one_line() -> None:
    """A command is one only at its beginning."""
    assert shown("a ", "::error::x\n", " ", "::b\n", fence="t").splitlines()[1:-1] == ["a ::error::x", " \\u003a:b"]


def test_nothing_is_fenced_where_nothing_is_printed() -> None:
    """A document for a program has no line before it, and none behind."""
    assert shown() == ""


def test_a_document_is_printed_to_the_byte(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also after text, whose fence ends before: the commands of `report --github` are to be obeyed."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    with harmless_streams():
        click.echo("text", err=True)
        print_document("::error title=x::y\r\n", nl=False)
    written = capfdbinary.readouterr()

    assert written.out == b"::error title=x::y\r\n"
    assert [line[:17] for line in written.err.splitlines()][:2] == [b"::stop-commands::", b"text"]
    assert len(written.err.splitlines()) == 3


def test_a_console_spells_out_what_is_not_its_own_style() -> None:
    """A cell of a table holds what a backend calls itself."""
    written = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", PrintableStream(written, None))
        console = console_of()
        console.print("[red]a[/red] \x1b[31mb\x9b")
        console.print("no line ends in spaces  \n where the text is read by programs ")

    assert written.getvalue() == (
        "a \\u001b[31mb\\u009b\nno line ends in spaces\n where the text is read by programs\n"
    )


@pytest.mark.parametrize(
    "arguments", [["run", HOSTILE, "--backend", "numpy"], ["list", "--profile", HOSTILE], [HOSTILE]]
)
def test_an_error_steers_nothing(
    arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regardless of who wrote the quoted text, and of the command that prints it."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setattr(sys, "argv", ["opconform", *arguments])
    with pytest.raises(SystemExit):
        cli.main()
    said = capsys.readouterr().err
    first, *lines, last = said.splitlines()

    assert first.startswith("::stop-commands::")
    assert last == f"::{first.removeprefix('::stop-commands::')}::"
    assert lines
    assert not any(line.lstrip().startswith("::") or "##[" in line for line in lines)
    assert not {"\x1b", "\u202e", "\x9b"} & set(said)
