"""Methods of a harness that break rules of the protocol."""

import base64
import json
import os
import select
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.fake_harnesses.lawful import Lawful, Message

Hook = Callable[..., Any]


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


def prints(text: str) -> None:
    """Print a line that is not a message."""
    print(text, flush=True)


def serve_without_start(it: Lawful) -> None:
    """Answer `start` before it is asked, and every other request."""
    it.say(it.said())
    for line in it.lines():
        request = json.loads(line)
        if request["cmd"] == "run":
            it.answer(request)
        elif request["cmd"] == "stop":
            it.stop()


def answers_between(it: Lawful, request: Message) -> None:
    """Print, and answer."""
    prints("executing a case")
    Lawful.answer(it, request)


def answers_twice(it: Lawful, request: Message) -> None:
    """Answer, and answer again."""
    Lawful.answer(it, request)
    it.say({"seq": request["seq"], "status": "ok"})


def last_first(_: Lawful) -> Iterator[str]:
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


def short_lines(it: Lawful) -> Iterator[str]:
    """The requests of at most 65,536 characters; the reply to a longer one is `error`."""
    for line in Lawful.lines(it):
        if len(line) > 1 << 16:
            it.say(status("error")(it, json.loads(line)))
        else:
            yield line


def into_dir(it: Lawful, request: Message, number: int, arrays: list[Any]) -> None:
    """Write the outputs beside the inputs."""
    it.save_at(Path(request["dir"]) / Path(request["feeds"][number]["outputs"]).name, arrays)


def first_feed(it: Lawful, request: Message, number: int, arrays: list[Any]) -> None:
    """Write the outputs of the first feed only."""
    if number == 0:
        Lawful.save(it, request, number, arrays)


def first_feed_twice(it: Lawful, request: Message, number: int, arrays: list[Any]) -> None:
    """Write the outputs of the first feed for each."""
    it.first = arrays if number == 0 else it.first
    Lawful.save(it, request, number, it.first)


def one_type(it: Lawful, request: Message, outputs: list[Any]) -> Message:
    """Report one element type for all outputs of a feed."""
    reply = Lawful.done(it, request, outputs)
    return reply | {"element_types": [types[:1] for types in reply["element_types"]]}


def dies(_: Lawful, __: Message, answer: Exception) -> None:
    """End with a message."""
    sys.exit(f"refused: {getattr(answer, 'message', answer)}")


def is_outside(request: Message) -> bool:
    """Whether the outputs are not below the temporary folder of the inputs."""
    roots = [folder for folder in Path(request["dir"]).parents if folder.name.startswith("opconform-")]
    return bool(roots) and roots[0] not in Path(request["feeds"][0]["outputs"]).parents


def inline(it: Lawful, request: Message) -> Message:
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


def inline_text(it: Lawful, request: Message) -> Message:
    """Reply with outputs that are not base64."""
    reply = inline(it, request)
    return reply if reply.get("outputs") is None else {**reply, "outputs": ["zeros"] * len(reply["outputs"])}
