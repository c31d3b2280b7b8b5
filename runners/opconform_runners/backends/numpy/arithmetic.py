"""The operations that compute, as the `numpy` backend executes them: in 64 bits, and rounded at the end."""

from collections.abc import Mapping

import numpy as np

from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.backends.graph import Function
from opconform_runners.backends.numpy.convert import converted


def result_of(element_type: str, array: Array) -> list[Tensor]:
    """The result in an element type; integers keep their low bits."""
    kind = ELEMENT_TYPES[element_type]
    return [
        Tensor(element_type=element_type, array=np.asarray(converted(np.asarray(array), kind)).reshape(array.shape))
    ]


#: The function of each operation.
ARITHMETIC: Mapping[str, Function] = {}
