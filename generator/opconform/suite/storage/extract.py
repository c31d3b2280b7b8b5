"""Extracts: suites with some of the cases of other suites."""

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from opconform.suite.file_names import HEADER, MANIFEST
from opconform.suite.manifest import Entry, Header, cases_by_profile, entry_line, header_text, reasons_by_dialect
from opconform.suite.reader import Suite
from opconform.suite.storage.work_folder import work_folder


def write_extract(chosen: Iterable[tuple[Suite, Entry]], header: Header, out: Path) -> None:
    """Write some cases as a suite to a folder, in place of an earlier suite; of repeated cases the first.

    `header` is that of a suite of the same specs and options. `OSError` if it cannot be written, and `UsageError` if
    something else is there.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    with work_folder(out) as work:
        write_cases(chosen, header, work.partial)
        work.replace()


def write_cases(chosen: Iterable[tuple[Suite, Entry]], header: Header, out: Path) -> Header:
    """Write some cases as a suite to a new folder; returns its header. It has the arguments of `write_extract`."""
    out.mkdir(parents=True, exist_ok=True)
    entries: dict[str, Entry] = {}
    for suite, entry in chosen:
        if entry.id not in entries:
            entries[entry.id] = entry
            for name in entry.files:
                path = out / entry.id / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(suite.read(entry, name))
    digest = hashlib.sha256()
    counts = {"accept": 0, "reject": 0}
    with (out / MANIFEST).open("wb") as manifest:
        for _, entry in sorted(entries.items()):
            line = entry_line(entry).encode()
            digest.update(line)
            manifest.write(line)
            counts["accept" if entry.expect == "accept" else "reject"] += 1
    left_out = Counter(pair for entry in entries.values() for pair in entry.left_out.items())
    cases = cases_by_profile(Counter((entry.op, entry.profile) for entry in entries.values()))
    numbers = replace(header, counts=counts, cases=cases, left_out=reasons_by_dialect(left_out))
    written = replace(numbers, digest=digest.hexdigest())
    (out / HEADER).write_bytes(header_text(written).encode())
    return written
