"""What tests of each framework that executes cases directly check: its findings, and whose bits come through."""

import importlib.util
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from opconform.suite.reader import open_suite
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_runners.tools.repro.script import script_of
from tests.backends.known_findings import differences, sampled_report
from tests.conftest import Run
from tests.generation.test_graphs import HEAD, RESIDUAL
from tests.products.scripts import executed
from tests.result_files import report_in

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

#: The operations of which a framework declares beforehand every case that it does not support.
DECLARED = ("Split-1", "VariadicSplit-1")


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
    python = interpreter(backend.partition(":")[0])
    opconform("certify", *arguments, "--backend", backend, *python, "--timeout", "120", "--out", out, code=None)
    return report_in(out)


def check_findings(opconform: Run, core: Path, out: Path, backend: str) -> None:
    """Check that every failure is the framework's: the harness has none, and says beforehand what cannot be done."""
    name = backend.partition(":")[0]
    one = ("--jobs", "1", *interpreter(name))  # in JAX, a case can depend on those before it
    report = sampled_report(opconform, core, backend, out, *one)

    assert report["summary"]["error"] == 0
    splits = (case for case in report["cases"] if case["id"].partition("/")[0] in DECLARED)
    assert {finding for split in splits for finding in split.get("remarks", [])} <= {"late"}
    assert differences(report, name) == {}


def check_bits(opconform: Run, folder: Path, backend: str, changed: Mapping[str, str]) -> None:
    """Check that the bits of every declared element type come through, split and joined again.

    `changed` has the types whose elements the framework changes, with the reason of the failure: `value`, or
    `nan-payload` if it changes NaNs alone.
    """
    for op, cut in (("Split-1", "num_splits: 2"), ("VariadicSplit-1", "split_lengths: [5, 11]")):
        (folder / f"{op}.yaml").write_text(TYPES.format(op=op, cut=cut, element_types=list(ELEMENT_TYPES)))
    report = certified(opconform, folder / "out", backend, folder / "Split-1.yaml", folder / "VariadicSplit-1.yaml")
    verdicts: dict[str, set[str]] = {
        name: set() for name in ("pass", "unsupported", "value", "nan-payload", "inconclusive")
    }
    for item in report["cases"]:
        case = json.loads((folder / "out" / "suite" / item["id"] / "case.json").read_text())
        kind = case["inputs"][0]["element_type"]
        verdicts[item.get("reason") or item["verdict"]].add(kind)
    lost = {kind: reason for reason in ("nan-payload", "value") for kind in verdicts[reason]}
    lost |= {kind: changed.get(kind, "?") for kind in verdicts["inconclusive"]}  # by the join alone

    assert lost == changed
    assert not [case for case in report["cases"] if "remarks" in case]  # so it does what it declares, and no more
    assert verdicts["unsupported"] == set(ELEMENT_TYPES) - verdicts["pass"] - set(lost)


def check_missing_compiler(opconform: Run, suite: Path, folder: Path, backend: str, sentence: str) -> None:
    """Check that a run without any program on the path says in one sentence what to install."""
    python = interpreter(backend.partition(":")[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(folder))
        done = opconform("run", suite, "--backend", backend, *python, "--out", folder / "out", code=3)

    assert sentence in done.stderr


def checked_scripts(opconform: Run, folder: Path, backend: str, ends: Mapping[str, int]) -> dict[str, str]:
    """Check that the scripts of shipped cases and of a graph end with their codes; return the scripts by case.

    `repro` itself, which executes a case first, writes that of the graph.
    """
    (folder / "graph.yaml").write_text(HEAD + RESIDUAL)
    opconform("generate", folder / "graph.yaml", "--out", folder / "graph")
    operations = dict.fromkeys(case.partition("/")[0] for case in ends)
    opconform("generate", *operations, *(word for case in ends for word in ("-k", case)), "--out", folder / "suite")
    suite = open_suite(folder / "suite")
    written = {case: script_of(suite, suite.by_id[case], backend, (), None) for case in ends}
    opconform("repro", "Graph-1/a/*", "-b", backend, "--suite", folder / "graph", "--out", folder / "graph.py")
    written["graph"] = (folder / "graph.py").read_text()
    for case, text in written.items():
        script = folder / "script.py"
        script.write_text(text)
        done = executed(script, sys.executable)

        assert done.returncode == ends.get(case, 0), f"{text}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        assert "opconform" not in text.partition("\nimport ")[2]
    return written
