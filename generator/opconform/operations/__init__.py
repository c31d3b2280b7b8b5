"""The operations that opconform knows, each with its reference semantics."""

from collections.abc import Mapping
from types import MappingProxyType

from opconform.operations.operation import Operation
from opconform.operations.split import SPLIT
from opconform.operations.variadic_split import VARIADIC_SPLIT

#: Every operation by its versioned name; a test checks it against the folders of `cases/`.
OPERATIONS: Mapping[str, Operation] = MappingProxyType({"Split-1": SPLIT, "VariadicSplit-1": VARIADIC_SPLIT})

__all__ = ["OPERATIONS"]
