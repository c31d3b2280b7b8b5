"""The format `onnx`: the folders of ONNX's own backend tests."""

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from opconform.errors import SuiteError, UsageError
from opconform.suite.case import Accept, Case, Output, Reject
from opconform.suite.manifest import Entry, expected_name, inputs_name
from opconform.suite.reader import Suite
from opconform.system.resources import text_of
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.execution.progress import OnProgress
from opconform_runners.tools.export.folder import written_cases
from opconform_runners.tools.export.tolerance import tolerance_of

if TYPE_CHECKING:
    from onnx import ModelProto

#: The folders of valid and of invalid cases; ONNX's loader takes such a folder as a kind of tests.
_VALID, _INVALID = "valid", "invalid"


def gap(suite: Suite, entry: Entry) -> str | None:
    """Why ONNX's runner cannot judge a case, in a sentence, or None."""
    try:
        from onnx import TensorProto
    except ImportError as error:
        raise UsageError(
            "--as onnx needs the package onnx. Install it with `pip install 'opconform[onnx]'`."
        ) from error
    case = suite.case(entry)
    known = set(TensorProto.DataType.keys())
    names = [*(input_.element_type for input_ in case.inputs), *(output.element_type for output in case.outputs)]
    lacking = [name for name in names if ELEMENT_TYPES[name].onnx not in known]
    if lacking:
        return f"ONNX has no element type {lacking[0]}"
    if any(output.also for output in case.outputs):
        return "ONNX's runner knows one right output alone, and elements have several right values"
    return None if tolerance_of(suite, entry) else "ONNX's runner has no tolerance for numbers beside an infinity"


def write(suite: Suite, entries: Sequence[Entry], model: str, out: Path, on_progress: OnProgress) -> None:
    """Write a folder per case, and `invalid/manifest.json`, which says what each invalid case violates."""
    folders = {entry.id: _folder(entry) for entry in entries}
    if len(set(folders.values())) < len(folders):
        raise SuiteError(f"{suite.store.root}: two cases have ids that differ only in capital letters.")
    invalid = []
    for entry in written_cases(entries, on_progress):
        case = suite.case(entry)
        _write_case(suite, entry, case, suite.read(entry, model), out / folders[entry.id])
        if isinstance(case.expect, Reject):
            twin = folders.get(entry.twin or "")
            names = {"folder": Path(folders[entry.id]).name, "twin": twin and f"../{twin}", "case": entry.id}
            invalid.append({**names, "requirement": f"{entry.op}:{case.expect.reject}", "title": case.title})
    if invalid:
        text = json.dumps(invalid, indent=1) + "\n"
        (out / _INVALID / "manifest.json").write_text(text, encoding="utf-8")
    (out / "README.md").write_text(text_of("export/onnx.md"), encoding="utf-8")


def _folder(entry: Entry) -> str:
    """The folder of a case, whose name is also one of Python's, as in `valid/test_split_1_axis_17a2d48cd0`."""
    return f"{_VALID if entry.expect == 'accept' else _INVALID}/test_{re.sub('[^a-z0-9]', '_', entry.id.lower())}"


def _write_case(suite: Suite, entry: Entry, case: Case, model: bytes, folder: Path) -> None:
    graph = _model(suite, entry, model).graph
    types = {input_.name: input_.element_type for input_ in case.inputs}
    outputs = case.expect.accept if isinstance(case.expect, Accept) else ()
    names = [value.name for value in graph.input]
    if not set(names) <= types.keys() or (outputs and len(graph.output) != len(outputs)):
        raise SuiteError(f"{suite.store.root}: the ONNX model of {entry.id} contradicts the case. Generate it again.")
    for feed in range(case.feeds):
        place = folder / f"test_data_set_{feed}"
        place.mkdir(parents=True)
        arrays = suite.arrays(entry, inputs_name(feed))
        tensors = [Tensor(element_type=types[name], array=arrays[name]) for name in names]
        _write_tensors(place, "input", zip(names, tensors, strict=True))
        if outputs:
            expected = suite.arrays(entry, expected_name(feed))
            for prefix, suffix in (("output", ""), ("lower", ".lower"), ("upper", ".upper")):
                results = [_tensor(output, expected.get(output.name + suffix)) for output in outputs]
                _write_tensors(place, prefix, zip((value.name for value in graph.output), results, strict=True))
    if outputs and (tolerance := tolerance_of(suite, entry)):
        about = {**tolerance._asdict(), "comparison": [output.comparison for output in outputs]}
        (folder / "data.json").write_text(json.dumps(about) + "\n", encoding="utf-8")
    (folder / "model.onnx").write_bytes(model)


def _tensor(output: Output, array: Array | None) -> Tensor | None:
    return None if array is None else Tensor(element_type=output.element_type, array=array)


def _model(suite: Suite, entry: Entry, content: bytes) -> "ModelProto":
    from google.protobuf.message import DecodeError
    from onnx import load_model_from_string

    try:
        return load_model_from_string(content)
    except DecodeError as error:
        raise SuiteError(f"{suite.store.root}: {entry.id} has no valid ONNX model: {error}.") from error


def _write_tensors(folder: Path, prefix: str, tensors: Iterable[tuple[str, Tensor | None]]) -> None:
    from opconform.dialects.onnx import tensor_proto

    for number, (name, tensor) in enumerate(tensors):
        if tensor is not None:
            content = tensor_proto(name, tensor).SerializeToString(deterministic=True)
            (folder / f"{prefix}_{number}.pb").write_bytes(content)
