"""The files of a product's release, `findings/BACKEND-RELEASE.json` and, for a new release, `.yaml`.

`python -m maintenance.product BACKEND --results FOLDER...` renews how cases of the operations that were run end, from one
or several runs of the profiles `core` and `graphs` on the release of the newest file; several, since memory faults end
differently from run to run.
`python -m maintenance.product BACKEND VERSION` runs that version, which is installed in an environment of its own,
and writes both files: of the findings of the newest file, those that still occur. Each failing case gets the numbers of
the findings that explain it; what a person must class is printed.
"""

import argparse
import json
import re
import shlex
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from maintenance import ROOT
from maintenance.findings import NAMED
from opconform.errors import counted
from opconform_runners.findings.finding import Finding
from opconform_runners.findings.known.release import (
    KnownFailure,
    KnownFinding,
    KnownProduct,
    KnownRun,
    read_known_product,
    read_known_run,
)
from opconform_runners.findings.report import VERDICTS, Report
from opconform_runners.reports.report_file import read_report
from opconform_runners.tools.history.environments import Environments, default_cache
from opconform_runners.tools.history.installer import installer_in, interpreter_in
from opconform_runners.tools.history.releases import ordered, package_of
from opconform_runners.verdicts.baseline import Ending, ending_of
from opconform_runners.verdicts.results import REPORT, Result

PRODUCTS = ROOT / "runners" / "opconform_products"
PROFILES = ("core", "graphs")
#: What a case may end in that reads or writes memory that is not its own.
_OF_MEMORY: tuple[Ending, ...] = ("nondeterministic", "crash", "pass")
#: The text of each finding of a file, whose layout people chose.
_ITEM = re.compile(r"^  - number: (\d+)\n(?:(?!  - number: ).*\n)*", re.MULTILINE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Runs:
    """One or several runs of the same cases on the same release; the first has the counts and the findings."""

    reports: Sequence[Report]

    @property
    def results(self) -> Mapping[str, list[Result]]:
        """The results of each case that fails in a run, of all runs."""
        failing = {x.id for report in self.reports for x in report.results if x.verdict == "fail"}
        by_case: dict[str, list[Result]] = {}
        for report in self.reports:
            for result in report.results:
                if result.id in failing:
                    by_case.setdefault(result.id, []).append(result)
        return dict(sorted(by_case.items()))

    @property
    def findings(self) -> Mapping[str, list[Finding]]:
        """The findings of the runs that each case is in."""
        by_case: dict[str, list[Finding]] = defaultdict(list)
        for report in self.reports:
            for finding in report.findings:
                for case in finding.cases:
                    by_case[case].append(finding)
        return by_case


def classed(runs: Runs, known: Sequence[KnownFinding]) -> dict[str, tuple[int, ...]]:
    """The numbers of the known findings that explain each failing case; none for what a person must class.

    A finding explains the cases that it names; those that a run joins with one of these, by condition and symptom, if
    they break one of its requirements; else those of its operations that break the most of its requirements and
    fail for the same reason; and else those of its operations that a run joins with one of its cases.
    """
    named: dict[str, list[KnownFinding]] = defaultdict(list)
    for finding in known:
        for case in cases_of(finding):
            named[case].append(finding)
    results, joined = runs.results, runs.findings
    numbers: dict[str, tuple[int, ...]] = {}
    for case, ended in results.items():
        broken = {name for result in ended for name in result.broken}
        alike = {x.number: x for finding in joined[case] for other in finding.cases for x in named.get(other, ())}
        chosen = named.get(case) or [x for x in alike.values() if broken & {*x.requirement}]
        chosen = chosen or _nearest(ended[0], broken, known, results) or _of_operation(case, alike.values())
        numbers[case] = tuple(sorted(x.number for x in chosen))
    return numbers


def _of_operation(case: str, alike: Iterable[KnownFinding]) -> list[KnownFinding]:
    """The findings that are about the operation of a case."""
    op = case.partition("/")[0]
    return [finding for finding in alike if op in {known.partition("/")[0] for known in cases_of(finding)}]


def is_gone(finding: KnownFinding, runs: Runs, numbers: Mapping[str, tuple[int, ...]]) -> bool:
    """Whether a finding explains no failing case, and its own case was run."""
    occurs = any(finding.number in of_case for of_case in numbers.values())
    return not occurs and finding.varies is None and any(x.id == finding.case for x in runs.reports[0].results)


def cases_of(finding: KnownFinding) -> list[str]:
    """The case of a finding, and those that its sentences name."""
    return list(dict.fromkeys([finding.case, *NAMED.findall(finding.observed)]))


def _nearest(
    result: Result, broken: set[str], known: Sequence[KnownFinding], results: Mapping[str, list[Result]]
) -> list[KnownFinding]:
    """The findings in the operation that break the most of the same requirements, for the same reason if one does."""
    scores: dict[int, tuple[int, bool]] = {}
    for finding in known:
        if result.op in {case.partition("/")[0] for case in cases_of(finding)} and broken & {*finding.requirement}:
            reasons = {x.reason for case in cases_of(finding) for x in results.get(case, ())}
            scores[finding.number] = len(broken & {*finding.requirement}), result.reason in reasons
    best = max(scores.values(), default=None)
    return [finding for finding in known if scores.get(finding.number) == best and best is not None]


def known_run(runs: Runs, numbers: Mapping[str, tuple[int, ...]], known: Sequence[KnownFinding]) -> KnownRun:
    """How the cases end, as a product's folder has it. Memory faults, and what varies, may end in another way, or pass."""
    first, varying = runs.reports[0], {x.number for x in known if x.state is not None or x.varies is not None}
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for result in first.results:
        counts[result.op][result.verdict] += 1
    failures = {}
    for case, ended in runs.results.items():
        ends: dict[Ending, None] = dict.fromkeys(ending_of(x) or "pass" for x in ended if x.verdict in ("pass", "fail"))
        if varying & {*numbers[case]}:
            ends |= dict.fromkeys(_OF_MEMORY)
        broken = tuple(dict.fromkeys(name for x in ended for name in x.broken))
        failures[case] = KnownFailure(ends=tuple(ends), broken=broken, findings=numbers[case])
    run = {x.id for x in first.results}
    for finding in known:  # a memory fault that no run shows
        if finding.number in varying and finding.case in run - failures.keys():
            failures[finding.case] = KnownFailure(ends=_OF_MEMORY, findings=(finding.number,))
    failures = dict(sorted(failures.items()))
    operations = {op: {name: counts[op][name] for name in VERDICTS if counts[op][name]} for op in sorted(counts)}
    suite, version = first.suite.version, first.implementation.version
    profile = " and ".join(PROFILES)
    return KnownRun(suite=suite, profile=profile, version=version, operations=operations, failures=failures)


def renewed(before: KnownRun, run: KnownRun) -> KnownRun:
    """How cases ended before, but for the operations that were run again."""
    kept = {case: x for case, x in before.failures.items() if case.partition("/")[0] not in run.operations}
    return replace(
        run,
        operations=dict(sorted({**before.operations, **run.operations}.items())),
        failures=dict(sorted({**kept, **run.failures}.items())),
    )


def run_text(run: KnownRun) -> str:
    """The file of how cases end: one line for each operation and each failure, so that changes are easy to read."""

    def lines(rows: Mapping[str, object]) -> str:
        return ",\n".join(f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items())

    head = {"suite": run.suite, "profile": run.profile, "version": run.version}
    fields = [f" {json.dumps(name)}: {json.dumps(value)}" for name, value in head.items()]
    failures = {case: {k: v for k, v in asdict(x).items() if v} for case, x in run.failures.items()}
    fields += [f' "operations": {{\n{lines(run.operations)}\n }}', f' "failures": {{\n{lines(failures)}\n }}']
    return "{\n" + ",\n".join(fields) + "\n}\n"


def product_text(text: str, version: str, gone: set[int]) -> str:
    """The findings of a file for another version, without those that are gone."""
    text = re.sub(r"^release: .*$", f"release: {version}", text, count=1, flags=re.MULTILINE)
    return _ITEM.sub(lambda match: "" if int(match[1]) in gone else match[0], text)


def newest(backend: str) -> Path:
    """The findings of the newest release of a backend's product."""
    stem = backend.replace(":", "-")
    pattern = f"*/findings/{stem}-[0-9]*.yaml"
    paths = {path.stem.removeprefix(f"{stem}-"): path for path in PRODUCTS.glob(pattern)}
    if not paths:
        sys.exit(f"{backend} has no findings: {PRODUCTS / pattern} matches no file.")
    return paths[ordered([*paths])[-1]]


def unclassed(runs: Runs, numbers: Mapping[str, tuple[int, ...]]) -> Iterator[str]:
    """One line for each finding of the first run with failing cases that no known finding explains."""
    results = {result.id: result for result in runs.reports[0].results}
    for finding in runs.reports[0].findings:
        if cases := [case for case in finding.cases if not numbers[case]]:
            result = results[cases[0]]
            names = ", ".join(result.broken) or "no requirement"
            when = f", when {finding.when}" if finding.when else ""
            yield f"{result.op} {names}: {finding.severity}, {counted(len(cases), 'case')}{when}: {cases[0]}: {result.sentence}"


def executed(backend: str, version: str, out: Path) -> list[Path]:
    """The folders of two runs of a version of a backend's package, in an environment of its own."""
    cache = default_cache()
    package, others = package_of(backend, None)
    environments = Environments(cache=cache, package=package, backend=backend, others=others)
    environments.claim()
    environments.prepare(version, installer_in(cache))
    suite, python = out / "suite", interpreter_in(environments.place(version))
    opconform = [sys.executable, "-m", "opconform"]
    dialects = [word for name in ("openvino", "onnx", "stablehlo") for word in ("--dialect", name)]
    profiles = [word for name in PROFILES for word in ("--profile", name)]
    subprocess.run([*opconform, "generate", *profiles, *dialects, "--out", suite], check=True)
    folders = [out / "first", out / "second"]
    for folder in folders:
        words = [
            "run",
            str(suite),
            backend,
            "--python",
            str(python),
            "--timeout",
            "60",
            "--no-known",
            "--out",
            str(folder),
        ]
        print(shlex.join(["opconform", *words]))
        if subprocess.run([*opconform, *words], check=False).returncode not in (0, 1):
            sys.exit(f"{backend} {version} cannot be run.")
    return folders


def main() -> None:
    """Write the files of a release, and print what a person must class."""
    parser = argparse.ArgumentParser(prog="python -m maintenance.product", description=__doc__.partition("\n")[0])
    parser.add_argument("backend")
    parser.add_argument("version", nargs="?", help="a version to install and run")
    parser.add_argument("--results", nargs="+", type=Path, default=[], help="folders of runs of operations")
    parser.add_argument("--out", type=Path, default=Path("opconform-out/product"), help="where a version is run")
    given = parser.parse_args()
    if bool(given.results) == (given.version is not None):
        parser.error("name either a version or --results")
    place = newest(given.backend)
    product: KnownProduct = read_known_product(place)
    folders = given.results or executed(given.backend, given.version, given.out / f"{given.backend}-{given.version}")
    if unfinished := [str(folder) for folder in folders if not (folder / REPORT).is_file()]:
        sys.exit(
            f"{', '.join(unfinished)} has no {REPORT}, by which failures are joined. Wait until the run has ended."
        )
    runs = Runs(reports=[read_report(folder) for folder in folders])
    numbers = classed(runs, product.findings)
    gone = {x.number: x for x in product.findings if is_gone(x, runs, numbers)}
    if given.version is not None:
        text = product_text(place.read_text(), given.version, {*gone})
        place = place.with_name(f"{given.backend.replace(':', '-')}-{given.version}.yaml")
        place.write_text(text)
    run, file = known_run(runs, numbers, product.findings), place.with_suffix(".json")
    if given.version is None and file.is_file():
        run = renewed(read_known_run(file), run)
    file.write_text(run_text(run))
    listed = sum(bool(x) for x in numbers.values())
    print(f"{file}: {counted(len(numbers), 'failing case')}, {listed} of them explained.")
    for finding in gone.values():
        print(f"gone: {finding.number} {finding.case}: {finding.observed[:100]}")
    for line in unclassed(runs, numbers):
        print(f"to class: {line}")


if __name__ == "__main__":
    main()
