"""The `onnxruntime` backend: ONNX Runtime on the rendered ONNX model."""

import ctypes
import math
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime as ort
from onnxruntime.capi import onnxruntime_pybind11_state as state

from opconform.suite.case import Case
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array, Tensor
from opconform.tensors.texts import bytes_of, text_of
from opconform_products.onnx.provider import placement_of, provider_of, session_of
from opconform_runners.backends.backend import (
    Implementation,
    Inputs,
    Outputs,
    PlacedOutputs,
    Unsupported,
    full_names,
)
from opconform_runners.backends.exceptions import Translation, messages_beside
from opconform_runners.backends.onnx_dialect import CARRIED, MAPPED

#: The element types by the names that ONNX Runtime gives them.
_NAMES = {
    f"tensor({element_type.onnx.lower()})": element_type.name
    for element_type in ELEMENT_TYPES.values()
    if element_type.onnx is not None
}

#: ONNX's number of bf16, which numpy cannot name.
_BFLOAT16 = 16

_TRANSLATION = Translation(
    messages=messages_beside(__file__),
    not_implemented=re.compile(
        r"fallback to CPU EP has been explicitly disabled|not supported for AutoPadType"
    ),  # no kernel
    missing=(state.NotImplemented,),
    errors=(state.Fail, state.InvalidArgument, state.InvalidGraph, state.InvalidProtobuf, state.RuntimeException),
    shows_type=False,
)

_QUIET = 4


class OnnxRuntime:
    """ONNX Runtime with one execution provider and its default settings."""

    def __init__(self, device: str = "CPU") -> None:
        ort.set_default_logger_severity(_QUIET)
        self._provider = provider_of(device)

    def describe(self) -> Implementation:
        """What the backend is and can do, as measured on the CPU."""
        return Implementation(
            name="onnxruntime",
            version=ort.__version__,
            device=self._provider.device,
            hardware=self._provider.hardware,
            driver=self._provider.driver,
            dialects=("onnx",),
            element_types=CARRIED,
            dynamic=True,
            bindings=("constant", "parameter"),
            packs=1 if self._provider.device == "CPU" else 64,  # the CPU builds a small model in a millisecond
            mapped=full_names(MAPPED),
        )

    def run(self, case: Case, model: Path | None, feeds: Sequence[Inputs]) -> PlacedOutputs:
        """The outputs of each feed, all in one session, and the provider that executed it."""
        with _TRANSLATION.at("build", case.op):
            session = session_of(str(model), self._provider)
        placement = placement_of(session, self._provider)
        names = [get_output.name for get_output in session.get_outputs()]
        outputs: list[Outputs] = []
        for feed in feeds:
            inputs = {get_input.name: feed[get_input.name] for get_input in session.get_inputs()}
            with _TRANSLATION.at("run", case.op):
                outputs.append(_executed(session, names, inputs))
        return PlacedOutputs(outputs=outputs, placement=placement)


def _executed(session: ort.InferenceSession, names: Sequence[str], inputs: Inputs) -> list[Tensor]:
    """The outputs, bit for bit; text goes through numpy arrays, since an `OrtValue` cannot hold it."""
    if any(get_input.type == "tensor(string)" for get_input in (*session.get_inputs(), *session.get_outputs())):
        texts = {name for name, x in inputs.items() if x.type.kind == "string"}
        arrays = {name: _strings(x.array) if name in texts else x.array for name, x in inputs.items()}
        return [_tensor(x) for x in session.run(names, arrays)]
    return [_output(x) for x in session.run_with_ort_values(names, {name: _value(inputs[name]) for name in inputs})]


def _strings(texts: Array) -> Array:
    """Python's own strings, with NULs at their ends."""
    return np.array([bytes_of(str(text)).decode() for text in texts.reshape(-1)], object).reshape(texts.shape)


def _value(tensor: Tensor) -> ort.OrtValue:
    if tensor.element_type == "bf16":
        if not hasattr(ort.OrtValue, "ortvalue_from_numpy_with_onnx_type"):
            raise Unsupported(f"ONNX Runtime {ort.__version__} takes no bf16 from Python; 1.20 and later do")
        return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(tensor.array, _BFLOAT16)
    return ort.OrtValue.ortvalue_from_numpy(tensor.array)


def _output(value: ort.OrtValue) -> Tensor:
    kind = _NAMES[value.data_type()]
    if kind != "bf16":
        return Tensor(element_type=kind, array=value.numpy())
    shape, storage = tuple(value.shape()), ELEMENT_TYPES[kind].storage
    content = ctypes.string_at(value.data_ptr(), math.prod(shape) * storage.itemsize)
    return Tensor(element_type=kind, array=np.frombuffer(content, storage).reshape(shape))


def _tensor(array: Array) -> Tensor:
    if array.dtype.kind == "O":
        texts = [text_of(str(string).encode()) for string in array.reshape(-1)]
        return Tensor(element_type="string", array=np.array(texts, dtype=np.str_).reshape(array.shape))
    [kind] = [
        element_type.name
        for element_type in ELEMENT_TYPES.values()
        if element_type.native == array.dtype and element_type.native is not None
    ]
    return Tensor(element_type=kind, array=array)
