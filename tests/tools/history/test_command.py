"""The command `history`: what it refuses, and two releases from the index."""

from pathlib import Path

import pytest

from tests.conftest import MINIATURES, Run
from tests.tools.history.conftest import document


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["numpy"], "opconform does not know the package of numpy. Add --package NAME."),
        (["opnvino"], "'opnvino' is not a backend. Did you mean 'openvino'? Allowed: "),
        ([f"{MINIATURES}:Perfect"], "opconform does not know the package of "),
        (["missing.py:Perfect", "--package", "x"], "File not found: missing.py. "),
    ],
)
def test_a_product_without_a_package_is_refused(opconform: Run, words: list[str], sentence: str) -> None:
    """Before anything is installed."""
    done = opconform("history", *words, code=2)

    assert done.stderr.startswith(f"error: {sentence}")


def test_removing_what_is_not_there_is_no_error(opconform: Run, tmp_path: Path) -> None:
    """And makes no folder."""
    done = opconform("history", "openvino:CPU", "--remove", "--cache", tmp_path / "cache")

    assert done.stdout == "0 environments of openvino removed: none was there\n"
    assert not (tmp_path / "cache").exists()


@pytest.mark.ci_only
@pytest.mark.parametrize(
    ("backend", "versions", "case", "bad"),
    [
        # a constant of strings, which the first cannot fold
        ("onnxruntime", ("1.16.3", "1.20.1"), "Split-1/texts-folded/458df76cf0", "1.16.3"),
        # a dimension of 0, and an empty file of weights
        ("openvino", ("2023.0.0", "2024.0.0"), "Split-1/zero-size-elsewhere/c852aa8584", "2023.0.0"),
    ],
)
def test_older_releases_are_installed_and_run(
    opconform: Run, tmp_path: Path, backend: str, versions: tuple[str, ...], case: str, bad: str
) -> None:
    """With the packages that they were built for."""
    opconform("history", backend, *versions, "-k", case, "--cache", tmp_path / "cache", "--out", tmp_path / "out")
    found = document(tmp_path / "out")

    assert [x["why"] for x in found["releases"]] == ["", ""]
    assert found["cases"][case]["states"] == {version: "bad" if version == bad else "good" for version in versions}
