"""Cases with the declarations of their operations, as a harness receives them."""

from dataclasses import fields

from opconform.operations import OPERATIONS
from opconform.suite.case import Case
from opconform.suite.declarations import DeclaredCase


def declared(case: Case) -> DeclaredCase:
    """A case with the declarations that a suite carries."""
    if isinstance(case, DeclaredCase):
        return case
    known = {each.name: getattr(case, each.name) for each in fields(case)}
    ops = dict.fromkeys(each.op for each in case.graph.nodes)
    return DeclaredCase(**known, declarations=tuple(OPERATIONS[each].declaration for each in ops if each in OPERATIONS))
