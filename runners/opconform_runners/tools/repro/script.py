"""A case as a short script that uses nothing but the backend's own interface."""

import dataclasses
import json
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from opconform.errors import UsageError, nearest
from opconform.suite.case import Case, Reject
from opconform.suite.declarations import DeclaredCase
from opconform.suite.manifest import Entry, inputs_name
from opconform.suite.reader import Suite
from opconform.system.entry_points import Registry
from opconform.system.resources import render
from opconform.tensors.tensor import Tensor
from opconform_runners.tools.repro.graph_source import GraphSource
from opconform_runners.tools.repro.names import script_names
from opconform_runners.tools.repro.variables import BIT_ORDERS, is_used, output_kinds, variables_of
from opconform_runners.verdicts.judge import ENDS

_WIDTH = 118
#: The failures that may concern NaN payloads alone, an unknown one among them.
_ABOUT_NANS = ("nan-payload", None)


def _plain_settings(device: str) -> Mapping[str, object]:
    return {"device": device or "CPU"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Script:
    """How the scripts of a backend are written; the entry points of `opconform.scripts` name one per backend.

    Attributes:
        dialects: The dialects whose models they may need.
        needs: The packages that they need.
        devices: The allowed devices; empty for any.
        template: The template, as `PACKAGE:PATH`.
        without_graph: The template of a case whose graph cannot be written as calls; empty if it is the same.
        issue: The template of the form of the tracker, which sets the `prefix` of a title, and `sections`: each heading
            and its answer.
        graph: The graph as calls, given the case and the tensors of its first feed; None where they cannot express it.
            It raises `UsageError` for a case that the backend cannot be called with.
        settings: What the template needs to know of a device, which is the part of the backend's name behind the colon;
            `device` is its name.
        names: What the template needs beside, by name, given the case.
        model: What the template needs of the model, by name, given its files.
        cpp_test: The file with the same case as a test in C++, given what `script_of` takes; None without such tests.
        cpp_needs: What this test needs, in words.
    """

    dialects: tuple[str, ...]
    needs: tuple[str, ...]
    devices: tuple[str, ...] = ()
    template: str
    without_graph: str = ""
    issue: str = "repro/issue-form.md.j2"
    graph: Callable[[DeclaredCase, Mapping[str, Tensor]], GraphSource | None] = lambda *_: None
    settings: Callable[[str], Mapping[str, object]] = _plain_settings
    names: Callable[[Case], Mapping[str, object]] = lambda _: {}
    model: Callable[[Mapping[str, bytes]], Mapping[str, object]] = lambda _: {}
    cpp_test: Callable[[Suite, Entry, str, Iterable[str], str | None], str] | None = None
    cpp_needs: str = ""

    @property
    def requires(self) -> str:
        """The command that installs the packages."""
        return f"pip install {' '.join(self.needs)}"


def _check(_name: str, _script: Script, _file: Path) -> None:
    """Every script can be used."""


#: The backends that have scripts.
SCRIPTS = Registry("opconform.scripts", (Script,), {}, _check)


def dialects_needed(backend: str, form: str) -> tuple[str, ...]:
    """The dialects that a backend, `NAME[:DEVICE]`, may take a model from in a form, which it must have."""
    name = backend.partition(":")[0]
    known = [x for x in sorted(SCRIPTS) if form != "gtest" or SCRIPTS[x].cpp_test is not None]
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
    read = {name: suite.read(entry, name) for name in entry.files if name.partition("/")[0] in available[:1]}
    first = {
        input_.name: Tensor(element_type=input_.element_type, array=suite.arrays(entry, inputs_name(0))[input_.name])
        for input_ in case.inputs
    }
    graph = script.graph(_declared(suite, case), first)
    first_names = script_names(case).arrays
    used = [
        x
        for x in variables
        if is_used(case, x.input, available)
        or (graph is not None and (script.dialects or graph.takes(first_names[x.input.name])))
    ]
    for item in used:
        if item.kind.bits % 8 and item.kind.name not in BIT_ORDERS:
            raise UsageError(f"A short script cannot pack {item.kind.name}.")
    by_input = {x.input.name: x for x in used}
    outputs = output_kinds(case)
    settings = {"is_elsewhere": device not in ("", "CPU"), **script.settings(device)}
    compares_numbers = any(output.comparison == "numbers" for output in case.outputs)
    dies, elsewhere = reason in ENDS, settings["is_elsewhere"]
    text = render(
        script.template if graph is not None or not script.without_graph else script.without_graph,
        **settings | {"device": json.dumps(settings["device"])},
        **script.names(case),
        **script.model(read),
        elsewhere=elsewhere,
        sound=elsewhere or not dies,  # keep the heap as it was when the process died
        notes=comments(notes),
        dies=dies,
        case=case,
        variables=used,
        feeds=feeds,
        rejects=isinstance(case.expect, Reject),
        by_input=by_input,
        names=script_names(case),
        bit_orders=BIT_ORDERS,
        odd=next((x for x in used if x.is_odd), None),
        graph=graph,
        outputs=outputs,
        both_nan=outputs.both_nan if reason not in _ABOUT_NANS or compares_numbers else "",
    )
    return str(text)


def _declared(suite: Suite, case: Case) -> DeclaredCase:
    fields = {field.name: getattr(case, field.name) for field in dataclasses.fields(case)}
    return DeclaredCase(**fields, declarations=suite.header.declarations)


def comments(notes: Iterable[str]) -> tuple[str, ...]:
    """Sentences as comment lines, which are never code, whatever the sentences contain."""
    plain = ["".join(x for x in " ".join(note.split()) if x.isprintable()) for note in notes]
    return tuple(line for note in plain for line in textwrap.wrap(note, _WIDTH - 2, break_on_hyphens=False))
