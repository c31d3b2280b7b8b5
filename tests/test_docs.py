"""The documents name cases, groups, requirements and files that are there."""

import json
import re
from collections import Counter
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from maintenance import findings, manual
from maintenance.findings import findings_page, listed, product_of, products
from ml_dtypes import bfloat16

from opconform.generation.identity.header import SUITE_VERSION
from opconform.operations import OPERATIONS
from opconform.operations.arithmetic.matmul import sums_of_products
from opconform.operations.arithmetic.sums import allowed_error
from opconform.specs.loader import shipped_operations
from opconform.specs.requirements import requirements_of
from opconform.specs.yaml_document import SpecMistakes
from opconform.suite.bounds import Bounds
from opconform.suite.case import GRAPH
from opconform.suite.manifest import NEIGHBOUR_CHECK, OUTPUT_STAGES, Entry, entry_line
from opconform.suite.reader import Suite, open_suite
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.exact import REDUCED, Exact
from opconform.tensors.tensor import Tensor
from opconform_runners.cli.main import COMMANDS
from opconform_runners.tools.fuzz.search import SHARES_OF_TIME
from opconform_runners.verdicts.accuracy_level import level_of
from opconform_runners.verdicts.comparison import mismatch_of
from opconform_runners.verdicts.description import description_of
from opconform_runners.verdicts.rounding_error import largest_error
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
        *(name for stage in ("rounding", "node", "reading", *OUTPUT_STAGES) for name in stages.get(stage, ())),
        *(() if op == GRAPH or OPERATIONS[op].bits is None else (OPERATIONS[op].bits,)),
        *(() if op == GRAPH else OPERATIONS[op].readings),
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


#: The pages that a person writes, but for the faults of the specification; what follows `MARKER` in one is generated.
HAND_WRITTEN = [page for page in PAGES if page.parent.name != "findings"]
WORDS = 30_000


def test_the_documents_are_short() -> None:
    """All hand-written ones together."""
    texts = [page.read_text().partition(findings.MARKER)[0] for page in HAND_WRITTEN]

    assert sum(len(text.split()) for text in texts) <= WORDS


def cases_of_profiles() -> Counter[str]:
    """How many cases of the shipped suite each profile has."""
    document = json.loads((ROOT / "cases" / "releases.json").read_text())[SUITE_VERSION]
    return Counter(
        {
            profile: sum(operation.get(profile, {}).get("cases", 0) for operation in document["cases"].values())
            for profile in {name for operation in document["cases"].values() for name in operation}
        }
    )


def test_the_profiles_of_the_page_have_so_many_cases() -> None:
    """Each number in the table of profiles in `docs/cli.md`."""
    page = (ROOT / "docs" / "cli.md").read_text()
    rows = dict(re.findall(r"^\| (`\w+`(?:, (?:`\w+`|or none))?) \| ([\d,]+) \|", page, re.MULTILINE))
    index = json.loads((ROOT / "cases" / "index.json").read_text())["specs"]
    of_models, of_pairs = (
        sum(
            cases[0]
            for name, spec in index.items()
            if name.endswith(files)
            for group in spec["groups"].values()
            for cases in group["cases"]
        )
        for files in (("/transformer.yaml", "/vision.yaml"), "/pairs.yaml")
    )
    quick = json.loads((ROOT / "cases" / "quick.json").read_text())
    counts = cases_of_profiles()

    assert {name: int(number.replace(",", "")) for name, number in rows.items()} == {
        **{f"`{profile}`": count for profile, count in counts.items()},
        "`quick`": sum(len(digits.split()) for digits in quick.values()),
        "`default`, or none": counts.total(),
        "`transformer`, `vision`": of_models,
        "`pairs`": of_pairs,
    }


def test_the_pages_compare_the_numbers_of_cases_of_profiles_right() -> None:
    """All profiles, and `quick`, with `core`."""
    counts, quick = cases_of_profiles(), json.loads((ROOT / "cases" / "quick.json").read_text())
    page = (ROOT / "docs" / "cli.md").read_text()

    assert round(counts.total() / counts["core"]) == 6
    assert "six times as many cases" in (ROOT / "README.md").read_text()
    assert round(counts["core"] / sum(len(digits.split()) for digits in quick.values())) == 4
    assert "a quarter of the cases, and all seven profiles have six times as many" in page


def test_the_page_on_fuzzing_has_the_limits_of_a_search() -> None:
    """The shares of `--time` in `docs/fuzzing.md`."""
    page = (ROOT / "docs" / "fuzzing.md").read_text()

    assert re.findall(r"(\d+) %", page) == [f"{share * 100:.0f}" for share in SHARES_OF_TIME]


@pytest.mark.parametrize("page", HAND_WRITTEN, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_counts_the_shipped_suite_right(page: Path) -> None:
    """The number of operations, and that of the cases of `core`, in text and in examples."""
    text = page.read_text()
    operations, cases = (set(re.findall(x, text)) for x in (r"(\d+) operations of OpenVINO", r"\b(8,\d{3}) cases"))

    assert operations <= {str(len(shipped_operations()))}
    assert cases <= {f"{cases_of_profiles()['core']:,}"}


def test_the_page_on_support_counts_the_operations_of_openvino_right() -> None:
    """Those of which the release of the product passes or fails a case."""
    document = json.loads(findings.FILES["openvino-2026.4"].with_suffix(".json").read_text())
    supported = sum(bool({"pass", "fail"} & {*counts}) for op, counts in document["operations"].items() if op != GRAPH)
    page = (ROOT / "docs" / "support.md").read_text()

    assert re.findall(r"(\d+) operations[.,]", page) == [str(supported)] * 2


def test_the_page_on_models_counts_the_cases_of_the_profiles_right() -> None:
    """And the uses that they stand for."""
    page = (ROOT / "docs" / "models.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| .* \| (\d+) \| (\d+) \|$", page, re.MULTILINE)
    index = json.loads((ROOT / "cases" / "index.json").read_text())["specs"]
    counts = []
    for profile in ("transformer", "vision"):
        groups = [
            group
            for name, spec in index.items()
            if name.endswith(f"/{profile}.yaml")
            for group in spec["groups"].values()
        ]
        specs = {path: path.read_text() for path in (ROOT / "cases").glob(f"*/{profile}.yaml")}
        uses = {
            (path, use)
            for path, text in specs.items()
            for line in re.findall(r"uses: \{(.*)\}", text)
            for use in re.findall(r"([a-z0-9-]+): ", line)
        }
        counts.append((profile, str(sum(cases[0] for group in groups for cases in group["cases"])), str(len(uses))))

    assert rows == counts


def test_the_readme_answers_the_questions_of_users() -> None:
    """Each leads to a section; `test_every_link_of_a_page_has_a_target` follows the links."""
    table = (ROOT / "README.md").read_text().partition("\n## Documentation\n")[2]
    answers = dict(re.findall(r"^\| (.*\?) \| (.*) \|$", table, re.MULTILINE))

    assert "suite.md#compare-with-bounds" in answers["How do I compare outputs with bounds?"]
    assert "cli.md#how-long-a-run-takes" in answers["How long does `core` take?"]
    assert "models.md" in answers["Does opconform test what my model has?"]
    assert "verdicts.md#why-a-case-is-not-counted" in answers["Why is my case not counted?"]
    assert "certificates.md#sign-a-matrix" in answers["How do I sign my results, or a matrix?"]


def test_every_context_has_a_row() -> None:
    """In `docs/specs.md`."""
    section = (ROOT / "docs" / "specs.md").read_text().partition("\n## Contexts\n")[2].partition("\n## ")[0]
    rows = set(re.findall(r"^\| `([a-z-]+)` \|", section, re.MULTILINE))

    assert {name for operation in OPERATIONS.values() for name in operation.contexts} <= rows


#: The operands of the worked sum of `docs/rounding.md`.
LEFT, RIGHT = np.array([1.1, 2.2, 3.3], np.float32), np.array([4.4, 5.5, 6.6], np.float32)


def worked_sum() -> tuple[Tensor, Bounds, Bounds]:
    """The output of MatMul-1 for these operands, with its bounds and its reduced bounds."""
    left, right = (x.astype(np.float64).reshape(1, 1, 3) for x in (LEFT, RIGHT))
    output = sums_of_products(ELEMENT_TYPES["f32"], left, right, (1,))
    assert output.bounds is not None
    assert output.reduced is not None
    return output, output.bounds, output.reduced


def test_the_worked_sum_has_these_bounds() -> None:
    """Each row of the first table of `docs/rounding.md`, and the errors from which the bounds follow."""
    output, bounds, reduced = worked_sum()
    exact = sum((Exact(float(a)) * Exact(float(b)) for a, b in zip(LEFT, RIGHT, strict=True)), Exact(0))
    error = float(allowed_error(ELEMENT_TYPES["f32"], exact, 3))
    page = (ROOT / "docs" / "rounding.md").read_text()

    for said in (
        f"| golden | {output.array[0]!s} | the exact sum of the three products of these f32 numbers, {float(exact)!s:.11}…, ",
        f"| bounds | {bounds[0][0]!s} and {bounds[1][0]!s} | the exact sum ± 2 · 3 · 2^-24 times ",
        f": {error:.7f} |",
        f"| reduced bounds | {reduced[0][0]!s} and {reduced[1][0]!s} | the exact sum ± 2^-7 times ",
        f": {float(exact * REDUCED):.4f} |",
    ):
        assert said in page


def test_four_kernels_get_these_verdicts() -> None:
    """Each row of the second table of `docs/rounding.md`."""
    output, bounds, reduced = worked_sum()
    first, second, third = LEFT * RIGHT
    narrow = LEFT.astype(bfloat16).astype(np.float32) * RIGHT.astype(bfloat16).astype(np.float32)
    page = (ROOT / "docs" / "rounding.md").read_text()
    rows = re.findall(r"^\| (\S+) \| .* \| (\S+) \| (`.*`) \| `(.*)` \|$", page, re.MULTILINE)

    computed = []
    for result in (first + second + third, first + (second + third), narrow.sum(), first + second):
        actual = np.array([result])
        error = largest_error([output.array], [actual], [bounds], ["f32"])
        assert error is not None
        found = mismatch_of([output.array], [actual], ["f32"], bounds=[bounds], reduced=[reduced])
        verdict = "`pass`" if found is None else f"`fail`: `{found.reason}`"
        level = level_of(error) if found is None else {"rounding": "reduced", "value": "none"}[found.reason]
        computed.append((str(result), f"{error:.2g}" if error < 1 else f"{error:,.0f}", verdict, level))

    assert rows == computed


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
