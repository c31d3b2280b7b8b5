"""The list of the profile `quick`: `python -m tests.quick FOLDER` records kills in FOLDER, and writes `cases/quick.json`."""

import json
import resource
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

import click

from opconform.errors import OpconformError
from opconform.specs.group import Spec
from opconform.specs.loader import load_specs
from opconform.suite.selection.quick import LIST
from tests.conftest import ROOT
from tests.mutants.kills import MEMORY
from tests.quick.cover import Fault, cover, found_by
from tests.quick.faults import core_cases, core_drafts, finding_faults, mutant_faults, requirement_faults
from tests.quick.kills import digest_of, recorded


@click.command("python -m tests.quick")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--seconds", default=40.0, show_default=True, help="Processor time for each kind of mutants of an operation."
)
@click.option("--keep", is_flag=True, help="Use the records in FOLDER as they are.")
@click.option(
    "--withhold", is_flag=True, help="Write nothing: cover half of the mutants, and count those of the other."
)
def command(folder: Path, seconds: float, keep: bool, withhold: bool) -> None:
    """Write the profile `quick` from recorded kills, and print how much of what is known to be findable it finds.

    The kills of an operation are recorded again if its specs, the implementations or the mutants have changed.
    """
    try:
        specs: dict[str, list[Spec]] = {}
        for spec in load_specs([]):
            specs.setdefault(spec.op, []).append(spec)
        if not keep:
            _record(folder, specs, seconds)
        drafts = core_drafts([spec for own in specs.values() for spec in own])
    except OpconformError as error:
        raise click.ClickException(str(error)) from error
    cases = core_cases(drafts)
    mutants = [x for path in sorted(folder.glob("*.json")) for x in mutant_faults(path, cases)]
    certain = [*requirement_faults(drafts), *finding_faults(cases)]
    known = [x for x in mutants if not (withhold and _is_withheld(x))]
    chosen = cover([*certain, *known], cases)
    counted = [x for x in mutants if _is_withheld(x)] if withhold else [*certain, *mutants]
    for kind, (every, once, twice) in found_by(chosen, counted).items():
        click.echo(f"{kind:32} {once:6,} of {every:6,} found, {twice:6,} twice or as often as can be")
    if not withhold:
        (ROOT / "cases" / LIST).write_text(list_text(chosen))
        click.echo(f"cases/{LIST}: {len(chosen):,} cases")


def _record(folder: Path, specs: Mapping[str, Sequence[Spec]], seconds: float) -> None:
    """Record the kills of each operation that has changed, in a file of its own."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))  # mutants ask for any amount
    folder.mkdir(parents=True, exist_ok=True)
    for op, own in specs.items():
        path, digest = folder / f"{op}.json", digest_of(op, own)
        if path.exists() and json.loads(path.read_text())["digest"] == digest:
            continue
        kills = recorded(op, own, seconds)
        ids = sorted({id_ for killers in kills.values() for id_ in killers})
        numbers = {id_: number for number, id_ in enumerate(ids)}
        indices = {name: [numbers[id_] for id_ in killers] for name, killers in kills.items()}
        path.write_text(json.dumps({"digest": digest, "cases": ids, "kills": indices}))
        click.echo(f"{op}: {len(kills):,} mutants")


def _is_withheld(fault: Fault) -> bool:
    """Whether a mutant belongs to the half that is left out, which its name decides."""
    return sha256(fault.name.encode()).digest()[0] % 2 == 0


def list_text(chosen: Sequence[str]) -> str:
    """The list with one line per group, so that a change is easy to review."""
    return "{\n" + ",\n".join(_lines(chosen)) + "\n}\n"


def _lines(chosen: Sequence[str]) -> Iterator[str]:
    groups: dict[str, list[str]] = {}
    for id_ in sorted(chosen):
        group, _, digits = id_.rpartition("/")
        groups.setdefault(group, []).append(digits)
    for group, listed in groups.items():
        yield f' "{group}": "{" ".join(listed)}"'


if __name__ == "__main__":
    command()
