"""The `jax` backend: the whole graph in JAX's own operations, compiled once by `jax.jit`."""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxlib.mlir.ir import MLIRError

from opconform.suite.case import Attribute, Case, Input
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor
from opconform_runners.backends.backend import Implementation, Inputs, Outputs, Unsupported
from opconform_runners.backends.direct import Support, functions_of, mapped_of, outputs_of, padded, plain
from opconform_runners.backends.direct_split import filled, given_axis, scalar_axis
from opconform_runners.backends.exceptions import Answers, Ask

#: The element types that JAX has no name for.
_MISSING = frozenset({"u1", "u3", "u6", "nf4", "string"})
_TYPES = tuple(each for each in ELEMENT_TYPES if each not in _MISSING)
_NAMES = {ELEMENT_TYPES[name].native: name for name in _TYPES}

_ANSWERS = Answers(
    not_implemented=re.compile(r"UNIMPLEMENTED|[Nn]ot implemented|[Uu]nsupported element type"),
    faults=(MLIRError,),
)


def _split(ask: Ask, inputs: Sequence[Any], attributes: Mapping[str, Attribute]) -> Sequence[Any]:
    data, axis = padded(inputs, 2)
    along = given_axis(axis, "build")
    sections = [attributes["num_splits"]] if "num_splits" in attributes else []
    return list(ask(jnp.split, *([] if data is None else [data]), *sections, axis=along))


def _variadic_split(ask: Ask, inputs: Sequence[Any], _attributes: Mapping[str, Attribute]) -> Sequence[Any]:
    data, axis, lengths = padded(inputs, 3)
    along = scalar_axis(axis, "build")
    if isinstance(along, np.ndarray) and along.shape == (1,):
        along = along.reshape(())
    sizes = [] if lengths is None else [lengths if data is None else filled(lengths, data.shape, along)]
    return list(ask(jax.lax.split, *([] if data is None else [data]), *sizes, axis=along))


def _concat(ask: Ask, inputs: Sequence[Any], attributes: Mapping[str, Attribute]) -> Sequence[Any]:
    return [ask(jnp.concatenate, list(inputs), attributes["axis"])]


_ABOUT_AXIS = (
    (re.compile(r"axis .* is out of bounds|tuple index out of range|index-sized integer"), "axis.range"),
    (re.compile(r"'list' object cannot be interpreted as an integer"), "axis.shape"),
    (re.compile(r"only integer scalar arrays|cannot be interpreted as an integer"), "axis.element-type"),
)
#: The operations that are implemented here.
OPERATIONS: Mapping[str, Support] = MappingProxyType(
    {
        "Concat-1": Support(execute=_concat),
        "Split-1": Support(
            execute=_split,
            mapped=("axis.element-type", "axis.required"),
            messages=(
                *_ABOUT_AXIS,
                (re.compile(r"does not result in an equal division"), "num_splits.divides"),
                (re.compile(r"integer division or modulo by zero"), "num_splits.positive"),
                (re.compile(r"invalid literal for int"), "num_splits.type"),
            ),
        ),
        "VariadicSplit-1": Support(
            execute=_variadic_split,
            mapped=(
                "axis.element-type",
                "axis.required",
                "axis.shape",
                "lengths.element-type",
                "lengths.remainder",
                "lengths.remainder-sum",
                "lengths.remainder-zero",
                "types.independent",
            ),
            messages=(
                *_ABOUT_AXIS,
                (re.compile(r"Sum of sizes|limit index .* is larger than dimension size"), "lengths.sum"),
                (re.compile(r"must be nonnegative"), "lengths.negative"),
                (re.compile(r"unhashable type|is not iterable|iteration over a 0-d"), "lengths.rank"),
            ),
        ),
    }
)


class Jax:
    """JAX on the CPU, with 64-bit types."""

    def __init__(self) -> None:
        jax.config.update("jax_enable_x64", True)

    def describe(self) -> Implementation:
        """What the backend is and can do."""
        return Implementation(
            name="jax",
            version=jax.__version__,
            device="CPU",
            element_types=_TYPES,
            operations=tuple(OPERATIONS),
            dynamic=False,
            bindings=("constant",),
            graphs=True,
            mapped=mapped_of(OPERATIONS),
        )

    def run(self, case: Case, model: object, feeds: Sequence[Inputs]) -> list[Outputs]:  # noqa: ARG002 - it has no dialect
        """The outputs of each feed, all of them of one compiled function.

        Raises:
            Rejected: JAX refuses the case, or the mapping does.
            Unsupported: JAX has no such element type, or compiles for static shapes and control inputs alone.
        """
        _check(case, feeds)
        functions = functions_of(case, OPERATIONS, partial(_ANSWERS.ask, "build"))
        constants = {each.name: _given(each, feeds[0][each.name]) for each in case.inputs if each.binding == "constant"}
        parameters = [each for each in case.inputs if each.binding == "parameter"]
        given = [{each.name: _given(each, feed[each.name]) for each in parameters} for feed in feeds]
        graph = jax.jit(lambda fed: outputs_of(case, {**constants, **fed}, functions))
        traced, messages = graph.trace(given[0]), OPERATIONS[case.op].messages
        compiled = _ANSWERS.ask("build", messages)(lambda: traced.lower().compile())
        ask = _ANSWERS.ask("run", messages)
        return [[_taken(each) for each in ask(compiled, fed)] for fed in given]


def _check(case: Case, feeds: Sequence[Inputs]) -> None:
    """Say what a compiled function of JAX's cannot be given."""
    for each in case.inputs:
        if each.role == "control" and each.binding == "parameter":
            raise Unsupported(f"a compiled function has a static {each.name} in JAX, and cannot be given another")
        if each.dynamic is not None or len({feed[each.name].shape for feed in feeds}) > 1:
            raise Unsupported("JAX compiles for static shapes")


def _given(given: Input, tensor: Tensor) -> Any:
    if given.role == "control":
        return _number(tensor)
    if tensor.element_type not in _TYPES:
        raise Unsupported(f"JAX has no element type {tensor.element_type}")
    return jnp.asarray(tensor.array.view(tensor.type.arithmetic))


def _number(tensor: Tensor) -> Any:
    """Integers as Python's, and anything else as an array of its own type, as JAX's users have them."""
    native = tensor.type.native
    if tensor.type.is_integer or native is None:
        return plain(tensor, _TYPES)
    return tensor.array if tensor.type.kind == "string" else tensor.array.view(native)


def _taken(array: Any) -> Tensor:
    name = _NAMES[np.dtype(array.dtype)]
    kind = ELEMENT_TYPES[name]
    stored = np.asarray(array).view(kind.storage)
    if kind.bits < 8:  # noqa: PLR2004 - narrower than a byte
        stored = stored & np.uint8((1 << kind.bits) - 1)
    return Tensor(element_type=name, array=stored)
