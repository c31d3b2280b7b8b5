"""The `openvino` backend: reads the rendered IR with OpenVINO and executes it on a device."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from opconform.suite.case import Case
from opconform.tensors.bit_layouts import pack, unpack
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor
from opconform_runners.backends.backend import (
    Implementation,
    Inputs,
    Outputs,
    PlacedOutputs,
    Placement,
    Rejected,
    Stage,
    Unsupported,
    full_names,
)
from opconform_runners.backends.exceptions import MessageTable, Translation
from opconform_runners.backends.onnx_common import MAPPED
from opconform_runners.backends.openvino_device import device_of, driver_of, executed_by, hardware_of, threads_of
from opconform_runners.backends.openvino_runtime import LAYOUTS, ov, read_model

#: The element types that the CPU plugin has no memory for (`Input image format u1 is not supported yet`).
_NO_MEMORY = frozenset({"u1", "u3", "u6"})

#: The element types that this version's Python interface lacks, such as u2 in 2025.2.
_NAMELESS = frozenset(each for each in ELEMENT_TYPES if not hasattr(ov.Type, each))
#: The element types that it has.
NAMED = tuple(each for each in ELEMENT_TYPES if each not in _NAMELESS)

_ABOUT_AXIS = (
    (r"out of the tensor rank range", "axis.range"),
    (r"'axis' input must be a scalar|Axis should be a scalar", "axis.shape"),
    (r"Element type of 'axis' input must be integer", "axis.element-type"),
)
_INDICES = ("start", "stop", "step", "axes")
#: What OpenVINO's messages about each operation mean. A message about a missing input does not name the input.
MESSAGES: MessageTable = {
    "Concat-1": (
        (r"out of the tensor rank range", "axis.range"),
        (r"Cannot parse '.*' to number", "axis.type"),
        (r"Argument element types are inconsistent", "inputs.element-type"),
        (r"Accessing out-of-range dimension", "inputs.positive-rank"),
        (r"!input_shapes\.empty", "inputs.required"),
    ),
    "Gather-8": (
        (r"Indices element type must be", "indices.element-type"),
        (r"Axis element type must be", "axis.element-type"),
        (r"Axis input must be scalar or have 1 element", "axis.shape"),
        (r"Cannot parse '.*' to number", "batch_dims.type"),
        (r"The batch_dims must be <= indices_rank", "batch_dims.range"),
        (r"must have equal or intersecting sizes until batch_dims", "batch_dims.equal"),
    ),
    "GatherND-8": (
        (r"Data rank must be at least 1", "data.rank"),
        (r"Indices rank must be at least 1", "indices.rank"),
        (r"indices type is expected to be an integer type", "indices.element-type"),
        (r"Cannot parse '.*' to number", "batch_dims.type"),
        (r"Number of batch dimensions must not exceed", "batch_dims.range"),
        (r"Batch dimensions of data and indices must be the same", "batch_dims.broadcastable"),
    ),
    "Pad-12": (
        (r"pads_begin must be an integral number", "pads_begin.element-type"),
        (r"pads_end must be an integral number", "pads_end.element-type"),
        (r"Argument for pads_begin is not 1D", "pads_begin.rank"),
        (r"Argument for pads_end is not 1D", "pads_end.rank"),
        (r"length of pads_begin mismatches", "pads_begin.count"),
        (r"length of pads_end mismatches", "pads_end.count"),
        (r"is not a member of enum ov::op::PadMode", "pad_mode.values"),
        (r"PadMode::REFLECT \|\|", "reflect.limit"),
        (r"PadMode::SYMMETRIC \|\|", "symmetric.limit"),
        (r"Argument element types do not match", "pad_value.element-type"),
        (r"Argument for padding value is not a scalar", "pad_value.scalar"),
        (r"Only CONSTANT pad mode is supported for element::string", "data.string-mode"),
    ),
    "Reshape-1": (
        (r"PartialShape pattern must be an integral number", "shape.element-type"),
        (r"Pattern shape must have rank 1", "shape.rank"),
        (r"Non-'-1' output dimensions do not evenly divide", "shape.inferred-divides"),
    ),
    "Slice-8": (
        (r"`data` input can't be a scalar", "data.rank"),
        *((rf"`{each}` input type must be integer", f"{each}.element-type") for each in _INDICES),
        *((rf"`{each}` input must be a 1D tensor", f"{each}.rank") for each in _INDICES),
        (r"inputs must have compatible shapes", "indices.count"),
        (r"Step must be non-zero", "step.zero"),
        (r"out of the tensor rank range", "axes.range"),
        (r"values in `axes` input must be unique", "axes.unique"),
    ),
    "Split-1": (
        *_ABOUT_AXIS,
        (r"must be evenly divisible", "num_splits.divides"),
        (r"'num_splits' must be greater than zero", "num_splits.positive"),
        (r"Cannot parse '.*' to number", "num_splits.type"),
    ),
    "StridedSlice-1": (
        (r"Begin mask must be an integral number", "begin.element-type"),
        (r"End mask must be an integral number", "end.element-type"),
        (r"Begin input must be 1D", "begin.rank"),
        (r"End input must be 1D", "end.rank"),
        (r"Strides input must be 1D", "stride.rank"),
        (r"Begin and end need to have same number of values", "indices.count"),
        (r"Input rank plus number of new axis has to be at least", "indices.rank"),
        (r"Stride must be non-zero", "stride.zero"),
        (r"Cannot parse '.*' in", "masks.type"),
        (r"are_mask_elem_in_range", "masks.values"),
        (r"At most one ellipsis is allowed", "ellipsis.single"),
    ),
    "Transpose-1": (
        (r"Input order must have an integral number", "order.element-type"),
        (r"Input order must be a vector", "order.rank"),
        (r"Input order must have shape \[n\]", "order.length"),
    ),
    "VariadicSplit-1": (
        *_ABOUT_AXIS,
        (r"Total length of splits", "lengths.sum"),
        (r"in split lengths input\. Should be >= -1", "lengths.negative"),
        (r"multiple -1 values", "lengths.single-remainder"),
        (r"Split lengths should be a 1-D tensor", "lengths.rank"),
    ),
}
_TRANSLATION = Translation(
    messages=MESSAGES,
    not_implemented=re.compile(
        r"Input image format \w+ is not supported"  # the plugin has no memory of this element type
        r"|Not Implemented"  # a node, or a way to execute it
        r"|doesn't support \w+ operation with dynamic rank"
        r"|Element not supported"  # shape inference cannot read a constant of this element type
        r"|[Uu]nsupported (data|element) type|type is not supported|has unsupported '\w+' input precision"
        r"|[Uu]nsupported \w+ order for \S+ type|dtype is supported only for"
    ),
    faults=(RuntimeError, ValueError, IndexError),  # ValueError: a negative dimension; IndexError: of a C++ vector
    noise=re.compile(
        r"Exception from \S+:\d+:\s*|failed at \S+:\d+:\s*|While validating node .*? with friendly_name '[^']*':\s*"
    ),
    shows_type=False,
)
#: The control inputs of each operation that must be integers, and the requirement that says so.
INTEGERS: Mapping[str, Mapping[str, str]] = {
    "Gather-8": {"axis": "axis.element-type", "indices": "indices.element-type"},
    "GatherND-8": {"indices": "indices.element-type"},
    "Pad-12": {"pads_begin": "pads_begin.element-type", "pads_end": "pads_end.element-type"},
    "Reshape-1": {"shape": "shape.element-type"},
    "Split-1": {"axis": "axis.element-type"},
    "VariadicSplit-1": {"axis": "axis.element-type", "split_lengths": "lengths.element-type"},
}
#: Before the name of a device: execute a model that was exported and imported again.
_IMPORT = "IMPORT:"


def through_onnx(device: str = "CPU") -> "OpenVINO":
    """The `openvino-onnx` backend: the same runtime on the ONNX model, through OpenVINO's ONNX frontend."""
    return OpenVINO(device, name="openvino-onnx", dialects=("onnx", "onnx13"))


class OpenVINO:
    """OpenVINO's runtime on one device, with its default settings.

    On `IMPORT:CPU`, the compiled model is exported, and the imported model is executed.
    """

    def __init__(
        self, device: str = "CPU", *, name: str = "openvino", dialects: tuple[str, ...] = ("openvino",)
    ) -> None:
        self._name = name
        self._dialects = dialects
        self._core = ov.Core()
        self._imports = device.startswith(_IMPORT)
        self._device = device_of(self._core, device.removeprefix(_IMPORT))

    def describe(self) -> Implementation:
        """What the backend is and can do, as measured on the CPU plugin."""
        return Implementation(
            name=self._name,
            version=version(),
            device=f"{_IMPORT if self._imports else ''}{self._device.name}",
            hardware=hardware_of(self._core, self._device),
            driver=driver_of(self._core, self._device),
            dialects=self._dialects,
            element_types=tuple(each for each in NAMED if each not in _NO_MEMORY),
            dynamic=True,
            bindings=("constant", "parameter"),
            mapped=full_names(MAPPED) if "onnx" in self._dialects else (),
        )

    def run(self, case: Case, model: Path | None, feeds: Sequence[Inputs]) -> PlacedOutputs:
        """The outputs of each feed, all on one compiled model, and what executed it."""
        with translated(case, "build"):
            compiled = self._core.compile_model(read_model(self._core, model), self._device.name)
            if self._imports:
                compiled = self._core.import_model(compiled.export_model(), self._device.name)
            request = compiled.create_infer_request()
        check_types(request.model_outputs)
        outputs: list[Outputs] = []
        executed: dict[str, None] = {}
        for feed in feeds:
            # the ONNX frontend gives an input the name of a removed `Cast`, too
            named = ((port, next(str(each) for each in port.names if each in feed)) for port in request.model_inputs)
            tensors = [(port, tensor_of(feed[name])) for port, name in named]
            with translated(case, "run"):
                for port, tensor in tensors:
                    request.set_tensor(port, tensor)
                request.infer()
                outputs.append([output_of(request.get_tensor(each)) for each in request.model_outputs])
            executed |= dict.fromkeys(executed_by(compiled, self._device))
        placement = Placement(devices=tuple(executed), threads=threads_of(compiled))
        return PlacedOutputs(outputs=outputs, placement=placement)


def version() -> str:
    """OpenVINO's version without the build."""
    return str(ov.__version__).partition("-")[0]


@contextmanager
def translated(case: Case, stage: Stage) -> Iterator[None]:
    """Translate OpenVINO's exceptions; only OpenVINO's own calls belong inside this block.

    If the specification requires integers at a control input, "not implemented" for another type counts as a rejection.
    """
    try:
        with _TRANSLATION.at(stage, case.op):
            yield
    except Unsupported as answer:
        others = {each.name for each in case.inputs if not ELEMENT_TYPES[each.element_type].is_integer}
        for name, requirement in INTEGERS.get(case.op, {}).items():
            if name in others:
                raise Rejected(stage, str(answer), requirement) from answer
        raise


def type_of(element_type: str) -> ov.Type:
    """OpenVINO's type for an element type; raises `Unsupported` if this version's Python interface lacks it."""
    if element_type in _NAMELESS:
        raise Unsupported(f"OpenVINO {version()} has no element type {element_type} in Python")
    return getattr(ov.Type, element_type)


def check_types(ports: Sequence[ov.Output]) -> None:
    """Raise `Unsupported` for an output whose element type OpenVINO's Python interface lacks, not its `IndexError`."""
    if _NAMELESS:
        for each in ports:
            type_of(each.element_type.to_string())


def tensor_of(value: Tensor) -> ov.Tensor:
    """A tensor as an OpenVINO tensor."""
    if value.type.kind == "string":
        return ov.Tensor(value.array)
    tensor = ov.Tensor(type_of(value.element_type), ov.Shape(value.shape))
    packed = np.frombuffer(pack(value, LAYOUTS), np.uint8)
    if packed.size:
        tensor.data.reshape(-1).view(np.uint8)[:] = packed
    return tensor


def output_of(tensor: ov.Tensor) -> Tensor:
    """An OpenVINO tensor, bit for bit."""
    name, shape = tensor.element_type.to_string(), tuple(tensor.shape)
    if name == "string":
        return Tensor(element_type=name, array=np.array(tensor.str_data, dtype=np.str_).reshape(shape))
    return unpack(np.ascontiguousarray(tensor.data).tobytes(), name, shape, LAYOUTS)
