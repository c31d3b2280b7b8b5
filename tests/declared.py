"""Cases with the declarations of their operations, as a harness receives them."""

from dataclasses import fields

from opconform.operations import OPERATIONS
from opconform.suite.case import Case
from opconform.suite.declarations import DeclaredCase


def declared(case: Case) -> DeclaredCase:
    """A case with the declarations that a suite carries."""
    if isinstance(case, DeclaredCase):
        return case
    known = {field.name: getattr(case, field.name) for field in fields(case)}
    ops = dict.fromkeys(node.op for node in case.graph.nodes)
    return DeclaredCase(**known, declarations=tuple(OPERATIONS[op].declaration for op in ops if op in OPERATIONS))
