"""Versions of OpenVINO that pack narrow types differently: the same suite is right for each of them.

Each runs in a process of its own, since one process holds one version of a library. `.ci/ci-only` makes the
environment of the older one.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from opconform.tensors.bit_layouts import OPENVINO_IR, unpack
from opconform_products.openvino import backend as plugin
from opconform_products.openvino.layouts import openvino_layouts
from opconform_products.openvino.runtime import repacked
from opconform_runners.backends.backend import Unsupported
from tests.conftest import ROOT, Run
from tests.result_files import report_in

VARIABLE = "OPCONFORM_PYTHON_OPENVINO_2025_2"
SCRIPT = Path(__file__).with_name("constants_read.py")

SPEC = """\
op: VariadicSplit-1
groups:
  - id: narrow
    title: narrow types as data, from outside and as a constant of the model
    requirements: [outputs.order]
    matrix:
      element_type: [f32, u1, u2, u3, u4, u6, i4]
      context: [bare, folded]
    data: {shape: [5, 3], element_type: "${{ element_type }}", fill: bits}
    axis: 0
    split_lengths: [1, 4]
    context: ${{ context }}
"""


def older() -> str:
    """An interpreter with OpenVINO 2025.2, the last version before u2 changed."""
    return os.environ.get(VARIABLE) or pytest.skip(f"{VARIABLE} names no interpreter; .ci/ci-only makes one")


def constants_read(python: str) -> Any:
    """What the script finds with an interpreter."""
    paths = os.pathsep.join(str(ROOT / name) for name in ("generator", "runners"))
    done = subprocess.run(
        [python, SCRIPT], env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_installed_version_reads_a_suites_constants_as_they_are() -> None:
    """A suite's layout is that of 2025.3 to 2026.4: nothing has to be packed anew."""
    found = constants_read(sys.executable)

    assert all(as_it_is and anew for as_it_is, anew in found["types"].values()), found


@pytest.mark.ci_only
def test_an_older_version_reads_them_once_they_are_packed_anew() -> None:
    """2025.2 has u2 the other way round, and the rest alike."""
    found = constants_read(older())

    assert found["version"].startswith("2025.2.")
    assert {name for name, (as_it_is, _) in found["types"].items() if not as_it_is} == {"u2"}
    assert all(anew for _, anew in found["types"].values()), found


@pytest.mark.ci_only
@pytest.mark.parametrize("backend", ["openvino", "openvino-reference"])
def test_an_older_version_is_run_without_errors_of_the_harness(opconform: Run, tmp_path: Path, backend: str) -> None:
    """Types that its Python interface does not have are `unsupported`, and f32 passes."""
    python = older()
    (tmp_path / "spec.yaml").write_text(SPEC)
    opconform("generate", tmp_path / "spec.yaml", "--out", tmp_path / "suite", "--jobs", "1")
    run = ("run", tmp_path / "suite", "--backend", backend, "--python", python, "--out", tmp_path / "out")
    opconform(*run, code=None)
    report = report_in(tmp_path / "out")
    verdicts: dict[str, set[str]] = {}
    for case in report["cases"]:
        kind = json.loads((tmp_path / "suite" / case["id"] / "case.json").read_text())["inputs"][0]["element_type"]
        verdicts.setdefault(kind, set()).add(case["verdict"])

    assert report["implementation"]["version"] == "2025.2.0"
    assert report["summary"]["error"] == 0
    assert verdicts["f32"] == {"pass"}
    assert verdicts["u2"] == verdicts["u3"] == verdicts["u6"] == {"unsupported"}


def test_a_newer_layout_fits_in_the_place_of_the_older_one() -> None:
    """No version after 2026.4 is published yet: only that each constant keeps its place and its values can be shown."""
    xml = b"""<net><layers>
    <layer><data element_type="u3" shape="2,5" offset="1" size="6"/></layer>
    <layer><data element_type="u6" shape="" offset="7" size="3"/></layer>
    <layer><data element_type="u8" shape="2" offset="10" size="2"/></layer>
    <layer><data num_splits="2"/></layer>
    </layers></net>"""
    weights = bytes(range(17, 29))
    newer = openvino_layouts("2026.5.0")
    changed = repacked(xml, weights, newer)

    assert len(changed) == len(weights)
    assert changed[:1] + changed[10:] == weights[:1] + weights[10:]
    for name, shape, place in (("u3", (2, 5), slice(1, 7)), ("u6", (), slice(7, 10))):
        before = unpack(weights[place], name, shape, OPENVINO_IR)
        after = unpack(changed[place], name, shape, newer)
        assert after.array.tolist() == before.array.tolist()
        assert changed[place] != weights[place]


@pytest.mark.parametrize(
    "message",
    [
        "Cannot create Pad layer Pad id:3 from unsupported opset: opset12",
        "Opset opset15 doesn't contain the operation with type: Squeeze",
        "Incorrect type: F8E8M0",
        "CPU plugin does not support f16 for use with oneDNN.",
        "[ NOT_IMPLEMENTED ] CPU plugin: Input image format U4 is not supported yet...",
    ],
)
def test_what_an_older_version_lacks_is_not_a_failure(message: str) -> None:
    """The messages of 2023.0 to 2024.3 about operations and element types that came later."""
    with pytest.raises(Unsupported), vars(plugin)["_TRANSLATION"].at("build"):
        raise RuntimeError(f"Check 'false' failed at src/core/model.cpp:1: {message}")
