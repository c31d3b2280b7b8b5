"""How accurate the results of operations that round are."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from opconform.errors import counted
from opconform_runners.verdicts.accuracy_level import LEAST_ACCURACIES, AccuracyLevel, LeastAccuracy, level_of
from opconform_runners.verdicts.results import Result
from opconform_runners.verdicts.tally import Tally

#: The level of an operation in all its cases: that of right results, of less accurate ones, or none.
MetLevel = AccuracyLevel | Literal["reduced", "none"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Accuracy:
    """The accuracy level that an operation meets in all its cases, or none.

    Attributes:
        error: The largest error of a passing case divided by its bound; None if it is not known.
    """

    level: MetLevel
    error: float | None = None


def accuracy_of(results: Sequence[Result], tallies: Iterable[Tally]) -> dict[str, Accuracy]:
    """The accuracy of each operation that has rounded results, by its name.

    An operation with a wrong number in its outputs meets no level.
    """
    rounded = {result.op for result in results if result.reason == "rounding"}
    wrong = {result.op for result in results if result.reason == "value"}
    errors: dict[str, list[float]] = defaultdict(list)
    levels: dict[str, set[AccuracyLevel]] = defaultdict(set)
    for result in results:
        level = level_of(result.error)
        if result.verdict == "pass" and level is not None and result.error is not None:
            levels[result.op].add(level)
            errors[result.op].append(result.error)
    for kind in (tally.kind for tally in tallies):
        if kind.accuracy is not None:
            levels[kind.op].add(kind.accuracy)
    return {
        op: Accuracy(
            level="none" if op in wrong else "reduced" if op in rounded else min(levels[op], key=_WORST_FIRST.index),
            error=max(errors[op], default=None),
        )
        for op in sorted(levels.keys() | rounded)
    }


#: The levels, the least accurate first.
_WORST_FIRST: tuple[MetLevel, ...] = ("none", "reduced", "bounded", "correctly-rounded")


def accuracy_sentences(accuracy: Mapping[str, Accuracy], least: LeastAccuracy) -> Iterator[str]:
    """Which operations meet which level, one sentence per level, and which was asked for."""
    if least != LEAST_ACCURACIES[0]:
        yield f"Accuracy level {least} asked for"
    for level in reversed(_WORST_FIRST):
        names = [op for op, x in accuracy.items() if x.level == level]
        if names:
            what = "no accuracy level" if level == "none" else f"accuracy level {level}"
            listed = ", ".join(_named(op, accuracy[op]) for op in names)
            yield f"{what[0].upper()}{what[1:]} met by {counted(len(names), 'operation')}: {listed}"


def _named(op: str, accuracy: Accuracy) -> str:
    return op if accuracy.level != "bounded" or accuracy.error is None else f"{op} ({accuracy.error:.2g})"


def flushed_sentence(cases: int) -> str:
    """What a backend declares that flushes denormal numbers to zero, given the cases that pass only so."""
    used = f"{counted(cases, 'case passes', 'cases pass')} only so" if cases else "no case needs it"
    return f"The backend declares that it flushes denormal numbers to zero; {used}"
