"""Updates a file of claims to a run; lines that still hold stay as they are written, and so do comments."""

import re
from collections.abc import Iterator, Mapping, Sequence

from opconform_runners.findings.support.claims_file import ClaimsFile

_ITEM = re.compile(r"\s*- (?P<item>.*?)(\s+#.*)?")
_KEY = re.compile(r"(?P<key>\w+):.*")


def updated_text(old: ClaimsFile, new: ClaimsFile) -> str:
    """The text of the old file with the lines of the new one: in sorted places, without those that no longer hold."""
    sections, wanted = _sections(old.written), _sections(new.text)
    lines = [
        *sections.pop(""),
        *(line for key in sections for line in _section(sections[key], wanted.get(key, [f"{key}: []"]))),
    ]
    lines += [line for key in wanted if key and key not in sections for line in wanted[key]]
    return "".join(f"{line}\n" for line in lines)


def _sections(text: str) -> dict[str, list[str]]:
    """The lines of a file by key; those before the first key have an empty one."""
    sections: dict[str, list[str]] = {"": []}
    for line in text.splitlines():
        if match := _KEY.fullmatch(line):
            sections[match["key"]] = []
        sections[next(reversed(sections))].append(line)
    return sections


def _section(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """The lines of a section, each new item before the first old one that sorts behind it."""
    items = {line.removeprefix("- ") for line in new[1:]}
    rows: Mapping[int, str] = {
        number: match["item"] for number, line in enumerate(old[1:], 1) if (match := _ITEM.fullmatch(line))
    }
    added = sorted(items.difference(rows.values()))
    yield new[0]
    for number, line in enumerate(old[1:], 1):
        item = rows.get(number)
        while item in items and added and added[0] < item:
            yield f"- {added.pop(0)}"
        if item is None or item in items:
            yield line
    yield from (f"- {item}" for item in added)
