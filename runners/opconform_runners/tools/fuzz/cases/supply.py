"""The supply of trials: while a batch is executed, a process of its own draws and writes the next one."""

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count, islice
from pathlib import Path

from opconform.generation.options import Options
from opconform.generation.output.workers import GenerationWorker, received, started
from opconform.generation.pipeline import write_suite
from opconform.operations import OPERATIONS
from opconform.specs.group import Spec
from opconform_runners.tools.fuzz.cases.draws import Draws
from opconform_runners.tools.fuzz.graphs.draws import GraphDraws
from opconform_runners.tools.fuzz.graphs.experience import Lesson, Lessons
from opconform_runners.tools.fuzz.trial import Trial, is_defined

#: The trials of the first batch, which is awaited, and of later ones, which may have twice as many each.
_FIRST, _BATCH = 6, 100
#: The most trials of an operation in a row: those that pass are executed in packs.
_IN_A_ROW = 16
#: The digest of a spec that does not exist.
_NO_DIGEST = "0" * 64


@dataclass(frozen=True, kw_only=True, slots=True)
class Batch:
    """Trials, and the folder of the suite that has their cases and twins."""

    trials: tuple[Trial, ...]
    folder: Path


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """Of what trials are drawn: of each of some operations, or of graphs of them; `lessons` are for the next batch."""

    operations: Sequence[str]
    graphs: bool = False
    lessons: dict[str, Lesson] = field(default_factory=dict)


def written(trials: Iterable[Trial], folder: Path, options: Options) -> Batch:
    """Write the suite of some trials in place of an earlier one."""
    trials = tuple(trials)
    twins = {trial.twin.id: trial.twin for trial in trials if trial.twin is not None}
    drafts = twins | {trial.draft.id: trial.draft for trial in trials}
    ops = sorted({draft.op for draft in drafts.values()})
    specs = [Spec(file="fuzz", digest=_NO_DIGEST, op=op, groups=()) for op in ops]
    shutil.rmtree(folder, ignore_errors=True)
    return Batch(trials=trials, folder=write_suite(drafts.values(), specs, folder, options).out)


@contextmanager
def supply(source: Source, seed: int, tests: float, folder: Path, options: Options) -> Iterator[Iterator[Batch]]:
    """Batches of new trials, until there are enough or none is left. A batch is replaced two batches later."""
    [worker] = started(partial(begin, source, seed, folder, options), 1)
    try:
        yield _batches(worker, source, tests, _ask(worker, source, min(tests, _FIRST)))
    finally:
        worker.process.terminate()
        worker.process.join()
        worker.pipe.close()


def _batches(worker: GenerationWorker, source: Source, remaining: float, size: int) -> Iterator[Batch]:
    """Batches; while one is executed, the next one is drawn. The caller has asked for the first one, of this size."""
    while size:
        remaining -= size
        size = _ask(worker, source, min(remaining, 2 * size))
        batch: Batch | None = received(worker)
        if batch is None:
            return
        yield batch


def _ask(worker: GenerationWorker, source: Source, remaining: float) -> int:
    """Ask for a batch, if any trials are left; returns its size."""
    size = int(min(_BATCH, remaining))
    if size:
        worker.pipe.send((size, {**source.lessons}))
        source.lessons.clear()
    return size


def mixed(streams: Iterable[Iterator[Trial]]) -> Iterator[Trial]:
    """The trials of several streams in turn, until all have ended: one of each, then two of each, and so on."""
    remaining, row = [*streams], 1
    while remaining:
        going = []
        for stream in remaining:
            trials = [*islice(stream, row)]
            yield from trials
            if len(trials) == row:
                going.append(stream)
        remaining, row = going, min(2 * row, _IN_A_ROW)


def begin(source: Source, seed: int, folder: Path, options: Options) -> Callable[[tuple[int, Lessons]], Batch | None]:
    """What draws and writes the next batch of some size, given what was learnt; None if nothing is left."""
    has_results = partial(is_defined, seed=options.seed)
    graphs = GraphDraws(source.operations, seed) if source.graphs else None
    draws = [Draws(OPERATIONS[name], seed) for name in source.operations] if graphs is None else [graphs]
    trials = mixed([filter(has_results, stream) for stream in draws])
    numbers = count()

    def draw(question: tuple[int, Lessons]) -> Batch | None:
        size, lessons = question
        if graphs is not None:
            graphs.learn(lessons)
        drawn = tuple(islice(trials, size))
        return written(drawn, folder / f"{next(numbers) % 2}", options) if drawn else None

    return draw
