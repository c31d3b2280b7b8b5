"""`opconform generate`."""

from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from opconform.errors import counted
from opconform.explanation.shipped_groups import check_selection
from opconform.specs.operation_names import named_operations, operations_of
from opconform.suite.selection.selection import Selection
from opconform_runners.cli.shared.help import HelpCommand
from opconform_runners.cli.shared.options.backends import BackendOptions, backend_options
from opconform_runners.cli.shared.options.cluster import ClusterOptions, executor_option
from opconform_runners.cli.shared.options.general import (
    TARGET,
    json_option,
    out_option,
    selection_options,
    spec_arguments,
)
from opconform_runners.cli.shared.options.generation import GenerationOptions, generation_options
from opconform_runners.cli.shared.output.printer import print_result, reason_lines

if TYPE_CHECKING:
    from opconform.suite.manifest import Header


@click.command("generate", cls=HelpCommand, example="generate --out suite\ngenerate my-cases.yaml --out my-suite.zip")
@spec_arguments
@out_option(type=TARGET, required=True, help="The folder, file (NAME.zip) or URL to write.")
@selection_options
@backend_options
@generation_options("Number of processes; one per core by default.")
@click.option("--blind", is_flag=True, help="Omit the expected outputs.")
@json_option("the result")
@executor_option
def command(
    specs: tuple[Path, ...],
    out: Path,
    selection: Selection,
    backend: BackendOptions,
    generation: GenerationOptions,
    cluster: ClusterOptions,
    **values: bool,
) -> None:
    """Write a suite from SPECs (YAML files or folders; the shipped specs by default).

    With --backend or --harness, the suite has the dialects that the backend reads. An existing suite of the same
    specs is replaced when the new one is complete.
    """
    specs = specs or tuple(operations_of(selection.patterns))
    selection = replace(selection, operations=named_operations(specs))
    check_selection(specs, selection)
    from opconform_runners.cli.shared.generation import generate_shown

    read: Collection[str] = ()
    if backend.backends or backend.harnesses or backend.pythons:
        from opconform_runners.cli.shared.matrix_run import start

        read = start(backend).dialects
    options = generation.options(selection, read=read, blind=values["blind"])
    options = replace(options, executor=cluster.executors(generation.jobs).generation)
    generated = generate_shown(specs, out, options, quiet=values["as_json"])
    header, counts = generated.header, generated.header.counts
    kinds = f"{counts['accept']:,} accepted, {counts['reject']:,} rejected"
    document = {
        "out": str(generated.out),
        "digest": header.digest,
        "counts": dict(counts),
        "left_out": {name: dict(reasons) for name, reasons in header.left_out.items()},
        "warnings": list(generated.warnings),
    }
    line = f"{generated.out}: {counted(sum(counts.values()), 'case')} ({kinds}); suite digest {header.digest}"
    print_result(document, [line, *_left_out(header)], as_json=values["as_json"])


def _left_out(header: "Header") -> Iterator[str]:
    """How many cases have no model in each dialect, and why."""
    for name, reasons in header.left_out.items():
        yield f"{name}: no model for {sum(reasons.values()):,} of {counted(sum(header.counts.values()), 'case')}:"
        yield from reason_lines(reasons, "--json and suite.json")
