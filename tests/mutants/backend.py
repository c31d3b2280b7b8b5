"""The backend `tests/mutants/harness.py:Mutant:NAME`: one mutant or right variant, in this process or behind a harness."""

from collections.abc import Mapping, Sequence
from typing import Any

from opconform.errors import UsageError
from opconform.suite.case import Case
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_runners.backends.backend import Implementation, Inputs, Outputs, Rejected, Unsupported
from tests.mutants.catalogue import KERNELS, MUTANTS, RIGHT, hooks_of
from tests.mutants.right import VARIANTS, Execute
from tests.mutants.row import Call, Hooks

#: The right implementation that mutants change.
KERNEL = "right/kernel"


class Mutant:
    """One implementation by its name, as in `axis/sign-lost`."""

    def __init__(self, name: str = KERNEL) -> None:
        self._name = name
        self._execute = _execution(name)

    def describe(self) -> Implementation:
        """What it is and can do: everything, and some of it wrongly."""
        return Implementation(
            name="mutant",
            version="1",
            device=self._name,
            element_types=tuple(ELEMENT_TYPES),
            operations=tuple(KERNELS),
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
        except Exception as fault:
            raise Rejected("run", f"{type(fault).__name__}: {fault}") from fault


def names() -> list[str]:
    """The names of all implementations: the right variants, then the mutants."""
    return [KERNEL, *VARIANTS, *MUTANTS]


def _execution(name: str) -> Execute:
    if name in VARIANTS:
        return VARIANTS[name]
    if name == KERNEL:
        return _with(RIGHT, None)
    if name not in MUTANTS:
        raise UsageError(f"Unknown mutant {name!r}. `python -m tests.mutants --list` lists them.")
    return _with(hooks_of(MUTANTS[name]), MUTANTS[name].op)


def _with(hooks: Mapping[str, Hooks], op: str | None) -> Execute:
    """The execution of cases by these hooks; those of one operation change its own cases alone."""
    process: dict[str, Any] = {}

    def execute(case: Case, feeds: Sequence[Inputs]) -> list[Outputs]:
        model: dict[str, Any] = {}
        return [
            Call(
                case=case,
                given=given,
                feed=feed,
                op=case.op,
                inputs=given,
                attributes=case.attributes,
                hooks=hooks if op in (None, case.op) else RIGHT,
                originals=RIGHT,
                model=model,
                process=process,
            ).do("outputs")
            for feed, given in enumerate(feeds)
        ]

    return execute
