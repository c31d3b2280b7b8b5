"""Facts about what a case is, and about what it would be if its setting inputs or attributes were read wrongly."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product

import numpy as np

from opconform.explanation.reference import EvaluatedNode, evaluated_node
from opconform.suite.case import Accept, Attribute, Case, Input, Reject
from opconform.suite.declarations import Declaration
from opconform.tensors.tensor import Array, Tensor
from opconform_runners.findings.causes.fact import Fact

#: The integer at the beginning of a text.
_LEADING = re.compile(r"\s*[+-]?\d+")
#: The most elements of a case that is evaluated with other setting inputs.
_ELEMENTS = 1 << 16
_BYTE = 8
_DIFFERS = Fact("the result", "differs")
_LEAST, _MOST = -(1 << 31), (1 << 31) - 1
_Reading = Callable[[Sequence[float]], list[int]]

#: How integers may be read, and how values of other types.
_INTEGERS: Mapping[str, _Reading] = {
    "cut to 32 bits": lambda values: [(int(value) - _LEAST) % (1 << 32) + _LEAST for value in values],
    "clamped to 32 bits": lambda values: [min(max(int(value), _LEAST), _MOST) for value in values],
}
_OTHERS: Mapping[str, _Reading] = {
    "rounded to integers": lambda values: [int(np.rint(value)) for value in values],
    "truncated to integers": lambda values: [int(value) for value in values],
}
_READINGS = [*_INTEGERS.items(), *_OTHERS.items()]
#: Which setting inputs are read so.
_BINDINGS = {
    "run-time setting inputs": ("parameter",),
    "constant setting inputs": ("constant",),
    "setting inputs": ("parameter", "constant"),
}


def readings_of(case: Case, feeds: Sequence[Mapping[str, Array]], settings: Sequence[Input]) -> Iterator[Fact]:
    """The facts about a case whose inputs are `feeds`, and whose setting inputs are `settings`."""
    for feed in feeds:
        tensors = {
            input_.name: Tensor(element_type=input_.element_type, array=feed[input_.name]) for input_ in case.inputs
        }
        node = evaluated_node(case, tensors)
        if node is None:
            return
        yield from (Fact("", sentence) for sentence in node.facts())
        if isinstance(case.expect, Accept):
            yield from _moves(node)
        for (how, read), (words, bindings) in product(_READINGS, _BINDINGS.items()):
            changed = {
                setting.name: tensor
                for setting in settings
                if setting.binding in bindings and (tensor := _read(tensors[setting.name], how, read)) is not None
            }
            misread = evaluated_node(case, tensors | changed) if changed else None
            if misread is not None:
                yield from (_if(f"{words} are {how}", change) for change in _change(node, misread))
        for how, (kind, read_text) in _TEXTS.items() if isinstance(case.expect, Reject) else ():
            attributes = _attributes(node.declaration, case, kind, read_text)
            if attributes is not None:
                changes = _change(node, node.with_attributes(attributes))
                yield from (_if(how, change) for change in changes)


def _moves(node: EvaluatedNode) -> Iterator[Fact]:
    """Whether strings move to another place, or elements that share bytes are not copied as one run of bytes."""
    data = node.data
    bits = data[0].type.bits if data else _BYTE
    is_known = bits in (0, 1, 2, 4) and sum(int(np.prod(tensor.shape)) for tensor in data) <= _ELEMENTS
    if (origins := node.origins() if is_known else None) is None:
        return
    if bits:
        known = {byte for numbers in origins.inputs.values() for byte in _bytes(numbers, _BYTE // bits)}
        if any(
            (np.diff(output.ravel()) != 1).any() or any(byte not in known for byte in _bytes(output, _BYTE // bits))
            for output in origins.outputs
        ):
            yield Fact("sub-byte elements", "move across byte boundaries")
    elif len(data) > 1 or any(output.ravel().tolist() != [*range(output.size)] for output in origins.outputs):
        yield Fact("a string", "moves to another place")


def _bytes(numbers: Array, per_byte: int) -> Iterator[tuple[int, ...]]:
    """Which elements are in each byte, and at its beginning."""
    flat = numbers.ravel().tolist()
    for start in range(0, len(flat), per_byte):
        for end in range(start + 1, start + per_byte + 1):
            yield (*flat[start:end],)


def _attributes(
    declaration: Declaration, case: Case, kind: str, read_text: Callable[[Attribute], Attribute | None]
) -> dict[str, Attribute] | None:
    """The attributes with other values of one kind; None where that is the same, or impossible."""
    types = {attribute.name: attribute.type.removesuffix("s") for attribute in declaration.attributes}
    read = {name: read_text(value) if types.get(name) == kind else value for name, value in case.attributes.items()}
    whole = {name: value for name, value in read.items() if value is not None}
    # 2.0 equals 2, and True equals 1
    return whole if repr(read) != repr(dict(case.attributes)) and len(whole) == len(read) else None


def _leading(value: Attribute) -> Attribute | None:
    """The integers at the beginning of texts; None where there is none."""
    if isinstance(value, tuple):
        parts = [_leading(x) for x in value]
        return None if None in parts else tuple(part for part in parts if isinstance(part, int))
    match = _LEADING.match(str(value))
    return int(match[0]) if match is not None else None


#: How attributes of a type may be read.
_TEXTS: Mapping[str, tuple[str, Callable[[Attribute], Attribute | None]]] = {
    "only the digits at the beginning of a text are read": ("int", _leading),
    "truth values are read as 0 and 1": ("int", lambda value: int(value) if isinstance(value, bool) else value),
    "what is not a truth value is read as false": ("boolean", lambda value: isinstance(value, bool) and value),
}


def _read(tensor: Tensor, how: str, read: _Reading) -> Tensor | None:
    """The tensor as it may be read; None where that is the same, or impossible."""
    if tensor.type.is_integer and how in _INTEGERS:
        exact = list(tensor.integers())
        elements = read(exact)
        if elements == exact:
            return None
    elif how in _OTHERS and tensor.type.kind in ("boolean", "float") and tensor.type.native is not None:
        floats = tensor.array.view(tensor.type.native).astype(np.float64).reshape(-1)
        if not np.isfinite(floats).all():
            return None
        elements = _INTEGERS["cut to 32 bits"](read(floats.tolist()))
    else:
        return None
    return Tensor(element_type="i64", array=np.array(elements, np.int64).reshape(tensor.shape))


def _if(how: str, change: Fact) -> Fact:
    """The fact that something would change if arguments were read wrongly."""
    if change.value:
        return change._replace(value=f"{change.value} if {how}")
    return change._replace(predicate=f"{change.predicate} if", value=how)


def _change(node: EvaluatedNode, misread: EvaluatedNode) -> Iterator[Fact]:
    """How a case whose arguments are misread differs."""
    right, other = node.inference(), misread.inference()
    if right.violated and other.violated:
        yield from (Fact("the case", "violates", x) for x in other.violated if x not in right.violated)
    elif right.violated:
        yield from (Fact("the case", "is valid"), _DIFFERS)
    elif other.violated:
        yield from (Fact("the case", "is invalid"), _DIFFERS)
    elif [x.shape for x in right.outputs] != [x.shape for x in other.outputs]:
        yield from (Fact("the outputs", "have other shapes"), _DIFFERS)
    elif sum(int(np.prod(x.shape)) for x in right.outputs) <= _ELEMENTS:
        pairs = zip(node.outputs(), misread.outputs(), strict=False)  # none where a result is open
        if any(first.array.tobytes() != second.array.tobytes() for first, second in pairs):
            yield _DIFFERS
