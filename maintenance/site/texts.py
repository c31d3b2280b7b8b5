"""The texts of findings as HTML: Markdown whose links lead to the pages of the site."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from urllib.parse import quote

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

_MARKDOWN = MarkdownIt("commonmark", {"html": False})
#: A finding of the same product in a sentence, as in `as finding 4`.
_FINDING = re.compile(r"\b((?:finding|fault)s?) (\d+)\b", re.IGNORECASE)


def anchor(release: str, part: object) -> str:
    """The name of a finding, an operation or a heading of a release on its page, as in `openvino-2026.4-12`."""
    return f"{release}-{str(part).lower().replace(' ', '-').replace(',', '')}"


@dataclass(frozen=True, kw_only=True, slots=True)
class TextLinks:
    """Where the links of a release's texts lead.

    Attributes:
        release: The name of the release whose texts these are.
        numbers: The numbers of its findings.
        known: The names of all releases.
        folder: The folder of the products' pages, seen from the page with the text.
    """

    release: str
    numbers: Collection[int]
    known: Collection[str]
    folder: str = ""

    def place(self, release: str, name: str = "") -> str:
        """The address of a part of a release's page."""
        return f"{self.folder}{quote(release)}.html{f'#{quote(name)}' if name else ''}"

    def address(self, href: str) -> str | None:
        """The address on the site of what a text links to; None for what the site does not have."""
        if href.startswith("https://"):
            return href
        name = href.removeprefix("#")
        of = (known for known in self.known if name == known or name.startswith(f"{known}-"))
        release = max(of, key=len, default=None)
        return None if release is None else self.place(release, "" if name == release else name)


def block(text: str, links: TextLinks) -> Markup:
    """Paragraphs; a folded text of YAML has one per line."""
    return _rendered(_MARKDOWN.parse(text.replace("\n", "\n\n")), links)


def inline(text: str, links: TextLinks) -> Markup:
    """A sentence."""
    return _rendered(_MARKDOWN.parseInline(text), links)


def _rendered(tokens: list[Token], links: TextLinks) -> Markup:
    for token in tokens:
        if token.children:
            token.children = [*_linked(token.children, links)]
    html = str(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}))
    return Markup(html)  # noqa: S704 - Markdown without HTML, from our own files


def _linked(children: list[Token], links: TextLinks) -> Iterator[Token]:
    """The tokens with the addresses of the site, and with links to findings that have none."""
    is_linked, is_kept = False, True
    for token in children:
        match token.type:
            case "link_open":
                address = links.address(str(token.attrs["href"]))
                is_linked, is_kept = True, address is not None
                token.attrs["href"] = address or ""
                if is_kept:
                    yield token
            case "link_close":
                if is_kept:
                    yield token
                is_linked = False
            case "text" if not is_linked:
                yield from _findings(token.content, links)
            case _:
                yield token


def _findings(text: str, links: TextLinks) -> Iterator[Token]:
    end = 0
    for match in _FINDING.finditer(text):
        if int(match[2]) in links.numbers:
            yield _text(text[end : match.start()])
            href = links.place(links.release, anchor(links.release, match[2]))
            yield Token("link_open", "a", 1, attrs={"href": href})
            yield _text(match[0])
            yield Token("link_close", "a", -1)
            end = match.end()
    yield _text(text[end:])


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)
