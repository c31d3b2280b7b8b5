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
    known, own = base[key], value.get(key) or {}
    if not isinstance(own, Mapping):
        return document
    if key == "requirements":
        known = _of_pages(known, value["pages"])
    left_out = [*value.get("without", ())]
    if unknown := sorted({*left_out} - {*known}):
        raise SpecMistakes([document.mistake(("without",), f"without: {name} has no {', '.join(unknown)}.")])
    names = [x for x in dict.fromkeys([*known, *own]) if x not in left_out]
    entries = {x: _changed(known[x], own[x]) if x in known and x in own else {**known, **own}[x] for x in names}
    taken = {x: base[x] for x in ("establishes", "requirements", "seen") if x in base}
    taken = {**taken, **value, key: entries}
    # a mistake in what is taken over has no place of its own
    places = {x: place for x, place in document.places.items() if x[:1] != (key,) or {*x[1:2]} & own.keys()}
    return replace(document, value=taken, places=places)


def keys_of(entry: Any) -> Any:
    """A requirement by its keys; its clause is short for them."""
    return {"clause": entry} if isinstance(entry, str) else entry


def _changed(known: Any, own: Any) -> Any:
    """A sample or a requirement with the keys that a version has otherwise; another place replaces the known one."""
    known, own = keys_of(known), keys_of(own)
    if not isinstance(own, Mapping):
        return own
    place = {"clause", "sources"}
    return {x: entry for x, entry in known.items() if x not in place or not place & own.keys()} | {**own}


def _of_pages(known: Mapping[str, Any], pages: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Requirements that are at the same places in the pages of another version; a page that both have remains."""
    every = {page["revision"] for page in pages}
    revisions = [page["revision"] for page in pages if not page.get("other")]
    return {
        name: {
            **keys,
            "sources": [
                source if {*source["revisions"]} <= every else {**source, "revisions": revisions}
                for source in keys["sources"]
            ],
        }
        if isinstance(keys, Mapping) and "sources" in keys
        else keys
        for name, keys in known.items()
    }
