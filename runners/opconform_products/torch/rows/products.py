"""How PyTorch executes the operations with sums of products, and pooling."""

from collections.abc import Mapping
from typing import Any

from opconform_products.frameworks.adapters.attention import ATTENTION
from opconform_products.frameworks.adapters.pools import AVERAGED, SELECTED, Pool, indices_from
from opconform_products.frameworks.adapters.products import (
    CONVOLVED,
    GROUPS_CONVOLVED,
    MATRICES,
    NORMALIZED,
    NORMALIZED_BY_CHANNELS,
    NORMALIZED_BY_GROUPS,
)
from opconform_products.frameworks.framework import Row
from opconform_runners.backends.backend import Unsupported


def product_rows(torch: Any, types: Mapping[str, Any]) -> dict[str, Row]:
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

    def padded_by(pool: Pool) -> list[int]:
        """The padding of each dimension, which is half of a window at most."""
        spans = [(size - 1) * step + 1 for size, step in zip(pool.kernel, pool.dilations, strict=True)]
        if any(2 * pad > span for pad, span in zip(pool.equal_pads, spans, strict=True)):
            raise Unsupported("PyTorch pads half of a window at most")
        return pool.equal_pads

    def avg_pool(data: Any, pool: Pool, excludes: bool) -> Any:
        """The function for the rank."""
        of_rank = getattr(torch.nn.functional, f"avg_pool{len(pool.kernel)}d")
        lists = [*pool.kernel], [*pool.strides], padded_by(pool)
        return of_rank(data, *lists, ceil_mode=pool.is_ceil, count_include_pad=not excludes)

    def max_pool(data: Any, pool: Pool, axis: int, kind: str) -> list[Any]:
        """The function for the rank, whose indices are those in the spatial dimensions."""
        of_rank = getattr(torch.nn.functional, f"max_pool{len(pool.kernel)}d")
        lists = [*pool.kernel], [*pool.strides], padded_by(pool), [*pool.dilations]
        found = of_rank(data, *lists, ceil_mode=pool.is_ceil, return_indices=True)
        first, shape, count = indices_from(data.shape, axis)
        added = torch.reshape(torch.arange(first.start, first.stop, first.step), shape)
        return [found[0], torch.remainder(torch.add(found[1], added), count).to(types[kind])]

    def attention(query: Any, key: Any, value: Any, is_causal: bool, masks: list[Any], *scales: Any) -> Any:
        mask, scale = next(iter(masks), None), scales[0].item() if scales else None
        of = torch.nn.functional.scaled_dot_product_attention
        return of(query, key, value, attn_mask=mask, is_causal=is_causal, scale=scale)

    return {
        **dict.fromkeys(("AvgPool-1", "AvgPool-14"), Row(avg_pool, AVERAGED)),
        "BatchNormInference-5": Row(by_channels, NORMALIZED_BY_CHANNELS),
        "Convolution-1": Row(convolution, CONVOLVED),
        "GroupConvolution-1": Row(group_convolution, GROUPS_CONVOLVED),
        "GroupNormalization-12": Row(torch.nn.functional.group_norm, NORMALIZED_BY_GROUPS),
        "MVN-6": Row(normalized, NORMALIZED),
        "MatMul-1": Row(matmul, MATRICES),
        "LogSoftmax-5": Row(lambda data, axis: torch.log_softmax(data, dim=axis)),
        **dict.fromkeys(("MaxPool-8", "MaxPool-14"), Row(max_pool, SELECTED)),
        "ScaledDotProductAttention-13": Row(attention, ATTENTION),
        "SoftMax-8": Row(lambda data, axis: torch.softmax(data, dim=axis)),
    }
