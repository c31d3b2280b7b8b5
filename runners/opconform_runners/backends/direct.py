"""Backends without a dialect: the walk over a case's graph, and control inputs as Python's own values."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from opconform.suite.case import Attribute, Case, Input
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor
from opconform_runners.backends.backend import Implementation, Rejected, Stage, Unsupported, full_names
from opconform_runners.backends.exceptions import Call, Translation

#: The element types of numpy and ml_dtypes that take whole bytes, other than strings.
BYTE_TYPES = tuple(
    each for each in ELEMENT_TYPES.values() if each.native is not None and each.kind != "string" and each.bits % 8 == 0
)

#: The modes of Pad-12.
PAD_MODES = ("constant", "edge", "reflect", "symmetric")

#: Executes one operation on a framework's own tensors: the outputs for the inputs of a node and its attributes.
#: An omitted input is None.
Function = Callable[[Sequence[Any], Mapping[str, Attribute]], Sequence[Any]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Support:
    """How a framework executes one operation.

    Attributes:
        execute: A `Function` with one more argument in front: the `Call` through which it calls the framework.
        mapped: The ids of the operation's requirements that `execute`, and not the framework, fulfils.
        tensors: The control inputs that it takes as the framework's own tensors, so that they can change at run time.
    """

    execute: Callable[[Call, Sequence[Any], Mapping[str, Attribute]], Sequence[Any]]
    mapped: tuple[str, ...] = ()
    tensors: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Framework:
    """A Python framework with operations on tensors.

    `types` are its types that carry every bit of an element, by the names of the element types.
    """

    name: str
    version: str
    types: Mapping[str, Any]
    operations: Mapping[str, Support]
    translation: Translation

    def implementation(self, device: str) -> Implementation:
        """The description of the backend on a device, with dynamic dimensions and control inputs at run time."""
        return Implementation(
            name=self.name,
            version=self.version,
            device=device,
            element_types=tuple(self.types),
            operations=tuple(self.operations),
            dynamic=True,
            bindings=("constant", "parameter"),
            graphs=True,
            mapped=full_names({op: support.mapped for op, support in self.operations.items()}),
        )

    def functions(self, stage: Stage) -> dict[str, Function]:
        """The function of each operation, for the stage in which it is called."""
        call = self.translation.caller(stage)
        return {op: partial(each.execute, call) for op, each in self.operations.items()}

    def takes_tensor(self, case: Case, given: Input) -> bool:
        """Whether an input of a case becomes a tensor of the framework, and not numbers and lists of Python's."""
        return given.role == "tensor" or given.name in self.operations[case.op].tensors

    def name_of(self, kind: Any) -> str:
        """The element type of a framework's type; raises `Unsupported` if it has no name here."""
        known = {each: name for name, each in self.types.items()}
        if kind not in known:
            raise Unsupported(f"the output has {self.name}'s type {kind}, which opconform does not know")
        return known[kind]

    def type_of(self, tensor: Tensor) -> Any:
        """The framework's type for a tensor; raises `Unsupported` if it has none."""
        if tensor.element_type not in self.types:
            raise Unsupported(f"{self.name} has no element type {tensor.element_type}")
        return self.types[tensor.element_type]


@dataclass(frozen=True, kw_only=True, slots=True)
class Functions:
    """The functions of a framework that execute the operations.

    Attributes:
        split: Splits a tensor into a number of outputs.
        split_with_sizes: Splits a tensor by a list of lengths.
        concat: Joins a list of tensors.
        axis: The name of the argument for the axis of these three.
        reshape: Takes a tensor and a list of sizes.
        transpose: Takes a tensor and the order of its dimensions.
        pad: Takes data, a pair of numbers per dimension, a mode, and a scalar or None for zero.
        take: Takes data, indices, an axis counted from the front, and a number of batch dimensions, as Gather-8 does.
        take_nd: Takes data, a tensor of tuples, and a number of batch dimensions, as GatherND-8 does.
        expand: Repeats a tensor along its dimensions of 1, up to a shape; None if `take_nd` does that for batches.
        integers: The framework's integer types.
        stage: The stage in which the functions refuse a case.
        is_uneven: Whether `split` makes uneven outputs where the number does not divide the dimension.
        takes_scalar_lengths: Whether `split_with_sizes` takes one number as the size of every output.
        takes_negative_order: Whether `transpose` counts negative dimensions from the end.
        has_negative_steps: Whether tensors can be indexed by slices with negative steps.
        modes: The modes that `pad` has.
        crops: The modes in which its pads can be negative.
    """

    split: Callable[..., Any]
    split_with_sizes: Callable[..., Any]
    concat: Callable[..., Any]
    axis: str = "axis"
    reshape: Callable[..., Any]
    transpose: Callable[..., Any]
    pad: Callable[[Any, list[tuple[int, int]], str, Any], Any]
    take: Callable[[Any, Any, int, int], Any]
    take_nd: Callable[[Any, Any, int], Any]
    expand: Callable[[Any, Sequence[Any]], Any] | None
    integers: Collection[Any]
    stage: Stage = "build"
    is_uneven: bool = False
    takes_scalar_lengths: bool = False
    takes_negative_order: bool = True
    has_negative_steps: bool = True
    modes: Collection[str] = PAD_MODES
    crops: Collection[str] = PAD_MODES


def outputs_of(case: Case, given: Mapping[str, Any], functions: Mapping[str, Function]) -> list[Any]:
    """The outputs of a case's model; raises `Unsupported` if there is no function for an operation of the graph.

    `given` are the model's inputs by name, as the framework's own tensors.
    """
    tensors = dict(given)
    for node in case.graph.nodes:
        if node.op not in functions:
            raise Unsupported(f"the graph has a {node.op} node, which this backend does not implement")
        inputs = [None if name is None else tensors[name] for name in node.inputs if name is None or name in tensors]
        outputs = functions[node.op](inputs, node.attributes)
        if case.is_bare:
            return list(outputs)
        tensors.update(zip(node.outputs, outputs, strict=False))
    return [tensors[name] for name in case.graph.outputs if name in tensors]


def padded(inputs: Sequence[Any], count: int) -> list[Any]:
    """The inputs of a node, with None for omitted inputs at the end."""
    return [*inputs, *[None] * (count - len(inputs))]


def check_given(stage: Stage, **inputs: Any) -> None:
    """Raise `Rejected` if an input is omitted, by requirements such as `NAME.required`."""
    for name, each in inputs.items():
        if each is None:
            raise Rejected(stage, f"{name} is missing", f"{name}.required")


def integer_list(name: str, given: Any, stage: Stage) -> list[int]:
    """A control input that is a list of Python's integers; `Rejected` for others, by requirements such as `NAME.rank`.

    Raises `Unsupported` for a framework's own tensor.
    """
    check_given(stage, **{name: given})
    if not isinstance(given, int | float | bool | str | list):
        raise Unsupported(f"{name} is given at run time, and the framework takes Python's numbers")
    if not isinstance(given, list) or any(isinstance(each, list) for each in given):
        raise Rejected(stage, f"{name} is not a list", f"{name}.rank")
    if any(type(each) is not int for each in given):
        raise Rejected(stage, f"{name} has elements that are not integers", f"{name}.element-type")
    return given


def plain(tensor: Tensor, known: Collection[str]) -> Any:
    """A control input as Python's own numbers and lists, as a user of a Python framework writes it.

    Raises `Unsupported` if the integer type is not one of the framework's `known` types, or has no Python numbers.
    """
    if tensor.type.kind == "lookup" or (tensor.type.is_integer and tensor.element_type not in known):
        raise Unsupported(f"the framework has no element type {tensor.element_type}")
    return python_values(tensor)


def python_values(tensor: Tensor) -> Any:
    """The elements of a tensor as Python's own numbers, booleans and texts, in nested lists."""
    if tensor.type.is_integer:
        return np.array(tensor.integers(), object).reshape(tensor.shape).tolist()
    array = tensor.array.view(tensor.type.arithmetic) if tensor.type.kind == "float" else tensor.array
    return array.tolist()
