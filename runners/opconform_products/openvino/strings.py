"""String tensors through OpenVINO's Python interface, byte for byte.

Its arrays of strings lose NULs at the end, as numpy's do, and `str_data` changes bytes that are not UTF-8. So strings
are read one by one, since the width of an array of one string is the string's length.
"""

import numpy as np

from opconform.tensors.tensor import Array
from opconform.tensors.texts import bytes_of, text_of
from opconform_products.openvino.runtime import ov
from opconform_runners.backends.backend import Unsupported


def string_tensor(texts: Array) -> ov.Tensor:
    """A tensor of the strings that texts stand for; raises `Unsupported` for a NUL at the end of a string."""
    strings = [bytes_of(str(text)) for text in texts.reshape(-1)]
    if any(string.endswith(b"\0") for string in strings):
        raise Unsupported("OpenVINO's Python interface takes no string that ends in NUL")
    return ov.Tensor(np.array(strings, np.bytes_).reshape(texts.shape))


def texts_of(tensor: ov.Tensor) -> Array:
    """The texts that stand for a tensor's strings."""
    shape = tuple(tensor.shape)
    flat = ov.Tensor(ov.Type.string, ov.Shape(shape))
    tensor.copy_to(flat)
    flat.shape = ov.Shape([flat.size])
    strings = (ov.Tensor(flat, ov.Coordinate([n]), ov.Coordinate([n + 1])).bytes_data for n in range(flat.size))
    return np.array([text_of(_content(string)) for string in strings], np.str_).reshape(shape)


def _content(string: Array) -> bytes:
    """The bytes of an array of one string.

    An array of an empty string has the stride 0 and arbitrary content. A single NUL would be read as an empty string.
    """
    return string.tobytes() if string.strides != (0,) and string.tobytes() != b"\0" else b""
