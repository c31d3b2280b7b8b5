"""Incidents of a run in sentences: what happened to harness processes and did not recur with a case alone."""

from collections.abc import Iterable, Iterator

from opconform.errors import counted
from opconform.system.text import one_line
from opconform_runners.findings.report import Report
from opconform_runners.harness.outcome import Incident

#: The most characters of what happened, and the most cases that are named.
_LONGEST = 300
_NAMED = 5


def incident_sentence(incident: Incident) -> str:
    """What happened, and the cases that may have caused it."""
    what = one_line(incident.sentence, _LONGEST).rstrip(".")
    last, *before = incident.cases
    if not incident.is_death:
        return f"{last} ended in an error, and not when it was executed again alone: {what}"
    named = [last, *before][:_NAMED]
    more = len(incident.cases) - len(named) + incident.earlier
    others = f" and {counted(more, 'earlier case')}" if more else ""
    return (
        f"{what}; this did not recur with {last} alone. Cases of that process, the last first: "
        f"{', '.join(named)}{others}"
    )


def deaths_clause(deaths: int) -> str:
    """How often the backend crashed or hung in a way that no single case shows."""
    how = "did not recur with the case alone"
    return counted(deaths, f"crash or hang {how}", f"crashes or hangs {how}")


def incident_notes(report: Report) -> Iterator[str]:
    """A sentence on the incidents that do not affect the verdict, if there are any."""
    errors = [incident for incident in report.incidents if not incident.is_death]
    if errors:
        were = counted(len(errors), "case ended", "cases ended")
        yield f"{were} in an error and not when executed again alone; the verdict is that of the second execution."


def incident_lines(incidents: Iterable[Incident]) -> list[str]:
    """A sentence on each incident, those that affect the verdict first."""
    return [incident_sentence(incident) for incident in sorted(incidents, key=lambda x: not x.is_death)]
