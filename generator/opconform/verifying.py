"""Verifying: every file of a suite against its manifest, its arrays against its case, and no other files."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from opconform.case import Accept, Case, Input, Output, case_text
from opconform.element_types import ELEMENT_TYPES
from opconform.errors import SuiteError
from opconform.suite import CASE, HEADER, MANIFEST, Entry, Suite, entry_line, expected_name, inputs_name, open_suite
from opconform.tensors import Array


def faults_of(path: Path) -> Iterator[str]:
    """Every fault of a suite, one sentence each.

    Args:
        path: A folder or a zip file.
    """
    try:
        suite = open_suite(path)
    except SuiteError as fault:
        yield str(fault)
        return
    yield from _count_faults(suite)
    yield from _line_faults(suite)
    for entry in suite.entries:
        faults = list(_file_faults(suite, entry))
        yield from faults or _case_faults(suite, entry)
        yield from _reference_faults(suite, entry)
    yield from foreign_faults(suite)


def _count_faults(suite: Suite) -> Iterator[str]:
    counts = Counter("accept" if each.expect == "accept" else "reject" for each in suite.entries)
    if {name: count for name, count in suite.header.counts.items() if count} != counts:
        yield f"{suite.store.root}/{HEADER}: the counts are not those of {MANIFEST}."


def _line_faults(suite: Suite) -> Iterator[str]:
    """Lines that hold their case's data, but not as `generate` writes it, such as one with a key twice."""
    written = hashlib.sha256()
    for each in suite.entries:
        written.update(entry_line(each).encode())
    if written.hexdigest() != suite.header.digest:
        yield f"{suite.store.root}/{MANIFEST}: a line repeats a key, or is not spelled as `generate` spells it."


def _file_faults(suite: Suite, entry: Entry) -> Iterator[str]:
    for name, digest in entry.files.items():
        try:
            content = suite.stored(entry, name)
        except SuiteError as fault:
            yield str(fault)
            continue
        if hashlib.sha256(content).hexdigest() != digest:
            yield f"{suite.store.root}: {entry.id}/{name} was changed after the suite was generated."


def _case_faults(suite: Suite, entry: Entry) -> Iterator[str]:
    """Contradictions between `case.json` and the other files of a case."""
    where = f"{suite.store.root}: {entry.id}"
    try:
        case = suite.case(entry)
        if case_text(case).encode() != suite.read(entry, CASE):
            yield f"{where}/{CASE} repeats a key, or is not spelled as `generate` spells it."
        needed = dict(_arrays_of(case, blind=suite.header.blind))
        for name in sorted(set(needed) ^ {each for each in entry.files if each.endswith(".npz")}):
            yield f"{where}/{name} is missing." if name in needed else f"{where}/{name} belongs to no feed of the case."
        for name, tensors in needed.items():
            if name in entry.files:
                fixed = name in (inputs_name(0), expected_name(0))
                yield from _array_faults(f"{where}/{name}", suite.arrays(entry, name), tensors, fixed=fixed)
    except SuiteError as fault:
        yield str(fault)


def _arrays_of(case: Case, *, blind: bool) -> Iterator[tuple[str, Sequence[Input | Output]]]:
    """The files of arrays that a case has, each with the tensors that it holds."""
    for feed in range(case.feeds):
        yield inputs_name(feed), case.inputs
        if isinstance(case.expect, Accept) and not blind:
            yield expected_name(feed), case.expect.accept


def _array_faults(
    where: str, arrays: Mapping[str, Array], tensors: Sequence[Input | Output], *, fixed: bool
) -> Iterator[str]:
    """Arrays that are not the tensors of a case. The shapes of a second feed are not `fixed`: no file declares them."""
    declared = {each.name: each for each in tensors}
    for name in sorted(set(declared) ^ set(arrays)):
        yield (
            f"{where} has no array {name}."
            if name in declared
            else f"{where} has an array {name}, which the case does not declare."
        )
    for name in declared.keys() & arrays.keys():
        array, tensor = arrays[name], declared[name]
        storage = ELEMENT_TYPES[tensor.element_type].storage
        if array.dtype != storage and not array.dtype.kind == storage.kind == "U":
            yield f"{where}: {name} is stored as {array.dtype}, and {tensor.element_type} is stored as {storage}."
        if fixed and array.shape != tensor.shape:
            yield f"{where}: {name} has the shape {list(array.shape)}, and {CASE} says {list(tensor.shape)}."


def _reference_faults(suite: Suite, entry: Entry) -> Iterator[str]:
    known = suite.header.requirements.get(entry.op, {})
    violated = () if entry.expect == "accept" else (entry.expect.reject,)
    for name in dict.fromkeys((*entry.requirements, *violated)):
        if name not in known:
            yield f"{suite.store.root}: {entry.id} tests {name}, which {HEADER} does not list."
    if entry.twin is not None and entry.twin not in suite.by_id:
        yield f"{suite.store.root}: {entry.id} names the twin {entry.twin}, which the suite does not hold."


def foreign_faults(suite: Suite) -> Iterator[str]:
    """Everything in a suite that its manifest does not name, one sentence each."""
    known = {HEADER, MANIFEST} | {f"{each.id}/{name}" for each in suite.entries for name in each.files}
    seen: Counter[str] = Counter(suite.store.paths())
    for path, times in sorted(seen.items()):
        if path not in known:
            yield f"{suite.store.root}: {path} does not belong to the suite."
        elif times > 1:
            yield f"{suite.store.root}: {path} is in the file {times} times."
