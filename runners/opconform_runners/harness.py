"""The Python harness: a process that drives one backend. `python -m opconform_runners.harness NAME[:DEVICE]`."""

import os
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from opconform.case import Case, case_from
from opconform.element_types import ELEMENT_TYPES
from opconform.errors import UsageError
from opconform.npz import arrays_of, npz_bytes
from opconform.suite import FILE_LIMIT
from opconform.tensors import Tensor
from opconform_runners.backend import Backend, Inputs, Outputs, Rejected, Unsupported
from opconform_runners.installed import load
from opconform_runners.protocol import Failed, NotSupported, Ok, Refused, Reply, reply_line, request_of, said_line

_LONGEST_MESSAGE = 2_000


def main(name: str) -> None:
    """Serve requests until `stop`, or until standard input ends.

    Args:
        name: A backend, as in `openvino:CPU` or `path/file.py:ClassName`.
    """
    replies = _own_output()
    try:
        backend = load(name)
        described = said_line(backend.describe())
    except UsageError as fault:
        sys.exit(str(fault))
    except Exception as fault:  # noqa: BLE001 - whatever a backend does when it is loaded is told to a person
        traceback.print_exc()
        sys.exit(f"The backend {name} cannot be loaded: {type(fault).__name__}: {fault}")
    for line in sys.stdin.buffer:
        request = request_of(line)
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


def _own_output() -> BinaryIO:
    """The real standard output, which belongs to the protocol alone; what others print goes to standard error."""
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    sys.stdout = sys.stderr
    return replies


def _served(backend: Backend, request: Mapping[str, Any]) -> Reply:
    seq = request["seq"]
    started = time.perf_counter()
    try:
        case = case_from(request["case"])
        folder = request["dir"]
        feeds = [_inputs(case, f"{folder}/{each['inputs']}") for each in request["feeds"]]
        model = None if request["model"] is None else Path(folder, request["model"])
        started = time.perf_counter()
        outputs = backend.run(case, model, feeds)
        seconds = time.perf_counter() - started
        for each, feed in zip(_checked(outputs, len(feeds)), request["feeds"], strict=True):
            arrays = {f"output_{number}": tensor.array for number, tensor in enumerate(each)}
            with open(feed["outputs"], "wb") as file:  # noqa: PTH123 - a Path takes as long as to write
                file.write(npz_bytes(arrays))
    except Rejected as answer:
        spent = time.perf_counter() - started
        message = answer.message[:_LONGEST_MESSAGE]
        return Refused(seq=seq, stage=answer.stage, message=message, requirement=answer.requirement, seconds=spent)
    except Unsupported as answer:
        return NotSupported(seq=seq, message=str(answer)[:_LONGEST_MESSAGE], seconds=time.perf_counter() - started)
    except Exception as fault:  # noqa: BLE001 - the boundary: a harness that fails says so and goes on
        message = f"{type(fault).__name__}: {fault}"[:_LONGEST_MESSAGE]
        return Failed(seq=seq, message=message, traceback=traceback.format_exc()[-10 * _LONGEST_MESSAGE :])
    element_types = tuple(tuple(tensor.element_type for tensor in each) for each in outputs)
    return Ok(seq=seq, seconds=seconds, element_types=element_types)


def _inputs(case: Case, path: str) -> Inputs:
    with open(path, "rb") as file:  # noqa: PTH123 - a Path takes as long as to read
        arrays = arrays_of(file.read(), path, limit=FILE_LIMIT)
    types = {each.name: each.element_type for each in case.inputs}
    return {name: Tensor(element_type=types[name], array=array) for name, array in arrays.items()}


def _checked(outputs: Sequence[Outputs], feeds: int) -> Sequence[Outputs]:
    """The outputs, once they are known to be what a backend has to return."""
    if len(outputs) != feeds:
        raise TypeError(f"the backend returned the outputs of {len(outputs)} feeds, and was given {feeds}")
    for each in outputs:
        for tensor in each:
            if not isinstance(tensor, Tensor):
                raise TypeError(
                    f"the backend returned a {type(tensor).__name__} where opconform.tensors.Tensor is needed"
                )
            kind = ELEMENT_TYPES[tensor.element_type].storage
            if tensor.array.dtype != kind and not (kind.kind == "U" and tensor.array.dtype.kind == "U"):
                sentence = (
                    f"a tensor of {tensor.element_type} holds {kind}, and the backend's holds {tensor.array.dtype}"
                )
                raise TypeError(sentence)
    return outputs


if __name__ == "__main__":
    main(sys.argv[1])
