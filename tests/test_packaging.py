"""The wheel and the source distribution."""

import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections import Counter
from pathlib import Path

from tests.conftest import ROOT


def test_the_wheel_holds_everything_under_two_names(wheel: Path) -> None:
    """Every module, case, template and C++ source is in it, and nothing with a generic name."""
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    expected = {
        path.relative_to(ROOT / root).as_posix()
        for root in ("generator", "runners")
        for path in (ROOT / root).rglob("*.py")
    }
    expected |= {
        f"opconform/_data/{path.relative_to(ROOT).as_posix()}"
        for folder in ("cases", "templates", "runners/cpp")
        for path in (ROOT / folder).rglob("*.*")
    }

    metadata = {"opconform-0.1.0.dist-info", "opconform-0.1.0.data"}
    assert {x.split("/")[0] for x in held} == {"opconform", "opconform_runners", "opconform_products", *metadata}
    assert "opconform-0.1.0.data/data/share/man/man1/opconform.1" in held
    assert expected <= held
    assert not [x for x in held if "mutant" in x]


def test_the_sdist_holds_what_git_does_and_gives_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    """No cache and nothing of another program is in it, and nothing is missing."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    [path] = tmp_path.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        held = {member.name.partition("/")[2] for member in archive.getmembers()}
        archive.extractall(tmp_path, filter="data")
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    [folder] = (x for x in tmp_path.iterdir() if x.is_dir())
    again = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(again, cwd=folder, check=True, capture_output=True)
    [second] = tmp_path.glob("*.whl")

    assert held - {"PKG-INFO"} == {name for name in listed if name and (ROOT / name).is_file()}
    with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(second) as other:
        assert {x.filename: x.CRC for x in one.infolist()} == {x.filename: x.CRC for x in other.infolist()}


def test_the_sdist_holds_the_javascript_harness_without_its_packages(tmp_path: Path) -> None:
    """What `npm install` puts beside it stays where it was put."""
    copy = tmp_path / "copy"
    for name in ("generator", "runners/javascript", "runners/opconform_runners", "runners/opconform_products"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("node_modules", "__pycache__"))
    for name in (".gitignore", "LICENSE", "README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, copy / name)
    installed = copy / "runners" / "javascript" / "node_modules" / "fflate"
    installed.mkdir(parents=True)
    (installed / "index.js").touch()
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    subprocess.run(command, cwd=copy, check=True, capture_output=True)
    [path] = tmp_path.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        held = {getname.partition("/")[2] for getname in archive.getnames()}

    assert "runners/javascript/main.js" in held
    assert not any("node_modules" in x for x in held)


def test_each_package_is_pinned_once() -> None:
    """In `constraints.txt`, or in the file of a product, which it includes."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    included = [ROOT / line.removeprefix("-c ") for line in lines if line.startswith("-c ")]
    pins = [line for path in included for line in path.read_text().splitlines()]
    pins += [line for line in lines if not line.startswith(("#", "-c "))]
    names = Counter(pin.partition("==")[0].lower().replace("_", "-") for pin in pins)

    assert included == sorted((ROOT / "runners" / "opconform_products").glob("*/constraints.txt"))
    assert all("==" in pin for pin in pins)
    assert [name for name, count in names.items() if count > 1] == []
