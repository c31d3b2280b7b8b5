"""YAML documents in which every value has a line and a column. The files are untrusted."""

import hashlib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from opconform.errors import SpecError, quoted
from opconform.system.files import FileTooLargeError, read_regular

#: The most bytes of a file, levels of nesting, and keys and values with every alias expanded.
FILE_LIMIT = 4 << 20
DEPTH_LIMIT = 64
VALUE_LIMIT = 20_000
#: The most mistakes that are reported, and that are searched for in a file.
REPORTED = 20
ENOUGH = 100

#: The place of a value in a document: the keys and indices that lead to it.
Route = tuple[str | int, ...]
#: The last part of the route of a key, as opposed to its value.
KEY = "\0key"

_PREFIX = "tag:yaml.org,2002:"
#: The line breaks that YAML counts.
_LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
#: What to do about problems that YAML finds in the indentation.
_ADVICE = {
    "did not find expected '-' indicator": "; give all items of a list the same indentation",
    "did not find expected key": "; give all keys of a mapping the same indentation",
}
#: By how many levels each event of a value leads deeper; by its type, since a file has thousands.
_DEEPER: Mapping[type, int] = {
    **dict.fromkeys((yaml.ScalarEvent, yaml.AliasEvent), 0),
    **dict.fromkeys((yaml.SequenceStartEvent, yaml.MappingStartEvent), 1),
    **dict.fromkeys((yaml.SequenceEndEvent, yaml.MappingEndEvent), -1),
}
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, order=True, slots=True)
class Mistake:
    """One mistake in a file: its line and column, counted from 1, and a sentence."""

    file: str
    line: int
    column: int
    sentence: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.sentence}"


class SpecMistakes(SpecError):  # noqa: N818 - the name says what it is
    """All mistakes found in one or more files."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = tuple(sorted(set(mistakes)))
        super().__init__(self.mistakes)

    def __str__(self) -> str:
        left = len(self.mistakes) - REPORTED
        lines = [str(mistake) for mistake in self.mistakes[:REPORTED]]
        return "\n".join([*lines, f"… and at least {left:,} more."] if left > 0 else lines)


class KeyMistake(Exception):  # noqa: N818 - it becomes a mistake of a file
    """A wrong key of a group or case, and a sentence without a full stop.

    `inside` leads from the key to the place of the mistake, and `value` is the wrong value, if it is one.
    """

    def __init__(self, key: str, sentence: str, inside: Route = (), value: object = None) -> None:
        super().__init__(key, sentence)
        self.key, self.sentence, self.inside, self.value = key, sentence, inside, value


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """The value of a YAML file with its name in mistakes and its SHA-256, and the line and column of each route."""

    file: str
    digest: str
    value: Any
    places: Mapping[Route, tuple[int, int]]

    def place(self, route: Route) -> tuple[int, int]:
        """The line and column of the value at a route, or of the nearest value around it."""
        while route and route not in self.places:
            route = route[:-1]
        return self.places.get(route, (1, 1))

    def mistake(self, route: Sequence[str | int], sentence: str) -> Mistake:
        """A mistake in the value at a route, or in the nearest value around it."""
        return Mistake(self.file, *self.place(tuple(route)), sentence)


def read_document(path: Path, name: str) -> Document:
    """The YAML document in a file that mistakes call by a name; `SpecMistakes` if it is wrong or over a limit."""
    try:
        return _document(read_regular(path, FILE_LIMIT, follow_links=True), name)
    except FileTooLargeError as error:
        raise _wrong(name, f"The file has more than {FILE_LIMIT:,} bytes; split it into several.") from error
    except OSError as error:
        raise _wrong(name, f"The file cannot be read: {error.strerror}.") from error


@lru_cache(maxsize=1_024)
def _document(content: bytes, name: str) -> Document:
    """The document with some content, made once, since other specs take over from it."""
    try:
        text = content.decode("utf-8-sig")
        builder = _Builder(name, _events(text, name))
        value = builder.value(()) if builder.events else None
    except UnicodeDecodeError as error:
        place = _end_of(content[: error.start].decode("utf-8-sig"))
        raise _wrong(
            name, f"The byte 0x{content[error.start]:02x} is not UTF-8; save the file as UTF-8.", place
        ) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        if (unclosed := _unclosed(text, error, place)) is not None:
            raise _wrong(name, *unclosed) from error
        advice = _advice(text, *place) or _ADVICE.get(error.problem or "", "")
        raise _wrong(name, f"This is not YAML: {error.problem}{advice}.", place) from error
    except yaml.reader.ReaderError as error:
        sentence = f"This is not YAML: a character U+{int(error.character):04X} is not allowed."
        raise _wrong(name, sentence, _end_of(text[: error.position])) from error
    except yaml.YAMLError as error:
        raise _wrong(name, f"This is not YAML: {error}.") from error
    if builder.mistakes:
        raise SpecMistakes(builder.mistakes)
    digest = hashlib.sha256(content).hexdigest()
    return Document(file=name, digest=digest, value=value, places=builder.places)


def _wrong(name: str, sentence: str, place: tuple[int, int] = (1, 1)) -> SpecMistakes:
    return SpecMistakes([Mistake(name, *place, sentence)])


def _advice(text: str, line: int, column: int) -> str:
    """What to do about the character at a place that YAML does not allow there."""
    written = "".join(_LINE_BREAK.split(text)[line - 1 : line])
    if written[column - 1 : column] == "\t":
        return "; indent with spaces, not tabs"
    if written[column - 1 : column] == ":":
        return (
            "; quote a text that contains a colon, write a space after the colon of a key, and give all keys the same "
            "indentation"
        )
    return "; quote an expression inside {…}" if "${{" in written else ""


def _unclosed(text: str, error: Any, place: tuple[int, int]) -> tuple[str, tuple[int, int]] | None:
    """A sentence about a bracket or quote that is not closed and the place where it opens, or None."""
    opened, context = error.context_mark, error.context or ""
    if opened is None:
        return None
    start = (opened.line + 1, opened.column + 1)
    if "quoted scalar" in context and "end of stream" in (error.problem or ""):
        return "This is not YAML: the quote is not closed.", start
    line = "".join(_LINE_BREAK.split(text)[place[0] - 1 : place[0]])
    is_other = place[0] == start[0] and line[place[1] - 1 : place[1]] not in ("]", "}")
    if not context.startswith("while parsing a flow") or is_other or "${{" in line:
        return None
    bracket = "[" if "sequence" in context else "{"
    expected = f"',' or '{']' if bracket == '[' else '}'}' is expected at line {place[0]}, column {place[1]}"
    return f"This is not YAML: the '{bracket}' is not closed; {expected}.", start


def _end_of(text: str) -> tuple[int, int]:
    return text.count("\n") + 1, len(text) - text.rfind("\n")


def _events(text: str, name: str) -> list[Any]:
    """The events of the values of a document; `SpecMistakes` if they are over a limit."""
    events: list[Any] = []
    depth = values = documents = 0
    for event in yaml.parse(text, _LOADER):
        deeper = _DEEPER.get(type(event))
        if deeper is None:
            documents += type(event) is yaml.DocumentStartEvent
            if documents > 1:
                raise SpecMistakes([_at(name, event, "This is a second document; write one document in a file.")])
            continue
        events.append(event)
        values += deeper >= 0
        depth += deeper
        if values > VALUE_LIMIT:
            raise SpecMistakes([_at(name, event, f"The file contains more than {VALUE_LIMIT:,} values; split it.")])
        if depth > DEPTH_LIMIT:
            raise SpecMistakes([_at(name, event, f"Values are nested deeper than {DEPTH_LIMIT} levels here.")])
    return events


def _place_of(event: Any) -> tuple[int, int]:
    mark = event.start_mark
    return mark.line + 1, mark.column + 1


def _at(name: str, marked: Any, sentence: str) -> Mistake:
    return Mistake(name, *_place_of(marked), sentence)


@dataclass(slots=True)
class _Builder:
    """Converts YAML's events to values, and collects places and mistakes.

    `next` is the index of the next event, and `anchors` has the index of the event of each.
    """

    name: str
    events: Sequence[Any]
    next: int = 0
    anchors: dict[str, int] = field(default_factory=dict)
    places: dict[Route, tuple[int, int]] = field(default_factory=dict)
    mistakes: list[Mistake] = field(default_factory=list)

    def value(self, route: Route) -> Any:
        """The value whose event is next."""
        event = self.events[self.next]
        kind = type(event)
        if kind is yaml.AliasEvent:
            following, self.next = self.next + 1, self.named(event)
            value = self.value(route)
            self.next = following
            return value
        if event.anchor is not None:
            self.anchor(event)
        if len(route) > DEPTH_LIMIT:
            sentence = f"Values are nested deeper than {DEPTH_LIMIT} levels here with its aliases expanded."
            raise SpecMistakes([_at(self.name, event, sentence)])
        self.places[route] = _place_of(event)
        if len(self.places) > VALUE_LIMIT:
            sentence = f"The file contains more than {VALUE_LIMIT:,} values with its aliases expanded."
            raise SpecMistakes([_at(self.name, event, sentence)])
        self.next += 1
        if kind is yaml.ScalarEvent:
            return self.scalar(event)
        value = self.mapping(route) if kind is yaml.MappingStartEvent else self.sequence(route)
        self.next += 1
        return value

    def sequence(self, route: Route) -> list[Any]:
        """The values up to the end of a sequence."""
        values: list[Any] = []
        while type(self.events[self.next]) is not yaml.SequenceEndEvent:
            values.append(self.value((*route, len(values))))
        return values

    def mapping(self, route: Route) -> dict[str, Any]:
        """The keys and values up to the end of a mapping."""
        mapping: dict[str, Any] = {}
        while type(key := self.events[self.next]) is not yaml.MappingEndEvent:
            written = self.events[self.named(key)] if type(key) is yaml.AliasEvent else key
            self.value((*route, KEY))
            if type(written) is not yaml.ScalarEvent:
                braces = isinstance(written, yaml.MappingStartEvent)  # as in {{ axis }}
                advice = "; an expression is written ${{ … }}" if braces else ""
                self.refuse(key, f"A key must be a string{advice}.")
                self.value((*route, KEY))
            elif written.value in mapping:
                self.refuse(key, f"The key {quoted(written.value)} is repeated.")
                self.value((*route, KEY))
            else:
                mapping[written.value] = self.value((*route, written.value))
                self.places[(*route, written.value, KEY)] = _place_of(key)
        return mapping

    def anchor(self, event: Any) -> None:
        """Note the anchor of the next event; no other can have its name."""
        if self.anchors.setdefault(event.anchor, self.next) != self.next:
            raise SpecMistakes([_at(self.name, event, f"The anchor {quoted(event.anchor)} is repeated.")])

    def named(self, alias: Any) -> int:
        """The index of the event that an alias stands for."""
        if alias.anchor not in self.anchors:
            raise SpecMistakes(
                [_at(self.name, alias, f"No value before this alias has the anchor {quoted(alias.anchor)}.")]
            )
        return self.anchors[alias.anchor]

    def scalar(self, event: Any) -> Any:
        """The value of a scalar: text if it is quoted."""
        tag = event.tag or ""
        if tag and tag.startswith(("!", f"{_PREFIX}python")) and tag != "!":
            self.refuse(event, f"The tag {quoted(tag)} is not allowed; write the plain value.")
        if event.style in ("'", '"', "|", ">") or tag == f"{_PREFIX}binary":
            return event.value
        value = _plain(event.value)
        if isinstance(value, float) and math.isinf(value):
            self.refuse(event, f"The number {quoted(event.value)} is too large; write `inf` for infinity.")
        return value

    def refuse(self, event: Any, sentence: str) -> None:
        self.mistakes.append(_at(self.name, event, sentence))
        if len(self.mistakes) > ENOUGH:
            raise SpecMistakes(self.mistakes)


_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS: Mapping[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf"), "inf"),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), "-inf"),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), "nan"),
}
_LONGEST_INTEGER = 400


def _plain(text: str) -> Any:
    """A plain scalar by YAML 1.2's core schema: `no` is a string, `010` is ten and `1e3` a number.

    NaN and the infinities become strings, since JSON has no such numbers. A hexadecimal number stays a string, since it
    means a bit pattern.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text.startswith("0x"):
        return text
    if _INTEGER.fullmatch(text) and len(text) <= _LONGEST_INTEGER:
        return int(text, 8) if text.startswith("0o") else int(text)
    return float(text) if _FLOAT.fullmatch(text) else text
