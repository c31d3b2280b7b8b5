"""`opconform verify-certificate`."""

import json
from pathlib import Path
from typing import Any

import click

from opconform_runners.cli.shared.options import PATH, json_option
from opconform_runners.cli.shared.output import print_result


@click.command("verify-certificate")
@click.argument("certificate", type=PATH)
@click.option("--key", type=PATH, required=True, help="The signer's public key.")
@click.option("--results", type=PATH, help="The folder of the certified results.")
@click.option("--suite", type=PATH, help="The suite that was run; generate it yourself for an independent check.")
@click.option("--outputs", type=PATH, help="The file of outputs, if outputs were judged.")
@click.option("--profile", "profiles", multiple=True, metavar="NAME", help="Require this profile. Can be repeated.")
@click.option("--require-conformant", is_flag=True, help="Exit with 1 if the backend is not conformant.")
@json_option("the statement and the checks")
def command(certificate: Path, key: Path, require_conformant: bool, as_json: bool, **evidence: Any) -> None:
    """Check the signature of CERTIFICATE and, with --results and --suite, every digest and count in it.

    Exit code: 0 if all checks pass, whatever the certificate says about the backend, 1 otherwise.
    With --require-conformant it is also 1 if the backend is not conformant.
    """
    from opconform_runners.certificates.statement import statement_bytes
    from opconform_runners.certificates.summary import summary_lines
    from opconform_runners.certificates.verification import verified

    statement, checked, unchecked = verified(certificate, key, **evidence)
    lines = [*summary_lines(statement), f"Checked: {'; '.join(checked)}."]
    document = {"statement": json.loads(statement_bytes(statement)), "checked": checked, "not_checked": unchecked}
    print_result(document, lines + [f"Not checked: {'; '.join(unchecked)}."] * bool(unchecked), as_json=as_json)
    is_conformant = statement.predicate.opconform.conformant
    raise click.exceptions.Exit(1 if require_conformant and not is_conformant else 0)
