"""Mutants of every operation that misread a setting input, or an attribute that is an integer."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from opconform.operations import OPERATIONS
from opconform.specs.loader import shipped_operations
from opconform.tensors.tensor import Tensor
from tests.mutants.row import Call, Hook, MutantRow, derived, integers, low_bits

_NARROW, _UNSIGNED, _TOP = "openvinotoolkit/openvino_contrib#1093", "apache/tvm#10080", "openxla/xla#48717"
_SIGN, _ZERO, _LAST = "microsoft/onnxruntime#21771", "tracel-ai/burn#3739", "microsoft/onnxruntime#1533"
_KEPT, _ORDER, _IGNORED = "microsoft/onnxruntime#19564", "NVIDIA/TensorRT#3892", "apache/tvm#3520"

#: The values that are read in place of those of a tensor, given the name of the input.
Read = Callable[[Call, str, Tensor], Sequence[int]]
#: A way to misread integers: its name, how they are read, a public report, what is read, and whether the values as
#: they are given were checked before.
Finding = tuple[str, str, str, Read, bool]


def _each(change: Callable[[int], int], kinds: Sequence[str] = ("signed", "unsigned")) -> Read:
    return lambda _, __, given: [change(value) if given.type.kind in kinds else value for value in given.integers()]


def _as_signed(_call: Call, _name: str, given: Tensor) -> list[int]:
    return [low_bits(value, given.type.bits) for value in given.integers()]


def _as_unsigned(_call: Call, _name: str, given: Tensor) -> list[int]:
    return [value % (1 << given.type.bits) for value in given.integers()]


def _u4_as_i4(call: Call, name: str, given: Tensor) -> list[int]:
    return _as_signed(call, name, given) if given.element_type == "u4" else given.integers()


def _as_i64(_call: Call, _name: str, given: Tensor) -> list[int]:
    """What the memory holds, and zeros after it."""
    if given.type.bits in (64, *range(8)):
        return given.integers()
    memory = given.array.tobytes().ljust(8 * given.array.size, b"\0")
    return np.frombuffer(memory, np.int64).tolist()  # type: ignore[no-any-return]


def _without_top_bit(call: Call, name: str, given: Tensor) -> list[int]:
    if given.type.kind != "unsigned" or call.is_parameter(name):
        return given.integers()
    return [0 if value >> (given.type.bits - 1) else value for value in given.integers()]


def _at_run_time(read: Read) -> Read:
    return lambda call, name, given: read(call, name, given) if call.is_parameter(name) else given.integers()


def _low(bits: int) -> Read:
    return _each(lambda value: low_bits(value, bits))


def _kept(call: Call, name: str, given: Tensor) -> list[int]:
    values: list[int] = call.first(f"{name} {given.shape}", given.integers())
    return values


# fmt: off
#: The faults of both inputs and attributes.
_OF_VALUES: tuple[Finding, ...] = (
    *((f"in-{bits}-bits", f"truncated to {bits} bits", _NARROW, _low(bits), False) for bits in (8, 16, 32)),
    ("sign-lost", "read without their sign", _SIGN, _each(abs), True),
)
_OF_INPUTS: tuple[Finding, ...] = (
    *_OF_VALUES,
    ("in-16-unsigned-bits", "truncated to 16 bits if they are not negative", _NARROW,
        _each(lambda value: value if value < 0 else value & 0xFFFF), False),
    ("in-32-bits-at-run-time", "truncated to 32 bits at run time", _NARROW, _at_run_time(_low(32)), False),
    ("as-i64", "read as i64 if they are narrower", _NARROW, _as_i64, False),
    ("as-signed", "read as signed if they are unsigned", _UNSIGNED, _as_signed, False),
    ("as-unsigned", "read as unsigned if they are signed", _UNSIGNED, _as_unsigned, False),
    ("u4-as-i4", "read as i4 if they are u4", _UNSIGNED, _u4_as_i4, False),
    ("constant-top-bit", "0 if they are constant and unsigned, and their highest bit is set", _TOP, _without_top_bit,
        False),
    ("sign-lost-at-run-time", "read without their sign at run time", _SIGN, _at_run_time(_each(abs)), True),
    ("negative-as-zero", "0 if they are negative", _ZERO, _each(lambda value: max(value, 0)), True),
    ("negative-off-by-one", "one less if they are negative", _LAST, _each(lambda value: value - (value < 0)), True),
    ("zero", "not read, and 0", _IGNORED, _each(lambda _: 0), True),
    ("zero-at-run-time", "not read at run time, and 0", _IGNORED, _at_run_time(_each(lambda _: 0)), True),
    ("kept", "those of the first inference", _KEPT, _kept, True),
)
_OF_LISTS: tuple[Finding, ...] = (
    ("reversed", "read from the last to the first", _ORDER, lambda _, __, given: given.integers()[::-1], True),
    ("sorted", "read in ascending order", "NVIDIA/TensorRT#3466", lambda _, __, given: sorted(given.integers()), True),
    ("first-only", "all read as the first one", "microsoft/onnxruntime#28598",
        lambda _, __, given: given.integers()[:1] * given.array.size, True),
)
# fmt: on


def _misreading(name: str, read: Read, *, is_late: bool) -> Hook:
    def hook(call: Call) -> Any:
        given, value = call.inputs.get(name), call.attributes.get(name)
        if given is None and type(value) is int:
            given = integers([value], ())
        if given is None or not given.type.is_integer:
            return call.right()
        changed = list(read(call, name, given))
        is_same = changed == given.integers()
        outputs = call.right() if is_late or is_same else None
        if is_same:
            return outputs
        return call.right(**{name: integers(changed, given.shape) if name in call.inputs else changed[0]})

    return hook


def _ignoring(name: str) -> Hook:
    """The step that reads the default in place of an attribute."""

    def hook(call: Call) -> Any:
        outputs = call.right()
        return call.right(**{name: None}) if name in call.attributes else outputs

    return hook


def _misread(op: str, name: str, faults: Sequence[Finding]) -> Iterator[MutantRow]:
    for suffix, how, seen, read, is_late in faults:
        what = f"The values of {name} of {op} are {how}."
        yield derived(f"settings/{op}/{name}/{suffix}", op, what, seen, _misreading(name, read, is_late=is_late))


def _rows(op: str) -> Iterator[MutantRow]:
    for port in OPERATIONS[op].inputs:
        if port.setting:
            yield from _misread(op, port.name, _OF_INPUTS if port.shapes else (*_OF_INPUTS, *_OF_LISTS))
    for spec in OPERATIONS[op].attributes:
        if spec.type == "int":
            yield from _misread(op, spec.name, _OF_VALUES)
        if spec.default is not None:
            name, what = f"settings/{op}/{spec.name}/ignored", f"{op} ignores {spec.name}."
            yield derived(name, op, what, "tensorflow/tensorflow#6834", _ignoring(spec.name))


ROWS = tuple(row for op in shipped_operations() for row in _rows(op))
