"""Contexts that several operations can be tested in: builders of graphs around the node under test.

The declaration of an operation lists the ones that it supports, with the details that they need.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby

from opconform.operations.arguments import Arguments, Operand, Rejection, Unknown
from opconform.operations.contract import ContextError, Tested
from opconform.suite.case import Attribute, Graph, Node, Shape
from opconform.tensors.element_types import ELEMENT_TYPES

#: The outputs that `partial` uses: every second one, so that the first and one in the middle are not used.
_USED = slice(1, None, 2)

AxisOf = Callable[[Arguments], int]
OrderOf = Callable[[Arguments], Sequence[int]]
Builder = Callable[[Tested], Graph]


def partial(tested: Tested) -> Graph:
    """Every second output is an output of the model; the others are unused."""
    used = tested.node.outputs[_USED]
    if not used:
        raise ContextError("`partial` uses every second output, so there must be at least two")
    return Graph(nodes=(tested.node,), outputs=used)


def concat(axis_of: AxisOf) -> Builder:
    """All outputs are joined along an axis that the arguments name."""

    def build(tested: Tested) -> Graph:
        axis = _axis(tested, axis_of)
        if axis is None:
            raise ContextError("the outputs cannot be joined along an invalid axis")
        joined = _concat(tested, tested.node.outputs, axis)
        return Graph(nodes=(tested.node, joined), outputs=joined.outputs)

    return build


def shared(axis_of: AxisOf) -> Builder:
    """Every output is one of the model, and those of the last one's shape are joined as well, along the next axis."""

    def build(tested: Tested) -> Graph:
        if not tested.outputs:
            raise ContextError("an invalid case has no outputs for the context `shared` to use")
        alike = {tuple(n for n, type_ in enumerate(types) if type_ == types[-1]) for types in tested.outputs}
        if len(alike) > 1:
            raise ContextError("`shared` joins outputs of one shape, but their shapes differ in the second feed")
        axis = (axis_of(tested.arguments[0]) + 1) % len(tested.outputs[0][-1].shape)
        joined = _concat(tested, tuple(tested.node.outputs[number] for number in next(iter(alike))), axis)
        return Graph(nodes=(tested.node, joined), outputs=(*tested.node.outputs, *joined.outputs))

    return build


def chain(port: str) -> Builder:
    """The last output goes through the same operation again, at one of its ports."""

    def build(tested: Tested) -> Graph:
        if not tested.outputs:
            raise ContextError("an invalid case has no outputs for the context `chain` to use")
        counts = set()
        for arguments, types in zip(tested.arguments, tested.outputs, strict=False):
            try:
                last = Operand(element_type=types[-1].element_type, shape=types[-1].shape)
                again = replace(arguments, inputs={**arguments.inputs, port: last})
                counts.add(len(tested.operation.infer(again)))
            except Rejection as rejection:
                violated = ", ".join(rejection.requirements)
                raise ContextError(
                    f"`chain` executes {tested.operation.name} again on the last output, whose shape "
                    f"{list(types[-1].shape)} violates {violated}"
                ) from rejection
        first = tested.node
        names = [name for input_ in tested.operation.inputs for name in input_.names(len(first.inputs))]
        place = names.index(port)
        second = replace(
            first,
            name=f"{first.name}_1",
            inputs=(*first.inputs[:place], first.outputs[-1], *first.inputs[place + 1 :]),
            outputs=tuple(f"{first.name}_1_{number}" for number in range(max(counts))),
        )
        return Graph(nodes=(first, second), outputs=(*first.outputs[:-1], *second.outputs))

    return build


def repeated(tested: Tested) -> Graph:
    """Every input is connected twice: once in order, and then all of them again."""
    node = replace(tested.node, inputs=tested.node.inputs * 2)
    return Graph(nodes=(node,), outputs=node.outputs)


def doubled(axis_of: AxisOf) -> Builder:
    """The output is one of the model, and it is also joined with itself, along the axis after the named one."""

    def build(tested: Tested) -> Graph:
        axis = _axis(tested, axis_of)
        if axis is None or not tested.outputs:
            raise ContextError("an invalid case has no output for the context `doubled` to use")
        if not all(types[0].shape for types in tested.outputs):
            raise ContextError("an output of rank 0 has no axis along which the context `doubled` could join it")
        joined = _concat(tested, tested.node.outputs * 2, (axis + 1) % len(tested.outputs[0][0].shape))
        return Graph(nodes=(tested.node, joined), outputs=(*tested.node.outputs, *joined.outputs))

    return build


def restored(source: str, **attributes: Attribute) -> Builder:
    """The output is one of the model, and also goes through the same operation again, back to the shape of an input.

    The model computes that shape, which is the last input of the second node; `attributes` are that node's.
    """

    def build(tested: Tested) -> Graph:
        node, names = tested.node, [input_.name for input_ in tested.operation.inputs]
        tensor = node.inputs[names.index(source)] if tested.outputs else None
        if tensor is None:
            raise ContextError("an invalid case has no output for the context `restored` to use")
        shape = computing("ShapeOf", "ShapeOf-3", (tensor,), output_type="i64")
        inputs = (*node.outputs, *shape.outputs)
        again = computing(f"{node.name}_1", node.op, inputs, **attributes)
        return Graph(nodes=(node, shape, again), outputs=(*node.outputs, *again.outputs))

    return build


def split(axis_of: AxisOf) -> Builder:
    """The inputs are joined along an axis that the arguments name, and split again, before they are used."""

    def build(tested: Tested) -> Graph:
        axis, inputs = _axis(tested, axis_of), tested.node.inputs
        if axis is None or not tested.outputs:
            raise ContextError("an invalid case has no axis along which the context `split` could split its inputs")
        sizes = {tuple(input_.shape[axis] for input_ in arguments.inputs.values()) for arguments in tested.arguments}
        if len(sizes) > 1 or any(name is None for name in inputs):
            raise ContextError("`split` has constant lengths, but the second feed changes the sizes of the inputs")
        joined = _concat(tested, tuple(name for name in inputs if name is not None), axis)
        along = constant("SplitAxis", "i64", (), [axis])
        lengths = constant("SplitLengths", "i64", (len(inputs),), next(iter(sizes)))
        parts = Node(
            name="VariadicSplit",
            op="VariadicSplit-1",
            inputs=(*joined.outputs, *along.outputs, *lengths.outputs),
            outputs=tuple(f"VariadicSplit_{number}" for number in range(len(inputs))),
        )
        node = replace(tested.node, inputs=parts.outputs)
        return Graph(nodes=(joined, along, lengths, parts, node), outputs=node.outputs)

    return build


def inverse(order_of: OrderOf) -> Builder:
    """The dimensions of the output are put back into their order, so that the model's output is its first input."""

    def build(tested: Tested) -> Graph:
        order = _one_order(tested, order_of, "inverse")
        back = constant("InverseOrder", "i64", (len(order),), [order.index(index) for index in range(len(order))])
        second = _again(tested.node, (*tested.node.outputs, *back.outputs))
        return Graph(nodes=(tested.node, back, second), outputs=second.outputs)

    return build


def identity(order_of: OrderOf) -> Builder:
    """The dimensions of the first input are put into the order that they have, before the node under test."""

    def build(tested: Tested) -> Graph:
        rank = len(_one_order(tested, order_of, "identity"))
        order = constant("IdentityOrder", "i64", (rank,), range(rank))
        first = _again(tested.node, (tested.node.inputs[0], *order.outputs))
        node = replace(tested.node, inputs=(*first.outputs, *tested.node.inputs[1:]))
        return Graph(nodes=(order, first, node), outputs=node.outputs)

    return build


def convert(tested: Tested) -> Graph:
    """Every setting input is converted to another integer type: `i64` to `i32`, and every other type to `i64`."""
    inputs, nodes = list(tested.node.inputs), []
    for place, port in enumerate(tested.operation.inputs[: len(inputs)]):
        source = inputs[place]
        if port.role != "setting" or source is None:
            continue
        operands = [argument.inputs[port.name] for argument in tested.arguments]
        target = "i32" if operands[0].element_type == "i64" else "i64"
        limit = 1 << (ELEMENT_TYPES[target].bits - 1)
        if any(x.integers is None or not all(-limit <= element < limit for element in x.integers) for x in operands):
            raise ContextError(f"`convert` converts {port.name} to {target}, which cannot represent its values")
        nodes.append(computing(f"Convert_{port.name}", "Convert-1", (source,), destination_type=target))
        inputs[place] = nodes[-1].outputs[0]
    node = replace(tested.node, inputs=tuple(inputs))
    return Graph(nodes=(*nodes, node), outputs=node.outputs)


def shape_of(source: str, port: str) -> Builder:
    """The model computes the values at a setting port from the shape of a tensor.

    A value that is not a dimension of that tensor in every feed, such as -1, is a constant of the model.
    """

    def build(tested: Tested) -> Graph:
        operands = [argument.inputs[port] for argument in tested.arguments if {source, port} <= argument.inputs.keys()]
        if len(operands) < len(tested.arguments) or operands[0].element_type not in ("i64", "i32"):
            raise ContextError(f"`shape-of` computes {port} as i64 or i32 from the shape of {source}")
        if len({x.shape for x in operands}) > 1:
            raise ContextError(f"`shape-of` needs {port} to have the same shape in every feed")
        values = list(zip(*(x.integers or () for x in operands), strict=True))
        sizes = list(zip(*(argument.inputs[source].shape for argument in tested.arguments), strict=False))
        if not any(value in sizes for value in values) or len(operands[0].shape) > 1:
            raise ContextError(f"`shape-of` needs a value of {port} that is a dimension of {source}")
        nodes = [
            computing("ShapeOf", "ShapeOf-3", (source,), output_type=operands[0].element_type),
            constant("GatherAxis", "i64", (), [0]),
        ]
        parts: list[str] = []
        for is_dimension, group in groupby(values, sizes.__contains__):
            run, name = list(group), f"{{}}_{len(parts)}"
            shape = (len(run),) if operands[0].shape else ()
            if is_dimension:
                indices = constant(name.format("Indices"), "i64", shape, [sizes.index(x) for x in run])
                inputs = (nodes[0].outputs[0], indices.outputs[0], nodes[1].outputs[0])
                nodes += [indices, computing(name.format("Gather"), "Gather-8", inputs, batch_dims=0)]
            elif any(len(set(x)) > 1 for x in run):
                raise ContextError(f"`shape-of` cannot compute a value of {port} that changes and is not a dimension")
            else:
                nodes.append(constant(name.format("Values"), operands[0].element_type, shape, [x[0] for x in run]))
            parts.append(nodes[-1].outputs[0])
        if len(parts) > 1:
            nodes.append(computing("Values", "Concat-1", tuple(parts), axis=0))
        place = [input_.name for input_ in tested.operation.inputs].index(port)
        before, after = tested.node.inputs[:place], tested.node.inputs[place + 1 :]
        node = replace(tested.node, inputs=(*before, nodes[-1].outputs[0], *after))
        return Graph(nodes=(*nodes, node), outputs=node.outputs)

    return build


def _axis(tested: Tested, axis_of: AxisOf) -> int | None:
    """The axis that the arguments of the first feed name, or None if it is invalid."""
    try:
        return axis_of(tested.operation.judged(tested.arguments[0])[0])
    except Unknown:
        return None


def _one_order(tested: Tested, order_of: OrderOf, context: str) -> tuple[int, ...]:
    """The order of the dimensions, if it is the same in every feed."""
    if not tested.outputs:
        raise ContextError(f"an invalid case has no output for the context `{context}` to use")
    orders = {tuple(order_of(argument)) for argument in tested.arguments}
    if len(orders) > 1:
        raise ContextError(f"`{context}` has a constant order, but the order differs in the second feed")
    return next(iter(orders))


def _again(node: Node, inputs: tuple[str | None, ...]) -> Node:
    return replace(node, name=f"{node.name}_1", inputs=inputs, outputs=(f"{node.name}_1_0",))


def constant(name: str, element_type: str, shape: Shape, value: Sequence[int] | Sequence[str]) -> Node:
    """A node that holds numbers, or bit patterns such as `0x3f000000`."""
    return computing(name, "Constant-1", (), element_type=element_type, shape=shape, value=tuple(value))


def computing(name: str, op: str, inputs: tuple[str, ...], **attributes: Attribute) -> Node:
    """A node with one output."""
    return Node(name=name, op=op, inputs=inputs, outputs=(f"{name}_0",), attributes=attributes)


def _concat(tested: Tested, names: tuple[str, ...], axis: int) -> Node:
    name = "Concat" if tested.node.name != "Concat" else "Concat_1"
    return Node(name=name, op="Concat-1", inputs=names, outputs=(f"{name}_0",), attributes={"axis": axis})
