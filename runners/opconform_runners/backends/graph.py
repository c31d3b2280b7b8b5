"""The walk over a case's graph, for backends without a dialect."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from opconform.suite.case import Attribute, Case
from opconform_runners.backends.backend import Unsupported

#: Executes one operation: the outputs for the inputs of a node, None where one is omitted, and its attributes.
Function = Callable[[Sequence[Any], Mapping[str, Attribute]], Sequence[Any]]


def outputs_of(case: Case, inputs: Mapping[str, Any], functions: Mapping[str, Function]) -> list[Any]:
    """The outputs of a case's model; raises `Unsupported` if there is no function for an operation of the graph.

    `inputs` has the inputs of the model by name, in whatever form the functions take them.
    """
    tensors = dict(inputs)
    for node in case.graph.nodes:
        if node.op not in functions:
            raise Unsupported(f"the graph has a {node.op} node, which this backend does not implement")
        operands = [None if name is None else tensors[name] for name in node.inputs if name is None or name in tensors]
        outputs = functions[node.op](operands, node.attributes)
        if case.is_bare:
            return list(outputs)
        tensors.update(zip(node.outputs, outputs, strict=False))
    return [tensors[name] for name in case.graph.outputs if name in tensors]


def padded(inputs: Sequence[Any], count: int) -> list[Any]:
    """The inputs of a node, with None for omitted inputs at the end."""
    return [*inputs, *[None] * (count - len(inputs))]
