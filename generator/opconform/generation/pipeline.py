"""Generating: specs in, a suite out, on as many processes as wanted and with the same bytes."""

import contextlib
import hashlib
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache
from itertools import islice
from math import prod
from multiprocessing import connection, get_all_start_methods, get_context, parent_process, resource_tracker
from multiprocessing.context import BaseContext
from pathlib import Path

from opconform import __version__
from opconform.dialects import DEFAULT, DIALECTS
from opconform.errors import SuiteError, UsageError
from opconform.generation.case_files import Recipe, case_files
from opconform.generation.expansion import Expanded, expand
from opconform.generation.validation import LIMITS, Limits
from opconform.generation.work_folder import share, work_folder
from opconform.generation.writer import Leftovers, finish, forgetting, manifest_file, prepare, write_case
from opconform.interrupts import put_off
from opconform.memory import free_memory, shown_bytes
from opconform.model.draft import id_of
from opconform.model.footprint import file_bytes, memory_bytes
from opconform.operations import OPERATIONS
from opconform.resources import root
from opconform.specs.document import ENOUGH, Mistake, SpecMistakes
from opconform.specs.loader import Group, Spec
from opconform.specs.requirements import requirements_of
from opconform.suite.manifest import Entry, Header, RequirementNote, entry_line
from opconform.suite.selection import EVERYTHING, Selection, near_miss

#: The version of the shipped suites: major for the format, minor for coverage, patch for a mended case.
SUITE_VERSION = "1.2.0"

_BATCH = 64
#: How many batches wait for a worker, so that the memory used does not depend on the number of cases.
_WAITING = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """How a suite is generated."""

    seed: int = 0
    dialects: tuple[str, ...] = DEFAULT
    blind: bool = False
    jobs: int = 1
    selection: Selection = EVERYTHING
    limits: Limits = LIMITS

    @property
    def recipe(self) -> Recipe:
        """What decides a case's bytes besides its draft."""
        return Recipe(seed=self.seed, dialects=self.dialects, blind=self.blind)


@dataclass(frozen=True, kw_only=True, slots=True)
class Generated:
    """What came of a generation.

    Attributes:
        out: The suite.
        header: Its `suite.json`.
        taken: How many of its cases were there already.
        repeated: A sentence for each two groups that expand to the same case.
    """

    out: Path
    header: Header
    taken: int
    repeated: tuple[str, ...]


def generate(
    specs: Sequence[Spec], out: Path, options: Options, tell: Callable[[float, int], None] = lambda *_: None
) -> Generated:
    """Write the suite of some specs.

    Args:
        specs: The specs.
        out: A folder, or a file whose name ends in `.zip`. A suite that is there is replaced.
        options: How to generate.
        tell: Told now and then the share of the work that is done, of 1, and the cases so far.

    Raises:
        SpecMistakes: A spec cannot be expanded.
        SuiteError: The disk is full, or refuses.
        UsageError: Nothing is selected, or something else stands at `out`.
    """
    if out.name in ("", ".."):
        raise UsageError(f"--out {str(out)!r} names no folder of its own. Name one, such as --out suite.")
    with contextlib.ExitStack() as held:
        try:
            out.absolute().parent.mkdir(parents=True, exist_ok=True)
            work = held.enter_context(work_folder(out))
        except OSError as fault:
            raise UsageError(f"{out} cannot be written: {fault.strerror}. Name another --out.") from fault
        expansion = _Expansion(_groups(specs, options.selection), options, tell)
        leftovers = prepare(work)
        held.enter_context(forgetting(leftovers))
        writer = _Writer(leftovers=leftovers, recipe=options.recipe)
        written, taken = 0, 0
        with manifest_file(work) as manifest:
            for done in _written(expansion, writer, options.jobs, work.workers):
                manifest.add(done.id, done.line, accepted=done.accepted)
                taken += done.taken
                written += done.size
                if written > options.limits.bytes:
                    over = f"more than {options.limits.bytes:,} bytes, the limit"
                    raise UsageError(f"The suite takes {over}; raise it with --max-bytes.")
            digest = manifest.finish()
        header = header_of(specs, options, counts=manifest.counts, digest=digest)
        finish(work, header, resumed=leftovers.resumed)
    return Generated(out=out, header=header, taken=taken, repeated=tuple(expansion.repeated))


def evaluated_entries(specs: Sequence[Spec], options: Options) -> Iterator[Entry]:
    """The lines of the manifest that a generation would write, in any order. Nothing is written.

    Raises:
        SpecMistakes: A spec cannot be expanded.
        UsageError: Nothing is selected.
    """
    for each in _Expansion(_groups(specs, options.selection), options, lambda *_: None):
        yield case_files(each, options.recipe).entry


def _groups(specs: Sequence[Spec], selection: Selection) -> list[Group]:
    """The wanted groups, in an order that does not depend on the files."""
    known = sorted({each.profile for spec in specs for each in spec.groups})
    selection.of(known, "in the specs")
    groups = [each for spec in specs for each in spec.groups if selection.wants_profile(each.profile)]
    if not groups:
        raise UsageError(f"Every group is of a profile that has to be named: --profile {' --profile '.join(known)}.")
    return sorted(groups, key=lambda each: f"{each.op}/{each.id}/")


class _Expansion:
    """The wanted cases of all groups, in the order of the specs."""

    def __init__(self, groups: Sequence[Group], options: Options, tell: Callable[[float, int], None]) -> None:
        self._groups = groups
        self._options = options
        self._tell = tell
        self._first: dict[str, int] = {}
        self._bytes = 0
        self._free = free_memory()
        self.repeated: list[str] = []

    def is_large(self, expanded: Expanded) -> bool:
        """Whether a case needs more memory than one of several processes may take."""
        return memory_bytes(expanded.draft) * self._options.jobs > self._free

    def __iter__(self) -> Iterator[Expanded]:
        sizes = [_size_of(each) for each in self._groups]
        whole, count = sum(sizes), 0
        mistakes: list[Mistake] = []
        for number, group in enumerate(self._groups):
            try:
                for position, each in enumerate(self._selected(group)):
                    if mistakes:
                        continue
                    self._note(each, number)
                    self._check_size(each)
                    yield each
                    count += 1
                    if count % _BATCH == 0:
                        done = sum(sizes[:number]) + min(sizes[number], position)
                        self._tell(done / whole, count)
            except SpecMistakes as fault:
                mistakes.extend(fault.mistakes)
                if len(mistakes) > ENOUGH:
                    break
        if mistakes:
            raise SpecMistakes(mistakes)
        if not count:
            patterns = self._options.selection.patterns
            requirements = [name for each in self._groups for name in each.requirements]
            hint = near_miss(patterns, [f"{each.op}/{each.id}" for each in self._groups], requirements)
            raise UsageError(f"No case matches {' '.join(patterns)}.{hint}")
        self._tell(1.0, count)

    def _selected(self, group: Group) -> Iterator[Expanded]:
        selection = self._options.selection
        cases = expand(group, seed=self._options.seed, limits=self._options.limits)
        if not selection.patterns:
            yield from cases
            return
        every = list(cases)
        wanted = {
            each.digits: each.draft.twin
            for each in every
            if selection.wants(id_of(each.draft, each.digits), each.draft.requirements)
        }
        yield from (each for each in every if each.digits in wanted or each.digits in wanted.values())

    def _check_size(self, expanded: Expanded) -> None:
        """Refuse a case that is too large, before anything of it is allocated."""
        draft, limit = expanded.draft, self._options.limits.bytes
        self._bytes += file_bytes(draft)
        if self._bytes > limit:
            least = f"the suite takes {self._bytes:,} bytes or more, over the limit of {limit:,}"
            raise UsageError(f"{draft.where}: with group {draft.group!r} {least}; raise it with --max-bytes.")
        needed = memory_bytes(draft)
        if needed > self._free:
            sizes = f"needs {shown_bytes(needed)} of memory; {shown_bytes(self._free)} are free"
            raise UsageError(f"{draft.where}: a case of group {draft.group!r} {sizes}.")

    def _note(self, expanded: Expanded, number: int) -> None:
        if expanded.draft.is_twin:
            return
        first = self._first.setdefault(expanded.digits, number)
        if first != number:
            one, other = self._groups[first], self._groups[number]
            sentence = f"{other.place}: group {other.id!r} expands to the same case as group {one.id!r} at {one.place}"
            self.repeated.append(f"{sentence}: {id_of(expanded.draft, expanded.digits)}.")


def _size_of(group: Group) -> int:
    lists = [len(each) if isinstance(each, list) else 10 for each in group.matrix.values()]
    return prod(lists) * (group.sample.count if group.sample else 1)


@dataclass(frozen=True, kw_only=True)
class _Done:
    """A case whose folder is there, with its line of the manifest."""

    id: str
    line: bytes
    accepted: bool
    taken: bool
    size: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Writer:
    """What turns drafts into folders; the same in every process."""

    leftovers: Leftovers
    recipe: Recipe

    def write(self, expanded: Expanded) -> _Done:
        files = case_files(expanded, self.recipe)
        taken = self.leftovers.keep(files)
        if not taken:
            write_case(self.leftovers.partial, files)
        entry, size = files.entry, sum(len(each) for each in files.contents.values())
        line = entry_line(entry).encode()
        return _Done(id=entry.id, line=line, accepted=entry.expect == "accept", taken=taken, size=size)


def _written(expansion: _Expansion, writer: _Writer, jobs: int, workers: Path) -> Iterator[_Done]:
    if jobs == 1:
        yield from map(writer.write, expansion)
        return
    pool = ProcessPoolExecutor(jobs, _context(), _start_worker, (writer, workers))
    waiting: deque[Future[list[_Done]]] = deque()
    cases = iter(expansion)
    try:
        while batch := list(islice(cases, _BATCH)):
            large = [each for each in batch if expansion.is_large(each)]
            small = [each for each in batch if each not in large] if large else batch
            with _uninterrupted():
                waiting.append(pool.submit(_write_batch, small))
            while len(waiting) > (0 if large else jobs * _WAITING):
                yield from waiting.popleft().result()
            yield from map(writer.write, large)
        while waiting:
            yield from waiting.popleft().result()
    except BrokenProcessPool as fault:
        raise SuiteError("A worker process was killed. Run the same command again: what is written is kept.") from fault
    finally:
        pool.shutdown(cancel_futures=True)


def _context() -> BaseContext:
    """How workers are started: from one clean process that has imported what they need, where there is such a thing."""
    if "forkserver" not in get_all_start_methods():
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Put Ctrl-C off until this is done; processes that are started meanwhile leave it to this one for good.

    Blocking the signal is for them, who inherit that. Here a thread of numpy's may take it all the same.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # when it is started later, it lets signals through again
    with put_off():
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)


_WRITERS: list[_Writer] = []


def _start_worker(writer: _Writer, lock: Path) -> None:
    share(lock)
    _WRITERS.append(writer)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _write_batch(batch: Sequence[Expanded]) -> list[_Done]:
    return [_WRITERS[0].write(each) for each in batch]


#: What decides a suite's bytes beside the specs: the modules in these folders, and those beside them.
RECIPE_PACKAGES = ("dialects", "generation", "model", "operations", "specs", "suite", "tensors")


@cache
def recipe_digest(recipe: Recipe) -> str:
    """The digest of what decides a suite's bytes beside its specs: modules, templates of models, and the recipe."""
    digest = hashlib.sha256(repr(recipe).encode())
    package, templates = Path(__file__).parents[1], Path(str(root() / "templates"))
    modules = [*package.glob("*.py"), *(each for name in RECIPE_PACKAGES for each in (package / name).glob("*.py"))]
    models = [each for name in DIALECTS for each in (templates / name).glob("*.j2")]
    for folder, files in ((package, modules), (templates, models)):
        for file in sorted(files):
            digest.update(file.relative_to(folder).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def header_of(specs: Sequence[Spec], options: Options, *, counts: Mapping[str, int], digest: str) -> Header:
    """`suite.json` of the suite of some specs; `counts` and `digest` are those of its manifest."""
    operations = sorted({each.op for each in specs})
    return Header(
        version=SUITE_VERSION,
        generator=__version__,
        recipe=recipe_digest(options.recipe),
        seed=options.seed,
        blind=options.blind,
        select=options.selection.patterns,
        dialects={name: DIALECTS[name].model for name in options.dialects},
        specs={_spec_name(each): each.digest for each in sorted(specs, key=lambda each: (each.op, each.file))},
        specification={op: tuple(page.revision for page in requirements_of(op).pages) for op in operations},
        requirements={
            op: {
                each.id: RequirementNote(level=each.level, text=each.text) for each in requirements_of(op).requirements
            }
            for op in operations
        },
        establishes={op: {**requirements_of(op).establishes, "bits": (OPERATIONS[op].bits,)} for op in operations},
        counts=counts,
        digest=digest,
    )


def _spec_name(spec: Spec) -> str:
    """A spec's name in a suite: without the folders, which are another machine's business."""
    return f"{spec.op}/{Path(spec.file).name}"
