"""The summary of a certificate for a person."""

from collections.abc import Iterator, Mapping

from opconform.generation.provenance import foreign_specs
from opconform.specs.loader import shipped_files
from opconform.suite.manifest import HEADER, MANIFEST
from opconform_runners.certificates.statement import Statement
from opconform_runners.harness.environment import environment_facts
from opconform_runners.reports.report import coverage_text
from opconform_runners.reports.text import printable


def summary_lines(statement: Statement) -> Iterator[str]:
    """The lines of the summary, with unprintable characters escaped."""
    yield from map(printable, _lines(statement))


def _lines(statement: Statement) -> Iterator[str]:
    predicate, finding = statement.predicate, statement.predicate.opconform
    backend, total = finding.backend, sum(finding.cases.values())
    device = f" on {backend.device}" if backend.device else ""
    verdict = "CONFORMANT" if finding.conformant else "NOT CONFORMANT"
    origin = ", judged from outputs recorded elsewhere" if finding.judged else ""
    coverage = coverage_text(finding.supported, total)
    yield f"{verdict} ({predicate.result}), {coverage}: {backend.name} {backend.version}{device}{origin}"
    facts = environment_facts(finding.environment, backend.device)
    if facts:
        yield "; ".join(f"{name.lower()}: {each}" for name, each in facts)
    files = {each.name: each.digest["sha256"] for each in predicate.configuration}
    specs = {name: digest for name, digest in files.items() if name not in (HEADER, MANIFEST)}
    yield f"suite {finding.suite.version}, digest {finding.suite.digest}, {_specs_phrase(specs)}"
    profiles = (f"{each.name} {'passed' if each.passed else 'not passed'}" for each in finding.profiles)
    yield f"profiles: {', '.join(profiles)}"
    others = "".join(f", {count:,} {name}" for name, count in finding.cases.items() if count and name != "pass")
    yield f"cases: {finding.cases['pass']:,} of {total:,} pass{others}"
    if predicate.failed:
        yield f"broken: {', '.join(predicate.failed)}"
    if predicate.warned:
        yield f"warned: {', '.join(predicate.warned)}"
    mapped = sum(each.mapped for each in finding.requirements)
    if mapped:
        yield f"{mapped} of {len(finding.requirements)} requirements are fulfilled by the harness, not by the backend"
    yield f"signed at {finding.timestamp}"


def _specs_phrase(specs: Mapping[str, str]) -> str:
    """Whether spec files, by name and SHA-256, are the shipped ones, and which of them differ or are left out."""
    foreign = foreign_specs(specs)
    if foreign:
        return f"NOT THE SHIPPED SPECS: {', '.join(foreign)} (custom, or of another version of opconform)"
    shipped = set(shipped_files())
    known, operations = ({each.partition("/")[0] for each in names} for names in (shipped, specs))
    phrase = "the shipped specs"
    if operations < known:
        phrase += f" of {len(operations)} of {len(known)} operations: {', '.join(sorted(operations))}"
    left_out = sorted(each for each in shipped - set(specs) if each.partition("/")[0] in operations)
    return f"{phrase}{';' if operations < known else ''} except {', '.join(left_out)}" if left_out else phrase
