"""PyTorch: what it breaks in `core`, and whose bits come through."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, Run
from tests.products.frameworks.checks import certified, check_bits, check_findings, check_missing_compiler, interpreter

pytestmark = pytest.mark.ci_only


CONTEXTS = """\
op: VariadicSplit-1
groups:
  - id: contexts
    title: every context, static and open
    requirements: [outputs.order]
    matrix:
      context: [bare, folded, concat, chain, partial, shared]
      dynamic: [null, all]
    where: context != "folded" or dynamic == none
    data: {shape: [4, 6], element_type: i32, fill: bits}
    axis: -1
    split_lengths: [1, -1]
    dynamic: ${{ dynamic }}
    context: ${{ context }}
  - id: second
    title: a second inference on what was compiled for the first
    requirements: [outputs.shape]
    matrix:
      binding: [constant, parameter]
    data: {shape: [4, 6]}
    axis: 1
    split_lengths: [2, -1]
    binding: ${{ binding }}
    dynamic: all
    feed: {data: {shape: [3, 9]}}
"""


@pytest.mark.timeout(1200)
def test_it_breaks_what_its_findings_say(opconform: Run, core_suite: Path, tmp_path: Path) -> None:
    """Every failure is the framework's."""
    check_findings(opconform, core_suite, tmp_path, "torch")


@pytest.mark.timeout(600)
def test_the_bits_of_every_declared_element_type_come_through(opconform: Run, tmp_path: Path) -> None:
    """Of all of them."""
    check_bits(opconform, tmp_path, "torch", {})


@pytest.mark.timeout(600)
def test_a_graph_that_pytorch_compiles_is_the_same_graph(opconform: Run, tmp_path: Path) -> None:
    """Every context, and a second inference of other shapes on the compiled function."""
    if not any(shutil.which(name) for name in ("g++", "clang++")):
        pytest.skip("torch:inductor needs a C++ compiler")
    (tmp_path / "contexts.yaml").write_text(CONTEXTS)
    report = certified(opconform, tmp_path / "out", "torch:inductor", tmp_path / "contexts.yaml")

    assert report["summary"]["pass"] == len(report["cases"]) == 13


@pytest.mark.timeout(600)
def test_pytorch_compiles_the_whole_graph_of_a_case(opconform: Run, tmp_path: Path) -> None:
    """Nothing that surrounds a call breaks the graph, which would leave the rest uncompiled."""
    if not any(shutil.which(name) for name in ("g++", "clang++")):
        pytest.skip("torch:inductor needs a C++ compiler")
    python = [*interpreter("torch")[1:], sys.executable][0]
    chosen = ("Pad-12/beyond-reflect", "Gather-8/contexts", "Transpose-1/contexts", "VariadicSplit-1/contexts")
    selected = [word for x in chosen for word in (x.partition("/")[0], "--select", f"{x}/*")]
    opconform("generate", "--profile", "core", *selected, "--out", tmp_path / "suite")
    roots = os.pathsep.join(str(ROOT / name) for name in ("generator", "runners"))
    done = subprocess.run(
        [python, str(Path(__file__).with_name("graph_breaks.py")), str(tmp_path / "suite")],
        env={**os.environ, "PYTHONPATH": roots},
        capture_output=True,
        text=True,
        check=True,
    )
    breaks = json.loads(done.stdout)

    assert len(breaks) > 10
    assert [name for name, number in breaks.items() if number] == []


def test_a_missing_compiler_is_reported_in_one_sentence(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """And so is what to do about it."""
    sentence = "torch:inductor needs a C++ compiler, and none was found. Install g++, or name one in CXX."
    check_missing_compiler(opconform, small_suite, tmp_path, "torch:inductor", sentence)


@pytest.mark.timeout(300)
def test_a_compiler_that_does_not_work_is_reported_before_any_case(
    opconform: Run, small_suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No case is blamed for it."""
    monkeypatch.setenv("CXX", "false")
    done = opconform("run", small_suite, "torch:inductor", *interpreter("torch"), "--out", tmp_path / "out", code=3)

    assert "torch:inductor cannot compile anything here: " in done.stderr


GRAPHS = """\
op: Graph-1
groups:
  - id: packed
    title: sums behind maxima, in packs
    requirements: [values.behind]
    matrix: {size: [3, 4, 5, 6], dynamic: [null, all]}
    inputs: {x: {shape: [2, "${{ size }}"], fill: small}}
    dynamic: ${{ dynamic }}
    nodes:
      rectified: {op: ReLU-1, data: x}
      sum: {op: Add-1, a: rectified, b: x}
    outputs: [sum, rectified]
    feed: {inputs: {x: {shape: [2, "${{ size }}"], fill: exact}}}
"""


@pytest.mark.timeout(600)
def test_graphs_are_compiled_in_packs(opconform: Run, tmp_path: Path) -> None:
    """Of static and dynamic cases, with two inferences each."""
    (tmp_path / "graphs.yaml").write_text(GRAPHS)
    report = certified(opconform, tmp_path / "out", "torch:inductor", tmp_path / "graphs.yaml")
    packs = {case.get("pack") for case in report["cases"]}

    assert report["summary"]["pass"] == len(report["cases"]) == 8
    assert packs >= {"counted"}
