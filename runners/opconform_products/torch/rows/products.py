"""How PyTorch executes the operations with sums of products."""

from typing import Any

from opconform_products.frameworks.adapters.products import (
    CONVOLVED,
    GROUPS_CONVOLVED,
    MATRICES,
    NORMALIZED,
    NORMALIZED_BY_CHANNELS,
)
from opconform_products.frameworks.framework import Row
from opconform_runners.backends.backend import Unsupported


def product_rows(torch: Any) -> dict[str, Row]:
    """The rows, by PyTorch or by what records its calls."""

    def matmul(a: Any, b: Any, of_a: bool, of_b: bool) -> Any:
        return torch.matmul(a.transpose(-1, -2) if of_a else a, b.transpose(-1, -2) if of_b else b)

    def convolution(
        data: Any, filters: Any, strides: list[int], pads: list[tuple[int, int]], rates: list[int], *groups: int
    ) -> Any:
        """The function for the rank, which pads both ends alike, on padded data."""
        padded = torch.nn.functional.pad(data, [number for pair in reversed(pads) for number in pair])
        of_rank = getattr(torch.nn.functional, f"conv{len(strides)}d")
        return of_rank(padded, filters, None, strides, 0, rates, *groups)

    def group_convolution(data: Any, filters: Any, *arguments: Any) -> Any:
        return convolution(data, filters.flatten(0, 1), *arguments)

    def normalized(data: Any, axes: tuple[int, ...], eps: float) -> Any:
        if axes != tuple(range(axes[0], len(data.shape))):
            raise Unsupported("the framework normalizes the last dimensions")
        return torch.nn.functional.layer_norm(data, data.shape[axes[0] :], eps=eps)

    def by_channels(data: Any, gamma: Any, beta: Any, mean: Any, variance: Any, epsilon: float) -> Any:
        return torch.nn.functional.batch_norm(data, mean, variance, gamma, beta, eps=epsilon)

    return {
        "BatchNormInference-5": Row(by_channels, NORMALIZED_BY_CHANNELS),
        "Convolution-1": Row(convolution, CONVOLVED),
        "GroupConvolution-1": Row(group_convolution, GROUPS_CONVOLVED),
        "MVN-6": Row(normalized, NORMALIZED),
        "MatMul-1": Row(matmul, MATRICES),
        "LogSoftmax-5": Row(lambda data, axis: torch.log_softmax(data, dim=axis)),
        "SoftMax-8": Row(lambda data, axis: torch.softmax(data, dim=axis)),
    }
