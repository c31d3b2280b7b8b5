"""The stream of trials of one operation: a random walk over its valid cases, and the violations beside it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from random import Random

from opconform.generation.expansion import sample_drafts
from opconform.model.draft import Draft, TensorDraft
from opconform.operations.operation import Operation
from opconform.specs.loader import shipped_operations
from opconform.suite.case import Attribute
from opconform_runners.tools.fuzz.cases.changes import changed
from opconform_runners.tools.fuzz.cases.values import WIDE, drawn_attribute, drawn_tensor, likely
from opconform_runners.tools.fuzz.delivery import FILLS
from opconform_runners.tools.fuzz.trial import Trial, decided, drawn, trial_of

#: How many valid cases the walk can continue from, and how many of them are the first ones.
_POOL = 400
_SEEDS = 12
#: How many draws are tried before an operation is given up: every one of them was invalid.
PATIENCE = 200_000
#: How many draws are tried for the first cases of an operation that has samples.
_DRAWS = 1_000
#: The most changes between a case and the next one.
_STEPS = 5
#: How many changes are tried to violate a requirement.
_TRIES = 6


class Draws:
    """The trials of an operation, each drawn once."""

    def __init__(self, operation: Operation, seed: int) -> None:
        self._operation, self._random = operation, Random(f"{operation.name} {seed}")  # noqa: S311 - not for secrets
        self._pool: list[Draft] = []
        self._violations = Counter[str]()
        self._drawn: set[str] = set()

    def __iter__(self) -> Iterator[Trial]:
        """New trials without end; valid cases and violations alternate as far as there are any."""
        self._pool = self._seeds()
        in_vain = 0
        while self._pool and in_vain < PATIENCE:
            in_vain += 1
            for trial in self._walk():
                if trial.draft.digits not in self._drawn:
                    self._drawn.add(trial.draft.digits)
                    in_vain = 0
                    yield trial

    def _seeds(self) -> list[Draft]:
        """The first valid cases, drawn from the declaration alone, or the shipped samples where few draws are valid."""
        drafts: dict[str, Draft] = {}
        is_shipped = self._operation.name in shipped_operations()
        for _ in range(_DRAWS if is_shipped else PATIENCE):
            draft = decided(self._first())
            if draft is not None and draft.rejected_for is None:
                drafts[draft.digits] = draft
                if len(drafts) == _SEEDS:
                    return [*drafts.values()]
        samples = sample_drafts(self._operation.name) if is_shipped else []
        alone = (decided(drawn(self._operation, x.tensors, x.attributes)) for x in samples)
        return [*drafts.values(), *(draft for draft in alone if draft is not None)]

    def _first(self) -> Draft:
        random = self._random
        draft = drawn(self._operation, {})
        tensors: dict[str, TensorDraft] = {}
        attributes: dict[str, Attribute] = {}
        for port in self._operation.inputs:
            if port.optional and likely(random, 0.7):
                continue
            for name in port.names(random.randrange(1, 4)):
                tensors[name] = drawn_tensor(port, tensors, random)
        for attribute in self._operation.attributes:
            if attribute.default is None:
                attributes[attribute.name] = drawn_attribute(attribute, None, draft, random)
        if likely(random, 0.4):
            wide, fill = random.choice(WIDE), random.choice(FILLS)
            filled = {name: tensor for name, tensor in tensors.items() if tensor.fill != "values"}
            tensors |= {name: replace(x, element_type=wide, fill=fill) for name, x in filled.items()}
        return drawn(self._operation, tensors, attributes)

    def _walk(self) -> Iterator[Trial]:
        """Some changes to a known valid case: the valid case that they lead to, and a violation beside it."""
        random, start = self._random, self._random.choice(self._pool)
        draft = start
        for _ in range(random.randrange(_STEPS)):
            following = self._changed(draft)
            if following is not None and following.rejected_for is None:
                draft = following
        for _ in range(_TRIES):
            beside = self._changed(draft)
            if beside is not None and beside.rejected_for is not None and self._is_wanted(beside.rejected_for):
                yield trial_of(beside, draft)
                break
        if draft is not start:
            self._keep(draft)
            yield Trial(draft=draft)

    def _changed(self, draft: Draft) -> Draft | None:
        made = changed(draft, self._random)
        return None if made is None else decided(made)

    def _is_wanted(self, requirement: str) -> bool:
        """Whether a violation is wanted; one that is drawn often is wanted less."""
        mean = self._violations.total() / (len(self._violations) or 1)
        is_wanted = self._random.random() < (mean + 1) / (self._violations[requirement] + 1)
        self._violations[requirement] += is_wanted
        return is_wanted

    def _keep(self, draft: Draft) -> None:
        if len(self._pool) < _POOL:
            self._pool.append(draft)
        else:
            self._pool[self._random.randrange(_SEEDS, _POOL)] = draft
