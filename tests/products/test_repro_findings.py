"""The scripts of findings: each shows its finding on the released product."""

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from maintenance.findings import products

from tests.conftest import Run, made_once
from tests.products.scripts import PRODUCTS, cases_of, executed, generated, header_of, interpreter
from tests.sampling import sampled

#: What fails only where the backend has one core, as its finding says.
ON_ONE_CORE = frozenset({"Split-1/axis-beside-the-range/8ad6c9c8f3"})


#: What differs between two executions, as its finding says it; a corrupted heap sometimes ends the process.
VARYING = frozenset(
    {
        "Col2Im-15/extreme-values-in-a-second-inference/91394c47eb",
        "Concat-1/extended-types/51371ef1c2",
        "Concat-1/types-folded/fb6e3a419d",
        "Gather-8/extended-types/b448d5c01c",
        "Gather-8/of-nothing/7c77d94052",
        "Gather-8/one-batch/c2f13b1324",
        "GatherElements-6/extended-types/881f2d6544",
        "GatherND-8/empty-tuples/b0cdd3b2d1",
        "GatherND-8/extended-types/391124ede6",
        "Pad-12/extended-types/e772b203b9",
        "Reverse-1/types-folded/255a6cea61",
        "Roll-7/no-axes/028785da33",
        "ScaledDotProductAttention-13/without-data/6b7100ab9a",
        "ScaledDotProductAttention-13/without-data/d3bafb47b3",
        "Slice-8/extended-types/40eb68f413",
        "Slice-8/large-steps/6cb7bee574",
        "StridedSlice-1/extended-types/98930be7cb",
        "StridedSlice-1/removed-beside-new/c19cc0812a",
        "StridedSlice-1/large-strides/90887f4e61",
        "Tile-1/empty-repeats/d5b3599a31",
        "Tile-1/high-ranks/4eb3d95086",
    }
)


#: What passes in some runs, as its finding says it of all its cases.
PASSING = frozenset(
    case for product in products().values() for x in product.findings if x.varies is not None for case in x.cases
)


#: What a maintainer is ready to read.
MOST_LINES = 120


#: The smallest cases of findings that need many numbers: one of every size, those of a long sum, or matrices for each head.
LONG = frozenset(
    {
        "CumSum-3/biased/95d6247709",
        "Divide-1/thirds/867e3e7602",
        "FloorMod-1/corners/3e3f82985a",
        "Gelu-7/binades/d7f8f8f7e9",
        "MatMul-1/special-values/32a6d94bd0",
        "Range-4/rounded/028ff397de",
        "ScaledDotProductAttention-13/element-types/d96b290efc",
        "ScaledDotProductAttention-13/masks-of-booleans/d0e772181c",
        "Sigmoid-1/tenths/0414d15dd2",
        "Sqrt-1/binades/2fa7d01cc7",
        "Subtract-1/overflow/82c21a0cfe",
        "Tanh-1/special-values/3cf0e6f2c2",
    }
)


#: What a script says at the most.
MOST_SAID = 40


#: What differs, as a verdict's sentence says it, and a script. Of some types a script knows the bits alone.
DIFFERENCE = re.compile(
    r"(output_\d+\[[\d, ]*\]): expected (?:\S+ \()?(0x\w+|'.*?')\)?(?:, allowed are \S+ to \S+)?, "
    r"got (?:\S+ \()?(0x\w+|'.*?')\)?; (?:allowed are [^;]*; )?(?:error: [^;]*; )?"
    r"((?:differing elements|elements outside their bounds): [\d,]+ of [\d,]+)"
)


#: The smallest case of each finding, whose script is short. Its sentence may name larger ones.
SMALLEST = frozenset(finding.case for product in products().values() for finding in product.findings)


FINDINGS = [(backend, case) for backend, (product, _) in PRODUCTS.items() for case in cases_of(product)]


SAMPLED = sampled(map(" ".join, FINDINGS))


def is_in_large_profile(case: str) -> bool:
    """Whether a case is exhaustive or functional, of which there are too many for a suite."""
    return case.partition("/")[2].startswith(("exhaustive", "functional"))


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
    cases = {case for named in SAMPLED for _, case in [named.split()] if not is_in_large_profile(case)}
    return made_once(tmp_path_factory, worker_id, "findings", lambda out: generated(opconform, out, cases))


def test_every_product_has_findings() -> None:
    """There is a file for each backend that there are scripts for."""
    assert {backend for backend, _ in FINDINGS} == set(PRODUCTS)
    assert len(cases_of(PRODUCTS["openvino"][0])) >= 28


@pytest.mark.ci_only
@pytest.mark.parametrize("named", SAMPLED)
def test_the_script_of_a_finding_shows_it(opconform: Run, findings_suite: Path, tmp_path: Path, named: str) -> None:
    """It ends with 1, or with the process where that is the failure; it is short, and imports nothing from opconform."""
    backend, case = named.split()
    python, script = interpreter(backend), tmp_path / "script.py"
    where = [] if python == sys.executable else ["--python", python]
    given = [] if is_in_large_profile(case) else ["--suite", findings_suite]
    with cores(1 if case in ON_ONE_CORE else 2):
        written = opconform("repro", case, "--backend", backend, *given, "--out", script, *where)
        done = executed(script, python)
    text = script.read_text()

    if case in PASSING and not done.returncode:
        return
    assert "warning" not in written.stderr
    assert f"\n# The case {case} of opconform.\n" in text
    assert not re.search(r"^(import|from) opconform", text, re.MULTILINE)
    assert len(text.splitlines()) < MOST_LINES or case not in SMALLEST - LONG
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
