"""The `torch` backend: PyTorch's own operations, eagerly, or with the whole graph compiled as `torch:inductor`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch

from opconform.errors import UsageError
from opconform.suite.case import Input
from opconform.suite.declarations import DeclaredCase
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor
from opconform_products.frameworks.framework import Framework
from opconform_products.frameworks.settings import plain
from opconform_products.torch.inductor import PACKS, compiled, prepare_inductor
from opconform_products.torch.rows.table import torch_framework
from opconform_runners.backends.backend import Implementation, Inputs, Outputs, Rejected, Unsupported
from opconform_runners.backends.exceptions import Call
from opconform_runners.backends.packs import cases_of_pack

_TORCH = torch_framework(torch, torch.__version__)
#: Inside a compiled function, integers of a declaration would become symbols.
_COMPILED = replace(_TORCH, checks=False)
_CALL = _TORCH.translation.caller("run")


class Torch:
    """PyTorch on the CPU, eagerly or compiled by inductor."""

    def __init__(self, mode: str = "eager") -> None:
        if mode not in ("eager", "inductor"):
            raise UsageError(f"torch has no mode {mode!r}. Allowed: torch, torch:inductor.")
        if mode == "inductor":
            prepare_inductor()
        self._mode = mode

    def describe(self) -> Implementation:
        """What the backend is and can do."""
        return replace(_TORCH.implementation(self._mode), packs=PACKS if self._mode == "inductor" else 1)

    def run(self, case: DeclaredCase, model: object, feeds: Sequence[Inputs]) -> list[Outputs]:  # noqa: ARG002 - no dialect
        """The outputs of each feed, all from one compiled function under `inductor`."""
        execute = _compiled if self._mode == "inductor" else _eager
        try:
            outputs = execute(_models(case, feeds), len(feeds))
        except Rejected as refusal:  # torch does not build a model
            raise Rejected("run", refusal.message, refusal.requirement) from refusal
        return [[_tensor(torch.as_tensor(x)) for x in of_feed] for of_feed in outputs]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Model:
    """A case that is executed, by its prefix in a pack: its constants, and its other inputs in each feed."""

    prefix: str
    case: DeclaredCase
    constants: Mapping[str, Any]
    feeds: Sequence[Mapping[str, Any]]

    def outputs(self, framework: Framework, call: Call, feed: Mapping[str, Any]) -> list[Any]:
        """The outputs, by functions that `call` calls."""
        return framework.outputs(self.case, {**self.constants, **feed}, call)

    @property
    def is_dynamic(self) -> bool:
        """Whether shapes or setting inputs may change from one inference to the next."""
        return any(
            input_.dynamic is not None or (input_.role == "setting" and input_.binding == "parameter")
            for input_ in self.case.inputs
        )


def _models(case: DeclaredCase, feeds: Sequence[Inputs]) -> list[_Model]:
    models = []
    for prefix, member in cases_of_pack(case).items():
        inputs = [{x.name: _argument(member, x, feed[f"{prefix}{x.name}"]) for x in member.inputs} for feed in feeds]
        constants = {x.name: inputs[0][x.name] for x in member.inputs if x.binding == "constant"}
        parameters = [{name: value for name, value in x.items() if name not in constants} for x in inputs]
        models.append(_Model(prefix=prefix, case=member, constants=constants, feeds=parameters))
    return models


def _eager(models: Sequence[_Model], feeds: int) -> list[list[Any]]:
    """The outputs of each feed, of all cases."""
    return [[x for model in models for x in model.outputs(_TORCH, _CALL, model.feeds[feed])] for feed in range(feeds)]


def _compiled(models: Sequence[_Model], feeds: int) -> list[list[Any]]:
    """The outputs of each feed, of two compiled functions: one of the dynamic cases, and one of the others."""
    if len(models) > 1 and (refused := [model.prefix for model in models if not _is_executed(model)]):
        raise Unsupported(f"not executed by PyTorch itself: {', '.join(refused)}")
    outputs: dict[tuple[str, int], list[Any]] = {}
    for is_dynamic in (False, True):
        chosen = [model for model in models if model.is_dynamic == is_dynamic]
        for model in chosen:
            _TORCH.check(model.case)
        if not chosen:
            continue
        function = compiled([partial(model.outputs, _COMPILED, _called) for model in chosen], is_dynamic=is_dynamic)
        for feed in range(feeds):
            results = _CALL(function, [model.feeds[feed] for model in chosen])
            outputs |= {(model.prefix, feed): of_case for model, of_case in zip(chosen, results, strict=True)}
    return [[x for model in models for x in outputs[model.prefix, feed]] for feed in range(feeds)]


def _called(function: Callable[..., Any], *values: Any, **named: Any) -> Any:
    """Calls PyTorch in a compiled function, whose exceptions are translated where that is called."""
    return function(*values, **named)


def _is_executed(model: _Model) -> bool:
    """Whether PyTorch executes a case without inductor; one that it does not would cost a pack its function."""
    try:
        model.outputs(_TORCH, _CALL, model.feeds[0])
    except (Rejected, Unsupported):
        return False
    return True


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
