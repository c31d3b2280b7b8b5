"""What the files of one version of an operation take over from another version (the key `like`)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from opconform.specs.yaml_document import Document, SpecMistakes, read_document


def completed(document: Document, file: str, folder_of: Callable[[str], Path]) -> Document:
    """A document with what it takes over from the file of the same name of the operation that it is `like`.

    Raises:
        SpecMistakes: There is no such file, or `without` names what it does not have.
    """
    value = document.value
    if not isinstance(value, dict) or "like" not in value:
        return document
    name = str(value["like"])
    path = folder_of(name) / file
    if name == value.get("op") or not path.is_file():
        raise SpecMistakes([document.mistake(("like",), f"like: {name!r} is not another operation with {file}.")])
    base = completed(read_document(path, f"cases/{name}/{file}"), file, folder_of).value
    key = "samples" if "samples" in base else "requirements"
    known, own = _named(base[key]), _named(value.get(key) or {})
    if key == "requirements":
        known = _of_pages(known, [page["revision"] for page in value["pages"]])
    left_out = [*value.get("without", ())]
    if unknown := sorted({*left_out} - {*known}):
        raise SpecMistakes([document.mistake(("without",), f"without: {name} has no {', '.join(unknown)}.")])
    entries = {x: known.get(x, {}) | own.get(x, {}) for x in dict.fromkeys([*known, *own]) if x not in left_out}
    taken = {x: base[x] for x in ("establishes", "requirements", "seen") if x in base}
    taken = {**taken, **value, key: entries if key == "samples" else [*entries.values()]}
    # a mistake in what is taken over has no place of its own
    places = {route: place for route, place in document.places.items() if route[:1] != (key,)}
    return replace(document, value=taken, places=places)


def _of_pages(known: Mapping[str, Any], revisions: Sequence[str]) -> Mapping[str, Any]:
    """Requirements that are at the same places in the pages of another version; a page that both have remains."""
    return {
        name: {
            **keys,
            "sources": [
                source if {*source["revisions"]} <= {*revisions} else {**source, "revisions": revisions}
                for source in keys["sources"]
            ],
        }
        for name, keys in known.items()
    }


def _named(entries: Mapping[str, Any] | Sequence[Any]) -> Mapping[str, Any]:
    """Samples by name, or requirements by id."""
    return entries if isinstance(entries, Mapping) else {entry["id"]: entry for entry in entries}
