"""The graph of a case as PyTorch calls, recorded from the rows of the `torch` backend."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from opconform.errors import UsageError
from opconform.model.evaluation import evaluated
from opconform.suite.case import Accept, Case
from opconform.suite.declarations import DeclaredCase
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor
from opconform_products.frameworks.framework import Framework
from opconform_products.frameworks.settings import FrameworkOperand, is_plain, plain
from opconform_products.torch.repro.expression import Expression
from opconform_products.torch.rows.table import torch_framework
from opconform_runners.backends.backend import Rejected, Unsupported
from opconform_runners.tools.repro.graph_source import GraphSource
from opconform_runners.tools.repro.names import script_names
from opconform_runners.tools.repro.variables import is_odd

#: What torch calls the types that numpy does not have.
TORCH_TYPES: Mapping[str, str] = {
    "bf16": "bfloat16",
    "f8e4m3": "float8_e4m3fn",
    "f8e5m2": "float8_e5m2",
    "f8e8m0": "float8_e8m0fnu",
}


def torch_source(case: DeclaredCase, inputs: Mapping[str, Tensor]) -> GraphSource:
    """The graph as the calls of the backend, on variables with the names of the inputs.

    Raises `UsageError` if the backend does not call PyTorch for the case.
    """
    _check(case)
    torch = replace(torch_framework(Expression("torch"), ""), tensor=_constant)
    try:
        return _recorded(torch, case, inputs)
    except (Rejected, Unsupported) as answer:
        why = answer.message if isinstance(answer, Rejected) else answer
        raise UsageError(f"{case.id} cannot be written for torch: {why}.") from answer


def _recorded(torch: Framework, case: DeclaredCase, inputs: Mapping[str, Tensor]) -> GraphSource:
    tensors, steps, known, names = _tensors(case, inputs), [], {}, script_names(case)
    for port in case.inputs:
        tensor, is_tensor = inputs[port.name], torch.takes_tensor(case, port)
        if is_tensor and port.role == "setting":
            steps.append((names.arrays[port.name], _literal(torch, tensor)))
        value = _tensor(torch, names.arrays[port.name], tensor) if is_tensor else plain(tensor, torch.types)
        known[port.name] = torch.operand(value, port)
    for node, variable in zip(case.graph.nodes, names.nodes, strict=True):
        function = torch.functions(case, _called).get(node.op)
        if function is None:
            raise Unsupported(f"the torch backend does not implement {node.op}")
        outputs = function([None if name is None else known[name] for name in node.inputs], node.attributes)
        if isinstance(outputs[0], FrameworkOperand) or is_plain(outputs[0]):
            known[node.outputs[0]] = torch.operand(outputs[0])
            continue
        steps.append((variable, repr(outputs)))
        for number, name in enumerate(node.outputs):
            like = tensors.get(name) or inputs[case.inputs[0].name]
            known[name] = torch.operand(_tensor(torch, f"{variable}[{number}]", like))
    if case.is_bare:  # all that is returned counts, however many outputs the case declares
        return GraphSource(tuple(steps), (f"*{steps[-1][0]}",))
    return GraphSource(tuple(steps), tuple(repr(known[name].value) for name in case.graph.outputs))


def _called(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    return function(*arguments, **named)


def _tensor(torch: Framework, text: str, like: Tensor) -> Expression:
    return Expression(text, shape=like.shape, dtype=torch.type_of(like))


def _literal(torch: Framework, tensor: Tensor) -> str:
    """A tensor as PyTorch makes it of Python's own numbers."""
    text = repr(_constant(plain(tensor, torch.types), torch.type_of(tensor)))
    return text if tensor.array.size else f"{text}.reshape({tensor.shape})"


def _constant(value: Any, kind: Expression) -> Expression:
    return Expression(f"torch.tensor({value}, dtype={kind})", shape=np.shape(value), dtype=kind)


def _tensors(case: Case, inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors of a graph whose values are defined."""
    nodes = case.graph.nodes
    if not isinstance(case.expect, Accept):
        nodes = nodes[: nodes.index(case.node)]
    return evaluated(replace(case.graph, nodes=nodes), inputs)


def _check(case: Case) -> None:
    for tensor in (input_.element_type for input_ in case.inputs if input_.role == "data"):
        if tensor == "string" or (is_odd(ELEMENT_TYPES[tensor]) and tensor not in TORCH_TYPES):
            raise UsageError(f"{case.id} cannot be given to torch, which has no tensors of {tensor}.")
    if case.feeds > 1:
        raise UsageError(f"{case.id} has two inferences on one model, and torch has no model: each is a separate call.")
