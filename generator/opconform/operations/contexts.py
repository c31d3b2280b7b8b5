"""Contexts that several operations can be tested in: builders of graphs around the node under test.

An operation lists the ones that suit it in its declaration, bound to what they need to know of it.
"""

from collections.abc import Callable
from dataclasses import replace

from opconform.operations.operation import Arguments, ContextError, Operand, Rejection, Tested
from opconform.suite.case import Graph, Node

#: The outputs that `partial` uses: every second one, so that the first and one in the middle are not used.
_USED = slice(1, None, 2)

AxisOf = Callable[[Arguments], int | None]
Builder = Callable[[Tested], Graph]


def partial(tested: Tested) -> Graph:
    """Every second output is an output of the model; the others are used by nothing."""
    used = tested.node.outputs[_USED]
    if not used:
        raise ContextError("`partial` uses every second output, so there must be at least two")
    return Graph(nodes=(tested.node,), outputs=used)


def concat(axis_of: AxisOf) -> Builder:
    """All outputs are joined along an axis that the arguments name."""

    def build(tested: Tested) -> Graph:
        axis = axis_of(tested.arguments[0])
        if axis is None:
            raise ContextError("the outputs cannot be joined along an axis that is wrong")
        joined = _concat(tested.node.outputs, axis)
        return Graph(nodes=(tested.node, joined), outputs=joined.outputs)

    return build


def shared(axis_of: AxisOf) -> Builder:
    """Every output is one of the model, and those of the last one's shape are joined as well, along the next axis."""

    def build(tested: Tested) -> Graph:
        if not tested.outputs:
            raise ContextError("a rejected case has no outputs for the context `shared` to use")
        alike = {tuple(n for n, each in enumerate(types) if each == types[-1]) for types in tested.outputs}
        if len(alike) > 1:
            raise ContextError("`shared` joins the outputs of one shape, and in the second feed those are others")
        axis = ((axis_of(tested.arguments[0]) or 0) + 1) % len(tested.outputs[0][-1].shape)
        joined = _concat(tuple(tested.node.outputs[number] for number in next(iter(alike))), axis)
        return Graph(nodes=(tested.node, joined), outputs=(*tested.node.outputs, *joined.outputs))

    return build


def chain(port: str) -> Builder:
    """The last output goes through the same operation again, at one of its ports."""

    def build(tested: Tested) -> Graph:
        if not tested.outputs:
            raise ContextError("a rejected case has no outputs for the context `chain` to use")
        counts = set()
        for arguments, types in zip(tested.arguments, tested.outputs, strict=False):
            try:
                last = Operand(element_type=types[-1].element_type, shape=types[-1].shape)
                again = replace(arguments, inputs={**arguments.inputs, port: last})
                counts.add(len(tested.operation.infer(again)))
            except Rejection as rejection:
                violated = ", ".join(rejection.requirements)
                raise ContextError(
                    f"`chain` executes {tested.operation.name} again on the last output, and for its shape "
                    f"{list(types[-1].shape)} that violates {violated}"
                ) from rejection
        first = tested.node
        place = [each.name for each in tested.operation.inputs].index(port)
        second = replace(
            first,
            name=f"{first.name}_1",
            inputs=(*first.inputs[:place], first.outputs[-1], *first.inputs[place + 1 :]),
            outputs=tuple(f"{first.name}_1_{number}" for number in range(max(counts))),
        )
        return Graph(nodes=(first, second), outputs=(*first.outputs[:-1], *second.outputs))

    return build


def _concat(names: tuple[str, ...], axis: int) -> Node:
    return Node(name="Concat", op="Concat-1", inputs=names, outputs=("Concat_0",), attributes={"axis": axis})
