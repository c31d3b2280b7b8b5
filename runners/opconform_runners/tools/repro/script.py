"""A case as a short script that uses nothing but the backend's own interface."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from opconform.errors import UsageError
from opconform.resources import render
from opconform.suite.case import Case, Reject
from opconform.suite.manifest import Entry, inputs_name
from opconform.suite.reader import Suite
from opconform.tensors.tensor import Tensor
from opconform_runners.tools.repro.graph_source import openvino_source, opsets, torch_source
from opconform_runners.tools.repro.onnx_source import onnx_model_of
from opconform_runners.tools.repro.variables import bits_of, is_odd, is_used, nan_source, type_of, variables_of

_WIDTH = 118
#: What torch calls the types that numpy does not have.
_TORCH_TYPES: Mapping[str, str] = MappingProxyType(
    {"bf16": "bfloat16", "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2", "f8e8m0": "float8_e8m0fnu"}
)
#: The failures that end the process or hang it.
_DEATHS = ("crash", "timeout")
#: The failures that may concern NaN payloads alone, an unknown one among them.
_ABOUT_NANS = ("nan-payload", None)
#: A script's comment on the small model that shows that the device works at all.
_SOUND = "this must work, or the rest proves nothing"


@dataclass(frozen=True, kw_only=True, slots=True)
class Script:
    """The dialects whose models a backend's scripts may need, the packages, and the allowed devices (empty for any)."""

    dialects: tuple[str, ...]
    needs: tuple[str, ...]
    devices: tuple[str, ...] = ()


#: The backends that have scripts.
SCRIPTS: Mapping[str, Script] = MappingProxyType(
    {
        "openvino": Script(dialects=("openvino",), needs=("openvino", "numpy")),
        "openvino-onnx": Script(dialects=("onnx", "onnx13"), needs=("openvino", "onnx", "numpy")),
        "onnxruntime": Script(dialects=("onnx", "onnx13"), needs=("onnxruntime", "onnx", "numpy")),
        "torch": Script(dialects=(), needs=("torch", "numpy"), devices=("", "eager", "compile")),
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reproduced:
    """The case of a script.

    Attributes:
        device: The device of `NAME:DEVICE`, or an empty string.
        notes: The sentences of the script's header, one per line.
        reason: The reason of the failure, if there is one.
    """

    suite: Suite
    entry: Entry
    device: str
    notes: tuple[str, ...]
    reason: str | None


def dialects_needed(backend: str) -> tuple[str, ...]:
    """The dialects that the scripts of a backend, `NAME[:DEVICE]`, may take a model from; it must have scripts."""
    name = backend.partition(":")[0]
    if name not in SCRIPTS:
        raise UsageError(f"There is no script for {backend!r}. Allowed: {', '.join(SCRIPTS)}.")
    if "=" in backend:
        raise UsageError(f"There is no script for {backend!r}: scripts cannot load a device plugin.")
    return SCRIPTS[name].dialects


def script_of(backend: str, reproduced: Reproduced) -> str:
    """The script of a case; raises `UsageError` if a script for this backend cannot express it."""
    script, suite, entry = SCRIPTS[backend], reproduced.suite, reproduced.entry
    if script.devices and reproduced.device not in script.devices:
        allowed = ", ".join(each for each in script.devices if each)
        raise UsageError(f"There is no script for {backend}:{reproduced.device}. Allowed: {allowed}.")
    case = suite.case(entry)
    variables, feeds = variables_of(suite, entry, case)
    held = [each for each in script.dialects if suite.header.dialects.get(each) in entry.files]
    if script.dialects and not held:
        reasons = (entry.left_out.get(each, f"the suite has no {each} models") for each in script.dialects)
        reason = "; ".join(dict.fromkeys(reasons))
        raise UsageError(f"{case.id} cannot be given to {backend}: {reason}.")
    if backend == "torch":
        _check_torch(case)
    read = {name: suite.read(entry, name) for name in entry.files if name.partition("/")[0] in held[:1]}
    first = {
        each.name: Tensor(element_type=each.element_type, array=suite.arrays(entry, inputs_name(0))[each.name])
        for each in case.inputs
    }
    graph = torch_source(case, first) if backend == "torch" else openvino_source(case)
    calls_functions = backend == "openvino" and graph is not None
    used = [each for each in variables if calls_functions or is_used(case, each.input, held)]
    types = {each.input.name: type_of(each.input) for each in used}
    tensors = [each for each in case.inputs if each.role == "tensor"]
    data = tensors[0].element_type if tensors else "string"
    both_nan = " & ".join(nan_source(data, each) for each in ("want", "have")) if nan_source(data, "want") else ""
    dies, elsewhere = reproduced.reason in _DEATHS, reproduced.device not in ("", "CPU")
    text = render(
        "repro/openvino-ir.py.j2" if backend == "openvino" and graph is None else f"repro/{backend}.py.j2",
        device=reproduced.device,
        elsewhere=elsewhere,
        sound=_SOUND if elsewhere or not dies else "",  # keep the heap as it was when the process died
        notes=_comments([*reproduced.notes, _end(case, reproduced)]),
        dies=dies,
        case=case,
        variables=used,
        feeds=feeds,
        rejects=isinstance(case.expect, Reject),
        types=types,
        torch_types=_TORCH_TYPES,
        text=any(each.element_type == "string" for each in case.inputs),
        odd=next((each for each in types.values() if each.is_odd), None),
        graph=graph,
        opsets=opsets(case),
        main=next((types[each.name] for each in tensors if each.name in types), None),
        xml=_xml_source(read.get("openvino/model.xml", b"").decode()),
        weights=textwrap.wrap(read.get("openvino/model.bin", b"").hex(), _WIDTH - 6),
        onnx=onnx_model_of(read[f"{held[0]}/model.onnx"]) if "onnx" in script.dialects else None,
        bits=bits_of(data),
        both_nan=both_nan if reproduced.reason not in _ABOUT_NANS else "",
    )
    return str(text)


def _check_torch(case: Case) -> None:
    tensors = [each.element_type for each in case.inputs if each.role == "tensor"]
    if not tensors:
        raise UsageError(f"{case.id} has no data, so there is nothing to call torch with.")
    for each in tensors:
        if each == "string" or (is_odd(each) and each not in _TORCH_TYPES):
            raise UsageError(f"{case.id} cannot be given to torch, which has no tensors of {each}.")
    if case.feeds > 1:
        raise UsageError(f"{case.id} has two inferences on one model, and torch has no model: each is a separate call.")


def _comments(notes: Sequence[str]) -> tuple[str, ...]:
    """Sentences as comment lines, none of which can be code whatever the sentences contain."""
    plain = ["".join(each for each in " ".join(note.split()) if each.isprintable()) for note in notes]
    return tuple(line for note in plain for line in textwrap.wrap(note, _WIDTH - 2, break_on_hyphens=False))


def _end(case: Case, reproduced: Reproduced) -> str:
    """A sentence on the script's exit code."""
    if reproduced.reason in _DEATHS:
        return "If the bug is present, this process crashes or hangs; if it is fixed, it exits with 0."
    if isinstance(case.expect, Reject):
        return "Exits with 0 if the case is rejected as expected, and with 1 if it is accepted."
    return "Exits with 0 if the outputs are as expected, and with 1 if they differ or the case is rejected."


def _xml_source(xml: str) -> str:
    """An IR as a Python string literal, unescaped where that is safe."""
    plain = all(each.isprintable() or each == "\n" for each in xml) and "\\" not in xml and '"""' not in xml
    return f'"""\\\n{xml}"""' if plain else repr(xml)
