"""Fake harnesses that break one rule of the protocol each, in every message, for `harness check`.

`RULE_BREAKERS` has the rule and a part of the sentence about it; `LAWFUL` breaks no rule.
"""

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
    is_outside,
    last_first,
    numbered,
    one_type,
    prints,
    saves,
    serve_without_start,
    short_lines,
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
_OTHER_SEQ = "`seq` is not that of the request"

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
}

RULE_BREAKERS: dict[str, Breaker] = {
    "declares an unknown dialect": breaks(
        "start", "`dialects` names 'openvinoo', which does not exist", said=declares(dialects=["openvinoo"])
    ),
    "maps an unknown requirement": breaks(
        "start",
        "`mapped` names 'Split-1:lengths.sum', which does not exist",
        said=declares(mapped=["Split-1:lengths.sum"]),
    ),
    "starts unasked": breaks("start", "unexpected output", serve=serve_without_start),
    "prints between": breaks("smoke", "is not JSON", answer=answers_between),
    "answers twice": breaks("order", "second reply", answer=answers_twice),
    "rejects at length": breaks(
        "bad-cases",
        "the harness wrote a line of more than 1,048,576 bytes",
        refused=status("rejected", "x" * 2_000_000, stage="build"),
    ),
    "rejects everything": breaks("smoke", "none of 5 simple cases passes", done=status("rejected", stage="build")),
    "never replies": breaks("smoke", "no reply within 6 seconds", answer=lambda *_: time.sleep(3_600)),
    "adds a key": breaks("smoke", "`mood` is not a key of this message", done=done(mood="good")),
    "numbers replies in text": breaks("smoke", '`seq` is "1": input should be a valid integer', say=numbered(str)),
    "numbers every reply 1": breaks("order", _OTHER_SEQ, say=numbered(lambda _: 1)),
    "numbers replies in 32 bits": breaks("order", _OTHER_SEQ, say=numbered(lambda seq: seq % 2**32)),
    "answers the last request first": breaks("order", "`seq` is not that of the request", lines=last_first),
    "reads short lines": breaks("long-line", ": no", lines=short_lines),
    "writes nothing": breaks("smoke", "the harness replied `ok` but wrote no outputs", save=lambda *_: None),
    "pickles": breaks(
        "smoke",
        "pickled",
        save_at=saves(lambda arrays: [array.astype(object) for array in arrays]),
    ),
    "names outputs as numpy does": breaks("smoke", "arr_0", save_at=lambda _, path, arrays: np.savez(path, *arrays)),
    "widens floats": breaks(
        "smoke",
        "output_0: expected f32, got float64 in the file",
        save_at=saves(lambda arrays: [it.astype(np.float64) if it.dtype == np.float32 else it for it in arrays]),
    ),
    "writes zeros": breaks(
        "smoke",
        "none of 5 simple cases passes",
        save_at=saves(lambda arrays: [np.zeros_like(array) for array in arrays]),
    ),
    "loses an output": breaks(
        "smoke",
        "outputs",
        changed=lambda _, arrays: arrays[: max(1, len(arrays) - 1)],
    ),
    "forgets the second feed": breaks("feeds", "the harness replied `ok` but wrote no outputs", save=first_feed),
    "repeats the first feed": breaks("feeds", "feed 1", save=first_feed_twice),
    "reports one element type": breaks(
        "smoke", "the harness reported the element types of 1 output, but wrote ", done=one_type
    ),
    "reports an hour": breaks(
        "smoke", "`seconds` is more than the time from the request to the reply", done=done(seconds=3_600)
    ),
    "errs where it should reject": breaks("bad-cases", "is answered `error`", refused=status("error")),
    "ends where it should reject": breaks(
        "bad-cases",
        "no reply, and the harness ended with code 1",
        refused=dies,
    ),
    "rejects without a stage": breaks("bad-cases", "`stage` is missing", refused=status("rejected")),
    "errs at undeclared types": breaks("bad-cases", "is answered `error`", unsupported=status("error")),
    "ends without files": breaks("files", "no reply, and the harness ended with code 1", missing=dies),
    "rejects without files": breaks(
        "files",
        "the reply is not `error`, although the file of `dir` does not exist",
        missing=status("rejected", stage="build"),
    ),
    "reads plain paths": breaks("paths", ": no", reply=fails_if(lambda request: not request["dir"].isascii())),
    "stays in its folder": breaks("paths", ": no", reply=fails_if(is_outside)),
    "replies with text": breaks(
        "inline",
        "the outputs in the reply are not base64",
        said=declares(inline=True),
        reply=inline_text,
    ),
    "reads the first dialect": breaks(
        "graphs",
        ": no",
        said=_TWO_DIALECTS,
        reply=fails_if(lambda request: bool(request["dialect"] == "layer")),
    ),
    "executes bare nodes": breaks(
        "graphs", ": no", reply=fails_if(lambda request: len(request["case"]["graph"]["nodes"]) > 1)
    ),
    "goes on after stop": breaks("end", "it did not end within 2 seconds of `stop`", stop=lambda _: None),
    "goes on after the end": breaks(
        "end", "it did not end within 2 seconds of the end of its input", end=lambda _: time.sleep(3_600)
    ),
}

#: Harnesses whose reply to `start` is wrong, which are not used, here and in a run.
UNUSABLE: dict[str, Breaker] = {
    "leaves bindings out": breaks("start", "bindings: Field required", said=declares(bindings=None)),
    "declares text for a boolean": breaks(
        "start", "dynamic: Input should be a valid boolean", said=declares(dynamic="yes")
    ),
    "declares float32": breaks(
        "start",
        "it declares the element type 'float32', which does not exist",
        said=declares(element_types=[*TYPES, "float32"]),
    ),
    "declares an unknown operation": breaks(
        "start", "it declares the operation 'Split' without a version", said=declares(operations=["Split"])
    ),
    "lists no operation": breaks(
        "start",
        "it declares neither dialects nor operations",
        said=declares(operations=[]),
    ),
    "speaks first": breaks("start", "a line that is not JSON: 'welcome'", begin=lambda _: prints("welcome")),
}


def fake(name: str, operations: tuple[str, ...] = ()) -> Lawful:
    """A harness by its name, which declares these operations, if there are any."""
    harness = Lawful(operations) if operations else Lawful()
    for method, hook in (LAWFUL[name] if name in LAWFUL else (RULE_BREAKERS | UNUSABLE)[name].methods).items():
        setattr(harness, method, partial(hook, harness))
    return harness
