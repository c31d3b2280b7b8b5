"""Facts about a case, by which failing cases can differ from passing ones.

They follow from the case, the values of its inputs and the declaration of its operation; no fact is of one operation.
A fact about an inference, such as a shape or a value, is a fact about the case if one of its feeds has it.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from opconform.explanation.reference import declaration_of
from opconform.suite.case import Accept, Case, Input, Reject
from opconform.suite.declarations import Declaration, Port
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.findings.causes.fact import (
    DYNAMIC_SHAPE,
    NO_DYNAMIC_SHAPE,
    TWO_INFERENCES,
    Fact,
    Phrase,
    context_fact,
    operation_fact,
    violation_fact,
)
from opconform_runners.findings.causes.misreadings import readings_of
from opconform_runners.findings.causes.tensor_facts import (
    SCALARS,
    facts_that_hold,
    integers_of,
    packing_facts,
    shape_facts,
    size_facts,
    type_facts,
    value_facts,
    width_facts,
    width_of,
)

_CONSTANT_INPUTS = Fact("all inputs", "are constant")
_STATIC_SHAPES = Fact("all shapes", "are static")
_UNKNOWN_SHAPE = Fact("a shape", "is known only at run time")
_SEVERAL_OUTPUTS = Fact("there are", "several outputs")
_OMITTED = Fact("a required input or attribute", "is omitted")
#: Facts about the graph.
OF_GRAPHS = (
    TWO_INFERENCES,
    DYNAMIC_SHAPE,
    NO_DYNAMIC_SHAPE,
    _CONSTANT_INPUTS,
    _STATIC_SHAPES,
    _UNKNOWN_SHAPE,
    _SEVERAL_OUTPUTS,
    _OMITTED,
)
_OUTPUT = "an output"
#: How an input can reach the backend, as predicates.
DELIVERED = (
    "is constant",
    "is given at run time",
    "is omitted",
    "has static dimensions",
    "has a dynamic rank",
    "has dynamic dimensions",
    "has dimensions of any size",
    "has bounded dimensions",
)


def facts_of(
    case: Case, feeds: Sequence[Mapping[str, Array]], expected: Sequence[Mapping[str, Array]]
) -> frozenset[Fact]:
    """The facts about a case. `feeds` has its inputs by name, in their storage dtypes.

    `expected` has the expected outputs of each feed that has any.
    """
    declaration = declaration_of(case.op)
    settings = [input_ for input_ in case.inputs if _is_setting(input_, declaration)]
    return frozenset(
        (
            *_of_graph(case),
            *_of_attributes(case),
            *_of_differences(case, feeds),
            *(fact for feed in feeds for fact in _of_feed(case, feed)),
            *(fact for feed in expected for fact in _of_outputs(case, feed)),
            *readings_of(case, feeds, settings),
        )
    )


def support_facts(case: Case, feeds: Sequence[Mapping[str, Array]]) -> frozenset[Fact]:
    """The facts by which rules say what a backend supports: what is known of a case without the values of its data.

    `feeds` has the inputs by name, in their storage dtypes; it is empty for a case that is too large to be read.
    """
    declaration = declaration_of(case.op)
    facts = [*_of_graph(case), *_of_attributes(case)]
    for input_ in case.inputs:
        kind = ELEMENT_TYPES[input_.element_type]
        phrases: list[Phrase] = [*_delivered(input_), *type_facts(kind)]
        for shape in [feed[input_.name].shape for feed in feeds] or [input_.shape]:
            phrases += shape_facts(shape, kind)
        if kind.is_integer and _is_setting(input_, declaration):
            tensors = (Tensor(element_type=input_.element_type, array=feed[input_.name]) for feed in feeds)
            phrases += (phrase for tensor in tensors for phrase in value_facts(tensor))
        facts += (Fact(name, *phrase) for phrase in phrases for name in _names(declaration, input_))
    if isinstance(case.expect, Reject):
        facts.append(violation_fact(case.expect.reject))
    return frozenset(facts)


def _of_feed(case: Case, feed: Mapping[str, Array]) -> Iterator[Fact]:
    tensors = {input_.name: Tensor(element_type=input_.element_type, array=feed[input_.name]) for input_ in case.inputs}
    yield from _of_inputs(case, tensors)
    yield from _of_lengths(case, tensors)
    yield from _of_indices(case, tensors)


def _of_graph(case: Case) -> Iterator[Fact]:
    yield operation_fact(case.op)
    if case.context != "bare":
        yield context_fact(case.context)
    if case.feeds > 1:
        yield TWO_INFERENCES
    if all(input_.binding == "constant" for input_ in case.inputs):
        yield _CONSTANT_INPUTS
    if any(input_.dynamic is not None for input_ in case.inputs):
        yield DYNAMIC_SHAPE
    else:
        yield NO_DYNAMIC_SHAPE
    if all(input_.dynamic is None for input_ in case.inputs) and all(
        input_.binding == "constant" for input_ in case.inputs if input_.role == "setting"
    ):
        yield _STATIC_SHAPES
    else:
        yield _UNKNOWN_SHAPE
    outputs = case.expect.accept if isinstance(case.expect, Accept) else ()
    if len(outputs) > 1:
        yield _SEVERAL_OUTPUTS


def _of_inputs(case: Case, tensors: Mapping[str, Tensor]) -> Iterator[Fact]:
    declaration = declaration_of(case.op)
    for input_ in case.inputs:
        tensor = tensors[input_.name]
        sizes = () if _is_setting(input_, declaration) else size_facts(tensor.shape)
        for phrase in (
            *sizes,
            *_delivered(input_),
            *type_facts(tensor.type),
            *shape_facts(tensor.shape, tensor.type),
            *value_facts(tensor),
        ):
            yield from (Fact(name, *phrase) for name in _names(declaration, input_))


def _of_outputs(case: Case, feed: Mapping[str, Array]) -> Iterator[Fact]:
    for output in case.expect.accept if isinstance(case.expect, Accept) else ():
        if output.name in feed:
            tensor = Tensor(element_type=output.element_type, array=feed[output.name])
            phrases = (*packing_facts(tensor.shape, tensor.type), *value_facts(tensor))
            yield from (Fact(_OUTPUT, *phrase) for phrase in phrases)
            if 0 in tensor.shape:
                yield Fact(_OUTPUT, "is empty")
            if not tensor.shape:
                yield Fact(_OUTPUT, "is a scalar")


def _of_differences(case: Case, feeds: Sequence[Mapping[str, Array]]) -> Iterator[Fact]:
    """How the shapes of one input differ between the feeds."""
    for input_ in case.inputs:
        shapes = {feed[input_.name].shape for feed in feeds}
        predicates = ["has another shape in the second inference"] if len(shapes) > 1 else []
        if len({0 in shape for shape in shapes}) > 1:
            predicates.append("is empty in one inference")
        yield from (Fact(name, x) for x in predicates for name in _names(declaration_of(case.op), input_))


def _names(declaration: Declaration | None, input_: Input) -> tuple[str, ...]:
    """How facts name an input: `data` is the first input of any operation."""
    if declaration is not None and _port(declaration, input_) is declaration.inputs[0]:
        return ("data",)
    return (input_.name, "a setting input") if _is_setting(input_, declaration) else (input_.name,)


def _is_setting(input_: Input, declaration: Declaration | None) -> bool:
    """Whether an input decides what the operation does, such as the indices of `Gather`."""
    port = _port(declaration, input_)
    return input_.role == "setting" or (port is not None and port.setting)


def _port(declaration: Declaration | None, input_: Input) -> Port | None:
    ports = () if declaration is None else declaration.inputs
    return next((port for port in ports if port.takes(input_.name)), None)


def _delivered(input_: Input) -> Iterator[Phrase]:
    if input_.binding == "constant":
        yield "is constant", ""
    else:
        yield "is given at run time", ""
    if input_.dynamic is None:
        yield "has static dimensions", ""
    elif input_.dynamic == "...":
        yield "has a dynamic rank", ""
    else:
        yield "has dynamic dimensions", ""
        if "?" in input_.dynamic:
            yield "has dimensions of any size", ""
        if any(".." in str(size) for size in input_.dynamic):
            yield "has bounded dimensions", ""


def _of_attributes(case: Case) -> Iterator[Fact]:
    declaration = declaration_of(case.op)
    if declaration is not None:
        yield from (
            Fact(attribute.name, "is omitted")
            for attribute in declaration.attributes
            if attribute.name not in case.attributes
        )
        required = {attribute.name for attribute in declaration.attributes if attribute.default is None}
        names = [*case.node.inputs, *[None] * len(declaration.inputs)]
        omitted = [port for port, name in zip(declaration.inputs, names, strict=False) if name is None]
        if required - case.attributes.keys() or any(not port.optional for port in omitted):
            yield _OMITTED
        yield from (Fact(port.name, "is omitted") for port in omitted if not port.variadic)
    for name, value in case.attributes.items():
        if isinstance(value, tuple | list):
            yield from (Fact(name, "has", repr(x)) for x in value)
            yield from () if value else (Fact(name, "is empty"),)
        else:
            yield Fact(name, "is", repr(value))
            if isinstance(value, int):
                phrases = (*facts_that_hold(SCALARS, np.array([value])), *width_facts(width_of(value), "is beyond"))
                yield from (Fact(name, *phrase) for phrase in phrases)


def _of_lengths(case: Case, tensors: Mapping[str, Tensor]) -> Iterator[Fact]:
    """How the lengths of lists compare with the length of the first one, and with the rank of the data."""
    attributes = {name: len(value) for name, value in case.attributes.items() if isinstance(value, tuple | list)}
    if len({attribute for attribute in attributes.values() if attribute}) > 1:
        yield Fact("the list attributes", "differ in length")
    shapes = {input_.name: tensors[input_.name].shape for input_ in case.inputs if input_.role == "setting"}
    lists = {name: shape[0] for name, shape in shapes.items() if len(shape) == 1} | attributes
    against = dict([*lists.items()][:1])
    if case.inputs and case.inputs[0].role == "data":
        against["data has dimensions"] = len(tensors[case.inputs[0].name].shape)
    for name, length in lists.items():
        for other, reference in against.items():
            if length != reference:
                yield Fact(name, f"has {'fewer' if length < reference else 'more'} elements than", other)


def _of_indices(case: Case, tensors: Mapping[str, Tensor]) -> Iterator[Fact]:
    """Which setting inputs have values that are too large to be an index of data."""
    size = max((size for input_ in case.inputs[:1] for size in tensors[input_.name].shape), default=None)
    for input_ in case.inputs:
        if size is not None and input_.role == "setting" and tensors[input_.name].type.is_integer:
            numbers = integers_of(tensors[input_.name])
            if ((numbers >= size) | (numbers < -size)).any():
                yield Fact(input_.name, "has a value that is not an index of any dimension of data")
