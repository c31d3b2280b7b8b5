"""The loader of specs: checked groups from YAML files, or every mistake of every file."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError

from opconform.errors import UsageError, nearest, quoted
from opconform.operations import OPERATIONS, REQUIREMENTS
from opconform.specs.diagnostics import mistakes_of
from opconform.specs.every.groups import digest_of, groups_of
from opconform.specs.group import Group, Spec
from opconform.specs.index import SAMPLES, cases_folder, is_known, shipped_files, specified_operations
from opconform.specs.matrix.expressions import ALL_FUNCTIONS, ExpressionError, compiled, expression_of, is_expression
from opconform.specs.operation_names import check_named, named_operations, tested_operations
from opconform.specs.requirements import cases_of, requirements_of
from opconform.specs.schema.graph import PairGroup
from opconform.specs.schema.keys import SpecKeys
from opconform.specs.schema.models import group_models
from opconform.specs.yaml_document import ENOUGH, KEY, Document, Mistake, Route, SpecMistakes, read_document
from opconform.suite.case import GRAPH
from opconform.suite.path_kind import check_kind
from opconform.system.memory import without_collection

#: What an author probably means as an expression.
_ALMOST = re.compile(r"\s*(\$\s*\{.*\}|\{\{.*\}\})\s*", re.DOTALL)
#: What the name of a file can have, but a suite that names the file cannot: controls, and bytes that are not UTF-8.
_ODD = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
#: The most different expressions in a file; each takes time to compile.
EXPRESSION_LIMIT = 2_000


class _FileKeys(SpecKeys):
    """The keys of a spec of any operation; its groups are checked one by one."""

    op: str
    groups: Annotated[list[Any], Field(min_length=1)]


class WrongSpecs(SpecMistakes):
    """Mistakes in specs, and the groups without mistakes; the cases of those may still be wrong."""

    def __init__(self, mistakes: Iterable[Mistake], sound: Iterable[Group]) -> None:
        super().__init__(mistakes)
        self.sound = tuple(sound)


def load_specs(paths: Sequence[Path], only: Collection[str] | None = None) -> list[Spec]:
    """The specs in files and folders (`*.yaml`), by default the shipped ones; `WrongSpecs` with all their mistakes.

    With `only`, groups with other full names are left out and not checked.
    """
    specs: list[Spec] = []
    mistakes: list[Mistake] = []
    sound: list[Group] = []
    with without_collection():
        for path in _files(paths) if paths else shipped_files().values():
            try:
                specs.append(load_spec(path, only))
                sound.extend(specs[-1].groups)
            except SpecMistakes as error:
                mistakes.extend(error.mistakes)
                sound.extend(error.sound if isinstance(error, WrongSpecs) else ())
    mistakes.extend(islice(_repetitions(sound), ENOUGH))
    if mistakes:
        raise WrongSpecs(mistakes, sound)
    return specs


def load_spec(path: Path, only: Collection[str] | None = None) -> Spec:
    """The spec in a file; `SpecMistakes` with its mistakes, besides repeated ids."""
    is_shipped = path.is_relative_to(cases_folder())
    if _ODD.search(path.name):
        raise UsageError(f"{quoted(str(path))}: a spec's name must be one line of UTF-8 text. Rename the file.")
    document = read_document(
        path, path.relative_to(cases_folder().parent).as_posix() if is_shipped else path.as_posix()
    )
    value = document.value
    if not isinstance(value, dict):
        raise SpecMistakes([document.mistake((), "A spec is a mapping with the keys 'op' and 'groups'.")])
    if len({text for _, text in _texts(value, ()) if is_expression(text)}) > EXPRESSION_LIMIT:
        sentence = f"The file contains more than {EXPRESSION_LIMIT:,} different expressions; split it."
        raise SpecMistakes([document.mistake((), sentence)])
    op, mistakes = _operation(document)
    groups: list[Group] = []
    if op is not None:
        groups, group_mistakes = (
            _every_group(document, op, only)
            if {"samples", "like"} & value.keys()
            else _groups(document, op, only, is_known=is_known(path))
        )
        mistakes += group_mistakes
    if op is None or mistakes:
        raise WrongSpecs(mistakes, groups)
    return Spec(file=document.file, digest=digest_of(path), op=op, groups=tuple(groups))


@cache
def shipped_operations() -> tuple[str, ...]:
    """The operations that have shipped specs."""
    return tuple(operation for operation in OPERATIONS if operation in specified_operations())


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    """The spec files at some paths; the name of an operation stands for its specs."""
    for source in paths:
        path = cases_of(str(source)) if named_operations([source]) else source
        check_named([source])
        check_kind(path, "spec")
        if not path.is_dir():
            yield path
            continue
        files = sorted(path for path in path.rglob("*.yaml") if path.name != REQUIREMENTS)
        if not files:
            raise UsageError(f"The folder {path} contains no spec (*.yaml).")
        yield from files


def _texts(value: Mapping[str, Any] | Sequence[Any], route: Route) -> Iterator[tuple[Route, str]]:
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(item, str):
            yield (*route, key), item
        elif isinstance(item, dict | list):
            yield from _texts(item, (*route, key))


def _operation(document: Document) -> tuple[str | None, list[Mistake]]:
    """The spec's operation, or the probable one if it is misspelt, so that the rest can be checked."""
    op = document.value.get("op")
    if isinstance(op, str) and (op == GRAPH or op in OPERATIONS) and (cases_of(op) / REQUIREMENTS).is_file():
        return op, []  # without a look at all operations, which would import those of installed distributions
    known = sorted([*tested_operations(), GRAPH])
    allowed = f"Allowed: {', '.join(known)}."
    if op is None:
        return None, [document.mistake((), f"The key 'op' is missing. {allowed}")]
    if not isinstance(op, str):
        return None, [document.mistake(("op",), f"op: {quoted(op)} is not a known operation. {allowed}")]
    near = [x for x in known if nearest(op, [x])]
    sentence = f"op: {quoted(op)} is not a known operation. {nearest(op, known)}{allowed}"
    return (near[0] if len(near) == 1 else None), [document.mistake(("op",), sentence)]


def _every_group(document: Document, op: str, only: Collection[str] | None) -> tuple[list[Group], list[Mistake]]:
    """The groups of every operation for the samples in a document, and all mistakes of the samples."""
    try:
        return groups_of(document, op, only), []
    except SpecMistakes as error:
        return [], list(error.mistakes)


def _groups(
    document: Document, op: str, only: Collection[str] | None, *, is_known: bool
) -> tuple[list[Group], list[Mistake]]:
    """The groups of a spec that have no mistake, and all mistakes of the spec.

    Expressions of a known file are compiled only when they are evaluated, since that takes long.
    """
    models, written = group_models(op), document.value.get("groups")
    groups: list[Group] = []
    mistakes: list[Mistake] = []
    if only is None:
        try:
            _FileKeys.model_validate(document.value | {"op": op})
        except ValidationError as error:
            mistakes.extend(mistakes_of(error, document, _FileKeys))
    for index, entry in enumerate(written if isinstance(written, list) else ()):
        if len(mistakes) >= ENOUGH:
            break
        home, route = document, ("groups", index)
        if isinstance(entry, str):
            other, _, id_ = entry.partition("/")
            if id_ not in _shared(other):
                mistakes.append(document.mistake(route, f"{quoted(entry)} is not a group of another operation."))
                continue
            home, route = _shared(other)[id_]
        keys = home.value["groups"][route[1]]
        if only is not None and f"{op}/{keys['id']}" not in only:
            continue
        model = PairGroup if op == GRAPH and isinstance(keys, dict) and "pairs" in keys else models.group
        is_checked = isinstance(keys, dict) and not is_known
        in_group = list(islice(_group_mistakes(home, op, keys, route), ENOUGH)) if is_checked else []
        try:
            settings: Any = model.model_validate(keys)
        except ValidationError as error:
            places = {(mistake.line, mistake.column) for mistake in in_group}
            more = mistakes_of(error, home, model, route)
            in_group.extend(x for x in more if (x.line, x.column) not in places)
        if in_group:
            mistakes.extend(in_group)
            continue
        own = {key: value for key, value in keys.items() if key in models.case.model_fields}
        twin = keys.get("twin")
        groups.append(Group(op=op, settings=settings, keys=own, twin=twin, document=home, route=route))
    return groups, mistakes


@cache
def _shared(op: str) -> Mapping[str, tuple[Document, tuple[str, int]]]:
    """The groups that an operation's own files write out: their documents and routes, by id."""
    paths = (path for path in sorted(cases_of(op).glob("*.yaml")) if path.name not in (REQUIREMENTS, SAMPLES))
    documents = [read_document(path, f"cases/{op}/{path.name}") for path in paths]
    return {
        group["id"]: (document, ("groups", index))
        for document in documents
        for index, group in enumerate(document.value["groups"])
        if isinstance(group, dict)
    }


def _group_mistakes(document: Document, op: str, group: Mapping[str, Any], route: Route) -> Iterator[Mistake]:
    """The mistakes of a group that its pydantic model does not find."""
    for inner, text in _texts(group, ()):
        try:
            if is_expression(text):
                expression_of(text)
            elif _ALMOST.fullmatch(text) and inner != ("title",):
                yield document.mistake((*route, *inner), f"{quoted(text)} is not an expression, which is ${{{{ … }}}}.")
            elif inner == ("where",):
                compiled(text)
        except ExpressionError as error:
            yield document.mistake((*route, *inner), f"{error}.")
    known = requirements_of(op).by_id
    for inner, name in _named_requirements(group):
        if isinstance(name, str) and not is_expression(name) and name not in known:
            hint = f"{nearest(name.removeprefix(f'{op}:'), known)}`opconform list {op} --requirements` lists them."
            yield document.mistake((*route, *inner), f"{quoted(name)} is not a requirement of {op}. {hint}")
    random = group.get("random")
    draw = random.get("draw") if isinstance(random, dict) else None
    for inner, variables in ((("matrix",), group.get("matrix")), (("random", "draw"), draw)):
        for name in variables if isinstance(variables, dict) else ():
            if inner == ("matrix",) and name == "exclude":
                yield document.mistake((*route, *inner, name, KEY), "Write 'exclude' beside `matrix`, not in it.")
            if name in ALL_FUNCTIONS:
                sentence = f"{quoted(name)} is the name of a function. Rename the variable."
                yield document.mistake((*route, *inner, name, KEY), sentence)


def _named_requirements(group: Mapping[str, Any]) -> Iterator[tuple[Route, Any]]:
    expect = group.get("expect")
    expect = expect if isinstance(expect, dict) else {}
    for route, names in ((("requirements",), group.get("requirements")), (("expect", "also"), expect.get("also"))):
        if isinstance(names, list):
            yield from (((*route, index), name) for index, name in enumerate(names))
    yield ("expect", "reject"), expect.get("reject")


def _repetitions(groups: Sequence[Group]) -> Iterator[Mistake]:
    seen: dict[tuple[str, str], Group] = {}
    for group in groups:
        earlier = seen.setdefault((group.op, group.id), group)
        if earlier is not group:
            yield group.mistake(("id",), f"the id is already used by the group at {earlier.place}.")
