"""The reader of suites. Everything in a suite is untrusted until it is checked."""

import hashlib
import io
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic import ValidationError

from opconform.errors import MissingError, SuiteError
from opconform.suite.alternatives import (
    also_name,
    alternative_arrays,
    alternatives_problem,
    otherwise_name,
)
from opconform.suite.bounds import (
    Bounds,
    bound_names,
    bounds_of,
    bounds_problem,
    flushed_output,
    reduced_of,
    with_bounds,
)
from opconform.suite.case import Accept, Case, Input, Output, Reject, canonical_json, case_from
from opconform.suite.declarations import declaration_document
from opconform.suite.file_names import CASE, HEADER, MANIFEST
from opconform.suite.manifest import (
    NEIGHBOUR_CHECK,
    Entry,
    Header,
    cases_by_profile,
    entry_of,
    expected_name,
    first_error,
    header_of,
    inputs_name,
)
from opconform.suite.path_kind import check_kind
from opconform.suite.release import release_difference
from opconform.suite.selection.matches import Known
from opconform.suite.storage.store import Store, TooLargeError, open_store
from opconform.system.memory import check_memory
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.npz import FILE_LIMIT, arrays_of
from opconform.tensors.tensor import Array

#: The most bytes of a manifest: per case that `suite.json` counts, and in total.
_LINE_LIMIT, _MANIFEST_LIMIT = 1 << 14, 1 << 30
#: The most bytes of any other file: this many, plus this many times the bytes of the tensors that `case.json` declares.
#: The shapes of a second feed are not declared, strings have no declared length, and a model may write out constants.
_TENSORS_LIMIT, _SPELLING = 1 << 28, 16
#: The bytes of one character of a string in an `.npy` file.
_CHARACTER = 4
#: How many cases are cached: the arrays of a case are often read right after it.
_RECENT = 16


@dataclass(frozen=True, kw_only=True)
class Suite:
    """A suite whose header and manifest agree.

    Its methods raise `SuiteError` for a file that is missing, changed, too large or malformed.
    """

    store: Store
    header: Header
    entries: tuple[Entry, ...]

    @cached_property
    def by_id(self) -> Mapping[str, Entry]:
        """The manifest's lines by case id."""
        return {entry.id: entry for entry in self.entries}

    @cached_property
    def declarations(self) -> Mapping[str, bytes]:
        """The JSON text of the declaration of each operation."""
        return {
            declaration.name: canonical_json(declaration_document(declaration)).encode()
            for declaration in self.header.declarations
        }

    @cached_property
    def release_difference(self) -> str:
        """How the suite differs from the release that it claims to be, as a clause; empty if it does not."""
        return release_difference(self.header, self.entries)

    @cached_property
    def _recent(self) -> dict[str, Case]:
        return {}

    def known(self) -> Known:
        """What cases can be selected from."""
        return Known(
            groups={entry.id.rpartition("/")[0]: entry.profile for entry in self.entries},
            requirements={name for entry in self.entries for name in entry.requirements},
        )

    def stored(self, entry: Entry, name: str) -> bytes:
        """A file of a case, whatever its digest."""
        path = f"{entry.id}/{name}"
        if name == CASE:
            return self.store.read(path)
        try:
            return self.store.read(path, _TENSORS_LIMIT)
        except TooLargeError as error:
            check_memory(error.size, f"{self.store.root}: {path}")
            declared = _SPELLING * _declared_bytes(self.case(entry))
            return self.store.read(path, min(FILE_LIMIT, _TENSORS_LIMIT + declared))

    def read(self, entry: Entry, name: str) -> bytes:
        """A file of a case."""
        content = self.stored(entry, name)
        if hashlib.sha256(content).hexdigest() != entry.files.get(name):
            raise SuiteError(
                f"{self.store.root}: {entry.id}/{name} was changed after the suite was generated. "
                f"Run `opconform verify` to see everything that changed."
            )
        return content

    def case(self, entry: Entry) -> Case:
        """The case that a manifest's line lists."""
        where = f"{self.store.root}: {entry.id}/{CASE}"
        try:
            case = case_from(self.read(entry, CASE))
        except ValidationError as error:
            raise SuiteError(f"{where}: {first_error(error)}.") from error
        contradiction = _contradiction(case)
        if contradiction is not None:
            raise SuiteError(f"{where}: {contradiction}. Generate the suite again.")
        expect = case.expect if isinstance(case.expect, Reject) else "accept"
        if (case.id, case.twin, case.requirements, expect) != (entry.id, entry.twin, entry.requirements, entry.expect):
            raise SuiteError(f"{where} contradicts the manifest. Generate the suite again.")
        while len(self._recent) >= _RECENT:
            del self._recent[next(iter(self._recent))]
        self._recent[entry.id] = case
        return case

    def recent_case(self, entry: Entry) -> Case:
        """The case that a manifest's line lists, which is not read again if it was one of the last ones."""
        return self._recent.get(entry.id) or self.case(entry)

    def arrays(self, entry: Entry, name: str) -> dict[str, Array]:
        """The arrays of an `.npz` file of a case, with the types and shapes that the case declares."""
        arrays = self.stored_arrays(entry, name)
        case = self.recent_case(entry)
        problem = next(array_problems(f"{self.store.root}: {entry.id}/{name}", name, arrays, case), None)
        if problem is not None:
            raise SuiteError(f"{problem} Generate the suite again.")
        return arrays

    def golden(self, entry: Entry, feed: int) -> dict[str, Array]:
        """The golden outputs of a feed, without their bounds."""
        arrays = self.arrays(entry, expected_name(feed))
        return {name: array for name, array in arrays.items() if "." not in name}

    def bounds(self, entry: Entry, feed: int) -> tuple[Bounds | None, ...]:
        """Per expected output of a feed, its bounds; None for an output whose bits are compared."""
        outputs = self.recent_case(entry).outputs
        if all(output.comparison == "bits" for output in outputs):
            return (None,) * len(outputs)
        arrays = self.arrays(entry, expected_name(feed))
        return tuple(bounds_of(output, arrays) for output in outputs)

    def reduced(self, entry: Entry, feed: int) -> tuple[Bounds | None, ...]:
        """Per expected output of a feed, the bounds of results that are less accurate; None where these are wrong."""
        outputs = self.recent_case(entry).outputs
        arrays = self.arrays(entry, expected_name(feed)) if any(output.reduced for output in outputs) else {}
        return tuple(reduced_of(output, arrays) for output in outputs)

    def flushed(self, entry: Entry, feed: int) -> dict[str, tuple[Array, Bounds | None]]:
        """The outputs of a feed, with their bounds, for inputs without denormal numbers, where they are others."""
        outputs = [x for x in self.recent_case(entry).outputs if x.flushed]
        arrays = self.arrays(entry, expected_name(feed)) if outputs else {}
        both = [(x.name, flushed_output(x)) for x in outputs]
        return {name: (arrays[other.name], bounds_of(other, arrays)) for name, other in both}

    def also(self, entry: Entry, feed: int) -> tuple[Array | None, ...]:
        """Per expected output of a feed, the other right values of each element; None where there are none."""
        return self._alternatives(entry, feed, [also_name(x.name) if x.also else "" for x in self._outputs(entry)])

    def otherwise(self, entry: Entry, feed: int) -> tuple[Array | None, ...]:
        """Per expected output of a feed, the values of each element by other readings; None where there are none."""
        names = [otherwise_name(x.name) if x.otherwise else "" for x in self._outputs(entry)]
        return self._alternatives(entry, feed, names)

    def otherwise_bounds(self, entry: Entry, feed: int) -> tuple[Bounds | None, ...]:
        """Per expected output of a feed, the bounds of these values; None where there are none."""
        names = [
            bound_names(otherwise_name(x.name)) if x.otherwise and x.comparison == "bounds" else ("", "")
            for x in self._outputs(entry)
        ]
        lower, upper = (self._alternatives(entry, feed, [pair[side] for pair in names]) for side in (0, 1))
        return tuple(None if x is None or y is None else (x, y) for x, y in zip(lower, upper, strict=True))

    def _outputs(self, entry: Entry) -> tuple[Output, ...]:
        return self.recent_case(entry).outputs

    def _alternatives(self, entry: Entry, feed: int, names: Sequence[str]) -> tuple[Array | None, ...]:
        arrays = self.arrays(entry, expected_name(feed)) if any(names) else {}
        return tuple(arrays[name] if name else None for name in names)

    def stored_arrays(self, entry: Entry, name: str) -> dict[str, Array]:
        """The arrays of an `.npz` file of a case, whatever the case declares."""
        content = self.read(entry, name)
        return arrays_of(content, f"{self.store.root}: {entry.id}/{name}", limit=len(content))


def open_suite(path: Path) -> Suite:
    """The suite in a folder or a zip file; `SuiteError` if it is incomplete or its header and manifest do not match."""
    try:
        store = open_store(path)
        header = _header(store, path)
    except SuiteError:
        check_kind(path, "suite")
        raise
    count = sum(header.counts.values())
    manifest = store.read(MANIFEST, min(_MANIFEST_LIMIT, _LINE_LIMIT * max(count, 1)))
    if hashlib.sha256(manifest).hexdigest() != header.digest:
        raise SuiteError(f"{path}: {MANIFEST} does not match {HEADER}. Generate the suite again.")
    lines = enumerate(io.BytesIO(manifest), 1)
    entries = tuple(entry_of(line, f"{path}/{MANIFEST}:{number}") for number, line in lines)
    ids = [entry.id for entry in entries]
    if ids != sorted(set(ids)):
        raise SuiteError(f"{path}: {MANIFEST} is not sorted by id, or repeats an id. Generate the suite again.")
    counts = Counter("accept" if entry.expect == "accept" else "reject" for entry in entries)
    cases = cases_by_profile(Counter((entry.op, entry.profile) for entry in entries))
    if cases != header.cases or {name: number for name, number in header.counts.items() if number} != counts:
        raise SuiteError(f"{path}: {MANIFEST} does not have the cases that {HEADER} counts. Generate the suite again.")
    return Suite(store=store, header=header, entries=entries)


def tensors_of(case: Case, *, blind: bool) -> Iterator[tuple[str, Sequence[Input | Output]]]:
    """The array files of a case, each with the tensors that it holds."""
    for feed in range(case.feeds):
        yield inputs_name(feed), case.inputs
        if isinstance(case.expect, Accept) and not blind:
            yield expected_name(feed), case.expect.accept


def array_problems(where: str, file: str, arrays: Mapping[str, Array], case: Case) -> Iterator[str]:
    """The differences between the arrays of a file and the tensors of its case, one sentence each.

    A second feed may have any shapes: they are not declared.
    """
    tensors = dict(tensors_of(case, blind=False)).get(file, ())
    outputs = [x for x in tensors if isinstance(x, Output)]
    expected = {**with_bounds(tensors), **alternative_arrays(outputs)}
    problems = [*_form_problems(where, arrays, expected, has_shapes=file in (inputs_name(0), expected_name(0)))]
    yield from problems
    for output in () if problems else outputs:
        both = (output, flushed_output(output)) if output.flushed else (output,)
        found = (*(bounds_problem(x, arrays) for x in both), alternatives_problem(output, arrays))
        yield from (f"{where}: {problem}." for problem in found if problem)


def _form_problems(
    where: str, arrays: Mapping[str, Array], declared: Mapping[str, Input | Output], *, has_shapes: bool
) -> Iterator[str]:
    for name in sorted(set(declared) ^ set(arrays)):
        problem = "no array {}." if name in declared else "an array {}, which the case does not declare."
        yield f"{where} has {problem.format(name)}"
    for name in (x for x in declared if x in arrays):
        array, tensor = arrays[name], declared[name]
        storage = ELEMENT_TYPES[tensor.element_type].storage
        if array.dtype != storage and not array.dtype.kind == storage.kind == "U":
            yield f"{where}: {name} is stored as {array.dtype}, but {tensor.element_type} must be stored as {storage}."
        if has_shapes and array.shape != tensor.shape:
            yield f"{where}: {name} has the shape {list(array.shape)}, but {CASE} says {list(tensor.shape)}."


def _contradiction(case: Case) -> str | None:
    if case.op != case.id.partition("/")[0] and not case.id.endswith(f"/{NEIGHBOUR_CHECK}"):
        return f"its operation {case.op} contradicts its id"
    known: set[str | None] = {input_.name for input_ in case.inputs}
    if len(known) < len(case.inputs):
        return "two of its inputs have the same name"
    if any(x.name != f"output_{number}" for number, x in enumerate(_expected(case))):
        return "its outputs are not named output_0, output_1, …"
    known.add(None)  # an omitted input
    for node in case.graph.nodes:
        if unknown := set(node.inputs) - known:
            name = min(map(str, unknown))
            return f"the node {node.name} takes {name}, which is neither an input nor an earlier node's output"
        known.update(node.outputs)
    if lost := set(case.graph.outputs) - known:
        return f"its output {min(lost)} is not in its graph"
    return None if any(node.under_test for node in case.graph.nodes) else "no node of its graph is under test"


def _declared_bytes(case: Case) -> int:
    """The bytes of the tensors of a case's first feed, with one character per string."""
    tensors: tuple[Input | Output, ...] = (*case.inputs, *_expected(case))
    return sum(
        math.prod(tensor.shape) * (ELEMENT_TYPES[tensor.element_type].storage.itemsize or _CHARACTER)
        for tensor in tensors
    )


def _expected(case: Case) -> tuple[Output, ...]:
    return case.expect.accept if isinstance(case.expect, Accept) else ()


def _header(store: Store, path: Path) -> Header:
    try:
        content = store.read(HEADER)
    except SuiteError as error:
        inside = path / "suite"
        hint = f"; did you mean {inside}?" if (inside / HEADER).is_file() else "."
        kind = SuiteError if path.is_file() or (path / MANIFEST).exists() else MissingError
        raise kind(f"{path} contains no {HEADER}: it is not a suite or is incomplete{hint}") from error
    return header_of(content, f"{path}/{HEADER}")
