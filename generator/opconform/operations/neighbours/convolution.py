"""The context that puts a convolution in front of the node under test."""

from dataclasses import replace

from opconform.operations.contexts import computing, constant
from opconform.operations.contract import ContextError, Tested
from opconform.suite.case import Graph

#: The most channels, which filters have the square of.
_CHANNELS = 256


def convolved(tested: Tested) -> Graph:
    """The first input comes from a convolution of small integers, for which vector code keeps channels in blocks.

    The filters are 1 by 1, and each channel is twice itself plus the next one, so that every element is exact.
    """
    name = next(iter(tested.node.inputs), None)
    operands = [argument.inputs.get(str(name)) for argument in tested.arguments]
    if not tested.outputs or any(
        operand is None or (operand.element_type, len(operand.shape)) != ("f32", 4) for operand in operands
    ):
        raise ContextError("`convolved` needs a valid case whose first input is f32 and has rank 4")
    sizes = {operand.shape[1] for operand in operands if operand is not None}
    if len(sizes) > 1:
        raise ContextError("`convolved` has constant filters, but the second feed changes the number of channels")
    channels = next(iter(sizes))
    if channels > _CHANNELS:
        raise ContextError(f"`convolved` has filters for up to {_CHANNELS} channels")
    weights = [
        2 * (row == column) + (column == (row + 1) % channels) for row in range(channels) for column in range(channels)
    ]
    filters = constant("Filters", "f32", (channels, channels, 1, 1), weights)
    inputs = (str(name), *filters.outputs)
    node_name = "Convolution" if tested.node.name != "Convolution" else "Convolution_1"
    node = computing(
        node_name, "Convolution-1", inputs, strides=(1, 1), pads_begin=(0, 0), pads_end=(0, 0), dilations=(1, 1)
    )
    after = replace(tested.node, inputs=(*node.outputs, *tested.node.inputs[1:]))
    return Graph(nodes=(filters, node, after), outputs=after.outputs)
