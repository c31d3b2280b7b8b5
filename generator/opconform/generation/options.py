"""The options of a generation."""

from dataclasses import dataclass

from opconform.suite.selection.selection import EVERYTHING, Selection
from opconform.system.resources import DEFAULT_DIALECTS
from opconform.system.tasks import Workers


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """The largest sizes that a generation may reach; each is checked before anything is allocated."""

    cases: int = 100_000
    elements: int = 1 << 24
    bytes: int = 16 << 30


LIMITS = Limits()
#: The limits for a single case, which may be one of the profile `large`.
ONE_CASE = Limits(elements=1 << 31)


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """How a suite is generated.

    `seed`, `dialects` and `blind` decide the bytes of a case. `jobs` is the number of processes, unless an `executor`
    evaluates and renders the cases on other machines. It is an error if no case has a model in a `required` dialect.
    """

    seed: int = 0
    dialects: tuple[str, ...] = DEFAULT_DIALECTS
    required: tuple[str, ...] = ()
    blind: bool = False
    jobs: int = 1
    selection: Selection = EVERYTHING
    limits: Limits = LIMITS
    executor: Workers | None = None
