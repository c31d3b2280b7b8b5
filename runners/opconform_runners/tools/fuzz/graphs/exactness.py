"""Whether the golden of a graph is sure: whatever the order and the fusion of its operations, every right one has it.

A graph is drawn only if its numbers are exact with digits to spare, also where a backend computes in a narrower type,
and no other reading of a page gives other results.
"""

from collections.abc import Sequence

import numpy as np

from opconform.model.evaluation import evaluated_arguments
from opconform.model.golden import Golden
from opconform.model.readings import is_read_otherwise
from opconform.operations import OPERATIONS
from opconform.operations.arguments import Arguments
from opconform.operations.operation import Operation
from opconform.tensors.tensor import Tensor

#: The most binary digits of the numbers of a graph that computes: one less than bf16 has, the type of fewest digits.
_DIGITS = 7
#: The digits of the numbers that a type of at most 64 bits has.
_MOST_DIGITS = 53


def is_sure(golden: Golden) -> bool:
    """Whether every right way of computing a graph gives its golden, or results within the golden's bounds."""
    nodes = golden.graph.nodes
    computes = any(OPERATIONS[node.op].is_numeric for node in nodes)
    return all(
        (not computes or all(map(has_few_digits, feed.values())))
        and all(
            is_read_alike(OPERATIONS[node.op], evaluated_arguments(node, feed), [feed[name] for name in node.outputs])
            for node in nodes
        )
        for feed in golden.tensors
    )


def is_read_alike(operation: Operation, arguments: Arguments, outputs: Sequence[Tensor]) -> bool:
    """Whether every reading of an operation's page gives these outputs, and no other ones are as right."""
    return not any(x.also for x in outputs) and not is_read_otherwise(operation, arguments, tuple(outputs))


def has_few_digits(tensor: Tensor) -> bool:
    """Whether numbers are finite small multiples of one unit; zeros have no sign, since the order of sums decides it.

    Results with bounds may have any digits.
    """
    if tensor.type.kind != "float" or not tensor.array.size or tensor.bounds is not None:
        return True
    numbers = tensor.array.view(tensor.type.arithmetic).astype(np.float64).ravel()
    if not np.isfinite(numbers).all() or np.signbit(numbers[numbers == 0]).any():
        return False
    numbers = np.abs(numbers[numbers != 0])
    if not numbers.size:
        return True
    fractions, exponents = np.frexp(numbers)
    whole = (fractions * 2.0**_MOST_DIGITS).astype(np.int64)
    units = exponents - _MOST_DIGITS + np.log2((whole & -whole).astype(np.float64))  # of each number's lowest digit
    is_normal = numbers.min() >= float(tensor.type.layout.smallest_normal)
    return bool(is_normal and exponents.max() - units.min() <= _DIGITS)
