"""Every mutant, and the right implementation that each one changes."""

from collections.abc import Mapping
from itertools import chain
from types import MappingProxyType

from tests.mutants.every import bit_patterns, contexts, credit, element_types
from tests.mutants.every import counts as every_counts
from tests.mutants.every import shapes as every_shapes
from tests.mutants.every import state as every_state
from tests.mutants.gather_nds import rows as gather_nds
from tests.mutants.gather_nds.kernel import GATHER_ND
from tests.mutants.gathers import rows as gathers
from tests.mutants.gathers.kernel import GATHER
from tests.mutants.join import rows as joins
from tests.mutants.join.kernel import CONCAT
from tests.mutants.model import MODEL, SURROUNDING, WHOLE
from tests.mutants.pads import rows as pads
from tests.mutants.pads.kernel import PAD
from tests.mutants.reshapes import inputs as reshape_inputs
from tests.mutants.reshapes import sizes as reshape_sizes
from tests.mutants.reshapes.kernel import RESHAPE
from tests.mutants.row import Hooks, Row
from tests.mutants.slices import rows as slices
from tests.mutants.slices.kernel import SLICE
from tests.mutants.split import axis, crash, dynamic, hang, lengths, memory_layout, num_splits, remainder
from tests.mutants.split import contexts as split_contexts
from tests.mutants.split import counts as split_counts
from tests.mutants.split import shapes as split_shapes
from tests.mutants.split import state as split_state
from tests.mutants.split.kernel import SPLIT, VARIADIC_SPLIT
from tests.mutants.strided_slices import masks as strided_slice_masks
from tests.mutants.strided_slices import removed as strided_slice_removals
from tests.mutants.strided_slices import rows as strided_slices
from tests.mutants.strided_slices.kernel import STRIDED_SLICE
from tests.mutants.transposes import orders as transpose_orders
from tests.mutants.transposes import rows as transposes
from tests.mutants.transposes.kernel import TRANSPOSE

#: The hooks of each operation that has mutants of its own.
KERNELS: Mapping[str, Hooks] = MappingProxyType(
    {
        "Concat-1": CONCAT,
        "Gather-8": GATHER,
        "GatherND-8": GATHER_ND,
        "Pad-12": PAD,
        "Reshape-1": RESHAPE,
        "Slice-8": SLICE,
        "Split-1": SPLIT,
        "StridedSlice-1": STRIDED_SLICE,
        "Transpose-1": TRANSPOSE,
        "VariadicSplit-1": VARIADIC_SPLIT,
        **WHOLE,
    }
)

#: The modules that hold rows, in the order of their classes.
MODULES = (
    axis,
    lengths,
    remainder,
    num_splits,
    every_counts,
    split_counts,
    every_shapes,
    split_shapes,
    element_types,
    bit_patterns,
    memory_layout,
    every_state,
    split_state,
    dynamic,
    contexts,
    split_contexts,
    joins,
    reshape_sizes,
    reshape_inputs,
    slices,
    strided_slices,
    strided_slice_masks,
    strided_slice_removals,
    gathers,
    gather_nds,
    pads,
    transposes,
    transpose_orders,
    crash,
    hang,
    credit,
)
#: Every mutant by its name, class by class.
MUTANTS: Mapping[str, Row] = MappingProxyType(
    {each.name: each for each in chain.from_iterable(module.ROWS for module in MODULES)}
)
#: The hooks of the right implementation, by operation.
RIGHT: Mapping[str, Hooks] = MappingProxyType(
    {op: {**MODEL, **hooks} for op, hooks in {**SURROUNDING, **KERNELS}.items()}
)


def hooks_of(row: Row) -> Mapping[str, Hooks]:
    """The hooks of a mutant, by operation."""
    return {
        op: {**hooks, **{name: change for name, change in row.changes.items() if name in hooks}}
        if row.op in (None, op)
        else hooks
        for op, hooks in RIGHT.items()
    }


def concerns(row: Row, op: str) -> bool:
    """Whether a mutant is faulty where an operation is tested: whether it changes a hook that a test of it executes."""
    if row.op is not None:
        return row.op == op
    return any(name in RIGHT[op] or name in SURROUNDING for name in row.changes)


def operations_with_mutants() -> tuple[str, ...]:
    """The operations that have mutants of their own."""
    return tuple(KERNELS)
