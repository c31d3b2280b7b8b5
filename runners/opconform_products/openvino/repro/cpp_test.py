"""A case as one C++ file with a GoogleTest test that uses nothing but OpenVINO's C++ API."""

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from opconform.errors import UsageError
from opconform.suite.alternatives import also_name
from opconform.suite.bounds import bound_names
from opconform.suite.case import Accept, Input, Output
from opconform.suite.manifest import Entry, expected_name, inputs_name
from opconform.suite.reader import Suite
from opconform.system.resources import render
from opconform.tensors.bit_layouts import OPENVINO_IR, pack
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array, Tensor, patterns
from opconform.tensors.texts import bytes_of
from opconform_products.openvino.prefixes import prefixed
from opconform_products.openvino.repro.ir import short_ir
from opconform_runners.tools.repro.script import comments
from opconform_runners.tools.repro.variables import BIT_ORDERS, MOST, NANS, has_limits

_WIDTH, _INDENT = 100, " " * 8
#: What would continue a comment on the next line: a backslash, or how old standards also spell it.
_CONTINUED = re.compile(r"(?:\\|\?\?/)+$")
_PLAIN = re.compile(rb"[ !#-\[\]-~]")


class CppTensor(NamedTuple):
    """A tensor in C++: its name, the type that holds its elements or several narrow ones, and its source.

    Attributes:
        source: Element type, shape and elements, as arguments.
        elements: The elements alone.
        padding: The bits of the last byte that hold no element; 0 if there are none.
        nan: A mask, and the largest bits under it that are not a NaN; (0, 0) if no element is a NaN, or NaNs differ.
        limits: The least and the largest right elements, as arguments; empty if bits are compared.
        also: Vectors of elements that are as right, in braces.
    """

    name: str
    holder: str
    source: str
    elements: str
    padding: int
    nan: tuple[int, int]
    limits: str = ""
    also: str = "{}"


def cpp_test_of(suite: Suite, entry: Entry, backend: str, notes: Iterable[str], reason: str | None) -> str:
    """The file of a case for a backend, `NAME[:DEVICE]`; raises `UsageError` if a test cannot express it.

    `notes` are the sentences of its first comment, and `reason` is the reason of the failure, if there is one.
    """
    case, (device, is_accurate, is_imported) = suite.case(entry), prefixed(backend.partition(":")[2])
    if "openvino/model.xml" not in entry.files:
        raise UsageError(f"{case.id} cannot be given to OpenVINO: {entry.left_out.get('openvino', 'it has no IR')}.")
    parameters = [input_ for input_ in case.inputs if input_.binding == "parameter"]
    outputs = case.expect.accept if isinstance(case.expect, Accept) else ()
    given = [suite.arrays(entry, inputs_name(feed)) for feed in range(case.feeds)]
    golden = [suite.arrays(entry, expected_name(feed)) for feed in range(case.feeds)] if outputs else [{}] * case.feeds
    expected = [[_output(output, arrays, reason) for output in outputs] for arrays in golden]
    operation, group, digits = (re.sub(r"\W", "_", part) for part in case.id.split("/"))
    text = render(
        "opconform_products.openvino:repro/test.cpp.j2",
        notes=[_CONTINUED.sub("", note) for note in comments(notes)],
        case=case.id,
        test=f"{operation}, {group}_{digits}",
        ir=_raw(short_ir(suite.read(entry, "openvino/model.xml").decode())),
        weights=_listed([f"0x{byte:02x}" for byte in suite.read(entry, "openvino/model.bin")]),
        device=_literal((device or "CPU").encode()),
        accurate=is_accurate,
        imported=is_imported,
        rejects=not isinstance(case.expect, Accept),
        feeds=[[_tensor(input_, arrays[input_.name]) for input_ in parameters] for arrays in given],
        expected=expected,
        pads=any(tensor.padding for tensors in expected for tensor in tensors),
        nans=any(tensor.nan[0] for tensors in expected for tensor in tensors),
        limited=any(tensor.limits for tensors in expected for tensor in tensors),
        several=any(output.also for output in outputs),
    )
    return str(text)


def _output(output: Output, arrays: Mapping[str, Array], reason: str | None) -> CppTensor:
    """An expected output, of a failure with that reason."""
    tensor, kind, bounds = _tensor(output, arrays[output.name]), ELEMENT_TYPES[output.element_type], ""
    if has_limits(output):
        vectors = [_tensor(output, arrays[name]).elements for name in bound_names(output.name) if name in arrays]
        fraction = int(kind.layout.nmant)
        bounds = f"{', '.join(vectors or ['{}, {}'])}, {kind.bits - fraction - 1}, {fraction}"
    is_nan_compared = output.comparison == "bits" and reason == "nan-payload"
    values = arrays[also_name(output.name)] if output.also else ()
    if output.also and kind.bits % 8:
        raise UsageError(f"A test cannot compare elements of {kind.name} one by one, of which several are right.")
    also = f"{{{', '.join(_tensor(output, value).elements for value in values)}}}"
    return tensor._replace(limits=bounds, nan=(0, 0) if is_nan_compared else tensor.nan, also=also)


def _tensor(port: Input | Output, array: Array) -> CppTensor:
    kind, padding, nan = ELEMENT_TYPES[port.element_type], 0, (0, 0)
    if array.size > MOST:
        raise UsageError(f"A tensor of {array.size:,} elements is too large for a test. Use `opconform run --select`.")
    if kind.bits % 8 and kind.name not in BIT_ORDERS:
        raise UsageError(f"A test cannot pack {kind.name}, since versions of OpenVINO differ.")
    if kind.kind == "string":
        words = [_literal(bytes_of(str(value))) for value in array.reshape(-1)]
    else:
        bits: Sequence[int] = patterns(array.reshape(-1)).tolist()
        if kind.bits % 8:
            bits = pack(Tensor(element_type=kind.name, array=array), OPENVINO_IR)
            ones = np.full_like(array, (1 << kind.bits) - 1)
            padding = 0xFF & ~[*pack(Tensor(element_type=kind.name, array=ones), OPENVINO_IR), 0xFF][len(bits) - 1]
        elif kind.name in NANS and any(x & NANS[kind.name][0] > NANS[kind.name][1] for x in bits):
            nan = NANS[kind.name]
        words = [f"0x{x:0{max(kind.bits, 8) // 4}x}" for x in bits]
    holder = "std::string" if kind.kind == "string" else f"std::uint{max(kind.bits, 8)}_t"
    shape, elements = ", ".join(map(str, array.shape)), f"std::vector<{holder}>{_listed(words)}"
    source = f"ov::element::{kind.name}, ov::Shape{{{shape}}}, {elements}"
    return CppTensor(port.name, holder, source, elements, padding, nan)


def _listed(words: Sequence[str]) -> str:
    """The words in braces, on several lines if they are long."""
    line = ", ".join(words)
    if len(line) <= _WIDTH:
        return f"{{{line}}}"
    lines = ",\n".join(words) if '"' in line else textwrap.fill(line, _WIDTH)
    return "{" + textwrap.indent(f"\n{lines}", _INDENT) + "}"


def _literal(text: bytes) -> str:
    """A C++ expression for a string of any bytes."""
    escaped = "".join(chr(x) if _PLAIN.fullmatch(bytes([x])) else f"\\{x:03o}" for x in text)
    return f'std::string("{escaped}", {len(text)})' if 0 in text else f'"{escaped}"'


def _raw(text: str) -> str:
    """A text as a raw string, whose delimiter is not in it; with escapes if it has an invisible character."""
    if not all(letter.isprintable() or letter == "\n" for letter in text):
        return _literal(text.encode())
    mark = next(mark for mark in (f"ir{number or ''}" for number in range(len(text) + 1)) if f'){mark}"' not in text)
    return f'R"{mark}({text}){mark}"'
