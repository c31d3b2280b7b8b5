"""`opconform adequacy`."""

from collections.abc import Iterator
from pathlib import Path

import click

from opconform.adequacy.assessment import SEMANTICS, Adequacy, Assessment, adequacy_of
from opconform.errors import counted
from opconform.generation.expansion import expand
from opconform.generation.options import LIMITS
from opconform.specs.loader import load_specs
from opconform.suite.selection.selection import NOT_BY_DEFAULT
from opconform_runners.cli.shared.help import HelpCommand
from opconform_runners.cli.shared.options.general import json_option, spec_arguments
from opconform_runners.cli.shared.output.printer import print_result
from opconform_runners.tools.adequacy import NumpyTarget


@click.command("adequacy", cls=HelpCommand, example="adequacy")
@spec_arguments
@click.option("--strict", is_flag=True, help="Exit with 1 if anything remains to be reviewed.")
@click.option("--trust-reviews", "trusted", is_flag=True, help="Do not try the reviewed mutants again.")
@json_option("the result")
def command(specs: tuple[Path, ...], strict: bool, trusted: bool, as_json: bool) -> None:
    """Measure how well the cases of SPECs cover two implementations of their operations.

    Each systematic mutant of the reference semantics should change the result of at least one case, and each one of the
    `numpy` backend should fail at least one. Surviving mutants are listed with their source location and the
    requirements named there. Mutants that no case can distinguish are listed with the reason in
    cases/equivalents.yaml. Requirements without a case are listed, too.

    Uses the shipped specs unless SPECs are given. With --strict the exit code is 1 if a mutant or a stale entry remains
    to be reviewed, or a requirement has no case. With --trust-reviews the reviewed mutants count as survivors without
    being tried, which saves most of the time: only all cases together show that none distinguishes them.
    """
    groups = [
        group for spec in load_specs(specs) for group in spec.groups if group.settings.profile not in NOT_BY_DEFAULT
    ]
    cases = [case for group in groups for case in expand(group, limits=LIMITS)]
    adequacy = adequacy_of(cases, {"numpy": NumpyTarget()}, trusted=trusted)
    print_result(_document(adequacy), _lines(adequacy), as_json=as_json)
    raise click.exceptions.Exit(1 if strict and not adequacy.is_adequate else 0)


def _lines(adequacy: Adequacy) -> Iterator[str]:
    yield f"{', '.join(adequacy.ops)}: {counted(adequacy.targets[SEMANTICS].trials, 'inference')}"
    for name, target in adequacy.targets.items():
        if target.mutants or name == SEMANTICS:
            to_review = len(target.open_survivors)
            killed, reviewed = target.mutants - len(target.survivors), len(target.survivors) - to_review
            beside = "" if name == SEMANTICS else f" of {name}"
            yield f"mutants{beside}: {killed} of {target.mutants} killed, {reviewed} reviewed, {to_review} to review"
    yield from (f"no case  {x}" for x in adequacy.untested)
    for target in adequacy.targets.values():
        yield from _unreviewed(target)


def _unreviewed(target: Assessment) -> Iterator[str]:
    """What remains to be reviewed in a target."""
    for mutation in target.open_survivors:
        beside = f"  ({', '.join(mutation.names)})" if mutation.names else ""
        place = f"{mutation.module.replace('.', '/')}.py:{mutation.line}"
        yield f"survives  {place}: {mutation.before}  →  {mutation.after}{beside}"
    for stale in target.stale:
        where = f"cases/equivalents.yaml: {stale.module} {stale.function}".rstrip()
        yield f"stale  {where}: {stale.before} → {stale.after} is now distinguished; remove it"


def _document(adequacy: Adequacy) -> dict[str, object]:
    return {
        "operations": list(adequacy.ops),
        "inferences": adequacy.targets[SEMANTICS].trials,
        "adequate": adequacy.is_adequate,
        "untested": list(adequacy.untested),
        "targets": {name: _target(target) for name, target in adequacy.targets.items()},
    }


def _target(target: Assessment) -> dict[str, object]:
    return {
        "mutants": target.mutants,
        "survivors": [
            {name: getattr(survivor, name) for name in ("module", "line", "before", "after")}
            | {"requirements": list(survivor.names), "reviewed": target.reviewed.get(survivor)}
            for survivor in target.survivors
        ],
        "stale": [x._asdict() for x in target.stale],
    }
