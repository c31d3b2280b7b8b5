"""`opconform certificate`."""

import json
from pathlib import Path
from typing import Any

import click

from opconform.errors import UsageError
from opconform.suite.reader import open_suite
from opconform_runners.cli.shared.help import HelpGroup
from opconform_runners.cli.shared.options.general import (
    PATH,
    SOURCE,
    PrivateKey,
    ResultOptions,
    json_option,
    private_key,
    result_options,
    sign_option,
)
from opconform_runners.cli.shared.output.printer import print_result
from opconform_runners.cli.shared.output.progress import progress
from opconform_runners.cli.shared.steps import conclude, folder_of, hold, sign_results
from opconform_runners.execution.log.record import open_record
from opconform_runners.execution.log.replay import judge
from opconform_runners.execution.log.suite_place import suite_of_results
from opconform_runners.execution.plan import RunOptions
from opconform_runners.verdicts.results import RESULTS, read_written


@click.group("certificate", cls=HelpGroup)
def command() -> None:
    """Sign results, check certificates, and judge recorded outputs."""


@command.command("keygen", example="certificate keygen me")
@click.argument("name", type=PATH)
def _keygen(name: Path) -> None:
    """Generate a key pair.

    NAME.key (ed25519) signs certificates, and NAME.pub verifies the signatures. Only you can read NAME.key. Existing
    files are never overwritten.
    """
    from opconform_runners.certificates.keys import write_pair

    private, public, key_id = write_pair(name)
    click.echo(f"{private} is the private key; keep it secret.")
    click.echo(f"{public} is the public key; publish it. Its id is {key_id}.")


@command.command("sign", example="certificate sign opconform-out/numpy --key me.key")
@click.argument("results", type=PATH)
@click.option("--key", type=PATH, required=True, callback=private_key, help="The private key, from `keygen`.")
@click.option("--suite", type=PATH, help="The suite that was run, if it is no longer where it was.")
def _sign(results: Path, key: PrivateKey, suite: Path | None) -> None:
    """Sign the results of a complete certification.

    RESULTS is the folder that `certify` or `certificate judge` wrote. Writes certificate.json to it, as `--sign` of
    those commands does, whether or not the backend is conformant. Of several backends, each gets a certificate in its
    own folder.
    """
    from opconform_runners.certificates.certified_results import check_whole

    folder = results if results.is_dir() else results.parent
    inner = [] if (folder / RESULTS).exists() else sorted(path.parent for path in folder.glob(f"*/{RESULTS}"))
    places: dict[Path, Path] = {}
    for run in inner or [folder]:
        check_whole(read_written(run / RESULTS).header, run)
        place = suite or suite_of_results(run)
        if place is None:
            raise UsageError(f"The suite of {run} was not found. Use --suite to name the suite that was run.")
        places[run] = place
    for run, place in places.items():
        click.echo(sign_results(run, place, key, witnessed=False))


@command.command("verify", example="certificate verify certificate.json --key me.pub")
@click.argument("certificate", type=PATH)
@click.option("--key", type=PATH, required=True, help="The signer's public key.")
@click.option("--results", type=SOURCE, help="The folder of the certified results.")
@click.option("--suite", type=SOURCE, help="The suite that was run; generate it yourself for an independent check.")
@click.option("--record", "outputs", type=SOURCE, help="The recorded outputs that were judged, if any.")
@click.option("--profile", "profiles", multiple=True, metavar="NAME", help="Require this profile (repeatable).")
@click.option("--require-conformant", is_flag=True, help="Exit with 1 if the backend is not conformant.")
@json_option("the statement and the checks")
def _verify(certificate: Path, key: Path, require_conformant: bool, as_json: bool, **evidence: Any) -> None:
    """Check a certificate.

    Checks the signature and, with --results and --suite, every digest and count in the certificate.

    Exit code: 0 if all checks pass, whatever the certificate says about the backend, 1 otherwise.
    With --require-conformant it is also 1 if the backend is not conformant.
    """
    from opconform_runners.certificates.statement import statement_bytes, summary_lines
    from opconform_runners.certificates.verification import verified

    statement, checked, unchecked = verified(certificate, key, **evidence)
    lines = [*summary_lines(statement), f"Checked: {'; '.join(checked)}."]
    document = {"statement": json.loads(statement_bytes(statement)), "checked": checked, "not_checked": unchecked}
    print_result(document, lines + [f"Not checked: {'; '.join(unchecked)}."] * bool(unchecked), as_json=as_json)
    is_conformant = statement.predicate.opconform.conformant
    raise click.exceptions.Exit(1 if require_conformant and not is_conformant else 0)


@command.command("judge", example="certificate judge record.zip --suite suite --sign me.key")
@click.argument("record", type=SOURCE)
@click.option("--suite", type=SOURCE, required=True, help="The suite that was run, with its expected outputs.")
@result_options
@sign_option
def _judge(record: Path, suite: Path, results: ResultOptions, key: "PrivateKey | None") -> None:
    """Judge outputs that were recorded elsewhere.

    RECORD is a file that `opconform run --record` wrote; the backend is not run. Writes results.jsonl, report.json and
    report.html to --out, and certificate.json with --sign. The exit codes are those of `opconform run`.
    """
    full, recorded = open_suite(suite), open_record(record)
    folder = results.out or folder_of(recorded.header.implementation.name)
    hold(folder)
    with progress("judge", quiet=results.is_silent) as on_progress:
        options = RunOptions(strict=results.strict, least_accuracy=results.least_accuracy, force=results.force)
        run = judge(full, recorded, folder, on_progress, options)
    conclude(run, full, folder, results, key)
