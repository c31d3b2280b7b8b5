"""The history of a fake product of five releases, each in an environment of its own."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.tools.history.conftest import History, document
from tests.tools.history.fake_product import PACKAGE, VERSIONS, release, wheel

pytestmark = pytest.mark.ci_only  # five environments and their runs take half a minute

#: The cases whose remainder is the first, the second and the third length.
CASES = ("f7298254ae", "9c3891e153", "055b3aac7f")


@pytest.fixture(scope="module")
def out(history: History, offline: Path) -> Path:
    """The folder of the history, which tests only read. The second release passes the case with the intermittent fault when it is run."""
    history("--out", offline / "out")
    return offline / "out"


@pytest.fixture
def own_out(out: Path, tmp_path: Path) -> Path:
    """A copy of that folder, to write to."""
    return shutil.copytree(out, tmp_path / "out")


@pytest.fixture
def own_cache(out: Path, offline: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:  # noqa: ARG001 - makes them
    """A copy of the environments of all releases, to write to."""
    cache = shutil.copytree(offline / "cache", tmp_path / "cache", symlinks=True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    return cache / "opconform" / "releases"


def dates(found: Any) -> Mapping[str, list[Any]]:
    """The dates of each case that fails in a release, by the last digits."""
    return {case.rpartition("/")[2]: of_case["intervals"] for case, of_case in found["cases"].items()}


def test_each_fault_is_dated(out: Path) -> None:
    """From the second release on, in the third alone, and the one that makes every other execution fail."""
    since = {"last_good": "1.0", "first_bad": "2.0", "last_bad": "5.0", "first_good": None, "fails_now": True}
    third = {"last_good": "2.0", "first_bad": "3.0", "last_bad": "3.0", "first_good": "4.0", "fails_now": False}

    assert dates(document(out)) == {CASES[0]: [since], CASES[1]: [third], CASES[2]: [since]}


def test_a_release_is_asked_until_it_is_sure_that_it_passes(out: Path) -> None:
    """The first release, which has no fault, was asked so often; the second failed when it was asked again."""
    trials = next(x["trials"] for case, x in document(out)["cases"].items() if case.endswith(CASES[2]))

    assert trials["1.0"]["failed"] == 0
    assert trials["1.0"]["passed"] >= 7
    assert trials["2.0"]["failed"] >= 1


def test_what_is_new_and_mended_is_counted_per_release(out: Path) -> None:
    """In the document and on the page."""
    changes = {x["version"]: (x["new"], x["mended"]) for x in document(out)["releases"]}

    assert changes == {"1.0": (0, 0), "2.0": (2, 0), "3.0": (1, 0), "4.0": (0, 1), "5.0": (0, 0)}
    assert "since 3.0 (last good 2.0), mended in 4.0" in (out / "history.html").read_text()


def test_releases_that_were_run_are_not_run_again(history: History, own_out: Path) -> None:
    """Nor are cases repeated again."""
    files = [*own_out.glob("*/outcomes.jsonl"), *own_out.glob("*/results.jsonl")]
    before, past = {path: path.stat().st_mtime_ns for path in files}, document(own_out)
    history("--out", own_out)

    assert {path: path.stat().st_mtime_ns for path in files} == before
    assert document(own_out) == past


def test_an_interrupted_run_and_a_half_made_environment_go_on(history: History, offline: Path, own_out: Path) -> None:
    """The release whose results are lost is run again, in an environment that is made again."""
    [environment] = (offline / "cache" / "opconform" / "releases" / "fakeproduct").glob("4.0-*/")
    past = document(own_out)
    (environment / "opconform.json").unlink()
    (environment / "bin" / "python").unlink()
    (own_out / "4.0" / "results.jsonl").unlink()
    log = (own_out / "4.0" / "outcomes.jsonl").read_bytes().splitlines(keepends=True)
    (own_out / "4.0" / "outcomes.jsonl").write_bytes(b"".join(log[:3]))
    history("--out", own_out)

    assert (environment / "bin" / "python").exists()
    assert dates(document(own_out)) == dates(past)


def test_a_release_that_cannot_be_installed_or_started_says_why(
    history: History, offline: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are run."""
    wheels = shutil.copytree(offline / "wheels", tmp_path / "wheels")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    broken = release(wheels, "6.0")
    broken.write_bytes(broken.read_bytes()[:200])
    wheel(wheels, PACKAGE, "7.0", {f"{PACKAGE}/__init__.py": "raise OSError('no such device')"})
    history("5.0..", "--out", tmp_path / "broken")
    why = {x["version"]: x["why"] for x in document(tmp_path / "broken")["releases"]}

    assert why["5.0"] == ""
    assert why["6.0"].startswith("fakeproduct==6.0 cannot be installed: ")
    assert why["7.0"].endswith("OSError: no such device.")


@pytest.mark.parametrize(
    ("case", "said"),
    [
        (CASES[0], "last good 1.0, first bad 2.0 (4 of 5 releases asked)"),
        (CASES[2], "last good 1.0, first bad 2.0 (4 of 5 releases asked)"),
        (CASES[1], "no change found; it passes in 1.0, 5.0 (2 of 5 releases asked)"),
    ],
)
def test_a_bisection_asks_few_releases(history: History, tmp_path: Path, case: str, said: str) -> None:
    """And no more of them for a case that fails every other time."""
    done = history("--bisect", case, "--out", tmp_path / "bisected", code=None)

    assert said in done.stdout
    assert done.returncode == (1 if "no change" in said else 0)


def test_installed_releases_are_run_without_an_index(
    history: History, own_out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is installed is used, and that is said."""
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "counts"))
    done = history("1.0..2", "--out", own_out, "--json")

    assert "note: pip finds no release of fakeproduct" in done.stderr
    assert [x["version"] for x in json.loads(done.stdout)["releases"]] == [*VERSIONS[:2]]


def test_the_environments_are_removed_by_one_command(history: History, own_cache: Path, out: Path) -> None:
    """The results stay."""
    done = history("--remove")

    assert done.stdout.startswith("5 environments of fakeproduct removed: 1.0, 2.0, 3.0, 4.0, 5.0")
    assert not [*own_cache.glob("fakeproduct*")]
    assert (out / "history.json").exists()
