"""The named accuracy levels of operations that round."""

from typing import Literal

from opconform.suite.case import Accept, Case

#: The levels of right outputs: the exact result rounded once, or a number within the bounds.
AccuracyLevel = Literal["correctly-rounded", "bounded"]
#: The level of an operation in all its cases: right results, less accurate ones, or none.
MetLevel = AccuracyLevel | Literal["reduced", "none"]
#: The levels, the most accurate first.
MET_LEVELS: tuple[MetLevel, ...] = ("correctly-rounded", "bounded", "reduced", "none")
#: The level below which a rounded result counts as a failure, and not as a deviation from an interpretation.
LeastAccuracy = Literal["reduced", "bounded"]
LEAST_ACCURACIES: tuple[LeastAccuracy, ...] = ("reduced", "bounded")


def level_of(error: float) -> AccuracyLevel:
    """The accuracy level of right outputs, given the largest error divided by its bound."""
    return "bounded" if error else "correctly-rounded"


def rounded_type(case: Case) -> str | None:
    """The element type of the outputs of a valid case that may be rounded; None if there are none."""
    outputs = case.expect.accept if isinstance(case.expect, Accept) else ()
    return next((output.element_type for output in outputs if output.comparison != "bits"), None)
