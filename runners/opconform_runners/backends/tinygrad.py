"""The `tinygrad` backend: tinygrad's own operations on one of its devices, `tinygrad:CPU` by default."""

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.metadata import version
from subprocess import CalledProcessError
from types import MappingProxyType
from typing import Any

import numpy as np
from tinygrad import Tensor as Tiny
from tinygrad import dtypes

from opconform.errors import UsageError
from opconform.suite.case import Attribute, Case, Input
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor
from opconform_runners.backends.backend import Implementation, Inputs, Outputs, Rejected, Unsupported
from opconform_runners.backends.direct import Support, functions_of, mapped_of, outputs_of, padded, plain
from opconform_runners.backends.direct_split import check_equal_outputs, filled, given_axis, scalar_axis
from opconform_runners.backends.exceptions import Answers, Ask

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
    not_implemented=re.compile(r"not implemented"),
    missing=(NotImplementedError, CalledProcessError),  # the compiler refuses the kernel that tinygrad wrote
)


def _split(ask: Ask, inputs: Sequence[Any], attributes: Mapping[str, Attribute]) -> Sequence[Any]:
    data, axis = padded(inputs, 2)
    along = given_axis(axis, "build")
    sections = [attributes["num_splits"]] if "num_splits" in attributes else []
    if data is None:
        return list(ask(Tiny.chunk, *sections, dim=along))
    check_equal_outputs(attributes.get("num_splits"), data.shape, along, "build")
    return list(ask(Tiny.chunk, data, *sections, dim=along))


def _variadic_split(ask: Ask, inputs: Sequence[Any], _attributes: Mapping[str, Attribute]) -> Sequence[Any]:
    data, axis, lengths = padded(inputs, 3)
    along = scalar_axis(axis, "build")
    if lengths is not None and not isinstance(lengths, list):
        raise Rejected(
            "build", "split_lengths is a scalar, which tinygrad takes for the size of every output", "lengths.rank"
        )
    sizes = [] if lengths is None else [lengths if data is None else filled(lengths, data.shape, along)]
    return list(ask(Tiny.split, *([] if data is None else [data]), *sizes, dim=along))


def _concat(ask: Ask, inputs: Sequence[Any], attributes: Mapping[str, Attribute]) -> Sequence[Any]:
    return [ask(Tiny.cat, *inputs, dim=attributes["axis"])]


_ABOUT_AXIS = (
    (re.compile(r"dim=.* out of range"), "axis.range"),
    (re.compile(r"indices must be integers|instances of 'int' and 'str'"), "axis.element-type"),
    (re.compile(r"instances of 'int' and 'list'"), "axis.shape"),
)
#: The operations that are implemented here.
OPERATIONS: Mapping[str, Support] = MappingProxyType(
    {
        "Concat-1": Support(execute=_concat),
        "Split-1": Support(
            execute=_split,
            mapped=("axis.element-type", "axis.required", "num_splits.at-most-dimension", "num_splits.divides"),
            messages=(
                *_ABOUT_AXIS,
                (re.compile(r"chunks to be greater than 0"), "num_splits.positive"),
                (re.compile(r"'>' not supported"), "num_splits.type"),
            ),
        ),
        "VariadicSplit-1": Support(
            execute=_variadic_split,
            mapped=(
                "axis.element-type",
                "axis.required",
                "axis.shape",
                "lengths.element-type",
                "lengths.rank",
                "lengths.remainder",
                "lengths.remainder-sum",
                "lengths.remainder-zero",
                "types.independent",
            ),
            messages=(
                *_ABOUT_AXIS,
                (re.compile(r"sizes to sum exactly"), "lengths.sum"),
                (re.compile(r"invalid shrink"), "lengths.negative"),
                (re.compile(r"shape must be int|'int' and 'str'"), "lengths.element-type"),
                (re.compile(r"'int' and 'list'"), "lengths.rank"),
            ),
        ),
    }
)


class Tinygrad:
    """tinygrad on one device."""

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
            operations=tuple(OPERATIONS),
            dynamic=True,
            bindings=("constant", "parameter"),
            graphs=True,
            mapped=mapped_of(OPERATIONS),
        )

    def run(self, case: Case, model: object, feeds: Sequence[Inputs]) -> list[Outputs]:  # noqa: ARG002 - it has no dialect
        """The outputs of each feed. tinygrad builds nothing that outlives them.

        Raises:
            Rejected: tinygrad refuses the case, or the mapping does.
            Unsupported: tinygrad has no such element type, or its device none.
        """
        return [self._executed(case, feed) for feed in feeds]

    def _executed(self, case: Case, feed: Inputs) -> Outputs:
        functions = functions_of(case, OPERATIONS, partial(_ANSWERS.ask, "build"))
        given = {each.name: _given(each, feed[each.name], self._device) for each in case.inputs}
        outputs = [each.contiguous() for each in outputs_of(case, given, functions)]
        held = [each for each in outputs if 0 not in each.shape]
        if held:
            _ANSWERS.ask("run", OPERATIONS[case.op].messages)(Tiny.realize, *held)
        return [_taken(each) for each in outputs]


def _given(given: Input, tensor: Tensor, device: str) -> Any:
    if given.role == "control":
        return plain(tensor, _TYPES)
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
