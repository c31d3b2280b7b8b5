"""Facts about a case, in words, by which failing cases can differ from passing ones.

They follow from the case, the values of its inputs and the declaration of its operation; no fact is of one operation.
A fact about an inference, such as a shape or a value, is a fact about the case if one of its feeds has it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from ml_dtypes import finfo

from opconform.operations import OPERATIONS
from opconform.operations.operation import Operation
from opconform.suite.case import Accept, Case, Input
from opconform.suite.declarations import Port
from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.findings.causes.alternatives import context_fact, operation_fact
from opconform_runners.findings.causes.readings import readings_of

#: How the elements of each kind of element type are called.
_KINDS = {"signed": "signed integers", "unsigned": "unsigned integers", "float": "floating-point", "string": "strings"}
_BYTE, _WORD = 8, 32
_LONG = (1 << 31) - 1
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
    "has signalling NaNs": lambda values: np.isnan(values) & ~_is_quiet(values),
    "has infinities": np.isinf,
    "has negative zeros": lambda values: (values == 0) & np.signbit(values),
    "has denormal numbers": lambda values: (
        (values != 0) & (np.abs(values) < finfo(values.dtype).smallest_normal)  # type: ignore[no-untyped-call]
    ),
}


def facts_of(
    case: Case, feeds: Sequence[Mapping[str, Array]], expected: Sequence[Mapping[str, Array]]
) -> frozenset[str]:
    """The facts about a case, of which `feeds` has the inputs by name, in their storage dtypes.

    `expected` has the expected outputs of each feed that has any.
    """
    operation = OPERATIONS.get(case.op)
    settings = [input_ for input_ in case.inputs if _is_setting(input_, operation)]
    return frozenset(
        (
            *_of_graph(case),
            *_of_attributes(case),
            *_of_differences(case, feeds),
            *(fact for feed in feeds for fact in _of_feed(case, feed)),
            *(fact for feed in expected for fact in _of_outputs(case, feed)),
            *readings_of(case, feeds, settings),
        )
    )


def _of_feed(case: Case, feed: Mapping[str, Array]) -> Iterator[str]:
    tensors = {input_.name: Tensor(element_type=input_.element_type, array=feed[input_.name]) for input_ in case.inputs}
    yield from _of_inputs(case, tensors)
    yield from _of_lengths(case, tensors)
    yield from _of_indices(case, tensors)


def _of_graph(case: Case) -> Iterator[str]:
    yield operation_fact(case.op)
    if case.context != "bare":
        yield context_fact(case.context)
    if case.feeds > 1:
        yield "there are two inferences"
    if all(input_.binding == "constant" for input_ in case.inputs):
        yield "all inputs are constant"
    if any(input_.dynamic is not None for input_ in case.inputs):
        yield "a shape is dynamic"
    else:
        yield "no shape is dynamic"
    if all(input_.dynamic is None for input_ in case.inputs) and all(
        input_.binding == "constant" for input_ in case.inputs if input_.role == "setting"
    ):
        yield "all shapes are known when the model is built"
    else:
        yield "a shape is known only at run time"
    outputs = case.expect.accept if isinstance(case.expect, Accept) else ()
    if len(outputs) > 1:
        yield "there are several outputs"


def _of_inputs(case: Case, tensors: Mapping[str, Tensor]) -> Iterator[str]:
    operation = OPERATIONS.get(case.op)
    for input_ in case.inputs:
        tensor = tensors[input_.name]
        for words in (*_delivered(input_), *_typed(tensor.type), *_shaped(tensor), *_valued(tensor)):
            yield from (f"{name} {words}" for name in _names(operation, input_))


def _of_outputs(case: Case, feed: Mapping[str, Array]) -> Iterator[str]:
    for output in case.expect.accept if isinstance(case.expect, Accept) else ():
        if output.name in feed:
            tensor = Tensor(element_type=output.element_type, array=feed[output.name])
            yield from (f"an output {words}" for words in (*_packed(tensor), *_valued(tensor)))
            if 0 in tensor.shape:
                yield "an output is empty"
            if not tensor.shape:
                yield "an output is a scalar"


def _of_differences(case: Case, feeds: Sequence[Mapping[str, Array]]) -> Iterator[str]:
    """How the shapes of one input differ between the feeds."""
    for input_ in case.inputs:
        shapes = {feed[input_.name].shape for feed in feeds}
        words = ["has another shape in the second inference"] if len(shapes) > 1 else []
        if len({0 in shape for shape in shapes}) > 1:
            words.append("is empty in one inference")
        yield from (f"{name} {one}" for one in words for name in _names(OPERATIONS.get(case.op), input_))


def _names(operation: Operation | None, given: Input) -> tuple[str, ...]:
    """How facts name an input: `data` is the first input of any operation."""
    if operation is not None and _port(operation, given) is operation.inputs[0]:
        return ("data",)
    return (given.name, "a setting input") if _is_setting(given, operation) else (given.name,)


def _is_setting(given: Input, operation: Operation | None) -> bool:
    """Whether an input decides what the operation does, such as the indices of `Gather`."""
    port = _port(operation, given)
    return given.role == "setting" or (port is not None and port.setting)


def _port(operation: Operation | None, given: Input) -> Port | None:
    try:
        return None if operation is None else operation.port_of(given.name)
    except LookupError:
        return None


def _delivered(each: Input) -> Iterator[str]:
    if each.binding == "constant":
        yield "is constant"
    else:
        yield "is given at run time"
    if each.dynamic is None:
        yield "has static dimensions"
    elif each.dynamic == "...":
        yield "has a dynamic rank"
    else:
        yield "has dynamic dimensions"
        if "?" in each.dynamic:
            yield "has dimensions of any size"
        if any(".." in str(size) for size in each.dynamic):
            yield "has bounded dimensions"


def _typed(kind: ElementType) -> Iterator[str]:
    yield f"is {kind.name}"
    if kind.kind in _KINDS:
        yield f"is {_KINDS[kind.kind]}"
    if 0 < kind.bits < _BYTE:
        yield "has elements narrower than a byte"
    if kind.bits > _WORD:
        yield "has 64-bit elements"


def _shaped(tensor: Tensor) -> Iterator[str]:
    shape = tensor.shape
    yield f"has rank {len(shape)}"
    yield from (f"has rank {least} or more" for least in range(2, len(shape) + 1))
    if 0 in shape:
        yield "is empty"
    if tensor.array.size == 1:
        yield "has one element"
    yield from _packed(tensor)
    if any(size > _LONG for size in shape):
        yield "has a dimension beyond 31 bits"
    if 1 in shape:
        yield "has a dimension of 1"
    if len(shape) > 1 and shape[0] == 1:
        yield "has a first dimension of 1 before others"


def _packed(tensor: Tensor) -> Iterator[str]:
    """Facts about where the elements of one tensor end."""
    if tensor.array.size * tensor.type.bits % _BYTE:
        yield "ends within a byte"
    if tensor.shape and tensor.shape[-1] * tensor.type.bits % _BYTE:
        yield "has rows that end within a byte"


def _valued(tensor: Tensor) -> Iterator[str]:
    """Facts about the elements of one tensor."""
    kind = tensor.type
    if kind.is_integer:
        numbers = _numbers(tensor)
        facts, has = (_INTEGERS, "has a value") if tensor.shape else (_SCALARS, "is")
        yield from _any(facts, numbers)
        yield from _wide(max(map(_width, (int(numbers.min()), int(numbers.max()))) if numbers.size else (0,)), has)
    elif kind.kind == "float" and kind.native is not None:
        floats = tensor.array.view(kind.native).reshape(-1)
        with np.errstate(all="ignore"):
            yield from _any(_FLOATS, floats)
            yield from (
                f"has values that {narrow.name} rounds"
                for narrow in _NARROW
                if narrow.bits < kind.bits and _is_rounded(floats, narrow)
            )


def _any(facts: Mapping[str, Callable[[Array], Array]], values: Array) -> Iterator[str]:
    return (words for words, holds in facts.items() if holds(values).any())


def _numbers(tensor: Tensor) -> Array:
    """The elements of an integer tensor by their values."""
    if tensor.type.kind == "signed" and tensor.type.storage.kind == "u":
        sign = 1 << (tensor.type.bits - 1)
        return (tensor.array.astype(np.int16) ^ sign) - sign
    return tensor.array


def _is_quiet(values: Array) -> Array:
    """Whether the first bit of the mantissa is set, which marks the NaNs that are quiet."""
    info = finfo(values.dtype)  # type: ignore[no-untyped-call]
    if info.bits <= _BYTE:
        return np.ones(values.shape, np.bool_)
    bits = values.view(f"u{values.dtype.itemsize}")
    return np.asarray((bits >> bits.dtype.type(info.nmant - 1)) & bits.dtype.type(1) == 1)


def _is_rounded(values: Array, narrow: ElementType) -> bool:
    numbers = values[np.isfinite(values)]
    return bool((numbers.astype(narrow.arithmetic).astype(values.dtype) != numbers).any())


def _of_attributes(case: Case) -> Iterator[str]:
    operation = OPERATIONS.get(case.op)
    if operation is not None:
        yield from (
            f"{attribute.name} is omitted"
            for attribute in operation.attributes
            if attribute.name not in case.attributes
        )
        required = {attribute.name for attribute in operation.attributes if attribute.default is None}
        given = [*case.node.inputs, *[None] * len(operation.inputs)]
        omitted = [port for port, name in zip(operation.inputs, given, strict=False) if name is None]
        if required - case.attributes.keys() or any(not n.optional for n in omitted):
            yield "a required input or attribute is omitted"
        yield from (f"{n.name} is omitted" for n in omitted if not n.variadic)
    for name, value in case.attributes.items():
        if isinstance(value, tuple | list):
            yield from (f"{name} has {x!r}" for x in value)
            yield from () if value else (f"{name} is empty",)
        else:
            yield f"{name} is {value!r}"
            if isinstance(value, int):
                yield from (f"{name} {words}" for words in _any(_SCALARS, np.array([value])))
                yield from _wide(_width(value), f"{name} is")


def _of_lengths(case: Case, tensors: Mapping[str, Tensor]) -> Iterator[str]:
    """How the lengths of lists compare with that of the first one, and with the number of dimensions of the data."""
    attributes = {name: len(value) for name, value in case.attributes.items() if isinstance(value, tuple | list)}
    if len({attribute for attribute in attributes.values() if attribute}) > 1:
        yield "the list attributes differ in length"
    shapes = {input_.name: tensors[input_.name].shape for input_ in case.inputs if input_.role == "setting"}
    lists = {name: shape[0] for name, shape in shapes.items() if len(shape) == 1} | attributes
    against = {f"than {name}": length for name, length in [*lists.items()][:1]}
    if case.inputs and case.inputs[0].role == "data":
        against["than data has dimensions"] = len(tensors[case.inputs[0].name].shape)
    for name, length in lists.items():
        for words, other in against.items():
            if length != other:
                yield f"{name} has {'fewer' if length < other else 'more'} elements {words}"


def _of_indices(case: Case, tensors: Mapping[str, Tensor]) -> Iterator[str]:
    """Which setting inputs have values that are too large to be an index of data."""
    size = max((size for input_ in case.inputs[:1] for size in tensors[input_.name].shape), default=None)
    for item in case.inputs:
        if size is not None and item.role == "setting" and tensors[item.name].type.is_integer:
            numbers = _numbers(tensors[item.name])
            if ((numbers >= size) | (numbers < -size)).any():
                yield f"{item.name} has a value that is not an index of any dimension of data"


def _wide(width: int, words: str) -> Iterator[str]:
    return (f"{words} beyond {w} bits" for w in _WIDTHS if width > w)


def _width(value: int) -> int:
    """How many bits an integer needs besides its sign."""
    return (value if value >= 0 else ~value).bit_length()
