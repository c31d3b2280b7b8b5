"""Releases: what `.ci/release` builds, installed as users install it, and the workflow that publishes it."""

import hashlib
import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from filelock import FileLock

from opconform.generation.identity.header import SUITE_VERSION
from tests.conftest import ROOT
from tests.suite.installation import operations_of_release

#: The operations of the suite that is built here.
OPERATIONS = ("ShapeOf-1", "Split-1")


def ran(*command: object, cwd: Path, **variables: str) -> str:
    """What a command prints."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env={**os.environ, **variables}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A release with a suite of few operations; the script compares two builds of everything."""
    base = tmp_path_factory.getbasetemp()
    place = (base if worker_id == "master" else base.parent) / "dist"
    with FileLock(f"{place}.lock"):
        if not place.exists():
            ran(".ci/release", *OPERATIONS, cwd=ROOT, DIST=str(place), PYTHON=sys.executable)
    return place


def packages(dist: Path) -> tuple[Path, Path]:
    """The wheels of opconform and of the suite."""
    [code] = dist.glob("packages/opconform-*.whl")
    [data] = dist.glob("packages/opconform_suite-*.whl")
    return code, data


def of_operations(table: dict[str, Any]) -> dict[str, Any]:
    """A table of releases that have only the operations of this suite."""
    return {
        version: row | {key: {op: row[key][op] for op in OPERATIONS} for key in ("cases", "specs")}
        for version, row in table.items()
    }


@pytest.mark.ci_only
def test_a_release_says_what_is_in_it(dist: Path) -> None:
    """The digests, the suite as a file of its own and in its wheel, the site, the bill of materials, and the notes."""
    lines = [line.split("  ") for line in (dist / "SHA256SUMS").read_text().splitlines()]
    listed = {name: digest for digest, name in lines}
    files = {path.relative_to(dist).as_posix(): path for path in dist.rglob("*") if path.is_file()}
    described = json.loads((dist / f"opconform-suite-{SUITE_VERSION}.json").read_text())
    name = f"opconform-suite-{SUITE_VERSION}.zip"
    with zipfile.ZipFile(packages(dist)[1]) as archive:
        inside = {x for x in archive.namelist() if ".dist-info/" not in x}
        packed, release = (archive.read(f"opconform_suite/{x}") for x in (name, "release.json"))
    bill = json.loads((dist / "opconform-0.1.0.cdx.json").read_text())

    assert listed == {
        x: hashlib.sha256(path.read_bytes()).hexdigest() for x, path in files.items() if x != "SHA256SUMS"
    }
    assert inside == {f"opconform_suite/{name}", "opconform_suite/release.json"}
    assert (packed, json.loads(release)) == ((dist / name).read_bytes(), described)
    assert (described["sha256"], described["version"]) == (listed[name], SUITE_VERSION)
    assert {op: [*profiles] for op, profiles in described["cases"].items()} == {op: ["core"] for op in OPERATIONS}
    assert (bill["bomFormat"], bill["metadata"]["component"]["name"]) == ("CycloneDX", "opconform")
    assert {"numpy", "pydantic"} <= {component["name"] for component in bill["components"]}
    assert "file:" not in json.dumps(bill)
    assert (dist / "NOTES.md").read_text().startswith("### Added\n")
    with zipfile.ZipFile(dist / "opconform-site-0.1.0.zip") as archive:
        site = archive.namelist()
        dates = {x.date_time for x in archive.infolist()}
    assert (site, dates) == (sorted(site), {(1980, 1, 1, 0, 0, 0)})
    assert {"index.html", "operations/Split-1.html", "products/openvino-2026.4.html"} <= {*site}


@pytest.mark.ci_only
def test_wheel_and_suite_do_the_main_job_with_nothing_but_python(dist: Path, tmp_path: Path) -> None:
    """Installed by pip into an empty environment, outside the checkout."""
    venv.create(tmp_path / "venv", with_pip=True)
    binaries = tmp_path / "venv" / "bin"
    ran(binaries / "pip", "install", "-q", "-c", ROOT / "constraints.txt", *packages(dist), cwd=tmp_path)
    [table] = (tmp_path / "venv").glob("lib/*/site-packages/opconform/_data/cases/releases.json")
    table.write_text(json.dumps(of_operations(json.loads(table.read_text()))))
    shown = ran(binaries / "opconform", "run", f"opconform-suite=={SUITE_VERSION[:3]}", "numpy", cwd=tmp_path)
    module = ran(binaries / "python", "-P", "-m", "opconform", "verify", "opconform-suite", cwd=tmp_path)

    assert "CONFORMANT, " in shown
    assert f"suite {SUITE_VERSION}, " in shown
    assert module.startswith(f"opconform-suite=={SUITE_VERSION} is intact: ")
    assert (tmp_path / "venv" / "share" / "man" / "man1" / "opconform.1").is_file()


@pytest.mark.ci_only
def test_other_installers_install_the_wheels(dist: Path, tmp_path: Path) -> None:
    """`uvx` runs them from the files, and `pipx` gives the suite to the environment of the program."""
    pytest.importorskip("pipx")
    code, data = packages(dist)
    uvx = Path(sys.executable).with_name("uvx")
    folders = {
        "PIPX_HOME": str(tmp_path / "pipx"),
        "PIPX_BIN_DIR": str(tmp_path / "bin"),
        "PIPX_MAN_DIR": str(tmp_path / "man"),
    }
    pipx = (sys.executable, "-m", "pipx")
    ran(*pipx, "install", "-q", code, cwd=tmp_path, **folders)
    ran(*pipx, "inject", "-q", "opconform", data, cwd=tmp_path, **folders)
    for command in ((uvx, "-q", "--from", code, "--with", data, "opconform"), (tmp_path / "bin" / "opconform",)):
        words = [*map(str, command), "verify", "opconform-suite"]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert f"is not release {SUITE_VERSION} of opconform-suite" in done.stderr, done  # it is found
        assert f"2 of {operations_of_release()} operations" in done.stderr


@pytest.fixture(scope="module")
def workflow() -> dict[Any, Any]:
    """The workflow."""
    loaded: dict[Any, Any] = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())
    return loaded


def test_the_workflow_has_few_permissions(workflow: dict[Any, Any]) -> None:
    """Only the upload asks for approval, and only the draft writes to the repository; no token or password is kept."""
    assert workflow["permissions"] == {}
    assert workflow[True] == {"push": {"tags": ["v*"]}}  # the key `on`, as YAML 1.1 reads it
    assert {name: (job["permissions"], job.get("environment")) for name, job in workflow["jobs"].items()} == {
        "build": ({"contents": "read", "id-token": "write", "attestations": "write"}, None),
        "publish": ({"id-token": "write"}, "release"),
        "draft": ({"contents": "write"}, None),
    }
    assert "secrets." not in json.dumps(workflow, default=str)


def test_the_workflow_publishes_what_the_script_builds(workflow: dict[Any, Any]) -> None:
    """It runs the script, attests its files, and uploads the packages after an approval."""
    steps = {name: job["steps"] for name, job in workflow["jobs"].items()}
    uses = {
        step["uses"].partition("@")[0]: step.get("with", {}) for x in steps.values() for step in x if "uses" in step
    }

    assert ".ci/release" in [step.get("run") for step in steps["build"]]
    assert uses["actions/attest-build-provenance"] == {"subject-checksums": "dist/SHA256SUMS"}
    assert uses["pypa/gh-action-pypi-publish"] == {"packages-dir": "dist/packages"}
    assert (workflow["jobs"]["publish"]["needs"], workflow["jobs"]["draft"]["needs"]) == ("build", "publish")
    version = (ROOT / "pyproject.toml").read_text()
    [check] = [step["run"] for step in steps["build"] if "grep" in step.get("run", "")]
    for tag, code in (("v0.1.0", 0), ("v9.9.9", 1)):
        done = subprocess.run(["bash", "-c", check], cwd=ROOT, env={**os.environ, "GITHUB_REF_NAME": tag}, check=False)
        assert (done.returncode, 'version = "0.1.0"' in version) == (code, True)
