"""The `iree` backend: compiles the rendered StableHLO with IREE for the CPU and executes it."""

import ctypes
import math
import re
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
from iree import runtime
from iree.compiler.api import Output as CompilerOutput
from iree.compiler.api import Session, Source, ctypes_dl

from opconform.errors import UsageError
from opconform.suite.case import Case
from opconform.tensors.bit_layouts import LOW_FIRST, pack, unpack
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor
from opconform_runners.backends.backend import Implementation, Inputs, Outputs, Rejected, Unsupported, full_names
from opconform_runners.backends.exceptions import short_message

#: IREE's devices on the CPU, which differ in how they schedule work.
_DEVICES = ("local-task", "local-sync")

#: The target, and one change of the compiler's defaults: by default all f64 becomes f32, model inputs included.
_FLAGS = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=generic",
    "--iree-input-demote-f64-to-f32=false",
)

_BYTE = 8

#: The runtime's names of the element types: its name for the kind, and the number of bits.
_WORDS = {"boolean": "BOOL", "float": "FLOAT", "signed": "INT", "unsigned": "UINT"}
_NAMES = {
    element_type.name: f"{_WORDS[element_type.kind]}_{element_type.bits}"
    for element_type in ELEMENT_TYPES.values()
    if element_type.kind in _WORDS and element_type.bits in (4, 8, 16, 32, 64) and element_type.name != "f4e2m1"
}
_NAMES |= {"bf16": "BFLOAT_16", "f8e4m3": "FLOAT_8_E4M3_FN", "f8e5m2": "FLOAT_8_E5M2", "f8e8m0": "FLOAT_8_E8M0_FNU"}

#: The element types that IREE carries; it implements few shapes of those narrower than a byte.
_CARRIED = tuple(n for n in _NAMES if ELEMENT_TYPES[n].bits % _BYTE == 0)

_KINDS = {name: int(getattr(runtime.HalElementType, theirs)) for name, theirs in _NAMES.items()}
_BY_KIND = {kind: name for name, kind in _KINDS.items()}

_AXIS = ("axis.element-type", "axis.negative", "axis.range", "axis.required", "axis.shape")
_NUMBER = ("num_splits.divides", "num_splits.positive", "num_splits.required", "num_splits.type")
_DIMENSION = ("num_splits.at-most-dimension", "num_splits.zero-dimension")
_LENGTHS = ("lengths.element-type", "lengths.empty", "lengths.negative", "lengths.rank", "lengths.required")
_SUM = ("lengths.sum", "lengths.remainder", "lengths.remainder-sum", "lengths.remainder-zero")
_OTHERS = ("lengths.single-remainder", "attributes.none", "types.independent")
#: The requirements of each operation that the rendering resolves into slices.
MAPPED: Mapping[str, tuple[str, ...]] = {
    "Split-1": (*_AXIS, *_NUMBER, *_DIMENSION),
    "VariadicSplit-1": (*_AXIS, *_LENGTHS, *_SUM, *_OTHERS),
}

#: The compiler's messages for something that it does not implement.
_NOT_IMPLEMENTED = re.compile(
    r"[Uu]nsupported (element|tensor) type|failed to (emulate bit width|legalize|link executable)"
    r"|does not have integral number of total bytes"
)

_PLACE = re.compile(r"^\S+:\d+:\d+: ")
_ERROR = 2
_ENTRY = "main"
_Diagnostic = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t, ctypes.c_void_p)
_LISTEN = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, _Diagnostic, ctypes.c_void_p)(
    ("ireeCompilerInvocationEnableCallbackDiagnostics", ctypes_dl._dylib)
)


class Iree:
    """IREE's compiler and runtime in one process, with one device."""

    def __init__(self, device: str = "local-task") -> None:
        if device not in _DEVICES:
            raise UsageError(f"The backend iree has no device {device!r}. Allowed: {', '.join(_DEVICES)}.")
        self._name = device
        self._session = Session()
        self._session.set_flags(*_FLAGS)
        self._instance = runtime.VmInstance()
        self._device = runtime.get_device(device)
        self._hal = runtime.create_hal_module(self._instance, self._device)

    def describe(self) -> Implementation:
        """What the backend is and can do, as measured on the CPU."""
        return Implementation(
            name="iree",
            version=version("iree-base-compiler"),
            device=self._name,
            dialects=("stablehlo",),
            element_types=_CARRIED,
            dynamic=False,
            bindings=("constant", "parameter"),
            mapped=full_names(MAPPED),
        )

    def run(self, case: Case, model: Path | None, feeds: Sequence[Inputs]) -> list[Outputs]:
        """The outputs of each feed, all on one compiled module."""
        source = model.read_bytes() if model is not None else b""
        module = runtime.VmModule.copy_buffer(self._instance, _compiled(self._session, source))
        context = runtime.VmContext(self._instance, [self._hal, module])
        function = module.lookup_function(_ENTRY)
        names = [input_.name for input_ in case.inputs if input_.binding == "parameter"]
        outputs: list[Outputs] = []
        for feed in feeds:
            arguments = runtime.VmVariantList(len(names))
            for name in names:
                arguments.push_ref(self._view(feed[name]))
            results = runtime.VmVariantList(1)
            try:
                context.invoke(function, arguments, results)
                views = [results.get_as_object(index, runtime.HalBufferView) for index in range(results.size)]
            except (RuntimeError, ValueError) as error:
                raise Rejected("run", _first_line(str(error))) from error
            outputs.append([_output(view) for view in views])
        return outputs

    def _view(self, tensor: Tensor) -> runtime.HalBufferView:
        if tensor.element_type not in _KINDS:
            raise Unsupported(f"IREE's runtime has no element type for {tensor.element_type}")
        content = np.frombuffer(pack(tensor, LOW_FIRST), np.uint8)
        buffer = self._device.allocator.allocate_buffer_copy(
            memory_type=runtime.MemoryType.DEVICE_LOCAL | runtime.MemoryType.HOST_VISIBLE,
            allowed_usage=runtime.BufferUsage.DEFAULT | runtime.BufferUsage.MAPPING,
            device=self._device,
            buffer=content,
        )
        return runtime.HalBufferView(buffer, list(tensor.shape), _KINDS[tensor.element_type])


def _output(view: runtime.HalBufferView) -> Tensor:
    name, shape = _BY_KIND[int(view.element_type)], tuple(view.shape)
    size = -(-math.prod(shape) * ELEMENT_TYPES[name].bits // _BYTE)
    content = bytes(np.asarray(view.get_buffer().map()).view(np.uint8)[:size]) if size else b""
    return unpack(content, name, shape, LOW_FIRST)


def _compiled(session: Session, source: bytes) -> bytes:
    said: list[str] = []

    def hear(severity: int, text: "ctypes._Pointer[ctypes.c_char]", length: int, _: object) -> None:
        if severity == _ERROR:
            said.append(ctypes.string_at(text, length).decode(errors="replace"))

    listener = _Diagnostic(hear)
    invocation = session.invocation()
    try:
        _LISTEN(invocation._inv_p, 0, listener, None)
        if not invocation.parse_source(Source.wrap_buffer(session, source)) or not invocation.execute():
            message = _first_line(said[0]) if said else "the compiler gives no reason"
            is_missing = any(_NOT_IMPLEMENTED.search(x) for x in said)
            raise Unsupported(message) if is_missing else Rejected("build", message)
        output = CompilerOutput.open_membuffer()
        invocation.output_vm_bytecode(output)
        return bytes(output.map_memory())
    finally:
        invocation.close()


def _first_line(message: str) -> str:
    return short_message(message.partition("\n")[0], _PLACE)
