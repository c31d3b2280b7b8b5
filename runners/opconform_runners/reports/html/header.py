"""The header of each backend on the page: what was tested, and the verdict."""

from collections.abc import Iterator
from dataclasses import dataclass

from opconform_runners.harness.environment import UNKNOWN, environment_facts
from opconform_runners.reports.conclusion import conclusion
from opconform_runners.reports.html.subject import Link, Subject, cases_place
from opconform_runners.reports.report import Report


@dataclass(frozen=True, kw_only=True, slots=True)
class Head:
    """The header of one backend."""

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
    """The header of a backend; `number` is its position on the page."""
    report = subject.column.report
    suite, where = report.suite, report.environment
    profiles = f"the profile{'' if len(report.profiles) == 1 else 's'} {', '.join(report.profiles)}"
    first, *others = (each.replace("`", "") for each in conclusion(report))
    python = f", with {where.python}" if where.python is not None else ""
    return Head(
        title=subject.column.title,
        conclusion=report.conclusion,
        standing={True: "kept", False: "broken", None: "error"}[report.conformant],
        extent=f"{report.coverage}; {profiles}, suite {suite.version} ({suite.digest[:16]})",
        where="" if where == UNKNOWN else f"Run on {where.system}, {where.machine}{python}",
        sentences=(first.partition(": ")[2], *others),
        facts=tuple(_facts(report)),
        counts=tuple(
            (name, Link(f"{count:,}", cases_place(backend=number, verdict=name)))
            for name, count in report.summary.items()
            if count
        ),
        started=report.started,
    )


def _facts(report: Report) -> Iterator[tuple[str, str]]:
    who, suite, packages = report.implementation, report.suite, report.environment.packages
    yield "Tested", f"{who.name} {who.version}" + (f" on {who.device}" if who.device else "")
    yield from environment_facts(report.environment, who.device)
    if packages:
        yield "Packages", ", ".join(f"{name} {version}" for name, version in packages.items())
    if report.outputs is not None:
        yield "Judged from outputs with SHA-256", report.outputs
    yield "Extent", "whole profiles" if report.whole else "a selection, which cannot be certified"
    yield "Rules", "interpretations count as well (strict)" if report.strict else "normative requirements count"
    yield "Given as", ", ".join(who.dialects) or "the case itself"
    yield "Suite", f"version {suite.version}, seed {suite.seed}, by opconform {suite.generator}"
    yield "Suite digest", suite.digest
    for op, revisions in suite.specification.items():
        yield f"Specification of {op}", ", ".join(revisions)
