"""What wrongly rounded outputs look like: outputs of a computation in a narrower type, or of a known mistake."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from opconform.explanation.reference import EvaluatedNode, evaluated_node
from opconform.suite.case import Case
from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.exact import numbers, rounded
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.verdicts.flushing import is_right_if_flushed

#: The types that an operation may have been computed in, the narrowest first: a wider one has most of its numbers.
_NARROW = ("bf16", "f16", "f32")


def rounding_causes(
    case: Case, inputs: Mapping[str, Array], golden: Mapping[str, Array], actual: Mapping[str, Array]
) -> Iterator[str]:
    """How the operation of a case of one node may have been computed, so that it gives these outputs; none if unknown.

    Each one takes a computation, so they come one by one, the likeliest first.

    `inputs` are the arrays of one feed in storage dtypes, and `golden` and `actual` the outputs by name.
    """
    tensors = {x.name: Tensor(element_type=x.element_type, array=inputs[x.name]) for x in case.inputs}
    node = evaluated_node(case, tensors) if case.is_bare else None
    if node is None or not node.is_numeric or any(x.dtype != golden[name].dtype for name, x in actual.items()):
        return
    right, named = (
        [Tensor(element_type=x.element_type, array=arrays[x.name]) for x in case.outputs if x.name in arrays]
        for arrays in (golden, actual)
    )
    is_lost = any(map(_has_lost, right, named))
    if is_lost or node.has_denormals:
        bounded = node.outputs()
        yield from _flushes(node, bounded, named)
        yield from _cutoff(node, bounded, named)
    yield from _narrow(node, named)
    yield from (sentence for sentence, outputs in node.mistaken_outputs() if _are_given(named, outputs))


def _has_lost(right: Tensor, got: Tensor) -> bool:
    """Whether an element is 0 that should not be, as if it had been flushed."""
    has_form = (right.shape, right.array.dtype) == (got.shape, got.array.dtype)
    if not (has_form and _is_float(right) and _is_float(got)):
        return False
    return bool(((numbers(got) == 0) & (numbers(right) != 0)).any())


def _flushes(node: EvaluatedNode, golden: tuple[Tensor, ...], actual: list[Tensor]) -> Iterator[str]:
    """Whether results are right if denormal numbers are taken for zeros."""
    others = node.flushed_outputs()
    whose = {"results": (golden,), "inputs": (others,), "numbers": (golden, others)}
    for name, ways in whose.items():
        if all(len(way) == len(actual) for way in ways) and all(
            map(_is_right_if_flushed, actual, zip(*ways, strict=True))
        ):
            yield f"As if denormal {name} were flushed to zero"
            return


def _is_right_if_flushed(actual: Tensor, ways: Sequence[Tensor]) -> bool:
    has_form = all((x.shape, x.array.dtype) == (actual.shape, actual.array.dtype) for x in ways)
    return has_form and is_right_if_flushed(actual.array, [(x.array, x.bounds) for x in ways], actual.element_type)


def _cutoff(node: EvaluatedNode, golden: tuple[Tensor, ...], actual: list[Tensor]) -> Iterator[str]:
    """Whether the results of a function are 0 for inputs below a number, and otherwise right."""
    if any(len(x) != 1 for x in (golden, actual, node.tensors)):
        return
    [data], [right], [got] = node.tensors, golden, actual
    if len({(x.element_type, x.shape) for x in (data, right, got)}) > 1 or data.type.kind != "float":
        return
    x, wanted, returned = (numbers(tensor) for tensor in (data, right, got))
    lost = (returned == 0) & (wanted != 0)
    kept = np.where(lost, wanted, returned)
    least = x[~lost & (wanted != 0) & np.isfinite(x)].min(initial=np.inf)
    is_below = lost.any() and bool((x[lost] < least).all()) and np.isfinite(least)
    if is_below and _is_inside(right, Tensor(element_type=got.element_type, array=rounded(got.type, kept))):
        yield f"As if the function were flushed to zero below {least:.4g}"


def _narrow(node: EvaluatedNode, actual: list[Tensor]) -> Iterator[str]:
    """In which narrower type results may have been computed, so that they are its numbers, or inputs may have been."""
    kind = node.tensors[0].type
    for narrow in map(ELEMENT_TYPES.__getitem__, _NARROW if kind.kind == "float" else ()):
        if narrow.layout.nmant >= kind.layout.nmant:
            continue
        narrowed, with_rounded = (node.with_tensors(partial(of, narrow)) for of in (_in_type, _rounded))
        if all(_has_numbers(narrow, x) for x in actual) and _are_given(actual, narrowed.outputs()):
            yield f"As if computed in {narrow.name}"
        elif _are_given(actual, with_rounded.outputs()):
            yield f"As if inputs were rounded to {narrow.name}"


def _has_numbers(narrow: ElementType, tensor: Tensor) -> bool:
    """Whether a type has the numbers of a tensor."""
    return not _is_float(tensor) or np.array_equal(numbers(tensor), numbers(_in_type(narrow, tensor)), equal_nan=True)


def _is_float(tensor: Tensor) -> bool:
    return tensor.type.kind == "float"


def _in_type(narrow: ElementType, tensor: Tensor) -> Tensor:
    """A floating-point tensor, rounded to another type."""
    if not _is_float(tensor):
        return tensor
    return Tensor(element_type=narrow.name, array=rounded(narrow, numbers(tensor)))


def _rounded(narrow: ElementType, tensor: Tensor) -> Tensor:
    """A floating-point tensor of its own type, of the numbers of a narrower one."""
    if not _is_float(tensor):
        return tensor
    return replace(tensor, array=rounded(tensor.type, numbers(_in_type(narrow, tensor))))


def _are_given(actual: list[Tensor], outputs: tuple[Tensor, ...]) -> bool:
    """Whether outputs with bounds allow all actual outputs."""
    return len(outputs) == len(actual) and all(map(_is_inside, outputs, actual))


def _is_inside(output: Tensor, actual: Tensor) -> bool:
    if output.shape != actual.shape or "float" not in (output.type.kind, actual.type.kind):
        return output.shape == actual.shape and np.array_equal(output.array, actual.array)
    lower, upper = (numbers(replace(output, array=x)) for x in output.bounds or (output.array,) * 2)
    got = numbers(actual)
    is_exact_zero = (lower == 0) & (upper == 0)  # whose sign counts
    has_sign = ~is_exact_zero | (np.signbit(numbers(output)) == np.signbit(got))
    with np.errstate(invalid="ignore"):
        return bool(((lower <= got) & (got <= upper) & has_sign | (np.isnan(lower) & np.isnan(got))).all())
