"""The graph of a case as calls of OpenVINO's own functions."""

from collections.abc import Sequence

from opconform.dialects.openvino import ATTRIBUTES, OPSETS
from opconform.operations import OPERATIONS
from opconform.suite.case import Attribute, Case, Node
from opconform.suite.declarations import AttributeSpec
from opconform_runners.tools.repro.graph_source import GraphSource
from opconform_runners.tools.repro.names import script_names, snake

#: The largest attribute given to an OpenVINO function, which allocates memory by it before it looks at the data.
_LARGEST = 1 << 16
#: The operations that `openvino.opset*` has no function for, or one with other names or in another order, so that
#: OpenVINO's factory of nodes makes them.
WITHOUT_FUNCTION = frozenset(
    {
        "AvgPool-1",
        "AvgPool-14",
        "Broadcast-1",
        "Broadcast-3",
        "Clamp-1",
        "Col2Im-15",
        "Divide-1",
        "HSigmoid-5",
        "HSwish-4",
        "IsFinite-10",
        "IsInf-10",
        "IsNaN-10",
        "MatMul-1",
        "MaxPool-14",
        "MaxPool-8",
        "PReLU-1",
        "Range-4",
        "ReLU-1",
        "Reverse-1",
        "ScaledDotProductAttention-13",
        "ShuffleChannels-1",
        "SoftMax-8",
        "SoftPlus-4",
        "SoftSign-9",
        "TopK-11",
    }
)
#: The types that the factory spells otherwise than the pages.
_SPELLED = {"PReLU": "PRelu", "ReLU": "Relu", "SoftMax": "Softmax"}


def openvino_source(case: Case) -> GraphSource | None:
    """The graph as calls of `openvino.opset*` on variables such as `data_node`, or None if they cannot express it."""
    if not all(_is_regular(node) for node in case.graph.nodes):
        return None
    names, steps = script_names(case), []
    known = dict(names.inputs)
    for node, variable in zip(case.graph.nodes, names.nodes, strict=True):
        steps.append(
            (variable, _openvino_call(node, [None if input_ is None else known[input_] for input_ in node.inputs]))
        )
        known |= {name: f"{variable}.output({number})" for number, name in enumerate(node.outputs)}
    return GraphSource(tuple(steps), tuple(known[output] for output in case.graph.outputs))


def opsets(case: Case) -> list[str]:
    """OpenVINO's modules for the graph's operations and for parameters."""
    return sorted({"opset1", *(_opset(node) for node in case.graph.nodes)})


def _is_regular(node: Node) -> bool:
    """Whether a node of a known operation has every input and plain attributes, as a function call needs."""
    operation = OPERATIONS.get(node.op)
    if operation is None:
        return False
    specs = {attribute.name: attribute for attribute in operation.attributes}
    wanted = sum(not input_.optional for input_ in operation.inputs)
    return (
        None not in node.inputs
        and len(node.inputs) >= wanted
        and {attribute.name for attribute in operation.attributes if attribute.default is None} <= set(node.attributes)
        and all(name in specs and _is_plain(value, specs[name]) for name, value in node.attributes.items())
    )


def _is_plain(value: Attribute, spec: AttributeSpec) -> bool:
    """Whether a function takes an attribute as it is: a boolean, one of its texts, or small integers."""
    if spec.type == "boolean":
        return type(value) is bool
    if spec.type == "ints":
        return isinstance(value, tuple) and all(type(x) is int and 0 <= x <= _LARGEST for x in value)
    return value in spec.values if spec.type == "enum" else type(value) is int and 0 <= value <= _LARGEST


def _openvino_call(node: Node, inputs: Sequence[str | None]) -> str:
    """A call with the inputs in order; required attributes are before optional inputs, and others have a name.

    Lists are given although they have defaults, since the functions require some of them. Where others are omitted, the
    factory makes the node, because a function would fill in its own defaults.
    """
    operation = OPERATIONS[node.op]
    omitted = [x.name for x in operation.attributes if x.name not in node.attributes and x.type != "ints"]
    if node.op in WITHOUT_FUNCTION or omitted:
        operands, kind = ", ".join(map(str, inputs)), _SPELLED.get(operation.type, operation.type)
        named = {ATTRIBUTES.get(name, name): value for name, value in node.attributes.items()}
        return f'NodeFactory("{_opset(node)}").create("{kind}", [{operands}], {named})'
    single = [port for port in operation.inputs if not port.variadic]
    arguments = [str(input_) for input_ in inputs[: len(single)]]
    optional = arguments[sum(not port.optional for port in single) :]
    before = [attribute.name for attribute in operation.attributes if optional and attribute.default is None]
    arguments[len(arguments) - len(optional) :] = [*(repr(node.attributes[name]) for name in before), *optional]
    if len(single) < len(operation.inputs):
        arguments.append(f"[{', '.join(str(input_) for input_ in inputs[len(single) :])}]")
    lists: dict[str, Attribute] = {attribute.name: () for attribute in operation.attributes if attribute.type == "ints"}
    named = {name: value for name, value in (lists | dict(node.attributes)).items() if name not in before}
    arguments += [f"{name}={list(value) if isinstance(value, tuple) else value!r}" for name, value in named.items()]
    return f"{_opset(node)}.{snake(operation.type)}({', '.join(arguments)})"


def _opset(node: Node) -> str:
    return OPSETS.get(node.op, f"opset{node.op.rpartition('-')[2]}")
