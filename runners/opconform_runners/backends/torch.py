"""The `torch` backend: PyTorch's own operations, eagerly, or with the whole graph compiled as `torch:compile`."""

import os
import re
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from opconform.errors import UsageError
from opconform.suite.case import Case, Input
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor
from opconform_runners.backends.backend import Implementation, Inputs, Outputs, Unsupported
from opconform_runners.backends.direct import BYTE_TYPES, Framework, Functions, outputs_of, plain
from opconform_runners.backends.direct_gather import indexed, indexed_nd
from opconform_runners.backends.direct_operations import operations_of
from opconform_runners.backends.direct_split import SHAPE_OF
from opconform_runners.backends.exceptions import Translation

_INDICES = (torch.int32, torch.int64)
#: Its types that carry every bit of an element; int1 to int7 and uint1 to uint7 have no kernels.
_TYPES = {each.name: getattr(torch, str(each.native)) for each in BYTE_TYPES}


def _index(indices: Any) -> Any:
    """Indices of one of the two types that indexing with tensors takes; those of other types are converted."""
    given = indices if indices.dtype in _INDICES else indices.long()
    return torch.where(given < 0, torch.iinfo(given.dtype).max, given) if indices.dtype == torch.uint64 else given


def _pad(data: Any, pads: list[tuple[int, int]], mode: str, value: Any) -> Any:
    """`torch.nn.functional.pad`, whose modes other than constant take up to three dimensions after the first two."""
    flat = [each for pair in reversed(pads) for each in pair]
    if mode == "constant":
        return torch.nn.functional.pad(data, flat, "constant", 0 if value is None else value.item())
    if len(pads) > 3:  # noqa: PLR2004 - see above
        raise Unsupported(f"the mode {mode} pads three dimensions at most")
    return torch.nn.functional.pad(data[None, None], flat, {"edge": "replicate"}.get(mode, mode))[0, 0]


_FUNCTIONS = Functions(
    split=torch.tensor_split,
    split_with_sizes=torch.split_with_sizes,
    concat=torch.cat,
    axis="dim",
    reshape=torch.reshape,
    transpose=torch.permute,
    pad=_pad,
    take=lambda data, indices, axis, batches: indexed(torch.arange, data, _index(indices), axis, batches),
    take_nd=lambda data, indices, batches: indexed_nd(torch.arange, torch.broadcast_to, data, _index(indices), batches),
    expand=torch.broadcast_to,
    integers=[kind for name, kind in _TYPES.items() if ELEMENT_TYPES[name].is_integer],
    stage="run",
    is_uneven=True,
    has_negative_steps=False,
    modes=("constant", "edge", "reflect"),
)
_TORCH = Framework(
    name="torch",
    version=torch.__version__,
    types=_TYPES,
    operations=operations_of(_FUNCTIONS) | {"ShapeOf-3": SHAPE_OF},
    translation=Translation(
        not_implemented=re.compile(r"not implemented for|not supported for|Unsupported dtype|no kernel"),
    ),
)


class Torch:
    """PyTorch on the CPU, eagerly or compiled."""

    def __init__(self, mode: str = "eager") -> None:
        if mode not in ("eager", "compile"):
            raise UsageError(f"torch has no mode {mode!r}. Allowed: torch, torch:compile.")
        if mode == "compile" and not any(shutil.which(each) for each in (os.environ.get("CXX", ""), "g++", "clang++")):
            raise UsageError("torch:compile needs a C++ compiler, and none was found. Install g++, or name one in CXX.")
        self._mode = mode

    def describe(self) -> Implementation:
        """What the backend is and can do."""
        return _TORCH.implementation(self._mode)

    def run(self, case: Case, model: object, feeds: Sequence[Inputs]) -> list[Outputs]:  # noqa: ARG002 - no dialect
        """The outputs of each feed, all from one compiled function under `compile`."""
        given = [{each.name: _argument(case, each, feed[each.name]) for each in case.inputs} for feed in feeds]
        constants = {each.name: given[0][each.name] for each in case.inputs if each.binding == "constant"}
        parameters = [{name: value for name, value in each.items() if name not in constants} for each in given]
        functions = _TORCH.functions("run") if self._mode == "eager" else _COMPILED

        def graph(**fed: Any) -> list[Any]:
            return outputs_of(case, {**constants, **fed}, functions)

        execute: Callable[..., list[Any]] = graph
        if self._mode == "compile":
            torch.compiler.reset()
            execute = partial(_TORCH.translation.caller("run"), torch.compile(graph, dynamic=_is_dynamic(case)))
        return [[_tensor(torch.as_tensor(each)) for each in execute(**fed)] for fed in parameters]


def _untranslated(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    return function(*arguments, **named)


#: The operations inside a compiled function, whose exceptions are translated where the whole function is called.
_COMPILED = {op: partial(each.execute, _untranslated) for op, each in _TORCH.operations.items()}


def _is_dynamic(case: Case) -> bool:
    """Whether shapes or control inputs may change from one inference to the next."""
    return any(
        each.dynamic is not None or (each.role == "control" and each.binding == "parameter") for each in case.inputs
    )


def _argument(case: Case, given: Input, tensor: Tensor) -> Any:
    if not _TORCH.takes_tensor(case, given):
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
