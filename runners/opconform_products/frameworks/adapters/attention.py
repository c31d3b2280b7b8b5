"""How ScaledDotProductAttention-13 becomes a call of a framework."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from opconform_products.frameworks.framework import Adapter
from opconform_runners.backends.constraints import refuse_if
from opconform_runners.backends.indexing import rank_of


def _scores(query: Any, key: Any, value: Any, mask: Any = None, scale: Any = None, *, causal: bool) -> Sequence[Any]:
    for name, x in (("key", key), ("value", value), ("scale", scale)):
        refuse_if(x is not None and x.dtype != query.dtype, f"{name}.same-type")
    refuse_if(_differ(query.shape[-1], key.shape[-1]), "key.embedding")
    refuse_if(_differ(key.shape[-2], value.shape[-2]), "value.length")
    batches = [x.shape[:-2] for x in (query, key, value)]
    repeated = [_repeated(sizes) for sizes in zip_longest(*(tuple(x)[::-1] for x in batches), fillvalue=1)]
    if mask is not None:
        _check_mask(query, mask, [key.shape[-2], query.shape[-2], *repeated])
    masks = [mask] if mask is not None and rank_of(mask) and not causal else []
    return query, key, value, causal, masks, scale


def _check_mask(query: Any, mask: Any, scores: Sequence[Any]) -> None:
    """Refuse a mask of other types or dimensions; `scores` has those of the scores, from the last one."""
    rank, is_boolean = rank_of(mask), "bool" in str(mask.dtype)
    refuse_if(rank == 1, "attention_mask.vector")
    refuse_if(is_boolean and not rank, "attention_mask.scalar-type")
    refuse_if(not is_boolean and mask.dtype != query.dtype, "attention_mask.same-type")
    pairs = zip(tuple(mask.shape)[::-1], scores, strict=False)
    is_other = any(size != 1 and _differ(size, score) for size, score in pairs)
    refuse_if(rank > len(scores) or is_other, "attention_mask.shape")


def _differ(size: int | None, other: int | None) -> bool:
    """Whether two sizes differ that are known when the graph is built."""
    return None not in (size, other) and size != other


def _repeated(sizes: Sequence[int | None]) -> int | None:
    """The size that dimensions are repeated to; None if it is not known."""
    others = {size for size in sizes if size != 1}
    refuse_if(len(others - {None}) > 1, "batch.dimensions")
    return next(iter(others), 1) if len(others) < 2 else max(x for x in others if x is not None)  # noqa: PLR2004


#: The queries, keys and values, whether the mask is causal, a list of any other mask, and any scale.
ATTENTION = Adapter(
    _scores,
    (
        *(f"{name}.same-type" for name in ("key", "value", "scale")),
        *(f"attention_mask.{word}" for word in ("same-type", "vector", "scalar-type", "shape", "scalar", "ignored")),
        "key.embedding",
        "value.length",
        "batch.dimensions",
    ),
)
