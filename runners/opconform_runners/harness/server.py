"""The Python harness, which drives one backend. `python -P -m opconform_runners.harness.server NAME[:DEVICE]`."""

import json
import os
import sys
import time
import traceback
from binascii import a2b_base64, b2a_base64
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, TypeGuard

import numpy as np

from opconform.errors import UsageError
from opconform.suite.case import Case
from opconform.suite.declarations import declared_case_from
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.npz import FILE_LIMIT, arrays_of, is_large, npz_bytes, write_npz
from opconform.tensors.tensor import Tensor
from opconform_runners.backends.backend import (
    Backend,
    Implementation,
    Inputs,
    Outputs,
    PlacedOutputs,
    Rejected,
    Unsupported,
)
from opconform_runners.harness.protocol import (
    INLINE_LIMIT,
    LOG_LIMIT,
    TEXT_LIMIT,
    Failed,
    NotSupported,
    Ok,
    Refused,
    Reply,
    reply_line,
    said_line,
)
from opconform_runners.harness.registry import UNUSABLE, backend_file_of, load

#: The maximum length of the reason why a backend cannot be loaded, and the number of list elements shown.
_LONGEST_REASON = 600
_MOST_SHOWN = 3
#: The dtypes that an output can have, whatever its element type.
_STORAGE = {element_type.storage for element_type in ELEMENT_TYPES.values()}


def main(name: str) -> None:
    """Serve requests to a backend such as `openvino:CPU` until `stop`, or until standard input ends."""
    replies = _own_output()
    backend, described = _loaded(name)
    for line in sys.stdin.buffer:
        request = json.loads(line)
        match request["cmd"]:
            case "start":
                replies.write(described)
            case "run":
                replies.write(reply_line(_served(backend, request)))
            case _:
                break
        replies.flush()
    replies.flush()
    sys.stderr.flush()
    os._exit(0)  # a backend's clean-up is not under test, and may hang


def _loaded(name: str) -> tuple[Backend, bytes]:
    """The backend, and its reply to `start`. If it cannot be loaded, the last line on standard error says why."""
    try:
        backend = load(name)
        return backend, said_line(_described(backend, name))
    except UsageError as error:
        why = str(error)
    except Exception as error:  # noqa: BLE001 - a backend may raise anything when it is loaded
        traceback.print_exc()
        sentence = _sentence(error, backend_file_of(name))[:_LONGEST_REASON].rstrip(".")
        why = f"The backend {name} cannot be loaded: {sentence}."
    sys.stderr.write(f"\n{' '.join(why.split())}\n")
    sys.stderr.flush()
    os._exit(UNUSABLE)  # nothing may follow the last line


def _described(backend: Backend, name: str) -> Implementation:
    described = backend.describe()
    if not isinstance(described, Implementation):
        raise UsageError(f"describe() of {name} must return an Implementation, but returned {_shown(described)}.")
    return described


def _sentence(error: Exception, file: str) -> str:
    """An exception in words, after the line of the backend's own file that was executed last, if there is one."""
    backend_file = Path(file).resolve()
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename).resolve() == backend_file]
    return f"{f'{backend_file.name}:{lines[-1]}: ' if lines else ''}{type(error).__name__}: {error}"


def _own_output() -> BinaryIO:
    """The real standard output, reserved for the protocol; other output goes to standard error."""
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    sys.stdout = sys.stderr
    return replies


def _served(backend: Backend, request: Mapping[str, Any]) -> Reply:
    seq = request["seq"]
    started = time.perf_counter()
    try:
        case = declared_case_from(request["case"])
        folder = request["dir"]
        feeds = [_inputs(case, folder, feed) for feed in request["feeds"]]
        model = None if request["model"] is None else Path(folder, request["model"])
        started = time.perf_counter()
        result = backend.run(case, model, feeds)
        seconds = time.perf_counter() - started
        outputs, placement = (result.outputs, result.placement) if isinstance(result, PlacedOutputs) else (result, None)
        pairs = zip(_checked(outputs, len(feeds)), request["feeds"], strict=True)
        inline = tuple(_given(x, feed) for x, feed in pairs)
    except Rejected as answer:
        spent = time.perf_counter() - started
        message = answer.message[:TEXT_LIMIT]
        return Refused(seq=seq, stage=answer.stage, message=message, requirement=answer.requirement, seconds=spent)
    except _Misreturned as error:
        return Failed(seq=seq, message=str(error)[:TEXT_LIMIT])
    except Unsupported as answer:
        return NotSupported(seq=seq, message=str(answer)[:TEXT_LIMIT], seconds=time.perf_counter() - started)
    except Exception as error:  # noqa: BLE001 - the boundary: a failure is a reply, and the harness continues
        backend_file = getattr(sys.modules.get(type(backend).__module__), "__file__", None) or ""
        message = _sentence(error, backend_file)[:TEXT_LIMIT]
        return Failed(seq=seq, message=message, traceback=traceback.format_exc()[-LOG_LIMIT:])
    element_types = tuple(tuple(tensor.element_type for tensor in output) for output in outputs)
    returned = inline if any(inline) else None
    return Ok(seq=seq, seconds=seconds, element_types=element_types, placement=placement, outputs=returned)


def _inputs(case: Case, folder: str, feed: Mapping[str, str]) -> Inputs:
    """The inputs of a feed, from the request or from a file."""
    if "npz" in feed:
        arrays = arrays_of(a2b_base64(feed["npz"]), "the request", limit=FILE_LIMIT)
    else:
        path = f"{folder}/{feed['inputs']}"
        with open(path, "rb") as file:  # noqa: PTH123 - a Path takes as long as to read
            arrays = arrays_of(file.read(), path, limit=FILE_LIMIT)
    types = {input_.name: input_.element_type for input_ in case.inputs}
    return {name: Tensor(element_type=types[name], array=array) for name, array in arrays.items()}


def _given(outputs: Outputs, feed: Mapping[str, str]) -> str | None:
    """The outputs of a feed for the reply, or None after writing them to the file that the feed names."""
    arrays = {f"output_{number}": output.array for number, output in enumerate(outputs)}
    if is_large(arrays):
        with open(feed["outputs"], "w+b") as file:  # noqa: PTH123 - a Path takes as long as to write
            write_npz(file, arrays)
        return None
    content = npz_bytes(arrays)
    if "npz" in feed and len(content) <= INLINE_LIMIT:
        return b2a_base64(content, newline=False).decode()
    with open(feed["outputs"], "wb") as file:  # noqa: PTH123 - the same
        file.write(content)
    return None


class _Misreturned(Exception):  # noqa: N818 - the backend's fault, not an error of the harness
    """The return value of `run` is not what a backend may return."""


def _checked(outputs: object, feeds: int) -> Sequence[Outputs]:
    """The outputs, checked to be what a backend must return."""
    if not _is_list(outputs) or not all(
        _is_list(output) and all(isinstance(tensor, Tensor) for tensor in output) for output in outputs
    ):
        must = "a list with the outputs of each feed, each a list of Tensors"
        raise _Misreturned(f"run() must return {must}, but returned {_shown(outputs)}")
    if len(outputs) != feeds:
        raise _Misreturned(f"run() returned outputs for {len(outputs)} feeds instead of {feeds}")
    for tensor in [tensor for output in outputs for tensor in output]:
        if tensor.element_type not in ELEMENT_TYPES:
            raise _Misreturned(f"run() returned a Tensor of {tensor.element_type!r}, which is not an element type")
        if not isinstance(tensor.array, np.ndarray):
            kind = type(tensor.array).__name__
            raise _Misreturned(f"run() returned a Tensor whose array is a {kind}; it must be a numpy array")
        dtype = tensor.array.dtype
        if dtype.kind != "U" and dtype not in _STORAGE:  # one that another element type has is the product's promotion
            raise _Misreturned(
                f"run() returned a Tensor of {tensor.element_type} with an array of {dtype}, "
                f"which no element type is stored as"
            )
    return outputs


def _is_list(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _shown(value: object) -> str:
    """A value in a few words: the nesting of its lists, and the types in them."""
    if _is_list(value):
        return f"[{', '.join(_shown(x) for x in value[:_MOST_SHOWN])}{', …' if len(value) > _MOST_SHOWN else ''}]"
    return "None" if value is None else type(value).__name__


if __name__ == "__main__":
    main(sys.argv[1])
