"""StringTensorPack-15 and StringTensorUnpack-15, from their pages: strings from the bytes of all of them, and back."""

from itertools import accumulate, pairwise
from math import prod

import numpy as np

from opconform.operations.arguments import Arguments, TensorType, Unknown
from opconform.operations.contexts import computing, convert
from opconform.operations.contract import ContextError, Tested
from opconform.operations.interpretation import Reading
from opconform.operations.operation import Computation
from opconform.suite.case import Graph, Shape
from opconform.suite.declarations import Port
from opconform.tensors.tensor import Tensor
from opconform.tensors.texts import bytes_of, text_of

_INDICES = ("i32", "i64")


def _ranges(arguments: Arguments) -> list[tuple[int, int]]:
    """The begin and end of each string; `Unknown` if there are not as many of them."""
    begins, ends = arguments.integers("begins"), arguments.integers("ends")
    if len(begins) != len(ends):
        raise Unknown
    return list(zip(begins, ends, strict=True))


def _sizes(arguments: Arguments) -> list[int]:
    return [end - begin for begin, end in _ranges(arguments)]


def _strings(arguments: Arguments) -> list[bytes]:
    symbols = arguments.tensor("symbols").array
    return [symbols[begin:end].tobytes() for begin, end in _ranges(arguments)]


def _packed(arguments: Arguments) -> tuple[Tensor, ...]:
    texts = [text_of(string) for string in _strings(arguments)]
    return (Tensor(element_type="string", array=np.array(texts, np.str_).reshape(arguments.shape("begins"))),)


def _has_parts(arguments: Arguments) -> bool:
    """Whether a string is not valid UTF-8, as strings of random symbols can be."""
    if arguments.operand("symbols").tensor is None:
        return arguments.shape("symbols") != (0,)
    return any(string.decode(errors="replace").encode() != string for string in _strings(arguments))


def _has_unused_symbols(arguments: Arguments) -> bool:
    """Whether a symbol is in no string."""
    used = {place for begin, end in _ranges(arguments) for place in range(begin, end)}
    return len(used) < prod(arguments.shape("symbols"))


def _overlap(arguments: Arguments) -> bool:
    """Whether a string begins before the end of the one before it."""
    ranges = _ranges(arguments)
    return any(begin < end for (_, end), (begin, _) in pairwise(ranges))


STRING_TENSOR_PACK = Computation(
    name="StringTensorPack-15",
    inputs=(
        Port("begins", setting=True, types=_INDICES),
        Port("ends", setting=True, types=_INDICES),
        Port("symbols", types=("u8",), ranks=(1,)),
    ),
    checks={
        "begins.negative": lambda a: any(begin < 0 for begin in a.integers("begins")),
        "ends.same-type": lambda a: a.operand("begins").element_type != a.operand("ends").element_type,
        "ends.shape": lambda a: a.shape("begins") != a.shape("ends"),
        "ends.negative": lambda a: any(end < 0 for end in a.integers("ends")),
        "ends.range": lambda a: any((end,) > a.shape("symbols") for end in a.integers("ends")),
        "ends.order": lambda a: any(0 <= end < begin for begin, end in _ranges(a)),
    },
    types=lambda a: (TensorType(element_type="string", shape=a.shape("begins")),),
    calculate=_packed,
    contexts={"convert": convert},
    facts={
        "the strings are scalars": lambda a: a.shape("begins") == (),
        "there are no strings": lambda a: 0 in a.shape("begins"),
        "there are no symbols": lambda a: a.shape("symbols") == (0,),
        "a string is empty": lambda a: 0 in _sizes(a),
        "a string begins before the end of the one before it": _overlap,
        "a symbol is in no string": _has_unused_symbols,
        "a string is not valid UTF-8": lambda a: len(a.shape("symbols")) == 1 and _has_parts(a),
    },
    readings={"symbols.bytes": Reading(rejects=_has_parts), "outputs.any-order": Reading(rejects=_overlap)},
)


def _contents(arguments: Arguments) -> list[bytes]:
    """The bytes of each string."""
    return [bytes_of(str(text)) for text in arguments.tensor("data").array.flat]


def _unpacked(arguments: Arguments) -> tuple[Tensor, ...]:
    contents, shape = _contents(arguments), arguments.shape("data")
    borders = np.array([*accumulate(map(len, contents), initial=0)], np.int32)
    symbols = Tensor(element_type="u8", array=np.frombuffer(b"".join(contents), np.uint8))
    places = (Tensor(element_type="i32", array=x.reshape(shape)) for x in (borders[:-1], borders[1:]))
    return (*places, symbols)


def _unpacked_types(arguments: Arguments) -> tuple[TensorType, ...]:
    shape: Shape = arguments.shape("data")
    length = sum(map(len, _contents(arguments)))
    places = TensorType(element_type="i32", shape=shape)
    return (places, places, TensorType(element_type="u8", shape=(length,)))


def _repacked(tested: Tested) -> Graph:
    """The outputs are outputs of the model, and are also packed again."""
    if not tested.outputs:
        raise ContextError("an invalid case has no outputs for the context `repacked` to use")
    packed = computing("StringTensorPack", "StringTensorPack-15", tested.node.outputs)
    return Graph(nodes=(tested.node, packed), outputs=(*tested.node.outputs, *packed.outputs))


STRING_TENSOR_UNPACK = Computation(
    name="StringTensorUnpack-15",
    inputs=(Port("data", types=("string",)),),
    requested=lambda _: 3,
    types=_unpacked_types,
    calculate=_unpacked,
    shaped_by_elements=True,
    contexts={"repacked": _repacked},
    facts={
        "data is a scalar": lambda a: a.shape("data") == (),
        "data has no elements": lambda a: 0 in a.shape("data"),
        "a string is empty": lambda a: b"" in _contents(a),
        "a string has a NUL": lambda a: any(b"\0" in content for content in _contents(a)),
        "a string is not ASCII": lambda a: not all(content.isascii() for content in _contents(a)),
    },
)
