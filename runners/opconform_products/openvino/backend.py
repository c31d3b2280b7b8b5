"""The `openvino` backend: reads the rendered IR with OpenVINO and executes it on a device."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from opconform.suite.declarations import DeclaredCase
from opconform.tensors.bit_layouts import pack, unpack
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor
from opconform_products.openvino.device import (
    ask_for_accuracy,
    device_of,
    driver_of,
    executed_by,
    hardware_of,
    threads_of,
)
from opconform_products.openvino.prefixes import prefixed
from opconform_products.openvino.runtime import LAYOUTS, ov, read_model
from opconform_products.openvino.strings import string_tensor, texts_of
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
from opconform_runners.backends.exceptions import Translation, messages_beside
from opconform_runners.backends.onnx_dialect import MAPPED

#: The element types that the CPU plugin has no memory for (`Input image format u1 is not supported yet`).
_NO_MEMORY = frozenset({"u1", "u3", "u6"})

#: The element types that this version's Python interface lacks, such as u2 in 2025.2.
_NAMELESS = frozenset(element_type for element_type in ELEMENT_TYPES if not hasattr(ov.Type, element_type))
#: The element types that it has.
NAMED = tuple(element_type for element_type in ELEMENT_TYPES if element_type not in _NAMELESS)

_TRANSLATION = Translation(
    messages=messages_beside(__file__),
    not_implemented=re.compile(
        r"Input image format \w+ is not supported"  # the plugin has no memory of this element type
        r"|Not Implemented|NOT_IMPLEMENTED"  # a node, or a way to execute it
        r"|Cannot create \w+ layer .* from unsupported opset"  # this version lacks the operation
        r"|Opset \w+ doesn't contain the operation"  # the same, in other versions
        r"|does not support (?!string)\w+ for use with oneDNN"  # nor a type; the plugin takes strings elsewhere
        r"|Incorrect type: \w+"  # this version cannot read a model with the element type
        r"|doesn't support \w+ operation with dynamic rank"
        r"|unsupported src_prc"  # nor is one emitted by its vector code
        r"|Element not supported"  # shape inference cannot read a constant of this element type
        r"|[Uu]nsupported (data|element) type|type is not supported|has unsupported '\w+' input precision"
        r"|[Uu]nsupported \w+ order for \S+ type|dtype is supported only for"
    ),
    errors=(RuntimeError, ValueError, IndexError),  # ValueError: a negative dimension; IndexError: of a C++ vector
    noise=re.compile(
        r"Exception from \S+:\d+:\s*|failed at \S+:\d+:\s*|While validating node .*? with friendly_name '[^']*':\s*"
    ),
    shows_type=False,
)


def through_onnx(device: str = "CPU") -> "OpenVINO":
    """The `openvino-onnx` backend: the same runtime on the ONNX model, through OpenVINO's ONNX frontend."""
    return OpenVINO(device, name="openvino-onnx", dialects=("onnx",))


class OpenVINO:
    """OpenVINO's runtime on one device, with its default settings.

    On `ACCURACY:CPU`, the execution mode is ACCURACY. On `IMPORT:CPU`, the compiled model is exported, and the imported
    model is executed.
    """

    def __init__(
        self, device: str = "CPU", *, name: str = "openvino", dialects: tuple[str, ...] = ("openvino",)
    ) -> None:
        self._name = name
        self._dialects = dialects
        self._core = ov.Core()
        self._ways = prefixed(device)
        self._device = device_of(self._core, self._ways.device)
        if self._ways.is_accurate:
            ask_for_accuracy(self._core, self._device)

    def describe(self) -> Implementation:
        """What the backend is and can do, as measured on the CPU plugin."""
        return Implementation(
            name=self._name,
            version=version(),
            device=f"{self._ways.prefix}{self._device.name}",
            hardware=hardware_of(self._core, self._device),
            driver=driver_of(self._core, self._device),
            dialects=self._dialects,
            element_types=tuple(x for x in NAMED if x not in _NO_MEMORY),
            dynamic=True,
            bindings=("constant", "parameter"),
            packs=64,
            mapped=full_names(MAPPED) if "onnx" in self._dialects else (),
        )

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> PlacedOutputs:
        """The outputs of each feed, all on one compiled model, and what executed it."""
        with translated(case, "build"):
            compiled = self._core.compile_model(read_model(self._core, model), self._device.name)
            if self._ways.is_imported:
                compiled = self._core.import_model(compiled.export_model(), self._device.name)
            request = compiled.create_infer_request()
        check_types(request.model_outputs)
        outputs: list[Outputs] = []
        executed: dict[str, None] = {}
        for feed in feeds:
            # the ONNX frontend gives an input the name of a removed `Cast`, too
            named = ((port, next(str(name) for name in port.names if name in feed)) for port in request.model_inputs)
            tensors = [(port, tensor_of(feed[name])) for port, name in named]
            with translated(case, "run"):
                for port, tensor in tensors:
                    request.set_tensor(port, tensor)
                request.infer()
                outputs.append([output_of(request.get_tensor(model_output)) for model_output in request.model_outputs])
            executed |= dict.fromkeys(executed_by(compiled, self._device))
        placement = Placement(devices=tuple(executed), threads=threads_of(compiled))
        return PlacedOutputs(outputs=outputs, placement=placement)


def version() -> str:
    """OpenVINO's version without the build."""
    return str(ov.get_version()).partition("-")[0]


@contextmanager
def translated(case: DeclaredCase, stage: Stage) -> Iterator[None]:
    """Translate OpenVINO's exceptions; only OpenVINO's own calls belong inside this block.

    "Not implemented" for an element type that the operation's declaration does not allow counts as a rejection.
    """
    try:
        with _TRANSLATION.at(stage, case.op):
            yield
    except Unsupported as answer:
        if (requirement := _wrong_type(case)) is not None:
            raise Rejected(stage, str(answer), requirement) from answer
        raise


def _wrong_type(case: DeclaredCase) -> str | None:
    """The requirement that an input of the node under test violates by its element type, as far as types are known."""
    node, inputs = case.node, {input_.name: input_ for input_ in case.inputs}
    operands = [None if name is None else inputs.get(name) for name in node.inputs]
    declared = (declaration for declaration in case.declarations if declaration.name == node.op)
    violated = (name for x in declared for _, name in x.located_violations(x.named(operands), node.attributes))
    return next((requirement for requirement in violated if requirement.endswith(".element-type")), None)


def type_of(element_type: str) -> ov.Type:
    """OpenVINO's type for an element type; raises `Unsupported` if this version's Python interface lacks it."""
    if element_type in _NAMELESS:
        raise Unsupported(f"OpenVINO {version()} has no element type {element_type} in Python")
    return getattr(ov.Type, element_type)


def check_types(ports: Sequence[ov.Output]) -> None:
    """Raise `Unsupported` for an output whose element type OpenVINO's Python interface lacks, not its `IndexError`."""
    if _NAMELESS:
        for port in ports:
            type_of(port.element_type.get_type_name())


def tensor_of(value: Tensor) -> ov.Tensor:
    """A tensor as an OpenVINO tensor."""
    if value.type.kind == "string":
        return string_tensor(value.array)
    tensor = ov.Tensor(type_of(value.element_type), ov.Shape(value.shape))
    packed = np.frombuffer(pack(value, LAYOUTS), np.uint8)
    if packed.size:
        tensor.data.reshape(-1).view(np.uint8)[:] = packed
    return tensor


def output_of(tensor: ov.Tensor) -> Tensor:
    """An OpenVINO tensor, bit for bit."""
    name, shape = tensor.element_type.get_type_name(), tuple(tensor.shape)
    if name == "string":
        return Tensor(element_type=name, array=texts_of(tensor))
    return unpack(np.ascontiguousarray(tensor.data).tobytes(), name, shape, LAYOUTS)
