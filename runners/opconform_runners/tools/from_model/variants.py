"""The cases beside a use: its boundaries, the graphs around it, and its illegal neighbours, each with its twin."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from random import Random
from typing import NamedTuple

from opconform.generation.options import Options
from opconform.model.draft import Draft, Neighbour
from opconform.specs.requirements import requirements_of
from opconform.suite.case import Attribute, Binding, Dynamic
from opconform_runners.tools.fuzz.cases.changes import changed
from opconform_runners.tools.fuzz.cases.simplicity import cost
from opconform_runners.tools.fuzz.cases.values import numbered, typed
from opconform_runners.tools.fuzz.trial import Trial, decided, is_defined, resized, trial_of, with_tensors

#: The seed of the elements for which a case must have results.
_SEED = Options().seed
#: How many changes are drawn for illegal neighbours.
_DRAWS = 600
#: The most neighbours behind a use.
_NEIGHBOURS = 3


class Variant(NamedTuple):
    """A case of a use: a word for what it is, the profile it belongs to, a sentence, and the case with its twin."""

    word: str
    profile: str
    title: str
    trial: Trial


def variants_of(use: Draft, behind: Sequence[Neighbour], *, is_convolved: bool) -> Iterator[Variant]:
    """The cases of a use, itself first; a graph has neither other graphs around it nor illegal neighbours.

    `behind` are operations that take its output, and `is_convolved` is whether it takes the output of a convolution.
    """
    yield Variant("use", "core", "as the model uses it", Trial(draft=use))
    is_graph = use.graph is not None
    around = [
        (f"then-{n}", "before the operation that takes its output", _with(use, "then", x))
        for n, x in enumerate(behind[: 0 if is_graph else _NEIGHBOURS], 1)
    ]
    if is_convolved and not is_graph:
        around.append(("convolved", "behind a convolution", _with(replace(use, dynamic={}), "convolved")))
    for word, title, draft in (*around, *_open(use), *_broadcast(use), *_sizes(use)):
        valid = decided(draft)
        if valid is not None and valid.rejected_for is None and is_defined(Trial(draft=valid), _SEED, is_drawn=False):
            is_around = draft.context != "bare"
            profile = "context" if is_around else "robustness" if word.startswith("size") else "dynamic"
            yield Variant(word, profile, title, Trial(draft=valid))
    for requirement, trial in () if is_graph else sorted(_violations(use).items()):
        word = requirement.replace(".", "-").replace("_", "-")
        yield Variant(word, "robustness", f"violates {requirement}", trial)


def _with(use: Draft, context: str, then: Neighbour | None = None) -> Draft:
    """The use in a context; a convolution computes exactly with small numbers alone."""
    first = next(iter(use.tensors))
    tensors = (
        {**use.tensors, first: replace(use.tensors[first], fill="small")} if context == "convolved" else use.tensors
    )
    return replace(use, context=context, then=then, tensors=tensors)


def _open(use: Draft) -> Iterator[tuple[str, str, Draft]]:
    """The use with dimensions that are declared otherwise, with settings at run time, and with a second inference."""
    fed = [name for name, word in use.binding.items() if word == "parameter"]
    data = [name for name in fed if use.operation.role_of(name) == "data"]
    every: dict[str, Dynamic] = {name: ("?",) * len(use.tensors[name].shape) for name in data}
    if use.dynamic:
        yield "static", "with static dimensions", replace(use, dynamic={})
    if data:
        yield "dynamic", "with dynamic dimensions", replace(use, dynamic={**use.dynamic, **every})
        yield "any-rank", "with dynamic ranks", replace(use, dynamic=dict.fromkeys(data, "..."))
    settings = [
        name for name, word in use.binding.items() if word == "constant" and not use.operation.port_of(name).constant
    ]
    if settings:
        binding: dict[str, Binding] = {
            name: "parameter" if name in settings else word for name, word in use.binding.items()
        }
        yield "run-time", "with constants at run time", replace(use, binding=binding)
    for place in range(max((len(use.tensors[name].shape) for name in data), default=0)):
        other = _resized(use, place, None)
        second = {name: tensor for name, tensor in other.tensors.items() if tensor != use.tensors[name]}
        draft = replace(use, dynamic={**use.dynamic, **every}, second=second)
        if second and (valid := decided(draft)) is not None and valid.rejected_for is None:
            yield "second", "with a second inference on data of another shape", draft
            return


def _broadcast(use: Draft) -> Iterator[tuple[str, str, Draft]]:
    """The use with 1 in place of the unknown dimensions of one input; they are declared as before."""
    unknown = [name for name, x in use.dynamic.items() if use.operation.role_of(name) == "data" and "?" in x]
    for number, name in enumerate(unknown, 1) if len(unknown) > 1 else ():
        tensor, declared = use.tensors[name], use.dynamic[name]
        ones = tuple(1 if x == "?" else size for size, x in zip(tensor.shape, declared, strict=True))
        other = with_tensors(use, {**use.tensors, name: resized(tensor, ones)})
        yield f"broadcast-{number}", f"with {name} broadcast", other


def _sizes(use: Draft) -> Iterator[tuple[str, str, Draft]]:
    """The use with each dimension of 1 and of 0."""
    for place in range(max(len(tensor.shape) for tensor in use.tensors.values())):
        for size in (1, 0):
            draft = _resized(use, place, size)
            if draft.tensors != use.tensors:
                yield f"size-{place}-{size}", f"with the dimension {place} of {size}", draft


def _resized(use: Draft, place: int, size: int | None) -> Draft:
    """The use with another size at one place, or one more, wherever data has the same size there; constants stay."""
    first = next(tensor.shape[place] for tensor in use.tensors.values() if len(tensor.shape) > place)
    tensors = dict(use.tensors)
    for name, tensor in use.tensors.items():
        is_open = use.operation.role_of(name) == "data" and (size is not None or use.binding[name] == "parameter")
        if is_open and tensor.shape[place : place + 1] == (first,):
            other = first + 1 if size is None else size
            tensors[name] = resized(tensor, (*tensor.shape[:place], other, *tensor.shape[place + 1 :]))
    draft = with_tensors(use, tensors)
    return replace(draft, dynamic={name: x for name, x in use.dynamic.items() if _still_declares(x, draft, name)})


def _still_declares(dynamic: Dynamic, draft: Draft, name: str) -> bool:
    shape = draft.tensors[name].shape
    return dynamic == "..." or all(x in ("?", size) for x, size in zip(dynamic, shape, strict=True))


def _violations(use: Draft) -> dict[str, Trial]:
    """The simplest case found that violates each requirement, beside the use or beside a valid change of it.

    What declarations carry is violated in turn, and the rest by changes that are drawn; these depend on the use alone.
    """
    random, valid = Random(use.digits), use  # noqa: S311 - not for secrets
    violable = {requirement.id for requirement in requirements_of(use.op).requirements if requirement.violable}
    found: dict[str, Trial] = {}
    drawn = ((valid if number % 2 else use) for number in range(_DRAWS))
    for base, made in chain(((use, x) for x in _wrong(use)), ((base, changed(base, random)) for base in drawn)):
        draft = None if made is None or made.has_other_nodes or made.second is not None else decided(made)
        if draft is None:
            continue
        if (name := draft.rejected_for) is None:
            valid = draft if base is use else valid
            continue
        is_simplest = name in violable and (name not in found or cost(draft) < cost(found[name].draft))
        if is_simplest and is_defined(trial := trial_of(draft, base), _SEED):
            found[name] = trial
    return found


def _wrong(use: Draft) -> Iterator[Draft]:
    """The use without an input or attribute, and with one of another type or rank."""
    for name, tensor in use.tensors.items():
        elements = tensor.elements if tensor.fill == "values" else ()
        kinds = ("f32", "boolean", "i32", "string")
        others = [
            replace(tensor, element_type=x, elements=tuple(typed(x, numbered(e)) for e in elements)) for x in kinds
        ]
        others += [resized(tensor, shape) for shape in ((), (1, *tensor.shape), (1,))]
        yield with_tensors(use, {key: x for key, x in use.tensors.items() if key != name})
        yield from (with_tensors(use, {**use.tensors, name: other}) for other in others)
    for spec in use.operation.attributes:
        yield replace(use, attributes={key: x for key, x in use.attributes.items() if key != spec.name})
        wrong: list[Attribute] = [1.5, "one", *(str(value).upper() for value in spec.values[:1])]
        for value in wrong:
            yield replace(use, attributes={**use.attributes, spec.name: value})
