"""Other values of single elements of outputs: how a suite stores them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from opconform.suite.bounds import bound_names
from opconform.suite.case import Output
from opconform.tensors.tensor import Array


def also_name(output: str) -> str:
    """The array with the other right values of each element, in the file of an output's golden values."""
    return f"{output}.also"


def otherwise_name(output: str) -> str:
    """The array with the values of each element by other readings."""
    return f"{output}.otherwise"


def alternative_arrays(outputs: Sequence[Output]) -> dict[str, Output]:
    """The arrays that a file has beside some outputs, by name; the first dimension counts the values of an element."""
    sizes = [(x, name, size) for x in outputs for name, size in _sizes(x).items() if size]
    return {
        name: replace(
            x, name=name, shape=(size, *x.shape), comparison="bits", flushed=False, reduced=False, also=0, otherwise=()
        )
        for x, name, size in sizes
    }


def alternatives_problem(output: Output, arrays: Mapping[str, Array]) -> str | None:
    """Why the other values of an output are invalid, or None. The arrays have the right names and types."""
    for name, size in _sizes(output).items():
        if size and arrays[name].shape != (size, *arrays[output.name].shape):
            return f"{name} does not have {size} values for each element of {output.name}"
    if output.also and output.comparison == "bounds":
        return f"{output.name} has bounds and other right values"
    return None


def _sizes(output: Output) -> dict[str, int]:
    """How many values of each element the arrays have."""
    name = otherwise_name(output.name)
    others = (name, *(bound_names(name) if output.comparison == "bounds" else ()))
    return {also_name(output.name): output.also, **dict.fromkeys(others, len(output.otherwise))}
