"""Trials: drawn cases with the expectation that the reference semantics give them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from opconform.generation.identity.tensor_keys import RANK as LARGEST_RANK
from opconform.generation.validation import check_surroundings, check_work
from opconform.model.draft import Draft, TensorDraft
from opconform.model.evaluation import inferred
from opconform.model.golden import golden_of, neighbour_check_of, proves_nothing
from opconform.model.graph import declared, graph_of
from opconform.model.readings import attributed
from opconform.operations.arguments import Arguments, NoGolden, Rejection, TensorType, Unknown
from opconform.operations.contract import ContextError
from opconform.operations.operation import Movement, Operation
from opconform.specs.requirements import requirements_of
from opconform.specs.yaml_document import KeyMistake
from opconform.suite.case import Attribute, Binding, Dynamic
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.literals import Element, checked
from opconform_runners.tools.fuzz.graphs.exactness import is_sure

#: The group of drawn cases, which is also their profile.
GROUP = "fuzz"
#: The most elements of a tensor, dimensions, outputs, and elements of all outputs of a drawn case.
ELEMENTS = 4_096
RANK = 8
OUTPUTS = 64
OUTPUT_ELEMENTS = 1 << 15
#: The most work of its exact results, in products: a tenth of a second for most operations, and two for MVN.
WORK = 40_000
#: The most elements of an empty tensor if its dimensions of 0 are left out: numpy cannot make arrays of more bytes than
#: 63 bits count, even without elements.
ADDRESSED = 1 << 48


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """A drawn case; an invalid one has the valid twin that it was changed from."""

    draft: Draft
    twin: Draft | None = None

    @property
    def drafts(self) -> tuple[Draft, ...]:
        """The cases to execute."""
        return (self.draft,) if self.twin is None else (self.draft, self.twin)


def drawn(
    operation: Operation, tensors: Mapping[str, TensorDraft], attributes: Mapping[str, Attribute] | None = None
) -> Draft:
    """The draft of a case without context, with setting inputs as constants."""
    return Draft(
        op=operation.name,
        group=GROUP,
        title="A case drawn by opconform fuzz",
        profile=GROUP,
        requirements=(),
        seen=(),
        where=GROUP,
        attributes=attributes or {},
        tensors=tensors,
        second=None,
        binding=default_binding(operation, tensors),
        dynamic={},
        context="bare",
    )


def default_binding(operation: Operation, tensors: Mapping[str, TensorDraft]) -> dict[str, Binding]:
    """Tensors are fed at run time, and setting inputs are constants."""
    return {name: "parameter" if operation.port_of(name).role == "data" else "constant" for name in tensors}


def decided(draft: Draft) -> Draft | None:
    """The draft with its expectation; None if no model has it, it is too large, or it violates several requirements.

    A violation counts in the last feed, and the feeds before it must be valid.
    """
    second = None if draft.second is None else _with_whole_lists(draft.operation, draft.tensors, draft.second)
    draft = replace(draft, second=second, rejected_for=None, twin=None, requirements=())
    if not all(is_expressible(tensor) for feed in draft.feeds for tensor in feed.values()):
        return None
    if any((draft.operation.requested_outputs(argument) or 0) > OUTPUTS for argument in draft.arguments):
        return None
    if any(draft.operation.port_of(name).constant for name, word in draft.binding.items() if word == "parameter"):
        return None
    try:
        *before, last = [_outputs(draft.operation, argument) for argument in draft.arguments]
        violated = last.requirements if isinstance(last, Rejection) else ()
        if len(violated) > 1 or any(isinstance(x, Rejection) for x in before):
            return None
        valid = draft.arguments[:-1] if violated else draft.arguments
        if any(_may_lack_a_result(draft.operation, arguments) for arguments in valid):
            return None
    except Unknown:  # elements that are filled in later decide the shapes, or how the outputs are made
        return None
    if not violated and not all(is_small(x) for x in (*before, last)):
        return None
    draft = replace(draft, rejected_for=next(iter(violated), None), requirements=violated or _requirements(draft))
    try:
        check_work(draft, WORK)
        if draft.second is not None or draft.has_other_nodes:
            check_surroundings(draft)
    except KeyMistake:
        return None
    if violated and draft.has_other_nodes and not _is_violated_in_its_graph(draft):
        return None
    return draft if violated else attributed(draft)


def _may_lack_a_result(operation: Operation, arguments: Arguments) -> bool:
    """Whether an operation may have no exact result for drawn elements."""
    if isinstance(operation, Movement):
        return operation.calculates(arguments)
    return operation.needs_written_elements(arguments)


def _is_violated_in_its_graph(draft: Draft) -> bool:
    """Whether other nodes leave what the last feed of an invalid case violates as it is, as far as it is inferred.

    A node that converts a setting may make its type valid, and another one may reject its own input before.
    """
    try:
        inferred(graph_of(draft), draft.arguments[-1].inputs)
    except Rejection as rejection:
        return draft.rejected_for in rejection.requirements
    except Unknown:
        return True
    return False


def is_defined(trial: Trial, seed: int, *, is_drawn: bool = True) -> bool:
    """Whether the cases have results, with the elements that the seed gives them, and results that prove something.

    The results of a graph that is drawn must be sure. A node whose input has a shape that follows from elements may
    reject the shape that those of the seed give.
    """
    try:
        return all(_has_results(draft, seed, is_drawn=is_drawn) for draft in trial.drafts)
    except (ContextError, MemoryError, NoGolden, OverflowError, Rejection, Unknown):
        return False


def _has_results(draft: Draft, seed: int, *, is_drawn: bool) -> bool:
    """Whether the reference semantics give a case small results that prove something; they raise where they give none.

    Of an operation that only moves elements, each to places of its own, they always do.
    """
    operation = draft.operation
    is_placed = isinstance(operation, Movement) and operation.calculation is None and operation.also is None
    if is_placed and not draft.has_other_nodes:
        return True
    graph = graph_of(draft)
    declared(draft, graph)
    feeds = draft.arguments if draft.rejected_for is None else ()
    types = [inferred(graph, argument.inputs).values() for argument in feeds]
    if not all(is_small([TensorType(element_type=x.element_type, shape=x.shape) for x in feed]) for feed in types):
        return False
    golden = golden_of(draft, seed)
    neighbour_check_of(golden)
    return not proves_nothing(golden) and (draft.graph is None or not is_drawn or is_sure(golden))


def trial_of(draft: Draft, twin: Draft) -> Trial:
    """The trial of an invalid case, which names its twin; the second feed of the twin has the same tensors."""
    if draft.second is not None and twin.second is not None:
        first = {name: tensor for name, tensor in twin.tensors.items() if name in draft.second}
        twin = replace(twin, second={**first, **twin.second})
    twin = attributed(replace(twin, is_twin=True, requirements=draft.requirements))
    return Trial(draft=replace(draft, twin=twin.id), twin=twin)


def with_tensors(draft: Draft, tensors: Mapping[str, TensorDraft]) -> Draft:
    """The draft with other tensors: what is declared about tensors that changed or went is dropped."""
    binding = {**default_binding(draft.operation, tensors), **draft.binding}
    if draft.context == "folded":
        binding = dict.fromkeys(tensors, "constant")
    second = {name: x for name, x in (draft.second or {}).items() if tensors.get(name) == draft.tensors.get(name)}
    return replace(
        draft,
        tensors=tensors,
        binding={name: binding[name] for name in tensors},
        dynamic={name: x for name, x in draft.dynamic.items() if _still_fits(x, tensors.get(name))},
        second=second or None,
    )


def _still_fits(dynamic: Dynamic, tensor: TensorDraft | None) -> bool:
    if tensor is None or dynamic == "...":
        return tensor is not None
    return set(dynamic) == {"?"} and len(dynamic) == len(tensor.shape)


def resized(tensor: TensorDraft, shape: Sequence[int], random: Random | None = None) -> TensorDraft:
    """A tensor of another shape; written elements are repeated, dropped, or drawn, unless no drawn case has so many."""
    count, elements = math.prod(shape), tensor.elements
    if tensor.fill != "values" or count > ELEMENTS:
        return replace(tensor, shape=tuple(shape))
    source = elements or tuple(_new_element(tensor.element_type, random) for _ in range(count))
    return replace(tensor, shape=tuple(shape), elements=tuple(source[index % len(source)] for index in range(count)))


def _new_element(element_type: str, random: Random | None) -> Element:
    """A small number as an element, or an empty string."""
    number = random.randrange(3) if random else 0
    kind = ELEMENT_TYPES[element_type].kind
    return "" if kind == "string" else float(number) if kind == "float" else number


def _with_whole_lists(
    operation: Operation, tensors: Mapping[str, TensorDraft], second: Mapping[str, TensorDraft]
) -> Mapping[str, TensorDraft]:
    """A second feed that has all tensors of a variadic port or none, as a spec writes them."""
    variadic = {operation.port_of(name) for name in second if operation.port_of(name).variadic}
    named = [name for name in tensors if name in second or operation.port_of(name) in variadic]
    return {name: second.get(name, tensors[name]) for name in named}


def _requirements(draft: Draft) -> tuple[str, ...]:
    """The requirements of a valid case: the exact bits or values, and the bits of NaNs if it can have any."""
    bits, establishes = draft.operation.bits, requirements_of(draft.op).establishes
    has_floats = any(ELEMENT_TYPES[tensor.element_type].kind == "float" for tensor in draft.tensors.values())
    about_nans = establishes.get("nan-payload", ()) if has_floats else ()
    return (*([bits] if bits else establishes.get("value", ())[:1]), *about_nans)


def _outputs(operation: Operation, arguments: Arguments) -> Sequence[TensorType] | Rejection:
    """The types of the outputs, or what the arguments violate."""
    try:
        return operation.infer(arguments)
    except Rejection as rejection:
        return rejection


def is_small(outputs: Sequence[TensorType] | Rejection) -> bool:
    """Whether outputs have few elements together; a rejection has none."""
    shapes = [] if isinstance(outputs, Rejection) else [output.shape for output in outputs]
    return sum(map(math.prod, shapes)) <= OUTPUT_ELEMENTS and all(map(_is_possible, shapes))


def _is_possible(shape: Sequence[int]) -> bool:
    """Whether numpy can make an array of this shape, even without elements."""
    return len(shape) <= LARGEST_RANK and math.prod(size or 1 for size in shape) <= ADDRESSED


def is_expressible(tensor: TensorDraft) -> bool:
    """Whether a tensor is small and its elements are in the range of its type."""
    shape = tensor.shape
    if len(shape) > RANK or min(shape, default=0) < 0 or math.prod(shape) > ELEMENTS or not _is_possible(shape):
        return False
    if tensor.fill != "values":
        return True
    try:
        are_normal = all(checked(tensor.element_type, element) == element for element in tensor.elements)
    except ValueError:
        return False
    return are_normal and len(tensor.elements) == math.prod(tensor.shape)
