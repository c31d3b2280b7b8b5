"""What a search learns about the operations of graphs, so that it draws graphs of what a backend executes."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class Recipe(NamedTuple):
    """What a node is made of: a sample of its operation, by its number, with data of some type."""

    op: str
    sample: int
    element_type: str


class Lesson(NamedTuple):
    """The verdict on a graph, and the operations that fail alone, if they are known."""

    verdict: str
    failing: tuple[str, ...] = ()


#: The verdicts on graphs, by the digits of their cases.
Lessons = Mapping[str, Lesson]


@dataclass(slots=True)
class Experience:
    """What is known so far.

    Attributes:
        rounding: The operations whose results were rounded.
    """

    rounding: set[str] = field(default_factory=set)
    _passes: Counter[Recipe] = field(default_factory=Counter)
    _troubles: defaultdict[Recipe, float] = field(default_factory=lambda: defaultdict(float))

    def trust(self, recipe: Recipe) -> float:
        """The probability with which a recipe is worth a node: it falls with graphs that show nothing because of it."""
        good = 1 + self._passes[recipe]
        return (good / (good + 2 * self._troubles[recipe])) ** 2

    def learn(self, recipes: Sequence[Recipe], lesson: Lesson) -> None:
        """Take the verdict on a graph with nodes of some recipes into account.

        A graph that is not supported, or of which a node fails alone, shows nothing about graphs; the recipes that no
        graph passed with are blamed.
        """
        if lesson.verdict == "pass":
            self._passes.update(recipes)
        elif lesson.failing or lesson.verdict != "fail":
            named = [recipe for recipe in recipes if recipe.op in lesson.failing]
            blamed = named or [recipe for recipe in recipes if not self._passes[recipe]] or recipes
            for recipe in blamed:
                self._troubles[recipe] += 1 / len(blamed)
