"""`opconform adequacy`."""

import json
from collections.abc import Iterator
from pathlib import Path

import click

from opconform.adequacy.report import Adequacy, Survivor, adequacy_of
from opconform.generation.expansion import expand
from opconform.generation.options import LIMITS
from opconform.model.draft import Draft
from opconform.specs.loader import load_specs
from opconform_runners.cli.shared.options import json_option, spec_arguments

#: The profile whose tensors are too large to evaluate for every mutant.
_LARGE = "large"


@click.command("adequacy")
@spec_arguments
@click.option("--strict", is_flag=True, help="Exit with 1 if anything is left to review.")
@json_option("the result")
def command(specs: tuple[Path, ...], strict: bool, as_json: bool) -> None:
    """Measure how well the cases of SPECs determine the reference semantics of their operations.

    Each systematic mutant of the semantics should change the result of at least one case; the surviving mutants are
    listed with their source and the requirements named beside it. For each condition in the semantics there should be
    two cases that differ in that condition alone and in the decision. Mutants and conditions that no case can
    distinguish are listed with the reason in cases/equivalents.yaml.

    Uses the shipped specs unless SPECs are given. With --strict the exit code is 1 if a mutant, a condition or a stale
    entry is left to review.
    """
    found = adequacy_of(_cases(specs))
    if as_json:
        click.echo(json.dumps(_document(found), indent=1, ensure_ascii=False))
    else:
        for line in _lines(found):
            click.echo(line)
    raise click.exceptions.Exit(1 if strict and not found.is_adequate else 0)


def _cases(specs: tuple[Path, ...]) -> Iterator[Draft]:
    for spec in load_specs(specs):
        for group in spec.groups:
            if group.settings.profile != _LARGE:
                yield from expand(group, limits=LIMITS)


def _lines(found: Adequacy) -> Iterator[str]:
    killed = found.mutants - len(found.survivors)
    reviewed = len(found.survivors) - len(found.open_survivors)
    shown = sum(each.pair is not None for each in found.conditions)
    yield f"{', '.join(found.ops)}: {found.cases:,} inferences"
    yield f"mutants: {killed} of {found.mutants} killed, {reviewed} reviewed, {len(found.open_survivors)} to review"
    yield (
        f"conditions: {shown} of {len(found.conditions)} shown by two cases, {len(found.reviewed)} reviewed, "
        f"{len(found.open_conditions)} to review"
    )
    for each in found.open_survivors:
        yield f"survives  {_place(each)}: {each.mutation.before}  →  {each.mutation.after}{_beside(each)}"
    for condition in found.open_conditions:
        yield f"not shown  {condition.module}.py:{condition.line}: {condition.condition}  in  {condition.decision}"
    for stale in found.stale:
        where = f"cases/equivalents.yaml: {stale.module} {stale.function}".rstrip()
        yield f"stale  {where}: {stale.before} is distinguished now; remove the entry"


def _place(survivor: Survivor) -> str:
    return f"{survivor.mutation.module}.py:{survivor.mutation.line}"


def _beside(survivor: Survivor) -> str:
    return f"  ({', '.join(survivor.mutation.names)})" if survivor.mutation.names else ""


def _document(found: Adequacy) -> dict[str, object]:
    return {
        "operations": list(found.ops),
        "inferences": found.cases,
        "mutants": found.mutants,
        "adequate": found.is_adequate,
        "survivors": [
            {
                "module": each.mutation.module,
                "line": each.mutation.line,
                "before": each.mutation.before,
                "after": each.mutation.after,
                "requirements": list(each.mutation.names),
                "reviewed": each.reason,
            }
            for each in found.survivors
        ],
        "conditions": [
            {
                "module": each.module,
                "line": each.line,
                "decision": each.decision,
                "condition": each.condition,
                "cases": None if each.pair is None else list(each.pair),
                "reviewed": found.reviewed.get(each),
            }
            for each in found.conditions
        ],
        "stale": [each.model_dump() for each in found.stale],
    }
