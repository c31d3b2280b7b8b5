"""`opconform generate`."""

import json
from pathlib import Path
from typing import Any

import click

from opconform.generation.pipeline import Generated
from opconform.suite.selection import Selection
from opconform_runners.cli.shared.generation import generate_shown
from opconform_runners.cli.shared.options import generation_options, options_of, selection_options, spec_arguments
from opconform_runners.cli.shared.terminal import print_document


@click.command("generate")
@spec_arguments
@click.option("--out", type=click.Path(path_type=Path), required=True, help="A folder, or a file NAME.zip.")
@selection_options
@generation_options
@click.option("--jobs", type=int, help="Processes; one a core by default.")
@click.option("--blind", is_flag=True, help="Leave the expected outputs out.")
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def command(
    specs: tuple[Path, ...],
    out: Path,
    profiles: tuple[str, ...],
    patterns: tuple[str, ...],
    jobs: int | None,
    blind: bool,
    as_json: bool,
    **limits: Any,
) -> None:
    """Write a suite from SPECs (YAML files or folders; the shipped ones by default).

    A suite that is there is brought up to date; a generation that was killed is continued.
    """
    selection = Selection(profiles=profiles, patterns=patterns)
    options = options_of(selection, jobs=jobs, blind=blind, **limits)
    generated = generate_shown(specs, out, options, quiet=as_json)
    if as_json:
        print_document(_json(generated))
    else:
        click.echo(_sentence(generated))


def _json(generated: Generated) -> str:
    header = generated.header
    return json.dumps(
        {
            "out": str(generated.out),
            "digest": header.digest,
            "counts": dict(header.counts),
            "unchanged": generated.taken,
            "warnings": list(generated.repeated),
        }
    )


def _sentence(generated: Generated) -> str:
    counts = generated.header.counts
    unchanged = f", {generated.taken:,} of them unchanged" if generated.taken else ""
    kinds = f"{counts['accept']:,} accepted, {counts['reject']:,} rejected{unchanged}"
    return f"{generated.out}: {sum(counts.values()):,} cases ({kinds}); suite digest {generated.header.digest}"
