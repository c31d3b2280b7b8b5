"""The `torch` backend: PyTorch's own splits, eagerly, or with the whole graph compiled as `torch:compile`."""

import os
import re
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
import torch

from opconform.case import Case
from opconform.element_types import ELEMENT_TYPES
from opconform.errors import UsageError
from opconform.tensors import Tensor
from opconform_runners.answers import Answers
from opconform_runners.backend import Implementation, Inputs, Outputs, Unsupported
from opconform_runners.graphs import (
    Graph,
    alike_of,
    axis_of,
    check_pieces_are_equal,
    filled,
    plain,
    rank_of,
)

#: PyTorch's types that carry every bit of an element. Its int1 to int7 and uint1 to uint7 have no kernels.
_TYPES = MappingProxyType(
    {
        "boolean": torch.bool,
        "bf16": torch.bfloat16,
        "f16": torch.float16,
        "f32": torch.float32,
        "f64": torch.float64,
        "f8e4m3": torch.float8_e4m3fn,
        "f8e5m2": torch.float8_e5m2,
        "f8e8m0": torch.float8_e8m0fnu,
        "i8": torch.int8,
        "i16": torch.int16,
        "i32": torch.int32,
        "i64": torch.int64,
        "u8": torch.uint8,
        "u16": torch.uint16,
        "u32": torch.uint32,
        "u64": torch.uint64,
    }
)
_NAMES = MappingProxyType({kind: name for name, kind in _TYPES.items()})

_ANSWERS = Answers(
    requirements=(
        (re.compile(r"Dimension out of range"), "axis.range"),
        (re.compile(r"at least a 1-dimensional tensor"), "data.rank"),
        (re.compile(r"number of sections must be larger than 0"), "num_splits.positive"),
        (re.compile(r"expects split_sizes to sum exactly"), "lengths.sum"),
        (re.compile(r"have only non-negative entries"), "lengths.negative"),
        (re.compile(r"argument 'dim' .* must be int, not list"), "axis.shape"),
        (re.compile(r"argument 'dim' .* must be int"), "axis.element-type"),
        (
            re.compile(r"argument 'split_sizes' .* found element of type list|must be tuple of ints, not int"),
            "lengths.rank",
        ),
        (re.compile(r"argument 'split_sizes' .* found element of type"), "lengths.element-type"),
    ),
    not_implemented=re.compile(r"not implemented for|not supported for|Unsupported dtype|no kernel"),
)


class Torch:
    """PyTorch on the CPU: `torch.tensor_split` for Split-1, and `torch.split_with_sizes` for VariadicSplit-1."""

    def __init__(self, mode: str = "eager") -> None:
        if mode not in ("eager", "compile"):
            raise UsageError(f"torch has no mode {mode!r}. Allowed are: torch, torch:compile.")
        if mode == "compile" and not any(shutil.which(each) for each in (os.environ.get("CXX", ""), "g++", "clang++")):
            raise UsageError("torch:compile needs a C++ compiler, and there is none: install g++, or name one in CXX.")
        self._mode = mode

    def describe(self) -> Implementation:
        """What the backend is and can do."""
        return Implementation(
            name="torch",
            version=torch.__version__,
            device=self._mode,
            element_types=tuple(_TYPES),
            operations=("Split-1", "VariadicSplit-1"),
            dynamic=True,
            bindings=("constant", "parameter"),
            contexts=("bare", "folded", "concat", "chain", "partial", "shared"),
            mapped=(
                "axis.element-type",
                "axis.required",
                "axis.shape",
                "lengths.element-type",
                "lengths.remainder",
                "lengths.remainder-sum",
                "lengths.remainder-zero",
                "num_splits.at-most-dimension",
                "num_splits.divides",
                "types.independent",
            ),
        )

    def run(self, case: Case, model: object, feeds: Sequence[Inputs]) -> list[Outputs]:  # noqa: ARG002 - it has no dialect
        """The outputs of each feed, all of them of one compiled function under `compile`.

        Raises:
            Rejected: PyTorch refuses the case, or the mapping does.
            Unsupported: PyTorch has no such element type, or no kernel for it.
        """
        asked = _asked if self._mode == "eager" else _unasked
        function, constants = _function(case, feeds[0], asked), _constants(case)
        execute: Callable[..., list[Any]] | None = None
        outputs: list[Outputs] = []
        for feed in feeds:
            given = {
                "data": _given(feed["data"]) if "data" in feed else None,
                "axis": plain(axis_of(case, feed, "run"), _TYPES),
                "lengths": plain(feed["split_lengths"], _TYPES) if "split_lengths" in feed else None,
            }
            check_pieces_are_equal(case, feed, "run")
            if execute is None:
                built = partial(function, **{name: given[name] for name in constants})
                execute = built if self._mode == "eager" else _compiled(built, moving=_moves(case))
            pieces = execute(**{name: value for name, value in given.items() if name not in constants})
            outputs.append([_taken(each) for each in pieces])
        return outputs


def _constants(case: Case) -> frozenset[str]:
    """What of the graph's arguments is constant in it."""
    parameters = {each.name for each in case.inputs if each.binding == "parameter"}
    constants = {"axis"} - parameters | ({"lengths"} if "split_lengths" not in parameters else set())
    return frozenset(constants | ({"data"} if case.context == "folded" else set()))


def _moves(case: Case) -> bool:
    """Whether anything about the graph but data's values changes from one inference to the next."""
    return any(
        each.dynamic is not None or (each.name != "data" and each.binding == "parameter") for each in case.inputs
    )


def _compiled(function: Callable[..., list[Any]], *, moving: bool) -> Callable[..., list[Any]]:
    torch.compiler.reset()
    compiled: Callable[..., list[Any]] = _asked(torch.compile(function, dynamic=moving))
    return compiled


def _asked(call: Callable[..., Any]) -> Callable[..., Any]:
    """A call that PyTorch answers when it executes it, be it compiled only then."""
    return _ANSWERS.asked("run", call)


def _unasked(call: Callable[..., Any]) -> Callable[..., Any]:
    """A call inside what is compiled, and asked, as a whole."""
    return call


def _function(
    case: Case, first: Inputs, asked: Callable[[Callable[..., Any]], Callable[..., Any]]
) -> Callable[..., Any]:
    """The case's graph as a function of data, axis and lengths, in PyTorch's calls.

    Args:
        case: The case.
        first: The first feed.
        asked: What makes of a call of PyTorch's one that answers for the backend.
    """
    even, uneven, join = asked(torch.tensor_split), asked(torch.split_with_sizes), asked(torch.cat)
    sections = [case.attributes["num_splits"]] if "num_splits" in case.attributes else []
    alike, rank = alike_of(case, first), rank_of(first)

    def outputs(data: Any, axis: Any, lengths: Any) -> list[Any]:
        def split(whole: Any, along: Any) -> Sequence[Any]:
            given = [] if whole is None else [whole]
            if case.op == "Split-1":
                return list(even(*given, *sections, dim=along))
            sizes = [] if lengths is None else [lengths if whole is None else filled(lengths, whole.shape, along)]
            return list(uneven(*given, *sizes, dim=along))

        graph: Graph[Any] = Graph(case=case, rank=rank, alike=alike, split=split, join=join)
        return graph.outputs(data, axis)

    return outputs


def _given(tensor: Tensor) -> Any:
    kind = _TYPES.get(tensor.element_type)
    if kind is None:
        raise Unsupported(f"PyTorch has no tensors of {tensor.element_type} that can be copied")
    if tensor.array.size == 0:
        return torch.empty(tensor.shape, dtype=kind)
    return torch.frombuffer(bytearray(tensor.array.tobytes()), dtype=kind).reshape(tensor.shape)


def _taken(tensor: Any) -> Tensor:
    name = _NAMES[tensor.dtype]
    content = tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
    array = np.frombuffer(content, ELEMENT_TYPES[name].storage).reshape(tuple(tensor.shape))
    return Tensor(element_type=name, array=array)
