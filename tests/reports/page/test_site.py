"""The site of known results, on two made-up products and on those of the repository."""

import json
import re
import zipfile
from collections.abc import Mapping
from html.parser import HTMLParser
from itertools import product
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest
from maintenance.findings import FILES, Product, ProductRelease, products, releases, run_beside, worst
from maintenance.site.pages import pages
from maintenance.site.texts import TextLinks, block, inline
from maintenance.site.writer import write_folder, write_zip

from opconform.specs.loader import shipped_operations
from opconform.suite.case import GRAPH
from tests.reports.page.test_layout import SCHEMES

if TYPE_CHECKING:
    from playwright.sync_api import Browser

OPERATIONS = ("Split-1", "VariadicSplit-1")
REMAINDER, EMPTY = "VariadicSplit-1/remainder-over/17a2d48cd0", "VariadicSplit-1/empty-lengths/0dfef0a781"
COUNTS = {"pass": 5, "fail": 3, "unsupported": 1, "inconclusive": 0, "error": 0}
FINDINGS = [
    {
        "number": 1,
        "requirement": ["lengths.remainder-sum"],
        "case": REMAINDER,
        "observed": "accepted, with `memory` & <more>",
        "state": "public https://example.org/1",
    },
    {
        "number": 12,
        "requirement": ["lengths.empty"],
        "case": EMPTY,
        "observed": "rejected, as finding 1",
        "first": "0.9",
    },
]
RESULTS = {
    "suite": "2.0.0",
    "profile": "core",
    "version": "1.0.1",
    "operations": {"Split-1": {"pass": 7, "fail": 0, "unsupported": 2}, "VariadicSplit-1": COUNTS},
    "failures": {
        REMAINDER: {"ends": ["accepted-invalid"], "broken": ["lengths.remainder-sum"], "findings": [1]},
        EMPTY: {"ends": ["rejected-valid"], "broken": ["lengths.empty"], "findings": [12]},
        "VariadicSplit-1/group/0123456789": {"ends": ["value"], "broken": ["outputs.order"]},
    },
}


def made_up(backend: str, **keys: object) -> Product:
    """A release of a product."""
    document = {"product": "Some", "release": "1.0", "backend": backend, "command": "run", "environment": "Here."}
    return Product.model_validate(document | {"findings": FINDINGS} | keys)


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> list[ProductRelease]:
    """Two releases, of which one has results."""
    file = tmp_path_factory.mktemp("findings") / "some-1.0.yaml"
    file.with_suffix(".json").write_text(json.dumps(RESULTS))
    other = made_up("torch", remarks={"Its threads": "See [a row](#some-1.0-12) and [that product](#some-1.0)."})
    return [
        ProductRelease(name="some-1.0", product=made_up("openvino"), results=run_beside(file)),
        ProductRelease(name="other-1.0", product=other, results=run_beside(file.with_stem("other-1.0"))),
    ]


@pytest.fixture(scope="module")
def site(known: list[ProductRelease]) -> Mapping[str, str]:
    """The files of their site."""
    return pages(known, OPERATIONS)


class Links(HTMLParser):
    """The links and the ids of a page, and its tags that are not closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.opened: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note links and ids."""
        values = dict(attrs)
        self.links += [x for x in (values.get("href"), values.get("src")) if x is not None]
        self.ids += [x for x in (values.get("id"),) if x is not None]
        if tag not in ("br", "input", "link", "meta"):
            self.opened.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close the last tag."""
        assert self.opened.pop() == tag


def dead_links(files: Mapping[str, str]) -> list[tuple[str, str]]:
    """The links of pages that lead nowhere, but for those that leave the site."""
    read = {name: Links(text) for name, text in files.items() if name.endswith(".html")}
    dead = []
    for name, page in read.items():
        assert page.opened == [], name
        assert len(page.ids) == len({*page.ids}), name
        for link in page.links:
            path, _, fragment = link.partition("#")
            target = normpath(join(dirname(name), unquote(path))) if path else name
            if not link.startswith("https://") and (
                target not in files or (fragment and unquote(fragment) not in read[target].ids)
            ):
                dead.append((name, link))
    return dead


def visible(html: str) -> str:
    """The text of a part of a page."""
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def section(html: str, name: str) -> str:
    """The text of the element with an id, up to the next section or row."""
    start = html.index(f'id="{name}"')
    return visible("<" + html[start : re.compile(r"</(?:section|article|tr)>").search(html, start).start()])  # type: ignore[union-attr]


def test_a_cell_of_the_first_page_says_what_is_broken_and_counts(site: Mapping[str, str]) -> None:
    """In words, and with a colour; without results, only what the findings say."""
    cells = re.findall(r'href="([^"]+)" class="state (\w+)" aria-label="([^"]+)"', site["index.html"])
    words = "2 requirements broken, 1 interpretation read differently"

    assert cells == [
        ("operations/Split-1.html#some-1.0", "supported", "Split-1 on openvino: every decided case passes; 7 pass, 2 unsupported"),
        ("operations/VariadicSplit-1.html#some-1.0", "wrong", f"VariadicSplit-1 on openvino: {words}; 5 pass, 3 fail, 1 unsupported"),
        (
            "operations/VariadicSplit-1.html#other-1.0",
            "wrong",
            "VariadicSplit-1 on torch: 1 requirement broken, 1 interpretation read differently",
        ),
    ]  # fmt: skip
    assert 'title="Split-1 on torch: no finding">·' in site["index.html"]


def test_the_page_of_an_operation_says_which_backend_breaks_it_and_why(site: Mapping[str, str]) -> None:
    """By finding and, for failing cases without one, by requirement; what has no row is named, too."""
    page = site["operations/VariadicSplit-1.html"]

    assert "2 backends break normative requirements of VariadicSplit-1" in visible(page)
    assert section(page, "some-1.0").endswith(
        "Some 1.0 2 requirements broken, 1 interpretation read differently; 5 pass, 3 fail, 1 unsupported "
        "1 memory lengths.remainder-sum accepted, with memory &amp; &lt;more&gt; "
        "12 interpretation lengths.empty rejected, as finding 1 "
        "no finding outputs.order 1 failing case, such as VariadicSplit-1/group/0123456789"
    )
    assert section(page, "outputs.order").endswith("openvino 1 other failing case")
    assert section(page, "lengths.remainder-sum").endswith("openvino : 1 torch : 1")
    assert "interpretation" in section(page, "lengths.empty")
    assert "Our reading:" in section(page, "lengths.empty")
    assert "Expected in" not in page
    assert "torch, jax, tensorflow, tinygrad" in visible(page)


def test_the_page_of_a_product_has_a_row_per_finding(site: Mapping[str, str]) -> None:
    """With its case described, its dates and its state."""
    page = site["products/some-1.0.html"]

    assert section(page, "some-1.0-1").partition("1 memory ")[2] == (
        "lengths.remainder-sum Observed accepted, with memory &amp; &lt;more&gt; "
        "Given data f32[6, 2], axis 0, split_lengths [7, -1] "
        f"Case {REMAINDER} State public"
    )
    assert section(page, "some-1.0-12").endswith("First release 0.9")
    assert "suite 2.0.0, profile core" in visible(page)


def test_every_link_leads_somewhere_without_the_network(site: Mapping[str, str]) -> None:
    """Also from one product to another; ids are unique, and tags are closed."""
    links = Links(site["products/other-1.0.html"]).links

    assert dead_links(site) == []
    assert {"../products/some-1.0.html", "../products/some-1.0.html#some-1.0-12"} <= {*links}
    for text in site.values():
        assert re.findall(r'<(?:link|script|img)[^>]*(?:href|src)="https?:', text) == []


def test_texts_are_markdown_without_html() -> None:
    """A link to a document of the repository is left out, and a finding of the same product is linked."""
    links = TextLinks(release="a-1", numbers={4}, known=["a-1", "a-1-onnx"])

    assert str(inline("As finding 4, not 5: [b](#a-1-onnx-7), [c](history.md) and <b>`d`</b>", links)) == (
        'As <a href="a-1.html#a-1-4">finding 4</a>, not 5: <a href="a-1-onnx.html#a-1-onnx-7">b</a>, c and '
        "&lt;b&gt;<code>d</code>&lt;/b&gt;"
    )
    assert str(block("one\ntwo", links)) == "<p>one</p>\n<p>two</p>\n"


def test_the_zip_file_has_the_same_bytes_whatever_the_order(site: Mapping[str, str], tmp_path: Path) -> None:
    """Its entries are sorted and of one date."""
    write_zip(tmp_path / "one.zip", site)
    write_zip(tmp_path / "two.zip", dict(reversed([*site.items()])))
    write_folder(tmp_path / "folder", site)

    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        assert archive.namelist() == sorted(site)
        assert {x.date_time for x in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert {name: archive.read(name) for name in site} == {
            name: (tmp_path / "folder" / name).read_bytes() for name in site
        }


def test_the_kind_of_a_finding_is_the_reason_of_its_case(known: list[ProductRelease]) -> None:
    """A memory fault has a state, and a case without results only its level."""
    plain = FINDINGS[0] | {"state": None}
    with_results, without = (
        ProductRelease(name="x", product=made_up("torch", findings=[plain, FINDINGS[1]]), results=results)
        for results in (known[0].results, None)
    )

    assert [known[0].kind(finding) for finding in known[0].product.findings] == ["memory", "interpretation"]
    assert with_results.kind(with_results.product.findings[0]) == "accepted-invalid"
    assert without.kind(without.product.findings[0]) == "normative"
    assert [(release.name, finding.number) for release, finding in worst([without, *known])] == [
        *(("some-1.0", 1), ("other-1.0", 1), ("x", 1)),
        *(("some-1.0", 12), ("other-1.0", 12), ("x", 12)),
    ]


@pytest.fixture(scope="module")
def whole_site() -> Mapping[str, str]:
    """The files of the site of the repository."""
    return pages(releases(), (*shipped_operations(), GRAPH))


@pytest.mark.ci_only
def test_every_finding_and_requirement_can_be_linked_to(whole_site: Mapping[str, str]) -> None:
    """By the names that they always had; the pages are small enough to read."""
    assert dead_links(whole_site) == []
    assert {name for name in whole_site if name.startswith("operations/")} == {
        f"operations/{op}.html" for op in (*shipped_operations(), GRAPH)
    }
    for name, of in products().items():
        page = whole_site[f"products/{name}.html"]
        assert {f"{name}-{finding.number}" for finding in of.findings} <= {*Links(page).ids}
    assert {*FILES} == {Path(name).stem for name in whole_site if name.startswith("products/")}
    assert max(map(len, whole_site.values())) < 1 << 20


@pytest.mark.ci_only
def test_no_rule_of_axe_is_broken_on_the_site(
    browser: "Browser", site: Mapping[str, str], whole_site: Mapping[str, str], tmp_path: Path
) -> None:
    """Wide and light, or narrow and dark; the filter hides rows, and nothing is cut off at the side."""
    from axe_playwright_python.sync_playwright import Axe

    write_folder(tmp_path / "small", site)
    write_folder(tmp_path / "whole", whole_site)
    places = ["small/index.html", "small/operations/VariadicSplit-1.html", "small/products/some-1.0.html"]
    places += ["whole/index.html"]
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    for place, (width, scheme) in product(places, zip((1280, 390), SCHEMES, strict=True)):
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)
        page.goto((tmp_path / place).as_uri())
        violations = Axe().run(page).response["violations"]

        assert [(x["id"], x["nodes"][0]["html"]) for x in violations] == [], (place, width, scheme)
        assert page.evaluate("document.documentElement.scrollWidth") == width, place
    page.goto((tmp_path / "whole/index.html").as_uri())
    page.fill("#filter", "gather nd")
    assert page.locator("#operations tbody tr:visible").all_inner_texts()[0].startswith("GatherND-5")
    assert page.locator("#operations tbody tr:visible").count() == 2
