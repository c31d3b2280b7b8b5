"""`opconform from-model`."""

import shlex
from functools import partial
from pathlib import Path

import click

from opconform.errors import counted
from opconform_runners.cli.shared.help import HelpCommand
from opconform_runners.cli.shared.options.general import PATH, out_option
from opconform_runners.cli.shared.output.printer import print_lines
from opconform_runners.cli.shared.output.progress import progress
from opconform_runners.execution.progress import OnProgress
from opconform_runners.tools.from_model.specs import check_names, lines_of, specs_of_model, write_specs


@click.command("from-model", cls=HelpCommand, example="from-model MODEL.onnx\nfrom-model MODEL.xml -o specs")
@click.argument("models", nargs=-1, required=True, type=PATH, metavar="MODEL...")
@out_option(
    metavar="FOLDER",
    default="opconform-out/specs",
    show_default=True,
    help="Folder for the specs, one file per operation and model.",
)
def command(models: tuple[Path, ...], out: Path) -> None:
    """Write specs of the operations that a MODEL uses (ONNX, or OpenVINO's IR), to certify backends for it.

    Nodes that use an operation alike are one use. Its cases are the use itself with small sizes, its boundaries, and
    cases that violate one requirement each. Neither weights nor files outside the model are read. Other models in the
    folder keep their specs.
    """
    check_names(models)
    read = []
    with progress("from-model", of="uses", quiet=False) as on_progress:
        for number, model in enumerate(models, 1):
            stage = f"Reading model {number} of {len(models)}"
            read.append(specs_of_model(model, partial(_show, on_progress, stage)))
    written = [path for specs in read for path in write_specs(specs, out)]
    print_lines(line for specs in read for line in lines_of(specs))
    print_lines([f"{counted(len(written), 'spec')} in {out}. Next: opconform certify BACKEND {shlex.quote(str(out))}"])


def _show(on_progress: OnProgress, stage: str, fraction: float, done: int) -> None:
    on_progress(fraction, done, stage)
