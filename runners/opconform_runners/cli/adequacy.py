"""`opconform adequacy`."""

from collections.abc import Iterator
from pathlib import Path

import click

from opconform.adequacy.assessment import Adequacy, adequacy_of
from opconform.errors import counted
from opconform.generation.expansion import expand
from opconform.generation.options import LIMITS
from opconform.specs.loader import load_specs
from opconform.suite.selection import NOT_BY_DEFAULT
from opconform_runners.cli.shared.help import Command
from opconform_runners.cli.shared.options import json_option, spec_arguments
from opconform_runners.cli.shared.output import print_result


@click.command("adequacy", cls=Command, example="adequacy")
@spec_arguments
@click.option("--strict", is_flag=True, help="Exit with 1 if anything remains to be reviewed.")
@json_option("the result")
def command(specs: tuple[Path, ...], strict: bool, as_json: bool) -> None:
    """Measure how well the cases of SPECs cover the reference semantics of their operations.

    Each systematic mutant of the semantics should change the result of at least one case. Surviving mutants are listed
    with their source location and the requirements named there. Mutants that no case can distinguish are listed with
    the reason in cases/equivalents.yaml. Requirements without a case are listed, too.

    Uses the shipped specs unless SPECs are given. With --strict the exit code is 1 if a mutant or a stale entry remains
    to be reviewed, or a requirement has no case.
    """
    groups = [each for spec in load_specs(specs) for each in spec.groups if each.settings.profile not in NOT_BY_DEFAULT]
    found = adequacy_of(case for each in groups for case in expand(each, limits=LIMITS))
    print_result(_document(found), _lines(found), as_json=as_json)
    raise click.exceptions.Exit(1 if strict and not found.is_adequate else 0)


def _lines(found: Adequacy) -> Iterator[str]:
    survivors = found.open_survivors
    killed, reviewed = found.mutants - len(found.survivors), len(found.survivors) - len(survivors)
    yield f"{', '.join(found.ops)}: {counted(found.cases, 'inference')}"
    yield f"mutants: {killed} of {found.mutants} killed, {reviewed} reviewed, {len(survivors)} to review"
    yield from (f"no case  {each}" for each in found.untested)
    for mutation in survivors:
        beside = f"  ({', '.join(mutation.names)})" if mutation.names else ""
        place = f"{mutation.module.replace('.', '/')}.py:{mutation.line}"
        yield f"survives  {place}: {mutation.before}  →  {mutation.after}{beside}"
    for stale in found.stale:
        where = f"cases/equivalents.yaml: {stale.module} {stale.function}".rstrip()
        yield f"stale  {where}: {stale.before} is now distinguished; remove the entry"


def _document(found: Adequacy) -> dict[str, object]:
    return {
        "operations": list(found.ops),
        "inferences": found.cases,
        "mutants": found.mutants,
        "adequate": found.is_adequate,
        "untested": list(found.untested),
        "survivors": [
            {name: getattr(each, name) for name in ("module", "line", "before", "after")}
            | {"requirements": list(each.names), "reviewed": found.reviewed.get(each)}
            for each in found.survivors
        ],
        "stale": [each.model_dump() for each in found.stale],
    }
