"""The rules, and what an operation lacks by them."""

from collections.abc import Callable, Iterator, Mapping

from opconform.operations import SHIPPED
from opconform.specs.index import SAMPLES, cases_folder
from opconform.specs.yaml_document import SpecMistakes
from opconform.system.resources import REQUIREMENTS
from opconform_runners.tools.house import lists, repository, requirements, samples
from opconform_runners.tools.house.lacks import Lack, lack_of
from opconform_runners.tools.house.operation import HouseOperation, house_operation

#: What an operation lacks by a rule.
Rule = Callable[[HouseOperation], Iterator[Lack]]
#: Every rule, in the order in which an author meets them.
RULES: Mapping[str, Rule] = {
    "groups of every operation": samples.every_group,
    "high ranks": samples.ranks,
    "evidence": requirements.evidence,
    "attribution": requirements.attribution,
    "own reasons": requirements.own_reasons,
    "interpretations": requirements.interpretations,
    "NaN payloads": requirements.nan_payloads,
    "rounding": requirements.rounding,
    "exhaustive": lists.exhaustive,
    "second implementation": repository.second_implementation,
    "neighbours": repository.neighbours,
    "facts": repository.facts,
    "quick": lists.quick,
    "index": lists.index,
    "releases": lists.releases,
}


def lacks_of(op: str) -> Iterator[Lack]:
    """What an operation lacks; of one that cannot be read yet, only what is needed for that."""
    missing = [*_missing(op)]
    yield from missing
    if missing:
        return
    try:
        house = house_operation(op)
        for rule in RULES.values():
            yield from dict.fromkeys(rule(house))
    except SpecMistakes as error:
        yield from map(lack_of, error.mistakes)


def _missing(op: str) -> Iterator[Lack]:
    folder = cases_folder() / op
    if not (folder / REQUIREMENTS).is_file():
        yield Lack(f"cases/{op}/{REQUIREMENTS}", None, "write every statement of the page that a case can test")
    if op not in SHIPPED:
        where = "a module of movement/, shape/ or arithmetic/"
        todo = f"declare {op} in {where} beside it, and add it to SHIPPED"
        yield Lack("generator/opconform/operations/__init__.py", None, todo)
    if not (folder / SAMPLES).is_file():
        yield Lack(f"cases/{op}/{SAMPLES}", None, "write named sets of valid arguments, the most common one first")
