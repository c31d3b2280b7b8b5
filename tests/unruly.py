"""Harnesses that break one rule of the protocol each, in every message. `--harness "python tests/unruly.py NAME"`."""

import base64
import json
import os
import select
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from opconform.suite.declarations import declared_case_from
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.backends.backend import Rejected
from opconform_runners.backends.frameworks.numpy import Numpy

Message = dict[str, Any]


class Right:
    """Breaks no rule."""

    graphs = True
    element_types: tuple[str, ...] = ("f32", "i32", "i64", "bf16", "string")
    operations: tuple[str, ...] = ("Concat-1", "Split-1", "VariadicSplit-1")

    def __init__(self) -> None:
        self._backend = Numpy()
        self._first: list[Array] = []

    def said(self) -> Message:
        """The answer to `start`."""
        return {
            "protocol": 1,
            "implementation": {"name": "right", "version": "1"},
            "dialects": [],
            "element_types": list(self.element_types),
            "operations": list(self.operations),
            "dynamic": True,
            "bindings": ["constant", "parameter"],
            "graphs": self.graphs,
        }

    def say(self, message: Message) -> None:
        """Write a message."""
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()

    def lines(self) -> Iterator[str]:
        """The requests."""
        yield from sys.stdin

    def begin(self) -> None:
        """Before anything is read."""

    def stop(self) -> None:
        """End, as `stop` asks."""
        sys.exit()

    def end(self) -> None:
        """After the end of standard input."""

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
        if {each.element_type for each in case.inputs if each.role == "tensor"} - set(self.element_types):
            return self.unsupported(request)
        try:
            feeds = [self.inputs(request, each["inputs"]) for each in request["feeds"]]
        except FileNotFoundError as fault:
            return self.missing(request, fault)
        try:
            outputs = [[one.array for one in feed] for feed in self._backend.run(case, None, feeds)]
        except Rejected as answer:
            return self.refused(request, answer)
        outputs = [self.changed(each) for each in outputs]
        for number, arrays in enumerate(outputs):
            self.save(request, number, arrays)
        return self.done(request, outputs)

    def inputs(self, request: Message, name: str) -> dict[str, Tensor]:
        """The inputs of a feed."""
        types = {each["name"]: each["element_type"] for each in request["case"]["inputs"]}
        with np.load(Path(request["dir"]) / name) as arrays:
            return {name: Tensor(element_type=types[name], array=arrays[name]) for name in arrays.files}

    def changed(self, arrays: list[Array]) -> list[Array]:
        """The outputs, as they are saved."""
        return arrays

    def save(self, request: Message, number: int, arrays: list[Array]) -> None:
        """Write the outputs of a feed."""
        self.save_at(Path(request["feeds"][number]["outputs"]), arrays)

    def save_at(self, path: Path, arrays: list[Array]) -> None:
        """Write outputs into a file."""
        named: dict[str, Any] = {f"output_{place}": each for place, each in enumerate(arrays)}
        np.savez(path, **named)

    def done(self, request: Message, outputs: list[list[Array]]) -> Message:
        """The reply to a case that was executed."""
        types = [[request["case"]["inputs"][0]["element_type"]] * len(each) for each in outputs]
        return {"seq": request["seq"], "status": "ok", "seconds": 0.0, "element_types": types}

    def refused(self, request: Message, answer: Rejected) -> Message:
        """The reply to a case that the backend rejects."""
        return {"seq": request["seq"], "status": "rejected", "stage": answer.stage, "message": answer.message}

    def unsupported(self, request: Message) -> Message:
        """The reply to a case that needs undeclared features."""
        return {"seq": request["seq"], "status": "unsupported", "message": "not this one"}

    def missing(self, request: Message, fault: FileNotFoundError) -> Message:
        """The reply to a request whose file is missing."""
        return {"seq": request["seq"], "status": "error", "message": str(fault)}


class Terse(Right):
    """Replies with required keys only; breaks no rule."""

    graphs = False

    def done(self, request: Message, outputs: list[list[Array]]) -> Message:  # noqa: ARG002
        """Neither seconds nor element types."""
        return {"seq": request["seq"], "status": "ok"}


class DeclaresNoCase(Right):
    """It declares an element type that no simple case has."""

    element_types = ("nf4",)


class LeavesBindingsOut(Right):
    """A key of the answer to `start` is missing."""

    def said(self) -> Message:
        """All but the bindings."""
        return {key: value for key, value in super().said().items() if key != "bindings"}


class SaysYes(Right):
    """A key of the answer to `start` has another type."""

    def said(self) -> Message:
        """Text instead of a boolean."""
        return super().said() | {"dynamic": "yes"}


class NamesFloat32(Right):
    """It declares an element type that does not exist."""

    element_types = (*Right.element_types, "float32")


class NamesAnotherDialect(Right):
    """It declares a dialect that does not exist."""

    def said(self) -> Message:
        """A misspelt dialect."""
        return super().said() | {"dialects": ["openvinoo"]}


class NamesAnotherOperation(Right):
    """It declares an operation that does not exist."""

    operations = (*Right.operations, "Split")


class NamesAnotherRequirement(Right):
    """It maps a requirement that does not exist."""

    def said(self) -> Message:
        """Maps a requirement of another operation."""
        return super().said() | {"mapped": ["Split-1:lengths.sum"]}


class ListsNoOperation(Right):
    """It reads no dialect and lists no operation."""

    operations = ()


class SpeaksFirst(Right):
    """It prints a banner before the first request."""

    def begin(self) -> None:
        """The banner."""
        print("welcome", flush=True)


class StartsUnasked(Right):
    """It answers `start` before it is sent."""

    def begin(self) -> None:
        """The answer."""
        self.say(self.said())

    def serve(self) -> None:
        """Answer every request but `start`."""
        self.begin()
        for line in self.lines():
            request = json.loads(line)
            if request["cmd"] == "run":
                self.answer(request)
            elif request["cmd"] == "stop":
                self.stop()


class PrintsBetween(Right):
    """What the backend prints goes to standard output."""

    def answer(self, request: Message) -> None:
        """Loudly."""
        print("executing a case", flush=True)
        super().answer(request)


class AnswersTwice(Right):
    """It replies to each request twice."""

    def answer(self, request: Message) -> None:
        """The reply, and another one."""
        super().answer(request)
        self.say({"seq": request["seq"], "status": "ok"})


class RefusesAtLength(Right):
    """The message of a rejection takes two million bytes."""

    def refused(self, request: Message, answer: Rejected) -> Message:
        """A long one."""
        return super().refused(request, answer) | {"message": "x" * 2_000_000}


class RefusesEverything(Right):
    """It rejects every case."""

    def done(self, request: Message, outputs: list[list[Array]]) -> Message:  # noqa: ARG002
        """A refusal."""
        return {"seq": request["seq"], "status": "rejected", "stage": "build", "message": "no"}


class Sleeps(Right):
    """It never replies."""

    def answer(self, request: Message) -> None:  # noqa: ARG002
        """Silence."""
        time.sleep(3600)


class AddsAKey(Right):
    """A reply has an unknown key."""

    def done(self, request: Message, outputs: list[list[Array]]) -> Message:
        """With a mood."""
        return super().done(request, outputs) | {"mood": "good"}


class CountsInText(Right):
    """The `seq` is text."""

    def say(self, message: Message) -> None:
        """The number in quotes."""
        super().say(message | ({"seq": str(message["seq"])} if "seq" in message else {}))


class AlwaysTheFirst(Right):
    """Every `seq` is 1."""

    def say(self, message: Message) -> None:
        """One."""
        super().say(message | ({"seq": 1} if "seq" in message else {}))


class CountsIn32Bits(Right):
    """A `seq` of more than 32 bits is cut short."""

    def say(self, message: Message) -> None:
        """The low bits."""
        super().say(message | ({"seq": message["seq"] % 2**32} if "seq" in message else {}))


class LastFirst(Right):
    """If two requests wait, it answers the second first."""

    def lines(self) -> Iterator[str]:
        """The requests, with two waiting ones swapped."""
        waiting: list[str] = []
        rest = b""
        while True:
            while waiting:
                if len(waiting) > 1 and '"run"' in waiting[0]:
                    waiting[0], waiting[1] = waiting[1], waiting[0]
                    yield waiting.pop(0)
                yield waiting.pop(0)
            chunk = os.read(0, 1 << 16)
            while chunk and select.select([0], [], [], 0.2)[0] and (more := os.read(0, 1 << 16)):
                chunk += more
            if not chunk:
                return
            *lines, rest = (rest + chunk).split(b"\n")
            waiting = [each.decode() for each in lines]


class ReadsShortLines(Right):
    """It cannot read a request of more than 64 KiB."""

    def reply(self, request: Message) -> Message:
        """An error for long ones."""
        if len(json.dumps(request)) > 1 << 16:
            return {"seq": request["seq"], "status": "error", "message": "too long"}
        return super().reply(request)


class WritesNothing(Right):
    """It replies `ok` and writes no file."""

    def save(self, request: Message, number: int, arrays: list[Array]) -> None:
        """Nothing."""


class Pickles(Right):
    """The outputs are objects."""

    def save_at(self, path: Path, arrays: list[Array]) -> None:
        """Pickled."""
        super().save_at(path, [each.astype(object) for each in arrays])


class NamesOutputsOtherwise(Right):
    """The outputs have numpy's default names."""

    def save_at(self, path: Path, arrays: list[Array]) -> None:
        """As arr_0 and so on."""
        np.savez(path, *arrays)


class WidensFloats(Right):
    """f32 is stored as float64."""

    def changed(self, arrays: list[Array]) -> list[Array]:
        """Wider."""
        return [each.astype(np.float64) if each.dtype == np.float32 else each for each in arrays]


class ReturnsZeros(Right):
    """The outputs are zeros."""

    def changed(self, arrays: list[Array]) -> list[Array]:
        """Zeros."""
        return [np.zeros_like(each) for each in arrays]


class LosesAnOutput(Right):
    """The last output is missing."""

    def changed(self, arrays: list[Array]) -> list[Array]:
        """All but the last, if there are two."""
        return arrays[: max(1, len(arrays) - 1)]


class ForgetsTheSecondFeed(Right):
    """Only the first feed's outputs are written."""

    def save(self, request: Message, number: int, arrays: list[Array]) -> None:
        """The first."""
        if number == 0:
            super().save(request, number, arrays)


class RepeatsTheFirstFeed(Right):
    """The first feed's outputs are written for both."""

    def save(self, request: Message, number: int, arrays: list[Array]) -> None:
        """The first, twice."""
        if number == 0:
            self._first = arrays
        super().save(request, number, self._first)


class NamesOneType(Right):
    """It reports one element type for all outputs."""

    def done(self, request: Message, outputs: list[list[Array]]) -> Message:
        """The first alone."""
        reply = super().done(request, outputs)
        return reply | {"element_types": [each[:1] for each in reply["element_types"]]}


class Exaggerates(Right):
    """`seconds` is more than the case took."""

    def done(self, request: Message, outputs: list[list[Array]]) -> Message:
        """An hour."""
        return super().done(request, outputs) | {"seconds": 3600}


class FailsWhereItIsRefused(Right):
    """It replies `error` to a case that the backend rejects."""

    def refused(self, request: Message, answer: Rejected) -> Message:
        """An error."""
        return {"seq": request["seq"], "status": "error", "message": answer.message}


class DiesWhereItIsRefused(Right):
    """It exits when the backend rejects a case."""

    def refused(self, request: Message, answer: Rejected) -> Message:  # noqa: ARG002
        """The end."""
        sys.exit(f"refused: {answer.message}")


class RefusesNothing(Right):
    """Its backend accepts every case; breaks no rule."""

    def refused(self, request: Message, answer: Rejected) -> Message:  # noqa: ARG002
        """The status `ok`."""
        return {"seq": request["seq"], "status": "ok"}


class RefusesWithoutAStage(Right):
    """A rejection has no stage."""

    def refused(self, request: Message, answer: Rejected) -> Message:
        """Without its stage."""
        return {"seq": request["seq"], "status": "rejected", "message": answer.message}


class FailsAtOtherTypes(Right):
    """It replies `error` to undeclared element types."""

    def unsupported(self, request: Message) -> Message:
        """An error."""
        return {"seq": request["seq"], "status": "error", "message": "KeyError"}


class DiesWithoutFiles(Right):
    """It exits if a file is missing."""

    def missing(self, request: Message, fault: FileNotFoundError) -> Message:
        """The end."""
        raise RuntimeError(request["dir"]) from fault


class RefusesMissingFiles(Right):
    """It replies `rejected` if a file is missing."""

    def missing(self, request: Message, fault: FileNotFoundError) -> Message:
        """A refusal."""
        return {"seq": request["seq"], "status": "rejected", "stage": "build", "message": str(fault)}


class ReadsPlainPaths(Right):
    """It can read ASCII paths only."""

    def reply(self, request: Message) -> Message:
        """An error for others."""
        if not request["dir"].isascii():
            return {"seq": request["seq"], "status": "error", "message": "no such path"}
        return super().reply(request)


class StaysInItsFolder(Right):
    """It writes outputs only below the temporary folder of the inputs."""

    def reply(self, request: Message) -> Message:
        """An error for others."""
        roots = [each for each in Path(request["dir"]).parents if each.name.startswith("opconform-")]
        if roots and roots[0] not in Path(request["feeds"][0]["outputs"]).parents:
            return {"seq": request["seq"], "status": "error", "message": "outside"}
        return super().reply(request)


class TwoDialects(Right):
    """Reads two dialects; breaks no rule."""

    def said(self) -> Message:
        """Both of them."""
        return super().said() | {"dialects": ["openvino", "layer"], "operations": []}


class TakesInline(Right):
    """Breaks no rule. It takes small inputs from the request, and replies with the outputs of the first feed."""

    def said(self) -> Message:
        """With `inline`."""
        return {**super().said(), "inline": True}

    def reply(self, request: Message) -> Message:
        """With files of the inputs that were in the request."""
        given = [each.pop("npz", None) for each in request["feeds"]]
        if None in given:
            return super().reply(request)
        with tempfile.TemporaryDirectory() as folder:
            for number, (feed, content) in enumerate(zip(request["feeds"], given, strict=True)):
                feed["inputs"] = f"inputs.{number}.npz"
                Path(folder, feed["inputs"]).write_bytes(base64.b64decode(content, validate=True))
            reply = super().reply({**request, "dir": folder})
        if reply["status"] == "ok":
            first = Path(request["feeds"][0]["outputs"])
            reply["outputs"] = [base64.b64encode(first.read_bytes()).decode(), *[None] * (len(given) - 1)]
            first.unlink()
        return reply


class RepliesWithText(TakesInline):
    """`inline.tensors`: the outputs in its replies are not base64."""

    def reply(self, request: Message) -> Message:
        """With outputs that are not encoded."""
        reply = super().reply(request)
        return reply if reply.get("outputs") is None else {**reply, "outputs": ["zeros"] * len(reply["outputs"])}


class ReadsTheFirstDialect(TwoDialects):
    """It declares two dialects and reads only the first."""

    def reply(self, request: Message) -> Message:
        """An error for the second."""
        if request["dialect"] == "layer":
            return {"seq": request["seq"], "status": "error", "message": "not read"}
        return super().reply(request)


class ExecutesBareNodes(Right):
    """It declares graphs and executes only bare nodes."""

    def reply(self, request: Message) -> Message:
        """An error for others."""
        if len(request["case"]["graph"]["nodes"]) > 1:
            return {"seq": request["seq"], "status": "error", "message": "no such graph"}
        return super().reply(request)


class GoesOnAfterStop(Right):
    """It ignores `stop`."""

    def stop(self) -> None:
        """Nothing."""


class GoesOnAfterTheEnd(Right):
    """It keeps running after the end of standard input."""

    def end(self) -> None:
        """Sleep."""
        time.sleep(3600)


if __name__ == "__main__":
    harness: Right = globals()[sys.argv[1]]()
    harness.operations = tuple(sys.argv[2:]) or harness.operations
    harness.serve()
