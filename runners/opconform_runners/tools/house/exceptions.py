"""`cases/exceptions.yaml`: the operations that do not keep a rule, and why."""

from functools import cache
from typing import Annotated

from pydantic import Field

from opconform.specs.diagnostics import validated
from opconform.specs.index import cases_folder
from opconform.specs.schema.keys import Keys
from opconform.specs.yaml_document import read_document

#: The file, as in a checkout.
FILE = "cases/exceptions.yaml"


class RuleException(Keys):
    """Operations that do not keep some rules, for one reason."""

    rules: Annotated[tuple[str, ...], Field(min_length=1, description="A group of cases/every, or another rule.")]
    operations: Annotated[tuple[str, ...], Field(min_length=1)]
    reason: str = Field(min_length=1)


class RuleExceptions(Keys):
    """The document `exceptions.yaml`."""

    exceptions: tuple[RuleException, ...]


@cache
def rule_exceptions() -> tuple[RuleException, ...]:
    """The exceptions; `SpecMistakes` if their file is wrong."""
    document = read_document(cases_folder() / "exceptions.yaml", FILE)
    return validated(document, RuleExceptions).exceptions


def is_excepted(op: str, rule: str) -> bool:
    """Whether an operation does not keep a rule."""
    return any(rule in x.rules and op in x.operations for x in rule_exceptions())
