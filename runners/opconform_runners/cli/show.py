"""`opconform show`."""

import json
from dataclasses import replace
from pathlib import Path

import click

from opconform.errors import UsageError
from opconform.generation.options import LIMITS
from opconform.specs.requirements import requirements_of
from opconform.suite.case import Accept, Reject, document_of
from opconform.suite.selection import Selection
from opconform_runners.cli.shared.case_list import Listed, listed, near_miss_of
from opconform_runners.cli.shared.options import PATH
from opconform_runners.cli.shared.terminal import print_document
from opconform_runners.reports.case_text import drawing_lines, input_lines

_MOST = 12
#: The cases of the profile `large` can be shown like all others.
_LIMITS = replace(LIMITS, elements=1 << 31)


@click.command("show")
@click.argument("case")
@click.option("--from", "sources", multiple=True, type=PATH, help="Look in this spec or suite; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Print case.json.")
def command(case: str, sources: tuple[Path, ...], as_json: bool) -> None:
    """Draw CASE: its tensors, their outputs, and the expectation.

    CASE is an id, its digits, or a pattern such as 'Split-1/page-example/*' that matches one case.
    """
    shown = _found(case, sources)
    if as_json:
        print_document(json.dumps(document_of(shown.case), indent=1, ensure_ascii=False))
        return
    for line in _lines(shown):
        click.echo(line)


def _found(name: str, sources: tuple[Path, ...]) -> Listed:
    pattern = name if "/" in name else f"*/{name}*"
    found = list(listed(sources, Selection(patterns=(pattern,)), _LIMITS, every_profile=True))
    if not found:
        hint = near_miss_of(sources, [name])
        raise UsageError(f"No case matches {name!r}.{hint or ' `opconform list` lists them.'}")
    if len(found) > 1:
        some = ", ".join(each.case.id for each in found[:5])
        raise UsageError(f"{len(found):,} cases match {name!r}: {some}{', …' if len(found) > 5 else ''}. Name one.")  # noqa: PLR2004
    return found[0]


def _lines(shown: Listed) -> list[str]:
    case, inputs = shown.case, shown.inputs()
    levels = requirements_of(case.op).by_id
    lines = [case.id, f"  {case.title}", f"  profile {case.profile}, context {case.context}"]
    for name in case.requirements:
        text = f": {levels[name].text}" if name in levels else ""
        lines.append(f"  requirement {name}{text}")
    lines += [f"  seen {each}: {_link(each)}" for each in case.seen]
    lines.append("")
    lines += [f"  {line}" for line in input_lines(case, inputs)]
    lines.append("")
    lines += [f"  {line}" for line in drawing_lines(case, inputs)]
    lines.append("")
    match case.expect:
        case Reject(reject=requirement):
            lines.append(f"  must be rejected: it violates {requirement}")
            lines.append(f"  its twin, which is accepted: {case.twin}")
        case Accept(accept=outputs):
            lines.append(f"  must be accepted, with {len(outputs)} output{'' if len(outputs) == 1 else 's'}:")
            lines += [f"    {each.name}: {each.element_type}{list(each.shape)}" for each in outputs[:_MOST]]
            lines += [f"    … {len(outputs) - _MOST} more"] if len(outputs) > _MOST else []
        case None:
            pass
    return lines


def _link(seen: str) -> str:
    """The URL of a public report; the tracker redirects an issue's number to a pull request."""
    repository, _, number = seen.partition("#")
    return f"https://github.com/{repository}/issues/{number}" if number else f"https://www.cve.org/CVERecord?id={seen}"
