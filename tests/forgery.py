"""A forged suite: expected outputs that are wrong, under a manifest and a header that vouch for them."""

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from opconform.suite.file_names import HEADER, MANIFEST
from opconform.suite.manifest import Header, cases_by_profile, entry_line, entry_of, header_text
from opconform.suite.reader import Suite, open_suite
from opconform.tensors.npz import FILE_LIMIT, arrays_of, npz_bytes


def forge(folder: Path, change: Callable[[Header], Header] = lambda header: header) -> int:
    """Have a suite expect zeros everywhere, and seal it again; gives the number of cases that expect something else now.

    Args:
        folder: The suite.
        change: What to write in its header besides the digest of the manifest.
    """
    suite = open_suite(folder)
    lines, forged = [], 0
    for entry in suite.entries:
        files = dict(entry.files)
        for name in files:
            if name.startswith("expected"):
                arrays = arrays_of(suite.read(entry, name), name, limit=FILE_LIMIT)
                files[name] = _replaced(
                    folder / entry.id / name, npz_bytes({k: np.zeros_like(v) for k, v in arrays.items()})
                )
        forged += files != entry.files
        lines.append(entry_line(replace(entry, files=files)).encode())
    seal(folder, b"".join(lines), change)
    return forged


def seal(folder: Path, manifest: bytes, change: Callable[[Header], Header] = lambda header: header) -> Suite:
    """Put a manifest into a suite, and a header with its digest and its numbers of cases; the suite is whole again."""
    header = open_suite(folder).header
    (folder / MANIFEST).write_bytes(manifest)
    entries = [entry_of(line, MANIFEST) for line in manifest.splitlines()]
    counts = Counter("accept" if entry.expect == "accept" else "reject" for entry in entries)
    cases = cases_by_profile(Counter((entry.op, entry.profile) for entry in entries))
    header = replace(header, digest=hashlib.sha256(manifest).hexdigest(), counts=counts, cases=cases)
    (folder / HEADER).write_text(header_text(change(header)))
    return open_suite(folder)


def generator(version: str) -> Callable[[Header], Header]:
    """A header that names another build of opconform."""
    return lambda header: replace(header, generator=version, recipe="0" * 64)


def _replaced(path: Path, content: bytes) -> str:
    path.unlink()  # the file may be a hard link to the suite of another test
    path.write_bytes(content)
    return hashlib.sha256(content).hexdigest()
