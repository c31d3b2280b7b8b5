"""Contexts that exporters of models write: a flattened output, and windows of an image."""

from math import prod

from opconform.operations.contexts import computing, constant
from opconform.operations.contract import ContextError, Tested
from opconform.suite.case import Graph

#: Of a batch of images: batches, height, width, channels.
_IMAGE_RANK = 4


def flattened(tested: Tested) -> Graph:
    """The first output as a matrix with the same first dimension, which the model reads from its shape.

    PyTorch's exporter writes these nodes for `x.view(x.size(0), -1)`: ShapeOf, Gather, Unsqueeze, Concat and Reshape.
    """
    if not tested.outputs or any(not prod(types[0].shape) or not types[0].shape for types in tested.outputs):
        raise ContextError("`flattened` needs a valid case whose first output has elements and at least one dimension")
    first, *others = tested.node.outputs
    shape = computing("FlatShape", "ShapeOf-3", (first,), output_type="i64")
    zero = constant("FlatIndex", "i64", (), [0])
    size = computing("FlatSize", "Gather-8", (*shape.outputs, *zero.outputs, *zero.outputs), batch_dims=0)
    axes, rest = constant("FlatAxes", "i64", (1,), [0]), constant("FlatRest", "i64", (1,), [-1])
    sizes = computing("FlatSizes", "Unsqueeze-1", (*size.outputs, *axes.outputs))
    target = computing("FlatTarget", "Concat-1", (*sizes.outputs, *rest.outputs), axis=0)
    matrix = computing("Flat", "Reshape-1", (first, *target.outputs), special_zero=False)
    nodes = (tested.node, shape, zero, size, axes, sizes, rest, target, matrix)
    return Graph(nodes=nodes, outputs=(*matrix.outputs, *others))


def windows(tested: Tested) -> Graph:
    """The first output, of rank 4, cut into windows along dimensions 1 and 2, which become its first dimension.

    These are the nodes that transformers of images (Swin) have behind a shift: Reshape, Transpose and Reshape.
    """
    shapes = {types[0].shape for types in tested.outputs}
    if len(shapes) != 1 or len(shape := next(iter(shapes))) != _IMAGE_RANK or not prod(shape):
        raise ContextError("`windows` needs a valid case whose first output has elements, rank 4, and one shape")
    batches, height, width, channels = shape
    high, wide = _window(height), _window(width)
    parts = (batches, height // high, high, width // wide, wide, channels)
    first, *others = tested.node.outputs
    cut = constant("CutShape", "i64", (6,), parts)
    order = constant("WindowOrder", "i64", (6,), [0, 1, 3, 2, 4, 5])
    joined = constant("WindowShape", "i64", (4,), [-1, high, wide, channels])
    pieces = computing("Cut", "Reshape-1", (first, *cut.outputs), special_zero=False)
    ordered = computing("Ordered", "Transpose-1", (*pieces.outputs, *order.outputs))
    result = computing("Windows", "Reshape-1", (*ordered.outputs, *joined.outputs), special_zero=False)
    return Graph(nodes=(tested.node, cut, pieces, order, ordered, joined, result), outputs=(*result.outputs, *others))


def _window(size: int) -> int:
    """The smallest size above 1 that divides a dimension."""
    return next((n for n in range(2, size) if size % n == 0), size)
