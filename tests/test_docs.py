"""The documents name cases, groups and requirements that are there."""

import re
from pathlib import Path

import numpy as np
import pytest
from maintenance import findings, manual, matrix, operations
from maintenance.findings import findings_page, listed, product_of, products
from maintenance.interpretations import PAGE, interpretations_page

from opconform.operations import OPERATIONS
from opconform.specs.requirements import requirements_of
from opconform.specs.yaml_document import SpecMistakes
from opconform.suite.manifest import OUTPUT_STAGES
from opconform.suite.reader import open_suite
from opconform_runners.cli.main import COMMANDS
from opconform_runners.reports.backend_matrix import LEGEND
from tests.conftest import MINIATURES, ROOT, Run

FINDINGS = """\
product: a product
release: "1"
backend: numpy
command: opconform run
environment: here
findings:
  - {number: 1, requirement: [axis.range], case: Split-1/group/0123456789, observed: nothing}
  - number: 2
    requirement: [axis.range]
    case: Split-1/group/0123456789
    state: not reported
    observed: nothing
"""


def test_the_page_on_interpretations_is_up_to_date() -> None:
    """It is what `python -m maintenance.interpretations` writes."""
    assert interpretations_page() == PAGE.read_text()


@pytest.mark.ci_only
def test_the_page_of_findings_is_up_to_date() -> None:
    """It is what `python -m maintenance.findings` writes."""
    assert findings_page() == findings.PAGE.read_text()


def test_the_page_of_operations_is_up_to_date() -> None:
    """It is what `python -m maintenance.operations` writes."""
    assert operations.operations_page() == operations.PAGE.read_text()


def test_the_man_page_is_up_to_date() -> None:
    """It is what `python -m maintenance.manual` writes, with every command and exit code."""
    text = manual.manual()

    assert text == manual.PAGE.read_text()
    assert [name for name in COMMANDS if f"\n.SS {name}\n" not in text.replace("\\-", "-")] == []
    assert text.count("\n.B 130, 143, 129\n") == 1


def beside(op: str) -> list[str]:
    """The requirements that a case of the operation can break without listing them, as `broken_by` explains."""
    stages = requirements_of(op).establishes
    first = [name for stage in ("element-type", "shape", "value", "open") for name in stages.get(stage, ())[:1]]
    return [
        *first,
        *(name for stage in ("rounding", *OUTPUT_STAGES) for name in stages.get(stage, ())),
        *(name for name in (OPERATIONS[op].bits,) if name is not None),
        *OPERATIONS[op].readings,
    ]


@pytest.mark.ci_only
@pytest.mark.parametrize("name", products())
def test_every_finding_names_a_case_and_what_it_breaks(name: str) -> None:
    """The cases of the products' findings are in the specs, and test the requirements that they are said to break.

    A case need not list the requirements that changed elements, the end of a process, or another reading break.
    """
    for finding in products()[name].findings:
        cases = {case: listed(case).case for case in finding.cases}
        tested = {requirement for case in cases.values() for requirement in (*case.requirements, *beside(case.op))}
        assert [*cases] == [case.id for case in cases.values()], finding.number
        assert set(finding.requirement) <= tested, finding.number


def test_every_link_to_a_finding_has_a_target() -> None:
    """In the page itself, and in the other documents."""
    targets = set(re.findall(r'<a id="([^"]+)">', findings.PAGE.read_text()))
    pages = (*(ROOT / "docs").glob("**/*.md"), *(ROOT / "runners" / "opconform_products").glob("*/README.md"))
    for page in (ROOT / "README.md", ROOT / "SECURITY.md", *pages):
        links = re.findall(r"findings\.md#([^)\s]+)", page.read_text())
        if page == findings.PAGE:
            links += re.findall(r"\]\(#([^)]+)\)", page.read_text())
        assert set(links) <= targets, page


def test_the_crash_of_a_process_has_a_state() -> None:
    """As SECURITY.md asks of memory faults."""
    for name, product in products().items():
        for finding in product.findings:
            assert finding.state or not re.search(r"SIG[A-Z]{3}", finding.observed), (name, finding.number)


@pytest.mark.parametrize(
    ("line", "place", "sentence"),
    [
        ("number: 1", "8:13", "The number 1 is repeated."),
        ("requirement: [axis.no]", "9:19", "Split-1 has no requirement axis.no."),
        ("case: Split-1", "10:11", "case: 'Split-1' is not allowed"),
        ("state: unknown", "11:12", "state: 'unknown' is not allowed"),
    ],
)
def test_a_wrong_finding_has_its_line(tmp_path: Path, line: str, place: str, sentence: str) -> None:
    """And a sentence that says what is wrong."""
    key = line.partition(":")[0]
    lines = FINDINGS.splitlines()
    lines[int(place.partition(":")[0]) - 1] = f"  {'- ' if key == 'number' else '  '}{line}"
    (tmp_path / "product.yaml").write_text("\n".join(lines))

    with pytest.raises(SpecMistakes, match=re.escape(f"product.yaml:{place}: {sentence}")):
        product_of(tmp_path / "product.yaml")


def test_the_page_of_all_backends_has_a_row_per_broken_requirement(
    opconform: Run, small_spec: Path, tmp_path: Path
) -> None:
    """It is what `python -m maintenance.matrix` writes."""
    backends = ("-b", "numpy", "-b", f"{MINIATURES}:AcceptsEverything")
    opconform("certify", small_spec, *backends, "--out", tmp_path, code=1)

    _, _, generated = matrix.matrix_page(tmp_path).partition(matrix.MARKER)

    assert generated.splitlines()[3:] == [
        "| backend | verdict | broken requirements | pass | fail | unsupported | inconclusive | error |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
        f"| numpy {np.__version__} | conformant | 0 | 6 | 0 | 0 | 0 | 0 |",
        f"| numpy (2) {np.__version__} | not conformant | 1 | 5 | 1 | 0 | 0 | 0 |",
        "",
        f"At least one backend breaks 1 of the 29 requirements. {LEGEND}.",
        "",
        "| requirement | numpy | numpy (2) |",
        "|---|---|---|",
        "| VariadicSplit-1:lengths.single-remainder | ✓ | ✗ 1 |",
    ]


@pytest.mark.ci_only
def test_the_examples_of_the_core_are_up_to_date(core_suite: Path) -> None:
    """Its number of cases, and the beginning of the digest of the suite in its default dialect.

    The page of all backends says which suite they were run on.
    """
    suite = open_suite(core_suite)

    assert f"\nSuite {suite.header.version}, profile `core`: " in matrix.PAGE.read_text()
    for page in ("certificates.md", "suite.md"):
        text = (ROOT / "docs" / page).read_text()
        assert f"{len(suite.entries):,} cases" in text
        assert f"{matrix.digest_in_default_dialect(suite)[:16]}…" in text
