"""The differences between two runs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from opconform_runners.harness.environment import environment_facts
from opconform_runners.reports.report import Report
from opconform_runners.reports.text import counted, one_line, printable, shortened
from opconform_runners.verdicts.results import Result

FORMAT = 1
#: The most cases of a kind that are listed, and the most characters of a sentence.
_MOST = 50
_LONGEST = 300


class CaseChange(NamedTuple):
    """One case, and its result in each run; None where it was not in that run."""

    id: str
    old: Result | None
    new: Result | None


#: The kinds of change in the order in which they are listed: the heading, and the noun in the summary with its plural.
_KINDS = {
    "regressions": ("Regressions (fail now, and did not)", "regression", ""),
    "lost": ("Lost (passed, and now neither pass nor fail)", "lost pass", "lost passes"),
    "reasons": ("Fail for another reason", "other reason", ""),
    "new": ("New cases", "new case", ""),
    "gone": ("Cases that are gone", "case gone", "cases gone"),
    "others": ("Other changes of the verdict", "other change", ""),
    "gained": ("Gained (pass now, and neither passed nor failed)", "gained pass", "gained passes"),
    "fixes": ("Fixes (failed, and pass)", "fix", "fixes"),
}
#: The order of the kinds in the summary and in JSON.
_ORDER = ("regressions", "lost", "fixes", "gained", "reasons", "others", "new", "gone")


@dataclass(frozen=True, kw_only=True, slots=True)
class Changes:
    """The differences between two runs.

    Attributes:
        facts: The properties of the whole runs that differ, such as the suite, the backend or the verdict.
        cases: The cases that changed, by kind: `regressions`, `lost`, `fixes`, `gained`, `reasons`, `others`, `new` and
            `gone`; and `unknown`, cases of one run that the other, which is incomplete, may not have reached.
        broken: The requirements that only the new run breaks; empty where the old run is incomplete.
        mended: The requirements that only the old run breaks; empty where the new run is incomplete.
        why: Why the comparison is incomplete; empty where both runs are complete.
    """

    facts: Sequence[Mapping[str, str]]
    cases: Mapping[str, Sequence[CaseChange]]
    broken: tuple[str, ...]
    mended: tuple[str, ...]
    why: str

    @property
    def is_worse(self) -> bool:
        """Whether something regressed, or a run is incomplete."""
        return bool(self.cases["regressions"] or self.cases["lost"] or self.why)


def changes_between(old: Report, new: Report) -> Changes:
    """The differences between two runs."""
    before, after = ({each.id: each for each in report.results} for report in (old, new))
    unknown = {kind for kind, report in (("new", old), ("gone", new)) if not report.is_finished}
    cases: dict[str, list[CaseChange]] = {name: [] for name in (*_ORDER, "unknown")}
    for identity in sorted({*before, *after}):
        change = CaseChange(identity, before.get(identity), after.get(identity))
        kind = _kind(change.old, change.new)
        if kind:
            cases["unknown" if kind in unknown else kind].append(change)
    was_broken, is_broken = (
        {f"{each.op} {each.id}" for each in report.requirements if each.is_broken} for report in (old, new)
    )
    return Changes(
        facts=_facts(old, new),
        cases=cases,
        broken=tuple(sorted(is_broken - was_broken)) if old.is_finished else (),
        mended=tuple(sorted(was_broken - is_broken)) if new.is_finished else (),
        why=" ".join(
            f"{which} run: {one_line(report.unfinished, _LONGEST)}."
            for which, report in (("Old", old), ("New", new))
            if not report.is_finished
        ),
    )


def changes_document(changes: Changes) -> dict[str, object]:
    """Changes as a JSON object."""
    return {
        "format": FORMAT,
        "is_worse": changes.is_worse,
        "facts": changes.facts,
        **{name: [_case_document(each) for each in found] for name, found in changes.cases.items()},
        "broken": list(changes.broken),
        "mended": list(changes.mended),
        "is_incomplete": bool(changes.why),
        "why": changes.why,
    }


def changes_lines(changes: Changes) -> Iterator[str]:
    """Changes as text; an incomplete comparison says so first."""
    if changes.why:
        yield f"INCOMPLETE, so nothing is settled. {changes.why}"
    for fact in changes.facts:
        yield one_line(f"{fact['what']}: {fact['old']} → {fact['new']}", _LONGEST)
    for title, names in (("Broken now", changes.broken), ("No longer broken", changes.mended)):
        if names:
            yield printable(f"{title}: {', '.join(names)}")
    for kind, (title, *_) in _KINDS.items():
        cases = changes.cases[kind]
        if cases:
            yield f"\n{title}: {counted(len(cases), 'case')}"
            yield from (f"  {each}" for each in shortened([_sentence(each) for each in cases], _MOST))
    yield f"\n{_summary(changes)}"


def _summary(changes: Changes) -> str:
    found = [counted(len(changes.cases[kind]), *_KINDS[kind][1:]) for kind in _ORDER if changes.cases[kind]]
    if not changes.why:
        return f"{', '.join(found) or 'No case changed'}."
    if changes.cases["unknown"]:
        found.append(f"{counted(len(changes.cases['unknown']), 'case')} in one of the runs only")
    return f"So far: {', '.join(found) or 'no case changed'}."


def _case_document(change: CaseChange) -> dict[str, object]:
    _, old, new = change
    return {
        "id": change.id,
        "old": old and old.verdict,
        "new": new and new.verdict,
        "old_reason": old and old.reason,
        "new_reason": new and new.reason,
        "sentence": new.sentence if new else "",
    }


def _kind(old: Result | None, new: Result | None) -> str:
    if old is None:
        return "new"
    if new is None:
        return "gone"
    match old.verdict, new.verdict:
        case before, after if before == after:
            return "reasons" if old.reason != new.reason else ""
        case _, "fail":
            return "regressions"
        case "pass", _:
            return "lost"
        case "fail", "pass":
            return "fixes"
        case _, "pass":
            return "gained"
        case _:
            return "others"


def _sentence(change: CaseChange) -> str:
    results = [each for each in (change.old, change.new) if each is not None]
    sides = " → ".join(f"{each.verdict} ({each.reason})" if each.reason else each.verdict for each in results)
    said = change.new.sentence if change.new is not None else ""
    return f"{change.id}  {sides}{f': {one_line(said, _LONGEST)}' if said else ''}"


def _facts(old: Report, new: Report) -> list[dict[str, str]]:
    before, after = _properties(old), _properties(new)
    return [
        {"what": what, "old": before.get(what) or "nothing", "new": after.get(what) or "nothing"}
        for what in dict.fromkeys([*before, *after])
        if before.get(what) != after.get(what)
    ]


def _properties(report: Report) -> dict[str, str]:
    return {
        "Backend": report.implementation.title,
        "Suite version": report.suite.version,
        "Suite digest": report.suite.digest[:16],
        "Generator": report.suite.generator,
        **dict(environment_facts(report.environment, report.implementation.device)),
        "Mapped": ", ".join(report.implementation.mapped),
        "Whole profiles": "yes" if report.whole else "no",
        "Strict": "yes" if report.strict else "no",
        "Verdict": report.verdict,
    }
