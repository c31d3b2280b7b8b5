"""The expansion of a group: a checked draft for each combination of its variables."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from opconform.errors import quoted, quoted_text
from opconform.generation.options import LIMITS, Limits
from opconform.generation.tensor_keys import Wrong
from opconform.generation.validation import draft_of
from opconform.model.draft import Draft, Refusal, content_of, digits_of
from opconform.specs.diagnostics import mistakes_of
from opconform.specs.document import REPORTED, Mistake, Route, SpecMistakes
from opconform.specs.expressions import ExpressionError, Meter, Variables, expression_of, is_expression
from opconform.specs.functions import Value
from opconform.specs.loader import Group
from opconform.specs.matrix import Combination, MatrixError, combinations_of, shown
from opconform.specs.sampling import PATIENCE, PATIENCE_EACH, samples_of
from opconform.specs.schema import CONCRETE, MODELS


@dataclass(frozen=True, kw_only=True)
class Expanded:
    """A draft, its content as canonical JSON, and the digits of its id."""

    draft: Draft
    content: str
    digits: str


def expand(group: Group, *, seed: int = 0, limits: Limits = LIMITS) -> Iterator[Expanded]:
    """The cases of a group without repetitions, each followed by its twin.

    Raises:
        SpecMistakes: At the end, if an expression fails, a case is malformed or over a limit, or the author's
            expectation differs from the reference semantics.
    """
    expansion = _Expansion(group, limits)
    try:
        for combination in combinations_of(group, limits.cases, expansion.meter):
            if group.settings.sample is None:
                yield from expansion.cases_of(combination)
            else:
                yield from _samples(expansion, combination, seed)
            if expansion.failed > REPORTED:
                break
    except MatrixError as fault:
        raise SpecMistakes([group.mistake((fault.key,), f"{fault.sentence}.")]) from fault
    expansion.finish()


def _samples(expansion: "_Expansion", combination: Combination, seed: int) -> Iterator[Expanded]:
    group = expansion.group
    wanted = group.settings.sample.count if group.settings.sample else 0
    if wanted > expansion.limits.cases:
        raise MatrixError(
            "sample", f"{quoted_text(f'{wanted:,}')} cases are over the limit of {expansion.limits.cases:,}"
        )
    found = passed = in_vain = 0
    for number, drawn in enumerate(samples_of(group, combination, seed, expansion.meter), 1):
        cases = [] if drawn is None else expansion.cases_of(drawn)
        found += bool(cases)
        passed += drawn is not None
        in_vain = 0 if cases else in_vain + 1
        yield from cases
        if found >= wanted or expansion.failed > REPORTED:
            return
        if in_vain > PATIENCE + PATIENCE_EACH * found:
            if not passed:
                raise MatrixError("sample", f"`where` is false for {number:,} draws; make the domain smaller")
            raise MatrixError("sample", f"{number:,} draws give only {found:,} different cases; make the domain larger")


class _Expansion:
    """The state of one group's expansion: the digits of its cases, and its mistakes."""

    def __init__(self, group: Group, limits: Limits) -> None:
        self.group = group
        self.limits = limits
        self.failed = 0
        self.meter = Meter()
        self._digits: set[str] = set()
        self._mistakes: dict[tuple[int, int], Mistake] = {}
        self._own = _Template(group.keys, (), self.meter)
        self._twin = _Template(group.twin, ("twin",), self.meter)

    def cases_of(self, variables: Combination) -> list[Expanded]:
        """The case of a combination and its twin, if they are new."""
        try:
            keys = self._own.value(self.group, variables)
            cases = [self._expanded(keys, (), variables)]
            draft = cases[0].draft
            if isinstance(draft.expect, Refusal) and self.group.twin is not None:
                overrides = self._twin.value(self.group, variables)
                twin = self._expanded(_overridden(keys, overrides), tuple(overrides), variables)
                cases[0] = replace(cases[0], draft=replace(draft, twin=twin.digits))
                cases.append(replace(twin, draft=replace(twin.draft, requirements=draft.requirements)))
        except SpecMistakes as fault:
            self.failed += 1
            for mistake in fault.mistakes:
                self._mistakes.setdefault((mistake.line, mistake.column), mistake)
            return []
        new = [each for each in cases if each.digits not in self._digits]
        self._digits.update(each.digits for each in new)
        if len(self._digits) > 2 * self.limits.cases:
            raise MatrixError("matrix", f"there are more than {self.limits.cases:,} cases, the limit")
        return new

    def finish(self) -> None:
        """Raise the mistakes, if there are any or if there is no case."""
        if self._mistakes:
            raise SpecMistakes(self._mistakes.values())
        if not self._digits:
            raise SpecMistakes([self.group.mistake(("where",), "no combination is left, so the group has no case.")])

    def _expanded(self, keys: Mapping[str, Any], overridden: Sequence[str], variables: Combination) -> Expanded:
        """A case, or a twin if some of its keys are overridden."""
        group, note = self.group, f" (with {shown(variables)})" if variables else ""
        models = MODELS[group.op]
        try:
            checked = models.case.model_validate(_with_feed(keys), context=CONCRETE)
            draft = draft_of(group, checked, self.limits, twin=bool(overridden))
        except ValidationError as fault:
            raise SpecMistakes(mistakes_of(fault, group.document, models.group, group.route, note)) from fault
        except Wrong as fault:
            route = ("twin", fault.key) if fault.key in overridden else (fault.key,)
            raise SpecMistakes([group.mistake(route, f"{fault.key}: {fault.sentence}{note}.")]) from fault
        content = content_of(draft)
        return Expanded(draft=draft, content=content, digits=digits_of(content))


class _Template:
    """Keys as written, with expressions; `route` is their place in the group."""

    def __init__(self, written: Any, route: Route, meter: Meter) -> None:
        self._part = _part(written, route, meter)

    def value(self, group: Group, variables: Variables) -> dict[str, Value]:
        """The keys with the values of all expressions."""
        try:
            keys = self._part(variables)
        except _FailedError as fault:
            sentence = f"{fault.sentence}, with {shown(variables)}."
            raise SpecMistakes([group.mistake(fault.route, sentence)]) from fault
        if not isinstance(keys, dict):
            raise SpecMistakes([group.mistake(("twin",), f"twin: {quoted(keys)} is not a mapping of keys.")])
        return keys


class _FailedError(Exception):
    def __init__(self, route: Route, sentence: str) -> None:
        super().__init__(route, sentence)
        self.route, self.sentence = route, sentence


def _part(value: Any, route: Route, meter: Meter) -> Callable[[Variables], Value]:
    """A function from the variables to the value of a part of the keys."""
    if not _holds_expression(value):
        return lambda _: value
    if isinstance(value, dict):
        named = {name: _part(each, (*route, name), meter) for name, each in value.items()}
        return lambda variables: {name: each(variables) for name, each in named.items()}
    if isinstance(value, list):
        parts = [_part(each, (*route, index), meter) for index, each in enumerate(value)]
        return lambda variables: [each(variables) for each in parts]
    expression = expression_of(value)

    def evaluated(variables: Variables) -> Value:
        try:
            return expression.value(variables, meter)
        except ExpressionError as fault:
            raise _FailedError(route, str(fault)) from fault

    return evaluated


def _holds_expression(value: object) -> bool:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return is_expression(value) or any(_holds_expression(each) for each in inside)


def _overridden(written: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a case with some overridden; mappings are merged key by key."""
    merged = {name: value for name, value in written.items() if name != "expect"}
    for name, value in overrides.items():
        earlier = merged.get(name)
        merged[name] = _merged(earlier, value) if isinstance(earlier, dict) and isinstance(value, dict) else value
    return merged


def _with_feed(written: Mapping[str, Any]) -> Mapping[str, Any]:
    """The keys of a case, with those of its second feed completed from the first."""
    feed = written.get("feed")
    if not isinstance(feed, dict):
        return written
    whole = {
        name: _merged(written[name], value)
        if isinstance(written.get(name), dict) and isinstance(value, dict)
        else value
        for name, value in feed.items()
    }
    return {**written, "feed": whole}


def _merged(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> dict[str, Any]:
    """A tensor's keys with some overridden: new values bring their shape, and a new fill removes the values."""
    gone = {"shape", "fill", "value"} if "values" in later else {"values", "value"} if "fill" in later else set()
    return {name: value for name, value in earlier.items() if name not in gone} | dict(later)
