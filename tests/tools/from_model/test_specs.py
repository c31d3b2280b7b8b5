"""The specs of a model, and what a run on them says of it."""

import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from opconform.suite.reader import open_suite
from opconform_runners.tools.from_model.specs import specs_of_model
from tests.conftest import MINIATURES, Run
from tests.result_files import report_in
from tests.tools.from_model.small_models import SMALL, saved

LINES = r"""small.onnx: 4 of 6 nodes \(66 %\) use 3 operations
  Concat-1     1 node, 1 use, \d+ cases; 6 of 8 violable requirements violated
  Slice-8      1 node, 1 use, \d+ cases; 17 of 17 violable requirements violated
  Transpose-1  2 nodes, 1 use, \d+ cases; 8 of 8 violable requirements violated
  no counterpart: Selu 1, mine.Scale 1
3 specs in specs. Next: opconform certify BACKEND specs
"""


@pytest.fixture(scope="module")
def folder(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model and its specs."""
    folder = tmp_path_factory.mktemp("model")
    saved(SMALL, folder / "small.onnx")
    opconform("from-model", "small.onnx", "-o", "specs", cwd=folder)
    return folder


def groups_in(folder: Path, op: str) -> dict[str, Any]:
    """The groups of an operation, by id."""
    spec = yaml.safe_load((folder / "specs" / op / "small.yaml").read_text())
    return {group["id"]: group for group in spec["groups"]}


def test_the_command_says_what_is_covered_and_what_is_not(opconform: Run, folder: Path) -> None:
    """The same model gives the same specs."""
    before = {path: path.read_bytes() for path in folder.glob("specs/*/*")}

    done = opconform("from-model", "small.onnx", "-o", "specs", cwd=folder)

    assert re.fullmatch(LINES, done.stdout)
    assert {path: path.read_bytes() for path in folder.glob("specs/*/*")} == before


def test_the_specs_have_a_folder_by_default_and_show_their_progress(
    opconform: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of each model, the uses that are read."""
    monkeypatch.setattr("opconform_runners.cli.shared.output.progress._SECONDS_BETWEEN_LINES", 0.0)
    done = opconform("from-model", folder / "small.onnx", cwd=tmp_path)

    assert done.stdout.endswith("3 specs in opconform-out/specs. Next: opconform certify BACKEND opconform-out/specs\n")
    assert len([*(tmp_path / "opconform-out" / "specs").glob("*/small.yaml")]) == 3
    assert re.search(r"Reading model 1 of 1: \d+ uses, 100%\n$", done.stderr)


def test_generate_accepts_the_specs_without_a_warning(opconform: Run, folder: Path) -> None:
    """Also those of a second model with the same uses, and although not every requirement has a case."""
    shutil.copy(folder / "small.onnx", folder / "other.onnx")
    opconform("from-model", "small.onnx", "other.onnx", "-o", "two", cwd=folder)

    done = opconform("generate", "two", "--out", "suite", "--jobs", "1", cwd=folder)

    assert "warning" not in done.stderr
    uses = Counter(name for of_group in open_suite(folder / "suite").header.uses.values() for name in of_group)
    assert {name.rpartition("-")[0] for name in uses} == {"small", "other"}


def test_a_use_has_boundaries_the_graph_behind_it_and_illegal_neighbours(folder: Path) -> None:
    """Each illegal neighbour violates another requirement, and has a twin."""
    groups = groups_in(folder, "Slice-8")
    invalid = {name: group for name, group in groups.items() if "expect" in group}

    assert {group["profile"] for group in groups.values()} == {"core", "context", "dynamic", "robustness"}
    assert [name for name, group in groups.items() if group["profile"] == "core"] == ["small-1-use"]
    assert groups["small-1-then-1"]["then"]["op"] == "Transpose-1"
    assert groups["small-1-second"]["feed"]["data"]["shape"] != groups["small-1-second"]["data"]["shape"]
    assert {0, 1} <= {size for group in groups.values() for size in group.get("data", {}).get("shape", ())}
    assert len({group["expect"]["reject"] for group in invalid.values()}) == len(invalid) == 17
    assert all(group["twin"] for group in invalid.values())


def test_a_use_is_what_several_nodes_have_in_common_but_their_sizes(tmp_path: Path) -> None:
    """Large sizes become the same small ones, and the uses count their nodes."""
    text = """
    <ir_version: 8, opset_import: ["" : 18]> g (float[2, 64] x, float[2, 96] y, float[2, 3] z) => (float[?, ?] o) {
        a = Transpose<perm = [1, 0]>(x) b = Transpose<perm = [1, 0]>(y) o = Transpose<perm = [1, 0]>(z)
        c = Transpose<perm = [0, 1]>(z)
    }
    """
    specs = specs_of_model(saved(text, tmp_path / "model.onnx"))

    assert [len(use.nodes) for use in specs.uses.uses] == [3, 1]


def test_dimensions_that_the_first_tensor_lacks_are_changed_too(tmp_path: Path) -> None:
    """A number that is added to a tensor has none of them."""
    text = """
    <ir_version: 8, opset_import: ["" : 18]> g (float x, float[2, 3] y) => (float[?, ?] o) { o = Add(x, y) }
    """
    groups = specs_of_model(saved(text, tmp_path / "model.onnx")).groups["Add-1"].values()
    shapes = {group["id"]: [group["a"]["shape"], group["b"]["shape"]] for group in groups if {"a", "b"} <= {*group}}

    assert shapes["model-1-size-1-0"] == [[], [2, 0]]
    assert "model-1-second" in shapes


def test_a_case_that_several_uses_have_stands_for_all_of_them(tmp_path: Path) -> None:
    """It is generated once; a use is never a case of another one alone."""
    text = """
    <ir_version: 8, opset_import: ["" : 18]> g (float[2, 3] x, float[2, 1] y) => (float[?, ?] o) {
        a = Transpose<perm = [1, 0]>(x) b = Transpose<perm = [1, 0]>(y)
    }
    """
    groups = specs_of_model(saved(text, tmp_path / "model.onnx")).groups["Transpose-1"].values()
    uses = {group["id"]: group["uses"] for group in groups}

    assert uses["model-1-use"] == {"model-1": 1}
    assert uses["model-2-use"] == {"model-2": 1}
    assert uses["model-1-size-1-0"] == {"model-1": 1, "model-2": 1}


def test_files_of_others_are_not_overwritten_and_left_over_ones_are_removed(opconform: Run, folder: Path) -> None:
    """A spec that the user wrote stays, and so do those of other models."""
    specs = folder / "mine"
    shutil.copytree(folder / "specs", specs)
    left, own = specs / "Tile-1" / "small.yaml", specs / "Tile-1" / "own.yaml"
    left.parent.mkdir()
    shutil.copy(specs / "Slice-8" / "small.yaml", left)
    shutil.copy(specs / "Slice-8" / "small.yaml", own)
    opconform("from-model", "small.onnx", "-o", "mine", cwd=folder)
    assert (left.exists(), own.exists()) == (False, True)

    (specs / "Slice-8" / "small.yaml").write_text("op: Slice-8\n")
    done = opconform("from-model", "small.onnx", "-o", "mine", cwd=folder, code=2)
    refused = "opconform did not write mine/Slice-8/small.yaml and does not overwrite it. Use another path."
    assert done.stderr == f"error: {refused}\n"


def test_many_values_are_split_into_several_specs(
    opconform: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A spec can only have so many."""
    monkeypatch.setattr("opconform_runners.tools.from_model.specs._VALUES", 400)
    opconform("from-model", "small.onnx", "-o", "parts", cwd=folder)
    monkeypatch.undo()

    parts = sorted(path.name for path in (folder / "parts" / "Concat-1").iterdir())
    done = opconform("generate", "parts", "--out", "of-parts", "--jobs", "1", cwd=folder)

    assert {"small-part-2.yaml", "small.yaml"} <= {*parts}
    assert "warning" not in done.stderr


def test_a_run_weights_its_failures_by_the_nodes_of_the_model(opconform: Run, folder: Path) -> None:
    """The sentence, the table, and the report, which has the uses of the suite."""
    done = opconform(
        "certify", f"{MINIATURES}:RefusesEverything", "specs", "--out", "refused", "--jobs", "1", cwd=folder, code=1
    )

    assert "Uses in models: 3 uses (4 nodes) of 3 operations touch" in done.stdout
    assert "As the models have them, failing: 3 uses (4 nodes); unsupported: no use." in done.stdout
    assert "in models    nodes  affected  failing  unsup.  uses  cases  fail  broken" in done.stdout
    assert report_in(folder / "refused")["suite"]["uses"]["Slice-8/small-1-use"] == {"small-1": 1}
    page = (folder / "refused" / "report.html").read_text()
    assert '<h2 id="uses-title">Operations of the models</h2>' in page


def test_a_model_can_be_conformed_to_without_cases_of_every_requirement(opconform: Run, folder: Path) -> None:
    """The verdict is on what the model uses."""
    done = opconform("certify", "numpy", "specs", "--out", "passed", "--jobs", "1", cwd=folder)

    assert "none of these fails." in done.stdout
    assert "CONFORMANT, " in done.stdout


def test_models_of_the_same_name_are_refused(opconform: Run, folder: Path) -> None:
    """The specs of one would replace those of the other."""
    shutil.copy(folder / "small.onnx", folder / "Small.onnx")
    done = opconform("from-model", "small.onnx", "Small.onnx", "-o", "same", cwd=folder, code=2)

    same = "The specs of small.onnx and Small.onnx would have the same names. Rename one of the models."
    assert done.stderr == f"error: {same}\n"


def test_a_model_of_constants_alone_has_no_specs(opconform: Run, tmp_path: Path) -> None:
    """Nothing is covered, and nothing is left out."""
    text = '<ir_version: 8, opset_import: ["" : 18]> g () => (int64 o) { o = Constant<value_int = 1>() }'
    saved(text, tmp_path / "constant.onnx")

    done = opconform("from-model", "constant.onnx", "-o", "specs", cwd=tmp_path)

    assert done.stdout.startswith("constant.onnx: 0 of 0 nodes (0 %) use 0 operations\n0 specs in specs.")


def test_a_wrong_number_of_nodes_has_its_line(opconform: Run, tmp_path: Path) -> None:
    """A use that no node has is a mistake."""
    group = "  - {id: some, title: t, uses: {mine: 0}, arg: {shape: [2, 3]}, input_order: [1, 0]}"
    (tmp_path / "spec.yaml").write_text(f"op: Transpose-1\ngroups:\n{group}\n")

    done = opconform("generate", "spec.yaml", "--out", "suite", cwd=tmp_path, code=2)

    assert done.stderr.startswith("error: spec.yaml:3:39: mine: 0 is not allowed: it must be greater than")


def test_a_run_of_other_specs_says_nothing_of_models(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """Neither its suite nor its report has the key."""
    done = opconform("run", small_suite, "--backend", "numpy", "--out", tmp_path / "out", code=None)

    assert "odels" not in done.stdout
    assert "uses" not in (small_suite / "suite.json").read_text()
    assert "uses" not in report_in(tmp_path / "out")["suite"]
    assert '"uses"' not in (tmp_path / "out" / "results.jsonl").read_text()


@pytest.mark.ci_only
@pytest.mark.parametrize(
    ("package", "models", "covered", "left"),
    [
        ("rapidocr-onnxruntime==1.4.4", 3, 1025, set()),
        ("silero-vad==6.2.3", 6, 771, set()),
    ],
    ids=["rapidocr", "silero"],
)
def test_models_of_packages_are_read_and_certified(
    opconform: Run, tmp_path: Path, package: str, models: int, covered: int, left: set[str]
) -> None:
    """The models are in the wheel; a part of their specs is run."""
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", package, "-d", str(tmp_path)]
    subprocess.run(pip, check=True, capture_output=True)
    for wheel in tmp_path.glob("*.whl"):
        shutil.unpack_archive(wheel, tmp_path / "wheel", "zip")
    files = sorted((tmp_path / "wheel").rglob("*.onnx"))
    specs = [specs_of_model(path) for path in files]
    assert len(files) == models
    assert sum(len(use.nodes) for of_model in specs for use in of_model.uses.uses) == covered
    assert {name for of_model in specs for name, reason in of_model.uses.others if reason} == left

    opconform("from-model", *files, "-o", tmp_path / "specs")
    done = opconform("certify", "numpy", tmp_path / "specs" / "Concat-1", "--out", tmp_path / "out")

    assert "none of these fails." in done.stdout
