"""The backend `mutant`: an implementation of the catalogue, named as a device is: `mutant:axis/sign-lost`."""

from collections.abc import Sequence
from dataclasses import replace

from opconform.case import Case
from opconform.errors import UsageError
from opconform_runners.backend import Backend, Implementation, Inputs, Outputs, PlacedOutputs, Rejected, Unsupported
from opconform_runners.mutants.catalogue import mutants
from opconform_runners.mutants.variants import VARIANTS


class Mutant:
    """One implementation of the catalogue; a right one by default."""

    def __init__(self, name: str = "right/kernel") -> None:
        self._name = name
        self._implementation: Backend = implementation(name)

    def describe(self) -> Implementation:
        """What it is and can do: everything, and some of it wrongly."""
        return replace(self._implementation.describe(), name="mutant", device=self._name)

    def run(self, case: Case, model: object, feeds: Sequence[Inputs]) -> Sequence[Outputs] | PlacedOutputs:  # noqa: ARG002 - no dialect
        """The outputs of each feed.

        Raises:
            Rejected: It refuses the case; what goes wrong inside it is a refusal too, as in most runtimes.
        """
        try:
            return self._implementation.run(case, None, feeds)
        except (Rejected, Unsupported):
            raise
        except Exception as fault:
            raise Rejected("run", f"{type(fault).__name__}: {fault}") from fault


def implementation(name: str) -> Backend:
    """An implementation of the catalogue.

    Raises:
        UsageError: There is none of this name.
    """
    if name in VARIANTS:
        return VARIANTS[name]()
    if name not in mutants():
        raise UsageError(f"There is no mutant {name!r}. `opconform mutants --list` lists them.")
    return mutants()[name].kernel()
