"""How accurate the results of operations that round are."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from opconform.errors import counted
from opconform_runners.verdicts.accuracy_level import LEAST_ACCURACIES, MET_LEVELS, LeastAccuracy, MetLevel, level_of
from opconform_runners.verdicts.results import Result
from opconform_runners.verdicts.tally import Tally

#: The most operations that are named for a level.
_NAMED = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Accuracy:
    """The accuracy level that an operation meets in all its cases of an element type, or none.

    Attributes:
        error: The largest error of a passing case divided by its bound; None if it is not known.
    """

    level: MetLevel
    error: float | None = None


#: By operation and element type of the rounded outputs.
Accuracies = Mapping[str, Mapping[str, Accuracy]]


def accuracy_of(results: Sequence[Result], tallies: Iterable[Tally]) -> Accuracies:
    """The accuracy of each operation that has rounded results, in each element type of these results.

    An operation with a wrong number in its outputs meets no level.
    """
    errors: dict[tuple[str, str], list[float]] = defaultdict(list)
    levels: dict[tuple[str, str], set[MetLevel]] = defaultdict(set)
    for result in results:
        if result.rounded is None:
            continue
        if result.verdict == "pass" and result.error is not None:
            levels[result.op, result.rounded].add(level_of(result.error))
            errors[result.op, result.rounded].append(result.error)
        elif (reason := _reason_of(result)) == "value":
            levels[result.op, result.rounded].add("none")
        elif reason in ("rounding", "accuracy"):
            is_right = reason == "accuracy" and result.mismatch is None
            levels[result.op, result.rounded].add("bounded" if is_right else "reduced")
    for kind in (tally.kind for tally in tallies):
        if kind.accuracy is not None and kind.rounded is not None:
            levels[kind.op, kind.rounded].add(kind.accuracy)
    found: dict[str, dict[str, Accuracy]] = defaultdict(dict)
    for op, name in sorted(levels):
        level = max(levels[op, name], key=MET_LEVELS.index)
        found[op][name] = Accuracy(level=level, error=max(errors[op, name], default=None))
    return dict(found)


def _reason_of(result: Result) -> str | None:
    """The reason of a failure; of a nondeterministic one, the reason of the execution that failed."""
    if result.reason == "nondeterministic" and result.mismatch is not None:
        return result.mismatch.reason
    return result.reason


def accuracy_sentences(accuracies: Accuracies, least: LeastAccuracy) -> Iterator[str]:
    """Which operations meet which level, one sentence per level, and which was asked for."""
    if least != LEAST_ACCURACIES[0]:
        yield f"Accuracy level {least} asked for"
    for level in MET_LEVELS:
        names = [_named(op, accuracies[op], level) for op in accuracies if level in _levels(accuracies[op])]
        if names:
            what = "No accuracy level" if level == "none" else f"Accuracy level {level}"
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            yield f"{what} met by {counted(len(names), 'operation')}: {', '.join(names[:_NAMED])}{more}"


def _levels(accuracies: Mapping[str, Accuracy]) -> set[MetLevel]:
    return {accuracy.level for accuracy in accuracies.values()}


def _named(op: str, accuracies: Mapping[str, Accuracy], level: MetLevel) -> str:
    """An operation, with the element types that meet a level, if not all do, and the largest error of `bounded`."""
    met = {name: accuracy for name, accuracy in accuracies.items() if accuracy.level == level}
    errors = [accuracy.error for accuracy in met.values() if level == "bounded" and accuracy.error is not None]
    details = [*met] if len(met) < len(accuracies) else []
    if errors:
        details.append(f"{max(errors):.2g}")
    return f"{op} ({', '.join(details)})" if details else op


def flushed_sentence(cases: int) -> str:
    """What a backend declares that flushes denormal numbers to zero, given the cases that pass only so."""
    used = f"{counted(cases, 'case passes', 'cases pass')} only so" if cases else "no case needs it"
    return f"The backend declares that it flushes denormal numbers to zero; {used}"
