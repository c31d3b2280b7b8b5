"""Evaluation of uses of operations one behind the other, and whether every result is exact."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from opconform.generation.identity.tensor_keys import tensor_draft
from opconform.generation.options import LIMITS
from opconform.generation.pairs.elements import data_of
from opconform.generation.pairs.templates import Use
from opconform.model.draft import TensorDraft
from opconform.model.evaluation import operand_of
from opconform.model.fills import fill
from opconform.operations.arguments import NoGolden, Rejection, Unknown
from opconform.operations.operation import Computation
from opconform.specs.schema.keys import TensorKeys
from opconform.suite.case import Shape
from opconform.suite.declarations import Port
from opconform.tensors.tensor import Tensor

#: Where the tensors that an operation takes come from: the data, or the first output of an earlier use.
Sources = Sequence[Literal["data"] | int]
#: How many integers from 0 on a type holds exactly, which sums in its own precision may not exceed.
_EXACT = {"bf16": 2**8, "f16": 2**11, "f32": 2**24, "f64": 2**53}
_DATA = Port("data")
#: The keys of a tensor.
Keys = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """A use of an operation, and where its data come from."""

    use: Use
    sources: Sources


def results(steps: Sequence[Step], data: Keys, *, wide: bool = False) -> list[Tensor]:
    """The first outputs of each step on data with some keys; `NoGolden`, `Rejection` or `Unknown` if there are none.

    With `wide`, floating-point data have the type f64.
    """
    outputs: list[Tensor] = []
    used = {source for step in steps for source in step.sources}
    for number, step in enumerate(steps):
        is_followed = number in used and not wide
        if step.sources == ("data",):
            outputs.append(_on_data(step.use, _Data(data), wide, is_followed))
        else:
            source = _tensor(_Data(data), wide)
            given = [source if x == "data" else outputs[x] for x in step.sources]
            outputs.append(_output(step.use, given, wide=wide, is_followed=is_followed))
    return outputs


def exact_results(steps: Sequence[Step], data: Keys, outputs: Sequence[Tensor]) -> list[bool]:
    """Whether each result has no bounds, and is a number and the same in a wider type."""
    if not any(step.use.template.operation.can_calculate for step in steps):
        return [True] * len(steps)
    exact = [x.bounds is None and x.spans is None and not x.also and _is_small(x) for x in outputs]
    count = len(exact) if all(exact) else exact.index(False)
    with suppress(NoGolden, Rejection, Unknown):
        wide = results(steps[:count], data, wide=True)
        return [*map(_are_same, outputs, wide), *exact[count:]]
    return exact


@cache
def has_exact_results(use: Use, element_type: str, shape: Shape) -> bool:
    """Whether a use of an operation has an exact result for some data."""
    sources: Sources = ["data"] * len(use.places)
    step = Step(use, sources)
    for data in data_of(element_type, shape):
        with suppress(NoGolden, Rejection, Unknown):
            if all(exact_results([step], data, results([step], data))):
                return True
    return False


class _Data(NamedTuple):
    """The keys of data as one value."""

    keys: Keys

    def __hash__(self) -> int:
        return hash(repr(self.keys))


@lru_cache(maxsize=4_096)
def _tensor(data: _Data, wide: bool) -> Tensor:
    tensor = fill(tensor_draft(_DATA, TensorKeys.model_validate(data.keys), LIMITS))
    return _wide(tensor) if wide else tensor


@lru_cache(maxsize=16_384)
def _on_data(use: Use, data: _Data, wide: bool, is_followed: bool) -> Tensor:
    return _output(use, [_tensor(data, wide)], wide=wide, is_followed=is_followed)


def _output(use: Use, given: Sequence[Tensor], *, wide: bool, is_followed: bool) -> Tensor:
    """The first output of a use for given data, with its errors if the next use computes with them."""
    tensors = {place: _filled(x) for place, x in use.drafts.items()}
    if wide:
        tensors = {p: x if use.port(p).role == "setting" else _wide(x) for p, x in tensors.items()}
    operands = {p: operand_of(x, exact=use.port(p).role == "setting") for p, x in tensors.items()}
    places = zip(use.places, given, strict=True)
    arguments = use.arguments([operand_of(x, exact=use.port(p).role == "setting") for p, x in places], operands)
    operation = use.template.operation
    outputs = operation.evaluate(arguments)
    if is_followed and isinstance(operation, Computation):
        outputs = operation.followed(arguments, outputs)
    return outputs[0]


def _is_small(tensor: Tensor) -> bool:
    """Whether there is no NaN, and no number for which sums in the type's own precision would be rounded."""
    if tensor.type.kind != "float":
        return True
    numbers = _numbers(tensor)
    return bool((np.isinf(numbers) | (np.abs(numbers) <= _EXACT.get(tensor.element_type, 0))).all())


def _are_same(first: Tensor, second: Tensor) -> bool:
    if first.type.kind != "float" or second.type.kind != "float":
        return np.array_equal(first.array, second.array)
    return np.array_equal(_numbers(first), _numbers(second))


def _numbers(tensor: Tensor) -> Any:
    with np.errstate(invalid="ignore", over="ignore"):
        return tensor.array.view(tensor.type.arithmetic).astype(np.float64)


def _wide(tensor: Tensor) -> Tensor:
    if tensor.element_type not in _EXACT:
        return tensor
    return replace(tensor, element_type="f64", array=_numbers(tensor))


@cache
def _filled(draft: TensorDraft) -> Tensor:
    return fill(draft, "pairs")
