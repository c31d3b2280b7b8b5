"""The search for data and samples with which two operations form the graph of a pattern."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice, permutations, product
from typing import Any

from opconform.generation.pairs.elements import data_of
from opconform.generation.pairs.evaluation import Sources, Step, exact_results, has_exact_results, results
from opconform.generation.pairs.templates import Use, data_places, shapes_of, takes_type, uses_of
from opconform.model.golden import prove_nothing
from opconform.operations.arguments import NoGolden, Rejection, TensorType, Unknown
from opconform.specs.schema.graph import Pattern
from opconform.suite.case import Shape

#: Why operations cannot be paired, from the least to the most that fits.
NO_TYPE = "no common element type"
NO_DATA = "no input of data"
ONE_INPUT = "one input of data"
NO_SHAPE = "no shape fits"
NO_ARGUMENTS = "no other arguments"
ROUNDED = "rounded elements"
OPEN_SHAPE = "computed elements decide a shape"
REASONS = (NO_TYPE, NO_DATA, ONE_INPUT, NO_SHAPE, NO_ARGUMENTS, ROUNDED, OPEN_SHAPE)
#: How many graphs of a pair are evaluated in search of one whose results are right, and of one where they are exact.
_TRIED, _BETTER = 24, 6
#: How many shapes of the data are tried, if two tensors meet in an operation, and otherwise.
_FEW_SHAPES, _SHAPES = 16, 120
#: How many shapes of the samples, the most common ones, take turns.
_COMMON = 3
#: The most dimensions of shapes that are reordered.
_REORDERED = 4
#: How many shapes are tried while the types do not fit.
_TYPED = 6
#: A type that every operation has that computes with other numbers than f32.
_OTHER_TYPE = "i32"


@dataclass(frozen=True, slots=True)
class Paired:
    """Two operations on some data, given by the keys of its tensor."""

    data: Mapping[str, Any]
    steps: tuple[Step, ...]


class Search:
    """The search for data on which two operations fit: how far it came, and whether its results are exact."""

    def __init__(
        self, pattern: Pattern, ops: tuple[str, str], element_type: str, *, number: int, last: str | None
    ) -> None:
        """Begin a search on data of a type; the number of the pair decides the order in which shapes are tried."""
        self._pattern, self._ops, self._type, self._last = pattern, ops, element_type, last
        self._number, self._tried = number, 0
        self.reason, self.is_exact = NO_TYPE, False

    def found(self) -> Paired | None:
        """The first graph whose results are exact, or else the first in which operations compute with exact data."""
        best: Paired | None = None
        for number, shape in enumerate(self._shapes()):
            for steps in self._fitting(TensorType(element_type=self._type, shape=shape)):
                self._note(ROUNDED)
                for data, varied in product(data_of(self._type, shape), _varied(steps)):
                    self._tried += 1
                    best = self._evaluated(data, varied, best)
                    is_known = self._tried == 1 and self._is_bounded(steps)
                    if self.is_exact or is_known or self._tried > (_TRIED if best is None else _BETTER):
                        return best
                for data in data_of(self._type, shape, alike=True) if best is None else ():
                    best = self._evaluated(data, steps, best)
            if self.reason == NO_TYPE and number > _TYPED:
                return None
        return best

    def _is_bounded(self, steps: tuple[Step, ...]) -> bool:
        """Whether one of the operations has bounds for any data."""
        return not all(has_exact_results(*_alone(step.use, self._type)) for step in steps)

    def _note(self, reason: str) -> None:
        self.reason = max(self.reason, reason, key=REASONS.index)

    def _evaluated(self, data: Mapping[str, Any], steps: tuple[Step, ...], best: Paired | None) -> Paired | None:
        """The graph if its results are exact, or are right and the first such; `is_exact` says which."""
        try:
            outputs = results(steps, data)
        except (NoGolden, Rejection, Unknown):
            return best
        exact = exact_results(steps, data, outputs)
        self.is_exact = all(exact)
        is_right = all(
            exact[source] or outputs[source].spans is not None
            for step in steps
            if step.use.template.operation.can_calculate
            for source in step.sources
            if source != "data"
        )
        is_right = is_right and not any(prove_nothing([output]) for output in outputs)
        return Paired(data, steps) if self.is_exact or (is_right and best is None) else best

    def _shapes(self) -> Iterator[Shape]:
        """Shapes of data: those of the samples of both operations, then others whose results may fit."""
        first, second = self._ops
        every = shapes_of(first, data_places(first)[0])
        own, turn = every[:_COMMON], self._number % (len(every[:_COMMON]) or 1)
        taken = [shape for place in data_places(second) for shape in shapes_of(second, place)]
        others = (other for shape in taken for other in _near(shape))
        most = _FEW_SHAPES if self._pattern == "residual" or self._last is not None else _SHAPES
        return islice(dict.fromkeys((*own[turn:], *own[:turn], *taken, *every, *others)), most)

    def _fitting(self, data: TensorType) -> Iterator[tuple[Step, ...]]:
        """The graphs of the pattern in which the operations accept data of a type."""
        first, second = self._ops
        place = data_places(first)[0]
        for use in uses_of(first, (place,), (data,)):
            step, made = Step(use, ("data",)), use.types[0]
            if self._pattern == "beside":
                yield from ((step, Step(x, ("data",))) for x in self._uses(second, data))
            elif self._pattern == "residual":
                yield from ((step, x) for x in self._joining(second, (data, made), ("data", 0)))
            else:
                for other in self._uses(second, made):
                    behind = Step(other, (0,))
                    if self._pattern == "twice" and not _differ(use, other):
                        self._note(NO_ARGUMENTS)
                    elif self._pattern == "behind" and first == second and _differ(use, other):
                        continue  # a graph of the pattern `twice`
                    elif self._last is None:
                        yield step, behind
                    else:
                        joining = self._joining(self._last, (made, other.types[0]), (0, 1))
                        yield from ((step, behind, x) for x in joining)

    def _uses(self, op: str, data: TensorType) -> Iterator[Use]:
        """The uses of an operation on data, beginning with a place that the number of the pair chooses."""
        places = data_places(op)
        turn = self._number % len(places)
        for place in (*places[turn:], *places[:turn]):
            if takes_type(op, place, data.element_type):
                self._note(NO_SHAPE)
                yield from uses_of(op, (place,), (data,))

    def _joining(self, op: str, data: tuple[TensorType, TensorType], sources: Sources) -> Iterator[Step]:
        """The uses of an operation on two tensors, in either order."""
        order = (1, -1) if self._number % 2 else (-1, 1)
        places = data_places(op)[:2]
        if len(places) == len(data) and all(map(takes_type, (op, op), places, (x.element_type for x in data))):
            self._note(NO_SHAPE)
            for step in order:
                yield from (Step(use, sources[::step]) for use in uses_of(op, places, data[::step]))


def _alone(use: Use, element_type: str) -> tuple[Use, str, Shape]:
    """The first use of an operation on data of its samples, and the type and the shape of these."""
    place = data_places(use.op)[0]
    kind = element_type if takes_type(use.op, place, element_type) else _OTHER_TYPE
    for shape in shapes_of(use.op, place):
        for alone in uses_of(use.op, (place,), (TensorType(element_type=kind, shape=shape),)):
            return alone, kind, shape
    return use, element_type, use.types[0].shape


def _differ(first: Use, second: Use) -> bool:
    """Whether two uses of an operation have different attributes or weights."""
    return first.template.attributes != second.template.attributes or first.weights != second.weights


def _varied(steps: tuple[Step, ...]) -> list[tuple[Step, ...]]:
    """Steps with their weights, and with powers of two as weights."""
    powers = tuple(replace(step, use=step.use.with_powers) for step in steps)
    return [steps] if all(x.use is y.use for x, y in zip(steps, powers, strict=True)) else [steps, powers]


def _near(shape: Shape) -> Iterator[Shape]:
    """Shapes from which operations may make a shape: other orders, with and without a dimension, and other sizes."""
    if len(shape) <= _REORDERED:
        yield from permutations(shape)
    for axis in range(len(shape) + 1):
        for size in (2, 1):
            yield (*shape[:axis], size, *shape[axis:])
    for axis, size in enumerate(shape):
        yield (*shape[:axis], *shape[axis + 1 :])
        for other in (2 * size, size // 2, size - 1, size + 1, size - 2, size + 2):
            if other > 0:
                yield (*shape[:axis], other, *shape[axis + 1 :])
