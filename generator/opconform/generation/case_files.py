"""The files of a case as bytes, and its line of the manifest."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from opconform.dialects import DIALECTS, Inexpressible
from opconform.generation.expansion import Expanded
from opconform.generation.options import Recipe
from opconform.model.control import control_of
from opconform.model.draft import Draft, Refusal, id_of, operands_of
from opconform.model.golden import Golden, golden_of
from opconform.model.graph import graph_of, inferred
from opconform.suite.case import Accept, Case, Graph, Input, Output, Reject, case_text
from opconform.suite.manifest import CASE, CONTROL, Entry, expected_name, inputs_name
from opconform.tensors.npz import npz_bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseFiles:
    """A case's line of the manifest, and the contents of its folder."""

    entry: Entry
    contents: Mapping[str, bytes]


def case_bytes(expanded: Expanded) -> bytes:
    """`case.json` of a case; no tensors are filled for it."""
    return case_text(_case_of(expanded.draft, id_of(expanded.draft, expanded.digits))).encode()


def case_files(expanded: Expanded, recipe: Recipe) -> CaseFiles:
    """All files of a case and its control, with its golden evaluated.

    A blind suite has no controls, because their inputs are outputs of the node under test.
    """
    golden = golden_of(expanded.draft, expanded.content, recipe.seed)
    identity = id_of(expanded.draft, expanded.digits)
    contents, left_out = _contents(golden, identity, recipe)
    control = None if recipe.blind else control_of(golden)
    if control is not None:
        expressible = tuple(each for each in recipe.dialects if each not in left_out)
        beside, _ = _contents(control, f"{identity}/{CONTROL}", replace(recipe, dialects=expressible))
        contents |= {f"{CONTROL}/{name}": content for name, content in beside.items()}
    return CaseFiles(entry=_entry(expanded, contents, left_out), contents=contents)


def _contents(golden: Golden, identity: str, recipe: Recipe) -> tuple[dict[str, bytes], dict[str, str]]:
    """The files of a golden, and the reason for each dialect that is left out."""
    contents = {CASE: case_text(_case_of(golden.draft, identity)).encode(), **_arrays(golden, recipe.blind)}
    left_out: dict[str, str] = {}
    for name in recipe.dialects:
        try:
            contents.update(DIALECTS[name].files_of(golden, identity))
        except Inexpressible as answer:
            left_out[name] = answer.reason
    return contents, left_out


def _arrays(golden: Golden, blind: bool) -> dict[str, bytes]:
    files = {
        inputs_name(feed): npz_bytes({name: each.array for name, each in inputs.items()})
        for feed, inputs in enumerate(golden.inputs)
    }
    for feed, outputs in enumerate([] if blind else golden.outputs):
        files[expected_name(feed)] = npz_bytes({f"output_{i}": each.array for i, each in enumerate(outputs)})
    return files


def _entry(expanded: Expanded, contents: Mapping[str, bytes], left_out: Mapping[str, str]) -> Entry:
    draft = expanded.draft
    return Entry(
        id=id_of(draft, expanded.digits),
        profile=draft.profile,
        requirements=draft.requirements,
        expect=Reject(reject=draft.expect.requirement) if isinstance(draft.expect, Refusal) else "accept",
        twin=_twin(draft),
        files={name: hashlib.sha256(content).hexdigest() for name, content in sorted(contents.items())},
        left_out=left_out,
        essential=draft.essential,
    )


def _twin(draft: Draft) -> str | None:
    return None if draft.twin is None else id_of(draft, draft.twin)


def _case_of(draft: Draft, identity: str) -> Case:
    graph = graph_of(draft)
    return Case(
        id=identity,
        op=draft.op,
        title=draft.title,
        profile=draft.profile,
        requirements=draft.requirements,
        seen=draft.seen,
        context=draft.context,
        feeds=len(draft.feeds),
        inputs=tuple(_inputs(draft)),
        graph=graph,
        expect=_expect(draft, graph),
        twin=_twin(draft),
    )


def _inputs(draft: Draft) -> Sequence[Input]:
    return [
        Input(
            name=name,
            role=draft.operation.port_of(name).role,
            element_type=each.element_type,
            shape=each.shape,
            binding=draft.binding[name],
            dynamic=draft.dynamic.get(name),
        )
        for name, each in draft.tensors.items()
    ]


def _expect(draft: Draft, graph: Graph) -> Accept | Reject:
    if isinstance(draft.expect, Refusal):
        return Reject(reject=draft.expect.requirement)
    types = inferred(graph, operands_of(draft, 0))
    return Accept(
        accept=tuple(
            Output(name=f"output_{number}", element_type=types[name].element_type, shape=types[name].shape)
            for number, name in enumerate(graph.outputs)
        )
    )
