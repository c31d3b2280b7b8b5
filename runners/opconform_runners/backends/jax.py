"""The `jax` backend: JAX's own splits, the whole graph compiled once by `jax.jit`."""

import re
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxlib.mlir.ir import MLIRError

from opconform.case import Case
from opconform.element_types import ELEMENT_TYPES
from opconform.tensors import Tensor
from opconform_runners.answers import Answers
from opconform_runners.backend import Implementation, Inputs, Outputs, Unsupported
from opconform_runners.graphs import Graph, alike_of, axis_of, filled, plain, rank_of

#: The element types that JAX has no name for.
_MISSING = frozenset({"u1", "u3", "u6", "nf4", "string"})
_TYPES = tuple(each for each in ELEMENT_TYPES if each not in _MISSING)
_NAMES = {ELEMENT_TYPES[name].native: name for name in _TYPES}

_ANSWERS = Answers(
    requirements=(
        (re.compile(r"axis .* is out of bounds|tuple index out of range|index-sized integer"), "axis.range"),
        (re.compile(r"'list' object cannot be interpreted as an integer"), "axis.shape"),
        (re.compile(r"only integer scalar arrays|cannot be interpreted as an integer"), "axis.element-type"),
        (re.compile(r"does not result in an equal division"), "num_splits.divides"),
        (re.compile(r"integer division or modulo by zero"), "num_splits.positive"),
        (re.compile(r"invalid literal for int"), "num_splits.type"),
        (re.compile(r"Sum of sizes|limit index .* is larger than dimension size"), "lengths.sum"),
        (re.compile(r"must be nonnegative"), "lengths.negative"),
        (re.compile(r"unhashable type|is not iterable|iteration over a 0-d"), "lengths.rank"),
    ),
    not_implemented=re.compile(r"UNIMPLEMENTED|[Nn]ot implemented|[Uu]nsupported element type"),
    faults=(MLIRError,),
)


class Jax:
    """JAX on the CPU, with 64-bit types: `jax.numpy.split` for Split-1, and `jax.lax.split` for VariadicSplit-1."""

    def __init__(self) -> None:
        jax.config.update("jax_enable_x64", True)

    def describe(self) -> Implementation:
        """What the backend is and can do."""
        return Implementation(
            name="jax",
            version=jax.__version__,
            device="CPU",
            element_types=_TYPES,
            operations=("Split-1", "VariadicSplit-1"),
            dynamic=False,
            bindings=("constant",),
            contexts=("bare", "folded", "concat", "chain", "partial", "shared"),
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
        )

    def run(self, case: Case, model: object, feeds: Sequence[Inputs]) -> list[Outputs]:  # noqa: ARG002 - it has no dialect
        """The outputs of each feed, all of them of one compiled function.

        Raises:
            Rejected: JAX refuses the case, or the mapping does.
            Unsupported: JAX has no such element type, or compiles for static shapes, axes and lengths alone.
        """
        _check(case, feeds)
        first = feeds[0]
        graph = _graph(case, first)
        axis = _number(axis_of(case, first, "build"))
        data = [_given(each["data"]) for each in feeds if "data" in each]
        if not data:
            graph.split(None, axis)
            raise RuntimeError("JAX splits without data")
        folded = case.context == "folded"
        constant = data[0]
        function = jax.jit(lambda *whole: graph.outputs(whole[0] if whole else constant, axis))
        given: list[list[Any]] = [[] if folded else [each] for each in data]
        traced = function.trace(*given[0])
        compiled = _ANSWERS.asked("build", lambda: traced.lower().compile())()
        results = [_ANSWERS.asked("run", compiled)(*each) for each in given]
        return [[_taken(each) for each in pieces] for pieces in results]


def _check(case: Case, feeds: Sequence[Inputs]) -> None:
    """Say what a compiled function of JAX's cannot be given."""
    if any(each.binding == "parameter" for each in case.inputs if each.name != "data"):
        raise Unsupported("JAX's axis and lengths are static: a compiled function cannot be given others")
    if (
        any(each.dynamic is not None for each in case.inputs)
        or len({each["data"].shape for each in feeds if "data" in each}) > 1
    ):
        raise Unsupported("JAX compiles for static shapes")


def _graph(case: Case, first: Inputs) -> Graph[Any]:
    """The case's graph in JAX's calls."""
    even, uneven, join = (_ANSWERS.asked("build", each) for each in (jnp.split, jax.lax.split, jnp.concatenate))
    lengths = first.get("split_lengths")
    sections = [case.attributes["num_splits"]] if "num_splits" in case.attributes else []
    numbers = None if lengths is None else _number(lengths)

    def split(whole: Any, along: Any) -> Sequence[Any]:
        given = [] if whole is None else [whole]
        if case.op == "Split-1":
            return list(even(*given, *sections, axis=along))
        sizes = [] if numbers is None else [numbers if whole is None else filled(numbers, whole.shape, along)]
        return list(uneven(*given, *sizes, axis=along))

    return Graph(case=case, rank=rank_of(first), alike=alike_of(case, first), split=split, join=join)


def _number(tensor: Tensor) -> Any:
    """Integers as Python's, and anything else as an array of its own type, as JAX's users have them."""
    native = tensor.type.native
    if tensor.type.is_integer or native is None:
        return plain(tensor, _TYPES)
    return tensor.array if tensor.type.kind == "string" else tensor.array.view(native)


def _given(tensor: Tensor) -> Any:
    if tensor.element_type not in _TYPES:
        raise Unsupported(f"JAX has no element type {tensor.element_type}")
    return jnp.asarray(tensor.array.view(tensor.type.arithmetic))


def _taken(array: Any) -> Tensor:
    name = _NAMES[np.dtype(array.dtype)]
    kind = ELEMENT_TYPES[name]
    stored = np.asarray(array).view(kind.storage)
    if kind.bits < 8:  # noqa: PLR2004 - narrower than a byte
        stored = stored & np.uint8((1 << kind.bits) - 1)
    return Tensor(element_type=name, array=stored)
