"""Eye-9, from its specification page: matrices with ones on one diagonal."""

import numpy as np

from opconform.operations import contexts
from opconform.operations.arguments import Arguments, TensorType, Unknown
from opconform.operations.arithmetic.elementwise import tensor_of
from opconform.operations.checks import NUMBERS
from opconform.operations.interpretation import Reading
from opconform.operations.operation import Computation
from opconform.suite.case import Shape
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array, Tensor

_INDICES = ("i32", "i64")
#: The shapes of a number: a scalar, or a list of one.
_ONE = ((), (1,))


def _number(arguments: Arguments, name: str) -> int:
    numbers = arguments.integers(name)
    if len(numbers) != 1:
        raise Unknown
    return numbers[0]


def _batch(arguments: Arguments) -> Shape:
    return arguments.integers("batch_shape") if "batch_shape" in arguments.inputs else ()


def _shape(arguments: Arguments) -> Shape:
    return (*_batch(arguments), _number(arguments, "num_rows"), _number(arguments, "num_columns"))


def _type(arguments: Arguments) -> str:
    return str(arguments.attribute("output_type"))


def _tensor(arguments: Arguments, matrix: Array) -> tuple[Tensor, ...]:
    """The output with a matrix of zeros and ones in every place of the batch."""
    kind = ELEMENT_TYPES[_type(arguments)]
    results = np.broadcast_to(matrix, _shape(arguments))
    return (tensor_of(kind, results.astype(np.float64 if kind.kind in ("float", "lookup") else object)),)


def _computed(arguments: Arguments) -> tuple[Tensor, ...]:
    if 0 in _shape(arguments):  # of which the other size may be larger than memory
        return _tensor(arguments, np.zeros((1, 1)))
    rows, columns = _shape(arguments)[-2:]
    places = np.arange(columns) - np.arange(rows)[:, np.newaxis]
    return _tensor(arguments, places == _number(arguments, "diagonal_index"))


def _is_beyond_other_size(arguments: Arguments) -> bool:
    """Whether the diagonal is beyond the number of rows, or below that of columns, as a sentence of the page has it."""
    rows, columns, diagonal = (_number(arguments, x) for x in ("num_rows", "num_columns", "diagonal_index"))
    return diagonal >= rows if diagonal > 0 else -diagonal >= columns


def _zeros(arguments: Arguments) -> tuple[Tensor, ...]:
    if not _is_beyond_other_size(arguments):
        raise Unknown
    return _tensor(arguments, np.zeros((1, 1)))


EYE = Computation(
    name="Eye-9",
    inputs=(
        Port("num_rows", setting=True, types=_INDICES, shapes=_ONE),
        Port("num_columns", setting=True, types=_INDICES, shapes=_ONE),
        Port("diagonal_index", setting=True, types=_INDICES, shapes=_ONE),
        Port("batch_shape", setting=True, optional=True, types=_INDICES, ranks=(1,)),
    ),
    attributes=(AttributeSpec("output_type", type="enum", values=NUMBERS),),
    checks={
        "num_rows.negative": lambda a: _number(a, "num_rows") < 0,
        "num_columns.negative": lambda a: _number(a, "num_columns") < 0,
        "batch_shape.negative": lambda a: any(size < 0 for size in _batch(a)),
    },
    types=lambda a: (TensorType(element_type=_type(a), shape=_shape(a)),),
    calculate=_computed,
    reads_elements=False,
    contexts={"doubled": contexts.doubled(lambda _: 0), "convert": contexts.convert},
    facts={
        "the diagonal is above the main one": lambda a: _number(a, "diagonal_index") > 0,
        "the diagonal is below the main one": lambda a: _number(a, "diagonal_index") < 0,
        "the matrix is square": lambda a: _number(a, "num_rows") == _number(a, "num_columns"),
        "the output has batch dimensions": lambda a: len(_batch(a)) > 0,
    },
    readings={"diagonal_index.beyond": Reading(computes=(_zeros,))},
)
