"""Scripts that show a case without opconform: each finding's script shows it, and a mended backend ends it with 0."""

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from opconform.explanation.case_list import one_case
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_runners.tools.repro.graph_source import openvino_source
from opconform_runners.tools.repro.variables import nan_source, output_source
from tests.conftest import Run, made_once
from tests.pages.findings import products

#: The product in `docs/findings` of each backend that there are scripts for, and the packages that its scripts need.
PRODUCTS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "openvino": ("openvino-2026.4", ("openvino",)),
    "openvino-onnx": ("openvino-onnx-2026.4", ("openvino", "onnx")),
    "onnxruntime": ("onnxruntime-1.31", ("onnxruntime", "onnx")),
    "torch": ("torch-2.13.0", ("torch",)),
}
#: What takes minutes instead of ending.
ENDLESS = frozenset({"GatherND-8/batches-out-of-range-in-breadth/613f9bbe18"})
#: What fails only where the backend has one core, as its finding says.
ON_ONE_CORE = frozenset({"Split-1/axis-beside-the-range/8ad6c9c8f3"})
#: What differs between two executions, as its finding says it; a corrupted heap sometimes ends the process.
VARYING = frozenset(
    {
        "Concat-1/extended-types/51371ef1c2",
        "Concat-1/types-folded/fb6e3a419d",
        "Gather-8/extended-types/b448d5c01c",
        "Gather-8/of-nothing/7c77d94052",
        "Gather-8/one-batch/c2f13b1324",
        "GatherND-8/empty-tuples/b0cdd3b2d1",
        "GatherND-8/extended-types/391124ede6",
        "Pad-12/extended-types/e772b203b9",
        "Reverse-1/types-folded/255a6cea61",
        "Roll-7/no-axes/028785da33",
        "Slice-8/extended-types/40eb68f413",
        "Slice-8/large-steps/6cb7bee574",
        "StridedSlice-1/extended-types/98930be7cb",
        "StridedSlice-1/removed-beside-new/c19cc0812a",
        "StridedSlice-1/large-strides/90887f4e61",
        "Tile-1/empty-repeats/d5b3599a31",
        "Tile-1/high-ranks/4eb3d95086",
    }
)
#: What a maintainer is ready to read.
MOST_LINES = 90
#: What a script says at the most.
MOST_SAID = 40
#: What differs, as a verdict's sentence says it, and a script. Of some types a script knows the bits alone.
DIFFERENCE = re.compile(
    r"(output_\d+\[[\d, ]*\]): expected (?:\S+ \()?(0x\w+|'.*?')\)?, "
    r"got (?:\S+ \()?(0x\w+|'.*?')\)?; (differing elements: [\d,]+ of [\d,]+)"
)


def cases_of(product: str) -> list[str]:
    """The cases that the findings in a product name, in the order of their numbers."""
    findings = sorted(products()[product].findings, key=lambda finding: finding.number)
    return list(dict.fromkeys(case for finding in findings for case in finding.cases if case not in ENDLESS))


STRANGER = r"""
op: Split-1
groups:
  - id: stranger
    title: "exit(7) \"\"\" \\"
    data: {shape: [4, 2]}
    axis: 0
    num_splits: "\"\"\"\nexit(7)\\"
    expect: {reject: num_splits.type}
    twin: {num_splits: 2}
"""

#: A read past the end, wrong data, and a failure that does not count.
SOME_FINDINGS = (
    "VariadicSplit-1/remainder-over/17a2d48cd0",
    "Split-1/element-types/1faf64c2f9",
    "Split-1/other-types-in-contexts/1ec208159e",
)
#: The smallest case of each finding, whose script is short. Its sentence may name larger ones.
SMALLEST = frozenset(finding.case for product in products().values() for finding in product.findings)
FINDINGS = [(backend, case) for backend, (product, _) in PRODUCTS.items() for case in cases_of(product)]


def interpreter(backend: str) -> str:
    """The interpreter that has a backend's packages."""
    if all(find_spec(p) for p in PRODUCTS[backend][1]):
        return sys.executable
    return os.environ.get(f"OPCONFORM_PYTHON_{backend.upper()}") or pytest.skip(f"{backend} is not installed")


def header_of(script: str) -> str:
    """The comment that a script begins with, as one line."""
    return " ".join(line.removeprefix("# ") for line in script.partition("\nimport ")[0].splitlines())


def executed(script: Path, python: str) -> "subprocess.CompletedProcess[str]":
    """A script, executed where opconform cannot help it."""
    return subprocess.run([python, str(script)], cwd=script.parent, capture_output=True, text=True, check=False)


@contextlib.contextmanager
def cores(number: int) -> Iterator[None]:
    """Leaves what is started meanwhile so many cores, where there are as many."""
    all_of_them = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(all_of_them)[:number])
    try:
        yield
    finally:
        os.sched_setaffinity(0, all_of_them)


@pytest.fixture(scope="session")
def findings_suite(opconform: Run, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The suite of the findings alone."""
    cases = {case for _, case in FINDINGS if "/exhaustive" not in case}  # those are too many for a suite
    return made_once(tmp_path_factory, worker_id, "findings", lambda out: generated(opconform, out, cases))


@pytest.fixture(scope="session")
def suite(opconform: Run, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The suite of some findings, among them the first of each product."""
    cases = {*SOME_FINDINGS, *(cases_of(product)[0] for product, _ in PRODUCTS.values())}
    return made_once(tmp_path_factory, worker_id, "some-findings", lambda out: generated(opconform, out, cases))


def generated(opconform: Run, out: Path, cases: set[str]) -> None:
    """Generates the suite of some cases."""
    selected = [word for case in sorted(cases) for word in ("--select", case)]
    dialects = [word for name in ("openvino", "onnx") for word in ("--dialect", name)]
    opconform("generate", *selected, *dialects, "--out", out)


def test_every_product_has_findings() -> None:
    """There is a file for each backend that there are scripts for."""
    assert {backend for backend, _ in FINDINGS} == set(PRODUCTS)
    assert len(cases_of(PRODUCTS["openvino"][0])) >= 28


@pytest.mark.ci_only
@pytest.mark.parametrize(("backend", "case"), FINDINGS)
def test_the_script_of_a_finding_shows_it(
    opconform: Run, findings_suite: Path, tmp_path: Path, backend: str, case: str
) -> None:
    """It ends with 1, or with the process where that is the failure; it is short, and imports nothing from opconform."""
    python, script = interpreter(backend), tmp_path / "script.py"
    where = [] if python == sys.executable else ["--python", python]
    given = (
        [] if "/exhaustive" in case else ["--suite", findings_suite]
    )  # the exhaustive cases are too many for a suite
    with cores(1 if case in ON_ONE_CORE else 2):
        written = opconform("repro", case, "--backend", backend, *given, "--out", script, *where)
        done = executed(script, python)
    text = script.read_text()

    assert "warning" not in written.stderr
    assert f"\n# The case {case} of opconform.\n" in text
    assert not re.search(r"^(import|from) opconform", text, re.MULTILINE)
    assert len(text.splitlines()) < MOST_LINES or case not in SMALLEST
    assert len(done.stdout.splitlines()) <= MOST_SAID
    assert done.stdout.startswith("expected: ")
    crashed = "# If the bug is present, this process crashes or hangs" in text
    if done.returncode < 0 if case in VARYING else crashed:
        assert done.returncode < 0, done.stdout + done.stderr
    else:
        assert done.returncode == 1, done.stdout + done.stderr
        said, seen = DIFFERENCE.findall(done.stdout)[:1], DIFFERENCE.findall(header_of(text))
        assert case in VARYING or said == seen
        assert "WRONG" in done.stdout or "got: " in done.stdout


def test_openvinos_factory_makes_the_nodes_that_it_has_no_functions_for() -> None:
    """An attribute without a value that the factory takes is left to the IR."""
    [too_many, spelled] = (
        openvino_source(one_case(f"Reverse-1/{case}").case)
        for case in ("too-many-indices/331c3fc997", "other-spellings/574bc126fd")
    )

    assert spelled is None
    assert too_many is not None
    assert too_many.steps == (
        ("reverse", """NodeFactory("opset1").create("Reverse", [data_node, axis_node], {'mode': 'index'})"""),
    )


@pytest.mark.parametrize(("case", "private"), [(SOME_FINDINGS[0], True), (SOME_FINDINGS[1], False)])
def test_a_memory_fault_asks_for_a_private_report(
    opconform: Run, suite: Path, tmp_path: Path, case: str, private: bool
) -> None:
    """The terminal and the script say so of a read past the end, and not of wrong data."""
    interpreter("openvino")
    script = tmp_path / "script.py"
    written = opconform("repro", case, "--backend", "openvino", "--suite", suite, "--out", script)

    assert ("report it to the vendor privately" in written.stderr) is private
    assert ("report it to the vendor privately" in header_of(script.read_text())) is private


def ids(suite: Path, *, accepted: bool) -> list[str]:
    """The ids of the cases of a suite that are accepted, or of those that are not."""
    entries = [json.loads(line) for line in (suite / "manifest.jsonl").read_text().splitlines()]
    return [entry["id"] for entry in entries if (entry["expect"] == "accept") is accepted]


@pytest.mark.parametrize(
    ("accepted", "said", "end"),
    [
        (
            True,
            "expected: 3 outputs\nright\n",
            "Exits with 0 if the outputs are as expected, and with 1 if they differ or the case is rejected.",
        ),
        (
            False,
            "expected: rejected\nrejected, as expected: ",
            "Exits with 0 if the case is rejected as expected, and with 1 if it is accepted.",
        ),
    ],
)
def test_the_script_of_a_case_that_passes_ends_with_0(
    opconform: Run, small_suite: Path, tmp_path: Path, accepted: bool, said: str, end: str
) -> None:
    """So it tells when the bug is mended; that there is none is said when it is written."""
    python, case = interpreter("openvino"), ids(small_suite, accepted=accepted)[0]
    script = tmp_path / "script.py"
    written = opconform("repro", case, "--backend", "openvino", "--suite", small_suite, "--out", script)
    done = executed(script, python)

    assert f"does not fail {case} here: pass\n" in written.stderr
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(said)
    assert end in header_of(script.read_text())


@pytest.mark.parametrize("backend", ["openvino", "openvino-onnx", "onnxruntime"])
def test_a_missing_device_is_not_a_rejection(opconform: Run, suite: Path, tmp_path: Path, backend: str) -> None:
    """The script of an invalid case ends with a traceback before it executes the case."""
    python, script, case = interpreter(backend), tmp_path / "script.py", cases_of(PRODUCTS[backend][0])[0]
    written = opconform("repro", case, "--backend", f"{backend}:NOWHERE", "--suite", suite, "--out", script)
    done = executed(script, python)

    assert written.stderr.endswith("The script was not checked against the backend.\n")
    assert 'print("expected: rejected", flush=True)' in script.read_text()
    assert done.returncode == 1
    assert "expected: " not in done.stdout
    assert "Traceback" in done.stderr


def test_a_failure_that_does_not_count_has_its_sentence(opconform: Run, suite: Path) -> None:
    """The script of an undeclared case that fails states the reason."""
    interpreter("openvino")
    written = opconform("repro", SOME_FINDINGS[2], "--backend", "openvino", "--suite", suite)

    assert re.search(
        r" on CPU: unsupported: the backend does not declare u1; rejected at run time, although it is valid: \S",
        header_of(written.stdout),
    )


def test_the_script_for_an_imported_model_imports_it(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """The device's name is not one that OpenVINO knows."""
    python, script = interpreter("openvino"), tmp_path / "script.py"
    case = ids(small_suite, accepted=True)[0]
    opconform("repro", case, "--backend", "openvino:IMPORT:CPU", "--suite", small_suite, "--out", script)

    assert 'import_model(compiled.export_model(), "CPU")' in script.read_text()
    assert executed(script, python).returncode == 0


def test_only_a_script_is_overwritten(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """Whatever else is there is left as it is."""
    interpreter("openvino")
    case, script, foreign = ids(small_suite, accepted=False)[0], tmp_path / "new" / "script.py", tmp_path / "notes.md"
    foreign.write_text("The case was refused.\n")
    command = ("repro", case, "--backend", "openvino", "--suite", small_suite, "--out")
    opconform(*command, script)
    first = script.read_text()
    script.write_text(first + "print()\n")
    opconform(*command, script)
    refused = opconform(*command, foreign, code=2)

    assert script.read_text() == first
    assert foreign.read_text() == "The case was refused.\n"
    assert refused.stderr == (
        f"error: opconform did not write {foreign} and does not overwrite it. Use another --out.\n"
    )


@pytest.mark.parametrize(
    "name", [element_type.name for element_type in ELEMENT_TYPES.values() if element_type.bits in (8, 16)]
)
def test_a_script_knows_the_nans(name: str) -> None:
    """Of every pattern of a type, as numpy or ml_dtypes know them."""
    kind = ELEMENT_TYPES[name]
    held = np.arange(1 << kind.bits).astype(f"u{kind.storage.itemsize}").view(kind.storage)
    source = nan_source(name, "held")
    found = eval(source, {"np": np, "held": held}) if source else np.zeros(held.shape, np.bool_)  # noqa: S307 - our own line
    with np.errstate(all="ignore"):
        expected = np.isnan(held.view(kind.arithmetic)) if kind.kind == "float" else np.zeros(held.shape, np.bool_)

    assert found.tolist() == expected.tolist()
    assert bool(source) == (kind.kind == "float")


@pytest.mark.parametrize(
    ("index", "source"),
    [
        ((slice(1, 3),), "data[1:3]"),
        ((slice(None), slice(0, 5, 2)), "data[:, 0:5:2]"),
        ((slice(None), slice(4, None, -2)), "data[:, 4::-2]"),
        ((slice(0, 1), slice(2)), "np.array([3, 1], np.int32).reshape(1, 2)"),
    ],
)
def test_a_script_knows_the_slices(index: tuple[slice, ...], source: str) -> None:
    """An output that is a slice along one dimension is written as one, and any other one by its elements."""
    data = np.array([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3], [5, 8, 9, 7, 9]], np.int32)
    found = output_source(data[index], {"data": data})

    assert found == source
    assert eval(found, {"np": np, "data": data}).tolist() == data[index].tolist()  # noqa: S307 - our own line


def test_what_a_spec_says_cannot_become_code(opconform: Run, tmp_path: Path) -> None:
    """Titles and attributes of a stranger's spec stand in comments and literals, whatever they hold."""
    python, script = interpreter("openvino"), tmp_path / "script.py"
    (tmp_path / "spec.yaml").write_text(STRANGER)
    opconform("generate", tmp_path / "spec.yaml", "--out", tmp_path / "suite")
    [case] = ids(tmp_path / "suite", accepted=False)
    opconform("repro", case, "--backend", "openvino", "--suite", tmp_path / "suite", "--out", script)
    done = executed(script, python)

    assert "exit(7)" in script.read_text()
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("expected: rejected\nrejected, as expected: ")


def test_a_case_that_a_script_cannot_show_is_refused(opconform: Run, small_suite: Path) -> None:
    """A backend without scripts, a missing case, and several matches."""
    command = ("repro", "--suite", small_suite, "--backend")
    accepted = [id_ for id_ in ids(small_suite, accepted=True) if "/accepted/" in id_]

    assert opconform(*command, "numpy", "x", code=2).stderr == (
        "error: opconform repro does not support 'numpy'. Allowed: openvino, openvino-onnx, onnxruntime, torch. "
        "For other backends, `opconform run SUITE --backend NAME --select CASE` executes the case again.\n"
    )
    assert "Did you mean 'openvino'?" in opconform(*command, "opnvino", "x", code=2).stderr
    assert opconform(*command, "buggy.py:Buggy", "x", code=2).stderr.startswith(
        "error: opconform repro does not support 'buggy.py:Buggy'. Allowed: "
    )
    assert opconform(*command, "torch:cuda", accepted[0], code=2).stderr.splitlines()[-1] == (
        "error: opconform repro does not support torch:cuda. Allowed: eager, compile."
    )
    assert opconform(*command, "openvino", "Split-1/no/1", code=2).stderr == (
        f"error: No case matches 'Split-1/no/1' in {small_suite}. `opconform list` lists them.\n"
    )
    assert opconform(*command, "openvino", "VariadicSplit-1/accepted/*", code=2).stderr == (
        f"error: 4 cases match 'VariadicSplit-1/accepted/*': {', '.join(accepted)}. Name one.\n"
    )
