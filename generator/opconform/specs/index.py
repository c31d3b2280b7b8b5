"""The index of the shipped specs, from which questions on groups are answered without reading a spec.

`python -m maintenance.index` writes it. Files that differ from those that it was written from are found by their
digests; whatever depends on them has to be read again.
"""

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from opconform.system.files import read_regular
from opconform.system.resources import REQUIREMENTS, root

#: The index, in the folder of the shipped cases.
INDEX = "index.json"
#: The file with the samples of an operation, in the folder of its cases.
SAMPLES = "samples.yaml"
#: The folder with the groups of every operation.
EVERY = "every"
#: A line of a spec that names a group of another operation, which is then also one of its own.
REFERENCE = re.compile(r"^ *- ([A-Za-z][A-Za-z0-9]*-[0-9]+)/([a-z0-9-]+)$", re.MULTILINE)
#: A line of a spec whose cases are derived from the samples of all operations.
PAIRS = re.compile(r"^ *pairs: *(?:behind|beside|residual|joined|twice)\b", re.MULTILINE)
#: A line of requirements that begins one.
_REQUIREMENT = re.compile(r"^  ([\w-]+\.[\w-]+):", re.MULTILINE)
#: A line of a file that takes over from the file of another version.
_LIKE = re.compile(r"^like: *([A-Za-z][A-Za-z0-9]*-[0-9]+)\s*$", re.MULTILINE)
#: The most bytes of a file.
_LIMIT = 4 << 20
_ID = re.compile(r"^ *- (?:\{ *)?id: ([a-z0-9.-]+)", re.MULTILINE)


class CaseKind(NamedTuple):
    """The cases of a group that are alike: their number, the violated requirement or None, and what they list.

    `quick` has the digits of the cases among them that are of the profile `quick`.
    """

    cases: int
    violated: str | None
    requirements: tuple[str, ...]
    quick: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class IndexedGroup:
    """A group of the index; `kinds` is None where the cases are too many to count.

    `left_out` has the reasons for which pairs of operations have no case, each with the number of pairs.
    """

    file: str
    profile: str
    title: str
    kinds: tuple[CaseKind, ...] | None
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Index:
    """What the index knows of some operations.

    Attributes:
        groups: The groups in files that are as they were, by full name.
        changed: The names of files whose groups have to be read again.
        outdated: The full names of groups in other files whose cases have to be counted again.
    """

    groups: Mapping[str, IndexedGroup]
    changed: tuple[str, ...]
    outdated: frozenset[str]


def cases_folder() -> Path:
    """The folder of the shipped cases."""
    return Path(str(root() / "cases"))


@cache
def shipped_files() -> Mapping[str, Path]:
    """The spec files that opconform ships, sorted, by their names in suites, as in `Split-1/axis.yaml`."""
    paths = sorted(
        path for path in cases_folder().glob("*/*.yaml") if path.name != REQUIREMENTS and path.parent.name != EVERY
    )
    return {f"{path.parent.name}/{path.name}": path for path in paths}


@cache
def specified_operations() -> tuple[str, ...]:
    """The operations that have shipped specs, sorted."""
    return tuple(sorted(path.parent.name for path in cases_folder().glob(f"*/{REQUIREMENTS}")))


@cache
def every_files() -> tuple[Path, ...]:
    """The files with the groups of every operation, sorted."""
    return tuple(sorted((cases_folder() / EVERY).glob("*.yaml")))


@cache
def sample_files() -> tuple[Path, ...]:
    """The files with the samples of the shipped operations, sorted."""
    return tuple(sorted(cases_folder().glob(f"*/{SAMPLES}")))


@cache
def shipped_groups() -> Mapping[str, Path]:
    """The file of each shipped group, by the group's full name; some groups of samples have no case."""
    files: dict[str, Path] = {}
    for path in shipped_files().values():
        files |= dict.fromkeys((f"{path.parent.name}/{id_}" for id_ in _ids(path)), path)
    return files


def _ids(path: Path) -> Iterator[str]:
    for file in every_files() if path.name == SAMPLES else (path,):
        text = _text_of(file)
        yield from (*_ID.findall(text), *(id_ for _, id_ in REFERENCE.findall(text)))


@cache
def shipped_requirements(op: str) -> frozenset[str]:
    """The ids of an operation's requirements, those that it takes over from another version included."""
    path = cases_folder() / op / REQUIREMENTS
    if not path.is_file():
        return frozenset()
    text = _text_of(path)
    return frozenset(_REQUIREMENT.findall(text)).union(*map(shipped_requirements, _LIKE.findall(text)))


def is_known(path: Path) -> bool:
    """Whether a file is one of the shipped specs, as it is in the index: none of its expressions is malformed."""
    try:
        name = path.relative_to(cases_folder()).as_posix()
    except ValueError:
        return False
    entry = stored_index()["specs"].get(name)
    return entry is not None and entry["digest"] == state_of(path)


def index_of(ops: Collection[str]) -> Index:
    """What the index knows of some shipped operations."""
    document = stored_index()
    every: Mapping[str, Any] = document["every"]
    specs: Mapping[str, Any] = document["specs"]
    others: frozenset[str] = frozenset()
    if not are_neighbours_known():
        others = frozenset(id_ for id_, group in every.items() if group.get("neighbours"))
    groups: dict[str, IndexedGroup] = {}
    changed: list[str] = []
    outdated: set[str] = set()
    for name, path in shipped_files().items():
        op = path.parent.name
        if op not in ops:
            continue
        entry = specs.get(name)
        if entry is None or entry["digest"] != state_of(path):
            changed.append(name)
            continue
        for id_, keys in entry["groups"].items():
            about = every[id_] if path.name == SAMPLES else keys
            kinds = keys if path.name == SAMPLES else keys["cases"]
            groups[f"{op}/{id_}"] = IndexedGroup(
                file=name,
                profile=about["profile"],
                title=about["title"],
                kinds=_kinds(kinds, entry["requirements"]),
                left_out=about.get("left_out", {}),
            )
            if id_ in others and path.name == SAMPLES:
                outdated.add(f"{op}/{id_}")
    return Index(groups=groups, changed=tuple(changed), outdated=frozenset(outdated))


def known_neighbours(path: Path) -> Mapping[str, Mapping[str, Any]] | None:
    """The neighbours that the samples in a file are, as the values of `then` by the names of the samples.

    None if the index does not know the file as it is.
    """
    entry = stored_index()["neighbours"].get(path.parent.name)
    return None if entry is None or entry["digest"] != sha256(content_of(path)) else entry["samples"]


@cache
def are_neighbours_known() -> bool:
    """Whether the index has the neighbours of the shipped samples."""
    names = {path.parent.name for path in sample_files()}
    are_same = all(known_neighbours(path) is not None for path in sample_files())
    return are_same and names == stored_index()["neighbours"].keys()


def state_of(path: Path) -> str:
    """The SHA-256 of a shipped spec file and of the other files that its groups are made from."""
    files, folders = [path], [path.parent]
    for folder in folders:  # which grows
        own = [path, folder / REQUIREMENTS, *([folder / SAMPLES] if path.name == SAMPLES else [])]
        texts = [_text_of(file) for file in own if file.is_file()]
        named = [*(x for text in texts for x in _LIKE.findall(text)), *(op for op, _ in REFERENCE.findall(texts[0]))]
        folders += [x for op in dict.fromkeys(named) if (x := cases_folder() / op) not in folders]
        files += own[1:] if folder == path.parent else sorted(folder.glob("*.yaml"))
    files += every_files() if path.name == SAMPLES else sample_files() if PAIRS.search(_text_of(path)) else ()
    return sha256(b"\0".join(content_of(file) for file in files if file.is_file()))


@cache
def content_of(path: Path) -> bytes:
    """The bytes of a shipped file, read once; none if it cannot be read, which its loader reports."""
    try:
        return read_regular(path, _LIMIT, follow_links=True)
    except OSError:
        return b""


def sha256(content: bytes) -> str:
    """The SHA-256 of some bytes, as digits."""
    return hashlib.sha256(content).hexdigest()


def _text_of(path: Path) -> str:
    return content_of(path).decode("utf-8", "replace")


def _kinds(rows: Any, requirements: list[list[str]]) -> tuple[CaseKind, ...] | None:
    if rows is None:
        return None
    return tuple(
        CaseKind(cases, violated, tuple(requirements[number]), tuple(quick.split()))
        for cases, violated, number, quick in rows
    )


@cache
def stored_index() -> Any:
    """The document of the index; of none if it is missing."""
    path = cases_folder() / INDEX
    return json.loads(path.read_bytes()) if path.is_file() else {"every": {}, "specs": {}, "neighbours": {}}
