"""Drafting: the keys of one concrete case, checked against each other, become a draft."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from opconform.errors import quoted, quoted_text
from opconform.generation.options import Limits
from opconform.model.draft import ACCEPTANCE, Acceptance, Draft, Refusal, TensorDraft, arguments_of, operands_of
from opconform.model.graph import graph_of, inferred
from opconform.operations import OPERATIONS
from opconform.operations.operation import ContextError, Operation, Port, Rejection
from opconform.specs.expressions import is_expression
from opconform.specs.loader import Group
from opconform.specs.schema import RejectKeys, TensorKeys
from opconform.suite.case import Attribute, Binding, Dynamic, Shape
from opconform.tensors.literals import Element, checked

#: The most dimensions that numpy's arrays have, and the most elements that a shape without elements may have beside 0.
_RANK = 64
_BESIDE_ZERO = 1 << 58
#: The most elements of an input that decides what the operation does: they stand in the case's content one by one.
_CONTROL = 100_000
_NO_IR = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]")


class Wrong(Exception):  # noqa: N818 - it becomes a mistake, which is the error
    """A key of a case that cannot be; the message says why."""

    def __init__(self, key: str, sentence: str) -> None:
        super().__init__(key, sentence)
        self.key, self.sentence = key, sentence


def draft_of(group: Group, keys: Any, limits: Limits, *, twin: bool) -> Draft:
    """The draft of one case.

    Args:
        group: The group that the case belongs to.
        keys: The case's keys, checked against the operation's model.
        limits: What it may grow to.
        twin: Whether it is the twin of another.

    Raises:
        Wrong: Two of its keys contradict each other, or one is over a limit.
    """
    operation = OPERATIONS[group.op]
    tensors = _tensors(operation, keys, limits)
    expect: Acceptance | Refusal = ACCEPTANCE
    if isinstance(keys.expect, RejectKeys) and not twin:
        expect = Refusal(requirement=keys.expect.reject, also=keys.expect.also)
    binding = _binding(operation, tensors, keys)
    second = _second(operation, keys.feed, tensors, binding, limits) if keys.feed is not None else None
    draft = Draft(
        op=group.op,
        group=group.id,
        title=group.settings.title,
        profile=group.settings.profile,
        requirements=_requirements(group, expect),
        seen=group.settings.seen,
        where=group.place,
        attributes=_attributes(operation, keys),
        tensors=tensors,
        second=second,
        binding=binding,
        dynamic=_dynamic(operation, keys, tensors),
        context=keys.context,
        expect=expect,
        is_twin=twin,
        essential=keys.essential,
    )
    _check_feeds(draft)
    _check_expectation(draft, limits)
    return draft


def _tensors(operation: Operation, keys: Any, limits: Limits) -> dict[str, TensorDraft]:
    """The tensors that some keys give, by name and in the order of the operation's ports."""
    tensors: dict[str, TensorDraft] = {}
    for port in operation.inputs:
        given = getattr(keys, port.name)
        several = (given or ()) if port.variadic else (given,)
        for name, each in zip(port.names(len(several)), several, strict=True):
            if each is not None:
                tensors[name] = _tensor(port, each, limits)
    return tensors


def _tensor(port: Port, keys: TensorKeys, limits: Limits) -> TensorDraft:
    name = port.name
    element_type = port.default_type if keys.element_type is None else keys.element_type
    if keys.values is not None:
        return _from_values(name, element_type, keys, limits)
    if keys.shape is None:
        raise Wrong(name, "it needs a `shape`, or `values`")
    count = _count(name, keys.shape, limits)
    if (keys.fill == "constant") != (keys.value is not None):
        raise Wrong(name, "`value` goes with `fill: constant`, and the other way round")
    elements = () if keys.value is None else (_element(name, element_type, keys.value),)
    if port.role == "tensor":
        return TensorDraft(element_type=element_type, shape=keys.shape, fill=keys.fill or "ramp", elements=elements)
    if not elements and count:
        raise Wrong(name, "its elements decide what the operation does, so it needs `values` or `fill: constant`")
    if count > _CONTROL:
        raise Wrong(name, f"{count:,} elements are over the limit of {_CONTROL:,} for what decides what is done")
    return TensorDraft(element_type=element_type, shape=keys.shape, fill="values", elements=elements * count)


def _count(name: str, shape: Shape, limits: Limits) -> int:
    """The number of a shape's elements, once it is known that there can be as many."""
    if len(shape) > _RANK:
        raise Wrong(name, f"a shape of {len(shape):,} dimensions is over the limit of {_RANK}")
    count = math.prod(shape)
    if count > limits.elements:
        number = f"{count:,}" if count < _BESIDE_ZERO else f"more than {_BESIDE_ZERO:,}"
        raise Wrong(
            name, f"a shape of {number} elements is over the limit of {limits.elements:,}; raise it with --max-elements"
        )
    if math.prod(each for each in shape if each) > _BESIDE_ZERO:
        raise Wrong(name, f"the sizes beside 0 multiply to more than {_BESIDE_ZERO:,}, the limit")
    return count


def _from_values(name: str, element_type: str, keys: TensorKeys, limits: Limits) -> TensorDraft:
    if keys.fill is not None or keys.value is not None:
        raise Wrong(name, "`values` are all its elements, so `fill` and `value` have no place beside them")
    shape = _nesting(name, keys.values)
    elements = tuple(_element(name, element_type, each) for each in _flat(keys.values))
    if keys.shape is not None and keys.shape != shape:
        if math.prod(keys.shape) != len(elements) or len(shape) > 1:
            said = quoted(list(keys.shape))
            raise Wrong(name, f"its values have the shape {quoted(list(shape))}, and `shape` says {said}")
        shape = keys.shape
    _count(name, shape, limits)
    return TensorDraft(element_type=element_type, shape=shape, fill="values", elements=elements)


def _nesting(name: str, values: object) -> Shape:
    if not isinstance(values, list):
        return ()
    inner = {_nesting(name, each) for each in values}
    if len(inner) > 1:
        raise Wrong(name, "its values are nested unevenly")
    return (len(values), *next(iter(inner), ()))


def _flat(values: object) -> Iterable[object]:
    if not isinstance(values, list):
        yield values
        return
    for each in values:
        yield from _flat(each)


def _element(name: str, element_type: str, value: object) -> Element:
    if not isinstance(value, bool | int | float | str) or is_expression(value):
        raise Wrong(name, f"{quoted(value)} is no element; write a number, true, false or a text")
    try:
        return checked(element_type, value)
    except ValueError as fault:
        raise Wrong(name, str(fault)) from fault


def _attributes(operation: Operation, keys: Any) -> Mapping[str, Attribute]:
    attributes: dict[str, Attribute] = {}
    for attribute in operation.attributes:
        name, value = attribute.name, getattr(keys, attribute.name)
        if isinstance(value, str) and attribute.type in ("int", "ints") and _reads_as_integer(value):
            number = quoted_text(value.strip().removeprefix("+"))
            raise Wrong(name, f"in an IR the text {quoted(value)} is the number {number}; write {number}")
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, str) and (character := _NO_IR.search(each)):
                raise Wrong(name, f"{quoted(each)} holds the character U+{ord(character[0]):04X}, which no IR can hold")
            if isinstance(each, float) and not math.isfinite(each):
                raise Wrong(name, f"{each!r} cannot be written in JSON; write a text")
        if value is not None:
            attributes[name] = value
    return attributes


def _reads_as_integer(text: str) -> bool:
    """Whether a text is an integer to every reader of an IR: ASCII digits, perhaps with a sign and white space."""
    return re.fullmatch(r"\s*[+-]?[0-9]+\s*", text) is not None


def _binding(operation: Operation, tensors: Mapping[str, TensorDraft], keys: Any) -> Mapping[str, Binding]:
    """How each tensor reaches the model: at a control port as the spec says, at the others at run time."""
    roles = {name: operation.port_of(name).role for name in tensors}
    allowed = [each.name for each in operation.inputs if each.role == "control"]
    given: Mapping[str, Binding] = (
        keys.binding if isinstance(keys.binding, Mapping) else dict.fromkeys(allowed, keys.binding)
    )
    unknown = [each for each in given if each not in allowed]
    if unknown:
        raise Wrong("binding", f"{quoted(unknown[0])} is not bound here; allowed are: {', '.join(allowed)}")
    if keys.context != "folded":
        named = {name: given.get(operation.port_of(name).name, "constant") for name in tensors}
        return {name: "parameter" if roles[name] == "tensor" else each for name, each in named.items()}
    if "parameter" in given.values():
        raise Wrong("binding", "in the context `folded` every input is a constant")
    return dict.fromkeys(tensors, "constant")


def _dynamic(operation: Operation, keys: Any, tensors: Mapping[str, TensorDraft]) -> Mapping[str, Dynamic]:
    """The dimensions that the IR declares of tensors that have others there, by name."""
    if keys.dynamic is None:
        return {}
    if keys.context == "folded":
        raise Wrong("dynamic", "in the context `folded` data is a constant, whose shape is known")
    filled = [name for name in tensors if operation.port_of(name).role == "tensor"]
    given: Mapping[str, Any] = (
        keys.dynamic if isinstance(keys.dynamic, Mapping) else dict.fromkeys(filled, keys.dynamic)
    )
    unknown = [each for each in given if each not in filled]
    if unknown:
        raise Wrong("dynamic", f"{quoted(unknown[0])} is not a tensor of the case; allowed are: {', '.join(filled)}")
    dynamic = {name: _declared(name, each, tensors[name].shape) for name, each in given.items()}
    return {name: each for name, each in dynamic.items() if each != tensors[name].shape}


def _declared(name: str, given: Any, shape: Shape) -> Dynamic:
    """The dimensions that the IR declares of one tensor."""
    if given == "...":
        return "..."
    dynamic: tuple[int | str, ...] = ("?",) * len(shape) if given == "all" else tuple(given)
    if not _fits(dynamic, shape):
        raise Wrong("dynamic", f"{quoted(list(dynamic))} has no place for {name} of shape {quoted(list(shape))}")
    return dynamic


def _fits(dynamic: Sequence[int | str], shape: Shape) -> bool:
    return len(dynamic) == len(shape) and all(_covers(*each) for each in zip(dynamic, shape, strict=True))


def _covers(dimension: int | str, size: int) -> bool:
    if isinstance(dimension, int):
        return dimension == size
    low, _, high = dimension.partition("..")
    return not high or int(low) <= size <= int(high)


def _second(
    operation: Operation,
    feed: Any,
    tensors: Mapping[str, TensorDraft],
    binding: Mapping[str, Binding],
    limits: Limits,
) -> Mapping[str, TensorDraft]:
    given = _tensors(operation, feed, limits)
    for name, each in given.items():
        if binding.get(name) != "parameter":
            raise Wrong("feed", f"{name} is a constant of the IR, so a second feed cannot change it")
        if operation.port_of(name).role == "control" and each.shape != tensors[name].shape:
            raise Wrong("feed", f"{name} has the shape {quoted(list(tensors[name].shape))} in the IR")
        if each.element_type != tensors[name].element_type:
            raise Wrong("feed", f"{name} has the element type {tensors[name].element_type} in the IR")
    return given


def _check_feeds(draft: Draft) -> None:
    for name, each in (draft.second or {}).items():
        declared = draft.dynamic.get(name, draft.tensors[name].shape)
        if declared != "..." and not _fits(declared, each.shape):
            sentence = f"{name} of shape {quoted(list(each.shape))} has no place in the IR's {quoted(list(declared))}"
            raise Wrong("feed", f"{sentence}; see `dynamic`")


def _check_expectation(draft: Draft, limits: Limits) -> None:
    """Set the author's opinion and the reference semantics' against each other."""
    violated = [_violated(draft, feed) for feed in range(len(draft.feeds))]
    match draft.expect:
        case Acceptance():
            for feed, names in enumerate(violated):
                if names:
                    which = f" of feed {feed}" if feed else ""
                    author = "a twin is accepted" if draft.is_twin else "the spec says `accept`"
                    sentence = f"{author}, but the reference semantics{which} reject it for {', '.join(names)}"
                    raise Wrong("twin" if draft.is_twin else "expect", sentence)
            requested = draft.operation.requested_outputs(arguments_of(draft, 0)) or 0
            if requested > limits.outputs:
                raise Wrong("expect", f"{requested:,} outputs are over the limit of {limits.outputs:,}")
        case Refusal(requirement=requirement, also=also):
            if len(violated) > 1 and violated[0]:
                raise Wrong("feed", f"the first feed must be right, and violates {', '.join(violated[0])}")
            _check_refusal({requirement, *also}, set(violated[-1]))
    _check_context(draft)


def _check_context(draft: Draft) -> None:
    """Check that the context's graph can be built, and that its other operations accept what they are given."""
    try:
        graph = graph_of(draft)
        for feed in range(len(draft.feeds) if isinstance(draft.expect, Acceptance) else 0):
            inferred(graph, operands_of(draft, feed))
    except ContextError as fault:
        raise Wrong("context", str(fault)) from fault
    except Rejection as rejection:
        violated = ", ".join(rejection.requirements)
        raise Wrong(
            "context", f"an operation around the one under test is not allowed to do this: {violated}"
        ) from rejection


def _check_refusal(named: set[str], violated: set[str]) -> None:
    if not violated:
        raise Wrong(
            "expect", f"the spec says it is rejected for {_listed(named)}, but the reference semantics accept it"
        )
    if named != violated:
        reference = f"the reference semantics say for {_listed(violated)}"
        raise Wrong("expect", f"the spec says it is rejected for {_listed(named)}, but {reference}")


def _listed(names: set[str]) -> str:
    return ", ".join(sorted(names))


def _violated(draft: Draft, feed: int) -> tuple[str, ...]:
    try:
        draft.operation.infer(arguments_of(draft, feed))
    except Rejection as rejection:
        return rejection.requirements
    return ()


def _requirements(group: Group, expect: Acceptance | Refusal) -> tuple[str, ...]:
    if isinstance(expect, Acceptance):
        return group.settings.requirements
    if group.settings.requirements and expect.requirement not in group.settings.requirements:
        raise Wrong("requirements", f"they must name {expect.requirement}, which the case violates")
    return group.settings.requirements or (expect.requirement,)
