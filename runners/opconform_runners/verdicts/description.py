"""The inputs of a case as one line of text."""

from collections.abc import Mapping, Sequence
from math import prod

from opconform.suite.case import Attribute, Case, Input, Node
from opconform.system.text import printable
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Array, Tensor

#: The number of elements that are shown of a setting input, and of inputs that are shown of a case.
_MOST = 8
#: The most characters that are shown of a computed input.
_LONGEST = 200


def description_of(case: Case, feeds: Sequence[Mapping[str, Array]]) -> str:
    """The inputs of a case, as in `data f32[6, 4], axis 0`, and how they are provided.

    `feeds` has the arrays of each feed by name. Of a second feed, only the inputs that differ are described.
    """
    first, *others = feeds
    parts = _shown([f"{_input(case, input_, first[input_.name])}{_bound(case, input_)}" for input_ in case.inputs])
    parts += graph_lines(case) if case.tests_graph else computed_inputs(case)
    parts += _attributes(case.attributes)
    declared = {input_.name: input_.dynamic for input_ in case.inputs if input_.dynamic is not None}
    sizes = {name: x if isinstance(x, str) else ",".join(map(str, x)) for name, x in declared.items()}
    parts += _shown([f"{name} declared [{size}]" for name, size in sizes.items()])
    if case.context != "bare":
        parts.append(f"context {case.context}{_neighbour(case)}")
    for second in others:
        pairs = ((input_, first[input_.name], second[input_.name]) for input_ in case.inputs)
        changed = [x for x, old, new in pairs if old.shape != new.shape or old.tobytes() != new.tobytes()]
        parts.append(f"then {', '.join(_shown([_input(case, x, second[x.name]) for x in changed])) or 'the same'}")
    return ", ".join(parts) or "nothing"


def computed_inputs(case: Case) -> list[str]:
    """The inputs of the node under test that other nodes compute, as in `Gather(ShapeOf(data, i64), [0], 0)`."""
    texts: dict[str | None, str] = {}
    for node in case.graph.nodes:
        if not node.under_test:
            text = _expression(node, [texts.get(input_, str(input_)) for input_ in node.inputs])
            shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
            texts |= dict.fromkeys(node.outputs, shown)
    return [texts[input_] for input_ in case.node.inputs if input_ in texts]


def graph_lines(case: Case) -> list[str]:
    """The nodes of a graph under test, as in `sum = Add-1(convolution, b, auto_broadcast 'numpy')`."""
    names = _result_names(case)
    inputs = [["none" if name is None else names.get(name, name) for name in node.inputs] for node in case.graph.nodes]
    return [
        f"{node.name} = {node.op}({', '.join((*taken, *_attributes(node.attributes)))})"
        for node, taken in zip(case.graph.nodes, inputs, strict=True)
    ]


def output_names(case: Case) -> list[str]:
    """The outputs of a graph under test, as a spec names them."""
    names = _result_names(case)
    return [names.get(name, name) for name in case.graph.outputs]


def _result_names(case: Case) -> dict[str, str]:
    """How a spec names the results of nodes: by the node, and by a number if the node has several."""
    return {
        name: f"{node.name}.{number}" if len(node.outputs) > 1 else node.name
        for node in case.graph.nodes
        for number, name in enumerate(node.outputs)
    }


def _neighbour(case: Case) -> str:
    """The node that the context `then` puts behind the operation, as in ` Transpose(output, [1, 0])`."""
    if case.context != "then":
        return ""
    *others, last = case.graph.nodes
    constants = {node.outputs[0]: _expression(node, ()) for node in others if not node.under_test}
    inputs = [constants.get(input_ or "", "output") for input_ in last.inputs]
    return f" {last.op.rpartition('-')[0]}({', '.join((*inputs, *_attributes(last.attributes)))})"


def _attributes(attributes: Mapping[str, Attribute]) -> list[str]:
    return [
        f"{name} {list(attribute) if isinstance(attribute, tuple) else attribute!r}"
        for name, attribute in attributes.items()
    ]


def _shown(texts: list[str]) -> list[str]:
    return texts if len(texts) <= _MOST + 1 else [*texts[:_MOST], f"… {len(texts)} in all"]


def _bound(case: Case, input_: Input) -> str:
    """How an input is provided, unless that is usual: setting inputs are constants, and tensors are not."""
    if input_.role == "setting":
        return " at run time" if input_.binding == "parameter" else ""
    return " constant" if input_.binding == "constant" and case.context != "folded" else ""


def _expression(node: Node, inputs: Sequence[str]) -> str:
    """A node as a call with its inputs and the types among its attributes, or the elements of a constant."""
    value = node.attributes.get("value")
    if not inputs and isinstance(value, tuple):
        elements = ", ".join(str(x) for x in value)
        return f"[{elements}]" if node.attributes.get("shape") else elements
    types = (attribute for attribute in node.attributes.values() if isinstance(attribute, str))
    return f"{node.op.rpartition('-')[0]}({', '.join((*inputs, *types))})"


def _input(case: Case, input_: Input, array: Array) -> str:
    tensor = Tensor(element_type=input_.element_type, array=array)
    if input_.role == "setting":
        kind = "" if input_.element_type == "i64" else f"{input_.element_type} "
        return f"{input_.name} {kind}{values_text(tensor)}"
    values = f" = {values_text(tensor)}" if has_shown_values(case, input_) else ""
    return f"{input_.name} {input_.element_type}{list(array.shape)}{values}"


def has_shown_values(case: Case, input_: Input) -> bool:
    """Whether the values of an input say what is tested: setting inputs, and indices and scalars beside data."""
    if input_.role == "setting":
        return True
    is_index = ELEMENT_TYPES[input_.element_type].is_integer and prod(input_.shape) <= _MOST
    return input_.name != case.inputs[0].name and (is_index or not input_.shape)


def values_text(tensor: Tensor, limit: int = _MOST) -> str:
    """The first elements of a tensor, in brackets unless it is a scalar."""
    flat = tensor.array.reshape(-1)[:limit]
    native = flat.view(tensor.type.arithmetic) if tensor.type.kind == "float" else flat
    values: Sequence[object] = tensor.integers()[:limit] if tensor.type.is_integer else list(native)
    shown = ", ".join(printable(str(value)) for value in values) + (", …" if tensor.array.size > limit else "")
    if not tensor.shape:
        return shown
    return f"[{shown}]" if len(tensor.shape) == 1 else f"[{shown}] of shape {list(tensor.shape)}"
