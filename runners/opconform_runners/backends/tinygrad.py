"""The `tinygrad` backend: tinygrad's own splits on one of its devices, `tinygrad:CPU` by default."""

import os
import re
import shutil
from collections.abc import Sequence
from importlib.metadata import version
from subprocess import CalledProcessError
from types import MappingProxyType
from typing import Any

import numpy as np
from tinygrad import Tensor as Tiny
from tinygrad import dtypes

from opconform.case import Case
from opconform.element_types import ELEMENT_TYPES
from opconform.errors import UsageError
from opconform.tensors import Tensor
from opconform_runners.answers import Answers
from opconform_runners.backend import Implementation, Inputs, Outputs, Rejected, Unsupported
from opconform_runners.graphs import (
    Graph,
    alike_of,
    axis_of,
    check_pieces_are_equal,
    filled,
    plain,
    rank_of,
)

#: tinygrad's types, and those through which its tensors' bits are read.
_TYPES = MappingProxyType(
    {
        "boolean": dtypes.bool,
        "bf16": dtypes.bfloat16,
        "f16": dtypes.float16,
        "f32": dtypes.float32,
        "f64": dtypes.float64,
        "f8e4m3": dtypes.fp8e4m3,
        "f8e5m2": dtypes.fp8e5m2,
        "i8": dtypes.int8,
        "i16": dtypes.int16,
        "i32": dtypes.int32,
        "i64": dtypes.int64,
        "u8": dtypes.uint8,
        "u16": dtypes.uint16,
        "u32": dtypes.uint32,
        "u64": dtypes.uint64,
    }
)
_NAMES = MappingProxyType({kind: name for name, kind in _TYPES.items()})
_BITS = MappingProxyType({1: dtypes.uint8, 2: dtypes.uint16, 4: dtypes.uint32, 8: dtypes.uint64})

_ANSWERS = Answers(
    requirements=(
        (re.compile(r"dim=.* out of range"), "axis.range"),
        (re.compile(r"indices must be integers"), "axis.element-type"),
        (re.compile(r"instances of 'int' and 'list'"), "axis.shape"),
        (re.compile(r"instances of 'int' and 'str'"), "axis.element-type"),
        (re.compile(r"chunks to be greater than 0"), "num_splits.positive"),
        (re.compile(r"'>' not supported"), "num_splits.type"),
        (re.compile(r"sizes to sum exactly"), "lengths.sum"),
        (re.compile(r"invalid shrink"), "lengths.negative"),
        (re.compile(r"shape must be int|'int' and 'str'"), "lengths.element-type"),
        (re.compile(r"'int' and 'list'"), "lengths.rank"),
    ),
    not_implemented=re.compile(r"not implemented"),
    missing=(NotImplementedError, CalledProcessError),  # the compiler refuses the kernel that tinygrad wrote
)


class Tinygrad:
    """tinygrad on one device: `Tensor.chunk` for Split-1, and `Tensor.split` for VariadicSplit-1."""

    def __init__(self, device: str = "CPU") -> None:
        compiler = os.environ.get("CC", "clang")
        if device.partition(":")[0] == "CPU" and shutil.which(compiler) is None:
            raise UsageError(
                f"tinygrad's CPU device compiles with {compiler}, and there is none: "
                "install clang, name one in CC, or use tinygrad:PYTHON, which interprets."
            )
        os.environ["DEV"] = self._device = device

    def describe(self) -> Implementation:
        """What the backend is and can do."""
        return Implementation(
            name="tinygrad",
            version=version("tinygrad"),
            device=self._device,
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
                "lengths.rank",
                "lengths.remainder",
                "lengths.remainder-sum",
                "lengths.remainder-zero",
                "num_splits.at-most-dimension",
                "num_splits.divides",
                "types.independent",
            ),
        )

    def run(self, case: Case, model: object, feeds: Sequence[Inputs]) -> list[Outputs]:  # noqa: ARG002 - it has no dialect
        """The outputs of each feed. tinygrad builds nothing that outlives them.

        Raises:
            Rejected: tinygrad refuses the case, or the mapping does.
            Unsupported: tinygrad has no such element type, or its device none.
        """
        return [self._executed(case, feed) for feed in feeds]

    def _executed(self, case: Case, feed: Inputs) -> Outputs:
        check_pieces_are_equal(case, feed, "build")
        axis = plain(axis_of(case, feed, "build"), _TYPES)
        data = _given(feed["data"], self._device) if "data" in feed else None
        pieces = [each.contiguous() for each in _graph(case, feed).outputs(data, axis)]
        held = [each for each in pieces if 0 not in each.shape]
        if held:
            _ANSWERS.asked("run", Tiny.realize)(*held)
        return [_taken(each) for each in pieces]


def _graph(case: Case, feed: Inputs) -> Graph[Any]:
    """The case's graph in tinygrad's calls."""
    even, uneven, join = (_ANSWERS.asked("build", each) for each in (Tiny.chunk, Tiny.split, Tiny.cat))
    given_lengths = feed.get("split_lengths")
    sections = [case.attributes["num_splits"]] if "num_splits" in case.attributes else []
    lengths = None if given_lengths is None else plain(given_lengths, _TYPES)
    if given_lengths is not None and not given_lengths.shape:
        raise Rejected(
            "build", "split_lengths is a scalar, which tinygrad takes for the size of every piece", "lengths.rank"
        )

    def split(whole: Any, along: Any) -> Sequence[Any]:
        given = [] if whole is None else [whole]
        if case.op == "Split-1":
            return list(even(*given, *sections, dim=along))
        sizes = [] if lengths is None else [lengths if whole is None else filled(lengths, whole.shape, along)]
        return list(uneven(*given, *sizes, dim=along))

    return Graph(
        case=case,
        rank=rank_of(feed),
        alike=alike_of(case, feed),
        split=split,
        join=lambda pieces, along: join(*pieces, dim=along),
    )


def _given(tensor: Tensor, device: str) -> Any:
    kind = _TYPES.get(tensor.element_type)
    if kind is None:
        raise Unsupported(f"tinygrad has no element type {tensor.element_type}")
    if tensor.array.size == 0:
        return Tiny.empty(*tensor.shape, dtype=kind, device=device)
    return Tiny(tensor.array.tobytes(), dtype=kind, device=device).reshape(tensor.shape)


def _taken(tensor: Any) -> Tensor:
    """The bits of a tensor that is realized: it was computed as what it is, and is only looked at as integers.

    The look is a copy, since reading a view through another type fails in tinygrad 0.14.
    """
    name = _NAMES[tensor.dtype]
    storage = ELEMENT_TYPES[name].storage
    if 0 in tensor.shape:
        return Tensor(element_type=name, array=np.empty(tensor.shape, storage))
    bits = tensor if name == "boolean" else tensor.bitcast(_BITS[tensor.dtype.itemsize]).clone()
    return Tensor(element_type=name, array=np.asarray(bits.numpy()).view(storage).reshape(tensor.shape))
