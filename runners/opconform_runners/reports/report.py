"""`report.json`: a run by verdict, by profile and by requirement, and whether the backend is conformant."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from opconform.errors import DiskError
from opconform.files import replace_file
from opconform.suite.manifest import Header, Level, RequirementNote
from opconform_runners.backends.backend import HARDWARE, Implementation, full_name
from opconform_runners.execution.runner import Run
from opconform_runners.harness.environment import Environment, environment_document
from opconform_runners.verdicts.baseline_check import Comparison, comparison_document
from opconform_runners.verdicts.origin import SuiteNote, suite_note
from opconform_runners.verdicts.results import REPORT, Result, result_document

FORMAT = 1
#: The verdicts in the order in which reports count them.
VERDICTS = ("pass", "fail", "unsupported", "inconclusive", "error")
#: The verdicts that say something of the backend.
DECIDED = ("pass", "fail")


@dataclass(frozen=True, kw_only=True, slots=True)
class RequirementRow:
    """What a run says of one requirement.

    Attributes:
        counts: The cases by verdict; a failure that speaks against other requirements of its case is not counted here.
    """

    op: str
    id: str
    level: Level
    text: str
    counts: Mapping[str, int]

    @property
    def is_broken(self) -> bool:
        """Whether a case shows the backend to violate it."""
        return self.counts["fail"] > 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """A run, summed up.

    Attributes:
        started: The options of the command line that name the backend, as in `--backend openvino:CPU`; empty where
            nobody said.
        whole: Whether whole profiles were run, as a certificate needs.
        strict: Whether interpretations count as much as normative requirements.
        conformant: None where the verdict is incomplete.
        incomplete: Why it is, a clause per reason; empty where `conformant` is not None.
        is_finished: Whether every case has a verdict, and none an error of the harness.
        unsaid: The broken cases that name no requirement, which count as normative.
        environment: Where the backend ran.
        outputs: The SHA-256 of the file of outputs that was judged, or None where a harness was.
        baseline: How it compares with the failures that were expected, where a baseline was given.
    """

    suite: SuiteNote
    implementation: Implementation
    started: str
    results: tuple[Result, ...]
    missing: tuple[str, ...]
    gave_up: str | None
    whole: bool
    strict: bool
    requirements: tuple[RequirementRow, ...]
    unsaid: int
    conformant: bool | None
    incomplete: tuple[str, ...]
    is_finished: bool
    environment: Environment
    outputs: str | None
    baseline: Comparison | None

    @property
    def summary(self) -> dict[str, int]:
        """The cases by verdict."""
        return _counts(self.results)

    @property
    def unsettled(self) -> str:
        """Why the verdict is incomplete, in a sentence without its full stop; empty where it is not."""
        return "; ".join(self.incomplete)

    @property
    def supported(self) -> int:
        """How many cases passed or failed: the others say nothing of the backend."""
        return sum(each.verdict in DECIDED for each in self.results)

    @property
    def coverage(self) -> str:
        """How many cases the verdict rests on, as in `1,430 of 3,354 cases supported`."""
        return coverage_text(self.supported, len(self.results) + len(self.missing))

    @property
    def verdict(self) -> str:
        """The conclusion and the coverage, as in `conformant, 1,430 of 3,354 cases supported`."""
        return f"{self.conclusion}, {self.coverage}"

    @property
    def conclusion(self) -> str:
        """The verdict on the whole, in two words at the most."""
        return "incomplete" if self.conformant is None else "conformant" if self.conformant else "not conformant"

    @property
    def broken(self) -> tuple[RequirementRow, ...]:
        """The requirements whose violation makes the backend non-conformant."""
        return tuple(
            each for each in self.requirements if each.is_broken and (self.strict or each.level == "normative")
        )

    @property
    def differing(self) -> tuple[RequirementRow, ...]:
        """The interpretations that the backend reads otherwise, where that does not count against it."""
        return tuple(each for each in self.requirements if each.is_broken and each not in self.broken)


def report_of(
    suite: Header, run: Run, *, whole: bool, strict: bool, started: str = "", baseline: Comparison | None = None
) -> Report:
    """The report of a run.

    Args:
        suite: The suite's header.
        run: The run.
        whole: Whether whole profiles were run.
        strict: Whether interpretations count as much as normative requirements.
        started: The options that name the backend.
        baseline: How it compares with the failures that were expected.
    """
    return summed_up(
        suite=suite_note(suite),
        implementation=run.implementation.without_hardware(),
        started=started,
        notes=suite.requirements,
        results=run.results,
        missing=run.missing,
        gave_up=run.gave_up,
        whole=whole,
        strict=strict,
        environment=run.environment,
        outputs=run.outputs,
        baseline=baseline,
    )


def recounted(
    report: Report, results: Sequence[Result], *, missing: Sequence[str] = (), gave_up: str | None = None
) -> Report:
    """The same report with other results, such as those of one profile."""
    notes: dict[str, dict[str, RequirementNote]] = {}
    for row in report.requirements:
        notes.setdefault(row.op, {})[row.id] = RequirementNote(level=row.level, text=row.text)
    return summed_up(
        suite=report.suite,
        implementation=report.implementation,
        started=report.started,
        notes=notes,
        results=results,
        missing=missing,
        gave_up=gave_up,
        whole=report.whole,
        strict=report.strict,
        environment=report.environment,
        outputs=report.outputs,
        baseline=report.baseline,
    )


def summed_up(
    *,
    suite: SuiteNote,
    implementation: Implementation,
    started: str,
    notes: Mapping[str, Mapping[str, RequirementNote]],
    results: Sequence[Result],
    missing: Sequence[str],
    gave_up: str | None,
    whole: bool,
    strict: bool,
    environment: Environment,
    outputs: str | None,
    baseline: Comparison | None,
) -> Report:
    """The report that some results come to, each argument but `notes` as `Report` has it.

    `notes` holds the level and the text of every requirement, by operation and id.
    """
    rows = tuple(_rows(notes, results))
    unsaid = sum(is_unsaid(each, rows) for each in results)
    broken = any(each.is_broken and (strict or each.level == "normative") for each in rows) or unsaid > 0
    unfinished = _unfinished(results, missing, gave_up)
    incomplete = unfinished or (() if broken else _gaps(rows, results, implementation, strict=strict))
    return Report(
        suite=suite,
        implementation=implementation,
        started=started,
        results=tuple(results),
        missing=tuple(missing),
        gave_up=gave_up,
        whole=whole,
        strict=strict,
        requirements=rows,
        unsaid=unsaid,
        conformant=None if incomplete else not broken,
        incomplete=incomplete,
        is_finished=not unfinished,
        environment=environment,
        outputs=outputs,
        baseline=baseline,
    )


def coverage_text(supported: int, cases: int) -> str:
    """How many cases are supported, as in `1,430 of 3,354 cases supported`."""
    return f"{supported:,} of {cases:,} {'case' if cases == 1 else 'cases'} supported"


def _unfinished(results: Sequence[Result], missing: Sequence[str], gave_up: str | None) -> tuple[str, ...]:
    """Why a run did not give every case a verdict; empty where it did."""
    if gave_up is not None:
        return (gave_up.rstrip("."),)
    errors = sum(each.verdict == "error" for each in results)
    if errors:
        return (f"{errors:,} {'case' if errors == 1 else 'cases'} ended in an error of the harness",)
    if missing:
        return (f"{len(missing):,} {'case has' if len(missing) == 1 else 'cases have'} no verdict",)
    return ()


def _gaps(
    rows: Sequence[RequirementRow], results: Sequence[Result], implementation: Implementation, *, strict: bool
) -> tuple[str, ...]:
    """What a finished run that broke nothing leaves open, so that the backend is not shown to be conformant.

    A requirement that the harness fulfils on the backend's behalf needs no decided case.
    """
    essential = [each for each in results if each.essential]
    lacking = [each for each in essential if each.verdict not in DECIDED]
    undecided = [
        f"{row.op}:{row.id}"
        for row in rows
        if (strict or row.level == "normative")
        and full_name(row.op, row.id) not in implementation.mapped
        and any(row.counts.values())
        and not any(row.counts[name] for name in DECIDED)
    ]
    gaps = []
    if not any(each.verdict in DECIDED for each in results):
        gaps.append("no case was supported")
    elif lacking:
        first = min(each.id for each in lacking)
        gaps.append(f"{len(lacking):,} of {len(essential):,} essential cases were not supported, such as {first}")
    if undecided:
        gaps.append(f"no case was supported for {', '.join(undecided)}")
    return tuple(gaps)


def write_report(out: Path, report: Report) -> None:
    """Write `report.json`, whole or not at all.

    Raises:
        DiskError: The disk refuses.
    """
    try:
        replace_file(out / REPORT, report_text(report).encode())
    except OSError as fault:
        raise DiskError(out / REPORT, fault) from fault


def report_text(report: Report) -> str:
    """`report.json` as it is written."""
    return json.dumps(report_document(report), indent=1, ensure_ascii=False) + "\n"


def report_document(report: Report) -> dict[str, object]:
    """A report as a JSON object."""
    suite = report.suite
    document: dict[str, object] = {
        "format": FORMAT,
        "suite": {
            "digest": suite.digest,
            "version": suite.version,
            "generator": suite.generator,
            "seed": suite.seed,
            "specification": {op: list(each) for op, each in suite.specification.items()},
        },
        "implementation": {
            name: value for name, value in asdict(report.implementation).items() if name not in HARDWARE
        },
        "started": report.started,
        "environment": environment_document(report.environment),
        **({} if report.outputs is None else {"outputs": report.outputs}),
        "whole": report.whole,
        "strict": report.strict,
        "conformant": report.conformant,
        "incomplete": list(report.incomplete),
        "coverage": {"supported": report.supported, "cases": len(report.results) + len(report.missing)},
        "gave_up": report.gave_up,
        "missing": list(report.missing),
        "summary": report.summary,
        "profiles": {
            name: _counts(each for each in report.results if each.profile == name)
            for name in sorted({each.profile for each in report.results})
        },
        "requirements": {
            op: {
                each.id: {"level": each.level, "text": each.text, "broken": each.is_broken, **each.counts}
                for each in report.requirements
                if each.op == op
            }
            for op in sorted({each.op for each in report.requirements})
        },
        "cases": [result_document(each) for each in report.results],
    }
    return document if report.baseline is None else document | {"baseline": comparison_document(report.baseline)}


def _rows(
    requirements: Mapping[str, Mapping[str, RequirementNote]], results: Sequence[Result]
) -> Iterable[RequirementRow]:
    ran = {each.op for each in results}
    for op, notes in requirements.items():
        for name, note in notes.items():
            if op in ran:
                counted = [
                    each
                    for each in results
                    if each.op == op and name in (each.broken if each.verdict == "fail" else each.requirements)
                ]
                yield RequirementRow(op=op, id=name, level=note.level, text=note.text, counts=_counts(counted))


def is_unsaid(result: Result, rows: Iterable[RequirementRow]) -> bool:
    """Whether a case fails without naming a requirement that has a row, which counts as normative."""
    if result.verdict != "fail" or result.reason == "nan-payload":
        return False
    return not any(row.op == result.op and row.id in result.broken for row in rows)


def failures_by_kind(results: Sequence[Result]) -> dict[tuple[str, tuple[str, ...], str], list[Result]]:
    """The failures by operation, broken requirements and reason."""
    groups: dict[tuple[str, tuple[str, ...], str], list[Result]] = defaultdict(list)
    for each in results:
        if each.verdict == "fail":
            groups[each.op, each.broken, each.reason or ""].append(each)
    return dict(sorted(groups.items()))


def _counts(results: Iterable[Result]) -> dict[str, int]:
    counts: Counter[str] = Counter(each.verdict for each in results)
    return {name: counts[name] for name in VERDICTS}
