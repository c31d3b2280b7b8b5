"""Changes: what became otherwise between two runs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import TypeAdapter

from opconform_runners.harness.environment import environment_facts
from opconform_runners.reports.report import Report
from opconform_runners.reports.text import counted, one_line, printable, shortened
from opconform_runners.verdicts.results import Result
from opconform_runners.verdicts.verdict import FailReason, VerdictName

FORMAT = 1
#: The most cases of a kind that a person is shown.
_MOST = 50
_LONGEST = 300
_VERDICT = "Verdict"


@dataclass(frozen=True, kw_only=True, slots=True)
class Became:
    """One case before and after; `None` where it was not in that run. `sentence` says what happens now."""

    id: str
    old: VerdictName | None
    new: VerdictName | None
    old_reason: FailReason | None = None
    new_reason: FailReason | None = None
    sentence: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """Something of the whole run that is another now: the suite, the backend, whether it is conformant."""

    what: str
    old: str
    new: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Changes:
    """What became otherwise between two runs.

    Attributes:
        facts: What is another of the runs as wholes.
        regressions: The cases that fail now, and did not.
        lost: The cases that passed, and now neither pass nor fail.
        fixes: The cases that failed, and pass.
        gained: The cases that neither passed nor failed, and pass.
        reasons: The cases that fail for another reason.
        others: The cases whose verdict changed in any other way.
        new: The cases that the old run did not have.
        gone: The cases that the new run does not have.
        unknown: The cases that are in one run only, where the other is incomplete, which says nothing of them.
        broken: The requirements that are broken now, and were not; none where the old run is incomplete.
        mended: The requirements that were broken, and are not now; none where the new run is incomplete.
        is_incomplete: Whether one of the runs is incomplete, so that nothing of this is settled.
        why: Why it is, in words; empty where both are complete.
    """

    facts: tuple[Fact, ...]
    regressions: tuple[Became, ...]
    lost: tuple[Became, ...]
    fixes: tuple[Became, ...]
    gained: tuple[Became, ...]
    reasons: tuple[Became, ...]
    others: tuple[Became, ...]
    new: tuple[Became, ...]
    gone: tuple[Became, ...]
    unknown: tuple[Became, ...]
    broken: tuple[str, ...]
    mended: tuple[str, ...]
    is_incomplete: bool
    why: str

    @property
    def is_worse(self) -> bool:
        """Whether anything regressed, or nobody can say."""
        return bool(self.regressions or self.lost) or self.is_incomplete


_CHANGES = TypeAdapter(Changes)


def changes_between(old: Report, new: Report) -> Changes:
    """What became otherwise from one run to another."""
    before, after = ({each.id: each for each in report.results} for report in (old, new))
    open_kinds = {kind for kind, report in (("new", old), ("gone", new)) if not report.is_finished}
    found: dict[str, list[Became]] = {name: [] for name in (*_KINDS, "unknown")}
    for identity in sorted({*before, *after}):
        became = _became(identity, before.get(identity), after.get(identity))
        kind = _kind(became)
        if kind:
            found["unknown" if kind in open_kinds else kind].append(became)
    was_broken, is_broken = (
        {f"{each.op} {each.id}" for each in report.requirements if each.is_broken} for report in (old, new)
    )
    return Changes(
        facts=tuple(_facts(old, new)),
        broken=() if not old.is_finished else tuple(sorted(is_broken - was_broken)),
        mended=() if not new.is_finished else tuple(sorted(was_broken - is_broken)),
        is_incomplete=not (old.is_finished and new.is_finished),
        why=" ".join(
            f"{which} run: {one_line(report.unsettled, _LONGEST)}."
            for which, report in (("Old", old), ("New", new))
            if not report.is_finished
        ),
        **{name: tuple(each) for name, each in found.items()},
    )


def changes_document(changes: Changes) -> dict[str, object]:
    """Changes as a JSON object."""
    document: dict[str, object] = _CHANGES.dump_python(changes, mode="json")
    return {"format": FORMAT, "is_worse": changes.is_worse} | document


def changes_lines(changes: Changes) -> Iterator[str]:
    """Changes in words, a line each; first of all that nothing is settled, where that is so."""
    if changes.is_incomplete:
        yield f"INCOMPLETE, so nothing is settled. {changes.why}"
    for fact in changes.facts:
        yield one_line(f"{fact.what}: {fact.old} → {fact.new}", _LONGEST)
    for title, names in (("Broken now", changes.broken), ("Broken no more", changes.mended)):
        if names:
            yield printable(f"{title}: {', '.join(names)}")
    for name, title in _KINDS.items():
        cases: Sequence[Became] = getattr(changes, name)
        if cases:
            yield ""
            yield f"{title}: {counted(len(cases), 'case')}"
            yield from (f"  {each}" for each in shortened([_sentence(each) for each in cases], _MOST))
    yield ""
    yield _conclusion(changes)


#: The kinds of change in the order in which they are told, and what each is called.
_KINDS = {
    "regressions": "Regressions (fail now, and did not)",
    "lost": "Lost (passed, and now neither pass nor fail)",
    "reasons": "Fail for another reason",
    "new": "New cases",
    "gone": "Cases that are gone",
    "others": "Decided otherwise",
    "gained": "Gained (pass now, and neither passed nor failed)",
    "fixes": "Fixes (failed, and pass)",
}


def _conclusion(changes: Changes) -> str:
    counts = {
        "regression": changes.regressions,
        "lost pass": changes.lost,
        "fix": changes.fixes,
        "gained pass": changes.gained,
        "other reason": changes.reasons,
        "other change": changes.others,
        "new case": changes.new,
    }
    many = {"fix": "fixes", "lost pass": "lost passes", "gained pass": "gained passes"}
    told = [counted(len(each), name, many.get(name, "")) for name, each in counts.items() if each]
    gone = [f"{counted(len(changes.gone), 'case')} gone"] if changes.gone else []
    if not changes.is_incomplete:
        return f"{', '.join([*told, *gone]) or 'No case changed'}."
    unknown = [f"{counted(len(changes.unknown), 'case')} in one of the runs only"] if changes.unknown else []
    return f"So far: {', '.join([*told, *gone, *unknown]) or 'no case changed'}."


def _became(identity: str, old: Result | None, new: Result | None) -> Became:
    return Became(
        id=identity,
        old=old.verdict if old else None,
        new=new.verdict if new else None,
        old_reason=old.reason if old else None,
        new_reason=new.reason if new else None,
        sentence=new.sentence if new else "",
    )


def _kind(became: Became) -> str:
    old, new = became.old, became.new
    if old is None:
        return "new"
    if new is None:
        return "gone"
    if old == new:
        return "reasons" if became.old_reason != became.new_reason else ""
    if new == "fail":
        return "regressions"
    if old == "pass":
        return "lost"
    if new == "pass":
        return "fixes" if old == "fail" else "gained"
    return "others"


def _sentence(became: Became) -> str:
    sides = [
        f"{verdict} ({reason})" if reason else str(verdict)
        for verdict, reason in ((became.old, became.old_reason), (became.new, became.new_reason))
        if verdict is not None
    ]
    said = f": {one_line(became.sentence, _LONGEST)}" if became.sentence else ""
    return f"{became.id}  {' → '.join(sides)}{said}"


def _facts(old: Report, new: Report) -> Iterator[Fact]:
    """What is another; of a run that was killed before it said what it is, that it is incomplete and nothing else."""
    pairs = (
        ("Backend", old.implementation.title, new.implementation.title),
        ("Suite version", old.suite.version, new.suite.version),
        ("Suite digest", old.suite.digest[:16], new.suite.digest[:16]),
        ("Generator", old.suite.generator, new.suite.generator),
        *_environments(old, new),
        ("Mapped", ", ".join(old.implementation.mapped), ", ".join(new.implementation.mapped)),
        ("Whole profiles", _yes(old.whole), _yes(new.whole)),
        ("Strict", _yes(old.strict), _yes(new.strict)),
        (_VERDICT, old.verdict, new.verdict),
    )
    for what, before, after in pairs:
        if before != after:
            yield Fact(what=what, old=before or "nothing", new=after or "nothing")


def _environments(old: Report, new: Report) -> Iterator[tuple[str, str, str]]:
    before, after = (dict(environment_facts(each.environment, each.implementation.device)) for each in (old, new))
    for what in dict.fromkeys([*before, *after]):
        yield what, before.get(what, ""), after.get(what, "")


def _yes(claim: bool) -> str:
    return "yes" if claim else "no"
