"""The hooks of every operation: the walk over a case's graph, and what happens to the outputs under test."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from opconform.operations import OPERATIONS
from opconform.suite.case import Attribute, Graph
from opconform.tensors.tensor import Tensor
from opconform_runners.backends.constraints import checked
from opconform_runners.backends.frameworks.numpy import FUNCTIONS
from opconform_runners.backends.graph import outputs_of
from tests.mutants.row import Call, Hooks


def _outputs(call: Call) -> list[Tensor]:
    """The outputs of the model."""
    functions = {op: partial(_executed, call, op) for op in call.hooks}
    graph = call.do("graph")
    case = call.case if graph is call.case.graph else replace(call.case, graph=graph)
    return outputs_of(case, call.given, functions)


def _executed(
    call: Call, op: str, inputs: Sequence[Tensor | None], attributes: Mapping[str, Attribute]
) -> list[Tensor]:
    """The outputs of one node."""
    own = replace(call, op=op, inputs=_named(op, inputs), attributes=attributes)
    outputs: list[Tensor] = own.do(op)
    if op == call.case.op:
        outputs = own.do("delivered", [own.do("handed", each) for each in outputs])
    return outputs


def _named(op: str, inputs: Sequence[Tensor | None]) -> dict[str, Tensor]:
    """The inputs of a node by the names of its ports, without those that are left out."""
    ports = OPERATIONS[op].inputs
    names = [name for place, port in enumerate(ports) for name in port.names(len(inputs) - place)]
    return {name: each for name, each in zip(names, inputs, strict=False) if each is not None}


def _graph(call: Call) -> Graph:
    """The graph that is executed."""
    return call.case.graph


def _handed(_call: Call, tensor: Tensor) -> Tensor:
    """An output under test as it is handed out."""
    return tensor


def _delivered(_call: Call, outputs: list[Tensor]) -> list[Tensor]:
    """The outputs under test in the order in which they are handed out."""
    return outputs


def _concat(call: Call) -> list[Tensor]:
    """Concat-1, which joins outputs under test."""
    inputs = list(call.inputs.values())
    axis: Any = call.attributes["axis"]
    joined = np.concatenate([each.array for each in inputs], axis)
    return [Tensor(element_type=inputs[0].element_type, array=joined)]


def _computed(call: Call) -> list[Tensor]:
    """A node that a control input is computed with."""
    return list(FUNCTIONS[call.op](list(call.inputs.values()), call.attributes))


def _whole(call: Call) -> list[Tensor]:
    """An operation whose only hook is its function in the numpy backend."""
    operation = OPERATIONS[call.op]
    functions = checked(FUNCTIONS, [operation.declaration])
    inputs = [call.inputs.get(port.name) for port in operation.inputs]
    return list(functions[call.op](inputs, call.attributes))


#: The hooks of operations whose mutants are only those of every operation.
WHOLE: Mapping[str, Hooks] = MappingProxyType(
    {op: MappingProxyType({op: _whole}) for op in ("Reverse-1", "Roll-7", "Tile-1")}
)
#: The operations that control inputs are computed with.
COMPUTING = ("Constant-1", "Convert-1", "Convolution-1", "ShapeOf-3")
#: The hooks that every operation has.
MODEL: Hooks = MappingProxyType({"outputs": _outputs, "graph": _graph, "handed": _handed, "delivered": _delivered})
#: The hooks of the operations that surround the one under test.
SURROUNDING: Mapping[str, Hooks] = MappingProxyType(
    {
        "Concat-1": MappingProxyType({"Concat-1": _concat}),
        **{op: MappingProxyType({op: _computed}) for op in COMPUTING},
    }
)
