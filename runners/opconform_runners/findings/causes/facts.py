"""Facts about a case, in words, by which failing cases can differ from passing ones.

They follow from the case, the values of its inputs and the declaration of its operation; no fact is of one operation.
A fact about an inference, such as a shape or a value, is a fact about the case if one of its feeds has it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from opconform.explanation.reference import contexts_of, declaration_of
from opconform.suite.case import Accept, Case, Input, Reject
from opconform.suite.declarations import Declaration, Port
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.findings.causes.alternatives import context_fact, is_violation, operation_fact
from opconform_runners.findings.causes.misreadings import readings_of
from opconform_runners.findings.causes.tensor_facts import (
    SCALARS,
    facts_that_hold,
    is_phrase,
    numbers_of,
    packing_facts,
    shape_facts,
    size_facts,
    type_facts,
    value_facts,
    width_facts,
    width_of,
)

#: Facts about how the graph and an input reach the backend.
_OF_GRAPHS = frozenset(
    {
        "there are two inferences",
        "all inputs are constant",
        "an input shape is dynamic",
        "no input shape is dynamic",
        "all shapes are static",
        "a shape is known only at run time",
        "there are several outputs",
        "a required input or attribute is omitted",
    }
)
_DELIVERED = frozenset(
    {
        "is constant",
        "is given at run time",
        "is omitted",
        "has static dimensions",
        "has a dynamic rank",
        "has dynamic dimensions",
        "has dimensions of any size",
        "has bounded dimensions",
    }
)
#: What follows the name of an attribute.
_ATTRIBUTE = re.compile(r"is empty|is omitted|(is|has) ('[^']*'|-?\d[\w.+-]*|True|False|inf|nan|-inf)")


def facts_of(
    case: Case, feeds: Sequence[Mapping[str, Array]], expected: Sequence[Mapping[str, Array]]
) -> frozenset[str]:
    """The facts about a case, of which `feeds` has the inputs by name, in their storage dtypes.

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


def support_facts(case: Case, feeds: Sequence[Mapping[str, Array]]) -> frozenset[str]:
    """The facts by which rules say what a backend supports: what is known of a case without the values of its data.

    `feeds` has the inputs by name, in their storage dtypes; it is empty for a case that is too large to be read.
    """
    declaration = declaration_of(case.op)
    facts = [*_of_graph(case), *_of_attributes(case)]
    for input_ in case.inputs:
        kind = ELEMENT_TYPES[input_.element_type]
        words = [*_delivered(input_), *type_facts(kind)]
        for shape in [feed[input_.name].shape for feed in feeds] or [input_.shape]:
            words += shape_facts(shape, kind)
        if kind.is_integer and _is_setting(input_, declaration):
            tensors = (Tensor(element_type=input_.element_type, array=feed[input_.name]) for feed in feeds)
            words += (fact for tensor in tensors for fact in value_facts(tensor))
        facts += (f"{name} {phrase}" for phrase in words for name in _names(declaration, input_))
    if isinstance(case.expect, Reject):
        facts.append(f"{case.expect.reject} is violated")
    return frozenset(facts)


def is_support_fact(fact: str, op: str) -> bool:
    """Whether words can be a fact about a case of an operation in `support_facts`, other than its name."""
    declaration = declaration_of(op)
    if declaration is None:
        raise LookupError(f"the operation {op} is unknown")
    contexts = map(context_fact, (*contexts_of(op), "then"))
    if fact in _OF_GRAPHS or fact in contexts or is_violation(fact):
        return True
    attributes = {attribute.name for attribute in declaration.attributes}
    for name in ("data", "a setting input", *(port.name for port in declaration.inputs), *attributes):
        if fact.startswith(f"{name} "):
            words = fact.removeprefix(f"{name} ")
            if words in _DELIVERED or is_phrase(words) or (name in attributes and _ATTRIBUTE.fullmatch(words)):
                return True
    return False


def _of_feed(case: Case, feed: Mapping[str, Array]) -> Iterator[str]:
    tensors = {input_.name: Tensor(element_type=input_.element_type, array=feed[input_.name]) for input_ in case.inputs}
    yield from _of_inputs(case, tensors)
    yield from _of_lengths(case, tensors)
    yield from _of_indices(case, tensors)


def _of_graph(case: Case) -> Iterator[str]:
    yield operation_fact(case.op)
    if case.context != "bare":
        yield context_fact(case.context)
    if case.feeds > 1:
        yield "there are two inferences"
    if all(input_.binding == "constant" for input_ in case.inputs):
        yield "all inputs are constant"
    if any(input_.dynamic is not None for input_ in case.inputs):
        yield "an input shape is dynamic"
    else:
        yield "no input shape is dynamic"
    if all(input_.dynamic is None for input_ in case.inputs) and all(
        input_.binding == "constant" for input_ in case.inputs if input_.role == "setting"
    ):
        yield "all shapes are static"
    else:
        yield "a shape is known only at run time"
    outputs = case.expect.accept if isinstance(case.expect, Accept) else ()
    if len(outputs) > 1:
        yield "there are several outputs"


def _of_inputs(case: Case, tensors: Mapping[str, Tensor]) -> Iterator[str]:
    declaration = declaration_of(case.op)
    for input_ in case.inputs:
        tensor = tensors[input_.name]
        sizes = () if _is_setting(input_, declaration) else size_facts(tensor.shape)
        for words in (
            *sizes,
            *_delivered(input_),
            *type_facts(tensor.type),
            *shape_facts(tensor.shape, tensor.type),
            *value_facts(tensor),
        ):
            yield from (f"{name} {words}" for name in _names(declaration, input_))


def _of_outputs(case: Case, feed: Mapping[str, Array]) -> Iterator[str]:
    for output in case.expect.accept if isinstance(case.expect, Accept) else ():
        if output.name in feed:
            tensor = Tensor(element_type=output.element_type, array=feed[output.name])
            facts = (*packing_facts(tensor.shape, tensor.type), *value_facts(tensor))
            yield from (f"an output {words}" for words in facts)
            if 0 in tensor.shape:
                yield "an output is empty"
            if not tensor.shape:
                yield "an output is a scalar"


def _of_differences(case: Case, feeds: Sequence[Mapping[str, Array]]) -> Iterator[str]:
    """How the shapes of one input differ between the feeds."""
    for input_ in case.inputs:
        shapes = {feed[input_.name].shape for feed in feeds}
        words = ["has another shape in the second inference"] if len(shapes) > 1 else []
        if len({0 in shape for shape in shapes}) > 1:
            words.append("is empty in one inference")
        yield from (f"{name} {phrase}" for phrase in words for name in _names(declaration_of(case.op), input_))


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


def _delivered(input_: Input) -> Iterator[str]:
    if input_.binding == "constant":
        yield "is constant"
    else:
        yield "is given at run time"
    if input_.dynamic is None:
        yield "has static dimensions"
    elif input_.dynamic == "...":
        yield "has a dynamic rank"
    else:
        yield "has dynamic dimensions"
        if "?" in input_.dynamic:
            yield "has dimensions of any size"
        if any(".." in str(size) for size in input_.dynamic):
            yield "has bounded dimensions"


def _of_attributes(case: Case) -> Iterator[str]:
    declaration = declaration_of(case.op)
    if declaration is not None:
        yield from (
            f"{attribute.name} is omitted"
            for attribute in declaration.attributes
            if attribute.name not in case.attributes
        )
        required = {attribute.name for attribute in declaration.attributes if attribute.default is None}
        names = [*case.node.inputs, *[None] * len(declaration.inputs)]
        omitted = [port for port, name in zip(declaration.inputs, names, strict=False) if name is None]
        if required - case.attributes.keys() or any(not n.optional for n in omitted):
            yield "a required input or attribute is omitted"
        yield from (f"{n.name} is omitted" for n in omitted if not n.variadic)
    for name, value in case.attributes.items():
        if isinstance(value, tuple | list):
            yield from (f"{name} has {x!r}" for x in value)
            yield from () if value else (f"{name} is empty",)
        else:
            yield f"{name} is {value!r}"
            if isinstance(value, int):
                yield from (f"{name} {words}" for words in facts_that_hold(SCALARS, np.array([value])))
                yield from width_facts(width_of(value), f"{name} is")


def _of_lengths(case: Case, tensors: Mapping[str, Tensor]) -> Iterator[str]:
    """How the lengths of lists compare with that of the first one, and with the number of dimensions of the data."""
    attributes = {name: len(value) for name, value in case.attributes.items() if isinstance(value, tuple | list)}
    if len({attribute for attribute in attributes.values() if attribute}) > 1:
        yield "the list attributes differ in length"
    shapes = {input_.name: tensors[input_.name].shape for input_ in case.inputs if input_.role == "setting"}
    lists = {name: shape[0] for name, shape in shapes.items() if len(shape) == 1} | attributes
    against = {f"than {name}": length for name, length in [*lists.items()][:1]}
    if case.inputs and case.inputs[0].role == "data":
        against["than data has dimensions"] = len(tensors[case.inputs[0].name].shape)
    for name, length in lists.items():
        for words, reference in against.items():
            if length != reference:
                yield f"{name} has {'fewer' if length < reference else 'more'} elements {words}"


def _of_indices(case: Case, tensors: Mapping[str, Tensor]) -> Iterator[str]:
    """Which setting inputs have values that are too large to be an index of data."""
    size = max((size for input_ in case.inputs[:1] for size in tensors[input_.name].shape), default=None)
    for input_ in case.inputs:
        if size is not None and input_.role == "setting" and tensors[input_.name].type.is_integer:
            numbers = numbers_of(tensors[input_.name])
            if ((numbers >= size) | (numbers < -size)).any():
                yield f"{input_.name} has a value that is not an index of any dimension of data"
