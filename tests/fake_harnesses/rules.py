"""Fake harnesses that break one rule of the protocol each, in every message, for `harness check`.

`RULE_BREAKERS` has the rule and a part of the sentence about it; `LAWFUL` breaks no rule.
"""

import json
import subprocess
import time
from functools import partial
from typing import NamedTuple

import numpy as np

from tests.fake_harnesses.lawful import TYPES, Lawful
from tests.fake_harnesses.methods import (
    Hook,
    answers_between,
    answers_twice,
    declares,
    dies,
    done,
    fails_if,
    first_feed,
    first_feed_twice,
    inline,
    inline_text,
    into_dir,
    is_outside,
    last_first,
    numbered,
    one_type,
    prints,
    saves,
    serve_without_start,
    status,
)


class Breaker(NamedTuple):
    """A rule, a part of the sentence about its breach, and the methods of `Lawful` that break it."""

    rule: str
    sentence: str
    methods: dict[str, Hook]


def breaks(rule: str, sentence: str, **methods: Hook) -> Breaker:
    """A harness that breaks a rule by other methods, which are called with the harness first."""
    return Breaker(rule, sentence, methods)


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
    "takes inline tensors": {"said": declares(inline=True), "reply": inline},
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
    "speaks first": breaks("output.before-start", "unexpected output 'welcome'", begin=lambda _: prints("welcome")),
    "starts unasked": breaks("output.before-start", 'unexpected output \'{"protocol": 1', serve=serve_without_start),
    "prints between": breaks("output.between", "unexpected output 'executing a case'", answer=answers_between),
    "answers twice": breaks("output.between", 'unexpected output \'{"seq": 1, "status": "ok"}\'', answer=answers_twice),
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
    "answers the last request first": breaks("run.order", "were answered in the order", lines=last_first),
    "reads short lines": breaks(
        "run.long-line", _NOT_OK, reply=fails_if(lambda request: len(json.dumps(request)) > 1 << 16)
    ),
    "writes nothing": breaks("ok.outputs", "file not found: ", save=lambda *_: None),
    "writes into `dir`": breaks("ok.outputs", "; found ", save=into_dir),
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
    "forgets the second feed": breaks("ok.two-feeds", "file not found: ", save=first_feed),
    "repeats the first feed": breaks("ok.two-feeds", "the outputs of feed 1 of ", save=first_feed_twice),
    "reports one element type": breaks(
        "ok.element-types", "the harness reported the element types of 1 output, but wrote ", done=one_type
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
        refused=dies,
    ),
    "rejects without a stage": breaks("rejected.why", "`stage` is missing", refused=status("rejected")),
    "rejects at an unknown stage": breaks(
        "rejected.why",
        "`stage` is \"compile\": input should be 'build' or 'run'",
        refused=status("rejected", stage="compile"),
    ),
    "errs at undeclared types": breaks("unsupported.undeclared", "is answered `error`", unsupported=status("error")),
    "ends without files": breaks("error.files", "no reply, and the harness ended with code 1", missing=dies),
    "rejects without files": breaks(
        "error.files",
        "the reply is not `error`, although the file of `dir` does not exist",
        missing=status("rejected", stage="build"),
    ),
    "reads plain paths": breaks("paths.names", _NOT_OK, reply=fails_if(lambda request: not request["dir"].isascii())),
    "stays in its folder": breaks("paths.outside", _NOT_OK, reply=fails_if(is_outside)),
    "replies with text": breaks(
        "inline.tensors",
        "the outputs in the reply are not base64",
        said=declares(inline=True),
        reply=inline_text,
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
