"""Every operation in a framework's own functions."""

from opconform_runners.backends.direct import Functions, Support
from opconform_runners.backends.direct_gather import gather_nd_operation, gather_operation
from opconform_runners.backends.direct_pad import pad_operation
from opconform_runners.backends.direct_reshape import reshape_operation, transpose_operation
from opconform_runners.backends.direct_slice import slice_operation, strided_slice_operation
from opconform_runners.backends.direct_split import CONSTANT, split_operations


def operations_of(functions: Functions) -> dict[str, Support]:
    """How a framework executes each operation."""
    return {
        "Constant-1": CONSTANT,
        "Gather-8": gather_operation(functions),
        "GatherND-8": gather_nd_operation(functions),
        "Pad-12": pad_operation(functions),
        "Reshape-1": reshape_operation(functions),
        "Slice-8": slice_operation(functions),
        "StridedSlice-1": strided_slice_operation(functions),
        "Transpose-1": transpose_operation(functions),
        **split_operations(functions),
    }
