"""Which cases may be packed."""

import math
from collections.abc import Container
from dataclasses import dataclass

from opconform.suite.case import Case, Input, Output
from opconform.suite.manifest import Entry, inputs_name
from opconform.suite.reader import Suite
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_runners.backends.backend import Implementation
from opconform_runners.execution.dialects import dialect_of, plain_dialect
from opconform_runners.execution.packs.pack import JOINS, Member
from opconform_runners.verdicts.judge import declared_gap

#: The most bytes of the inputs and outputs of a case in a pack.
_LARGE = 1 << 15


@dataclass(frozen=True, kw_only=True, slots=True)
class Eligibility:
    """Decides which cases of a suite may be packed for a backend.

    Attributes:
        unpacked: The ids of cases that are executed alone, whatever they are.
    """

    suite: Suite
    implementation: Implementation
    unpacked: Container[str] = frozenset()

    def member(self, entry: Entry) -> Member | None:
        """A valid case that may be packed, or None.

        Large cases are not packed, nor are run-time inputs without elements: some backends refuse them alone, and not
        beside others.
        """
        if entry.expect != "accept" or entry.id in self.unpacked:
            return None
        case = self.suite.case(entry)
        dialect, why = dialect_of(self.suite, entry, case, self.implementation)
        if (
            why is not None
            or (dialect is not None and plain_dialect(dialect) not in JOINS)
            or declared_gap(case, self.implementation) is not None
            or _is_large(case)
        ):
            return None
        return None if self._lacks_elements(entry, case) else Member(entry=entry, case=case, dialect=dialect)

    def _lacks_elements(self, entry: Entry, case: Case) -> bool:
        """Whether an input at run time has no elements in some feed; `case.json` has the shapes of the first one."""
        names = [x.name for x in case.inputs if x.binding == "parameter"]
        if any(0 in x.shape for x in case.inputs if x.name in names):
            return True
        later = (self.suite.stored_arrays(entry, inputs_name(feed)) for feed in range(1, case.feeds))
        return any(arrays[name].size == 0 for arrays in later for name in names if name in arrays)


def _is_large(case: Case) -> bool:
    tensors: tuple[Input | Output, ...] = (*case.inputs, *case.outputs)
    return sum(math.prod(x.shape) * ELEMENT_TYPES[x.element_type].storage.itemsize for x in tensors) > _LARGE
