"""How simple cases are: the parts that they have besides shapes and values, and their order."""

import math

from opconform.model.draft import Draft
from opconform.suite.case import Graph, Role
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_runners.tools.fuzz.trial import default_binding

#: The bits of a byte; shorter elements share one, of whatever kind they are.
_BYTE = 8


def cost(draft: Draft) -> tuple[int, int, int, int, str]:
    """By what cases are ordered, the simplest first: parts, dimensions, elements, values."""
    feeds = [*draft.tensors.values(), *(draft.second or {}).values()]
    values = [*(element for tensor in feeds for element in tensor.elements), *_integers(draft)]
    magnitude = sum(2 * abs(int(value)) + (int(value) < 0) for value in values if not isinstance(value, str))
    return (
        len(parts(draft)) + len(draft.tensors) + len(draft.attributes) + _size(draft.graph),
        sum(len(feed.shape) for feed in feeds),
        sum(math.prod(feed.shape) + sum(feed.shape) for feed in feeds),
        magnitude,
        draft.content,
    )


def _size(graph: Graph | None) -> int:
    """How many nodes, outputs and attributes a graph under test has."""
    return 0 if graph is None else len(graph.outputs) + sum(1 + len(node.attributes) for node in graph.nodes)


def _integers(draft: Draft) -> list[int]:
    attributes = [*draft.attributes.values()]
    if draft.graph is not None:
        attributes = [attribute for node in draft.graph.nodes for attribute in node.attributes.values()]
    lists = [attribute if isinstance(attribute, tuple) else (attribute,) for attribute in attributes]
    return [int(element) for list_ in lists for element in list_ if isinstance(element, int)]


def parts(draft: Draft, *, has_widths: bool = True) -> tuple[str, ...]:
    """What a case has besides shapes and values, in words; a folded model has constants and no other part.

    `has_widths` is whether integers or floating-point numbers of different widths are different parts.
    """
    if draft.graph is not None:
        return _parts_of_graph(draft, draft.graph, has_widths=has_widths)
    usual = default_binding(draft.operation, draft.tensors)
    needed = [
        *([f"the context {draft.context}"] if draft.context not in ("bare", "folded") else []),
        *(["a second inference"] if draft.second is not None else []),
        *(["dimensions that the model does not declare"] if draft.dynamic else []),
    ]
    for name, tensor in draft.tensors.items():
        port = draft.operation.port_of(name)
        if draft.binding[name] != usual[name]:
            needed.append(f"{port.name} as a {draft.binding[name]}")
        if tensor.element_type != port.default_type:
            needed.append(f"{port.name} of {_family(tensor.element_type, port.role, has_width=has_widths)} elements")
        if tensor.fill not in ("ramp", "values"):
            needed.append(f"{port.name} with special values")
    return tuple(dict.fromkeys(needed))


def _parts_of_graph(draft: Draft, graph: Graph, *, has_widths: bool) -> tuple[str, ...]:
    """What a graph has: its operations, kinds of data besides that of f32, a second feed, and open dimensions."""
    types = sorted(
        {tensor.element_type for name, tensor in draft.tensors.items() if draft.operation.role_of(name) == "data"}
    )
    kinds = [f"{_family(name, 'data', has_width=has_widths)} elements" for name in types if name != "f32"]
    needed = [
        *sorted({node.op for node in graph.nodes}),
        *kinds,
        *(["a second inference"] if draft.second is not None else []),
        *(["dimensions that the model does not declare"] if draft.dynamic else []),
    ]
    return tuple(dict.fromkeys(needed))


def _family(name: str, role: Role, *, has_width: bool) -> str:
    """The kind of an element type, and the width of data, by which backends choose how they move it."""
    element_type = ELEMENT_TYPES[name]
    kind = "integer" if element_type.is_integer else element_type.kind
    if role == "setting" or kind in ("string", "boolean"):
        return kind
    if element_type.bits < _BYTE:
        return "packed"
    return f"{element_type.bits}-bit {kind}" if has_width else kind
