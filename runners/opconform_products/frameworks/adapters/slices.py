"""How Slice-8 and StridedSlice-1 become an index, as Python writes it."""

from opconform_products.frameworks.framework import Adapter
from opconform_runners.backends.indexing import sliced, strided

#: Indexing takes no tensors and no masks.
_MAPPED = ("indices.count", "indices.empty", "types.independent")
_AXES = tuple(f"axes.{name}" for name in ("default", "negative", "range", "unique"))
_MASKS = (
    *(f"masks.{name}" for name in ("cut", "omitted", "padded", "precedence")),
    *(f"shrink.{name}" for name in ("begin-mask", "ignores-end", "ignores-stride")),
    *("stride.optional", "stride.zero-ignored", "new_axis.ignores", "ellipsis.ignores"),
)

#: Data and an index, for Slice-8. The rank of data is left to the framework.
SLICES = Adapter(sliced, (*_MAPPED, *_AXES), ("data.required", "start", "stop", "step", "axes"))
#: Data and an index, for StridedSlice-1.
STRIDED = Adapter(strided, (*_MAPPED, *_MASKS))
