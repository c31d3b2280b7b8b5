"""FakeQuantize-1, as the `numpy` backend executes it: by steps between levels, in 64 bits, and rounded at the end."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from opconform.tensors.tensor import Tensor
from opconform_runners.backends.constraints import refuse_if
from opconform_runners.backends.graph import Function
from opconform_runners.backends.numpy.arithmetic import result_of
from opconform_runners.backends.numpy.convert import number_array

_LIMITS = ("input_low", "input_high", "output_low", "output_high")


def _fake_quantize(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> list[Tensor]:
    """The steps of the input range below an element, as steps of the output range."""
    data, *limits = inputs
    for name, limit in zip(_LIMITS, limits, strict=True):
        refuse_if(limit.element_type != data.element_type, f"{name}.same-type")
    last = attributes["levels"] - 1
    refuse_if(last < 1, "levels.range")
    is_plain = attributes.get("auto_broadcast", "numpy") == "none"
    refuse_if(is_plain and any(limit.shape != data.shape for limit in limits), "none.shapes")
    try:
        low, high, least, most = (np.broadcast_to(number_array(limit), data.shape) for limit in limits)
    except ValueError:
        low = high = least = most = np.zeros(())
        refuse_if(True, "limits.shape")
    x = number_array(data)
    with np.errstate(all="ignore"):
        count = np.rint((x - low) / ((high - low) / last))
        level = least + count * ((most - least) / last)
        results = np.select([x <= np.minimum(low, high), x > np.maximum(low, high)], [least, most], level)
    return result_of(data.element_type, results)


#: The function of each operation.
QUANTIZATION: Mapping[str, Function] = {"FakeQuantize-1": _fake_quantize}
