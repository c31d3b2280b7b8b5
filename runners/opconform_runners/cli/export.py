"""`opconform export`."""

from pathlib import Path

import click

from opconform.errors import counted
from opconform.suite.reader import open_suite
from opconform.suite.selection.selection import Selection
from opconform_runners.cli.shared.help import HelpCommand
from opconform_runners.cli.shared.options.general import SOURCE, json_option, out_option, selection_options
from opconform_runners.cli.shared.output.printer import print_result, reason_lines
from opconform_runners.cli.shared.output.progress import progress
from opconform_runners.tools.export import FORMATS, Request, export_suite


@click.command("export", cls=HelpCommand, example="export suite --as gtest\nexport suite --as onnx --out onnx-tests")
@click.argument("suite", type=SOURCE)
@click.option("--as", "name", type=click.Choice([*FORMATS]), required=True, help="The format, one of those below.")
@out_option(help="Folder to write; by default opconform-out/FORMAT-export.")
@selection_options
@click.option(
    "--dialect", default="", metavar="NAME", help="The models of a kit; the suite's first dialect by default."
)
@click.option("--force", is_flag=True, help="Replace an export in another format.")
@json_option("the result")
def command(suite: Path, name: str, out: Path | None, selection: Selection, dialect: str, **values: bool) -> None:
    r"""Write the cases of SUITE for programs that do not use opconform.

    \b
    onnx   the folders of ONNX's backend tests; invalid cases are in a folder of their own
    gtest  a kit: a CMake project in C++ with one GoogleTest test per case
    ctest  the same without GoogleTest
    numpy  .npz files, a loader and a comparison, for numpy alone

    An earlier export is replaced when the new one is complete, unless the folder has other files.
    """
    opened = open_suite(suite)
    out = out or Path("opconform-out") / f"{name}-export"
    request = Request(name=name, out=out, dialect=dialect, force=values["force"])
    with progress("export", quiet=values["as_json"]) as on_progress:
        exported = export_suite(opened, selection, request, on_progress)
    rejected = sum(entry.expect != "accept" for entry in exported.cases)
    cases, digest = len(exported.cases), opened.header.identity
    document = {
        "out": str(out),
        "as": name,
        "digest": digest,
        "counts": {"accept": cases - rejected, "reject": rejected},
        "left_out": dict(exported.left_out),
    }
    kinds = f"{cases - rejected:,} accepted, {rejected:,} rejected"
    lines = [f"{out}: {counted(cases, 'case')} ({kinds}) as {name}; suite digest {digest}"]
    if exported.left_out:
        lines += [
            f"Left out: {counted(sum(exported.left_out.values()), 'case')}:",
            *reason_lines(exported.left_out, "--json and export.json"),
        ]
    print_result(document, [*lines, f"Next: read {out}/README.md"], as_json=values["as_json"])
