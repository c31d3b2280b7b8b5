"""Shards of a run: together they have the results of the whole run, and nothing else can be merged."""

import json
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from opconform.suite.reader import open_suite
from opconform.suite.selection.selection import Shard, shard_of
from opconform_runners.verdicts.results import BATCHES, read_written, write_results
from tests.conftest import Run

BROKEN = """\
from opconform_runners.backends.numpy.backend import Numpy

class Backwards(Numpy):
    def run(self, case, model, feeds):
        return [tuple(reversed(each)) for each in super().run(case, model, feeds)]
"""


@pytest.fixture(scope="module")
def suite(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sums of lengths, right and wrong, each wrong one with a twin, and contexts with neighbour checks."""
    out = tmp_path_factory.mktemp("merge") / "suite"
    opconform(
        "generate", "VariadicSplit-1", "-k", "VariadicSplit-1/wrong-sum", "-k", "VariadicSplit-1/contexts", "--out", out
    )
    return out


@pytest.fixture(scope="module")
def shards(opconform: Run, suite: Path) -> list[Path]:
    """The results of three shards."""
    folders = [suite.parent / f"shard-{number}" for number in (1, 2, 3)]
    for number, folder in enumerate(folders, 1):
        opconform("run", suite, "numpy", "--shard", f"{number}/3", "--out", folder)
    return folders


def lines(folder: Path) -> list[str]:
    """The results of a run without the seconds, which differ each time."""
    documents = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()[:-1]]
    return [json.dumps({key: value for key, value in document.items() if key != "seconds"}) for document in documents]


def kept(folder: Path) -> set[str]:
    """The cases whose outputs a run kept."""
    with zipfile.ZipFile(folder / "outputs.zip") as archive:
        return set(archive.namelist())


def test_merged_shards_are_the_whole_run(opconform: Run, suite: Path, shards: Sequence[Path], tmp_path: Path) -> None:
    """The header included, so that a merged run can be compared, signed and reported like any other."""
    opconform("run", suite, "numpy", "--out", tmp_path / "whole")
    done = opconform("merge", *reversed(shards), "--out", tmp_path / "merged")

    assert lines(tmp_path / "merged") == lines(tmp_path / "whole")
    assert all(1 < len(lines(shard)) < len(lines(tmp_path / "whole")) for shard in shards)
    assert "CONFORMANT" in done.stdout
    assert "note: No shard has a suite, so no HTML report was written." in done.stderr
    assert opconform("diff", tmp_path / "whole", tmp_path / "merged").stdout == "No case changed.\n"


def test_a_shard_without_cases_succeeds(opconform: Run, suite: Path, tmp_path: Path) -> None:
    """It says so, and its results are merged with those of the others; a selection without cases is an error."""
    case = next(entry for entry in open_suite(suite).entries if entry.expect == "accept")
    full, empty = sorted((1, 2), key=lambda x: not Shard(number=x, of=2).holds(case.id))
    options = ("run", suite, "numpy", "-k", case.id)
    opconform(*options, "--shard", f"{full}/2", "--out", tmp_path / "full")
    done = opconform(*options, "--shard", f"{empty}/2", "--out", tmp_path / "empty")
    opconform("merge", tmp_path / "full", tmp_path / "empty", "--out", tmp_path / "merged")
    opconform(*options, "--out", tmp_path / "whole")

    assert f"note: shard {empty}/2 has no cases." in done.stderr
    assert lines(tmp_path / "merged") == lines(tmp_path / "whole")
    opconform("run", suite, "numpy", "-k", "Tile-1/*", "--shard", "1/2", "--out", tmp_path / "none", code=2)


def test_bazel_names_the_shard(opconform: Run, suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its own variables, counted from 0; a shard that breaks nothing exits with 0, and is not conformant."""
    monkeypatch.setenv("TEST_TOTAL_SHARDS", "3")
    monkeypatch.setenv("TEST_SHARD_INDEX", "1")
    monkeypatch.setenv("TEST_SHARD_STATUS_FILE", str(tmp_path / "status"))
    done = opconform("run", suite, "numpy", "--out", tmp_path / "out", "-q")

    assert done.stdout.startswith("INCOMPLETE, ")
    assert "only shard 2/3 was run; merge the shards with `opconform merge`" in " ".join(done.stdout.split())
    assert json.loads((tmp_path / "out" / "report.json").read_text())["conformant"] is None
    assert (tmp_path / "status").exists()


@pytest.mark.ci_only
def test_failures_are_merged_with_their_outputs(opconform: Run, suite: Path, tmp_path: Path) -> None:
    """The page shows what was returned."""
    (tmp_path / "backwards.py").write_text(BROKEN)
    backend = f"{tmp_path / 'backwards.py'}:Backwards"
    for number in (1, 2):
        opconform("run", suite, "--backend", backend, "--shard", f"{number}/2", "--out", tmp_path / str(number), code=1)
    opconform("merge", tmp_path / "1", tmp_path / "2", "--out", tmp_path / "merged", "--suite", suite, code=1)
    opconform("run", suite, "--backend", backend, "--out", tmp_path / "whole", code=1)

    assert lines(tmp_path / "merged") == lines(tmp_path / "whole")
    assert kept(tmp_path / "merged") == kept(tmp_path / "whole")
    assert (tmp_path / "merged" / "report.html").exists()


@pytest.mark.parametrize("jobs", [1, 7, 64])
def test_each_case_is_in_one_shard(jobs: int) -> None:
    """Whatever their number."""
    ids = [f"Split-1/some/{number:010x}" for number in range(200)]
    for id_ in ids:
        assert sum(Shard(number=number, of=jobs).holds(id_) for number in range(1, jobs + 1)) == 1


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "1/0", "-1/3", "a/b", "1/3/5", "\u0661/3", ""])
def test_what_is_no_shard_is_refused(opconform: Run, suite: Path, tmp_path: Path, text: str) -> None:
    """In one sentence."""
    done = opconform("run", suite, "numpy", f"--shard={text}", "--out", tmp_path / "out", code=2)

    assert done.stderr.startswith("error: Invalid value for '--shard': ")
    assert not (tmp_path / "out").exists()
    with pytest.raises(ValueError, match="shard"):
        shard_of(text)


def test_files_of_shards_mean_their_folders(opconform: Run, shards: Sequence[Path], tmp_path: Path) -> None:
    """A shell that completes `shard-*/report.json` is not an error."""
    first, second, third = shards
    opconform("merge", first / "report.json", second / "results.jsonl", third, "--out", tmp_path / "merged")
    opconform("merge", *shards, "--out", tmp_path / "folders")

    assert lines(tmp_path / "merged") == lines(tmp_path / "folders")


def test_what_is_not_all_shards_of_one_run_is_refused(opconform: Run, shards: Sequence[Path], tmp_path: Path) -> None:
    """A missing, repeated or foreign shard, a whole run, and an interrupted shard; each is named."""
    first, second, third = shards
    last = read_written(third / "results.jsonl")

    def variant(name: str, **changes: Any) -> Path:
        write_results(tmp_path / name, replace(last.header, **changes), last.results)
        return tmp_path / name

    whole, other = variant("whole", shard=None), variant("other", shard=Shard(number=3, of=4))
    selected, slower = variant("selected", selected="0" * 64), variant("slower", timeout=9.0)
    strict, cut = variant("strict", strict=True), variant("cut")
    write_results(cut, last.header, (), interrupted=True)

    (tmp_path / "streamed" / BATCHES).mkdir(parents=True)
    streamed = tmp_path / "streamed"

    for folders, sentence in (
        ((first, second), "Shards are missing: 3/3."),
        ((first, second, streamed), f"{streamed} is interrupted. Run the same command again to continue."),
        ((first, second, third, first), f"{first} is named twice."),
        ((first, second, whole), f"{whole} contains the results of a run of numpy "),
        ((first, second, other), f"{other} contains shard 3/4, but {first} shard 1/3."),
        ((first, second, selected), f"{first} and {selected} are of different runs, which differ in the selection."),
        ((first, second, slower), f"{first} and {slower} are of different runs, which differ in --timeout."),
        ((first, second, strict), f"{first} and {strict} are of different runs, which differ in the options."),
        ((first, second, cut), f"{cut} is interrupted. Run the same command again to continue shard 3/3."),
        ((first, second, tmp_path / "none"), f"Results not found: {tmp_path / 'none' / 'results.jsonl'}."),
    ):
        done = opconform("merge", *folders, "--out", tmp_path / "merged", code=2)
        assert sentence in done.stderr
        assert not (tmp_path / "merged").exists()


def test_a_shard_cannot_be_signed_or_replace_another(
    opconform: Run, suite: Path, shards: Sequence[Path], tmp_path: Path
) -> None:
    """Nor can it be recorded."""
    opconform("certificate", "keygen", tmp_path / "maker")
    key = tmp_path / "maker.key"

    signed = opconform("certify", "numpy", "--profile", "core", "--shard", "1/2", "--sign", key, code=2).stderr
    assert signed == "error: A shard cannot be signed. Merge the shards with `opconform merge`, and sign the result.\n"
    replaced = opconform("run", suite, "numpy", "--shard", "2/3", "--out", shards[0], code=2).stderr
    assert "contains the results of shard 1/3 of a run of numpy" in replaced
    recorded = opconform("run", suite, "numpy", "--shard", "2/3", "--record", tmp_path / "a.zip", code=2).stderr
    assert "--shard and --record cannot be used together" in recorded
