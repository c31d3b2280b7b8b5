"""Facts about a case, in words, by which failing cases can differ from passing ones.

They follow from the case, the values of its inputs and the declaration of its operation; no fact is of one operation.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from ml_dtypes import finfo

from opconform.operations import OPERATIONS
from opconform.suite.case import Accept, Case, Input
from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.tensor import Array, Tensor

#: How the elements of each kind of element type are called.
_KINDS = {"signed": "signed integers", "unsigned": "unsigned integers", "float": "floating-point", "string": "strings"}
_BYTE, _WORD = 8, 32
#: The types that floating-point values may pass through.
_NARROW = [ELEMENT_TYPES[name] for name in ("f32", "bf16", "f16")]
#: The widths, in bits, beyond which integers are cut by narrower integers or rounded by floating-point numbers.
_WIDTHS = (63, 53, 31, 24)
#: What values can have in common, in words that follow the name of the tensor.
_INTEGERS: Mapping[str, Callable[[Array], Array]] = {
    "has a negative value": lambda values: values < 0,
    "has a value below -1": lambda values: values < -1,
    "has -1": lambda values: values == -1,
    "has 0": lambda values: values == 0,
}
_SCALARS = dict(zip(("is negative", "is below -1", "is -1", "is 0"), _INTEGERS.values(), strict=True))
_FLOATS: Mapping[str, Callable[[Array], Array]] = {
    "has NaNs": np.isnan,
    "has infinities": np.isinf,
    "has negative zeros": lambda values: (values == 0) & np.signbit(values),
    "has denormal numbers": lambda values: (
        (values != 0) & (np.abs(values) < finfo(values.dtype).smallest_normal)  # type: ignore[no-untyped-call]
    ),
}


def facts_of(case: Case, feeds: Sequence[Mapping[str, Array]]) -> frozenset[str]:
    """The facts about a case, of which `feeds` has the inputs by name, in their storage dtypes."""
    return frozenset((*_of_graph(case), *_of_inputs(case, feeds), *_of_attributes(case), *_of_lengths(case)))


def _of_graph(case: Case) -> Iterator[str]:
    if case.context != "bare":
        yield f"the context is {case.context}"
    if case.feeds > 1:
        yield "there are two inferences"
    outputs = case.expect.accept if isinstance(case.expect, Accept) else ()
    if any(0 in each.shape for each in outputs):
        yield "an output is empty"
    if any(not each.shape for each in outputs):
        yield "an output is a scalar"


def _of_inputs(case: Case, feeds: Sequence[Mapping[str, Array]]) -> Iterator[str]:
    operation = OPERATIONS.get(case.op)
    for each in case.inputs:
        port = operation.port_of(each.name) if operation is not None else None
        name = f"one of {port.name}" if port is not None and port.variadic else each.name
        tensors = [Tensor(element_type=each.element_type, array=feed[each.name]) for feed in feeds]
        for words in (*_delivered(each), *_typed(tensors[0].type), *_shaped(tensors), *_valued(tensors)):
            yield f"{name} {words}"


def _delivered(each: Input) -> Iterator[str]:
    if each.binding == "constant":
        yield "is constant"
    elif each.role == "control":
        yield "is given at run time"
    if each.dynamic is None:
        yield "has static dimensions"
    else:
        yield "has a dynamic rank" if each.dynamic == "..." else "has dynamic dimensions"


def _typed(kind: ElementType) -> Iterator[str]:
    yield f"is {kind.name}"
    if kind.kind in _KINDS:
        yield f"is {_KINDS[kind.kind]}"
    if 0 < kind.bits < _BYTE:
        yield "has elements narrower than a byte"
    if kind.bits > _WORD:
        yield "has 64-bit elements"


def _shaped(tensors: Sequence[Tensor]) -> Iterator[str]:
    """Facts about the shapes of one input in all feeds."""
    rank, sizes, bits = len(tensors[0].shape), {int(each.array.size) for each in tensors}, tensors[0].type.bits
    yield f"has rank {rank}"
    yield from (f"has rank {least} or more" for least in range(2, rank + 1))
    if 0 in sizes:
        yield "is empty"
    if 1 in sizes:
        yield "has one element"
    if any(size * bits % _BYTE for size in sizes):
        yield "ends within a byte"
    if len({each.shape for each in tensors}) > 1:
        yield "has another shape in the second inference"


def _valued(tensors: Sequence[Tensor]) -> Iterator[str]:
    """Facts about the elements of one input in all feeds."""
    kind = tensors[0].type
    if kind.is_integer:
        numbers = [_numbers(each) for each in tensors]
        facts, has = (_INTEGERS, "has a value") if tensors[0].shape else (_SCALARS, "is")
        yield from _any(facts, numbers)
        ends = [int(end) for each in numbers if each.size for end in (each.min(), each.max())]
        yield from _wide(max(map(_width, ends), default=0), has)
    elif kind.kind == "float" and kind.native is not None:
        floats = [each.array.view(kind.native).reshape(-1) for each in tensors]
        with np.errstate(all="ignore"):
            yield from _any(_FLOATS, floats)
            yield from (
                f"has values that {narrow.name} rounds"
                for narrow in _NARROW
                if narrow.bits < kind.bits and any(_is_rounded(each, narrow) for each in floats)
            )


def _any(facts: Mapping[str, Callable[[Array], Array]], arrays: Sequence[Array]) -> Iterator[str]:
    return (words for words, holds in facts.items() if any(holds(each).any() for each in arrays))


def _numbers(tensor: Tensor) -> Array:
    """The elements of an integer tensor by their values."""
    if tensor.type.kind == "signed" and tensor.type.storage.kind == "u":
        sign = 1 << (tensor.type.bits - 1)
        return (tensor.array.astype(np.int16) ^ sign) - sign
    return tensor.array


def _is_rounded(values: Array, narrow: ElementType) -> bool:
    numbers = values[np.isfinite(values)]
    return bool((numbers.astype(narrow.arithmetic).astype(values.dtype) != numbers).any())


def _of_attributes(case: Case) -> Iterator[str]:
    operation = OPERATIONS.get(case.op)
    if operation is not None:
        yield from (f"{each.name} is omitted" for each in operation.attributes if each.name not in case.attributes)
        given = [*case.node.inputs, *[None] * len(operation.inputs)]
        yield from (
            f"{port.name} is omitted"
            for port, name in zip(operation.inputs, given, strict=False)
            if name is None and not port.variadic
        )
    for name, value in case.attributes.items():
        if isinstance(value, tuple | list):
            yield from (f"{name} has {each!r}" for each in value)
            yield from () if value else (f"{name} is empty",)
        else:
            yield f"{name} is {value!r}"
            yield from _wide(_width(value), f"{name} is") if isinstance(value, int) else ()


def _of_lengths(case: Case) -> Iterator[str]:
    """How the lengths of lists compare with that of the first one, and with the number of dimensions of the data."""
    attributes = {name: len(value) for name, value in case.attributes.items() if isinstance(value, tuple | list)}
    if len({each for each in attributes.values() if each}) > 1:
        yield "the list attributes differ in length"
    controls = {each.name: each.shape[0] for each in case.inputs if each.role == "control" and len(each.shape) == 1}
    lists = controls | attributes
    against = {f"than {name}": length for name, length in [*lists.items()][:1]}
    ranks = {f"than {each.name} has dimensions": len(each.shape) for each in case.inputs if each.role == "tensor"}
    for name, length in lists.items():
        for words, other in (*against.items(), *[*ranks.items()][:1]):
            if length != other:
                yield f"{name} has {'fewer' if length < other else 'more'} elements {words}"


def _wide(width: int, words: str) -> Iterator[str]:
    return (f"{words} beyond {each} bits" for each in _WIDTHS if width > each)


def _width(value: int) -> int:
    """How many bits an integer needs besides its sign."""
    return (value if value >= 0 else ~value).bit_length()
