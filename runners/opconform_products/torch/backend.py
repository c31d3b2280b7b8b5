"""The `torch` backend: PyTorch's own operations, eagerly, or with the whole graph compiled as `torch:compile`."""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch

from opconform.errors import UsageError
from opconform.suite.case import Case, Input
from opconform.suite.declarations import DeclaredCase
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor
from opconform_products.frameworks.settings import plain
from opconform_products.torch.rows.table import torch_framework
from opconform_runners.backends.backend import Implementation, Inputs, Outputs, Rejected

_TORCH = torch_framework(torch, torch.__version__)
#: Inside a compiled function, integers of a declaration would become symbols.
_COMPILED = replace(_TORCH, checks=False)
_CALL = _TORCH.translation.caller("run")


class Torch:
    """PyTorch on the CPU, eagerly or compiled."""

    def __init__(self, mode: str = "eager") -> None:
        if mode not in ("eager", "compile"):
            raise UsageError(f"torch has no mode {mode!r}. Allowed: torch, torch:compile.")
        if mode == "compile" and not any(shutil.which(x) for x in (os.environ.get("CXX", ""), "g++", "clang++")):
            raise UsageError("torch:compile needs a C++ compiler, and none was found. Install g++, or name one in CXX.")
        self._mode = mode

    def describe(self) -> Implementation:
        """What the backend is and can do."""
        return _TORCH.implementation(self._mode)

    def run(self, case: DeclaredCase, model: object, feeds: Sequence[Inputs]) -> list[Outputs]:  # noqa: ARG002 - no dialect
        """The outputs of each feed, all from one compiled function under `compile`."""
        inputs = [{input_.name: _argument(case, input_, feed[input_.name]) for input_ in case.inputs} for feed in feeds]
        constants = {input_.name: inputs[0][input_.name] for input_ in case.inputs if input_.binding == "constant"}
        parameters = [{name: value for name, value in x.items() if name not in constants} for x in inputs]
        execute = _compiled if self._mode == "compile" else _eager
        try:
            function = execute(case, constants)
            return [[_tensor(torch.as_tensor(x)) for x in function(**fed)] for fed in parameters]
        except Rejected as refusal:  # torch does not build a model
            raise Rejected("run", refusal.message, refusal.requirement) from refusal


def _eager(case: DeclaredCase, constants: Mapping[str, Any]) -> Callable[..., list[Any]]:
    return lambda **fed: _TORCH.outputs(case, {**constants, **fed}, _CALL)


def _compiled(case: DeclaredCase, constants: Mapping[str, Any]) -> Callable[..., list[Any]]:
    """A compiled function, whose exceptions are translated where it is called."""

    def graph(**fed: Any) -> list[Any]:
        return _COMPILED.outputs(
            case, {**constants, **fed}, lambda function, *values, **named: function(*values, **named)
        )

    _TORCH.check(case)
    torch.compiler.reset()
    return partial(_CALL, torch.compile(graph, dynamic=_is_dynamic(case)))


def _is_dynamic(case: Case) -> bool:
    """Whether shapes or setting inputs may change from one inference to the next."""
    return any(
        input_.dynamic is not None or (input_.role == "setting" and input_.binding == "parameter")
        for input_ in case.inputs
    )


def _argument(case: DeclaredCase, port: Input, tensor: Tensor) -> Any:
    if not _TORCH.takes_tensor(case, port):
        return plain(tensor, _TORCH.types)
    kind = _TORCH.type_of(tensor)
    if tensor.array.size == 0:
        return torch.empty(tensor.shape, dtype=kind)
    return torch.frombuffer(bytearray(tensor.array.tobytes()), dtype=kind).reshape(tensor.shape)


def _tensor(tensor: Any) -> Tensor:
    name = _TORCH.name_of(tensor.dtype)
    content = tensor.clone(memory_format=torch.contiguous_format).reshape(-1).view(torch.uint8).numpy().tobytes()
    array = np.frombuffer(content, ELEMENT_TYPES[name].storage).reshape(tuple(tensor.shape))
    return Tensor(element_type=name, array=array)
