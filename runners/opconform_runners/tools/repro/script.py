"""Reproducing: a case as a script of a few lines that uses nothing but the backend's own interface."""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from opconform.errors import UsageError
from opconform.resources import render
from opconform.suite.case import Accept, Case, Input, Reject
from opconform.suite.manifest import Entry, expected_name, inputs_name
from opconform.suite.reader import Suite
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.tools.repro.array_source import array_source, output_source
from opconform_runners.tools.repro.graph_source import openvino_source, opsets, torch_source
from opconform_runners.tools.repro.onnx_source import OnnxModel, onnx_model_of
from opconform_runners.tools.repro.patterns_source import bits_of, both_nan_source, is_odd

_WIDTH = 118
#: What torch calls the types that numpy does not have.
_TORCH_TYPES: Mapping[str, str] = MappingProxyType(
    {"bf16": "bfloat16", "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2", "f8e8m0": "float8_e8m0fnu"}
)
#: The most elements of an output that a script prints as a whole.
_MOST_PRINTED = 24
#: The most outputs that it says anything of.
_MOST_SAID = 5
#: The failures that end the process, or never do.
_DEATHS = ("crash", "timeout")
#: The failures that may be about nothing but what a NaN carries; so may be those that nobody has seen yet.
_ABOUT_NANS = ("nan-payload", None)
#: What a script says of the small model with which it shows that the device works at all.
_SOUND = "this must work, or what follows proves nothing"
#: The template that builds the model with all of a case's inputs.
_OPSET = "repro/openvino.py.j2"
#: The types narrower than a byte whose bits stand in a row, and whether the first stands lowest.
_ROWS: Mapping[str, str] = MappingProxyType(
    {"i4": "little", "u4": "little", "nf4": "little", "f4e2m1": "little", "u2": "little", "u1": "big"}
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reproduced:
    """What a script is made of.

    Attributes:
        suite: The suite.
        entry: The case's line of the manifest.
        device: The device of `NAME:DEVICE`, or nothing.
        notes: What the script's reader is told first: sentences, each of which begins a line.
        reason: The reason of the failure, if there is one.
    """

    suite: Suite
    entry: Entry
    device: str
    notes: tuple[str, ...]
    reason: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Script:
    """How a backend's script comes about.

    Attributes:
        dialects: The dialects whose models it may need, the best one first.
        template: The name of its template, or of the one for what the interface cannot say.
        needs: The packages that it needs.
        devices: What may stand behind the backend's name; anything, if nothing is listed.
    """

    dialects: tuple[str, ...]
    template: Callable[[Case], str]
    needs: tuple[str, ...]
    devices: tuple[str, ...] = ()


class _Assigned(NamedTuple):
    """A variable of a script, and the input that it holds."""

    name: str
    source: str
    input: Input


class _Feed(NamedTuple):
    """One inference: the variables of the model's parameters, and expressions for what must come of it."""

    arguments: tuple[_Assigned, ...]
    expected: tuple[str, ...]


def reproducible() -> tuple[str, ...]:
    """The backends that there is a script for."""
    return tuple(_SCRIPTS)


def dialects_needed(backend: str) -> tuple[str, ...]:
    """The dialects that the scripts of a backend, `NAME[:DEVICE]`, may take a model from.

    Raises:
        UsageError: There is no script for it.
    """
    name = backend.partition(":")[0]
    if name not in _SCRIPTS:
        raise UsageError(f"There is no script for {backend!r}. Allowed are: {', '.join(_SCRIPTS)}.")
    if "=" in backend:
        raise UsageError(f"There is no script for {backend!r}: a script has devices of the product's own alone.")
    return _SCRIPTS[name].dialects


def needs(backend: str) -> tuple[str, ...]:
    """The packages that a backend's scripts need."""
    return _SCRIPTS[backend].needs


def script_of(backend: str, reproduced: Reproduced) -> str:
    """The script of a case.

    Args:
        backend: The backend's name, without a device.
        reproduced: The case.

    Raises:
        SuiteError: A file of the suite is not what it says.
        UsageError: The case cannot be said in a script, or not for this backend.
    """
    script, suite, entry = _SCRIPTS[backend], reproduced.suite, reproduced.entry
    if script.devices and reproduced.device not in script.devices:
        allowed = ", ".join(each for each in script.devices if each)
        raise UsageError(f"There is no script for {backend}:{reproduced.device}. Allowed are: {allowed}.")
    case = suite.case(entry)
    variables, feeds = _variables(suite, entry, case)
    held = [each for each in script.dialects if suite.header.dialects.get(each) in entry.files]
    if script.dialects and not held:
        reasons = (entry.left_out.get(each, f"the suite has no {each} models") for each in script.dialects)
        reason = "; ".join(dict.fromkeys(reasons))
        raise UsageError(f"{case.id} cannot be said to {backend}: {reason}.")
    read = {name: suite.read(entry, name) for name in entry.files if name.partition("/")[0] in held[:1]}
    template = script.template(case)
    first = {
        each.name: Tensor(element_type=each.element_type, array=_feed(suite, entry, 0)[each.name])
        for each in case.inputs
    }
    used = [each for each in variables if template == _OPSET or _is_used(case, each.input, held)]
    types = {each.input.name: _type(each.input) for each in used}
    dies, elsewhere = reproduced.reason in _DEATHS, reproduced.device not in ("", "CPU")
    text = render(
        template,
        device=reproduced.device,
        elsewhere=elsewhere,
        sound=_SOUND if elsewhere or not dies else "",  # a heap is left as it was when the process died
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
        graph=torch_source(case, first) if backend == "torch" else openvino_source(case),
        opsets=opsets(case),
        main=next((types[each.name] for each in case.inputs if each.role == "tensor" and each.name in types), None),
        xml=_xml_source(read.get("openvino/model.xml", b"").decode()),
        weights=textwrap.wrap(read.get("openvino/model.bin", b"").hex(), _WIDTH - 6),
        onnx=_onnx(read, held),
        bits=bits_of(case),
        both_nan=both_nan_source(case) if reproduced.reason not in _ABOUT_NANS else "",
        most_printed=_MOST_PRINTED,
        most_said=_MOST_SAID,
    )
    return str(text)


def _feed(suite: Suite, entry: Entry, feed: int) -> dict[str, Array]:
    return suite.arrays(entry, inputs_name(feed))


def _variables(suite: Suite, entry: Entry, case: Case) -> tuple[tuple[_Assigned, ...], tuple[_Feed, ...]]:
    """The arrays of a case, each under a name, and what each inference takes and gives."""
    variables: dict[str, _Assigned] = {}
    feeds = []
    for feed in range(case.feeds):
        arrays, names = _feed(suite, entry, feed), {}
        for each in case.inputs:
            source = array_source(arrays[each.name])
            known = [name for name, one in variables.items() if one.source == source and one.input == each]
            names[each.name] = known[0] if known else each.name if feed == 0 else f"{each.name}_{feed}"
            variables.setdefault(names[each.name], _Assigned(names[each.name], source, each))
        fed = tuple(variables[names[each.name]] for each in case.inputs if each.binding == "parameter")
        held = {names[each.name]: arrays[each.name] for each in case.inputs if each.role == "tensor"}
        feeds.append(_Feed(fed, _expected(suite, entry, case, feed, held)))
    return tuple(variables.values()), tuple(feeds)


def _is_used(case: Case, each: Input, held: Sequence[str]) -> bool:
    """Whether a script needs an input beside a model that holds it: to feed it, or to know what must come of it.

    Args:
        case: The case.
        each: The input.
        held: The dialects of the model; none where there is no model.
    """
    if not held:
        return each.role == "tensor"
    return each.binding == "parameter" or (each.role == "tensor" and not isinstance(case.expect, Reject))


def _expected(suite: Suite, entry: Entry, case: Case, feed: int, held: Mapping[str, Array]) -> tuple[str, ...]:
    if not isinstance(case.expect, Accept):
        return ()
    golden = suite.arrays(entry, expected_name(feed))
    return tuple(output_source(golden[each.name], held) for each in case.expect.accept)


class _Type(NamedTuple):
    """How a script holds an input: its shape in the model, and its bits where numpy has no such type."""

    name: str
    element_type: str
    onnx: str
    shape: str
    is_odd: bool
    bits: int
    order: str


def _type(each: Input) -> _Type:
    kind = ELEMENT_TYPES[each.element_type]
    packed = 0 < kind.bits < 8  # noqa: PLR2004 - narrower than a byte
    if packed and each.element_type not in _ROWS:
        raise UsageError(f"{each.element_type} is packed in no way that a short script could follow.")
    return _Type(
        name=each.name,
        element_type=each.element_type,
        onnx=kind.onnx or "",
        shape=_declared(each),
        is_odd=is_odd(each.element_type),
        bits=kind.bits if packed else 0,
        order=_ROWS.get(each.element_type, ""),
    )


def _declared(each: Input) -> str:
    if each.dynamic is None:
        return repr(list(each.shape))
    if isinstance(each.dynamic, str):
        return "ov.PartialShape.dynamic()"
    return f'ov.PartialShape("[{",".join(str(size) for size in each.dynamic)}]")'


def _comments(notes: Sequence[str]) -> tuple[str, ...]:
    """Sentences as comments: whatever they hold, no line of them is code."""
    plain = ["".join(each for each in " ".join(note.split()) if each.isprintable()) for note in notes]
    return tuple(line for note in plain for line in textwrap.wrap(note, _WIDTH - 2, break_on_hyphens=False))


def _end(case: Case, reproduced: Reproduced) -> str:
    """What the end of the script says."""
    if reproduced.reason in _DEATHS:
        return "Where the bug is, it ends this process or never comes back; where it is mended, this ends with 0."
    if isinstance(case.expect, Reject):
        return "Ends with 0 where the case is refused, as it must be, and with 1 where it is accepted."
    return "Ends with 0 where the outputs are as expected, and with 1 where they are not, or where the case is refused."


def _xml_source(xml: str) -> str:
    """An IR as a Python string: as it stands, if nothing in it could end the string or read otherwise."""
    plain = all(each.isprintable() or each == "\n" for each in xml) and "\\" not in xml and '"""' not in xml
    return f'"""\\\n{xml}"""' if plain else repr(xml)


def _onnx(read: Mapping[str, bytes], held: Sequence[str]) -> OnnxModel | None:
    return onnx_model_of(read[f"{held[0]}/model.onnx"]) if held and held[0].startswith("onnx") else None


def _openvino(case: Case) -> str:
    """OpenVINO's opset where its functions can say the case, and else the IR."""
    return "repro/openvino-ir.py.j2" if openvino_source(case) is None else _OPSET


def _torch(case: Case) -> str:
    tensors = [each.element_type for each in case.inputs if each.role == "tensor"]
    if not tensors:
        raise UsageError(f"{case.id} has no data, without which there is nothing to call torch with.")
    for each in tensors:
        if each == "string" or (is_odd(each) and each not in _TORCH_TYPES):
            raise UsageError(f"{case.id} cannot be said to torch: it has no tensors of {each}.")
    if case.feeds > 1:
        raise UsageError(f"{case.id} has two inferences, for which torch has no model: each is a call of its own.")
    return "repro/torch.py.j2"


def _always(template: str) -> Callable[[Case], str]:
    return lambda _: f"repro/{template}.py.j2"


#: The backends that there is a script for.
_SCRIPTS: Mapping[str, _Script] = MappingProxyType(
    {
        "openvino": _Script(dialects=("openvino",), template=_openvino, needs=("openvino", "numpy")),
        "openvino-onnx": _Script(
            dialects=("onnx", "onnx13"), template=_always("openvino-onnx"), needs=("openvino", "onnx", "numpy")
        ),
        "onnxruntime": _Script(
            dialects=("onnx", "onnx13"), template=_always("onnxruntime"), needs=("onnxruntime", "onnx", "numpy")
        ),
        "torch": _Script(dialects=(), template=_torch, needs=("torch", "numpy"), devices=("", "eager", "compile")),
    }
)
