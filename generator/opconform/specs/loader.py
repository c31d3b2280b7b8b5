"""Loading specs: YAML files in, groups out, or every mistake of every file at once."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from opconform.errors import UsageError, nearest, quoted
from opconform.operations import OPERATIONS
from opconform.resources import root
from opconform.specs.diagnostics import mistakes_of
from opconform.specs.document import ENOUGH, KEY, Document, Mistake, Route, SpecMistakes, read_document
from opconform.specs.expressions import ALL_FUNCTIONS, ExpressionError, compiled, expression_of, is_expression
from opconform.specs.requirements import requirements_of
from opconform.specs.schema import MODELS, Sample

#: The most different expressions of a file, each of which takes time to compile.
EXPRESSION_LIMIT = 2_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """One entry of a spec, its keys checked and its expressions readable.

    Attributes:
        document: The file that it stands in.
        route: Where in the file.
        keys: The keys of its cases, as they are written: expressions and all.
        twin: The keys that a twin has otherwise, as they are written, or None.
    """

    op: str
    id: str
    title: str
    profile: str
    requirements: tuple[str, ...]
    seen: tuple[str, ...]
    matrix: Mapping[str, Any]
    combine: str
    where: str | None
    include: tuple[Mapping[str, Any], ...]
    exclude: tuple[Mapping[str, Any], ...]
    sample: Sample | None
    keys: Mapping[str, Any]
    twin: Mapping[str, Any] | None
    document: Document
    route: Route

    def mistake(self, route: Route, sentence: str) -> Mistake:
        """A mistake at a route inside the group."""
        return self.document.mistake((*self.route, *route), f"group {quoted(self.id)}: {sentence}")

    @property
    def place(self) -> str:
        """Where the group stands, as `file:line:column`."""
        mistake = self.document.mistake(self.route, "")
        return f"{mistake.file}:{mistake.line}:{mistake.column}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Spec:
    """A spec file.

    Attributes:
        file: Its name, as mistakes bear it: below `cases/` for the shipped ones.
        digest: The SHA-256 of its bytes.
    """

    file: str
    digest: str
    op: str
    groups: tuple[Group, ...]


class WrongSpecs(SpecMistakes):
    """Mistakes in specs; `sound` are the groups of their files without any, whose cases may still be wrong."""

    def __init__(self, mistakes: Iterable[Mistake], sound: Iterable[Group]) -> None:
        super().__init__(mistakes)
        self.sound = tuple(sound)


def shipped_specs() -> list[Path]:
    """The spec files that opconform ships, sorted."""
    cases = Path(str(root() / "cases"))
    return sorted(each for each in cases.glob("*/*.yaml") if each.name != "requirements.yaml")


def shipped_files() -> Mapping[str, Path]:
    """The spec files that opconform ships, by the names that suites give them, as in `Split-1/axis.yaml`."""
    return {f"{each.parent.name}/{each.name}": each for each in shipped_specs()}


def load_specs(paths: Sequence[Path]) -> list[Spec]:
    """The specs in files, or in all files `*.yaml` of folders; without any, the shipped ones.

    Raises:
        WrongSpecs: Every mistake of all the files.
        UsageError: A path leads to no spec.
    """
    specs: list[Spec] = []
    mistakes: list[Mistake] = []
    sound: list[Group] = []
    for path in _files(paths) if paths else shipped_specs():
        try:
            specs.append(load_spec(path))
        except SpecMistakes as fault:
            mistakes.extend(fault.mistakes)
            sound.extend(fault.sound if isinstance(fault, WrongSpecs) else ())
    if mistakes:
        raise WrongSpecs(mistakes, [*sound, *(each for spec in specs for each in spec.groups)])
    _check_unique(specs)
    return specs


def load_spec(path: Path) -> Spec:
    """The spec in a file.

    Raises:
        SpecMistakes: Every mistake of the file.
    """
    document = read_document(path, _name(path))
    value = document.value
    if not isinstance(value, dict):
        raise SpecMistakes([document.mistake((), "A spec is a mapping with the keys 'op' and 'groups'.")])
    if len(set(_expressions(value))) > EXPRESSION_LIMIT:
        sentence = f"The file holds more than {EXPRESSION_LIMIT:,} different expressions; split it."
        raise SpecMistakes([document.mistake((), sentence)])
    op, mistakes = _operation(document)
    if op is not None:
        mistakes += _mistakes(document, op)
    if op is None or mistakes:
        raise WrongSpecs(mistakes, () if op is None else _sound_groups(document, op))
    groups = tuple(_group(document, op, index) for index in range(len(value["groups"])))
    return Spec(file=document.file, digest=document.digest, op=op, groups=groups)


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        found = sorted(each for each in path.rglob("*.yaml") if each.name != "requirements.yaml")
        if not found:
            raise UsageError(f"The folder {path} holds no spec (*.yaml).")
        yield from found


def _name(path: Path) -> str:
    cases = Path(str(root() / "cases"))
    return f"cases/{path.relative_to(cases).as_posix()}" if path.is_relative_to(cases) else path.as_posix()


def digest_of(path: Path) -> str:
    """The SHA-256 of a spec file, by which a suite names it."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _expressions(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _expressions(each)
    elif is_expression(value):
        yield value


def _operation(document: Document) -> tuple[str | None, list[Mistake]]:
    """The spec's operation, or where it is misspelt the one that is probably meant, so that the rest can be checked."""
    op = document.value.get("op")
    if isinstance(op, str) and op in OPERATIONS:
        return op, []
    if op is None:
        return None, [document.mistake((), f"The key 'op' is missing. Allowed are: {', '.join(OPERATIONS)}.")]
    near = [each for each in OPERATIONS if isinstance(op, str) and nearest(op, [each])]
    hint = nearest(op, OPERATIONS) if isinstance(op, str) else ""
    sentence = f"op: {quoted(op)} is no operation here. {hint}Allowed are: {', '.join(OPERATIONS)}."
    return (near[0] if len(near) == 1 else None), [document.mistake(("op",), sentence)]


def _mistakes(document: Document, op: str) -> list[Mistake]:
    model = MODELS[op].spec
    mistakes: list[Mistake] = []
    try:
        model.model_validate(document.value | {"op": op})
    except ValidationError as fault:
        mistakes.extend(mistakes_of(fault, document, model))
    groups = document.value.get("groups")
    ids: set[str] = set()
    for index, group in enumerate(groups if isinstance(groups, list) else []):
        if len(mistakes) > ENOUGH:
            break
        if isinstance(group, dict):
            mistakes.extend(islice(_group_mistakes(document, op, group, ("groups", index)), ENOUGH))
            name = group.get("id")
            if isinstance(name, str) and name in ids:
                sentence = f"The id {quoted(name)} stands here a second time."
                mistakes.append(document.mistake(("groups", index, "id"), sentence))
            ids |= {name} if isinstance(name, str) else set()
    return mistakes


def _expression_mistakes(document: Document, value: Any, route: Route) -> Iterator[Mistake]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _expression_mistakes(document, each, (*route, key))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _expression_mistakes(document, each, (*route, index))
    elif isinstance(value, str):
        is_where = len(route) == 3 and route[-1] == "where"  # noqa: PLR2004 - groups, index, where
        try:
            if is_where and not is_expression(value):
                compiled(value)
            elif is_expression(value):
                expression_of(value)
        except ExpressionError as fault:
            yield document.mistake(route, f"{fault}.")


def _variable_mistakes(document: Document, group: Mapping[str, Any], route: Route) -> Iterator[Mistake]:
    sample = group.get("sample")
    draw = sample.get("draw") if isinstance(sample, dict) else None
    for where, variables in ((("matrix",), group.get("matrix")), (("sample", "draw"), draw)):
        for name in variables if isinstance(variables, dict) else ():
            if name in ALL_FUNCTIONS:
                sentence = f"{quoted(name)} is the name of a function, so no variable can be called so."
                yield document.mistake((*route, *where, name, KEY), sentence)


def _requirement_mistakes(document: Document, op: str, group: Mapping[str, Any], route: Route) -> Iterator[Mistake]:
    known = requirements_of(op).by_id
    for where, name in _named_requirements(group):
        if isinstance(name, str) and not is_expression(name) and name not in known:
            sentence = (
                f"{quoted(name)} is no requirement of {op}. {nearest(name, known)}See cases/{op}/requirements.yaml."
            )
            yield document.mistake((*route, *where), sentence)


def _named_requirements(group: Mapping[str, Any]) -> Iterator[tuple[Route, Any]]:
    for route in (("requirements",), ("expect", "also")):
        value: Any = group
        for part in route:
            value = value.get(part) if isinstance(value, dict) else None
        if isinstance(value, list):
            yield from (((*route, index), each) for index, each in enumerate(value))
    expect = group.get("expect")
    if isinstance(expect, dict):
        yield ("expect", "reject"), expect.get("reject")


def _sound_groups(document: Document, op: str) -> Iterator[Group]:
    groups = document.value.get("groups")
    for index, group in enumerate(groups if isinstance(groups, list) else []):
        route = ("groups", index)
        try:
            MODELS[op].group.model_validate(group)
        except ValidationError:
            continue
        if not any(_group_mistakes(document, op, group, route)):
            yield _group(document, op, index)


def _group_mistakes(document: Document, op: str, group: Mapping[str, Any], route: Route) -> Iterator[Mistake]:
    yield from _expression_mistakes(document, group, route)
    yield from _requirement_mistakes(document, op, group, route)
    yield from _variable_mistakes(document, group, route)


def _group(document: Document, op: str, index: int) -> Group:
    written = document.value["groups"][index]
    checked: Any = MODELS[op].group.model_validate(written)
    return Group(
        op=op,
        id=checked.id,
        title=checked.title,
        profile=checked.profile,
        requirements=checked.requirements,
        seen=checked.seen,
        matrix=checked.matrix,
        combine=checked.combine,
        where=checked.where,
        include=checked.include,
        exclude=checked.exclude,
        sample=checked.sample,
        keys={key: value for key, value in written.items() if key in MODELS[op].case.model_fields},
        twin=written.get("twin"),
        document=document,
        route=("groups", index),
    )


def _check_unique(specs: Sequence[Spec]) -> None:
    seen: dict[tuple[str, str], Group] = {}
    mistakes = []
    for group in (each for spec in specs for each in spec.groups):
        earlier = seen.setdefault((group.op, group.id), group)
        if earlier is not group:
            mistakes.append(group.mistake(("id",), f"the id is taken by the group at {earlier.place}."))
    if mistakes:
        raise SpecMistakes(mistakes)
