"""`opconform run`."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from opconform.errors import UsageError
from opconform.suite.path_kind import check_kind
from opconform.suite.selection.selection import Selection
from opconform_runners.cli.shared.defaults import completed
from opconform_runners.cli.shared.help import HelpCommand, rare_option
from opconform_runners.cli.shared.options.backends import BackendOptions, backend_options, complete_backends
from opconform_runners.cli.shared.options.cluster import ClusterOptions, cluster_options
from opconform_runners.cli.shared.options.expected import ExpectedOptions, expected_options
from opconform_runners.cli.shared.options.general import (
    SOURCE,
    TARGET,
    ResultOptions,
    alone_option,
    jobs_option,
    result_options,
    selection_options,
    shard_option,
)
from opconform_runners.harness.registry import names
from opconform_runners.verdicts.accuracy_level import LEAST_ACCURACIES

#: The most characters of the reason why a run is incomplete.
_LONGEST = 300
_OPERATION = re.compile(r"[A-Z]\w*-\d+")


@click.command("run", cls=HelpCommand, example="run suite openvino -k 'Split-1/*' --out part")
@click.argument("suite", type=SOURCE)
@click.argument("named", nargs=-1, metavar="[BACKEND]...", shell_complete=complete_backends)
@backend_options
@selection_options
@result_options
@expected_options
@rare_option(
    "--last-failed", is_flag=True, help="Run only the cases that failed in --out, and write to --out/last-failed."
)
@rare_option("-x", "--exitfirst", is_flag=True, help="Stop at the first failure. Never continues an earlier run.")
@alone_option
@shard_option
@rare_option("--record", type=TARGET, metavar="FILE.zip", help="Write the outputs without judging them.")
@jobs_option("Harness processes; by default 1, or on a CPU one per core, at most 4.")
@cluster_options
def command(
    suite: Path,
    named: tuple[str, ...],
    backend: BackendOptions,
    selection: Selection,
    results: ResultOptions,
    cluster: ClusterOptions,
    **values: Any,
) -> None:
    """Run backends on SUITE (a folder, a zip file or a URL) and judge their outputs.

    With --record, outputs are written to a file for `opconform certificate judge`, and SUITE can be blind. Exit code:
    0 conformant (or as in --baseline), 1 otherwise, 3 not started.
    """
    backend = replace(backend, backends=(*named, *backend.backends))
    expected: ExpectedOptions = values["expected"]
    record: Path | None = values["record"]
    jobs: int | None = values["jobs"]
    judging = (results.out is not None, results.strict, results.least_accuracy != LEAST_ACCURACIES[0])
    if record is not None and (any(judging) or expected != ExpectedOptions()):
        raise UsageError(
            "--out, --strict, --accuracy, --baseline, --known and --claims cannot be used with --record, "
            "which gives no verdicts."
        )
    if record is not None and selection.shard is not None:
        raise UsageError("--shard and --record cannot be used together: a recording must cover whole profiles.")
    files = replace(expected, known=expected.known or None)
    if backend.is_several and (record is not None or files != ExpectedOptions() or values["last_failed"]):
        raise UsageError("--baseline, --known, --claims, --record and --last-failed work with one backend. Name one.")
    if expected.known and (expected.baseline is not None or expected.update_baseline):
        raise UsageError("--known and --baseline cannot be used together, since what is known is a baseline.")
    if record is not None and (values["last_failed"] or values["exitfirst"]):
        raise UsageError("--last-failed and -x cannot be used with --record, which gives no verdicts.")
    if expected.updates and values["exitfirst"]:
        raise UsageError("-x and an update cannot be used together: an update needs the whole run.")
    if record is not None and cluster.url is not None:
        raise UsageError("--executor and --record cannot be used together. Record on one machine.")
    _check_suite(suite, named)
    is_judged = record is None and not backend.is_several
    backend, selection, defaults = completed(
        backend,
        selection,
        baseline=is_judged and expected.baseline is None and not expected.known,
        claims=is_judged and expected.claims is None,
    )
    baseline, claims = expected.baseline or defaults.baseline, expected.claims or defaults.claims
    from opconform_runners.cli.shared.suite_run import SuiteRun, run_suites  # it takes long to import

    wanted = SuiteRun(
        suite=suite,
        backend=backend,
        selection=selection,
        results=replace(results, no_known=expected.known is False),
        expected=replace(expected, baseline=baseline, claims=claims),
        cluster=cluster,
        jobs=jobs,
        record=record,
        is_first_only=values["exitfirst"],
        is_last_failed=values["last_failed"],
        is_alone=values["alone"],
    )
    raise click.exceptions.Exit(run_suites(wanted))


def _check_suite(suite: Path, named: Sequence[str]) -> None:
    """Refuse what is not a suite, or an operation among the backends, and name the command for it."""
    check_kind(suite, "suite")
    if operation := next(filter(_OPERATION.fullmatch, named), None):
        pattern = shlex.quote(f"{operation}/*")
        raise UsageError(f"{operation} is an operation. Use `opconform run {suite} BACKEND --select {pattern}`.")
    if not suite.exists() and (str(suite).partition(":")[0] in names() or ".py:" in str(suite)):
        raise UsageError(f"{suite} is a backend. Use `opconform certify {suite}` or `opconform run SUITE {suite}`.")
