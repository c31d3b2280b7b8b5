"""The pages of the site: all operations on all backends, and one page per operation and per product."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from markupsafe import Markup

from maintenance.findings import EACH, KINDS, WORST, Finding, ProductRelease, listed, worst
from maintenance.site.breaches import STATES, OperationCell, cells_of
from maintenance.site.operations import expressed, numbers_of_cases
from maintenance.site.texts import TextLinks, anchor, block, inline
from opconform import __version__
from opconform.errors import counted
from opconform.explanation.specification import pages_of, specified
from opconform.specs.requirements import requirements_of
from opconform.system.resources import render, text_of
from opconform_runners.verdicts.description import description_of

#: The verdicts that the first page counts.
_COUNTED = ("pass", "fail", "unsupported")


class StatedRequirement(NamedTuple):
    """A requirement as the report's templates show it, and where it is broken."""

    op: str
    id: str
    text: str
    note: str
    broken: Sequence[tuple[OperationCell, Sequence[int], int]]


class OperationFindings(NamedTuple):
    """What is said of a release on an operation: a text, and its findings."""

    op: str
    text: str
    findings: Sequence[Finding]


def pages(known: Sequence[ProductRelease], ops: Sequence[str]) -> dict[str, str]:
    """The files of the site by their names."""
    names = sorted(ops, key=_by_name)
    cells = {release.name: cells_of(release, names) for release in known}
    cases = numbers_of_cases(names)
    files = {
        "style.css": text_of("report/page.css") + text_of("site/site.css"),
        "filter.js": text_of("site/filter.js"),
        "index.html": _first_page(known, cells, names),
    }
    files |= {f"products/{x.name}.html": _product_page(x, known, cells[x.name]) for x in known}
    return files | {
        f"operations/{op}.html": _operation_page([of[op] for of in cells.values()], known, cases[op]) for op in names
    }


def _by_name(op: str) -> tuple[str, int]:
    name, _, version = op.rpartition("-")
    return name, int(version)


def _page(template: str, root: str, known: Sequence[ProductRelease], **values: object) -> str:
    """A page, whose addresses of other pages begin with `root`."""
    links = {
        release.name: TextLinks(
            release=release.name,
            numbers={finding.number for finding in release.product.findings},
            known=[other.name for other in known],
            folder=f"{root}products/",
        )
        for release in known
    }

    def sentence(text: str, release: ProductRelease) -> Markup:
        return inline(text, links[release.name])

    def paragraphs(text: str, release: ProductRelease) -> Markup:
        return block(text, links[release.name])

    return str(
        render(
            f"site/{template}.html.j2",
            root=root,
            version=__version__,
            states=STATES,
            counted_verdicts=_COUNTED,
            anchor=anchor,
            counted=counted,
            place=lambda release, name="": links[release.name].place(release.name, name),
            sentence=sentence,
            paragraphs=paragraphs,
            **values,
        )
    )


def _first_page(
    known: Sequence[ProductRelease], cells: Mapping[str, Mapping[str, OperationCell]], ops: Sequence[str]
) -> str:
    kinds = {release.name: release.kinds() for release in known}
    return _page(
        "index",
        "",
        known,
        releases=known,
        ops=ops,
        cells=cells,
        kinds=kinds,
        shown_states=[x for x in STATES if any(cell.state == x for of_op in cells.values() for cell in of_op.values())],
        shown_kinds=[kind for kind in KINDS if any(counts[kind] for counts in kinds.values())],
        broken={name: sum(cell.state == "wrong" for cell in of_op.values()) for name, of_op in cells.items()},
        worst=worst(known),
        most=WORST,
        each=EACH,
        has_results=any(release.results is not None for release in known),
    )


def _product_page(release: ProductRelease, known: Sequence[ProductRelease], cells: Mapping[str, OperationCell]) -> str:
    by_op = sorted(release.product.findings, key=lambda finding: (_by_name(finding.op), finding.number))
    findings = {op: [*group] for op, group in groupby(by_op, key=lambda finding: finding.op)}
    texts, counts = release.product.operations, release.kinds()
    return _page(
        "product",
        "../",
        known,
        release=release,
        product=release.product,
        results=release.results,
        cells=cells,
        sections=[
            OperationFindings(op, texts.get(op, ""), findings.get(op, ()))
            for op in sorted({*findings, *texts}, key=_by_name)
        ],
        broken=_requirements,
        given=_given,
        facts=_facts,
        kinds={kind: counts[kind] for kind in KINDS if counts[kind]},
    )


def _requirements(finding: Finding) -> Iterator[tuple[str, str]]:
    """The requirements that a finding breaks, each with its operation, which may be that of another case."""
    ops = dict.fromkeys(case.partition("/")[0] for case in finding.cases)
    for name in finding.requirement:
        yield next(op for op in ops if name in requirements_of(op).by_id), name


def _given(finding: Finding) -> str:
    """The inputs of a finding's case."""
    case = listed(finding.case)
    return description_of(case.case, case.feeds())


def _facts(finding: Finding) -> Iterator[tuple[str, str]]:
    if finding.varies is not None:
        yield "Passes in some runs", finding.varies
    if finding.first is not None:
        yield "First release", finding.first
    if finding.last is not None:
        yield "Last release", finding.last


def _operation_page(cells: Sequence[OperationCell], known: Sequence[ProductRelease], cases: Mapping[str, int]) -> str:
    op = cells[0].op
    requirements = requirements_of(op)
    return _page(
        "operation",
        "../",
        known,
        op=op,
        specification={op: [page.revision for page in requirements.pages]},
        requirements=[
            StatedRequirement(op, x.id, x.text, "" if x.level == "normative" else x.level, [*_broken(x.id, cells)])
            for x in requirements.requirements
        ],
        cases=cases,
        expressed={name: op in ops for name, ops in expressed().items()},
        failing=sorted((cell for cell in cells if cell.breaches or cell.state == "wrong"), key=lambda x: -x.normative),
        others=[cell for cell in cells if not cell.breaches and cell.state != "wrong"],
        pages=pages_of,
        specified=specified,
    )


def _broken(name: str, cells: Sequence[OperationCell]) -> Iterator[tuple[OperationCell, Sequence[int], int]]:
    """The cells that break a requirement, with the numbers of the findings and of failing cases without one."""
    for cell in cells:
        if name in cell.breaches:
            breach = cell.breaches[name]
            yield cell, [finding.number for finding in breach.findings], len(breach.cases)
