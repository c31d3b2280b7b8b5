"""The named accuracy levels of operations that round."""

from typing import Literal

#: The levels of right outputs: the exact result rounded once, or a number within the bounds.
AccuracyLevel = Literal["correctly-rounded", "bounded"]
#: The level below which a rounded result counts as a failure, and not as a deviation from an interpretation.
LeastAccuracy = Literal["reduced", "bounded"]
LEAST_ACCURACIES: tuple[LeastAccuracy, ...] = ("reduced", "bounded")


def level_of(error: float | None) -> AccuracyLevel | None:
    """The accuracy level of right outputs, given the largest error divided by its bound; None without bounds."""
    return None if error is None else "bounded" if error else "correctly-rounded"
