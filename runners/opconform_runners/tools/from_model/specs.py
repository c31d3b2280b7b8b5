"""The specs of a model's uses, and what is read of the model and what is not, in words."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opconform.errors import UsageError, counted
from opconform.model.draft import Draft
from opconform.specs.requirements import requirements_of
from opconform.suite.case import GRAPH
from opconform.suite.storage.ownership import check_ours, is_ours, replace_ours
from opconform.system.text import one_line
from opconform_runners.tools.from_model.models.ir_model import read_ir
from opconform_runners.tools.from_model.models.node import check_order
from opconform_runners.tools.from_model.models.onnx_model import read_onnx
from opconform_runners.tools.from_model.uses import ModelUses, Use, uses_of
from opconform_runners.tools.from_model.variants import Variant, variants_of
from opconform_runners.tools.fuzz.cases.spec_text import group_of, spec_text

Group = dict[str, Any]
#: Called with the completed fraction of the uses of a model (0 to 1), and with their number.
OnUse = Callable[[float, int], None]
#: The most values in one file, of those that a spec may have.
_VALUES = 15_000
#: The most types named in a title, and the most characters of a name.
_NAMED, _LONGEST = 2, 60
_READERS = {".onnx": read_onnx, ".xml": read_ir}


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelSpecs:
    """The specs of a model: for each operation the groups of its cases, by the profile and the digits of the case."""

    model: Path
    uses: ModelUses
    groups: Mapping[str, Mapping[str, Group]]

    @property
    def mark(self) -> str:
        """The first line of each of its files."""
        return f"# Written by opconform from-model from {one_line(self.model.name, _LONGEST)}"


def check_names(models: Sequence[Path]) -> None:
    """Check that the specs of one model do not take the place of another model's specs."""
    named = {_slug(path): path for path in models}
    for path in models:
        if (other := named[_slug(path)]) != path:
            raise UsageError(f"The specs of {path} and {other} would have the same names. Rename one of the models.")


def specs_of_model(path: Path, on_use: OnUse = lambda *_: None) -> ModelSpecs:
    """The specs of a model; `UsageError` if it cannot be read."""
    if path.suffix not in _READERS:
        raise UsageError(f"{path} is neither MODEL.onnx nor MODEL.xml. Export the model to one of these formats.")
    nodes = _READERS[path.suffix](path)
    check_order(nodes, str(path))
    uses = uses_of(nodes, str(path))
    groups: dict[str, dict[str, Group]] = {}
    for done, use in enumerate(uses.uses, 1):
        of_op = groups.setdefault(use.draft.op, {})
        number = 1 + len({name for group in of_op.values() for name in group["uses"]})
        _add(use, f"{_slug(path)}-{number}", path.name, of_op)
        on_use(done / len(uses.uses), done)
    return ModelSpecs(model=path, uses=uses, groups=groups)


def _add(use: Use, name: str, model: str, groups: dict[str, Group]) -> None:
    """Add the groups of a use to its operation; a case of a profile that another use has stands for both."""
    for variant in variants_of(use.draft, [*use.then.values()], is_convolved=use.is_convolved):
        key = f"{variant.profile} {variant.trial.draft.digits}"
        if key not in groups:
            groups[key] = _group(variant, f"{name}-{variant.word}", f"{variant.title}: {_described(use, model)}")
        groups[key]["uses"][name] = len(use.nodes)


def _group(variant: Variant, name: str, title: str) -> Group:
    group = group_of(variant.trial, title)
    changed: Group = {"id": name, "title": title, "profile": variant.profile, "uses": {}}
    if variant.trial.twin is None:
        changed["requirements"] = requirements_shown(variant.trial.draft)
    return {**changed, **{key: value for key, value in group.items() if key not in changed}}


def requirements_shown(draft: Draft) -> list[str]:
    """What a valid case shows: the first requirement of each stage of its comparison, and its exact bits."""
    stages = [*requirements_of(draft.op).establishes.items()]
    first = [names[0] for stage, names in reversed(stages) if names and stage not in ("nan-payload", "bits", "open")]
    return [*dict.fromkeys((*first, *draft.requirements))]


def _described(use: Use, model: str) -> str:
    beside = [
        f"{word} {', '.join(one_line(name, _LONGEST) for name, _ in types.most_common(_NAMED))}"
        for word, types in (("behind", use.before), ("before", use.behind))
        if types
    ]
    kinds = "" if use.draft.graph is None else f" {', '.join(one_line(kind, _LONGEST) for kind in use.types)}"
    nodes = f"{counted(len(use.nodes), 'node')}{kinds} of {one_line(model, _LONGEST)}"
    return "; ".join([f"{nodes}, such as {one_line(use.nodes[0], _LONGEST)}", *beside])


def _slug(path: Path) -> str:
    """The name of a model in ids of groups and in names of files."""
    return re.sub(r"[^a-z0-9]+", "-", path.stem.lower())[:40].strip("-") or "model"


def write_specs(specs: ModelSpecs, out: Path) -> list[Path]:
    """Write the specs to `OPERATION/MODEL.yaml` in a folder, and remove leftover specs of the same model."""
    mark, slug = specs.mark.encode() + b"\n", _slug(specs.model)
    texts: dict[Path, str] = {}
    for op, groups in specs.groups.items():
        for number, part in enumerate(_parts([*groups.values()]), 1):
            name = slug if number == 1 else f"{slug}-part-{number}"
            texts[out / op / f"{name}.yaml"] = f"{specs.mark}\n{spec_text(op, part)}"
    for path in texts:
        check_ours(path, mark)
    for path, text in texts.items():
        replace_ours(path, text.encode(), mark)
    for path in {*out.glob(f"*/{slug}.yaml"), *out.glob(f"*/{slug}-part-*.yaml")} - {*texts}:
        if is_ours(path, [mark]):
            path.unlink()
    return [*texts]


def _parts(groups: Sequence[Group]) -> Iterator[list[Group]]:
    """The groups of an operation in parts whose values fit into a spec."""
    part: list[Group] = []
    size = 0
    for group in groups:
        values = sum(map(repr(group).count, ",:")) + 1
        size += values
        if part and size > _VALUES:
            yield part
            part, size = [], values
        part.append(group)
    yield part


def lines_of(specs: ModelSpecs) -> Iterator[str]:
    """What is read of a model, and what is not: of each operation the nodes, the uses and the cases."""
    nodes = Counter[str]()
    for use in specs.uses.uses:
        nodes[use.draft.op] += len(use.nodes)
    total, width = specs.uses.nodes, max(map(len, nodes), default=0)
    share = f"{nodes.total():,} of {counted(total, 'node')} ({100 * nodes.total() // (total or 1)} %)"
    yield f"{specs.model}: {share} use {counted(len(nodes), 'operation')}"
    for op, groups in specs.groups.items():
        if op == GRAPH:
            yield f"  {op:{width}}  {_composed(specs.uses.uses, nodes[op], len(groups))}"
            continue
        violated = len({group["expect"]["reject"] for group in groups.values() if "expect" in group})
        violable = sum(requirement.violable for requirement in requirements_of(op).requirements)
        uses = counted(sum(use.draft.op == op for use in specs.uses.uses), "use")
        counts = f"{counted(nodes[op], 'node')}, {uses}, {counted(len(groups), 'case')}"
        yield f"  {op:{width}}  {counts}; {violated} of {counted(violable, 'violable requirement')} violated"
    others = [(one_line(kind, _LONGEST), reason, count) for (kind, reason), count in specs.uses.others.most_common()]
    yield from (f"  not read: {counted(n, 'node')}: {kind}, {reason}" for kind, reason, n in others if reason)
    if plain := [f"{kind} {n:,}" for kind, reason, n in others if not reason]:
        yield f"  no counterpart: {', '.join(plain)}"


def _composed(uses: Sequence[Use], nodes: int, cases: int) -> str:
    """What is read as a graph: its nodes by type, its uses and its cases."""
    composed = [use for use in uses if use.draft.graph is not None]
    types = sum((use.types for use in composed), Counter[str]())
    named = ", ".join(f"{one_line(kind, _LONGEST)} {count:,}" for kind, count in types.most_common())
    return f"{counted(nodes, 'node')}, {counted(len(composed), 'use')}, {counted(cases, 'case')}: {named}"
