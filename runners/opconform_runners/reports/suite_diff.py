"""The differences between two suites, such as two releases: the cases that came, went and changed."""

from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Any

from opconform.errors import SuiteError, counted
from opconform.suite.file_names import CASE
from opconform.suite.manifest import NEIGHBOUR_CHECK, Entry, Header
from opconform.suite.reader import Suite
from opconform.system.text import printable, shortened

FORMAT = 1
#: The most cases of a kind that are listed.
_MOST = 50
#: What a version promises, the least first.
_STEPS = ("nothing", "patch", "minor", "major")
#: What of a case can change, and what a version that changes it is. A case whose setting inputs change has another id.
_PARTS = {**dict.fromkeys(("expectation", "golden", "comparison", "input", "model"), "major"), "text": "patch"}


#: A case of a suite.
_Case = tuple[Suite, Entry]


def suite_changes(old: Suite, new: Suite) -> dict[str, Any]:
    """The differences between two suites as a JSON object; models are compared in the dialects that both have.

    `needs` is the part of the version that such changes raise, and `is_worse` says that the versions do not tell.
    """
    dialects = {*old.header.dialects} & {*new.header.dialects}
    changed = [
        {"id": name, "changed": parts}
        for name in sorted(old.by_id.keys() & new.by_id.keys())
        if (parts := _changed((old, old.by_id[name]), (new, new.by_id[name]), dialects))
    ]
    levels = sorted(_levels(old.header).items() ^ _levels(new.header).items())
    came, went = (sorted(a.by_id.keys() - b.by_id.keys()) for a, b in ((new, old), (old, new)))
    again = {name for name, _ in levels if name in _levels(old.header) and name in _levels(new.header)}
    steps = {_PARTS[part] for case in changed for part in case["changed"]}
    steps |= ({"minor"} if came else set()) | ({"major"} if went or again else set())
    needs = max(steps, key=_STEPS.index, default="nothing")
    return {
        "format": FORMAT,
        "old": _note(old.header),
        "new": _note(new.header),
        "came": came,
        "went": went,
        "changed": changed,
        "levels": sorted(again),
        "needs": needs,
        "is_worse": _STEPS.index(needs) > _STEPS.index(_step(old.header.version, new.header.version)),
    }


def suite_changes_lines(changes: Mapping[str, Any]) -> Iterator[str]:
    """Changes as text."""
    for what, now in changes["new"].items():
        if changes["old"][what] != now:
            yield printable(f"Suite {what}: {changes['old'][what]} → {now}")
    kinds = {
        "New cases": changes["came"],
        "Missing cases": changes["went"],
        "Changed cases": [f"{x['id']}  {', '.join(x['changed'])}" for x in changes["changed"]],
        "Requirements of another level": changes["levels"],
    }
    for title, names in kinds.items():
        if names:
            yield f"\n{title}: {len(names):,}"
            yield from (f"  {x}" for x in shortened(names, _MOST))
    counts = [counted(len(changes[key]), f"{word} case") for key, word in _COUNTED.items() if changes[key]]
    yield f"\n{', '.join(counts) or 'No case changed'}."
    if changes["is_worse"]:
        yield f"Such changes need a new {changes['needs']} version of the suite."


_COUNTED = {"came": "new", "went": "missing", "changed": "changed"}


def _changed(first: _Case, second: _Case, dialects: set[str]) -> list[str]:
    """What changed of a case, in the order of `_PARTS`."""
    old, new = first[1], second[1]
    if old == new:
        return []
    parts = set()
    if (old.expect, old.readings, old.essential) != (new.expect, new.readings, new.essential):
        parts.add("expectation")
    for name in old.files.keys() | new.files.keys():
        before, now = old.files.get(name), new.files.get(name)
        if before != now and (part := _part_of(name.removeprefix(f"{NEIGHBOUR_CHECK}/"), dialects)):
            is_only_compared = part in ("golden", "text") and before and now and _compares(name, first, second)
            parts.add("comparison" if is_only_compared else part)
    parts = parts - {"text"} or parts
    if not parts and (old.profile, old.requirements, old.twin) != (new.profile, new.requirements, new.twin):
        parts.add("text")
    return [part for part in _PARTS if part in parts]


def _compares(name: str, first: _Case, second: _Case) -> bool:
    """Whether a changed file compares the same outputs otherwise: it has other bounds, or another way to compare."""
    found = []
    for suite, entry in (first, second):
        item = entry.neighbour_check if name.startswith(NEIGHBOUR_CHECK) else entry
        try:
            outputs = () if item is None else suite.case(item).outputs
            arrays = {} if item is None or name.endswith(CASE) else suite.arrays(item, name.rpartition("/")[2])
        except SuiteError:  # another file than the manifest says
            return False
        golden = [arrays[x.name] for x in outputs if x.name in arrays]
        forms = [(x.name, x.element_type, x.shape) for x in outputs], [(x.dtype, x.shape, x.tobytes()) for x in golden]
        found.append((forms, [x.comparison for x in outputs]))
    (form, comparisons), (other_form, other_comparisons) = found
    return form == other_form and (comparisons != other_comparisons or not name.endswith(CASE))


def _part_of(name: str, dialects: set[str]) -> str | None:
    """What a file of a case has; None for a model in a dialect that only one of the suites has."""
    folder, slash, _ = name.partition("/")
    if slash:
        return "model" if folder in dialects else None
    return "text" if name == CASE else "input" if name.startswith("inputs") else "golden"


def _levels(header: Header) -> dict[str, str]:
    return {f"{op} {name}": note.level for op, notes in header.requirements.items() for name, note in notes.items()}


def _note(header: Header) -> dict[str, str]:
    dialects = ", ".join(header.dialects)
    cases = counted(sum(header.counts.values()), "case")
    return {"version": header.version, "digest": header.digest[:16], "cases": cases, "dialects": dialects}


def _step(old: str, new: str) -> str:
    """The part of the version that was raised."""
    same = sum(1 for _ in takewhile(lambda x: x[0] == x[1], zip(old.split("."), new.split("."), strict=False)))
    return ("major", "minor", "patch", "nothing")[min(same, 3)]
