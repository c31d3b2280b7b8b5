"""The documents name cases, groups, requirements and files that are there."""

import re
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from maintenance import findings, manual
from maintenance.findings import findings_page, listed, product_of, products

from opconform.operations import OPERATIONS
from opconform.specs.requirements import requirements_of
from opconform.specs.yaml_document import SpecMistakes
from opconform.suite.manifest import NEIGHBOUR_CHECK, OUTPUT_STAGES, Entry, entry_line
from opconform.suite.reader import Suite, open_suite
from opconform_runners.cli.main import COMMANDS
from opconform_runners.verdicts.description import description_of
from tests.conftest import ROOT

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


def test_the_page_of_findings_is_up_to_date() -> None:
    """It is what `python -m maintenance.findings` writes, on two screens."""
    text = findings.PAGE.read_text()

    assert findings_page() == text
    assert len(text.splitlines()) < 120
    assert len(text.split()) < 1_500


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
        shown = listed(finding.case)
        assert description_of(shown.case, shown.feeds()), finding.number
        assert set(finding.requirement) <= tested, finding.number


#: A link of Markdown to something that is not on the network: its path and its fragment.
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)|(?:src|srcset)=\"()([^\":]+)\"")
#: A finding that a sentence names, as in `openvino-2026.4` finding 12, or findings 9 and 12.
FINDING = re.compile(r"`([a-z-]+-[\d.]+)`\s+findings?\s+(\d+)(?:\s+and\s+(\d+))?")
PAGES = (
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *(ROOT / "docs").glob("**/*.md"),
    *(ROOT / "runners/opconform_products").glob("*/README.md"),
)


def headings(page: Path) -> set[str]:
    """The fragments of a page, as they are made of its headings."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    texts = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title) for title in titles)
    return {re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-") for text in texts}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_of_a_page_has_a_target(page: Path) -> None:
    """The file is there, and has the heading."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for path, fragment, _, source in LINK.findall(text):
        target = page.parent / (path or source) if path or source else page
        assert target.exists(), (path, source)
        assert not fragment or target.suffix != ".md" or fragment in headings(target), (path, fragment)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_finding_that_a_page_names_is_there(page: Path) -> None:
    """Its file has a row of the number."""
    for name, *numbers in FINDING.findall(page.read_text()):
        known = {str(finding.number) for finding in products()[name].findings}
        assert {number for number in numbers if number} <= known, name


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


def digest_in_default_dialect(suite: Suite) -> str:
    """The digest that the suite has if it is generated in the dialect `openvino` only."""
    others = tuple(f"{name}/" for name in suite.header.dialects if name != "openvino")

    def without_others(entry: Entry) -> Entry:
        return replace(
            entry,
            files={
                name: digest
                for name, digest in entry.files.items()
                if not name.removeprefix(f"{NEIGHBOUR_CHECK}/").startswith(others)
            },
            left_out={name: reason for name, reason in entry.left_out.items() if name == "openvino"},
        )

    return sha256("".join(entry_line(without_others(entry)) for entry in suite.entries).encode()).hexdigest()


@pytest.mark.ci_only
def test_the_examples_of_the_core_are_up_to_date(core_suite: Path) -> None:
    """Its number of cases, and the beginning of the digest of the suite in its default dialect."""
    suite = open_suite(core_suite)

    for page in ("certificates.md", "suite.md"):
        text = (ROOT / "docs" / page).read_text()
        assert f"{len(suite.entries):,} cases" in text
        assert f"{digest_in_default_dialect(suite)[:16]}…" in text
