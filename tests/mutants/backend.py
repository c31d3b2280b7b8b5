"""The backend `tests/mutants/harness.py:Mutant:NAME`: one mutant, in this process or behind a harness."""

from collections.abc import Sequence

from opconform.suite.case import Case
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_runners.backends.backend import Implementation, Inputs, Outputs, Rejected, Unsupported
from opconform_runners.backends.numpy.backend import FUNCTIONS
from tests.mutants.catalogue import row_of
from tests.mutants.model import execution


class Mutant:
    """One implementation by its name, as in `axis/sign-lost`."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._execute = execution(row_of(name))

    def describe(self) -> Implementation:
        """What it is and can do: everything, and some of it wrongly."""
        return Implementation(
            name="mutant",
            version="1",
            device=self._name,
            element_types=tuple(ELEMENT_TYPES),
            operations=tuple(FUNCTIONS),
            dynamic=True,
            bindings=("constant", "parameter"),
            graphs=True,
        )

    def run(self, case: Case, model: object, feeds: Sequence[Inputs]) -> Sequence[Outputs]:  # noqa: ARG002 - no dialect
        """The outputs of each feed.

        Raises:
            Rejected: It refuses the case; as in most runtimes, an exception inside it is a refusal too.
        """
        try:
            return self._execute(case, feeds)
        except (Rejected, Unsupported):
            raise
        except Exception as error:
            raise Rejected("run", f"{type(error).__name__}: {error}") from error
