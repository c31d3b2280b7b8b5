"""Changes of right documents: by bytes, by the structure of JSON, and by the parts of an `.npz` file."""

import io
import json
import random
import warnings
import zipfile
from typing import Any

#: What is put into bytes; the last ones have spaces, or are long.
_TOKENS = (
    *rb""""  { } [ ] : , - 1e999 NaN null true \ud800 ' &a *a ${{ }} !! .. / L True""".split(),
    *(b"\0", b"\xff", b"\n", b"\xed\xa0\x80", b"PK\x05\x06", b"PK\x01\x02", b"\xe2\x80\xa8", b"\x1b[31m"),
    *(b"[" * 300, b"9" * 400, b"9" * 5_000, b"x" * 300),
)
_NUMBERS = (0, 1, -1, 2, 65, 1 << 31, 1 << 63, 1 << 64, -(1 << 63) - 1, 10**30, 10**400, 0.5, -0.0, 1e308)
_TEXTS = (
    "0 a data axis output_0 output_99 nan ? ... 1..2 2..1 0x7f f32 i64 string boolean u4 bf16 accept reject pass fail"
)
#: What is put in the place of a value.
_VALUES: tuple[Any, ...] = (
    *(None, True, False, float("inf"), float("nan"), *_NUMBERS),
    *("", "\0", "${{ 1 }}", "${{ [1e999] }}", "\x1b[31m", "x" * 1_000, "\ud7ff", "é", *_TEXTS.split()),
    *([], {}, [[]], [None], {"": 0}, [1] * 70, [0, 1 << 62], [[1], [2, 3]]),
)
_NAMES = ("data.npy", "axis.npy", "output_0.npy", "output_7.npy", "x", "", "é.npy", "../x.npy")
_DESCRIPTIONS = (
    *[
        "<f4",
        ">f4",
        "<f8",
        "<i8",
        "<u2",
        "|u1",
        "|b1",
        "<U0",
        "<U1",
        "<U9999",
        "|O",
        "|V4",
        "<c8",
        "<M8[ns]",
        "<f2",
        "|S3",
        "<i3",
        "f4,f4",
    ],
    *("", "[('a', '<f4')]", "\0"),
)
_SHAPES = (
    *("()", "(6, 2)", "(2, 6)", "(12,)", "(0,)", "(-1,)", "(True, 4)", "(1.0,)", "(9999999999,)", f"({1 << 63}, 0)"),
    *("(0, 99999)", "[6, 2]", "6", "None", "(((6,),),)", "(1,) * 9", "(" * 9_000, "(" + "1," * 70 + ")"),
    *("('a',)", "(6, 2"),
)


def changed_bytes(source: random.Random, content: bytes) -> bytes:
    """A document with some bytes changed, put in, left out, moved or cut off."""
    place, length = source.randrange(len(content) + 1), source.choice((1, 1, 2, 4, 16, 100))
    before, inside, after = content[:place], content[place : place + length], content[place + length :]
    match source.randrange(7):
        case 0:
            return before + source.randbytes(len(inside)) + after
        case 1:
            return before + source.choice(_TOKENS) + inside + after
        case 2:
            return before + source.choice(_TOKENS) + after
        case 3:
            return before + after
        case 4:
            return before + inside * source.choice((2, 3, 50)) + after
        case 5:
            return content[:place]
        case _:
            other = source.randrange(len(content) + 1)
            return before + content[other : other + length] + after


def changed_json(source: random.Random, content: bytes) -> bytes:
    """A JSON document with one of its values or keys changed; by bytes where it is not JSON."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        return changed_bytes(source, content)
    places = list(_places(document, 0))
    if not places:
        return json.dumps(source.choice(_VALUES)).encode()
    holder, key = source.choice(places)
    match source.randrange(6):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[source.choice(("", "x", "id", "data", "shape", "\0", "é", str(key) * 2))] = holder.pop(key)
        case 1:
            holder.insert(key, holder[key])
        case 2:
            other, name = source.choice(places)
            if name in other if isinstance(other, dict) else name < len(other):
                holder[key] = json.loads(json.dumps(other[name]))
        case 3 if isinstance(holder[key], int) and not isinstance(holder[key], bool):
            holder[key] += source.choice((-1, 1, -2, 1 << 40))
        case 4:
            holder[key] = [holder[key]]
        case _:
            holder[key] = source.choice(_VALUES)
    return json.dumps(document, ensure_ascii=source.random() < 0.5).encode(errors="replace")


def _places(value: Any, depth: int) -> Any:
    """The holder and key of every value inside a document."""
    if depth > 50:
        return
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from _places(value[key], depth + 1)


def changed_npz(source: random.Random, content: bytes) -> bytes:
    """An `.npz` file with an array's header, bytes or name changed, and packed again."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = [(member.filename, archive.read(member)) for member in archive.infolist()]
    except Exception:  # noqa: BLE001 - whatever is wrong with what was changed before
        return changed_bytes(source, content)
    if not members:
        return content
    number = source.randrange(len(members))
    name, held = members[number]
    match source.randrange(7):
        case 0:
            members[number] = (source.choice(_NAMES), held)
        case 1:
            members.append((source.choice((*_NAMES, name)), held))
        case 2:
            del members[number]
        case 3:
            members[number] = (name, changed_bytes(source, held))
        case _:
            members[number] = (name, _changed_header(source, held))
    packed, method = io.BytesIO(), source.choice((zipfile.ZIP_STORED, zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(packed, "w", method) as archive:
        for item, inside in members:
            archive.writestr(zipfile.ZipInfo(item or "x"), inside)
    return packed.getvalue()


def _changed_header(source: random.Random, content: bytes) -> bytes:
    """An array with another dtype or shape in its header; the elements as they were, or as many as it says."""
    length = int.from_bytes(content[8:10], "little")
    head, body = content[10 : 10 + length].decode("latin-1"), content[10 + length :]
    match source.randrange(4):
        case 0:
            head = _between(head, "'descr': ", ", 'fortran", repr(source.choice(_DESCRIPTIONS)))
        case 1:
            head = _between(head, "'shape': ", ", }", source.choice(_SHAPES))
        case 2:
            head = head.replace("False", source.choice(("True", "0", "None", "'x'")))
        case _:
            head = changed_bytes(source, head.encode("latin-1")).decode("latin-1")
    size = source.choice((len(body), len(body), 0, 4, 48, 96, 192))
    encoded = head.encode("latin-1")
    return content[:8] + (len(encoded) & 0xFFFF).to_bytes(2, "little") + encoded + (body * 9)[:size]


def _between(text: str, before: str, after: str, new: str) -> str:
    start, end = text.find(before), text.rfind(after)
    return text if start < 0 or end < 0 else text[: start + len(before)] + new + text[end:]


def changed_line(source: random.Random, content: bytes) -> bytes:
    """A file of JSON lines with one of them changed."""
    lines = content.splitlines()
    if not lines:
        return changed_bytes(source, content)
    number = source.randrange(len(lines))
    lines[number] = changed_json(source, lines[number])
    return b"".join(line + b"\n" for line in lines)
