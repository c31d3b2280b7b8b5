"""The graph of two operations as the keys of a case, with dimensions and weights in turn."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from opconform.generation.pairs.evaluation import Step
from opconform.generation.pairs.templates import Use

#: The declared dimensions of data, and the bindings of weights.
DIMENSIONS = ("static", "all", "batch")
BINDINGS = ("constant", "parameter")
_NAMES = ("first", "second", "last")


class Rotation:
    """The choice of dimensions and bindings: those that the operations of a pair have had least often."""

    def __init__(self) -> None:
        self._counts = Counter[tuple[int, str, str, str]]()

    def next_of(self, steps: Sequence[Step], *, is_scalar: bool) -> tuple[str, str]:
        """The dimensions and the binding for two operations; scalars are static, and no weights are constants."""
        dimensions = DIMENSIONS[:1] if is_scalar else DIMENSIONS
        bindings = BINDINGS if any(_run_time_places(steps)) else BINDINGS[:1]
        ops = [*enumerate(step.use.op for step in steps[:2])]

        def count(choice: tuple[str, str]) -> tuple[int, int]:
            counts = [self._counts[number, op, *choice] for number, op in ops]
            return sum(counts), max(counts)

        chosen = min(product(dimensions, bindings), key=count)
        self._counts.update((number, op, *chosen) for number, op in ops)
        return chosen


def keys_of(
    data: Mapping[str, Any], steps: Sequence[Step], rotation: Rotation, outputs: Sequence[int]
) -> Mapping[str, Any]:
    """The keys of the case of a graph: every use is a node, and some of them are outputs."""
    shape = data["shape"]
    dimensions, binding = rotation.next_of(steps, is_scalar=not shape)
    at_run_time = _run_time_places(steps) if binding == "parameter" else [()] * len(steps)
    inputs: dict[str, Any] = {"x": data}
    nodes: dict[str, Any] = {}
    for name, step, places in zip(_NAMES, steps, at_run_time, strict=False):
        use = step.use
        tensors: dict[str, Any] = dict(use.weights)
        for place in places:
            inputs[f"{name}_{place}"], tensors[place] = tensors[place], f"{name}_{place}"
        taken = ("x" if source == "data" else _NAMES[source] for source in step.sources)
        tensors |= zip(use.places, taken, strict=True)
        nodes[name] = {"op": use.op, **_by_port(use, tensors), **use.template.attributes}
    keys = {"inputs": inputs, "nodes": nodes, "outputs": [_NAMES[number] for number in outputs]}
    if binding == "parameter":
        keys["binding"] = dict.fromkeys([x for x in inputs if x != "x"], "parameter")
    if dimensions == "all":
        keys["dynamic"] = {name: "all" for name, x in inputs.items() if name == "x" or name in _data(steps)}
    elif dimensions == "batch":
        keys["dynamic"] = {"x": ["?", *shape[1:]]}
    return keys


def _by_port(use: Use, tensors: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs of a node: those at a variadic port as a list."""
    inputs: dict[str, Any] = {}
    for place in use.template.tensors:
        port = use.port(place)
        if port.variadic:
            inputs.setdefault(port.name, []).append(tensors[place])
        else:
            inputs[port.name] = tensors[place]
    return inputs


def _run_time_places(steps: Sequence[Step]) -> list[tuple[str, ...]]:
    """The places of the weights of each step that can come at run time: data, or lists of settings if there are none.

    A scalar such as an axis stays a constant, since many backends read it only there.
    """
    data = [tuple(x for x in step.use.weights if not step.use.port(x).setting) for step in steps]
    if any(data):
        return data
    return [
        tuple(x for x, keys in step.use.weights.items() if keys["shape"] and not step.use.port(x).constant)
        for step in steps
    ]


def _data(steps: Sequence[Step]) -> set[str]:
    """The names of the inputs that are weights at ports of data."""
    return {
        f"{name}_{place}"
        for name, step in zip(_NAMES, steps, strict=False)
        for place in step.use.weights
        if not step.use.port(place).setting
    }
