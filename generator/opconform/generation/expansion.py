"""The expansion of a group: a checked draft for each combination of its variables."""

import sys
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from opconform.errors import quoted, quoted_text
from opconform.generation.identity.known_digits import KnownDigits
from opconform.generation.identity.tensor_keys import KnownTensors
from opconform.generation.options import LIMITS, Limits
from opconform.generation.pairs.derivation import pairs_of
from opconform.generation.validation import LeftOut, draft_of
from opconform.model.draft import Draft
from opconform.model.readings import attributed
from opconform.specs.diagnostics import mistakes_of
from opconform.specs.every.groups import neighbour, samples_of
from opconform.specs.every.sample import Samples
from opconform.specs.group import Group, Spec
from opconform.specs.loader import WrongSpecs, load_specs
from opconform.specs.matrix.combinations import Combination, combinations_of, failure, shown
from opconform.specs.matrix.draws import PATIENCE, PATIENCE_EACH, draws_of
from opconform.specs.matrix.expressions import ExpressionError, Meter, expression_of, is_expression
from opconform.specs.matrix.functions import Value
from opconform.specs.schema.graph import PairGroup
from opconform.specs.schema.keys import CONCRETE, GroupKeys
from opconform.specs.schema.models import group_models
from opconform.specs.yaml_document import ENOUGH, REPORTED, KeyMistake, Mistake, Route, SpecMistakes
from opconform.suite.case import canonical_json

#: How many twins, and how many values of keys, are kept, since consecutive cases often have the same ones.
RECENT = 1000


#: The keys of graphs whose values are mappings by name.
_OF_GRAPHS = ("inputs", "nodes")


@dataclass(frozen=True, kw_only=True, slots=True)
class Family:
    """A case followed by its twin, if it has one, and those of the two that no earlier family of the group has."""

    cases: tuple[Draft, ...]
    new: tuple[Draft, ...]


def expand(group: Group, *, seed: int = 0, limits: Limits = LIMITS) -> Iterator[Draft]:
    """The cases of a group without repetitions, each followed by its twin.

    Raises:
        SpecMistakes: At the end, if an expression fails, a case is malformed or over a limit, or the author's
            expectation differs from the reference semantics.
    """
    for family in families(group, seed=seed, limits=limits):
        yield from family.new


def families(group: Group, *, seed: int = 0, limits: Limits = LIMITS) -> Iterator[Family]:
    """The cases of a group as `expand` gives them, each with its twin, even if the twin is repeated."""
    if group.samples is not None and (mistakes := _mistakes_of(group.samples, limits)):
        raise SpecMistakes(mistakes)
    expansion = _Expansion(group, limits)
    try:
        if isinstance(group.settings, PairGroup):
            yield from expansion.derived(group.settings)
            return
        for combination in combinations_of(group, limits.cases, expansion.meter):
            if group.settings.random is None:
                yield from expansion.families_of(combination)
            else:
                yield from expansion.drawn(combination, group.settings.random.count, seed)
            if expansion.failed > REPORTED:
                break
    except KeyMistake as error:
        raise SpecMistakes([group.mistake((error.key, *error.inside), f"{error.sentence}.")]) from error
    if expansion.mistakes:
        raise SpecMistakes(expansion.mistakes.values())
    if not expansion.digits and group.samples is None:
        sentence = "`where` and `exclude` remove every combination, so the group has no cases."
        raise SpecMistakes([group.mistake(("where",), sentence)])


def sample_drafts(op: str) -> list[Draft]:
    """The samples of a shipped operation, of any size, as cases without a context."""
    samples = samples_of(op)
    return [_expansion_of(samples, name, LIMITS).valid(samples.case(name, {}) or {}) for name in samples.seconds]


def _expansion_of(samples: Samples, name: str, limits: Limits) -> "_Expansion":
    settings = GroupKeys.model_validate({"id": name, "title": "a sample"})
    route = ("samples", name)
    group = Group(op=samples.op, settings=settings, keys={}, twin=None, document=samples.document, route=route)
    return _Expansion(group, replace(limits, elements=sys.maxsize))


@lru_cache
def _mistakes_of(samples: Samples, limits: Limits) -> tuple[Mistake, ...]:
    """The mistakes of samples that are not valid arguments, as they are or in a second feed."""
    mistakes: list[Mistake] = []
    for name, seconds in samples.seconds.items():
        expansion = _expansion_of(samples, name, limits)
        for generic in ({}, *({"second": number} for number in range(len(seconds)))):
            try:
                expansion.valid(samples.case(name, generic) or {})
            except SpecMistakes as error:
                mistakes += error.mistakes
    return tuple(mistakes)


def specs_of(paths: Sequence[Path], *, seed: int, limits: Limits) -> list[Spec]:
    """The specs in files and folders, or the shipped ones.

    If there are mistakes, those found by expanding the other groups are reported with them.
    """
    try:
        return load_specs(paths)
    except WrongSpecs as error:
        mistakes = list(error.mistakes)
        for group in error.sound:
            if len(mistakes) > ENOUGH:
                break
            try:
                deque(expand(group, seed=seed, limits=limits), maxlen=0)
            except SpecMistakes as more:
                mistakes.extend(more.mistakes)
        raise SpecMistakes(mistakes) from error


class _Expansion:
    """The state of one group's expansion: the digits of its cases, recent twins by their keys, mistakes by place.

    The values of keys are kept for the variables that they depend on, which have few values beside the combinations.
    """

    def __init__(self, group: Group, limits: Limits) -> None:
        self.group, self.limits = group, limits
        self.failed = 0
        self.meter = Meter()
        self.digits = KnownDigits()
        self.twins: dict[str, Draft] = {}
        self.mistakes: dict[tuple[int, int], Mistake] = {}
        self._reads = {name: sorted(_variables_of(x)) for name, x in (*group.keys.items(), ("twin", group.twin))}
        self._values: dict[tuple[str, str], Value] = {}
        self._tensors = KnownTensors()

    def valid(self, keys: Mapping[str, Any]) -> Draft:
        """The valid case of some keys."""
        return self._draft(keys, (), {})

    def families_of(self, variables: Combination) -> list[Family]:
        """The case of a combination and its twin, if one of them is new."""
        try:
            keys = {name: self._value(name, key, variables) for name, key in self.group.keys.items()}
            cases = [self._draft(self._of_sample(keys, variables), (), variables)]
            if cases[0].rejected_for is not None and self.group.twin is not None:
                twin = self._twin_of(keys, variables)
                if keys.get("expect") != "semantics":
                    twin = attributed(twin.noted(requirements=cases[0].requirements))
                cases = [cases[0].noted(twin=twin.id), twin]
        except LeftOut:
            return []
        except SpecMistakes as error:
            self.failed += 1
            for mistake in error.mistakes:
                self.mistakes.setdefault((mistake.line, mistake.column), mistake)
            return []
        new = [case for case in cases if self.digits.add(case.digits)]
        if len(self.digits) > 2 * self.limits.cases:
            raise KeyMistake("matrix", f"there are more cases than the limit of {self.limits.cases:,}")
        return [Family(cases=tuple(cases), new=tuple(new))] if new else []

    def derived(self, settings: PairGroup) -> Iterator[Family]:
        """The cases of pairs of operations."""
        for keys in pairs_of(settings.pairs, settings.last).cases:
            draft = self._draft(keys, (), {})
            if self.digits.add(draft.digits):
                yield Family(cases=(draft,), new=(draft,))

    def drawn(self, combination: Combination, target: int, seed: int) -> Iterator[Family]:
        """The cases of random draws until `target` draws gave a new one."""
        if target > self.limits.cases:
            many = quoted_text(f"{target:,}")
            raise KeyMistake("random", f"{many} cases are over the limit of {self.limits.cases:,}")
        accepted = passed = in_vain = 0
        drawn_before: set[str] = set()
        for number, drawn in enumerate(draws_of(self.group, combination, seed, self.meter), 1):
            text, failed = canonical_json(drawn), self.failed
            cases = [] if drawn is None or text in drawn_before else self.families_of(drawn)
            if self.failed == failed:
                drawn_before.add(text)
            accepted += bool(cases)
            passed += drawn is not None
            in_vain = 0 if cases else in_vain + 1
            yield from cases
            if accepted >= target or self.failed > REPORTED:
                return
            if in_vain > PATIENCE + PATIENCE_EACH * accepted:
                if not passed:
                    raise KeyMistake("random", f"`where` is false for {number:,} draws; narrow the draws")
                sentence = f"{number:,} draws produce only {accepted:,} of {target:,} cases; widen the draws"
                raise KeyMistake("random", sentence)

    def _twin_of(self, keys: Mapping[str, Any], variables: Combination) -> Draft:
        changes = self._value("twin", self.group.twin, variables)
        if not isinstance(changes, dict):
            sentence = f"twin: {quoted(changes)} is not a mapping of keys."
            raise SpecMistakes([self.group.mistake(("twin",), sentence)])
        accepted = {name: value for name, value in keys.items() if name != "expect"}
        changed = self._of_sample(accepted | _changed(accepted, changes), variables)
        text = repr(changed)
        if text not in self.twins:
            if len(self.twins) == RECENT:
                self.twins.clear()
            self.twins[text] = self._draft(changed, tuple(changes), variables)
        return self.twins[text]

    def _of_sample(self, keys: Mapping[str, Any], variables: Combination) -> dict[str, Any]:
        """The keys of a case: in a group of every operation, of the case that it makes of the sample."""
        samples = self.group.samples
        return dict(keys) if samples is None else _of_sample(samples, variables["sample"]["name"], keys)

    def _draft(self, keys: Mapping[str, Any], overridden: Sequence[str], variables: Combination) -> Draft:
        group = self.group
        models, feed = group_models(group.op), keys.get("feed")
        if isinstance(feed, dict):  # it is completed from the first feed
            keys = {**keys, "feed": _feed_of(keys, feed)}
        try:
            checked = models.case.model_validate(self._tensors.checked(keys), context=CONCRETE)
            self._tensors.note(keys, checked)
            return draft_of(group, checked, self.limits, twin=bool(overridden), known=self._tensors)
        except KeyMistake as error:
            raise self._wrong(error, overridden, variables) from error
        except ValidationError as error:
            note = _note(variables)
            raise SpecMistakes(mistakes_of(error, group.document, models.group, group.route, note)) from error

    def _wrong(self, error: KeyMistake, overridden: Sequence[str], variables: Combination) -> SpecMistakes:
        route = ("twin", error.key) if error.key in overridden else (error.key,)
        hint = f'; write "${{{{ {error.value} }}}}" for the variable' if error.value in [*variables] else ""
        sentence = f"{error.key}: {error.sentence}{hint}{_note(variables)}."
        return SpecMistakes([self.group.mistake((*route, *error.inside), sentence)])

    def _value(self, name: str, value: Value, variables: Combination) -> Value:
        """The value of a key, evaluated once for the variables that it depends on."""
        known = (name, repr([variables.get(read) for read in self._reads[name]]))
        if known not in self._values:
            if len(self._values) == RECENT:
                self._values.clear()
            self._values[known] = self._evaluated(value, (name,), variables)
        return self._values[known]

    def _evaluated(self, value: Value, route: Route, variables: Combination) -> Value:
        """The value at a route, with its expressions evaluated."""
        if isinstance(value, Mapping):
            return {name: self._evaluated(x, (*route, name), variables) for name, x in value.items()}
        if isinstance(value, list):
            return [self._evaluated(x, (*route, index), variables) for index, x in enumerate(value)]
        if not is_expression(value):
            return value
        try:
            return expression_of(value).value(variables, self.meter)
        except ExpressionError as error:
            raise SpecMistakes([self.group.mistake(route, f"{failure(error, variables)}.")]) from error


def _of_sample(samples: Samples, name: str, generic: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of the case that a group of every operation makes of a sample; `LeftOut` if it does not apply."""
    then = generic.get("then")
    if then is not None:
        generic = {**generic, "then": neighbour(then["op"], then["sample"])}
    keys = samples.case(name, generic)
    if keys is None:
        raise LeftOut
    return keys


def _variables_of(value: Value) -> set[str]:
    """The names that the expressions in a value read."""
    if isinstance(value, Mapping):
        return set[str]().union(*map(_variables_of, value.values()))
    if isinstance(value, list):
        return set[str]().union(*map(_variables_of, value))
    return set(expression_of(value).variables) if is_expression(value) else set()


def _note(variables: Combination) -> str:
    return f" (with {shown(variables)})" if variables else ""


def _feed_of(keys: Mapping[str, Any], feed: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a second feed, completed from the first one."""
    inputs, others = keys.get("inputs"), feed.get("inputs")
    if isinstance(inputs, dict) and isinstance(others, dict):
        return {**feed, "inputs": _changed(inputs, others)}
    return _changed(keys, feed)


def _changed(keys: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The changed keys; a mapping is merged with the earlier one key by key.

    New `values` of a tensor bring their shape, and a new `fill` removes the values.
    """
    changed = dict(changes)
    for name, later in changes.items():
        earlier = keys.get(name)
        if name in _OF_GRAPHS and isinstance(earlier, dict) and isinstance(later, dict):
            changed[name] = {**earlier, **_changed(earlier, later)}
        elif isinstance(earlier, dict) and isinstance(later, dict):
            gone = (
                {"shape", "fill", "value"} if "values" in later else {"values", "value"} if "fill" in later else set()
            )
            changed[name] = {key: value for key, value in earlier.items() if key not in gone} | later
    return changed
