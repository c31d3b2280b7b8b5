"""The frameworks that execute a case directly: what each breaks in `core`, and whose bits come through."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from opconform.tensors.element_types import ELEMENT_TYPES
from tests.backends.known_findings import differences, sampled_report
from tests.conftest import ROOT, Run
from tests.result_files import report_in

pytestmark = pytest.mark.ci_only

TYPES = """\
op: {op}
groups:
  - id: bits
    title: every bit of every element type
    requirements: [data.bits, data.nan-payload]
    matrix:
      element_type: {element_types}
      context: [bare, concat]
    data: {{shape: [4, 16], element_type: "${{{{ element_type }}}}", fill: special}}
    axis: 1
    {cut}
    context: ${{{{ context }}}}
"""

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


#: The operations of which a framework declares beforehand every case that it does not support.
DECLARED = ("Split-1", "VariadicSplit-1")


#: Of each framework, the element types whose elements it changes, and those of which it changes NaNs alone.
FRAMEWORKS: dict[str, dict[str, str]] = {
    "torch": {},
    "jax": {"bf16": "nan-payload", "f8e5m2": "nan-payload"},
    "tensorflow": {},
    "tinygrad:PYTHON": {
        "bf16": "nan-payload",
        "f16": "value",
        "f32": "nan-payload",
        "f8e4m3": "nan-payload",
        "f8e5m2": "nan-payload",
    },
}


def module_of(backend: str) -> str:
    """The module that a framework is imported as, and the backend that the findings name."""
    return backend.partition(":")[0]


def interpreter(module: str) -> list[str]:
    """What names the interpreter that holds a framework: nothing where this one does."""
    if importlib.util.find_spec(module):
        return []
    variable = f"OPCONFORM_PYTHON_{module.upper()}"
    if not os.environ.get(variable):
        pytest.skip(f"{module} is not installed, and {variable} names no interpreter that has it")
    return ["--python", os.environ[variable]]


def certified(opconform: Run, out: Path, backend: str, *arguments: object) -> Any:
    """The report of a certification."""
    python = interpreter(module_of(backend))
    opconform("certify", *arguments, "--backend", backend, *python, "--timeout", "120", "--out", out, code=None)
    return report_in(out)


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("backend", FRAMEWORKS)
def test_a_framework_breaks_what_its_findings_say(
    opconform: Run, core_suite: Path, tmp_path: Path, backend: str
) -> None:
    """Every failure is the framework's: the harness has none, and says beforehand what cannot be done."""
    one = ("--jobs", "1", *interpreter(module_of(backend)))  # in JAX, a case can depend on those before it
    report = sampled_report(opconform, core_suite, backend, tmp_path, *one)

    assert report["summary"]["error"] == 0
    splits = (case for case in report["cases"] if case["id"].partition("/")[0] in DECLARED)
    assert {finding for split in splits for finding in split.get("remarks", [])} <= {"late"}
    assert differences(report, module_of(backend)) == {}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("backend", FRAMEWORKS)
def test_the_bits_of_every_declared_element_type_come_through(opconform: Run, tmp_path: Path, backend: str) -> None:
    """Split and joined again; where they do not, the type is known for it."""
    for op, cut in (("Split-1", "num_splits: 2"), ("VariadicSplit-1", "split_lengths: [5, 11]")):
        (tmp_path / f"{op}.yaml").write_text(TYPES.format(op=op, cut=cut, element_types=list(ELEMENT_TYPES)))
    report = certified(
        opconform, tmp_path / "out", backend, tmp_path / "Split-1.yaml", tmp_path / "VariadicSplit-1.yaml"
    )
    verdicts: dict[str, set[str]] = {
        name: set() for name in ("pass", "unsupported", "value", "nan-payload", "inconclusive")
    }
    for item in report["cases"]:
        case = json.loads((tmp_path / "out" / "suite" / item["id"] / "case.json").read_text())
        kind = case["inputs"][0]["element_type"]
        verdicts[item.get("reason") or item["verdict"]].add(kind)
    lost = {kind: reason for reason in ("nan-payload", "value") for kind in verdicts[reason]}
    lost |= {kind: FRAMEWORKS[backend].get(kind, "?") for kind in verdicts["inconclusive"]}  # by the join alone

    assert lost == FRAMEWORKS[backend]
    assert not [case for case in report["cases"] if "remarks" in case]  # so it does what it declares, and no more
    assert verdicts["unsupported"] == set(ELEMENT_TYPES) - verdicts["pass"] - set(lost)


@pytest.mark.timeout(600)
def test_a_graph_that_pytorch_compiles_is_the_same_graph(opconform: Run, tmp_path: Path) -> None:
    """Every context, and a second inference of other shapes on the compiled function."""
    if not any(shutil.which(name) for name in ("g++", "clang++")):
        pytest.skip("torch:compile needs a C++ compiler")
    (tmp_path / "contexts.yaml").write_text(CONTEXTS)
    report = certified(opconform, tmp_path / "out", "torch:compile", tmp_path / "contexts.yaml")

    assert report["summary"]["pass"] == len(report["cases"]) == 13


@pytest.mark.timeout(600)
def test_pytorch_compiles_the_whole_graph_of_a_case(opconform: Run, tmp_path: Path) -> None:
    """Nothing that surrounds a call breaks the graph, which would leave the rest uncompiled."""
    if not any(shutil.which(name) for name in ("g++", "clang++")):
        pytest.skip("torch:compile needs a C++ compiler")
    python = [*interpreter("torch")[1:], sys.executable][0]
    chosen = ("Pad-12/beyond-reflect", "Gather-8/contexts", "Transpose-1/contexts", "VariadicSplit-1/contexts")
    selected = [word for x in chosen for word in (x.partition("/")[0], "--select", f"{x}/*")]
    opconform("generate", "--profile", "core", *selected, "--out", tmp_path / "suite")
    roots = os.pathsep.join(str(ROOT / name) for name in ("generator", "runners"))
    done = subprocess.run(
        [python, str(Path(__file__).parents[1] / "torch" / "graph_breaks.py"), str(tmp_path / "suite")],
        env={**os.environ, "PYTHONPATH": roots},
        capture_output=True,
        text=True,
        check=True,
    )
    breaks = json.loads(done.stdout)

    assert len(breaks) > 10
    assert [name for name, number in breaks.items() if number] == []


@pytest.mark.parametrize(
    ("module", "backend", "sentence"),
    [
        (
            "torch",
            "torch:compile",
            "torch:compile needs a C++ compiler, and none was found. Install g++, or name one in CXX.",
        ),
        ("tinygrad", "tinygrad", "Install clang, name a compiler in CC, or use tinygrad:PYTHON, which interprets."),
    ],
)
def test_a_missing_compiler_is_reported_in_one_sentence(
    opconform: Run,
    small_suite: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    module: str,
    backend: str,
    sentence: str,
) -> None:
    """And so is what to do about it."""
    python = interpreter(module)
    monkeypatch.setenv("PATH", str(tmp_path))
    done = opconform("run", small_suite, "--backend", backend, *python, "--out", tmp_path / "out", code=3)

    assert sentence in done.stderr
