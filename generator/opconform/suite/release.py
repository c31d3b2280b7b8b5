"""Released suites: what each of them has, so that a suite that claims to be one and differs from it is noticed.

The shipped table `cases/releases.json` has the number of cases of each operation and profile, and digests of them: one
of what every dialect shares, under the empty name, and one of the models in each dialect. So a suite of any dialects,
of whole profiles of some operations, can be compared.
"""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from opconform.errors import counted
from opconform.suite.manifest import NEIGHBOUR_CHECK, Entry, Header, entry_line
from opconform.system.resources import root

#: The table, in the folder of the shipped cases.
TABLE = "releases.json"
#: The profile that is installed as a suite.
SHIPPED_PROFILE = "core"
#: The length of a digest in the table.
_LENGTH = 16


@dataclass(frozen=True, kw_only=True, slots=True)
class ReleasedCases:
    """The cases of an operation in a profile: their number, and their digests by dialect."""

    cases: int
    digests: Mapping[str, str]


def release_difference(header: Header, entries: Sequence[Entry]) -> str:
    """How a suite differs from the release that it claims to be, as a clause; empty if it does not.

    Compared are whole profiles of operations with the specs of the release. Of a blind suite, only numbers are.
    """
    release = _table().get(header.version)
    if release is None or header.seed != release["seed"] or header.is_selection or header.part_of:
        return ""
    profiles, specs = {entry.profile for entry in entries}, specs_digests(header.specs)
    ops = [op for op, digest in specs.items() if release["specs"].get(op) == digest]
    released = {
        (op, name): cell for op in ops for name, cell in release["cases"].get(op, {}).items() if name in profiles
    }
    counts = cases_of(entries)
    numbers = {key: counts[key].cases if key in counts else 0 for key in released}
    for (op, profile), cell in released.items():
        if (number := numbers[op, profile]) != cell["cases"]:
            every = f"{sum(numbers.values()):,} of the {counted(sum(x['cases'] for x in released.values()), 'case')}"
            where = f"{op} has {number:,} in {profile}, not {cell['cases']:,}"
            return f"the suite has {every} of release {header.version} with these specs ({where})"
    for (op, profile), cell in released.items() if not header.blind else ():
        digests = {name: cell["digests"].get(name) for name in ("", *header.dialects)}
        if any(digest not in (None, counts[op, profile].digests.get(name)) for name, digest in digests.items()):
            return f"the cases of {op} in {profile} differ from those of release {header.version}"
    return ""


def shipped_difference(header: Header) -> str:
    """How a suite that is installed as a release differs from the whole of it, as a clause; empty if it does not.

    Compared are specs and numbers; `release_difference` compares the digests of the cases. A version that the table
    does not have is not compared.
    """
    release = _table().get(header.version)
    if release is None:
        return ""
    released = {
        op: {SHIPPED_PROFILE: cells[SHIPPED_PROFILE]["cases"]}
        for op, cells in release["cases"].items()
        if SHIPPED_PROFILE in cells
    }
    if header.cases != released:
        cases, of = (sum(number for cells in x.values() for number in cells.values()) for x in (header.cases, released))
        ops = f"{len(header.cases):,} of {counted(len(released), 'operation')}"
        return f"it has {counted(cases, 'case')} and {ops}, and not the {of:,} cases of the profile {SHIPPED_PROFILE}"
    if specs_digests(header.specs) != release["specs"] or header.seed != release["seed"]:
        return "it is of other specs or of another seed"
    return "it has only some cases, or no expected outputs" if header.select or header.part_of or header.blind else ""


def cases_of(entries: Iterable[Entry]) -> dict[tuple[str, str], ReleasedCases]:
    """The cases of a suite, by operation and profile."""
    numbers = Counter[tuple[str, str]]()
    digests: dict[tuple[str, str], dict[str, Any]] = defaultdict(lambda: defaultdict(hashlib.sha256))
    for entry in entries:
        key = entry.op, entry.profile
        numbers[key] += 1
        digests[key][""].update(entry_line(replace(entry, files={}, left_out={})).encode())
        for name, digest in sorted(entry.files.items()):
            digests[key][_dialect_of(name)].update(f"{entry.id}/{name} {digest}\n".encode())
    return {
        key: ReleasedCases(
            cases=number, digests={name: x.hexdigest()[:_LENGTH] for name, x in sorted(digests[key].items())}
        )
        for key, number in sorted(numbers.items())
    }


def specs_digests(specs: Mapping[str, str]) -> dict[str, str]:
    """One digest of all specs of each operation, given those of the files, as `suite.json` has them."""
    lines: dict[str, list[str]] = defaultdict(list)
    for name, digest in sorted(specs.items()):
        lines[name.partition("/")[0]].append(f"{name} {digest}\n")
    return {op: hashlib.sha256("".join(x).encode()).hexdigest()[:_LENGTH] for op, x in lines.items()}


def _dialect_of(name: str) -> str:
    """The dialect that a file of a case belongs to; empty for a file that every dialect shares."""
    folder, inside, _ = name.removeprefix(f"{NEIGHBOUR_CHECK}/").partition("/")
    return folder if inside else ""


@cache
def _table() -> Mapping[str, Any]:
    """The releases by version."""
    file = root() / "cases" / TABLE
    table: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return table
