"""The options that name the files of what is expected of a backend: its baseline, and its claims."""

from dataclasses import dataclass
from pathlib import Path

import click

from opconform_runners.cli.shared.help import rare_option
from opconform_runners.cli.shared.options.general import PATH, collected

claims_option = rare_option(
    "--claims",
    type=PATH,
    metavar="FILE",
    help="File of claims (see `support`): to refuse a claimed case is a failure.",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ExpectedOptions:
    """The options for the two files: where they are, and whether they are updated.

    With `known`, the known failures of the backend's release are the baseline; if it is False, they are not named.
    """

    baseline: Path | None = None
    update_baseline: bool = False
    known: bool | None = None
    claims: Path | None = None
    update_claims: bool = False

    @property
    def updates(self) -> bool:
        """Whether a file is updated, which needs a complete run."""
        return self.update_baseline or self.update_claims


expected_options = collected(
    "expected",
    ExpectedOptions,
    click.option("--baseline", type=PATH, metavar="FILE", help="File of expected failures; only what is new counts."),
    click.option("--update-baseline", is_flag=True, help="Update FILE to list exactly the failures of this run."),
    rare_option(
        "--known/--no-known",
        default=None,
        help="Expect known failures of a product, or treat them like new.",
    ),
    claims_option,
    rare_option("--update-claims", is_flag=True, help="Update the file of claims to what this run shows."),
)
