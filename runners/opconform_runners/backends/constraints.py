"""The constraints of declarations: what a harness refuses by them, and the requirements that they stand for."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from opconform.suite.case import Attribute, Case
from opconform.suite.declarations import Declaration, Typed
from opconform_runners.backends.backend import Implementation, Rejected, full_name
from opconform_runners.backends.graph import Function


def refuse_if(violated: object, requirement: str) -> None:
    """Raise `Rejected`, as when a model is built, if a requirement is violated."""
    if violated:
        raise Rejected("build", f"the arguments violate {requirement}", requirement)


def check_declared(
    declaration: Declaration,
    inputs: Mapping[str, Typed],
    attributes: Mapping[str, Attribute],
    names: Collection[str],
    unknown: Collection[str] = (),
) -> None:
    """Raise `Rejected` if arguments violate a requirement that one of some names covers.

    `inputs` are by name, and `unknown` are the names of those whose types and shapes are not known.
    """
    for name, requirement in declaration.located_violations(inputs, attributes):
        is_checked = name not in unknown and covers(names, full_name(declaration.name, requirement))
        refuse_if(is_checked, requirement)


def check_constants(case: Case, declarations: Iterable[Declaration]) -> None:
    """Raise `Rejected` if an input of a case that must be a constant of the model is given at run time."""
    declared = (declaration for declaration in declarations if declaration.name == case.op)
    ports = {port.name: port for declaration in declared for port in declaration.inputs if port.constant}
    for input_ in case.inputs:
        if input_.name in ports:
            refuse_if(input_.binding == "parameter", ports[input_.name].constant_id)


def with_constraints(functions: Mapping[str, Function], declarations: Iterable[Declaration]) -> dict[str, Function]:
    """Functions on tensors. Functions of declared operations first refuse what violates the declaration."""
    known = {declaration.name: declaration for declaration in declarations}
    return {op: partial(_checked, call, known[op]) if op in known else call for op, call in functions.items()}


def _checked(
    function: Function, declaration: Declaration, inputs: Sequence[Any], attributes: Mapping[str, Attribute]
) -> Sequence[Any]:
    check_declared(declaration, declaration.named(inputs), attributes, [declaration.name])
    return function(inputs, attributes)


def covers(names: Iterable[str], requirement: str) -> bool:
    """Whether one of some names is the full name of a requirement, or of its operation, input or attribute."""
    return any(requirement == name or requirement.startswith((f"{name}.", f"{name}:")) for name in names)


def resolved(implementation: Implementation, declarations: Iterable[Declaration]) -> Implementation:
    """The implementation with the full name of every requirement that it maps.

    `Pad-12` in `mapped` stands for every requirement that a constraint of the operation's declaration stands for, and
    `Pad-12:pads_begin` for those of one word.
    """
    mapped = [name for name in implementation.mapped if "." in name.partition(":")[2]]
    names = (name for name in constrained_names(declarations) if "." in name.partition(":")[2])
    covered = [name for name in names if covers(implementation.mapped, name)]
    return replace(implementation, mapped=tuple(dict.fromkeys([*mapped, *covered])))


def constrained_names(declarations: Iterable[Declaration]) -> Iterator[str]:
    """The full names of operations, of their inputs and attributes, and of the requirements of their constraints."""
    for declaration in declarations:
        names = [full_name(declaration.name, requirement) for requirement in constraint_ids(declaration)]
        yield from (declaration.name, *dict.fromkeys(name.rpartition(".")[0] for name in names), *names)


def constraint_ids(declaration: Declaration) -> Iterator[str]:
    """The ids of the requirements that the constraints of a declaration stand for."""
    for port in declaration.inputs:
        constraints = {
            "required": not port.optional,
            "rank": port.ranks is not None,
            "shape": port.shapes is not None,
            "element-type": port.types is not None,
            "constant": port.constant,
        }
        yield from (f"{port.prefix or port.name}.{name}" for name, holds in constraints.items() if holds)
    for attribute in declaration.attributes:
        constraints = {
            "required": attribute.default is None,
            "type": attribute.type != "enum",
            "values": bool(attribute.values),
            "spelling": attribute.type in ("boolean", "enum"),
        }
        yield from (f"{attribute.prefix or attribute.name}.{name}" for name, holds in constraints.items() if holds)
