"""The `torch` backend: PyTorch's own operations, eagerly, or with the whole graph compiled as `torch:compile`."""

import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import torch

from opconform.errors import UsageError
from opconform.suite.case import Attribute, Case, Input
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor
from opconform_runners.backends.backend import Implementation, Inputs, Outputs, Unsupported
from opconform_runners.backends.direct import Function, Support, functions_of, mapped_of, outputs_of, padded, plain
from opconform_runners.backends.direct_split import check_equal_outputs, filled, given_axis, scalar_axis
from opconform_runners.backends.exceptions import Answers, Ask

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
    not_implemented=re.compile(r"not implemented for|not supported for|Unsupported dtype|no kernel"),
)


def _split(ask: Ask, inputs: Sequence[Any], attributes: Mapping[str, Attribute]) -> Sequence[Any]:
    data, axis = padded(inputs, 2)
    along = given_axis(axis, "run")
    sections = [attributes["num_splits"]] if "num_splits" in attributes else []
    if data is None:
        return list(ask(torch.tensor_split, *sections, dim=along))
    check_equal_outputs(attributes.get("num_splits"), data.shape, along, "run")
    return list(ask(torch.tensor_split, data, *sections, dim=along))


def _variadic_split(ask: Ask, inputs: Sequence[Any], _attributes: Mapping[str, Attribute]) -> Sequence[Any]:
    data, axis, lengths = padded(inputs, 3)
    along = scalar_axis(axis, "run")
    sizes = [] if lengths is None else [lengths if data is None else filled(lengths, data.shape, along)]
    return list(ask(torch.split_with_sizes, *([] if data is None else [data]), *sizes, dim=along))


def _concat(ask: Ask, inputs: Sequence[Any], attributes: Mapping[str, Attribute]) -> Sequence[Any]:
    return [ask(torch.cat, list(inputs), dim=attributes["axis"])]


_ABOUT_AXIS = (
    (re.compile(r"Dimension out of range"), "axis.range"),
    (re.compile(r"at least a 1-dimensional tensor"), "data.rank"),
    (re.compile(r"argument 'dim' .* must be int, not list"), "axis.shape"),
    (re.compile(r"argument 'dim' .* must be int"), "axis.element-type"),
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
                (re.compile(r"number of sections must be larger than 0"), "num_splits.positive"),
            ),
        ),
        "VariadicSplit-1": Support(
            execute=_variadic_split,
            mapped=(
                "axis.element-type",
                "axis.required",
                "axis.shape",
                "lengths.element-type",
                "lengths.remainder",
                "lengths.remainder-sum",
                "lengths.remainder-zero",
                "types.independent",
            ),
            messages=(
                *_ABOUT_AXIS,
                (re.compile(r"expects split_sizes to sum exactly"), "lengths.sum"),
                (re.compile(r"have only non-negative entries"), "lengths.negative"),
                (
                    re.compile(r"argument 'split_sizes' .* found element of type list|must be tuple of ints, not int"),
                    "lengths.rank",
                ),
                (re.compile(r"argument 'split_sizes' .* found element of type"), "lengths.element-type"),
            ),
        ),
    }
)


class Torch:
    """PyTorch on the CPU, eagerly or compiled."""

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
            operations=tuple(OPERATIONS),
            dynamic=True,
            bindings=("constant", "parameter"),
            graphs=True,
            mapped=mapped_of(OPERATIONS),
        )

    def run(self, case: Case, model: object, feeds: Sequence[Inputs]) -> list[Outputs]:  # noqa: ARG002 - it has no dialect
        """The outputs of each feed, all of them of one compiled function under `compile`.

        Raises:
            Rejected: PyTorch refuses the case, or the mapping does.
            Unsupported: PyTorch has no such element type, or no kernel for it.
        """
        given = [{each.name: _given(each, feed[each.name]) for each in case.inputs} for feed in feeds]
        constants = {each.name: given[0][each.name] for each in case.inputs if each.binding == "constant"}
        fed = [{name: value for name, value in each.items() if name not in constants} for each in given]
        execute = self._built(case, constants)
        return [[_taken(each) for each in execute(**parameters)] for parameters in fed]

    def _built(self, case: Case, constants: Mapping[str, Any]) -> Callable[..., list[Any]]:
        """The case's graph as a function of its parameters."""
        eager = self._mode == "eager"
        functions = functions_of(case, OPERATIONS, lambda each: _ANSWERS.ask("run", each) if eager else _call)
        graph = _graph(case, constants, functions)
        if eager:
            return graph
        torch.compiler.reset()
        compiled, ask = torch.compile(graph, dynamic=_moves(case)), _ANSWERS.ask("run", OPERATIONS[case.op].messages)
        return lambda **parameters: list(ask(compiled, **parameters))


def _call(call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """A call inside what is compiled, whose exceptions are translated for the whole function."""
    return call(*arguments, **named)


def _graph(case: Case, constants: Mapping[str, Any], functions: Mapping[str, Function]) -> Callable[..., list[Any]]:
    def graph(**parameters: Any) -> list[Any]:
        return outputs_of(case, {**constants, **parameters}, functions)

    return graph


def _moves(case: Case) -> bool:
    """Whether anything but the values of tensors changes from one inference to the next."""
    return any(
        each.dynamic is not None or (each.role == "control" and each.binding == "parameter") for each in case.inputs
    )


def _given(given: Input, tensor: Tensor) -> Any:
    if given.role == "control":
        return plain(tensor, _TYPES)
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
