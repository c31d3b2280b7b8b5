"""How PyTorch executes the reductions, CumSum-3 and TopK-11. PyTorch is an argument, as in `rows.torch`."""

from collections.abc import Callable, Mapping
from typing import Any

from opconform_products.frameworks.adapters.reductions import (
    LARGEST,
    REDUCED,
    SUMMED,
    Order,
    along_axes,
    one_after_another,
    reversible,
)
from opconform_products.frameworks.framework import Row
from opconform_runners.backends.backend import Unsupported


def is_real(torch: Any, kind: Any) -> bool:
    """Whether elements of a dtype have a fraction; compared, since a call that a script records has no dtype to ask."""
    return kind in (torch.bfloat16, torch.float16, torch.float32, torch.float64)


def reduction_rows(torch: Any, types: Mapping[str, Any]) -> dict[str, Row]:
    """The rows by operation; sums and products stay in the type of data."""

    def mean(data: Any, axes: tuple[int, ...], keep_dims: bool) -> Any:
        if not is_real(torch, data.dtype):
            raise Unsupported("the framework has no mean of integers")
        return torch.mean(data, axes, keep_dims)

    def norm(order: int) -> Callable[..., Any]:
        def call(data: Any, axes: tuple[int, ...], keep_dims: bool) -> Any:
            if not is_real(torch, data.dtype):
                raise Unsupported("the framework has no norm of integers")
            return torch.linalg.vector_norm(data, order, axes, keep_dims)

        return call

    def add(data: Any, axes: tuple[int, ...], keep_dims: bool) -> Any:
        return torch.sum(data, axes, keep_dims, dtype=data.dtype)

    def multiply(data: Any, axis: int, keep_dims: bool) -> Any:
        return torch.prod(data, axis, keep_dims, dtype=data.dtype)

    def accumulate(data: Any, axis: int) -> Any:
        return torch.cumsum(data, axis, dtype=data.dtype)

    def top_k(data: Any, k: int, axis: int, order: Order, kind: str) -> list[Any]:
        """`torch.topk`, or `torch.sort` if equal elements have to keep their order."""
        if not order.stable:
            found = torch.topk(data, k, axis, order.largest, order.is_sorted)
            return [found[0], found[1].to(types[kind])]
        found = torch.sort(data, dim=axis, descending=order.largest, stable=True)
        return [found[0].narrow(axis, 0, k), found[1].narrow(axis, 0, k).to(types[kind])]

    return {
        "CumSum-3": Row(reversible(accumulate, torch.flip), SUMMED),
        "ReduceL1-4": Row(along_axes(norm(1)), REDUCED),
        "ReduceL2-4": Row(along_axes(norm(2)), REDUCED),
        "ReduceLogicalAnd-1": Row(along_axes(torch.all), REDUCED),
        "ReduceLogicalOr-1": Row(along_axes(torch.any), REDUCED),
        "ReduceMax-1": Row(along_axes(torch.amax), REDUCED),
        "ReduceMean-1": Row(along_axes(mean), REDUCED),
        "ReduceMin-1": Row(along_axes(torch.amin), REDUCED),
        "ReduceProd-1": Row(one_after_another(multiply), REDUCED),
        "ReduceSum-1": Row(along_axes(add), REDUCED),
        "TopK-11": Row(top_k, LARGEST),
    }
