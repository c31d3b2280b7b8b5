"""The releases of a package, and those that a command names."""

import shutil
import subprocess
from pathlib import Path
from unittest import mock

import pytest

from opconform.errors import HarnessError, UsageError
from opconform_runners.tools.history import installer
from opconform_runners.tools.history.environments import Environments
from opconform_runners.tools.history.installer import Installer, said
from opconform_runners.tools.history.releases import ordered, package_of, releases_of, wanted
from tests.conftest import MINIATURES

KNOWN = ("2024.6.0", "2025.0.0", "2025.10.0", "2026.4.0", "2026.4.1")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), KNOWN),
        (("2025.0",), KNOWN[1:2]),
        (("2026.4.1", "2024.6"), (KNOWN[0], KNOWN[4])),
        (("2025.0..2026.4",), KNOWN[1:5]),
        (("2025.1..",), KNOWN[2:5]),
        (("..2025",), KNOWN[:3]),
    ],
)
def test_versions_and_ranges_name_releases(words: tuple[str, ...], expected: tuple[str, ...]) -> None:
    """A range includes the releases that continue its last version."""
    assert wanted(words, KNOWN, "openvino") == expected


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("2026.4.2", "2026.4.2 names no release of openvino. Did you mean '2026.4.1'? Known: 2024.6.0, 2025.0.0, "),
        ("2028..", "2028.. names no release of openvino. Known: 2024.6.0, "),
        (
            "latest",
            "'latest' is neither a version nor a range. Name releases of openvino as in 2025.2 or 2025.0..2026.4.",
        ),
        ("1..2..3", "'1..2..3' is neither a version nor a range."),
        ("..", "'..' has no end. Without versions, all releases of openvino are run."),
    ],
)
def test_what_names_no_release_is_refused(word: str, sentence: str) -> None:
    """With what is known."""
    with pytest.raises(UsageError) as caught:
        wanted((word,), KNOWN, "openvino")

    assert str(caught.value).startswith(sentence)


def test_releases_are_ordered_by_their_numbers() -> None:
    """And what is no version is left out."""
    assert ordered(["1.10", "1.9", "dev", "1.9rc1"]) == ("1.9rc1", "1.9", "1.10")


@pytest.mark.parametrize(
    ("backend", "package", "expected"),
    [
        ("openvino:CPU", None, ("openvino", ())),
        ("openvino-reference", None, ("openvino", ())),
        ("openvino-onnx", None, ("openvino", ("onnx",))),
        ("onnxruntime", None, ("onnxruntime", ("onnx",))),
        ("onnx-reference", None, ("onnx", ())),
        ("tvm", None, ("apache-tvm", ("onnx",))),
        (f"{MINIATURES}:Perfect", "My_Product", ("my-product", ())),
    ],
)
def test_the_package_of_a_backend_is_that_of_its_extra(
    backend: str, package: str | None, expected: tuple[str, tuple[str, ...]]
) -> None:
    """The one that the backend is named after, where the extra has several."""
    assert package_of(backend, package) == expected


def test_the_package_of_a_file_must_be_named() -> None:
    """No package is guessed."""
    with pytest.raises(UsageError, match=r"does not know the package of .*miniatures.py:Perfect. Add --package NAME.$"):
        package_of(f"{MINIATURES}:Perfect", None)


def answered(stdout: str = "", stderr: str = "", code: int = 0) -> "subprocess.CompletedProcess[str]":
    """What a program printed."""
    return subprocess.CompletedProcess((), code, stdout, stderr)


def test_pip_lists_the_releases() -> None:
    """The newest first, as pip prints them."""
    text = "openvino (2026.4.1)\nAvailable versions: 2026.4.1, 2025.10.0, 2025.9.0\n  INSTALLED: 2026.4.1\n"
    with mock.patch.object(installer, "_run", return_value=answered(text)):
        assert releases_of("openvino", Installer(python="python")) == ("2025.9.0", "2025.10.0", "2026.4.1")


def test_without_an_index_pip_says_why() -> None:
    """In one sentence."""
    error = "WARNING: Retrying\nERROR: No matching distribution found for openvino"
    with (
        mock.patch.object(installer, "_run", return_value=answered(stderr=error, code=1)),
        pytest.raises(
            HarnessError, match=r"^pip finds no release of openvino for Python 3.\d+: No matching .* openvino.$"
        ),
    ):
        releases_of("openvino", Installer(python="python"))


@pytest.mark.parametrize(
    ("stderr", "sentence"),
    [
        ("ERROR: no such version\nERROR: nothing found", "no such version nothing found"),
        (
            "  \u00d7 No solution found:\n  \u2570\u2500\u25b6 Because x==9 is missing, give up.",
            "No solution found: Because x==9 is missing, give up.",
        ),
        ("error: No solution\n  cause: Because x==9 is missing", "No solution Because x==9 is missing"),
        ("Traceback\nOSError: broken", "OSError: broken"),
        ("", "it said nothing"),
    ],
)
def test_what_an_installer_said_is_its_errors(stderr: str, sentence: str) -> None:
    """Those of pip and uv; or else the last line."""
    assert said(answered(stderr=stderr, code=1)) == sentence


def test_uv_takes_packages_from_where_pip_does() -> None:
    """Although it does not read pip's configuration."""
    settings = (
        "global.cert='/etc/certs.crt'\n"
        "global.extra-index-url='file:///a file:///b'\n"
        "global.find-links='/opt/wheels'\n"
        ":env:.find-links='/opt/wheels'\n"
        ":env:.no-index='1'\n"
    )
    calls: list[tuple[str, ...]] = []

    def run(*words: str) -> "subprocess.CompletedProcess[str]":
        calls.append(words)
        return answered(settings if "config" in words else "")

    with mock.patch.object(installer, "_run", run):
        Installer(python="python", uv="uv").install(Path("env/bin/python"), "openvino==1")

    assert calls[-1] == (
        *("uv", "pip", "install", "--python", "env/bin/python"),
        *(
            "--index-strategy=unsafe-best-match",
            "--extra-index-url=file:///a",
            "--extra-index-url=file:///b",
            "--find-links=/opt/wheels",
            "--no-index",
        ),
        "openvino==1",
    )


def test_only_a_marked_cache_is_removed(tmp_path: Path) -> None:
    """Nothing that somebody else made is."""
    (tmp_path / "openvino" / "important").mkdir(parents=True)
    environments = Environments(cache=tmp_path, package="openvino", backend="openvino")

    for tag in (None, "", "Signature: 8a477f597d28d172789f06886806bc55\n# Another program's cache.\n"):
        if tag is not None:
            (tmp_path / "CACHEDIR.TAG").write_text(tag)
        with pytest.raises(UsageError, match=r"is not a cache of opconform: it has no CACHEDIR.TAG of it"):
            environments.remove()
        assert (tmp_path / "openvino" / "important").exists()


def test_only_environments_are_removed_from_a_cache(tmp_path: Path) -> None:
    """Finished ones, and those that were being made; nothing else, and nothing behind a link."""
    cache, outside = tmp_path / "cache", tmp_path / "outside"
    environments = Environments(cache=cache, package="openvino", backend="openvino")
    environments.claim()
    for place, mark in ((environments.place("1.0"), "opconform.json"), (environments.place("2.0"), None)):
        place.mkdir(parents=True)
        (place / "pyvenv.cfg").touch()
        (place / mark if mark else place.with_name(f"{place.name}.lock")).touch()
    shutil.copytree(environments.place("1.0"), outside)
    (environments.folder / "linked").symlink_to(outside)
    (environments.folder / "important").mkdir()

    assert environments.remove() == ("1.0",)
    assert sorted(path.name for path in environments.folder.iterdir()) == ["important", "linked"]
    assert (outside / "pyvenv.cfg").exists()


def test_nothing_is_removed_behind_a_link_in_place_of_the_packages_folder(tmp_path: Path) -> None:
    """Although what it leads to looks like environments."""
    outside = Environments(cache=tmp_path / "outside", package="openvino", backend="openvino")
    outside.place("1.0").mkdir(parents=True)
    for name in ("pyvenv.cfg", "opconform.json"):
        (outside.place("1.0") / name).touch()
    environments = Environments(cache=tmp_path / "cache", package="openvino", backend="openvino")
    environments.claim()
    environments.folder.symlink_to(outside.folder)

    assert environments.remove() == ()
    assert outside.installed() == ("1.0",)


@pytest.mark.parametrize("package", ["/abs/dir", "../..", "..", "a/b", "", "-r", "a b", "a==1", "a\n", "~"])
def test_a_package_is_a_name_and_not_a_path_or_an_option(package: str) -> None:
    """Pip and the cache folder get it."""
    with pytest.raises(UsageError, match=r"^--package .* is not the name of a package"):
        package_of("openvino", package)
