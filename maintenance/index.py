"""The index of the shipped specs, `cases/index.json`: `python -m maintenance.index` expands the specs and writes it.

Only files that changed are expanded. After a change of the reference semantics, `python -m maintenance.index all`
expands all of them, which takes two minutes.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from maintenance import ROOT
from opconform.explanation.shipped_groups import kinds_of, left_out_of
from opconform.generation.options import LIMITS, ONE_CASE
from opconform.specs.every.groups import every_groups, neighbours_in
from opconform.specs.index import (
    INDEX,
    SAMPLES,
    CaseKind,
    are_neighbours_known,
    content_of,
    sample_files,
    sha256,
    shipped_files,
    shipped_groups,
    state_of,
)
from opconform.specs.loader import load_spec
from opconform.suite.selection.quick import quick_cases
from opconform.suite.selection.selection import EXHAUSTIVE

FILE = ROOT / "cases" / INDEX
#: The profile `large` has tensors over the limit of a suite.
_LIMITS = replace(LIMITS, elements=ONE_CASE.elements)


def index_text(known: Mapping[str, Any]) -> str:
    """The index; files that are as they were in a known one are not expanded again."""
    specs = {name: entry_of(name, known.get(name)) for name in shipped_files()}
    neighbours = {
        path.parent.name: {"digest": sha256(content_of(path)), "samples": neighbours_in(path)}
        for path in sample_files()
    }
    every = {
        group.id: {
            "profile": group.profile,
            "title": group.title,
            **({"neighbours": True} if "neighbours" in repr(group.matrix) else {}),
        }
        for group in every_groups()
    }
    parts: dict[str, Mapping[str, Any]] = {"every": every, "neighbours": neighbours, "specs": specs}
    return "{\n" + ",\n".join(f"{json.dumps(key)}: {_lines(part)}" for key, part in parts.items()) + "\n}\n"


def entry_of(name: str, known: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """What the index has of a file."""
    path = shipped_files()[name]
    state = state_of(path)
    if known is not None and known["digest"] == state and are_neighbours_known() and quick_in(known) == quick_of(name):
        return known
    requirements: dict[tuple[str, ...], int] = {}
    groups = {}
    for group in load_spec(path).groups:
        rows = None
        if group.settings.profile != EXHAUSTIVE:
            rows = [_row(kind, requirements) for kind in kinds_of(group, _LIMITS)]
        about: dict[str, Any] = {"profile": group.settings.profile, "title": group.settings.title, "cases": rows}
        about |= {"left_out": left_out} if (left_out := left_out_of(group)) else {}
        groups[group.id] = rows if path.name == SAMPLES else about
    return {"digest": state, "requirements": [*map(list, requirements)], "groups": groups}


def quick_in(entry: Mapping[str, Any]) -> set[str]:
    """The digits of the cases of the profile `quick` that the index has of a file."""
    groups = (group if isinstance(group, list) else group["cases"] for group in entry["groups"].values())
    return {digits for rows in groups for row in rows or () for digits in row[-1].split()}


def quick_of(name: str) -> set[str]:
    """The digits of the cases of the profile `quick` in a file."""
    path = shipped_files()[name]
    quick = (cases for group, cases in quick_cases().items() if shipped_groups()[group] == path)
    return {case.rpartition("/")[2] for cases in quick for case in cases}


def _row(kind: CaseKind, requirements: dict[tuple[str, ...], int]) -> list[Any]:
    number = requirements.setdefault(kind.requirements, len(requirements))
    return [kind.cases, kind.violated, number, " ".join(kind.quick)]


def _lines(part: Mapping[str, Any]) -> str:
    """A mapping with one line per key."""
    rows = (f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in part.items())
    return "{\n" + ",\n".join(rows) + "\n}"


if __name__ == "__main__":
    old = json.loads(FILE.read_text())["specs"] if FILE.exists() and sys.argv[1:] != ["all"] else {}
    FILE.write_text(index_text(old))
