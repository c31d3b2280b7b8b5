"""Lines that break the protocol, in the place of the reply to one case."""

import contextlib
import json
import os
import sys
import threading
import time

from tests.fake_harnesses.misbehaviour import (
    ANY,
    ERROR_OR_FAIL,
    FAIL,
    PASS_OR_ERROR,
    Act,
    Misbehaviour,
    Request,
)
from tests.fake_harnesses.server import npz, ok, outputs_of, rejected, right, say, target, write


def line(text: str | bytes) -> Act:
    """Write the right outputs, and a line in which SEQ stands for the number of the request."""
    raw = text.encode() if isinstance(text, str) else text

    def act(request: Request) -> None:
        target(request).write_bytes(npz(outputs_of(request)))
        write(raw.replace(b"SEQ", str(request["seq"]).encode()) + b"\n")

    return act


def reply(rest: str) -> Act:
    """The reply `ok` with more keys."""
    return line(f'{{"seq":SEQ,"status":"ok",{rest}}}')


def sleep(*_: object) -> None:
    """Sleep for an hour."""
    time.sleep(3_600)


def flood(number: int, chunk: bytes) -> Act:
    """Write to a stream for ever."""

    def act(_: Request) -> None:
        with contextlib.suppress(OSError):
            while True:
                os.write(number, chunk)
        sleep()

    return act


def then(*acts: Act) -> Act:
    """Do several things."""
    return lambda request: [act(request) for act in acts]


def _ahead(request: Request) -> None:
    right(request)
    for number in range(1, 6):
        rejected({"seq": request["seq"] + number}, "early")


def _next_first(request: Request) -> None:
    following = sys.stdin.readline()
    right(json.loads(following)) if following else ok({"seq": 1_000})
    right(request)


def _next_with_it(request: Request) -> None:
    right(request)
    following = json.loads(sys.stdin.readline() or "{}")
    if following.get("cmd") == "run":
        say({"seq": following["seq"], "status": "error", "message": "not this one"})


def _names_files(request: Request) -> None:
    folder, feed = request["dir"], request["feeds"][0]
    message, log = f"cannot read {folder}/{feed['inputs']}", f"in {folder}: {feed['outputs']}"
    say({"seq": request["seq"], "status": "error", "message": message, "traceback": log})


_NOT_JSON = "the harness wrote a line that is not JSON"
_TOO_LONG = "the harness wrote a line of more than 1,048,576 bytes"
_WRONG_REQUEST = "the harness answered the wrong request"

REPLIES: dict[str, Misbehaviour] = {
    "text": Misbehaviour(line("Segmentation fault (not really)"), sentence=f"{_NOT_JSON}: 'Segmentation fault (not"),
    "bytes that are not UTF-8": Misbehaviour(line(b"\xff\xfe\x00"), sentence=_NOT_JSON),
    "a byte order mark": Misbehaviour(line(b'\xef\xbb\xbf{"seq":SEQ,"status":"ok"}'), ANY),
    "an empty line": Misbehaviour(line("")),
    "spaces": Misbehaviour(line("   ")),
    "null": Misbehaviour(line("null")),
    "a list": Misbehaviour(line("[]")),
    "a number": Misbehaviour(line("42")),
    "an empty object": Misbehaviour(line("{}")),
    "an open object": Misbehaviour(line('{"seq":SEQ,'), sentence=_NOT_JSON),
    "100,000 brackets": Misbehaviour(line("[" * 100_000), sentence=_NOT_JSON),
    "a `seq` of 400 digits": Misbehaviour(line('{"seq":' + "9" * 400 + ',"status":"ok"}')),
    "a `seq` of 100,000 digits": Misbehaviour(line('{"seq":' + "9" * 100_000 + ',"status":"ok"}')),
    "a negative `seq`": Misbehaviour(line('{"seq":-SEQ,"status":"ok"}')),
    "`seq` as text": Misbehaviour(line('{"seq":"SEQ","status":"ok"}'), ANY),
    "`seq` as a fraction": Misbehaviour(line('{"seq":SEQ.5,"status":"ok"}')),
    "`seq` as true": Misbehaviour(line('{"seq":true,"status":"ok"}')),
    "no `seq`": Misbehaviour(line('{"status":"ok"}')),
    "another `seq`": Misbehaviour(lambda it: ok({"seq": it["seq"] + 1_000}), sentence=_WRONG_REQUEST),
    "no `status`": Misbehaviour(line('{"seq":SEQ}')),
    "an unknown `status`": Misbehaviour(line('{"seq":SEQ,"status":"fine"}'), sentence="Input tag 'fine'"),
    "`status` as a number": Misbehaviour(line('{"seq":SEQ,"status":1}')),
    "an unknown key": Misbehaviour(reply('"mood":"good"'), sentence="which is not a valid message: ok.mood"),
    "`seconds` of 1e999": Misbehaviour(reply('"seconds":1e999')),
    "`seconds` of 1e308": Misbehaviour(reply('"seconds":1e308')),
    "`seconds` of NaN": Misbehaviour(reply('"seconds":NaN')),
    "`seconds` of -1": Misbehaviour(reply('"seconds":-1')),
    "`seconds` of two weeks": Misbehaviour(
        reply('"seconds":1000000'), sentence="more seconds than the time from the request to the reply"
    ),
    "`seconds` as a list": Misbehaviour(reply('"seconds":[]')),
    "no `element_types`": Misbehaviour(
        reply('"element_types":[]'), sentence="the harness reported the element types of 0 feeds instead of 1"
    ),
    "`element_types` of no output": Misbehaviour(reply('"element_types":[[]]')),
    "an unknown element type": Misbehaviour(reply('"element_types":[["f31","f31","f31"]]')),
    "100,000 element types": Misbehaviour(
        reply(f'"element_types":[[{",".join(["0"] * 100_000)}]]'.replace("0", '"f32"'))
    ),
    "a refusal without a stage": Misbehaviour(line('{"seq":SEQ,"status":"rejected","message":"no"}')),
    "a refusal at another stage": Misbehaviour(lambda it: rejected(it, stage="compile")),
    "a message of half a surrogate": Misbehaviour(lambda it: rejected(it, "\ud800"), ERROR_OR_FAIL),
    "a message of control characters": Misbehaviour(lambda it: rejected(it, "\0\x1b[2J\n::error::x"), FAIL),
    "a message of a million letters": Misbehaviour(lambda it: rejected(it, "x" * 1_000_000), FAIL),
    "an unknown requirement": Misbehaviour(lambda it: rejected(it, requirement="no.such"), FAIL),
    "an error without a message": Misbehaviour(line('{"seq":SEQ,"status":"error"}')),
    "an error": Misbehaviour(
        line('{"seq":SEQ,"status":"error","message":"out of paper","traceback":"line 1"}'), sentence="out of paper"
    ),
    "an error with the names of its files": Misbehaviour(_names_files, sentence="cannot read inputs.npz"),
    "a long traceback": Misbehaviour(
        line('{"seq":SEQ,"status":"error","message":"m","traceback":"' + "x\\n" * 200_000 + '"}')
    ),
    "a line of 1 MiB and one byte": Misbehaviour(line("x" * (1 << 20)), sentence=_TOO_LONG),
    "a line of 10 MB": Misbehaviour(line("x" * 10_000_000), sentence=_TOO_LONG),
    "half a line": Misbehaviour(then(lambda _: write(b'{"seq":'), lambda _: os._exit(0)), FAIL),
    "half a line and silence": Misbehaviour(then(lambda _: write(b'{"seq":'), sleep), FAIL),
    "two lines": Misbehaviour(then(lambda _: write(b"first\n"), right)),
    "a line too many": Misbehaviour(then(right, lambda _: write(b"last\n")), PASS_OR_ERROR),
    "a line too many, late": Misbehaviour(
        then(right, lambda _: threading.Timer(0.05, write, [b"late\n"]).start()), PASS_OR_ERROR
    ),
    "two answers": Misbehaviour(then(right, lambda it: rejected(it, "again")), PASS_OR_ERROR),
    "answers ahead": Misbehaviour(_ahead, PASS_OR_ERROR),
    "the next answer first": Misbehaviour(_next_first, sentence=_WRONG_REQUEST),
    "an error for the next request": Misbehaviour(_next_with_it, ANY),
    "lines for ever": Misbehaviour(flood(1, b"x\n" * 1_000)),
    "letters for ever": Misbehaviour(flood(1, b"x" * 4_096)),
    "errors for ever": Misbehaviour(flood(2, b"x" * 4_096), FAIL),
}
