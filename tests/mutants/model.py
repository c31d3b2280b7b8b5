"""The execution of cases by the `numpy` backend, with a step of a mutant in place of a right one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from opconform.operations import OPERATIONS
from opconform.suite.case import Attribute, Case
from opconform.tensors.tensor import Tensor
from opconform_runners.backends.backend import Inputs, Outputs
from opconform_runners.backends.constraints import with_constraints
from opconform_runners.backends.graph import outputs_of
from opconform_runners.backends.numpy.backend import FUNCTIONS
from tests.mutants.row import Call, MutantRow

#: The right function of each operation, which refuses what violates the declaration.
RIGHT = with_constraints(FUNCTIONS, (operation.declaration for operation in OPERATIONS.values()))

#: What executes a case: the outputs of each feed.
Execute = Callable[[Case, Sequence[Inputs]], Sequence[Outputs]]


def execution(row: MutantRow) -> Execute:
    """The execution of cases by a mutant; one of some operations is right in the cases of all others."""
    process: dict[str, Any] = {}

    def execute(case: Case, feeds: Sequence[Inputs]) -> list[list[Tensor]]:
        model: dict[str, Any] = {}
        if row.ops and case.op not in row.ops:
            return [outputs_of(case, given, RIGHT) for given in feeds]
        return [_outputs(row, _call(case, given, feed, model, process)) for feed, given in enumerate(feeds)]

    return execute


def _call(case: Case, given: Inputs, feed: int, model: dict[str, Any], process: dict[str, Any]) -> Call:
    return Call(
        case=case,
        given=given,
        feed=feed,
        op=case.op,
        inputs=given,
        attributes=case.attributes,
        execute=lambda _, __: None,
        model=model,
        process=process,
    )


def _outputs(row: MutantRow, call: Call) -> list[Tensor]:
    """The outputs of the model."""
    graph, functions = call.case.graph, RIGHT
    if row.step in ("node", "other"):
        steps = {op: partial(_node, row, call, op) for op in RIGHT if (op == call.op) == (row.step == "node")}
        functions = {**RIGHT, **steps}
    if row.step == "graph":
        graph = row.hook(replace(call, execute=lambda *_: call.case.graph))
    case = call.case if graph is call.case.graph else replace(call.case, graph=graph)
    if row.step == "model":
        outputs: list[Tensor] = row.hook(replace(call, execute=lambda given, _: outputs_of(case, given, functions)))
        return outputs
    return outputs_of(case, call.given, functions)


def _node(
    row: MutantRow, call: Call, op: str, inputs: Sequence[Tensor | None], attributes: Mapping[str, Attribute]
) -> list[Tensor]:
    """The outputs of one node."""
    ports = OPERATIONS[op].inputs
    names = [name for place, port in enumerate(ports) for name in port.names(len(inputs) - place)]
    given = {name: input_ for name, input_ in zip(names, inputs, strict=False) if input_ is not None}

    def execute(named: Inputs, attributes: Mapping[str, Attribute]) -> Sequence[Tensor]:
        ordered = [x for port in ports for x in ([*named.values()] if port.variadic else [named.get(port.name)])]
        while ordered and ordered[-1] is None:
            ordered.pop()
        return RIGHT[op](ordered, attributes)

    outputs: list[Tensor] = row.hook(replace(call, op=op, inputs=given, attributes=attributes, execute=execute))
    return outputs
