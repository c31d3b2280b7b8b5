"""A harness of numpy that breaks no rule of the protocol; each of its methods can be replaced."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from opconform.suite.declarations import declared_case_from
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.backends.backend import Rejected
from opconform_runners.backends.numpy.backend import Numpy

Message = dict[str, Any]
TYPES = ("f32", "i32", "i64", "bf16", "string")


class Lawful:
    """Breaks no rule."""

    def __init__(self, operations: tuple[str, ...] = ("Concat-1", "Split-1", "VariadicSplit-1")) -> None:
        self.operations = operations
        self.first: list[Array] = []
        self._backend = Numpy()

    def said(self) -> Message:
        """The answer to `start`."""
        return {
            "protocol": 1,
            "implementation": {"name": "right", "version": "1"},
            "dialects": [],
            "element_types": list(TYPES),
            "operations": list(self.operations),
            "dynamic": True,
            "bindings": ["constant", "parameter"],
            "graphs": True,
        }

    def say(self, message: Message) -> None:
        """Write a message."""
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()

    def lines(self) -> Iterator[str]:
        """The requests."""
        yield from sys.stdin

    def begin(self) -> None:
        """Is called before anything is read."""

    def stop(self) -> None:
        """End, as `stop` asks."""
        sys.exit()

    def end(self) -> None:
        """Is called after the end of standard input."""

    def serve(self) -> None:
        """Answer every request."""
        self.begin()
        for line in self.lines():
            request = json.loads(line)
            match request["cmd"]:
                case "start":
                    self.say(self.said())
                case "run":
                    self.answer(request)
                case _:
                    self.stop()
        self.end()

    def answer(self, request: Message) -> None:
        """Write the reply to a request."""
        self.say(self.reply(request))

    def reply(self, request: Message) -> Message:
        """The reply to a request."""
        case = declared_case_from(request["case"])
        if {port.element_type for port in case.inputs if port.role == "data"} - set(self.said()["element_types"]):
            return self.unsupported(request)
        try:
            feeds = [self._inputs(request, feed["inputs"]) for feed in request["feeds"]]
        except FileNotFoundError as error:
            return self.missing(request, error)
        try:
            outputs = [[tensor.array for tensor in feed] for feed in self._backend.run(case, None, feeds)]
        except Rejected as answer:
            return self.refused(request, answer)
        outputs = [self.changed(arrays) for arrays in outputs]
        for number, arrays in enumerate(outputs):
            self.save(request, number, arrays)
        return self.done(request, outputs)

    def _inputs(self, request: Message, name: str) -> dict[str, Tensor]:
        types = {port["name"]: port["element_type"] for port in request["case"]["inputs"]}
        with np.load(Path(request["dir"]) / name) as arrays:
            return {name: Tensor(element_type=types[name], array=arrays[name]) for name in arrays.files}

    def changed(self, arrays: list[Array]) -> list[Array]:
        """The outputs of a feed, as they are written and reported."""
        return arrays

    def save(self, request: Message, number: int, arrays: list[Array]) -> None:
        """Write the outputs of a feed."""
        self.save_at(Path(request["feeds"][number]["outputs"]), arrays)

    def save_at(self, path: Path, arrays: list[Array]) -> None:
        """Write outputs into a file."""
        named: dict[str, Any] = {f"output_{place}": array for place, array in enumerate(arrays)}
        np.savez(path, **named)

    def done(self, request: Message, outputs: list[list[Array]]) -> Message:
        """The reply to a case that was executed."""
        types = [[request["case"]["inputs"][0]["element_type"]] * len(arrays) for arrays in outputs]
        return {"seq": request["seq"], "status": "ok", "seconds": 0.0, "element_types": types}

    def refused(self, request: Message, answer: Rejected) -> Message:
        """The reply to a case that the backend rejects."""
        return {"seq": request["seq"], "status": "rejected", "stage": answer.stage, "message": answer.message}

    def unsupported(self, request: Message) -> Message:
        """The reply to a case that needs undeclared features."""
        return {"seq": request["seq"], "status": "unsupported", "message": "not this one"}

    def missing(self, request: Message, error: FileNotFoundError) -> Message:
        """The reply to a request whose file is missing."""
        return {"seq": request["seq"], "status": "error", "message": str(error)}
