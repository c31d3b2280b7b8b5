"""The variables of a script: arrays as Python source that numpy turns into the same bits again, and their types."""

import textwrap
from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from opconform.errors import UsageError
from opconform.suite.case import Accept, Case, Input, Output, Reject
from opconform.suite.manifest import Entry, inputs_name
from opconform.suite.reader import Suite
from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.tensor import Array, patterns
from opconform_runners.tools.repro.names import script_names

#: The bit order of packed types.
BIT_ORDERS = {**dict.fromkeys(("i4", "u4", "nf4", "f4e2m1", "u2"), "little"), "u1": "big"}
#: The NaNs of a type: a mask, and the largest masked bits that are not a NaN.
NANS = {
    "f64": ((1 << 63) - 1, 0x7FF << 52),
    "f32": (0x7FFF_FFFF, 0x7F80_0000),
    "f16": (0x7FFF, 0x7C00),
    "bf16": (0x7FFF, 0x7F80),
    "f8e4m3": (0x7F, 0x7E),
    "f8e5m2": (0x7F, 0x7C),
    "f8e8m0": (0xFF, 0xFE),
}
#: The types whose numbers a script can compare, and not only their bits.
COMMON = ("bf16", "f16", "f32", "f64")
#: The most elements that are written out one by one.
MOST = 4_096
_WIDTH = 100
_FEW = 2
#: The steps of the slices that outputs may be.
_STEPS = (1, -1, 2, -2, 3, -3)


class Variable(NamedTuple):
    """A variable of a script and the input that it holds."""

    name: str
    source: str
    input: Input

    @property
    def kind(self) -> ElementType:
        """Its element type."""
        return ELEMENT_TYPES[self.input.element_type]

    @property
    def is_odd(self) -> bool:
        """Whether it holds the bits of a type that numpy does not have."""
        return is_odd(self.kind)


class ScriptFeed(NamedTuple):
    """One inference: the variables of the model's parameters, and expressions for the expected outputs.

    `limits` has expressions for the least and the largest right elements of each output; None if its bits are compared.
    `also` has expressions for lists of arrays whose elements are as right; it is empty if no output has any.
    """

    arguments: tuple[Variable, ...]
    expected: tuple[str, ...]
    limits: tuple[str, ...]
    also: tuple[str, ...] = ()


class OutputKinds(NamedTuple):
    """The element types of what a model returns.

    Attributes:
        odd: The one that numpy does not have, if there is one.
        computed: The one of the outputs that have limits, if there are any.
    """

    kinds: tuple[ElementType, ...]
    odd: ElementType | None
    computed: ElementType | None

    @property
    def is_mixed(self) -> bool:
        """Whether the outputs have several element types."""
        return len(self.kinds) > 1

    @property
    def are_strings(self) -> bool:
        """Whether the outputs are strings."""
        return self.kinds[0].kind == "string"

    @property
    def digits(self) -> int:
        """The hexadecimal digits of an element; 0 if the outputs have several element types."""
        return 0 if self.is_mixed else max(self.kinds[0].bits // 4, 1)

    @property
    def have_values(self) -> bool:
        """Whether numpy shows the values of the elements, beside their bits."""
        return self.odd is None and all(kind.kind != "boolean" for kind in self.kinds)

    @property
    def both_nan(self) -> str:
        """An expression for the elements of `want` and `have` that are NaNs in both; empty without NaNs."""
        source = next((kind.name for kind in self.kinds if nan_source(kind.name, "want")), None)
        if source is None:
            return ""
        both = " & ".join(nan_source(source, name) for name in ("want", "have"))
        return f"(want.dtype == np.{self.odd.storage.name}) & {both}" if self.odd and self.is_mixed else both


def output_kinds(case: Case) -> OutputKinds:
    """The element types of a case's outputs; the types of its data if it is rejected.

    Raises `UsageError` for types that a script cannot compare together.
    """
    if isinstance(case.expect, Accept):
        names = [output.element_type for output in case.expect.accept]
    else:
        names = [port.element_type for port in case.inputs if port.role == "data"][:1] or ["string"]
    kinds = [ELEMENT_TYPES[name] for name in dict.fromkeys(names)]
    odd = [kind for kind in kinds if is_odd(kind)]
    computed = [*dict.fromkeys(output.element_type for output in case.outputs if has_limits(output))]
    if len(odd) > 1 or len({kind.kind == "string" for kind in kinds}) > 1 or len(computed) > 1:
        raise UsageError(f"A short script cannot compare outputs of {', '.join(kind.name for kind in kinds)}.")
    return OutputKinds(tuple(kinds), odd[0] if odd else None, ELEMENT_TYPES[computed[0]] if computed else None)


def has_limits(output: Output) -> bool:
    """Whether a script compares numbers. Numbers of 8 bits or fewer are right in their bits alone, except for NaNs."""
    return output.comparison == "bounds" or (output.comparison == "numbers" and output.element_type in COMMON)


def variables_of(suite: Suite, entry: Entry, case: Case) -> tuple[tuple[Variable, ...], tuple[ScriptFeed, ...]]:
    """The variables for the arrays of a case, and the inputs and expected outputs of each inference."""
    variables: dict[str, Variable] = {}
    script, feeds = script_names(case), []
    for feed in range(case.feeds):
        arrays, names = suite.arrays(entry, inputs_name(feed)), {}
        free = script.second if feed else script.arrays
        for input_ in case.inputs:
            source = array_source(arrays[input_.name])
            known = [
                name for name, variable in variables.items() if variable.source == source and variable.input == input_
            ]
            names[input_.name] = known[0] if known else free[input_.name]
            variables.setdefault(names[input_.name], Variable(names[input_.name], source, input_))
        fed = tuple(variables[names[input_.name]] for input_ in case.inputs if input_.binding == "parameter")
        data = {names[input_.name]: arrays[input_.name] for input_ in case.inputs if input_.role == "data"}
        golden = suite.golden(entry, feed) if case.outputs else {}
        expected = tuple(output_source(golden[output.name], data) for output in case.outputs)
        also = suite.also(entry, feed) if case.outputs else ()
        values = tuple("()" if x is None else array_source(x) for x in also)
        others = values if any(x is not None for x in also) else ()
        feeds.append(ScriptFeed(fed, expected, _limits(suite, entry, case, feed), others))
    return tuple(variables.values()), tuple(feeds)


def _limits(suite: Suite, entry: Entry, case: Case, feed: int) -> tuple[str, ...]:
    limits = []
    bounds = suite.bounds(entry, feed) if case.outputs else ()
    for number, (output, bound) in enumerate(zip(case.outputs, bounds, strict=True), feed * len(case.outputs)):
        if bound is None or not has_limits(output):
            limits.append("None")
        elif output.comparison == "numbers":
            limits.append(f"(expected[{number}],) * 2")
        else:
            limits.append(f"({', '.join(map(array_source, bound))})")
    return tuple(limits)


def is_used(case: Case, input_: Input, dialects: Sequence[str]) -> bool:
    """Whether a script needs a variable for an input, to feed it or to express the expected outputs.

    `dialects` are the dialects of the model; empty if there is no model.
    """
    if not dialects:
        return input_.role == "data"
    return input_.binding == "parameter" or (input_.role == "data" and not isinstance(case.expect, Reject))


def is_odd(kind: ElementType) -> bool:
    """Whether numpy has no dtype of its own for an element type."""
    return kind.kind != "string" and kind.native != kind.storage


def nan_source(element_type: str, name: str) -> str:
    """An expression for the NaNs in an array of a name; empty for an element type without NaNs.

    The array holds bits if numpy does not have the type.
    """
    if element_type not in NANS:
        return ""
    mask, last = NANS[element_type]
    return f"({name} & {mask:#x} > {last:#x})" if is_odd(ELEMENT_TYPES[element_type]) else f"np.isnan({name})"


def array_source(array: Array) -> str:
    """A short expression for an array that keeps every bit.

    Raises `UsageError` if the array is too large, or has strings that Python does not pass on.
    """
    shape, dtype = tuple(array.shape), f"np.{array.dtype.name}" if array.dtype.kind != "U" else ""
    flat = array.reshape(-1)
    if array.dtype.kind == "U":
        return _shaped(f"np.array([{', '.join(_string_source(str(value)) for value in flat)}])", shape)
    if flat.size == 0:
        return f"np.zeros({shape}, {dtype})"
    if flat.size > _FEW and array.dtype.kind != "b":
        first = int(flat[0]) if np.isfinite(flat[0]) else 0
        if _bits(np.arange(flat.size).astype(object) + first, array) == flat.tobytes():
            start = f"{first}, " if first else ""
            return _shaped(f"np.arange({start}{first + flat.size}, dtype={dtype})", shape)
    if flat.size > _FEW and (patterns(flat) == patterns(flat)[0]).all():
        return f"np.full({shape}, {array_source(flat[:1].reshape(()))})"
    if flat.size > MOST:
        raise UsageError(f"A tensor of {flat.size:,} elements is too large for a script. Use `opconform run --select`.")
    listed = _listed(flat, dtype)
    if not shape and ".view(" not in listed:
        return listed.replace("[", "", 1).replace("]", "", 1)
    return _shaped(listed, shape)


def _string_source(text: str) -> str:
    if any("\udc00" <= letter <= "\udcff" for letter in text):
        raise UsageError("A short script cannot write strings with NULs at their ends, or bytes that are not UTF-8.")
    return repr(text)


def output_source(output: Array, inputs: Mapping[str, Array]) -> str:
    """An expression for an output: a slice along one dimension of an input, named by its variable, or the elements."""
    sources = (source for name, input_ in inputs.items() if (source := _slice_source(output, input_, name)))
    return next(sources, None) or array_source(output)


def _slice_source(output: Array, whole: Array, name: str) -> str:
    """An expression for the slice of `whole` that equals an output; empty if there is no such slice."""
    if output.dtype != whole.dtype or output.ndim != whole.ndim:
        return ""
    if output.shape == whole.shape and output.tobytes() == whole.tobytes():
        return name
    sliced = [axis for axis in range(whole.ndim) if output.shape[axis] != whole.shape[axis]] or [*range(whole.ndim)]
    if len(sliced) != 1 or not output.size:
        return ""
    axis, size = sliced[0], output.shape[sliced[0]]
    row = np.take(output, 0, axis).tobytes()
    starts = [index for index in range(whole.shape[axis]) if np.take(whole, index, axis).tobytes() == row]
    for step, start in product(_STEPS, starts):
        last = start + (size - 1) * step
        if not 0 <= last < whole.shape[axis]:
            continue
        stop = last + (1 if step > 0 else -1)
        part = slice(start, stop if stop >= 0 else None, step)
        if whole[(*(slice(None),) * axis, part)].tobytes() == output.tobytes():
            shown = f"{start}:{'' if stop < 0 else stop}{f':{step}' if step != 1 else ''}"
            return f"{name}[{':, ' * axis}{shown}]"
    return ""


def _shaped(source: str, shape: Sequence[int]) -> str:
    if len(shape) == 1:
        return source
    return f"{source}.reshape({', '.join(str(size) for size in shape) or '()'})"


def _listed(flat: Array, dtype: str) -> str:
    values = flat.tolist() if flat.dtype.kind in "biu" else [float(str(value)) for value in flat]
    if flat.dtype.kind == "f" and (not np.isfinite(flat).all() or _bits(values, flat) != flat.tobytes()):
        bits = patterns(flat)
        shown = [f"0x{int(bit):0{bits.dtype.itemsize * 2}x}" for bit in bits]
        return f"np.array([{_wrapped(shown)}], np.{bits.dtype.name}).view({dtype})"
    return f"np.array([{_wrapped([repr(value) for value in values])}], {dtype})"


def _bits(values: object, like: Array) -> bytes:
    """The bytes of some numbers in an array's dtype; empty if they do not fit."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # a number that overflows is told by its bytes
            return np.array(values).astype(like.dtype).tobytes()
    except (OverflowError, ValueError, TypeError):
        return b""


def _wrapped(words: Sequence[str]) -> str:
    line = ", ".join(words)
    if len(line) <= _WIDTH:
        return line
    return "\n" + textwrap.fill(line, _WIDTH, initial_indent="    ", subsequent_indent="    ") + "\n"
