"""GatherTree-1, from its specification page: the tokens of each beam, found by following its parents backwards."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, TensorType, Unknown
from opconform.operations.checks import NUMBERS
from opconform.operations.interpretation import Reading, has_kind, is_empty
from opconform.operations.operation import Computation
from opconform.suite.declarations import Port
from opconform.tensors.rounding import Number, numbers_of
from opconform.tensors.tensor import Array, Tensor

_RANK = 3
#: The settings, which have the element type of the step ids (Types).
_SETTINGS = ("parent_ids", "max_seq_len", "end_token")


def _has_other_type(name: str, arguments: Arguments) -> bool:
    types = {arguments.operand(x).element_type for x in ("step_ids", name)}
    if types - {*NUMBERS}:
        raise Unknown
    return len(types) > 1


def _are_fractions(name: str, arguments: Arguments) -> bool:
    return any(number % 1 != 0 for number in arguments.elements(name))  # also infinities and NaNs


def _are_others(arguments: Arguments) -> bool:
    """Whether there is not one length per batch (Inputs, 3)."""
    return arguments.shape("max_seq_len") != arguments.shape("step_ids")[1:2]


def _lengths(arguments: Arguments) -> Iterator[int]:
    """How many time steps of each batch are read."""
    if _are_others(arguments) or _are_fractions("max_seq_len", arguments):
        raise Unknown
    for length in arguments.elements("max_seq_len"):
        yield min(int(length), arguments.shape("step_ids")[0])


def _is_short(arguments: Arguments) -> bool:
    return any(length < 1 for length in arguments.elements("max_seq_len"))


def _parents(arguments: Arguments) -> list[list[list[Number]]]:
    """The parents by time, batch and beam."""
    if arguments.shape("parent_ids") != arguments.shape("step_ids") or _are_fractions("parent_ids", arguments):
        raise Unknown
    array = np.array(arguments.elements("parent_ids"), object)
    parents: list[list[list[Number]]] = array.reshape(arguments.shape("parent_ids")).tolist()
    return parents


def _paths(arguments: Arguments) -> Iterator[tuple[int, int, list[Number]]]:
    """Each batch and beam, and the beams that its tokens come from, the last time step first (pseudocode)."""
    if 0 in arguments.shape("step_ids"):
        return
    parents, beams = _parents(arguments), range(arguments.shape("step_ids")[2])
    for batch, length in enumerate(_lengths(arguments)):
        for beam in beams:
            path: list[Number] = [beam]
            for time in range(length - 1, 0, -1):
                if path[-1] in beams:
                    path.append(parents[time][batch][int(path[-1])])
            yield batch, beam, path


def _is_outside(arguments: Arguments) -> bool:
    """Whether a parent that a beam follows is not a beam."""
    beams = range(arguments.shape("step_ids")[2])
    return any(parent not in beams for _, _, path in _paths(arguments) for parent in path)


def _tokens(arguments: Arguments) -> Array:
    """The final ids in the storage type of the step ids."""
    steps, end = arguments.tensor("step_ids"), arguments.tensor("end_token")
    output = np.full(steps.shape, end.array, steps.array.dtype)
    numbers = np.array(numbers_of(steps), object).reshape(steps.shape)
    [last] = numbers_of(end)
    for batch, beam, path in _paths(arguments):
        for time, source in enumerate(map(int, reversed(path))):
            output[time, batch, beam] = steps.array[time, batch, source]
            if numbers[time, batch, source] == last:
                break
    return output


def _gathered(arguments: Arguments) -> tuple[Tensor, ...]:
    return (Tensor(element_type=arguments.operand("step_ids").element_type, array=_tokens(arguments)),)


def _is_any_outside(arguments: Arguments) -> bool:
    """Whether a parent, followed or not, is not a beam."""
    width = arguments.shape("step_ids")[2]
    return any(not 0 <= parent < width for parent in arguments.elements("parent_ids"))


def _has_fractions(arguments: Arguments) -> bool:
    """Whether a token is known not to be an integer."""
    operands = (arguments.operand(name) for name in ("step_ids", "end_token"))
    tensors = [x.tensor for x in operands if x.tensor is not None and not x.is_integer]
    return any(number % 1 != 0 for tensor in tensors for number in numbers_of(tensor))


GATHER_TREE = Computation(
    name="GatherTree-1",
    inputs=(
        Port("step_ids", types=NUMBERS, ranks=(_RANK,)),
        Port("parent_ids", setting=True, types=NUMBERS, ranks=(_RANK,)),
        Port("max_seq_len", setting=True, types=NUMBERS, ranks=(1,)),
        Port("end_token", setting=True, types=NUMBERS, ranks=(0,)),
    ),
    same_types=_SETTINGS,
    checks={
        **{f"{name}.same-type": partial(_has_other_type, name) for name in _SETTINGS},
        "parent_ids.whole": partial(_are_fractions, "parent_ids"),
        "max_seq_len.whole": partial(_are_fractions, "max_seq_len"),
        "parent_ids.shape": lambda a: a.shape("parent_ids") != a.shape("step_ids"),
        "parent_ids.range": _is_outside,
        "max_seq_len.count": _are_others,
        "max_seq_len.positive": _is_short,
    },
    types=lambda a: (TensorType(element_type=a.operand("step_ids").element_type, shape=a.shape("step_ids")),),
    calculate=_gathered,
    contexts={"chain": contexts.chain("step_ids"), "doubled": contexts.doubled(lambda _: 0)},
    facts={
        "a length is beyond the time steps": lambda a: any(
            length > a.shape("step_ids")[0] for length in a.elements("max_seq_len")
        ),
        "a length is less than the time steps": lambda a: any(
            length < a.shape("step_ids")[0] for length in a.elements("max_seq_len")
        ),
        "every beam is its own parent": lambda a: all(parent == beam for _, beam, path in _paths(a) for parent in path),
        "there are several batches": lambda a: a.shape("step_ids")[1] > 1,
        "the ids are floating-point numbers": lambda a: has_kind(a.operand("step_ids"), "float"),
    },
    readings={
        "step_ids.zero-size": Reading(rejects=lambda a: is_empty(a.operand("step_ids"))),
        "step_ids.fractions": Reading(rejects=_has_fractions),
        "parent_ids.unused": Reading(rejects=_is_any_outside),
    },
)
