"""The validation of one concrete case: its keys are checked against each other and become a draft."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from opconform.errors import counted, quoted
from opconform.generation.attribute_keys import attributes_of
from opconform.generation.graph_keys import GraphParts, graph_parts, input_drafts
from opconform.generation.identity.tensor_keys import RANK, KnownTensors, tensor_drafts
from opconform.generation.options import Limits
from opconform.generation.then_key import neighbour_of
from opconform.model.draft import Draft, Inference, TensorDraft
from opconform.model.evaluation import inferred, violation_of
from opconform.model.graph import graph_of
from opconform.model.graph_operation import operation_of_graph
from opconform.model.readings import attributed
from opconform.operations import OPERATIONS
from opconform.operations.arguments import Operand, Rejection, TensorType, Unknown
from opconform.operations.contract import ContextError
from opconform.operations.operation import Computation, Operation
from opconform.specs.group import Group
from opconform.specs.requirements import requirements_of
from opconform.specs.schema.keys import RejectKeys
from opconform.specs.yaml_document import KEY, KeyMistake
from opconform.suite.case import GRAPH, Binding, Dynamic, Shape

Tensors = Mapping[str, TensorDraft]

#: The most outputs of a valid case.
OUTPUT_LIMIT = 4_096
#: The most exact products that a case may need, or as much other work; they take a few seconds.
PRODUCT_LIMIT = 4_000_000
#: How many products of the fill `exact` in these types, which numpy sums, are as much work as one of other numbers.
_SUMMED, _SUMMED_TYPES = 100, ("f32", "f64")


class LeftOut(Exception):  # noqa: N818 - an answer, not an error
    """A case that is not made.

    The reference semantics decide what is expected, and it violates several requirements; or a group of every operation
    does not apply to a sample.
    """


def draft_of(group: Group, keys: Any, limits: Limits, *, twin: bool, known: KnownTensors) -> Draft:
    """The draft of a case or twin whose keys fit the operation's model.

    Raises:
        KeyMistake: The keys contradict each other or exceed a limit.
        LeftOut: The case is not made.
    """
    settings = group.settings
    reject = keys.expect if isinstance(keys.expect, RejectKeys) and not twin else None
    is_decided = keys.expect == "semantics" and not twin
    parts = graph_parts(keys, limits, valid=reject is None and not is_decided) if group.op == GRAPH else None
    if parts is None:
        operation: Operation = OPERATIONS[group.op]
        tensors: Tensors = tensor_drafts(operation, keys, limits, known)
    else:
        tensors = parts.tensors
        operation = operation_of_graph(parts.graph, tuple(tensors))
    constants: frozenset[str] = frozenset() if parts is None else parts.constants
    binding = _binding(operation, tensors, keys, constants)
    neighbour = neighbour_of(keys, limits, known)
    draft = Draft(
        op=group.op,
        group=group.id,
        title=settings.title,
        profile=settings.profile,
        requirements=_requirements(group, reject),
        seen=settings.seen,
        where=group.place,
        attributes={} if parts is not None else attributes_of(operation, keys),
        tensors=tensors,
        second=None if keys.feed is None else _second(operation, parts, keys.feed, limits, known),
        binding=binding,
        dynamic=_dynamic(operation, tensors, binding, keys),
        context=keys.context if neighbour is None else "then",
        then=neighbour,
        graph=None if parts is None else parts.graph,
        rejected_for=None if reject is None else reject.reject,
        is_twin=twin,
        essential=keys.essential,
    )
    _check_second_feed(draft)
    try:
        violated = _violated(draft)
    except MemoryError as error:
        if group.samples is not None:
            raise LeftOut from error
        raise KeyMistake(operation.inputs[0].name, "the outputs are too large for memory") from error
    if is_decided and violated[-1]:
        if len(violated[-1]) > 1:
            raise LeftOut
        draft = draft.noted(rejected_for=violated[-1][0], requirements=violated[-1])
        reject = RejectKeys(reject=violated[-1][0], also=())
    if group.samples is not None:
        _check_applies(draft, violated, limits)
    else:
        if reject is None:
            _check_accepted(draft, draft.inferences)
        else:
            _check_rejected(draft, violated, reject)
        _check_context(draft)
        check_work(draft)
    return attributed(draft) if reject is None else draft


def _violated(draft: Draft) -> list[tuple[str, ...]]:
    """The requirements that the arguments of each feed violate."""
    try:
        return [inference.violated for inference in draft.inferences]
    except Unknown as error:
        name = draft.operation.data[0].name
        raise KeyMistake(name, "its elements decide the shapes of the outputs; write them as `values`") from error


def _check_applies(draft: Draft, violated: Sequence[Sequence[str]], limits: Limits) -> None:
    """Check what a group makes of a sample.

    `LeftOut` if it violates other requirements, has no such context, or an output with too many elements or products.
    """
    expected = () if draft.rejected_for is None else (draft.rejected_for,)
    if any(map(tuple, violated[:-1])) or tuple(violated[-1]) != expected:
        raise LeftOut
    outputs = [output for inference in draft.inferences if not inference.violated for output in inference.outputs]
    if any(math.prod(output.shape) > limits.elements for output in outputs):
        raise LeftOut
    try:
        _check_context(draft)
        check_work(draft)
    except KeyMistake as error:
        raise LeftOut from error


def _second(operation: Operation, parts: GraphParts | None, keys: Any, limits: Limits, known: KnownTensors) -> Tensors:
    """The tensors of the second feed."""
    try:
        if parts is not None:
            return input_drafts(keys, parts.graph, limits)
        return tensor_drafts(operation, keys, limits, known)
    except KeyMistake as error:
        raise KeyMistake("feed", f"{error.key}: {error.sentence}", (error.key, *error.inside), error.value) from error


def check_surroundings(draft: Draft) -> None:
    """Check that the second feed fits the IR, and that the context can be built; `KeyMistake` otherwise."""
    _check_second_feed(draft)
    _check_context(draft)


def _requirements(group: Group, reject: RejectKeys | None) -> tuple[str, ...]:
    named = group.settings.requirements
    if reject is None:
        return named
    if named and reject.reject not in named:
        raise KeyMistake("requirements", f"the list must include {reject.reject}, which the case violates")
    return named or (reject.reject,)


def _binding(operation: Operation, tensors: Tensors, keys: Any, constants: Collection[str]) -> Mapping[str, Binding]:
    """The binding of each tensor; one word is the binding of setting inputs, and other inputs are then parameters.

    The `constants` of a graph are constants in any case.
    """
    if keys.context == "folded":
        bindings = keys.binding.values() if isinstance(keys.binding, Mapping) else (keys.binding,)
        if "parameter" in bindings:
            raise KeyMistake("binding", "in the context `folded` every input is a constant")
        return dict.fromkeys(tensors, "constant")
    inputs = [name for name in tensors if name not in constants]
    default: dict[str, Binding] = {
        name: "parameter" if name in inputs and operation.port_of(name).role == "data" else "constant"
        for name in tensors
    }
    if isinstance(keys.binding, Mapping):
        binding = {**default, **_by_name("binding", keys.binding, inputs, "an input of the case")}
    else:
        settings = [name for name in inputs if operation.port_of(name).role == "setting"]
        binding = {**default, **dict.fromkeys(settings, keys.binding)}
    return binding


def _dynamic(
    operation: Operation, tensors: Tensors, binding: Mapping[str, Binding], keys: Any
) -> Mapping[str, Dynamic]:
    """The dimensions that the IR declares for the tensors whose shape it does not declare; one value is for data."""
    if keys.dynamic is None:
        return {}
    if keys.context == "folded":
        raise KeyMistake("dynamic", "in the context `folded` data is a constant with a known shape")
    allowed = [name for name in tensors if binding[name] == "parameter"]
    if isinstance(keys.dynamic, Mapping):
        given = {name: x for name, x in keys.dynamic.items() if x is not None or name not in tensors}
        values = _by_name("dynamic", given, allowed, "a tensor that is supplied at run time")
    else:
        values = {name: keys.dynamic for name in allowed if operation.port_of(name).role == "data"}
    dynamic = {name: _declared(name, x, tensors[name].shape) for name, x in values.items() if x is not None}
    return {name: x for name, x in dynamic.items() if x != tensors[name].shape}


def _by_name(key: str, values: Mapping[str, Any], allowed: Sequence[str], kind: str) -> Mapping[str, Any]:
    """A mapping whose keys are allowed names."""
    unknown = [x for x in values if x not in allowed]
    if unknown:
        sentence = f"{quoted(unknown[0])} is not {kind}; allowed: {', '.join(allowed)}"
        raise KeyMistake(key, sentence, (unknown[0], KEY))
    return values


def _declared(name: str, declaration: Any, shape: Shape) -> Dynamic:
    if declaration == "...":
        return "..."
    dynamic: tuple[int | str, ...] = ("?",) * len(shape) if declaration == "all" else tuple(declaration)
    if not _fits(dynamic, shape):
        sentence = f"{quoted(list(dynamic))} does not fit {name} of shape {quoted(list(shape))}"
        raise KeyMistake("dynamic", sentence, (name,))
    return dynamic


def _fits(dynamic: Sequence[int | str], shape: Shape) -> bool:
    return len(dynamic) == len(shape) and all(map(_covers, dynamic, shape))


def _covers(dimension: int | str, size: int) -> bool:
    if isinstance(dimension, int):
        return dimension == size
    low, _, high = dimension.partition("..")
    return not high or int(low) <= size <= int(high)


def _check_second_feed(draft: Draft) -> None:
    for name, item in (draft.second or {}).items():
        if draft.binding.get(name) != "parameter":
            raise KeyMistake("feed", f"{name} is a constant of the IR, so a second feed cannot change it", (name, KEY))
        first = draft.tensors[name]
        if item.element_type != first.element_type:
            sentence = f"{name} has the element type {first.element_type} in the IR"
            raise KeyMistake("feed", sentence, (name, "element_type"))
        declared = draft.dynamic.get(name, first.shape)
        if declared != "..." and not _fits(declared, item.shape):
            sentence = (
                f"{name} of shape {quoted(list(item.shape))} does not match the declared shape {quoted(list(declared))}"
            )
            raise KeyMistake("feed", f"{sentence}; see `dynamic`", (name, "shape"))


def _check_rejected(draft: Draft, violated: Sequence[Sequence[str]], reject: RejectKeys) -> None:
    """Check that the reference semantics reject the last feed for the requirements that the author names."""
    if len(violated) > 1 and violated[0]:
        raise KeyMistake("feed", f"the first feed must be valid, but violates {', '.join(violated[0])}")
    named, ids = {reject.reject, *reject.also}, set(violated[-1])
    if named != ids:
        actual = f"violates {', '.join(sorted(ids))}{'' if named & ids else ' instead'}" if ids else "is valid"
        author = f"the case is expected to be rejected for {', '.join(sorted(named))}"
        known = requirements_of(draft.op).by_id
        for item in (known[name] for name in sorted(named & known.keys()) if not known[name].violable):
            raise KeyMistake("expect", f"{author}, but no case can violate {item.id}: {item.text.rstrip('.')}")
        advice = "remove `expect`, or change the case so that it violates the requirement"
        if ids:
            first = reject.reject if reject.reject in ids else violated[-1][0]
            rest = [requirement for requirement in violated[-1] if requirement != first]
            advice = f"correct the case, or write {_expectation(first, rest)}"
        raise KeyMistake("expect", f"{author}, but it {actual}; {advice}")


def _check_accepted(draft: Draft, inferences: Sequence[Inference]) -> None:
    for feed, names in enumerate(inference.violated for inference in inferences):
        if names:
            known = requirements_of(draft.op).by_id
            meaning = f" ({known[names[0]].text.rstrip('.')})" if names[0] in known and not names[1:] else ""
            sentence = f"violates {', '.join(names)}{meaning}{f' in feed {feed}' if feed else ''}"
            if draft.graph is not None and (at := violation_of(draft.graph, draft.arguments[feed].inputs)):
                sentence += f": {at[0].name} violates {at[0].op}:{', '.join(at[1])}"
            if draft.is_twin:
                raise KeyMistake("twin", f"a twin must be valid, but this one {sentence}")
            advice = f"correct the case, or write {_expectation(names[0], names[1:])}"
            about = names[0].partition(".")[0]
            key = about if about in draft.attributes or about in draft.tensors else "expect"
            raise KeyMistake(key, f"the case is expected to be accepted, but it {sentence}; {advice}")
    count = len(inferences[0].outputs)
    if count > OUTPUT_LIMIT:
        raise KeyMistake("expect", f"{count:,} outputs are over the limit of {OUTPUT_LIMIT:,}")


def _expectation(first: str, others: Sequence[str]) -> str:
    """The key that says which requirements a case violates."""
    also = f", also: [{', '.join(others)}]" if others else ""
    return f"`expect: {{reject: {first}{also}}}`"


def check_work(draft: Draft, limit: int = PRODUCT_LIMIT) -> None:
    """Check that the exact results of a valid case can be computed in the time and the memory at hand."""
    operation = draft.operation
    if not isinstance(operation, Computation):
        return
    valid = zip(draft.arguments, draft.inferences, strict=True)
    products = sum(operation.products(arguments) for arguments, inference in valid if not inference.violated)
    tensors = draft.tensors.values()
    if operation.sums and all(x.fill == "exact" and x.element_type in _SUMMED_TYPES for x in tensors):
        products //= _SUMMED
    if products > limit:
        sentence = f"its exact result needs the work of {products:,} products, over the limit of {limit:,}"
        raise KeyMistake(operation.inputs[0].name, f"{sentence}; use smaller shapes")


def _check_context(draft: Draft) -> None:
    """Check that the graph of the context can be built, and that its other operations accept their inputs."""
    outputs: list[Iterable[TensorType | Operand]] = [inference.outputs for inference in draft.inferences]
    first, *others = (len(inference.outputs) for inference in draft.inferences)
    if draft.rejected_for is not None:
        outputs = []
    elif others and others[0] != first:
        raise KeyMistake("feed", f"the second feed gives {counted(others[0], 'output')}, but the IR declares {first:,}")
    try:
        if draft.has_other_nodes:
            graph = graph_of(draft)
            outputs = [inferred(graph, draft.arguments[feed].inputs).values() for feed in range(len(outputs))]
    except ContextError as error:
        raise KeyMistake("context", str(error)) from error
    except Unknown as error:
        raise KeyMistake("context", "an operation of the graph needs elements known at run time only") from error
    except Rejection as rejection:
        violated = ", ".join(rejection.requirements)
        raise KeyMistake("context", f"another operation of the graph would violate {violated}") from rejection
    rank = max((len(type_.shape) for types in outputs for type_ in types), default=0)
    if rank > RANK:
        raise KeyMistake("expect", f"an output of {rank:,} dimensions is over the limit of {RANK}")
