"""Random changes to how a case is given to a backend: fills, bindings, declared dimensions, contexts, second feeds."""

from collections.abc import Mapping
from dataclasses import replace
from random import Random

from opconform.generation.then_key import shipped_neighbours
from opconform.model.draft import Draft, Fill
from opconform.suite.case import Dynamic
from opconform_runners.tools.fuzz.cases.values import SIZES, SMALL_SIZES, boundary, likely, numbered, sizes_of, typed
from opconform_runners.tools.fuzz.trial import default_binding, resized, with_tensors

FILLS: tuple[Fill, ...] = ("ramp", "bits", "special")


def change_fill(draft: Draft, random: Random) -> Draft | None:
    """A tensor is filled in another way."""
    filled = [name for name, tensor in draft.tensors.items() if tensor.fill != "values"]
    if not filled:
        return None
    name = random.choice(filled)
    return with_tensors(
        draft, {**draft.tensors, name: replace(draft.tensors[name], fill=random.choice(FILLS), elements=())}
    )


def change_binding(draft: Draft, random: Random) -> Draft | None:
    """An input becomes a constant of the model or is fed at run time."""
    if draft.context == "folded":
        return None
    name = random.choice([*draft.tensors])
    opposite: Mapping[str, str] = {"constant": "parameter", "parameter": "constant"}
    binding = {**draft.binding, name: "parameter" if opposite[draft.binding[name]] == "parameter" else "constant"}
    dynamic = {key: value for key, value in draft.dynamic.items() if binding[key] == "parameter"}
    second = {key: value for key, value in (draft.second or {}).items() if binding[key] == "parameter"}
    return replace(draft, binding=binding, dynamic=dynamic, second=second or None)  # type: ignore[arg-type]


def change_dynamic(draft: Draft, random: Random) -> Draft | None:
    """The model does not declare the rank, the dimensions or one dimension of inputs that are fed."""
    fed = [name for name in draft.tensors if draft.binding[name] == "parameter"]
    if not fed or draft.context == "folded":
        return None
    dynamic = dict(draft.dynamic)
    for name in fed if likely(random, 0.5) else [random.choice(fed)]:
        shape = draft.tensors[name].shape
        ways: list[Dynamic] = ["...", ("?",) * len(shape)]
        if shape:
            place = random.randrange(len(shape))
            ways.append((*shape[:place], "?", *shape[place + 1 :]))
            ways.append((*shape[:place], f"{shape[place] // 2}..{shape[place] + 2}", *shape[place + 1 :]))
        dynamic[name] = random.choice(ways)
    dynamic = {name: x for name, x in dynamic.items() if x != draft.tensors[name].shape}
    return replace(draft, dynamic=dynamic, second=None)


def change_context(draft: Draft, random: Random) -> Draft | None:
    """Another graph surrounds the operation."""
    context = "then" if likely(random, 0.4) else random.choice(draft.operation.context_names)
    neighbour = random.choice(shipped_neighbours()) if context == "then" else None
    if context == "folded":
        constants = dict.fromkeys(draft.tensors, "constant")
        return replace(draft, context=context, then=None, binding=constants, dynamic={}, second=None)  # type: ignore[arg-type]
    binding = default_binding(draft.operation, draft.tensors) if draft.context == "folded" else draft.binding
    return replace(draft, context=context, then=neighbour, binding=binding)


def change_second(draft: Draft, random: Random) -> Draft | None:
    """A second inference on the same model, with another input."""
    fed = [name for name in draft.tensors if draft.binding[name] == "parameter"]
    if not fed:
        return None
    name = random.choice(fed)
    tensor, dynamic = draft.tensors[name], draft.dynamic.get(name)
    shape = [
        random.choice(SIZES[:10]) if dynamic == "..." or (dynamic and dynamic[place] == "?") else size
        for place, size in enumerate(tensor.shape)
    ]
    if dynamic == "..." and likely(random, 0.3):
        shape.append(random.choice(SMALL_SIZES))
    second = resized(tensor, shape, random)
    if tensor.fill != "values":
        second = replace(second, fill=random.choice([fill for fill in FILLS if fill != tensor.fill]))
    elif tensor.elements:
        place = random.randrange(len(second.elements) or 1)
        value = boundary(numbered(tensor.elements[0]), sizes_of(draft), random)
        elements = [typed(tensor.element_type, value) if n == place else e for n, e in enumerate(second.elements)]
        second = replace(second, elements=tuple(elements))
    return replace(draft, second={**(draft.second or {}), name: second})
