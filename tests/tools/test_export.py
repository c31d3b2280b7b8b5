"""Exports: what each format has, that nothing else is replaced, and what cannot be exported."""

import hashlib
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

from opconform.suite.case import case_from, case_text
from opconform.suite.file_names import CASE
from opconform.suite.manifest import entry_line
from opconform.suite.reader import open_suite
from opconform.system.resources import root
from opconform_runners.tools.dataset import load
from opconform_runners.tools.export import FORMATS
from tests.conftest import Run
from tests.forgery import seal

SPEC = """\
op: VariadicSplit-1
groups:
  - id: accepted
    title: valid cases
    requirements: [lengths.sum]
    matrix: {element_type: [f32, bf16, i4, string]}
    data: {shape: [6, 2], element_type: "${{ element_type }}"}
    axis: 0
    split_lengths: [2, 4]
    feed: {}
  - id: rejected
    title: the lengths add up to another number
    requirements: [lengths.sum]
    data: {shape: [6, 4]}
    axis: 0
    split_lengths: [1, 2, 2]
    expect: {reject: lengths.sum}
    twin: {split_lengths: [1, 2, 3]}
"""
DIALECTS = ("--dialect", "openvino", "--dialect", "onnx")
#: A title that no file of CMake or C++ may contain.
TITLE = 'naïve "quotes" \\ ${HOME} ;#) )opconform" $(touch x) ✗'


@pytest.fixture(scope="module")
def suite(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite in two dialects, of which ONNX lacks one case."""
    folder = tmp_path_factory.mktemp("export")
    (folder / "spec.yaml").write_text(SPEC)
    opconform("generate", folder / "spec.yaml", "--out", folder / "suite", "--jobs", "1", *DIALECTS)
    return folder / "suite"


def forged(suite: Path, out: Path) -> Path:
    """A copy of a suite in which each title is hostile, sealed again."""
    shutil.copytree(suite, out)
    opened, lines = open_suite(out), []
    for entry in opened.entries:
        text = case_text(replace(case_from((out / entry.id / CASE).read_bytes()), title=TITLE)).encode()
        (out / entry.id / CASE).write_bytes(text)
        lines.append(entry_line(replace(entry, files={**entry.files, CASE: hashlib.sha256(text).hexdigest()})))
    seal(out, "".join(lines).encode())
    return out


def content_of(folder: Path) -> dict[str, bytes]:
    """The files of a folder."""
    return {x.relative_to(folder).as_posix(): x.read_bytes() for x in folder.rglob("*") if x.is_file()}


@pytest.mark.parametrize("name", FORMATS)
def test_an_export_lists_its_cases_and_files(opconform: Run, suite: Path, tmp_path: Path, name: str) -> None:
    """The checksums are as `sha256sum` writes them; what is left out is counted, by reason."""
    out = tmp_path / "out"
    document = json.loads(opconform("export", suite, "--as", name, "--out", out, "--json").stdout)
    about, files = json.loads((out / "export.json").read_text()), content_of(out)
    sums = [f"{hashlib.sha256(files[path]).hexdigest()}  {path}" for path in sorted(files) if path != "SHA256SUMS"]

    left_out = {"no model in onnx: ONNX's Split does not take i4": 1} if name == "onnx" else {}
    assert document["left_out"] == about["left_out"] == left_out
    assert len(about["cases"]) == sum(document["counts"].values()) == (5 if left_out else 6)
    assert about["suite"]["digest"] == document["digest"] == open_suite(suite).header.digest
    assert files["SHA256SUMS"].decode().splitlines() == sums
    assert {x.name for x in tmp_path.iterdir()} == {"out"}


def test_an_export_has_a_folder_by_default_and_shows_its_progress(
    opconform: Run, suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside the results of backends; with `--json`, nothing else is printed."""
    monkeypatch.setattr("opconform_runners.cli.shared.output.progress._SECONDS_BETWEEN_LINES", 0.0)
    done = opconform("export", suite, "--as", "numpy", cwd=tmp_path)
    silent = opconform("export", suite, "--as", "numpy", "--json", cwd=tmp_path)

    assert done.stdout.startswith("opconform-out/numpy-export: 6 cases ")
    assert (tmp_path / "opconform-out" / "numpy-export" / "export.json").is_file()
    assert "Reading 6 cases: 1 case, 17%\n" in done.stderr
    assert done.stderr.endswith("Writing 6 cases: 6 cases, 100%\n")
    assert silent.stderr == ""


def test_numpy_alone_loads_the_cases(opconform: Run, suite: Path, tmp_path: Path) -> None:
    """In a process that cannot import opconform; every array has the stored bits."""
    opconform("export", suite, "--as", "numpy", "--out", tmp_path / "out")
    packages = tmp_path / "packages"
    packages.mkdir()
    for path in Path(np.__file__).parents[1].glob("numpy*"):
        (packages / path.name).symlink_to(path)
    program = (
        f"import sys; sys.path[:0] = [{str(packages)!r}, {str(tmp_path / 'out')!r}]\n"
        "import importlib.util, json, loader\n"
        "assert importlib.util.find_spec('opconform') is None\n"
        "bits = lambda feeds: feeds and [{name: x.tobytes().hex() for name, x in feed.items()} for feed in feeds]\n"
        "print(json.dumps({case['id']: (bits(inputs), bits(outputs)) for case, inputs, outputs in loader.load()}))\n"
    )
    done = subprocess.run([sys.executable, "-ISc", program], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    loaded = json.loads(done.stdout)
    examples = {example.id: example for example in load(suite)}
    assert loaded.keys() == examples.keys()
    for name, (inputs, outputs) in loaded.items():
        example = examples[name]
        assert inputs == [{key: x.tobytes().hex() for key, x in feed.items()} for feed in example.inputs]
        expected = [{f"output_{n}": x.tobytes().hex() for n, x in enumerate(feed)} for feed in example.outputs]
        assert outputs == (None if example.rejects else expected)
    assert len((tmp_path / "out" / "loader.py").read_text().splitlines()) <= 10


def test_onnx_has_the_layout_of_its_own_tests(opconform: Run, suite: Path, tmp_path: Path) -> None:
    """Tensors of the graph's inputs alone, one folder per feed, and a list of the invalid cases with their twins."""
    opconform("export", suite, "--as", "onnx", "--out", tmp_path)
    [invalid] = json.loads((tmp_path / "invalid" / "manifest.json").read_text())
    twin = tmp_path / "invalid" / invalid["twin"]
    files = {x.relative_to(tmp_path / "valid").as_posix() for x in (tmp_path / "valid").rglob("*.pb")}
    second = [x for x in files if "test_data_set_1" in x]

    assert (invalid["requirement"], twin.resolve().parent) == ("VariadicSplit-1:lengths.sum", tmp_path / "valid")
    assert [x.name for x in (tmp_path / "invalid" / invalid["folder"]).rglob("*.pb")] == ["input_0.pb"]
    assert all(x.name.isidentifier() for x in (tmp_path / "valid").iterdir())
    assert len(second) == 3 * 3
    for example in load(suite):
        folder = tmp_path / "valid" / f"test_{example.id.lower().replace('-', '_').replace('/', '_')}"
        if example.rejects or not folder.exists():
            continue
        model = onnx.load(folder / "model.onnx")
        [data] = model.graph.input
        for feed, inputs in enumerate(example.inputs):
            tensor = onnx.load_tensor(folder / f"test_data_set_{feed}" / "input_0.pb")
            assert (tensor.name, tensor.data_type) == (data.name, data.type.tensor_type.elem_type)
            array = onnx.numpy_helper.to_array(tensor)
            assert array.tolist() == inputs["data"].tolist() or array.tobytes() == inputs["data"].tobytes()


def test_a_kit_has_the_sources_and_a_suite(opconform: Run, suite: Path, tmp_path: Path) -> None:
    """The two kits differ in one file; the cases are a suite that verifies, and the twin of an invalid case is in it."""
    select = ("--select", "VariadicSplit-1/rejected", "--dialect", "onnx")
    for name in ("gtest", "ctest"):
        opconform("export", suite, "--as", name, "--out", tmp_path / name, *select)
    gtest, ctest = content_of(tmp_path / "gtest"), content_of(tmp_path / "ctest")
    sources = {x.name for x in (root() / "runners" / "cpp").iterdir()} - {"README.md"}

    assert {x for x in gtest if gtest[x] != ctest[x]} == {"kit.cmake", "export.json", "SHA256SUMS"}
    assert sources < gtest.keys()
    assert b'set(OPCONFORM_MODEL "onnx/model.onnx")' in gtest["kit.cmake"]
    assert b'set(OPCONFORM_CASES "2")' in gtest["kit.cmake"]
    assert "is intact: 2 cases" in opconform("verify", tmp_path / "gtest" / "data").stdout


@pytest.mark.parametrize("name", FORMATS)
def test_a_hostile_title_is_data(opconform: Run, suite: Path, tmp_path: Path, name: str) -> None:
    """It is in JSON alone, where it is the title, and not in CMake, C++ or names of files."""
    copy = forged(suite, tmp_path / "forged")
    opconform("export", copy, "--as", name, "--out", tmp_path / "out")
    files = content_of(tmp_path / "out")
    holding = {path for path, content in files.items() if b"touch x" in content}

    assert holding
    assert all(path.endswith(".json") for path in holding)
    for path in holding:
        document = json.loads(files[path])
        assert {x["title"] for x in (document if isinstance(document, list) else [document])} == {TITLE}


def test_only_an_unchanged_export_is_replaced(opconform: Run, suite: Path, tmp_path: Path) -> None:
    """Nothing is lost: neither other files, nor changed ones, nor an export in another format without --force."""
    out = tmp_path / "out"
    numpy = ("export", suite, "--out", out, "--as", "numpy")
    opconform(*numpy)
    before = content_of(out)
    opconform(*numpy)
    assert content_of(out) == before

    other = opconform("export", suite, "--as", "onnx", "--out", out, code=2)
    assert other.stderr == f"error: {out} is an export as numpy. Use --force to replace it, or another --out.\n"
    for path, content in {"mine.txt": b"mine", "loader.py": b"changed"}.items():
        (out / path).write_bytes(content)
        said = opconform(*numpy, "--force", code=2).stderr
        assert f"{out} is not replaced: opconform did not export {path}, or it was changed." in said
        assert content_of(out) == {**before, path: content}
        (out / path).unlink()
        if path in before:
            (out / path).write_bytes(before[path])
    (out / "empty").mkdir()
    assert "did not export empty/" in opconform(*numpy, code=2).stderr
    (out / "empty").rmdir()
    opconform("export", suite, "--as", "onnx", "--out", out, "--force")
    assert (out / "valid").is_dir()
    assert not (out / "loader.py").exists()


@pytest.mark.parametrize("place", ["suite", "suite/inside", "file", "link", "foreign"])
def test_what_is_no_export_is_not_replaced(opconform: Run, suite: Path, tmp_path: Path, place: str) -> None:
    """A suite, a folder inside it, a file, a link, and a folder with other files."""
    shutil.copytree(suite, tmp_path / "suite")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "SHA256SUMS").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "foreign")
    before = content_of(tmp_path)
    done = opconform("export", suite, "--as", "numpy", "--out", tmp_path / place, "--force", code=2)

    assert "Use another" in done.stderr or "Name its target" in done.stderr
    assert content_of(tmp_path) == before


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("damage", ["missing", "changed"])
def test_a_damaged_suite_is_not_exported(opconform: Run, suite: Path, tmp_path: Path, name: str, damage: str) -> None:
    """The file is named, and an earlier export is unchanged."""
    copy, out = tmp_path / "copy", tmp_path / "out"
    shutil.copytree(suite, copy)
    opconform("export", copy, "--as", name, "--out", out)
    before = content_of(out)
    last = copy / open_suite(copy).entries[-1].id / "inputs.npz"
    last.unlink() if damage == "missing" else last.write_bytes(last.read_bytes()[:-1])
    done = opconform("export", copy, "--as", name, "--out", out, code=1)

    assert "inputs.npz is missing" in done.stderr or "inputs.npz was changed" in done.stderr
    assert content_of(out) == before
    assert {x.name for x in tmp_path.iterdir()} == {"copy", "out"}


def test_a_suite_without_the_models_is_refused(opconform: Run, suite: Path, small_spec: Path, tmp_path: Path) -> None:
    """A dialect that the suite lacks, no case with a model, and an option that has no meaning."""
    openvino, out = tmp_path / "suite", ("--out", tmp_path / "out")
    opconform("generate", small_spec, "--out", openvino, "--jobs", "1")
    lacking = opconform("export", openvino, "--as", "onnx", *out, code=2)
    empty = opconform("export", suite, "--as", "onnx", *out, "-k", "VariadicSplit-1/accepted/*", "-k", "lengths.sum")
    [narrow] = [x.id for x in open_suite(suite).entries if x.left_out]
    none = opconform("export", suite, "--as", "onnx", "--out", tmp_path / "none", "-k", narrow, code=1)
    pointless = opconform("export", suite, "--as", "numpy", *out, "--dialect", "onnx", "--force", code=2)

    assert f'{openvino} has only openvino: no dialect "onnx" to export as onnx.' in lacking.stderr
    assert "Left out: 1 case:\n  1 case: no model in onnx: ONNX's Split does not take i4" in empty.stdout
    reason = "1 case: no model in onnx: ONNX's Split does not take i4"
    assert none.stderr == f"error: No selected case of {suite} can be exported as onnx: {reason}.\n"
    assert pointless.stderr == "error: --dialect is only for gtest and ctest; leave it out with --as numpy.\n"
    assert not (tmp_path / "none").exists()


def test_an_element_type_that_onnx_lacks_is_left_out(opconform: Run, tmp_path: Path) -> None:
    """Also if a suite of another program has a model for it."""
    (tmp_path / "spec.yaml").write_text(SPEC.replace("f32, bf16, i4, string", "f32, u1"))
    suite = tmp_path / "suite"
    opconform("generate", tmp_path / "spec.yaml", "--out", suite, "--jobs", "1")
    seal(suite, (suite / "manifest.jsonl").read_bytes(), lambda x: replace(x, dialects={"onnx": "openvino/layer.xml"}))
    export = ("export", suite, "--as", "onnx", "--out", tmp_path / "out")
    [narrow] = [x.id for x in load(suite) if any(i.element_type == "u1" for i in x.case.inputs)]
    done = opconform(*export, "--select", narrow, code=1)
    assert done.stderr.endswith("can be exported as onnx: 1 case: ONNX has no element type u1.\n")

    done = opconform(*export, code=1)
    assert "has no valid ONNX model" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_blind_suite_is_refused(opconform: Run, small_spec: Path, tmp_path: Path) -> None:
    """It has no expected outputs."""
    opconform("generate", small_spec, "--out", tmp_path / "blind", "--blind", "--jobs", "1")
    done = opconform("export", tmp_path / "blind", "--as", "numpy", "--out", tmp_path / "out", code=1)

    assert "is blind: it has no expected outputs." in done.stderr


def test_onnx_must_be_installed(opconform: Run, suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only for its own format."""
    monkeypatch.setitem(sys.modules, "onnx", None)
    done = opconform("export", suite, "--as", "onnx", "--out", tmp_path / "out", code=2)
    opconform("export", suite, "--as", "gtest", "--out", tmp_path / "out", "--dialect", "onnx")

    needed = "--as onnx needs the package onnx. Install it with `pip install 'opconform[onnx]'`."
    assert done.stderr == f"error: {needed}\n"
