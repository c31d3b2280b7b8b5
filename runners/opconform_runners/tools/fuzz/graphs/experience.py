"""What a search learns about the operations of graphs, so that it draws graphs of what a backend executes."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

#: An operation, and its element type or its sample.
_Facet = tuple[str, str]


class Recipe(NamedTuple):
    """What a node is made of: a sample of its operation, by its number, with data of some type."""

    op: str
    sample: int
    element_type: str

    @property
    def facets(self) -> tuple[_Facet, ...]:
        """What can be to blame: the operation, or the operation with this type or of this sample."""
        return (self.op, ""), (self.op, self.element_type), (self.op, str(self.sample))


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
    _passes: Counter[_Facet] = field(default_factory=Counter)
    _troubles: defaultdict[_Facet, float] = field(default_factory=lambda: defaultdict(float))

    def trust(self, recipe: Recipe) -> float:
        """The probability with which a recipe is worth a node: it falls with graphs that show nothing because of it."""
        return min(map(self._trust, recipe.facets)) ** 2

    def _trust(self, facet: _Facet) -> float:
        good = 1 + self._passes[facet]
        return good / (good + 2 * self._troubles[facet])

    def learn(self, recipes: Sequence[Recipe], lesson: Lesson) -> None:
        """Take the verdict on a graph with nodes of some recipes into account.

        A graph that is not supported, or of which a node fails alone, shows nothing about graphs; what no graph passed
        with is to blame.
        """
        if lesson.verdict == "pass":
            self._passes.update(facet for recipe in recipes for facet in recipe.facets)
        elif lesson.verdict != "fail":
            named = [recipe for recipe in recipes if recipe.op in lesson.failing] or recipes
            new = [x for x in named if not all(self._passes[facet] for facet in x.facets)]
            for recipe in new or named:
                unknown = [facet for facet in recipe.facets if not self._passes[facet]] or recipe.facets[1:]
                for facet in unknown:
                    self._troubles[facet] += 1 / len(new or named)
