"""The groups of every operation (`cases/every`), made from the samples of one (`samples.yaml`)."""

import hashlib
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from opconform.operations import OPERATIONS
from opconform.specs.diagnostics import validated
from opconform.specs.every.sample import CONSTANT_DATA, Keys, Samples
from opconform.specs.every.schema import OWN_KEYS, EveryGroup, EverySpec
from opconform.specs.every.wrong_arguments import extreme_values, wrong_arguments
from opconform.specs.group import Group
from opconform.specs.index import EVERY, PAIRS, REFERENCE, SAMPLES, every_files, known_neighbours, sample_files
from opconform.specs.matrix.expressions import Meter, compiled, expression_of, is_expression
from opconform.specs.requirements import cases_of, requirements_of
from opconform.specs.schema.keys import GroupKeys
from opconform.specs.schema.models import models_of
from opconform.specs.versions import completed
from opconform.specs.yaml_document import KEY, Document, SpecMistakes, read_document

#: How many samples of each operation are neighbours.
_NEIGHBOURS = 3
#: The requirement of a group that stands for the requirements of the samples.
_OF_SAMPLES = "samples"
#: The requirement of a group that stands for those that its cases violate.
_WRONG_ARGUMENTS = "wrong_arguments"


def digest_of(path: Path) -> str:
    """The SHA-256 of a spec file; of samples with the groups and neighbours that it is used with."""
    content = path.read_bytes()
    if path.name == SAMPLES:
        others = _used_with_samples()
    else:
        ops = sorted({op for op, _ in REFERENCE.findall(content.decode())})
        others = [file.read_bytes() for op in ops for file in sorted(cases_of(op).glob("*.yaml"))]
        others += [file.read_bytes() for file in sample_files()] if PAIRS.search(content.decode()) else []
    return hashlib.sha256(b"\0".join([content, *others])).hexdigest()


@cache
def _used_with_samples() -> list[bytes]:
    return [file.read_bytes() for file in (*every_files(), *sample_files())]


@cache
def every_groups() -> tuple[EveryGroup, ...]:
    """The groups of every operation."""
    return tuple(group for _, groups in _documents() for group in groups)


@cache
def every_group_ids() -> tuple[str, ...]:
    """The ids of the groups of every operation."""
    return tuple(group.id for group in every_groups())


def groups_of(document: Document, op: str, only: Collection[str] | None = None) -> list[Group]:
    """The groups of every operation for the samples in a document; `SpecMistakes` if these are wrong."""
    samples, document_model = _samples(document, op)
    ports = [input_ for input_ in OPERATIONS[op].inputs if input_.setting]
    lists: dict[str, list[Any]] = {
        "samples": list(samples.described()),
        "contexts": [
            context_name for context_name in OPERATIONS[op].context_names if context_name not in ("bare", "folded")
        ],
        "settings": [port.name for port in ports] if len(ports) > 1 else [],
        "integers": sorted(
            {name for port in ports for name in port.types or ()} - {port.default_type for port in ports}
        ),
        "neighbours": [
            x for x in neighbours() if not (OPERATIONS[op].is_numeric and OPERATIONS[x["op"]].can_calculate)
        ],
        "wrong_arguments": wrong_arguments(samples),
        "extreme_values": extreme_values(samples),
    }
    groups: list[Group] = []
    for every, keys in _documents():
        for index, group in enumerate(keys):
            if only is not None and f"{op}/{group.id}" not in only:
                continue
            if group.binding in ("parameter", CONSTANT_DATA) and all(port.constant for port in ports):
                continue
            matrix, where = _chosen({name: _values(value, lists) for name, value in group.matrix.items()}, group.where)
            if all(matrix.values()):
                seen = (*group.seen, *document_model.seen.get(group.id, ()))
                violated = [wrong["requirement"] for wrong in lists["wrong_arguments"]]
                requirements = _named(group, op, document_model.requirements, violated)
                settings = group.model_copy(
                    update={"matrix": matrix, "where": where, "requirements": requirements, "seen": seen}
                )
                own = {key: group for key, group in every.value["groups"][index].items() if key in OWN_KEYS}
                own |= _of_only_types(own, op)
                groups.append(
                    Group(
                        op=op,
                        settings=settings,
                        keys=own,
                        twin=group.twin,
                        document=every,
                        route=("groups", index),
                        samples=samples,
                    )
                )
    return groups


@cache
def _documents() -> list[tuple[Document, list[Any]]]:
    documents = [read_document(file, f"cases/{EVERY}/{file.name}") for file in every_files()]
    return [(document, list(validated(document, EverySpec).groups)) for document in documents]


@cache
def samples_of(op: str) -> Samples:
    """The shipped samples of an operation."""
    path = cases_of(op) / SAMPLES
    return _samples(read_document(path, f"cases/{op}/{SAMPLES}"), op)[0]


def _samples(document: Document, op: str) -> tuple[Samples, Any]:
    """The samples in a document, and the whole document."""
    document = completed(document, SAMPLES, cases_of)
    model: Any = validated(document, models_of(op).samples)
    names = [input_.name for input_ in OPERATIONS[op].inputs]
    known = requirements_of(op).by_id
    routes: dict[tuple[str | int, ...], str] = {
        ("requirements", index): f"{requirement!r} is not a requirement of {op}."
        for index, requirement in enumerate(model.requirements)
        if requirement not in known
    }
    groups = every_group_ids()
    routes |= {
        ("seen", report, KEY): f"{report!r} is not a group in cases/{EVERY}."
        for report in model.seen
        if report not in groups
    }
    if routes:
        raise SpecMistakes([document.mistake(route, sentence) for route, sentence in routes.items()])
    keys_of = {name: _normal(sample, names) for name, sample in document.value["samples"].items()}
    seconds = {name: [_normal(x, names) for x in keys.pop("second", [])] for name, keys in keys_of.items()}
    for name, keys in keys_of.items():
        again = {port.name: keys[port.name] for port in OPERATIONS[op].data if port.name in keys}
        seconds[name].append(again)  # other data of the same shape
    return Samples(op=op, document=document, samples=keys_of, seconds=seconds), model


def _normal(keys: Keys, inputs: Collection[str]) -> dict[str, Any]:
    """The keys of a sample with every tensor as a mapping."""

    def tensor(value: Any) -> Any:
        return value if isinstance(value, Mapping) else {"values": value}

    def port(value: Any) -> Any:
        is_list = isinstance(value, list) and value and all(isinstance(x, Mapping) for x in value)
        return [tensor(x) for x in value] if is_list else tensor(value)

    return {key: port(value) if key in inputs else value for key, value in keys.items()}


def _named(group: GroupKeys, op: str, of_samples: tuple[str, ...], violated: Iterable[str]) -> tuple[str, ...]:
    """The requirements of a group for an operation, in which `data` and `settings` stand for its ports."""
    known, inputs = requirements_of(op).by_id, OPERATIONS[op].inputs
    named: list[str] = []
    for requirement in group.requirements:
        word, _, rest = requirement.partition(".")
        if requirement == _OF_SAMPLES:
            named.extend(of_samples)
        elif requirement == _WRONG_ARGUMENTS:
            named.extend(violated)
        elif word in ("data", "settings"):
            ports = [input_ for input_ in inputs if input_.setting is (word == "settings")]
            named.extend(f"{port.prefix or port.name}.{rest}" for port in ports)
        else:
            named.append(requirement)
    # An operation without the requirements of a group shows in it what its samples show.
    return tuple(dict.fromkeys(x for x in named if x in known)) or of_samples


def _of_only_types(keys: Keys, op: str) -> dict[str, Any]:
    """The key `data` without a common element type that no data port of an operation takes.

    A group on strings is about them, so that it has no other type unless each port takes a single one.
    """
    data, types = keys.get("data", {}), [port.types for port in OPERATIONS[op].data]
    common = data.get("element_type", "")
    has_choice = any(x is None or len(x) > 1 for x in types)
    if is_expression(common) or any(x is None or common in x for x in types) or (common == "string" and has_choice):
        return {}
    return {"data": {name: value for name, value in data.items() if name != "element_type"}}


def _chosen(matrix: dict[str, Any], where: str | None) -> tuple[dict[str, Any], str | None]:
    """The matrix with the samples that a filter of samples alone chooses, and any other filter."""
    if where is None or compiled(where).variables != {"sample"}:
        return matrix, where
    wanted = compiled(where)
    return {**matrix, "sample": [x for x in matrix["sample"] if wanted.value({"sample": x}, Meter())]}, None


def _values(values: Any, lists: Mapping[str, list[Any]]) -> Any:
    return expression_of(values).value(lists, Meter()) if is_expression(values) else values


@cache
def neighbours() -> list[dict[str, str]]:
    """The first samples of every shipped operation that rounds nothing as neighbours, but for older versions."""
    return [{"op": op, "sample": name} for op, samples in _neighbours().items() for name in samples]


def neighbour(op: str, sample: str) -> Mapping[str, Any]:
    """The key `then` that puts a sample of a shipped operation behind another operation."""
    return _neighbours()[op][sample]


@cache
def _neighbours() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    known = ((path, known_neighbours(path)) for path in sample_files())
    return {path.parent.name: neighbours_in(path) if samples is None else samples for path, samples in known}


def neighbours_in(path: Path) -> Mapping[str, Mapping[str, Any]]:
    """The values of `then` for the samples in a file that are neighbours, by name."""
    op = path.parent.name
    keys = read_document(path, f"cases/{op}/{SAMPLES}").value
    if OPERATIONS[op].is_numeric or not OPERATIONS[op].data or "like" in keys:
        return {}
    samples = samples_of(op)
    return {name: samples.neighbour(name) for name in [*keys["samples"]][:_NEIGHBOURS]}
