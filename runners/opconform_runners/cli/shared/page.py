"""The HTML page of one run or several."""

import base64
import hashlib
import shlex
from collections.abc import Sequence
from pathlib import Path

import click
from markupsafe import Markup

from opconform.dialects import DIALECTS
from opconform.errors import SuiteError, UsageError
from opconform.files import check_ours, replace_ours
from opconform.resources import render, text_of
from opconform.suite.manifest import HEADER, Entry
from opconform.suite.reader import Suite, open_suite
from opconform_runners.execution.failed_outputs import Kept
from opconform_runners.reports.html.page import page_of, script_json
from opconform_runners.reports.html.subject import Subject
from opconform_runners.reports.matrix import Column
from opconform_runners.reports.report_file import Finished, finished
from opconform_runners.tools.repro.script import SCRIPTS
from opconform_runners.verdicts.results import PAGE, PAGE_BEGINNING

_SUITE = "suite"
#: The largest number of characters of a model that a page shows.
_LONGEST = 20_000
#: The operation alone, which is shown for a case without a graph around it.
_LAYER = "openvino/layer.xml"


def subjects_of(runs: Sequence[Finished], place: Path | None) -> list[Subject]:
    """The runs as a page shows them, with their suite if it is found.

    Args:
        runs: The runs.
        place: The suite; if None, the suite in a run's folder or beside it.

    Raises:
        SuiteError: The suite cannot be read.
        UsageError: The runs are on different suites, or not on the named one.
    """
    digests = {each.report.suite.digest: each.folder for each in runs}
    if len(digests) > 1:
        named = ", ".join(f"{folder} on {digest[:16]}" for digest, folder in digests.items())
        raise UsageError(
            f"Runs on different suites cannot be compared: {named}. `certify` generates a suite in the dialects of its "
            f"backend; use `opconform matrix` to run several backends on one suite."
        )
    near = next((each for each in map(_place, runs) if each is not None), None)
    subjects = [
        _subject(each, _name(each, runs), place or _place(each) or near, named=place is not None) for each in runs
    ]
    for run, each in zip(runs, subjects, strict=True):
        if each.suite is None and any(result.verdict == "fail" for result in run.report.results):
            click.echo(
                f"note: the suite of {run.folder} was not found, so the page has no tensors and no IR. "
                f"Name it with --suite.",
                err=True,
            )
    return subjects


def _subject(run: Finished, name: str, place: Path | None, *, named: bool) -> Subject:
    suite = open_suite(place) if place is not None else None
    if suite is not None and suite.header.digest != run.report.suite.digest:
        if named:
            raise UsageError(f"{run.folder} is a run of another suite than {place}. Name its own with --suite.")
        suite = None
    return Subject(
        column=Column(name=name, report=run.report),
        suite=suite,
        place="SUITE" if suite is None else str(suite.store.root),
        script=_script_options(run.report.started),
        kept=Kept(run.folder),
    )


def _script_options(started: str) -> str:
    """The options of `opconform repro` for the backend of a run; empty if it has no scripts for it."""
    words = shlex.split(started)
    known = words[:1] == ["--backend"] and words[1].partition(":")[0] in SCRIPTS
    return started if known else ""


def _place(run: Finished) -> Path | None:
    places = (run.folder / _SUITE, run.folder.parent / _SUITE)
    return next((each for each in places if (each / HEADER).exists()), None)


def _name(run: Finished, runs: Sequence[Finished]) -> str:
    """The product's name, with the folder's if several runs are of one product."""
    name = run.report.implementation.name
    alike = [each for each in runs if each.report.implementation.name == name]
    return name if len(alike) == 1 else f"{name} ({run.folder.name})"


def write_page(path: Path, subjects: Sequence[Subject]) -> None:
    """Write the page of some runs on one suite.

    Raises:
        SuiteError: A file of a suite differs from its manifest.
        UsageError: The path holds something else.
    """
    replace_ours(path, page_text(subjects).encode(), PAGE_BEGINNING)


def page_text(subjects: Sequence[Subject]) -> str:
    """The HTML page of some runs on one suite.

    Raises:
        SuiteError: A file of a suite differs from its manifest.
    """
    page = page_of(subjects, _models)
    style, script = text_of("report/page.css"), text_of("report/page.js")
    text: str = render(
        "report/page.html.j2",
        page=page,
        style=Markup(style),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        style_digest=_digest(style),
        script_digest=_digest(script),
        cases=Markup(script_json(page.cases)),  # noqa: S704 - escaped for a script element
        evidence=Markup(script_json(page.evidence)),  # noqa: S704 - escaped for a script element
    )
    return text


def show_page(folder: Path, suite: Path, *, quiet: bool) -> None:
    """Write the page of a finished run to its folder, and print its place.

    Args:
        folder: The folder of the results.
        suite: The suite that was run.
        quiet: Whether to print to standard error.

    Raises:
        SuiteError: A file of the suite differs from its manifest.
        UsageError: The path holds something else.
    """
    write_page(folder / PAGE, subjects_of([finished(folder)], suite))
    click.echo(f"Page: {folder / PAGE}", err=quiet)


def check_place(path: Path) -> None:
    """Refuse a path for a page that holds something else.

    Raises:
        UsageError: It holds something else.
    """
    check_ours(path, PAGE_BEGINNING)


def _digest(text: str) -> str:
    """The digest by which a page's content security policy names an inlined text."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _models(suite: Suite, entry: Entry) -> list[tuple[str, str]]:
    """A case's IR as text, one model per dialect."""
    models = []
    for name, file in suite.header.dialects.items():
        shown = _LAYER if file == DIALECTS["openvino"].model and suite.case(entry).context == "bare" else file
        if shown in entry.files:
            text = _text(shown, suite.read(entry, shown))
            models.append((shown, text if len(text) <= _LONGEST else f"{text[:_LONGEST]}\n…"))
        elif name in entry.left_out:
            models.append((name, entry.left_out[name]))
    return models


def _text(name: str, content: bytes) -> str:
    if not name.endswith(".onnx"):
        return content.decode("utf-8", "replace")
    from opconform.dialects.onnx import printed

    try:
        return printed(content)
    except ImportError:
        return "Printing this model needs the onnx package, which is not installed."
    except ValueError as fault:
        raise SuiteError(f"{name} is not an ONNX model: {fault}.") from fault
