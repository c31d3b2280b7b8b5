"""Operations on strings, as the `numpy` backend executes them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from opconform.tensors.tensor import Tensor, places_in
from opconform.tensors.texts import bytes_of, text_of
from opconform_runners.backends.constraints import refuse_if


def string_tensor_pack(inputs: Sequence[Tensor], _attributes: Mapping[str, Any]) -> list[Tensor]:
    """StringTensorPack-15: a slice of the symbols at each place."""
    begins, ends, symbols = inputs
    refuse_if(begins.element_type != ends.element_type, "ends.same-type")
    refuse_if(begins.shape != ends.shape, "ends.shape")
    refuse_if(np.any(begins.array < 0), "begins.negative")
    refuse_if(np.any(ends.array < 0), "ends.negative")
    refuse_if(np.any(ends.array > len(symbols.array)), "ends.range")
    refuse_if(np.any(ends.array < begins.array), "ends.order")
    texts = np.empty(begins.shape, object)
    for place in places_in(begins.array, begins.shape):
        texts[place] = text_of(symbols.array[begins.array[place] : ends.array[place]].tobytes())
    return [Tensor(element_type="string", array=texts.astype(np.str_))]


def string_tensor_unpack(inputs: Sequence[Tensor], _attributes: Mapping[str, Any]) -> list[Tensor]:
    """StringTensorUnpack-15: each string is appended to the symbols."""
    [data] = inputs
    begins, ends, symbols = np.zeros(data.shape, np.int32), np.zeros(data.shape, np.int32), bytearray()
    for place in places_in(data.array, data.shape):
        begins[place] = len(symbols)
        symbols += bytes_of(str(data.array[place]))
        ends[place] = len(symbols)
    places = [Tensor(element_type="i32", array=array) for array in (begins, ends)]
    return [*places, Tensor(element_type="u8", array=np.frombuffer(bytes(symbols), np.uint8))]
