"""Verification of a suite: every file against the manifest, arrays against their case, and no unknown files."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from opconform.errors import MissingError, SuiteError
from opconform.suite.case import GRAPH, case_text
from opconform.suite.file_names import CASE, HEADER, MANIFEST
from opconform.suite.manifest import NEIGHBOUR_CHECK, Entry, entry_line, reasons_by_dialect
from opconform.suite.reader import Suite, array_problems, open_suite, tensors_of
from opconform.suite.storage.store import Folder


def problems_of(path: Path) -> Iterator[str]:
    """Every problem of a suite, one sentence each; `MissingError` without a suite."""
    try:
        suite = open_suite(path)
    except MissingError:
        raise
    except SuiteError as error:
        yield str(error)
        return
    if suite.release_difference:
        yield f"{suite.store.root}: {suite.release_difference}."
    left_out = Counter(pair for entry in suite.entries for pair in entry.left_out.items())
    if suite.header.left_out != reasons_by_dialect(left_out):
        yield f"{suite.store.root}/{HEADER}: the counts of cases without a model are not those of {MANIFEST}."
    if hashlib.sha256("".join(map(entry_line, suite.entries)).encode()).hexdigest() != suite.header.digest:
        yield f"{suite.store.root}/{MANIFEST}: a line repeats a key, or is not in the form that `generate` writes."
    for op in sorted(
        {entry.op for entry in suite.entries} - {declaration.name for declaration in suite.header.declarations}
    ):
        yield f"{suite.store.root}/{HEADER}: it does not declare {op}."
    for entry in suite.entries:
        problems = list(_file_problems(suite, entry))
        yield from problems or _case_problems(suite, entry)
        if not problems and entry.neighbour_check is not None:
            yield from _case_problems(suite, entry.neighbour_check)
        yield from _reference_problems(suite, entry)
    yield from foreign_problems(suite)


def _file_problems(suite: Suite, entry: Entry) -> Iterator[str]:
    for name, digest in entry.files.items():
        try:
            content = suite.stored(entry, name)
        except SuiteError as error:
            yield str(error)
            continue
        if hashlib.sha256(content).hexdigest() != digest:
            yield f"{suite.store.root}: {entry.id}/{name} was changed after the suite was generated."


def _case_problems(suite: Suite, entry: Entry) -> Iterator[str]:
    """Contradictions between `case.json` and the other files of a case."""
    where = f"{suite.store.root}: {entry.id}"
    try:
        case = suite.case(entry)
        if case_text(case).encode() != suite.read(entry, CASE):
            yield f"{where}/{CASE} repeats a key, or is not in the form that `generate` writes."
        needed = dict(tensors_of(case, blind=suite.header.blind))
        arrays = {file for file in entry.files if file.endswith(".npz") and not file.startswith(f"{NEIGHBOUR_CHECK}/")}
        for name in sorted(set(needed) ^ arrays):
            yield f"{where}/{name} {'is missing' if name in needed else 'does not belong to a feed of the case'}."
        for name in needed:
            if name in entry.files:
                yield from array_problems(f"{where}/{name}", name, suite.stored_arrays(entry, name), case)
    except SuiteError as error:
        yield str(error)


def _reference_problems(suite: Suite, entry: Entry) -> Iterator[str]:
    known = suite.header.requirements.get(entry.op, {})
    violated = () if entry.expect == "accept" else (entry.expect.reject,)
    others = [name for names in entry.readings.outputs.values() for name in names]
    others += [*entry.readings.reject, *entry.readings.elements]
    if entry.op == GRAPH:  # they are interpretations of other operations
        others = []
    for name in dict.fromkeys((*entry.requirements, *violated, *others)):
        if name not in known:
            yield f"{suite.store.root}: {entry.id} tests {name}, which {HEADER} does not list."
    if entry.twin is not None and entry.twin not in suite.by_id:
        yield f"{suite.store.root}: {entry.id} names the twin {entry.twin}, which is not in the suite."


def foreign_problems(suite: Suite) -> Iterator[str]:
    """Every file and empty folder in a suite that its manifest does not name, one sentence each."""
    known = {HEADER, MANIFEST} | {f"{entry.id}/{name}" for entry in suite.entries for name in entry.files}
    seen: Counter[str] = Counter(suite.store.paths())
    for path, times in sorted(seen.items()):
        is_emptied = (
            isinstance(suite.store, Folder) and path.endswith("/") and any(name.startswith(path) for name in known)
        )
        if path not in known and not is_emptied:  # an emptied folder lacks its files, which is another problem
            yield f"{suite.store.root}: {path} does not belong to the suite."
        elif times > 1:
            yield f"{suite.store.root}: {path} is in the file {times} times."
