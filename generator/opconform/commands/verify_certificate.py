"""`opconform verify-certificate`."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from opconform.commands.signing import check_suite_files
from opconform.suite import open_suite

if TYPE_CHECKING:
    from opconform_runners.statement import Statement


@click.command("verify-certificate")
@click.argument("certificate", type=click.Path(path_type=Path))
@click.option("--key", type=click.Path(path_type=Path), required=True, help="The signer's public key.")
@click.option("--results", type=click.Path(path_type=Path), help="The folder of the results that were certified.")
@click.option("--suite", type=click.Path(path_type=Path), help="The suite that was run.")
@click.option("--outputs", type=click.Path(path_type=Path), help="The file of outputs that was judged, where one was.")
@click.option("--json", "as_json", is_flag=True, help="Print the statement as JSON.")
def command(
    certificate: Path, key: Path, results: Path | None, suite: Path | None, outputs: Path | None, as_json: bool
) -> None:
    """Check the signature of CERTIFICATE and, given results and suite, every digest and every count in it.

    Ends with 0 where all that could be checked is right and the backend is conformant, and with 1 otherwise.
    """
    from opconform_runners.certificate import check_claims, check_outputs, check_results, check_suite, read_certificate
    from opconform_runners.keys import read_public
    from opconform_runners.statement import statement_bytes

    public = read_public(key)
    statement = read_certificate(certificate, public)
    checked = [f"the signature, made with the key {public.id}"]
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
        checked.append(f"the suite {suite}")
        if results is not None:
            check_claims(statement, results, opened)
            checked.append("every claim, worked out anew")
    if as_json:
        click.echo(json.dumps({"statement": json.loads(statement_bytes(statement)), "checked": checked}))
    else:
        for line in _lines(statement, checked, results is not None and suite is not None):
            click.echo(line)
    raise click.exceptions.Exit(0 if statement.predicate.opconform.conformant else 1)


def _lines(statement: "Statement", checked: list[str], everything: bool) -> list[str]:
    said = statement.predicate.opconform
    device = f" on {said.backend.device}" if said.backend.device else ""
    verdict = "CONFORMANT" if said.conformant else "NOT CONFORMANT"
    profiles = ", ".join(f"{each.name} {'passed' if each.passed else 'not passed'}" for each in said.profiles)
    origin = ", judged from outputs that were made elsewhere" if said.judged else ""
    lines = [
        f"{verdict} ({statement.predicate.result}): {said.backend.name} {said.backend.version}{device}{origin}",
        f"suite {said.suite.version}, digest {said.suite.digest}, {sum(said.cases.values()):,} cases",
        f"profiles: {profiles}",
        f"signed at {said.timestamp}",
        f"Checked: {'; '.join(checked)}.",
    ]
    if statement.predicate.failed:
        lines.insert(3, f"broken: {', '.join(statement.predicate.failed)}")
    if not everything:
        lines.append("Not checked: what --results and --suite would allow to check.")
    return lines
