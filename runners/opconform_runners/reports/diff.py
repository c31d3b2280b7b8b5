"""The differences between two runs."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from opconform.errors import counted
from opconform.system.text import one_line, printable, shortened
from opconform_runners.findings.report import Report
from opconform_runners.harness.environment import environment_facts
from opconform_runners.verdicts.results import Result

FORMAT = 1
#: The most cases of a kind that are listed, and the most characters of a sentence.
_MOST = 50
_LONGEST = 300
#: The kinds of run: `certify` has fixed rules, `run` takes a selection of cases and options.
_WHOLE, _PART = "a certification (all cases of its profiles)", "a run (perhaps of selected cases; cannot be signed)"
#: The kinds of change in the order in which they are listed: the heading, and the noun in the summary with its plural.
_KINDS = {
    "regressions": ("Regressions (fail now, did not fail before)", "regression", ""),
    "lost": ("Lost support (passed and is undecided now, or failed and is unsupported now)", "lost case", ""),
    "reasons": ("Fail for a different reason", "other reason", ""),
    "new": ("New cases", "new case", ""),
    "gone": ("Missing cases", "missing case", ""),
    "others": ("Other changes of the verdict", "other change", ""),
    "gained": ("Gained (pass now, neither passed nor failed before)", "gained pass", "gained passes"),
    "fixes": ("Fixes (failed before, pass now)", "fix", "fixes"),
}


def changes_between(old: Report, new: Report) -> dict[str, Any]:
    """The differences between two runs as a JSON object: properties of the runs, requirements, and cases by kind.

    Cases of one run that the other, which is incomplete, may not have reached are `unknown`. An incomplete old run does
    not show which requirements are newly `broken`, and an incomplete new one not which are `mended`. A requirement that
    a case broke which the new run does not have is not `mended` either.
    """
    before, after = _results(old, new), _results(new, old)
    unknown = {kind for kind, report in (("new", old), ("gone", new)) if not report.is_finished}
    cases: dict[str, list[dict[str, Any]]] = {name: [] for name in (*_KINDS, "unknown")}
    for identity in sorted({*before, *after}):
        was, now = before.get(identity), after.get(identity)
        kind = _kind(was, now)
        if kind:
            change = {
                "id": identity,
                "old": was and was.verdict,
                "new": now and now.verdict,
                "old_reason": was and was.reason,
                "new_reason": now and now.reason,
                "sentence": now.sentence if now else "",
            }
            cases["unknown" if kind in unknown else kind].append(change)
    was_broken, is_broken = (
        {f"{requirement.op} {requirement.id}" for requirement in report.requirements if requirement.is_broken}
        for report in (old, new)
    )
    gone = {f"{x.op} {name}" for key, x in before.items() if key not in after for name in x.broken}
    runs = (("Old", old), ("New", new))
    why = [f"{name} run: {one_line(run.unfinished, _LONGEST)}." for name, run in runs if not run.is_finished]
    return {
        "format": FORMAT,
        "is_worse": bool(cases["regressions"] or cases["lost"] or why or (new.deaths and not old.deaths)),
        "facts": _facts(old, new),
        **cases,
        "broken": sorted(is_broken - was_broken) if old.is_finished else [],
        "mended": sorted(was_broken - is_broken - gone) if new.is_finished else [],
        "is_incomplete": bool(why),
        "why": " ".join(why),
    }


def _results(report: Report, compared: Report) -> dict[str, Result]:
    """The results of a run by id; a streamed run has only failures, so that the other cases of another run passed."""
    results = {result.id: result for result in report.results}
    if report.tallies:
        absent = (result for result in compared.results if result.id not in results)
        results |= {x.id: replace(x, verdict="pass", reason=None, sentence="", broken=()) for x in absent}
    return results


def failure_changes(old: Report, new: Report) -> dict[str, str]:
    """Whether each case that fails, or failed and passes, is `new`, `fixed` or `unchanged`, by its id.

    A case that the old run does not have is none of these.
    """
    before, changes = _results(old, new), dict[str, str]()
    for result in new.results:
        match _kind(before.get(result.id), result):
            case "regressions":
                changes[result.id] = "new"
            case "fixes":
                changes[result.id] = "fixed"
            case "reasons" | "" if result.verdict == "fail":
                changes[result.id] = "unchanged"
    return changes


def changes_lines(changes: Mapping[str, Any]) -> Iterator[str]:
    """Changes as text; an incomplete comparison says so first."""
    lines = list(_changed_lines(changes))
    yield from lines
    yield f"\n{_summary(changes)}" if lines else _summary(changes)


def _changed_lines(changes: Mapping[str, Any]) -> Iterator[str]:
    if changes["why"]:
        yield f"INCOMPLETE, so the comparison is not final. {changes['why']}"
    for fact in changes["facts"]:
        yield one_line(f"{fact['what']}: {fact['old']} → {fact['new']}", _LONGEST)
    for title, names in (("Broken now", changes["broken"]), ("No longer broken", changes["mended"])):
        if names:
            yield printable(f"{title}: {', '.join(names)}")
    for kind, (title, *_) in _KINDS.items():
        if changes[kind]:
            yield f"\n{title}: {counted(len(changes[kind]), 'case')}"
            yield from (f"  {x}" for x in shortened([_sentence(change) for change in changes[kind]], _MOST))


def _summary(changes: Mapping[str, Any]) -> str:
    counts = [counted(len(changes[kind]), *nouns) for kind, (_, *nouns) in _KINDS.items() if changes[kind]]
    if not changes["why"]:
        return f"{', '.join(counts) or 'No case changed'}."
    if changes["unknown"]:
        counts.append(f"{counted(len(changes['unknown']), 'case')} in one of the runs only")
    return f"So far: {', '.join(counts) or 'no case changed'}."


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
        case ("pass", _) | ("fail", "unsupported"):
            return "lost"
        case "fail", "pass":
            return "fixes"
        case _, "pass":
            return "gained"
        case _:
            return "others"


def _sentence(change: Mapping[str, str]) -> str:
    sides = [(change[side], change[f"{side}_reason"]) for side in ("old", "new") if change[side]]
    verdicts = " → ".join(f"{verdict} ({reason})" if reason else verdict for verdict, reason in sides)
    detail = f": {one_line(change['sentence'], _LONGEST)}" if change["sentence"] else ""
    return f"{change['id']}  {verdicts}{detail}"


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
        "Kind of run": _WHOLE if report.whole else _PART,
        "Deviations from interpretations": "counted" if report.strict else "not counted",
        "Accuracy asked for": report.least_accuracy,
        "Verdict": report.verdict,
        "Processes that crashed or hung": f"{len(report.deaths):,}",
    }
