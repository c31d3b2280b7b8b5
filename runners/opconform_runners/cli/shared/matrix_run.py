"""Several backends on one suite: each is run in turn, and a table compares them."""

import json
from pathlib import Path
from typing import NamedTuple

from opconform.errors import HarnessError, UsageError
from opconform.suite.reader import Suite
from opconform.suite.storage.ownership import replace_ours
from opconform.system.files import replace_file
from opconform.system.tasks import Workers
from opconform_runners.backends.backend import Implementation
from opconform_runners.cli.shared.earlier_run import complete_run
from opconform_runners.cli.shared.options.backends import ALL, BackendOptions, free_name
from opconform_runners.cli.shared.options.general import PrivateKey, ResultOptions
from opconform_runners.cli.shared.output.printer import print_lines, print_result
from opconform_runners.cli.shared.steps import (
    executed,
    folder_name,
    hold,
    launch_of,
    page_of_runs,
    print_next_of_matrix,
    report_of_run,
    sign_results,
)
from opconform_runners.execution.dialects import check_dialects
from opconform_runners.execution.log.results_folder import Marks
from opconform_runners.execution.plan import RunOptions
from opconform_runners.execution.scale.remote import implementation_of
from opconform_runners.harness.command import Command
from opconform_runners.harness.registry import names
from opconform_runners.reports.backend_matrix import Column, Matrix, matrix_document, matrix_markdown, matrix_view
from opconform_runners.reports.report_file import finished, write_report
from opconform_runners.verdicts.page import PAGE, PAGE_BEGINNING

#: The default folder of the results.
FOLDER = Path("opconform-out/matrix")
#: The matrix as JSON, which is written when every backend has run.
_DOCUMENT = "matrix.json"
#: The written files, and a mark among the first bytes of each.
_FILES: Marks = {
    _DOCUMENT: (b'{\n "format"',),
    "matrix.md": (b"\n| backend | verdict |",),
    PAGE: (PAGE_BEGINNING,),
}


class Started(NamedTuple):
    """The commands and descriptions of the backends that can be started, and why the others cannot."""

    commands: dict[str, Command]
    implementations: dict[str, Implementation]
    absent: dict[str, str]

    @property
    def dialects(self) -> set[str]:
        """The dialects that the backends read."""
        return {dialect for implementation in self.implementations.values() for dialect in implementation.dialects}


def start(backend: BackendOptions, executor: Workers | None = None) -> Started:
    """Start each backend once, here or on a worker; every backend must start, except those that only `all` names."""
    started, commands = Started({}, {}, {}), backend.commands()
    for name, command in commands.items():
        is_installed = name.partition(":")[0] in names()
        try:
            implementation = implementation_of(command, executor)
        except HarnessError as error:
            if ALL not in backend.backends or name in backend.backends or not is_installed:
                raise
            started.absent[name] = str(error)
            continue
        # a harness, or a class in a file, is called by the name of its product
        title = name if is_installed else free_name(implementation.name, {*started.commands, *commands})
        started.commands[title], started.implementations[title] = command, implementation
    if not started.commands:
        raise HarnessError("None of the backends can be started: " + " ".join(started.absent.values()))
    return started


def hold_matrix(out: Path, started: Started) -> None:
    """Check that `run_matrix` may write its files, and lock their folders until the command ends."""
    hold(out, _FILES)
    for name in started.commands:
        hold(out / folder_name(name))


def run_matrix(
    suite: Suite,
    started: Started,
    out: Path,
    running: RunOptions,
    results: ResultOptions,
    key: "PrivateKey | None" = None,
) -> int:
    """Run each backend, and write one folder per backend, matrix.json, matrix.md and report.html.

    A backend that reads none of the suite's dialects is not run. A command that was interrupted is continued: a
    complete run is not executed again, unless the results are signed, which needs a run that was observed. Returns
    the exit code: 0 if all backends were run and are conformant, else 1.
    """
    columns, absent, commands = [], dict(started.absent), dict(started.commands)
    for name, implementation in started.implementations.items():
        try:
            check_dialects(suite, implementation)
        except UsageError as error:
            absent[name] = str(error)
            del commands[name]
    if not commands:
        raise UsageError(" ".join(absent.values()))
    is_continued = key is None and not (out / _DOCUMENT).exists()
    (out / _DOCUMENT).unlink(missing_ok=True)
    for name, command in commands.items():
        folder = out / folder_name(name)
        earlier = complete_run(suite, command, folder, running) if is_continued else None
        if earlier is not None:
            columns.append(Column(name=name, report=earlier))
            continue
        run = executed(suite, command, folder, running, results, title=name)
        report = report_of_run(run, suite, folder, results, launch_of(command, running))
        columns.append(Column(name=name, report=report))
        write_report(folder, columns[-1].report)
        if run.interrupted is not None:
            raise run.interrupted
    matrix = Matrix(columns=columns, absent=absent)
    document = matrix_document(matrix)
    replace_file(out / _DOCUMENT, (json.dumps(document, indent=1) + "\n").encode())
    replace_file(out / "matrix.md", matrix_markdown(matrix).encode())
    runs = [finished(out / folder_name(name)) for name in commands]
    page = page_of_runs(runs, Path(suite.store.root), quiet=results.is_silent)
    replace_ours(out / PAGE, page.encode(), PAGE_BEGINNING)
    if results.quiet and not results.as_json:
        print_lines(f"{column.title}: {column.report.verdict}" for column in columns)
    else:
        place = f"Results: {out}/matrix.json, {out}/matrix.md, {out}/{PAGE}, and one folder per backend"
        print_result(document, [*matrix_view(matrix), place], as_json=results.as_json)
    if key is not None:
        print_lines(
            (sign_results(x, Path(suite.store.root), key, witnessed=True) for x, _ in runs), err=results.is_silent
        )
    if not results.is_silent:
        print_next_of_matrix(runs, Path(suite.store.root))
    return 0 if absent == started.absent and all(column.report.is_passed for column in columns) else 1
