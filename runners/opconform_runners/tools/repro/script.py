"""A case as a short script that uses nothing but the backend's own interface."""

import dataclasses
import json
import re
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from opconform.errors import UsageError, nearest
from opconform.suite.case import Case, Reject
from opconform.suite.declarations import DeclaredCase
from opconform.suite.manifest import Entry, inputs_name
from opconform.suite.reader import Suite
from opconform.system.resources import render
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor
from opconform_products.openvino.prefixes import prefixed
from opconform_runners.tools.repro.graph_source import onnx_model_of, openvino_source, opsets
from opconform_runners.tools.repro.names import script_names
from opconform_runners.tools.repro.torch_source import torch_source
from opconform_runners.tools.repro.variables import BIT_ORDERS, is_odd, is_used, output_kinds, variables_of
from opconform_runners.verdicts.judge import ENDS

_WIDTH = 118
#: What torch calls the types that numpy does not have.
_TORCH_TYPES: Mapping[str, str] = {
    "bf16": "bfloat16",
    "f8e4m3": "float8_e4m3fn",
    "f8e5m2": "float8_e5m2",
    "f8e8m0": "float8_e8m0fnu",
}
#: The failures that may concern NaN payloads alone, an unknown one among them.
_ABOUT_NANS = ("nan-payload", None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Script:
    """The dialects whose models a backend's scripts may need, the packages, and the allowed devices (empty for any)."""

    dialects: tuple[str, ...]
    needs: tuple[str, ...]
    devices: tuple[str, ...] = ()

    @property
    def requires(self) -> str:
        """The command that installs the packages."""
        return f"pip install {' '.join(self.needs)}"


#: The backends that have scripts.
SCRIPTS: Mapping[str, Script] = {
    "openvino": Script(dialects=("openvino",), needs=("openvino", "numpy")),
    "openvino-onnx": Script(dialects=("onnx",), needs=("openvino", "onnx", "numpy")),
    "onnxruntime": Script(dialects=("onnx",), needs=("onnxruntime", "onnx", "numpy")),
    "torch": Script(dialects=(), needs=("torch", "numpy"), devices=("", "eager", "compile")),
}


#: The backends that have tests in C++.
CPP_BACKENDS = ("openvino",)


def dialects_needed(backend: str, form: str) -> tuple[str, ...]:
    """The dialects that a backend, `NAME[:DEVICE]`, may take a model from in a form, which it must have."""
    name, known = backend.partition(":")[0], CPP_BACKENDS if form == "gtest" else (*SCRIPTS,)
    if name not in known:
        option = " --as gtest" if form == "gtest" else ""
        raise UsageError(
            f"opconform repro{option} does not support {backend!r}. {nearest(name, known)}Allowed: {', '.join(known)}. "
            f"For other backends, `opconform run SUITE --backend NAME --select CASE` executes the case again."
        )
    if "=" in backend:
        raise UsageError(f"opconform repro does not support {backend!r}: scripts cannot load a device plugin.")
    return SCRIPTS[name].dialects


def script_of(suite: Suite, entry: Entry, backend: str, notes: Iterable[str], reason: str | None) -> str:
    """The script of a case for a backend, `NAME[:DEVICE]`; raises `UsageError` if such a script cannot express it.

    `notes` are the sentences of its header, and `reason` is the reason of the failure, if there is one.
    """
    backend, _, device = backend.partition(":")
    script = SCRIPTS[backend]
    if script.devices and device not in script.devices:
        allowed = ", ".join(device for device in script.devices if device)
        raise UsageError(f"opconform repro does not support {backend}:{device}. Allowed: {allowed}.")
    case = suite.case(entry)
    variables, feeds = variables_of(suite, entry, case)
    available = [dialect for dialect in script.dialects if suite.header.dialects.get(dialect) in entry.files]
    if script.dialects and not available:
        reasons = (entry.left_out.get(dialect, f"the suite has no {dialect} models") for dialect in script.dialects)
        raise UsageError(f"{case.id} cannot be given to {backend}: {'; '.join(dict.fromkeys(reasons))}.")
    if backend == "torch":
        _check_torch(case)
    read = {name: suite.read(entry, name) for name in entry.files if name.partition("/")[0] in available[:1]}
    first = {
        input_.name: Tensor(element_type=input_.element_type, array=suite.arrays(entry, inputs_name(0))[input_.name])
        for input_ in case.inputs
    }
    graph = torch_source(_declared(suite, case), first) if backend == "torch" else openvino_source(case)
    calls_functions = backend == "openvino" and graph is not None
    used = [variable for variable in variables if calls_functions or is_used(case, variable.input, available)]
    for item in used:
        if item.kind.bits % 8 and item.kind.name not in BIT_ORDERS:
            raise UsageError(f"A short script cannot pack {item.kind.name}.")
    by_input = {x.input.name: x for x in used}
    outputs = output_kinds(case)
    device, is_accurate, is_imported = prefixed(device)
    model, constants = onnx_model_of(read[f"{available[0]}/model.onnx"]) if "onnx" in script.dialects else ("", [])
    compares_numbers = any(output.comparison == "numbers" for output in case.outputs)
    dies, elsewhere = reason in ENDS, device not in ("", "CPU")
    text = render(
        "repro/openvino-ir.py.j2" if backend == "openvino" and graph is None else f"repro/{backend}.py.j2",
        device=json.dumps(f"{device or 'CPU'}{'ExecutionProvider' if backend == 'onnxruntime' else ''}"),
        is_compiled=device == "compile",
        elsewhere=elsewhere,
        accurate=is_accurate,
        imported=is_imported,
        sound=elsewhere or not dies,  # keep the heap as it was when the process died
        notes=comments(notes),
        dies=dies,
        case=case,
        variables=used,
        feeds=feeds,
        rejects=isinstance(case.expect, Reject),
        by_input=by_input,
        names=script_names(case),
        torch_types=_TORCH_TYPES,
        bit_orders=BIT_ORDERS,
        odd=next((x for x in used if x.is_odd), None),
        graph=graph,
        opsets=opsets(case),
        xml=_text_source(short_ir(read.get("openvino/model.xml", b"").decode())),
        weights=textwrap.wrap(read.get("openvino/model.bin", b"").hex(), _WIDTH - 6),
        onnx=_text_source(model),
        constants=constants,
        outputs=outputs,
        both_nan=outputs.both_nan if reason not in _ABOUT_NANS or compares_numbers else "",
    )
    return str(text)


def _declared(suite: Suite, case: Case) -> DeclaredCase:
    fields = {field.name: getattr(case, field.name) for field in dataclasses.fields(case)}
    return DeclaredCase(**fields, declarations=suite.header.declarations)


def _check_torch(case: Case) -> None:
    tensors = [input_.element_type for input_ in case.inputs if input_.role == "data"]
    if not tensors:
        raise UsageError(f"{case.id} has no data input to call torch with.")
    for tensor in tensors:
        if tensor == "string" or (is_odd(ELEMENT_TYPES[tensor]) and tensor not in _TORCH_TYPES):
            raise UsageError(f"{case.id} cannot be given to torch, which has no tensors of {tensor}.")
    if case.feeds > 1:
        raise UsageError(f"{case.id} has two inferences on one model, and torch has no model: each is a separate call.")


def comments(notes: Iterable[str]) -> tuple[str, ...]:
    """Sentences as comment lines, none of which can be code whatever the sentences contain."""
    plain = ["".join(x for x in " ".join(note.split()) if x.isprintable()) for note in notes]
    return tuple(line for note in plain for line in textwrap.wrap(note, _WIDTH - 2, break_on_hyphens=False))


def short_ir(xml: str) -> str:
    """An IR with a single port on one line."""
    xml = re.sub(r"(?<!\s)\s+(?=<dim>)|(?<=</dim>)\s+", "", xml)
    return re.sub(r"(<(input|output)>)\s+(<port [^\n]*)\n\s*(?=</\2>)", r"\1\3", xml)


def _text_source(text: str) -> str:
    """A text as a Python string literal, unescaped where that is safe."""
    visible = all(letter.isprintable() or letter == "\n" for letter in text)
    is_plain = visible and "\\" not in text and '"""' not in text and not text.endswith('"')
    return f'"""\\\n{text}"""' if is_plain else repr(text)
