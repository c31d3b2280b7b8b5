"""Fake harnesses that break one rule of the protocol each, in every message, for `harness check`.

`RULE_BREAKERS` has the rule and a part of the sentence about it; `LAWFUL` breaks no rule.
"""

import base64
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tests.fake_harnesses.lawful import TYPES, Lawful, Message

Hook = Callable[..., Any]


class Breaker(NamedTuple):
    """A rule, a part of the sentence about its breach, and the methods of `Lawful` that break it."""

    rule: str
    sentence: str
    methods: dict[str, Hook]


def breaks(rule: str, sentence: str, **methods: Hook) -> Breaker:
    """A harness that breaks a rule by other methods, which are called with the harness first."""
    return Breaker(rule, sentence, methods)


def declares(**keys: Any) -> Hook:
    """The answer to `start` with other keys; None removes one."""
    return lambda it: {key: value for key, value in (Lawful.said(it) | keys).items() if value is not None}


def done(**keys: Any) -> Hook:
    """The reply `ok` with other keys."""
    return lambda it, request, outputs: Lawful.done(it, request, outputs) | keys


def saves(change: Hook) -> Hook:
    """Other outputs than the right ones."""
    return lambda it, path, arrays: Lawful.save_at(it, path, change(arrays))


def status(name: str, message: str = "no", **keys: Any) -> Hook:
    """The reply with this status, whatever else is known."""
    return lambda _, request, *__: {"seq": request["seq"], "status": name, "message": message, **keys}


def fails_if(condition: Callable[[Message], bool]) -> Hook:
    """The reply `error` to some requests."""
    return lambda it, request: status("error")(it, request) if condition(request) else Lawful.reply(it, request)


def numbered(change: Callable[[int], object]) -> Hook:
    """Messages with another `seq`."""
    return lambda it, message: Lawful.say(it, message | ({"seq": change(message["seq"])} if "seq" in message else {}))


def _prints(text: str) -> None:
    print(text, flush=True)


def _serve_without_start(it: Lawful) -> None:
    it.say(it.said())
    for line in it.lines():
        request = json.loads(line)
        if request["cmd"] == "run":
            it.answer(request)
        elif request["cmd"] == "stop":
            it.stop()


def _answers_between(it: Lawful, request: Message) -> None:
    _prints("executing a case")
    Lawful.answer(it, request)


def _answers_twice(it: Lawful, request: Message) -> None:
    Lawful.answer(it, request)
    it.say({"seq": request["seq"], "status": "ok"})


def _last_first(_: Lawful) -> Iterator[str]:
    """The requests; if two wait, they are swapped."""
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
        waiting = [line.decode() for line in lines]


def _into_dir(it: Lawful, request: Message, number: int, arrays: list[Any]) -> None:
    it.save_at(Path(request["dir"]) / Path(request["feeds"][number]["outputs"]).name, arrays)


def _first_feed(it: Lawful, request: Message, number: int, arrays: list[Any]) -> None:
    if number == 0:
        Lawful.save(it, request, number, arrays)


def _first_feed_twice(it: Lawful, request: Message, number: int, arrays: list[Any]) -> None:
    it.first = arrays if number == 0 else it.first
    Lawful.save(it, request, number, it.first)


def _one_type(it: Lawful, request: Message, outputs: list[Any]) -> Message:
    reply = Lawful.done(it, request, outputs)
    return reply | {"element_types": [types[:1] for types in reply["element_types"]]}


def _dies(_: Lawful, __: Message, answer: Exception) -> None:
    sys.exit(f"refused: {getattr(answer, 'message', answer)}")


def _is_outside(request: Message) -> bool:
    roots = [folder for folder in Path(request["dir"]).parents if folder.name.startswith("opconform-")]
    return bool(roots) and roots[0] not in Path(request["feeds"][0]["outputs"]).parents


def _inline(it: Lawful, request: Message) -> Message:
    """Take small inputs from the request, and reply with the outputs of the first feed."""
    sent = [feed.pop("npz", None) for feed in request["feeds"]]
    if None in sent:
        return Lawful.reply(it, request)
    with tempfile.TemporaryDirectory() as folder:
        for number, (feed, content) in enumerate(zip(request["feeds"], sent, strict=True)):
            feed["inputs"] = f"inputs.{number}.npz"
            Path(folder, feed["inputs"]).write_bytes(base64.b64decode(content, validate=True))
        reply = Lawful.reply(it, {**request, "dir": folder})
    if reply["status"] == "ok":
        first = Path(request["feeds"][0]["outputs"])
        reply["outputs"] = [base64.b64encode(first.read_bytes()).decode(), *[None] * (len(sent) - 1)]
        first.unlink()
    return reply


def _inline_text(it: Lawful, request: Message) -> Message:
    reply = _inline(it, request)
    return reply if reply.get("outputs") is None else {**reply, "outputs": ["zeros"] * len(reply["outputs"])}


_TWO_DIALECTS = declares(dialects=["openvino", "layer"], operations=[])
_NOT_OK = "a simple case is not answered `ok` here"
_OTHER_SEQ = "the `seq` of the reply is not that of the request"

#: Harnesses that break no rule.
LAWFUL: dict[str, dict[str, Hook]] = {
    "lawful": {},
    "terse": {
        "said": declares(graphs=False),
        "done": lambda _, request, __: {"seq": request["seq"], "status": "ok"},
    },
    "declares no simple case": {"said": declares(element_types=["nf4"])},
    "reads two dialects": {"said": _TWO_DIALECTS},
    "takes inline tensors": {"said": declares(inline=True), "reply": _inline},
    "accepts invalid cases": {"refused": lambda _, request, __: {"seq": request["seq"], "status": "ok"}},
    "leaves a child": {"begin": lambda _: subprocess.Popen(["sleep", "3600"], stdin=subprocess.DEVNULL)},
}

RULE_BREAKERS: dict[str, Breaker] = {
    "leaves bindings out": breaks("start.answer", "`bindings` is missing", said=declares(bindings=None)),
    "declares an unknown key": breaks(
        "start.answer", "`speed` is not a key of this message", said=declares(speed="high")
    ),
    "declares text for a boolean": breaks(
        "start.answer", '`dynamic` is "yes": input should be a valid boolean', said=declares(dynamic="yes")
    ),
    "declares float32": breaks(
        "start.names",
        "`element_types` names 'float32', which does not exist",
        said=declares(element_types=[*TYPES, "float32"]),
    ),
    "declares an unknown dialect": breaks(
        "start.names", "`dialects` names 'openvinoo', which does not exist", said=declares(dialects=["openvinoo"])
    ),
    "declares an unknown operation": breaks(
        "start.names", "`operations` names 'Split', which does not exist", said=declares(operations=["Split"])
    ),
    "maps an unknown requirement": breaks(
        "start.names",
        "`mapped` names 'Split-1:lengths.sum', which does not exist",
        said=declares(mapped=["Split-1:lengths.sum"]),
    ),
    "lists no operation": breaks(
        "start.names",
        "a harness without dialects must list the operations that it implements",
        said=declares(operations=[]),
    ),
    "speaks first": breaks("output.before-start", "unexpected output 'welcome'", begin=lambda _: _prints("welcome")),
    "starts unasked": breaks("output.before-start", 'unexpected output \'{"protocol": 1', serve=_serve_without_start),
    "prints between": breaks("output.between", "unexpected output 'executing a case'", answer=_answers_between),
    "answers twice": breaks(
        "output.between", 'unexpected output \'{"seq": 1, "status": "ok"}\'', answer=_answers_twice
    ),
    "rejects at length": breaks(
        "output.length",
        "the harness wrote a line of more than 1,048,576 bytes",
        refused=status("rejected", "x" * 2_000_000, stage="build"),
    ),
    "rejects everything": breaks(
        "run.plain", "none of 5 simple cases is answered `ok`", done=status("rejected", stage="build")
    ),
    "never replies": breaks("run.plain", "no reply within 6 seconds", answer=lambda *_: time.sleep(3_600)),
    "adds a key": breaks("run.answer", "`mood` is not a key of this message", done=done(mood="good")),
    "replies with an unknown status": breaks(
        "run.answer",
        "`status` is 'fine', which is not one of ok, rejected, unsupported, error",
        done=done(status="fine"),
    ),
    "numbers replies in text": breaks("run.answer", '`seq` is "1": input should be a valid integer', say=numbered(str)),
    "numbers every reply 1": breaks("run.seq", _OTHER_SEQ, say=numbered(lambda _: 1)),
    "numbers replies in 32 bits": breaks("run.seq", _OTHER_SEQ, say=numbered(lambda seq: seq % 2**32)),
    "answers the last request first": breaks("run.order", "were answered in the order", lines=_last_first),
    "reads short lines": breaks(
        "run.long-line", _NOT_OK, reply=fails_if(lambda request: len(json.dumps(request)) > 1 << 16)
    ),
    "writes nothing": breaks("ok.outputs", "file not found: ", save=lambda *_: None),
    "writes into `dir`": breaks("ok.outputs", "; found ", save=_into_dir),
    "pickles": breaks(
        "ok.outputs",
        "is pickled, and pickled arrays are not loaded",
        save_at=saves(lambda arrays: [array.astype(object) for array in arrays]),
    ),
    "names outputs as numpy does": breaks(
        "ok.outputs", "are called arr_0", save_at=lambda _, path, arrays: np.savez(path, *arrays)
    ),
    "widens floats": breaks(
        "ok.dtype",
        "output_0 of f32 is stored as float64, not float32",
        save_at=saves(lambda arrays: [it.astype(np.float64) if it.dtype == np.float32 else it for it in arrays]),
    ),
    "writes zeros": breaks(
        "ok.values", "are wrong: ", save_at=saves(lambda arrays: [np.zeros_like(array) for array in arrays])
    ),
    "loses an output": breaks(
        "ok.values",
        "outputs, got ",
        changed=lambda _, arrays: arrays[: max(1, len(arrays) - 1)],
    ),
    "forgets the second feed": breaks("ok.two-feeds", "file not found: ", save=_first_feed),
    "repeats the first feed": breaks("ok.two-feeds", "the outputs of feed 1 of ", save=_first_feed_twice),
    "reports one element type": breaks(
        "ok.element-types", "the harness reported the element types of 1 output, but wrote ", done=_one_type
    ),
    "reports negative seconds": breaks(
        "ok.seconds", "`seconds` is -1.0: input should be greater than or equal to 0", done=done(seconds=-1.0)
    ),
    "reports an hour": breaks(
        "ok.seconds", "`seconds` is more than the time from the request to the reply", done=done(seconds=3_600)
    ),
    "errs where it should reject": breaks("rejected.status", "is answered `error`", refused=status("error")),
    "ends where it should reject": breaks(
        "rejected.status",
        "no reply, and the harness ended with code 1; end of its standard error: refused: ",
        refused=_dies,
    ),
    "rejects without a stage": breaks("rejected.why", "`stage` is missing", refused=status("rejected")),
    "rejects at an unknown stage": breaks(
        "rejected.why",
        "`stage` is \"compile\": input should be 'build' or 'run'",
        refused=status("rejected", stage="compile"),
    ),
    "errs at undeclared types": breaks("unsupported.undeclared", "is answered `error`", unsupported=status("error")),
    "ends without files": breaks("error.files", "no reply, and the harness ended with code 1", missing=_dies),
    "rejects without files": breaks(
        "error.files",
        "the reply is not `error`, although the file of `dir` does not exist",
        missing=status("rejected", stage="build"),
    ),
    "reads plain paths": breaks("paths.names", _NOT_OK, reply=fails_if(lambda request: not request["dir"].isascii())),
    "stays in its folder": breaks("paths.outside", _NOT_OK, reply=fails_if(_is_outside)),
    "replies with text": breaks(
        "inline.tensors",
        "the outputs in the reply are not base64",
        said=declares(inline=True),
        reply=_inline_text,
    ),
    "reads the first dialect": breaks(
        "dialects.each",
        _NOT_OK,
        said=_TWO_DIALECTS,
        reply=fails_if(lambda request: bool(request["dialect"] == "layer")),
    ),
    "executes bare nodes": breaks(
        "graphs.each", _NOT_OK, reply=fails_if(lambda request: len(request["case"]["graph"]["nodes"]) > 1)
    ),
    "goes on after stop": breaks("end.stop", "it did not end within 2 seconds, after a case", stop=lambda _: None),
    "goes on after the end": breaks(
        "end.input", "it did not end within 2 seconds, after a case", end=lambda _: time.sleep(3_600)
    ),
}


def fake(name: str, operations: tuple[str, ...] = ()) -> Lawful:
    """A harness by its name, which declares these operations, if there are any."""
    harness = Lawful(operations) if operations else Lawful()
    for method, hook in (LAWFUL[name] if name in LAWFUL else RULE_BREAKERS[name].methods).items():
        setattr(harness, method, partial(hook, harness))
    return harness
