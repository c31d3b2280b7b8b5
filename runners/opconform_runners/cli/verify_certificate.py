"""`opconform verify-certificate`."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from opconform.errors import UsageError
from opconform.generation.provenance import foreign_specs
from opconform.suite.manifest import HEADER, MANIFEST
from opconform.suite.reader import open_suite
from opconform_runners.cli.shared.options import PATH
from opconform_runners.cli.shared.signature import check_origin, check_suite_files, specs_sentence
from opconform_runners.cli.shared.terminal import print_document

if TYPE_CHECKING:
    from opconform_runners.certificates.statement import Finding, Statement


@dataclass(frozen=True, kw_only=True, slots=True)
class _Options:
    certificate: Path
    key: Path
    results: Path | None
    suite: Path | None
    outputs: Path | None
    profiles: tuple[str, ...]
    require_conformant: bool
    as_json: bool


@click.command("verify-certificate")
@click.argument("certificate", type=PATH)
@click.option("--key", type=PATH, required=True, help="The signer's public key.")
@click.option("--results", type=PATH, help="The folder of the certified results.")
@click.option("--suite", type=PATH, help="The suite that was run; generate it yourself for an independent check.")
@click.option("--outputs", type=PATH, help="The file of outputs, if outputs were judged.")
@click.option("--profile", "profiles", multiple=True, metavar="NAME", help="Require this profile; repeatable.")
@click.option("--require-conformant", is_flag=True, help="Exit with 1 if the backend is not conformant.")
@click.option("--json", "as_json", is_flag=True, help="Print the statement and the checks as JSON.")
def command(**given: Any) -> None:
    """Check the signature of CERTIFICATE and, with --results and --suite, every digest and count in it.

    Exit code: 0 if everything that was checked is right, whatever the certificate says about the backend, 1 otherwise.
    With --require-conformant it is also 1 if the backend is not conformant.
    """
    options = _Options(**given)
    statement, checked, unchecked = _verified(options)
    if options.as_json:
        from opconform_runners.certificates.statement import statement_bytes

        document = {"statement": json.loads(statement_bytes(statement)), "checked": checked, "not_checked": unchecked}
        print_document(json.dumps(document))
    else:
        for line in _lines(statement):
            click.echo(line)
        click.echo(f"Checked: {'; '.join(checked)}.")
        if unchecked:
            click.echo(f"Not checked: {'; '.join(unchecked)}.")
    is_conformant = statement.predicate.opconform.conformant
    raise click.exceptions.Exit(1 if options.require_conformant and not is_conformant else 0)


def _verified(options: _Options) -> tuple["Statement", list[str], list[str]]:
    """The statement of a certificate, what was checked, and what was not."""
    from opconform_runners.certificates.certificate import (
        check_claims,
        check_outputs,
        check_profiles,
        check_results,
        check_suite,
        check_verdicts,
        read_certificate,
    )
    from opconform_runners.certificates.keys import read_public
    from opconform_runners.execution.outputs_archive import open_recorded

    results, suite, outputs = options.results, options.suite, options.outputs
    public = read_public(options.key)
    if not options.certificate.is_file():
        raise UsageError(
            f"There is no certificate at {options.certificate}. Name the certificate.json that `--sign` wrote."
        )
    statement = read_certificate(options.certificate, public)
    checked = [f"the signature, made with the key {public.keyid}"]
    check_profiles(statement, options.profiles)
    if results is not None:
        check_results(statement, results)
        checked.append(f"the digests and counts of {results}")
    if outputs is not None:
        check_outputs(statement, outputs)
        checked.append(f"the digest of {outputs}")
    if suite is not None:
        check_suite_files(suite)
        opened = open_suite(suite)
        check_suite(statement, opened)
        check_origin(opened)
        checked.append(f"the suite {suite}")
        if not foreign_specs(opened.header.specs):
            checked.append("every golden, evaluated again from the shipped specs")
        if results is not None:
            check_claims(statement, results, opened)
            checked.append("every count and conclusion, derived again from the verdicts")
            if outputs is not None:
                check_verdicts(results, opened, open_recorded(outputs))
                checked.append("every verdict, judged again from the outputs")
    unchecked = [*_unchecked(statement.predicate.opconform.judged, options)]
    if suite is not None and foreign_specs(opened.header.specs):
        unchecked.append("the goldens, since opconform does not ship the suite's specs")
    return statement, checked, unchecked


def _lines(statement: "Statement") -> Iterator[str]:
    from opconform_runners.harness.environment import environment_facts
    from opconform_runners.reports.report import coverage_text
    from opconform_runners.reports.text import printable

    said = statement.predicate.opconform
    device = f" on {said.backend.device}" if said.backend.device else ""
    verdict = "CONFORMANT" if said.conformant else "NOT CONFORMANT"
    origin = ", judged from outputs that were made elsewhere" if said.judged else ""
    specs = {
        each.name: each.digest["sha256"]
        for each in statement.predicate.configuration
        if each.name not in (HEADER, MANIFEST)
    }
    profiles = ", ".join(f"{each.name} {'passed' if each.passed else 'not passed'}" for each in said.profiles)
    coverage = coverage_text(said.supported, sum(said.cases.values()))
    backend = f"{said.backend.name} {said.backend.version}{device}{origin}"
    yield printable(f"{verdict} ({statement.predicate.result}), {coverage}: {backend}")
    facts = environment_facts(said.environment, said.backend.device)
    if facts:
        yield printable("; ".join(f"{what.lower()}: {each}" for what, each in facts))
    yield printable(f"suite {said.suite.version}, digest {said.suite.digest}, {specs_sentence(specs)}")
    yield printable(f"profiles: {profiles}")
    yield printable(f"cases: {_counted(said)}")
    yield from (printable(each) for each in _reservations(statement))
    yield f"signed at {said.timestamp}"


def _counted(said: "Finding") -> str:
    """The number of cases by verdict."""
    total = sum(said.cases.values())
    others = "".join(f", {count:,} {name}" for name, count in said.cases.items() if count and name != "pass")
    return f"{said.cases['pass']:,} of {total:,} pass{others}"


def _reservations(statement: "Statement") -> Iterator[str]:
    """The requirements that are broken, in doubt, or fulfilled by the harness."""
    mapped = sum(each.mapped for each in statement.predicate.opconform.requirements)
    if statement.predicate.failed:
        yield f"broken: {', '.join(statement.predicate.failed)}"
    if statement.predicate.warned:
        yield f"in doubt: {', '.join(statement.predicate.warned)}"
    if mapped:
        total = len(statement.predicate.opconform.requirements)
        yield f"{mapped} of {total} requirements are fulfilled by the harness, not by the backend"


def _unchecked(judged: bool, options: _Options) -> Iterator[str]:
    """What was not checked, and what the check needs."""
    results, suite, outputs = options.results, options.suite, options.outputs
    if results is None:
        yield "the results, which need --results"
    if suite is None:
        yield "the suite, which needs --suite"
    if results is None or suite is None:
        yield "the counts and conclusions, which need both"
    if judged and (outputs is None or results is None or suite is None):
        yield "the verdicts, which need --outputs as well"
    if not judged:
        yield "the verdicts, which need another run of the backend"
