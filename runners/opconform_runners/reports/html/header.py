"""Heads: what was tested, on what, and what came of it, a backend each."""

from collections.abc import Iterator
from dataclasses import dataclass

from opconform_runners.harness.environment import UNKNOWN, environment_facts
from opconform_runners.reports.html.subject import Link, Subject, place_of
from opconform_runners.reports.report import Report
from opconform_runners.reports.terminal import plain_conclusion


@dataclass(frozen=True, kw_only=True, slots=True)
class Head:
    """One backend on the first screen."""

    title: str
    conclusion: str
    standing: str
    extent: str
    where: str
    sentences: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    counts: tuple[tuple[str, Link], ...]
    started: str


def head_of(number: int, subject: Subject) -> Head:
    """What is said first of a backend, by its number among those of the page."""
    report = subject.column.report
    who, suite = report.implementation, report.suite
    profiles = sorted({each.profile for each in report.results})
    named = f"the profile{'' if len(profiles) == 1 else 's'} {', '.join(profiles)}"
    first, *others = (each.replace("`", "") for each in plain_conclusion(report))
    facts = [
        ("Tested", f"{who.name} {who.version}" + (f" on {who.device}" if who.device else "")),
        *environment_facts(report.environment, who.device),
        *_ingredients(report),
        ("Extent", "whole profiles" if report.whole else "a selection, which certifies nothing"),
        ("Rules", "interpretations count as well (strict)" if report.strict else "normative requirements count"),
        ("Given as", ", ".join(who.dialects) or "the case itself"),
        ("Suite", f"version {suite.version}, seed {suite.seed}, by opconform {suite.generator}"),
        ("Suite digest", suite.digest),
        *((f"Specification of {op}", ", ".join(each)) for op, each in suite.specification.items()),
    ]
    return Head(
        title=subject.column.title,
        conclusion=subject.column.conclusion,
        standing={True: "kept", False: "broken", None: "error"}[report.conformant],
        extent=f"{report.coverage}; {named}, suite {suite.version} ({suite.digest[:16]})",
        where=_where(report),
        sentences=(first.partition(": ")[2] or first, *others),
        facts=tuple(facts),
        counts=tuple(
            (name, Link(f"{count:,}", place_of(backend=number, verdict=name)))
            for name, count in report.summary.items()
            if count
        ),
        started=report.started,
    )


def _where(report: Report) -> str:
    """The environment that the backend ran in, as far as it was noted."""
    where = report.environment
    if where == UNKNOWN:
        return ""
    return f"Run on {where.system}, {where.machine}" + (f", with {where.python}" if where.python is not None else "")


def _ingredients(report: Report) -> Iterator[tuple[str, str]]:
    if report.environment.packages:
        yield "Packages", ", ".join(f"{name} {version}" for name, version in report.environment.packages.items())
    if report.outputs is not None:
        yield "Judged from outputs with SHA-256", report.outputs
