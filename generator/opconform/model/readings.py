"""Where the other readings of interpretations touch a case: what they reject, and the outputs that they give."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, product

import numpy as np

from opconform.model.draft import Draft, inference
from opconform.model.evaluation import arguments_of, evaluated_arguments, read_otherwise
from opconform.model.golden import Golden
from opconform.model.graph import graph_of
from opconform.model.graph_readings import graph_readings
from opconform.operations import OPERATIONS
from opconform.operations.arguments import Arguments, NoGolden, Rejection, Unknown
from opconform.operations.interpretation import Reading
from opconform.operations.operation import Operation
from opconform.suite.case import Node
from opconform.suite.manifest import OtherReadings
from opconform.tensors.tensor import Array, Tensor, outputs_digest, patterns, with_one_nan

#: The outputs of a node.
_Outputs = tuple[Tensor, ...]
#: How another reading gives other outputs: by other arguments, or by computing otherwise.
_Way = Callable[[Arguments], Arguments | _Outputs]


def attributed(draft: Draft) -> Draft:
    """A valid draft that lists, of the interpretations with another reading, those whose other reading touches it.

    Of the requirements on values of an attribute, such as `reduction.sum`, it lists those on its own value.
    """
    draft = draft.noted(requirements=_of_values(draft))
    readings = draft.operation.readings
    if not readings:
        return draft
    touched = _touched(draft.operation, readings, ((arguments, None) for arguments in _tested(draft)))
    listed = [
        requirement
        for requirement in draft.requirements
        if requirement not in readings or requirement in touched or readings[requirement].computes
    ]
    named = tuple(dict.fromkeys((*listed, *touched)))
    bits = draft.operation.bits
    if draft.requirements and not named and bits is not None:  # what every case shows
        named = (bits,)
    return draft.noted(requirements=named)


def _of_values(draft: Draft) -> tuple[str, ...]:
    """The requirements of a draft without those on other values of its attributes, unless nothing would be left."""
    given = draft.operation.arguments({}, draft.attributes).attributes
    others = {
        f"{attribute.prefix or attribute.name}.{str(value).lower().replace('_', '-')}"
        for attribute in draft.operation.attributes
        for value in attribute.values
        if attribute.type == "enum" and value != given.get(attribute.name)
    }
    return tuple(name for name in draft.requirements if name not in others) or draft.requirements


def other_readings(golden: Golden) -> OtherReadings:
    """The interpretations by whose other readings a case may be rejected, or may have other outputs."""
    draft = golden.draft
    if draft.rejected_for is not None:
        return OtherReadings()
    if draft.graph is not None:
        return _of_graph(golden)
    if not draft.operation.readings:
        return OtherReadings()
    tested = ((arguments, None) for arguments in _tested(draft))
    whole = {name: reading for name, reading in draft.operation.readings.items() if not reading.by_element}
    touched = _touched(draft.operation, whole, chain(tested, _computed(golden)))
    ways: dict[str, tuple[_Way, ...]] = {name: (*whole[name].rewrites, *whole[name].computes) for name in touched}
    outputs, refused = _other_outputs(golden, {name: way for name, way in ways.items() if way})
    reject = tuple(name for name, rejects in touched.items() if rejects or name in refused)
    return OtherReadings(reject=reject, outputs=outputs, elements=_of_elements(golden))


def _of_elements(golden: Golden) -> tuple[str, ...]:
    found = (name for feed in golden.outputs for tensor in feed for name, _ in tensor.otherwise)
    return tuple(dict.fromkeys(found))


def _of_graph(golden: Golden) -> OtherReadings:
    """The readings of single nodes of a graph under test."""
    reject: list[str] = []
    outputs = {outputs_digest([[*map(_elements, feed)] for feed in golden.outputs]): ("",)}
    for reading in graph_readings(golden.graph, golden.tensors):
        if reading.tensors is None:
            reject.append(reading.name)
        elif not reading.by_element:
            feeds = [[_elements(feed[name]) for name in golden.graph.outputs] for feed in reading.tensors]
            outputs.setdefault(outputs_digest(feeds), (reading.name,))
    _ours, *others = outputs.items()
    return OtherReadings(reject=tuple(dict.fromkeys(reject)), outputs=dict(others), elements=_of_elements(golden))


def is_read_otherwise(operation: Operation, arguments: Arguments, outputs: _Outputs) -> bool:
    """Whether the other reading of an interpretation treats valid arguments otherwise, whose outputs are known."""
    return bool(_touched(operation, operation.readings, [(arguments, outputs)]))


def _touched(
    operation: Operation, readings: Mapping[str, Reading], tested: Iterable[tuple[Arguments, _Outputs | None]]
) -> dict[str, bool]:
    """The interpretations whose other reading touches a valid case, and whether it rejects the case.

    `tested` has the arguments of each node under test, and its outputs if they are known.
    """
    touched: dict[str, bool] = {}
    for arguments, outputs in tested:
        for name, reading in readings.items():
            rejects = _rejects(operation, reading, arguments, outputs)
            if rejects is not None:
                touched[name] = touched.get(name, False) or rejects
    return touched


def _rejects(operation: Operation, reading: Reading, arguments: Arguments, outputs: _Outputs | None) -> bool | None:
    """Whether another reading rejects the arguments; None where it treats them as ours does."""
    if reading.rejects(arguments):
        return True
    if any(_differs(operation, compute, arguments, outputs) for compute in reading.computes):
        return False
    changed = [rewritten for rewrite in reading.rewrites if (rewritten := rewrite(arguments)) != arguments]
    return any(inference(operation, x).violated for x in changed) if changed else None


def _differs(
    operation: Operation, compute: Callable[[Arguments], _Outputs], arguments: Arguments, outputs: _Outputs | None
) -> bool:
    """Whether another way of computing gives other outputs, as far as the elements are known."""
    try:
        ours = operation.evaluate(arguments) if outputs is None else outputs
        others = compute(arguments)
    except (NoGolden, Unknown):  # of a result that the page leaves undefined, the golden says so
        return False
    return any(
        not np.array_equal(patterns(np.asarray(x.array)), patterns(np.asarray(y.array)))
        for x, y in zip(others, ours, strict=True)
    )


def _tested(draft: Draft) -> Iterator[Arguments]:
    """The arguments of each node of the operation under test, in each feed."""
    if not draft.has_other_nodes:
        yield from draft.arguments
        return
    graph = graph_of(draft)
    for argument in draft.arguments:
        yield from arguments_of(draft.op, graph, argument.inputs)


def _computed(golden: Golden) -> Iterator[tuple[Arguments, _Outputs]]:
    """The arguments and outputs of each node of an operation that computes, with all elements."""
    if not golden.draft.operation.can_calculate:
        return
    for tensors in golden.tensors:
        for node in golden.graph.nodes:
            if node.op == golden.draft.op:
                yield evaluated_arguments(node, tensors), tuple(tensors[name] for name in node.outputs)


def _other_outputs(golden: Golden, ways: Mapping[str, tuple[_Way, ...]]) -> tuple[dict[str, tuple[str, ...]], set[str]]:
    """The readings by which outputs other than ours are right, by the digest of the outputs.

    These are as few readings as possible together, or each of several that give the same outputs. The second result are
    the readings by which another node rejects what the operation gives it.
    """
    ours = outputs_digest([[*map(_elements, feed)] for feed in golden.outputs])
    names_by_outputs: dict[str, tuple[str, ...]] = {}
    fewest: dict[str, int] = {}
    refused: set[str] = set()
    _ours, *choices = product(*((None, *way) for way in ways.values()))
    for chosen in sorted(choices, key=lambda choice: sum(x is not None for x in choice)):
        names = tuple(name for name, way in zip(ways, chosen, strict=True) if way is not None)
        try:
            outputs = _outputs(golden, [x for x in chosen if x is not None])
        except Rejection:
            refused.update(names if len(names) == 1 else ())
            continue
        except NoGolden:  # the outputs of this reading have no results behind them
            continue
        if outputs != ours and fewest.setdefault(outputs, len(names)) == len(names):
            names_by_outputs[outputs] = tuple(dict.fromkeys((*names_by_outputs.get(outputs, ()), *names)))
    return names_by_outputs, refused


def _outputs(golden: Golden, ways: list[_Way]) -> str:
    """The digest of the outputs of a case whose nodes of the operation under test read their arguments otherwise."""
    op = golden.draft.op

    def read(node: Node, arguments: Arguments) -> _Outputs | None:
        operation, is_ours = OPERATIONS[node.op], True
        for way in ways if node.op == op else ():
            try:
                other = way(arguments)
            except Unknown:  # this reading treats the node as ours does, and another node otherwise
                continue
            if not isinstance(other, Arguments):
                return other
            arguments, is_ours = other, False
            operation.infer(arguments)  # the next one reads valid arguments
        return None if is_ours else operation.evaluate(arguments)

    feeds = (read_otherwise(golden.graph, tensors, read) for tensors in golden.tensors)
    return outputs_digest([[_elements(feed[name]) for name in golden.graph.outputs] for feed in feeds])


def _elements(tensor: Tensor) -> Array:
    """The elements as a verdict compares them."""
    return with_one_nan(tensor.array, tensor.type) if tensor.is_computed else tensor.array
