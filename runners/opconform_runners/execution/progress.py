"""The progress of a run, and of the stages that follow the first execution of its cases."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol, TypeVar

from opconform.errors import counted
from opconform_runners.execution.log.logged_outcome import Attempt

_Item = TypeVar("_Item")
#: What is executed in the stage of an attempt, one and several.
_EXECUTED: Mapping[Attempt, tuple[str, str, str]] = MappingProxyType(
    {
        "again": ("failing case", "failing cases", " again"),
        "alone": ("case", "cases", " alone"),
        "neighbour-check": ("neighbour check", "neighbour checks", ""),
    }
)


class OnProgress(Protocol):
    """Called periodically with the completed fraction (0 to 1) and the number of completed cases.

    They count the whole work, or a stage of it that has a title.
    """

    def __call__(self, fraction: float, done: int, stage: str = "", /) -> None:
        """Note the progress."""


@dataclass(slots=True)
class Stage:
    """A stage of a number of cases, which is announced before the first one is done."""

    on_progress: OnProgress
    title: str
    total: int
    done: int = 0

    def __post_init__(self) -> None:
        self.on_progress(0.0, 0, self.title)

    def step(self) -> None:
        """Note that one more case is done."""
        self.done += 1
        self.on_progress(self.done / self.total, self.done, self.title)


def repeated_stage(on_progress: OnProgress, attempt: Attempt, cases: int) -> Stage:
    """The stage in which failures are executed once more."""
    one, several, how = _EXECUTED[attempt]
    return Stage(on_progress, f"Executing {counted(cases, one, several)}{how}", cases)


def staged(items: Collection[_Item], on_progress: OnProgress, title: str) -> Iterator[_Item]:
    """The items one after another, as a stage."""
    stage = Stage(on_progress, title, len(items))
    for item in items:
        yield item
        stage.step()
