"""Element types and tensors: arrays with exact bits, in memory and on disk."""

from opconform.tensors.tensor import Tensor

__all__ = ["Tensor"]
