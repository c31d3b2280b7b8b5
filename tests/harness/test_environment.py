"""The packages that the environment of a run names."""

from pathlib import Path

import pytest

from opconform_runners.backends.backend import Implementation
from opconform_runners.harness.command import backend_command
from opconform_runners.harness.environment import environment_of

METADATA = """\
Metadata-Version: 2.1
Name: maker
Version: 1.0
Provides-Extra: mine
Provides-Extra: other
Requires-Dist: rich>=1.0
Requires-Dist: click>=1.0; extra == "mine"
Requires-Dist: maker[mine,other]; extra == "mine"
Requires-Dist: jinja2[i18n]<9,>=1; python_version >= "3" and extra == 'other'
Requires-Dist: filelock>=1.0; python_version < "3" and extra == "mine"
Requires-Dist: psutil; extra == "unrelated"
"""
IMPLEMENTATION = Implementation(name="it", version="1", element_types=("f32",), dynamic=False, bindings=("constant",))


@pytest.fixture
def distribution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The metadata of a distribution that announces a backend called `mine`."""
    folder = tmp_path / "maker-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(METADATA)
    (folder / "entry_points.txt").write_text(
        "[opconform.backends]\nmine = opconform_runners.backends.numpy.backend:Numpy\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    return folder


@pytest.mark.usefixtures("distribution")
def test_the_packages_of_a_backend_are_its_distribution_and_its_extra() -> None:
    """Extras may name other extras of the distribution; markers that do not hold here are respected."""
    noted = environment_of(backend_command("mine"), IMPLEMENTATION, ())

    assert noted.packages.keys() == {"ml_dtypes", "numpy", "maker", "click", "jinja2"}
    assert noted.packages["maker"] == "1.0"


def test_invalid_requirements_name_no_packages(distribution: Path) -> None:
    """Instead of ending the run."""
    (distribution / "METADATA").write_text(METADATA + "Requires-Dist: not a requirement\n")
    noted = environment_of(backend_command("mine"), IMPLEMENTATION, ())

    assert noted.packages.keys() == {"ml_dtypes", "numpy", "maker"}


def test_an_unannounced_backend_has_the_packages_of_every_harness() -> None:
    """Those that opconform needs itself."""
    noted = environment_of(backend_command("opconform_runners.backends.numpy.backend:Numpy"), IMPLEMENTATION, ())

    assert noted.packages.keys() == {"ml_dtypes", "numpy"}
