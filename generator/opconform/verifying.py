"""Verifying: every file of a suite against its manifest, and nothing else beside them."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from opconform.errors import SuiteError
from opconform.suite import HEADER, MANIFEST, Entry, Suite, open_suite


def faults_of(path: Path) -> Iterator[str]:
    """Every fault of a suite, a sentence each.

    Args:
        path: A folder or a zip file.
    """
    try:
        suite = open_suite(path)
    except SuiteError as fault:
        yield str(fault)
        return
    yield from _count_faults(suite)
    for entry in suite.entries:
        yield from _entry_faults(suite, entry)
    yield from foreign_faults(suite)


def _count_faults(suite: Suite) -> Iterator[str]:
    counts = Counter("accept" if each.expect == "accept" else "reject" for each in suite.entries)
    if {name: count for name, count in suite.header.counts.items() if count} != counts:
        yield f"{suite.store.root}/{HEADER}: the counts are not those of {MANIFEST}."


def _entry_faults(suite: Suite, entry: Entry) -> Iterator[str]:
    for name, digest in entry.files.items():
        try:
            content = suite.store.read(f"{entry.id}/{name}")
        except SuiteError as fault:
            yield str(fault)
            continue
        if hashlib.sha256(content).hexdigest() != digest:
            yield f"{suite.store.root}: {entry.id}/{name} was changed after the suite was generated."
    known = suite.header.requirements.get(entry.op, {})
    violated = () if entry.expect == "accept" else (entry.expect.reject,)
    for name in dict.fromkeys((*entry.requirements, *violated)):
        if name not in known:
            yield f"{suite.store.root}: {entry.id} is about {name}, which {HEADER} has no word of."
    if entry.twin is not None and entry.twin not in suite.by_id:
        yield f"{suite.store.root}: {entry.id} names the twin {entry.twin}, which the suite does not hold."


def foreign_faults(suite: Suite) -> Iterator[str]:
    """Everything that lies in a suite and that its manifest does not name, a sentence each."""
    known = {HEADER, MANIFEST} | {f"{each.id}/{name}" for each in suite.entries for name in each.files}
    seen: Counter[str] = Counter(suite.store.paths())
    for path, times in sorted(seen.items()):
        if path not in known:
            yield f"{suite.store.root}: {path} does not belong to the suite."
        elif times > 1:
            yield f"{suite.store.root}: {path} stands in the file {times} times."
