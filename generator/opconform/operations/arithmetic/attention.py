"""ScaledDotProductAttention-13, from its specification page: values weighted by the softmax of products with keys."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, Operand, TensorType, Unknown
from opconform.operations.arithmetic.composites import hull
from opconform.operations.arithmetic.composition import Composition, Interval, square_root
from opconform.operations.arithmetic.elementwise import tensor_of, without_special
from opconform.operations.arithmetic.functions import FUNCTION_WORK
from opconform.operations.arithmetic.propagation.composites import softmax
from opconform.operations.arithmetic.propagation.pairs import added, multiplied
from opconform.operations.arithmetic.propagation.spans import Formula, Part, point, propagated
from opconform.operations.arithmetic.propagation.sums import dot_product
from opconform.operations.checks import Predicate
from opconform.operations.interpretation import Reading, is_empty
from opconform.operations.operation import Computation
from opconform.suite.case import Shape
from opconform.suite.declarations import AttributeSpec, Port, RanksFrom
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.exact import REALS, Exact, has_few_bits, numbers
from opconform.tensors.tensor import Array, Tensor

_MATRICES = ("query", "key", "value")
#: The units in the last place of a reciprocal of a square root (OpenCL C 3.0, section 7.4: 3 of the root, and 1).
_ROOT_UNITS = Exact(4)
#: What is added to the score of a key that a query has, and of one that it does not have.
_KEPT, _LEFT_OUT = np.array(None, object), np.array(-math.inf, object)
#: The shares of keys by their scores.
_Shares = Callable[[Composition, Sequence[Part]], Sequence[Part]]
_SHARES: _Shares = partial(softmax, keeps_exact=True)


def _batch(arguments: Arguments) -> Shape:
    """The dimensions before the matrices, broadcast."""
    batches = [arguments.shape(name)[:-2] for name in _MATRICES]
    try:
        return np.broadcast_shapes(*batches)
    except ValueError as error:
        raise Unknown from error


def _is_other_batch(arguments: Arguments) -> bool:
    batches = [arguments.shape(name)[:-2] for name in _MATRICES]
    try:
        np.broadcast_shapes(*batches)
    except ValueError:
        return True
    return False


def _lengths(arguments: Arguments) -> tuple[int, int]:
    """The numbers of queries and of keys."""
    return arguments.shape("query")[-2], arguments.shape("key")[-2]


def _shape(arguments: Arguments) -> Shape:
    return (*_batch(arguments), _lengths(arguments)[0], arguments.shape("value")[-1])


def _has_mask(arguments: Arguments) -> bool:
    """Whether a mask is applied: it is not a scalar, and not ignored."""
    return (
        arguments.attribute("causal") is False
        and "attention_mask" in arguments.inputs
        and bool(arguments.shape("attention_mask"))
    )


def _is_other_mask(arguments: Arguments) -> bool:
    """Whether the dimensions of a mask are not those of the scores, or 1."""
    sizes, scores = arguments.shape("attention_mask"), (*_batch(arguments), *_lengths(arguments))
    pairs = zip(reversed(sizes), reversed(scores), strict=False)
    return len(sizes) > len(scores) or any(size not in (1, score) for size, score in pairs)


def _mask_numbers(arguments: Arguments) -> Array:
    """What a mask adds to the scores, in f64."""
    mask = arguments.tensor("attention_mask")
    return np.where(mask.array, 0.0, -np.inf) if mask.element_type == "boolean" else numbers(mask)


def has_masked_row(arguments: Arguments) -> bool:
    """Whether no key is left for a query."""
    if not _has_mask(arguments):
        return False
    sizes = arguments.shape("attention_mask")
    return 0 not in _lengths(arguments) and 0 not in sizes and bool(np.isneginf(_mask_numbers(arguments)).all(-1).any())


def _biases(arguments: Arguments, parts: Mapping[str, Sequence[Part]], shift: int) -> Array | None:
    """What is added to each score; None if nothing is."""
    scores = (*_batch(arguments), *_lengths(arguments))
    if not _has_mask(arguments):
        is_causal = arguments.attribute("causal") is True
        kept = np.tri(*_lengths(arguments), shift, dtype=bool)
        return np.broadcast_to(np.where(kept, _KEPT, _LEFT_OUT), scores) if is_causal else None
    mask = arguments.tensor("attention_mask")
    if mask.element_type == "boolean":
        biases = np.where(mask.array, _KEPT, _LEFT_OUT)
    else:
        biases = np.empty(math.prod(mask.shape), object)
        for place, part in enumerate(parts["attention_mask"]):
            biases[place] = part
    return np.broadcast_to(biases.reshape(mask.shape), scores)


def _scale(arguments: Arguments, way: Composition, parts: Mapping[str, Sequence[Part]]) -> Part:
    """The factor of the scores."""
    if "scale" in arguments.inputs:
        (scale,) = parts["scale"]
        return scale
    factor = 1 / square_root(Exact(arguments.shape("query")[-1]))
    return point(factor) if has_few_bits(factor) else way.rounded(point(factor), _ROOT_UNITS)


def _score(way: Composition, query: Sequence[Part], key: Sequence[Part], scale: Part) -> Part:
    """The scaled product of a query and a key; kernels also scale the query first."""
    score = multiplied(way, dot_product(way, query, key), scale)
    other = dot_product(way, [multiplied(way, x, scale) for x in query], key)
    intervals = [x for x in (score, other) if isinstance(x, Interval)]
    return hull(intervals) if intervals else score


def _zero_shares(way: Composition, scores: Sequence[Part]) -> Sequence[Part]:
    """The shares, which are zeros if all scores are minus infinity."""
    return _SHARES(way, scores) if _has_key(scores) else [point(Exact(0))] * len(scores)


def _equal_shares(way: Composition, scores: Sequence[Part]) -> Sequence[Part]:
    """The shares, which are all the same if all scores are minus infinity."""
    return _SHARES(way, scores) if _has_key(scores) else [way.rounded(point(Exact(1, len(scores))))] * len(scores)


def _has_key(scores: Sequence[Part]) -> bool:
    return any(score != -math.inf for score in scores)


def _rows(
    arguments: Arguments,
    way: Composition,
    parts: Mapping[str, Sequence[Part]],
    *,
    shift: int = 0,
    shares: _Shares = _SHARES,
) -> list[Part]:
    """The output, row by row.

    Args:
        arguments: The arguments.
        way: How parts are rounded.
        parts: The elements of the inputs.
        shift: How many later keys a query has than the page says.
        shares: What gives the shares of keys.
    """
    batch, scale = _batch(arguments), _scale(arguments, way, parts)
    biases, results = _biases(arguments, parts, shift), list[Part]()
    query, key, value = (_matrices(arguments, name, batch) for name in _MATRICES)
    for place in np.ndindex(batch):
        queries, keys, columns = (
            [[parts[name][x] for x in row] for row in matrix[place].tolist()]
            for name, matrix in (("query", query), ("key", key), ("value", np.swapaxes(value, -1, -2)))
        )
        for number, row in enumerate(queries):
            scores = [_score(way, row, other, scale) for other in keys]
            if biases is not None:
                pairs = zip(scores, biases[(*place, number)], strict=True)
                scores = [score if bias is None else added(way, score, bias) for score, bias in pairs]
            factors = shares(way, scores)
            results += [dot_product(way, factors, column) for column in columns]
    return results


def _matrices(arguments: Arguments, name: str, batch: Shape) -> Array:
    """The numbers of the elements of an input, in the dimensions of the batch."""
    shape = arguments.shape(name)
    return np.broadcast_to(np.arange(math.prod(shape)).reshape(shape), (*batch, *shape[-2:]))


def _types(arguments: Arguments) -> tuple[TensorType, ...]:
    return (TensorType(element_type=arguments.operand("query").element_type, shape=_shape(arguments)),)


_FORMULA = Formula(of=_rows)


def _computed(arguments: Arguments, formula: Formula = _FORMULA) -> tuple[Tensor, ...]:
    for name in arguments.inputs:
        arguments.tensor(name)  # which may not be known yet
    (type_,) = _types(arguments)
    return (replace(propagated("attention", formula, arguments, type_), spans=None),)


def _is_open(arguments: Arguments) -> bool:
    """Whether the page has no result: for a scalar mask that is not 0, or for no scale and queries of no elements."""
    mask = arguments.inputs.get("attention_mask")
    is_other = mask is not None and not mask.shape and bool(numbers(arguments.tensor("attention_mask")) != 0)
    return is_other or ("scale" not in arguments.inputs and not arguments.shape("query")[-1])


def _of_last_keys(arguments: Arguments) -> tuple[Tensor, ...]:
    """The results if the last query has all keys, and each one before it one key less."""
    queries, keys = _lengths(arguments)
    if arguments.attribute("causal") is not True or queries == keys:
        raise Unknown
    return _computed(arguments, Formula(of=partial(_rows, shift=keys - queries, shares=_zero_shares)))


def _of_masked_rows(shares: _Shares, arguments: Arguments) -> tuple[Tensor, ...]:
    if not has_masked_row(arguments):
        raise Unknown
    return _computed(arguments, Formula(of=partial(_rows, shares=shares)))


def _of_finite_numbers(arguments: Arguments) -> tuple[Tensor, ...]:
    if all(np.isfinite(numbers(arguments.tensor(name))).all() for name in _MATRICES):
        raise Unknown
    return without_special(_computed).computes[0](arguments)


def _unscaled(arguments: Arguments) -> tuple[Tensor, ...]:
    kind = ELEMENT_TYPES[arguments.operand("query").element_type]
    one = Operand(element_type=kind.name, shape=(), tensor=tensor_of(kind, np.array(1.0)))
    return _computed(replace(arguments, inputs={**arguments.inputs, "scale": one}))


def _default_scaled(arguments: Arguments) -> tuple[Tensor, ...]:
    if "scale" not in arguments.inputs:
        raise Unknown
    return _computed(_without(arguments, "scale"))


def _unmasked(arguments: Arguments) -> tuple[Tensor, ...]:
    if not _has_mask(arguments):
        raise Unknown
    return _computed(_without(arguments, "attention_mask"))


def _without(arguments: Arguments, port: str) -> Arguments:
    return replace(arguments, inputs={name: x for name, x in arguments.inputs.items() if name != port})


def _all_keys(arguments: Arguments) -> tuple[Tensor, ...]:
    if arguments.attribute("causal") is not True:
        raise Unknown
    return _computed(_with_causal(_without(arguments, "attention_mask"), is_causal=False))


def _with_causal(arguments: Arguments, *, is_causal: bool) -> Arguments:
    return replace(arguments, attributes={**arguments.attributes, "causal": is_causal})


def _inverted(arguments: Arguments) -> tuple[Tensor, ...]:
    if not _has_mask(arguments) or arguments.operand("attention_mask").element_type != "boolean":
        raise Unknown
    operand, mask = arguments.operand("attention_mask"), arguments.tensor("attention_mask")
    other = replace(operand, tensor=replace(mask, array=~mask.array))
    return _computed(replace(arguments, inputs={**arguments.inputs, "attention_mask": other}))


def _differs(name: str) -> Predicate:
    """Whether an input has another floating-point type than the queries."""

    def check(arguments: Arguments) -> bool:
        types = {arguments.operand(x).element_type for x in ("query", name)}
        return len(types) > 1 and types.issubset(REALS)

    return check


def _ranks_differ(arguments: Arguments) -> bool:
    return len({len(arguments.shape(name)) for name in _MATRICES}) > 1


#: From its specification page.
SCALED_DOT_PRODUCT_ATTENTION = Computation(
    name="ScaledDotProductAttention-13",
    inputs=(
        *(Port(name, types=REALS, ranks=RanksFrom(3)) for name in _MATRICES),
        Port("attention_mask", optional=True, types=(*REALS, "boolean")),
        Port("scale", optional=True, types=REALS, shapes=((), (1,))),
    ),
    attributes=(AttributeSpec("causal", type="boolean"),),
    checks={
        **{f"{name}.same-type": _differs(name) for name in ("key", "value", "attention_mask", "scale")},
        "key.embedding": lambda a: a.shape("query")[-1] != a.shape("key")[-1],
        "value.length": lambda a: a.shape("key")[-2] != a.shape("value")[-2],
        "batch.dimensions": _is_other_batch,
        "attention_mask.vector": lambda a: len(a.shape("attention_mask")) == 1,
        "attention_mask.scalar-type": lambda a: (
            a.shape("attention_mask") == () and a.operand("attention_mask").element_type == "boolean"
        ),
        "attention_mask.shape": _is_other_mask,
    },
    types=_types,
    calculate=_computed,
    rounded=_FORMULA,
    undefined=_is_open,
    is_numeric=True,
    products=lambda a: (
        math.prod(_shape(a)[:-1]) * _lengths(a)[1] * (FUNCTION_WORK + 3 * a.shape("query")[-1] + a.shape("value")[-1])
    ),
    mistakes={
        "As if the scale were 1": _unscaled,
        "As if no scale were given": _default_scaled,
        "As if no mask were given": _unmasked,
        "As if causal were false": _all_keys,
        "As if true in the mask left a key out": _inverted,
    },
    same_types=("key", "value", "scale"),
    contexts={"doubled": contexts.doubled(lambda _: 0)},
    facts={
        "the mask is causal": lambda a: a.attribute("causal") is True,
        "there are more keys than queries": lambda a: _lengths(a)[1] > _lengths(a)[0],
        "there are fewer keys than queries": lambda a: _lengths(a)[1] < _lengths(a)[0],
        "there is a mask": _has_mask,
        "the mask is ignored": lambda a: "attention_mask" in a.inputs and not _has_mask(a),
        "the mask is of booleans": lambda a: a.operand("attention_mask").element_type == "boolean",
        "no key is left for a query": has_masked_row,
        "the scale is given": lambda a: "scale" in a.inputs,
        "the batches are broadcast": lambda a: len({a.shape(name)[:-2] for name in _MATRICES}) > 1,
        "values have another length than keys": lambda a: a.shape("value")[-1] != a.shape("key")[-1],
    },
    readings={
        "query.zero-size": Reading(rejects=lambda a: any(is_empty(a.operand(name)) for name in _MATRICES)),
        "batch.ranks": Reading(rejects=_ranks_differ),
        "rows.masked": Reading(
            computes=(partial(_of_masked_rows, _zero_shares), partial(_of_masked_rows, _equal_shares)), by_element=True
        ),
        "values.special": Reading(computes=(_of_finite_numbers,), by_element=True),
        "causal.diagonal": Reading(computes=(_of_last_keys,), by_element=True, misreads=True),
    },
)
