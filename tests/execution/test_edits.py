"""Edited results: each field of each file, with every digest renewed, is refused in a sentence.

What no other file and no other field repeats cannot be found; each test names it.
"""

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from opconform.errors import SuiteError, UsageError
from opconform.generation.options import Options
from opconform.generation.output.stream import Stream
from opconform.specs.loader import load_specs
from opconform.suite.case import canonical_json
from opconform.suite.reader import open_suite
from opconform.suite.selection.selection import Selection
from opconform_runners.execution import runner
from opconform_runners.execution.log.outcomes import linked
from opconform_runners.execution.plan import RunOptions
from opconform_runners.execution.runner import run_suite
from opconform_runners.execution.scale import stream
from opconform_runners.execution.scale.merge import merge
from opconform_runners.harness.command import backend_command
from opconform_runners.reports.report_file import finished, read_report
from tests.conftest import EXHAUSTIVE_SPEC, MINIATURES, SMALL_SPEC, Run
from tests.in_process import served_in_process

LENIENT = f"{MINIATURES}:AcceptsEverything"
Document = dict[str, Any]


def edited(value: Any) -> Iterator[tuple[str, Any]]:  # noqa: C901 - one case per type
    """A JSON value with one change at each place in it, and the place."""
    match value:
        case dict():
            is_alike = all(isinstance(inner, dict) for inner in value.values())  # as requirements are
            for name, inner in list(value.items())[: 2 if is_alike else None]:
                if inner and name not in ("language", "packs", "least_accuracy"):  # otherwise it is the default
                    yield f".{name} removed", {key: x for key, x in value.items() if key != name}
                for place, new in edited(inner):
                    yield f".{name}{place}", {**value, name: new}
        case list():
            for number, inner in enumerate(value[:2]):
                yield f"[{number}] removed", value[:number] + value[number + 1 :]
                yield f"[{number}] twice", [*value[: number + 1], *value[number:]]
                for place, new in edited(inner):
                    yield f"[{number}]{place}", [*value[:number], new, *value[number + 1 :]]
        case bool():
            yield " inverted", not value
        case int() | float():
            yield " greater", value + 1
            yield " by a million", value + 1_000_000
            yield " negative", -1 - value
        case str():
            yield " changed", value + "x"
            digits = {"pass": "fail", "fail": "pass", "accept": "reject", "normative": "interpretation"}
            if value in digits:
                yield f" {digits[value]}", digits[value]
        case None:
            yield " given", 1


def results_text(documents: list[Document]) -> bytes:
    """Results with a right footer, given the header and the results."""
    lines = b"".join(canonical_json(document).encode() + b"\n" for document in documents)
    footer = {"footer": True, "cases": len(documents) - 1, "digest": hashlib.sha256(lines).hexdigest()}
    return lines + canonical_json(footer).encode() + b"\n"


def journal_text(documents: list[Document]) -> bytes:
    """A journal with right digests."""
    header, *lines = (canonical_json(document).encode() + b"\n" for document in documents)
    return linked(header, lines)


def documents(content: bytes) -> list[Document]:
    """The lines of results or of a journal, without footer and digests."""
    parsed = [json.loads(line) for line in content.splitlines()]
    return [{key: value for key, value in x.items() if key != "chain"} for x in parsed if "footer" not in x]


@pytest.fixture(scope="module")
def runs(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certification with its suite (`whole`), and its shards (`1`, `2`)."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "small.yaml").write_text(SMALL_SPEC)
    certify = ("certify", folder / "small.yaml", "--backend", f"{MINIATURES}:LosesNegativeZero", "--jobs", 1)
    opconform(*certify, "--out", folder / "whole", code=1)
    for number in ("1", "2"):
        opconform(*certify, "--shard", f"{number}/2", "--out", folder / number, code=None)
    return folder


def believed(path: Path, changes: Iterator[tuple[str, bytes]], use: Callable[[], object], *harmless: str) -> list[str]:
    """The changes of a file that are not found when it is used; each other one is refused in a sentence.

    Places that begin with one of `harmless` are left out.
    """
    right, places, count = path.read_bytes(), [], 0
    for place, content in changes:
        path.write_bytes(content)
        count += 1
        try:
            use()
            places += [] if place.startswith(harmless) else [place]
        except (SuiteError, UsageError) as error:
            assert str(error).endswith("."), (place, str(error))
            assert "pydantic" not in str(error)
            assert "\n" not in str(error)
    path.write_bytes(right)
    use()
    assert count
    return places


def changed_lines(content: bytes, text: Callable[[list[Document]], bytes]) -> Iterator[tuple[str, bytes]]:
    """Each change of a field of the header or of a result, and each line left out or repeated."""
    held = documents(content)
    for number in range(len(held)):
        for place, new in edited(held[number]) if number < 2 else ():
            yield f"{number}{place}", text([*held[:number], new, *held[number + 1 :]])
        if number:
            yield f"{number} removed", text(held[:number] + held[number + 1 :])
            yield f"{number} twice", text([*held[: number + 1], *held[number:]])


def test_edited_results_are_refused(runs: Path, tmp_path: Path) -> None:
    """By all that reads a report; nothing else repeats the conditions of a run that is over."""
    out = tmp_path / "out"
    shutil.copytree(runs / "whole", out)
    path = out / "results.jsonl"
    changes = partial(changed_lines, path.read_bytes(), results_text)
    conditions = ("0.timeout", "0.memory", "0.program")

    assert believed(path, changes(), lambda: finished(out), *conditions) == []
    (out / "report.json").unlink()  # of which the suite repeats the cases and the requirements
    told = ("1.seconds", "1.sentence", "1.inputs", "1.mismatch", "0.started", "0.strict", "0.suite.digest")
    shown = ("0.implementation", "0.environment", "0.whole", *told)
    assert believed(path, changes(), lambda: finished(out), *conditions, *shown) == []


def test_an_edited_report_is_refused(runs: Path, tmp_path: Path) -> None:
    """Its findings are not computed again, as the documentation says."""
    out = tmp_path / "out"
    shutil.copytree(runs / "whole", out)
    document = json.loads((out / "report.json").read_bytes())
    changes = ((place, json.dumps(new).encode()) for place, new in edited(document))

    assert believed(out / "report.json", changes, lambda: finished(out), ".findings") == []


def test_edited_shards_are_not_merged(runs: Path, tmp_path: Path) -> None:
    """With their suite, or with their report alone."""
    shards = [Path(shutil.copytree(runs / number, tmp_path / number)) for number in ("1", "2")]
    path = shards[0] / "results.jsonl"

    def use() -> None:
        for shard in shards:
            read_report(shard)
        merge(shards, tmp_path / "merged", force=True)

    changes = partial(changed_lines, path.read_bytes(), results_text)
    assert believed(path, changes(), use) == []
    for item in shards:
        shutil.rmtree(item / "suite")
    assert believed(path, changes(), use) == []


@pytest.fixture
def batches(tmp_path: Path) -> tuple[Path, Callable[[], object]]:
    """A streamed run that was interrupted after its last batch, and what continues it."""
    (tmp_path / "small.yaml").write_text(EXHAUSTIVE_SPEC)
    selection = Selection(profiles=("exhaustive",))
    specs = load_specs([tmp_path / "small.yaml"])
    command, options = backend_command(LENIENT), RunOptions(selection=selection, whole=True)

    def run() -> None:
        with mock.patch.object(stream, "join_suites", side_effect=KeyboardInterrupt), served_in_process():
            source = Stream(specs=specs, options=Options(dialects=(), selection=selection), size=4)
            with pytest.raises(KeyboardInterrupt):
                stream.run_stream(source, command, tmp_path / "out", options)

    run()
    return tmp_path / "out", run


@pytest.mark.ci_only
def test_edited_batches_are_not_continued(batches: tuple[Path, Callable[[], object]]) -> None:
    """But for what a backend said, and what executed it; without its last line, a batch is executed again."""
    out, run = batches
    path = out / "outcomes.jsonl"
    held = documents(path.read_bytes())
    number = next(number for number, document in enumerate(held) if "batch" in document)
    unsealed = path.read_bytes().splitlines(keepends=True)
    unsealed[number] = unsealed[number].replace(b'"batch":1', b'"batch":2')
    ends = ((place, journal_text([*held[:number], new, *held[number + 1 :]])) for place, new in edited(held[number]))

    assert believed(path, iter([("unsealed", b"".join(unsealed))]), run) == []
    assert believed(path, ends, run, ".devices", ".threads") == []
    told = ("1.outcome", "1.own", "1.incidents", "0.strict", f"{len(held) - 1} removed")
    assert believed(path, changed_lines(path.read_bytes(), journal_text), run, *told) == []


def test_a_batch_without_its_failures_or_with_other_counts_is_refused(
    batches: tuple[Path, Callable[[], object]],
) -> None:
    """So is the copy of another batch, each under the right digest."""
    out, run = batches
    path = out / "outcomes.jsonl"
    held = documents(path.read_bytes())
    first, second = (number for number, document in enumerate(held) if document.get("batch") in (1, 2))
    [tally, *_] = held[first]["tallies"]
    passes = {**tally, "cases": tally["cases"] + 1}
    changed: dict[str, Document] = {
        "a failure that passes": {"tallies": [passes]},
        "a million more": {"tallies": [{**tally, "cases": tally["cases"] + 1_000_000}]},
        "fewer than none": {"tallies": [{**tally, "cases": -tally["cases"]}]},
        "another profile": {"tallies": [{**tally, "kind": {**tally["kind"], "profile": "core"}}]},
        "another operation": {"tallies": [{**tally, "kind": {**tally["kind"], "op": "Split-1"}}]},
        "another requirement": {"tallies": [{**tally, "kind": {**tally["kind"], "requirements": ["data.bits"]}}]},
        "another batch": held[second] | {"batch": 1},
        "a copy": held[second],
    }
    changes = [
        (name, journal_text([*held[:first], held[first] | new, *held[first + 1 :]])) for name, new in changed.items()
    ]

    assert believed(path, iter(changes), run) == []


@pytest.mark.ci_only
def test_an_edited_journal_is_not_continued(runs: Path, tmp_path: Path) -> None:
    """Neither under its old digests nor, where a line does not follow from the others, under renewed ones."""
    suite = open_suite(runs / "whole" / "suite")
    backend = backend_command(f"{MINIATURES}:LosesNegativeZero")
    interrupted = mock.patch.object(runner, "write_results", side_effect=KeyboardInterrupt)

    def run() -> None:
        with served_in_process(), interrupted:
            assert run_suite(suite, backend, tmp_path, RunOptions()).interrupted is not None

    run()
    path = tmp_path / "outcomes.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    held = documents(path.read_bytes())
    naive = (
        (
            f"{place}",
            b"".join(
                [
                    *lines[:2],
                    canonical_json({**new, "chain": json.loads(lines[2])["chain"]}).encode(),
                    b"\n",
                    *lines[3:],
                ]
            ),
        )
        for place, new in edited(held[2])
    )
    assert believed(path, naive, run) == []
    said = ("1.outcome", "1.own", "1.incidents", "0.strict")
    found = believed(path, changed_lines(path.read_bytes(), journal_text), run, *said)
    assert [place for place in found if re.fullmatch(r"\d+ removed", place) is None] == []  # the case is executed again
