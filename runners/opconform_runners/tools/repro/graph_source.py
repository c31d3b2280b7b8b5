"""The graph of a case as the source of a script: a call of a framework's own function for each node."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from opconform.model.graph import evaluated
from opconform.operations import OPERATIONS
from opconform.operations.ports import AttributeSpec
from opconform.suite.case import Accept, Attribute, Case, Node
from opconform.tensors.tensor import Tensor
from opconform_runners.backends.direct import python_values
from opconform_runners.backends.direct_gather import batch_grids, leading_sizes, orders
from opconform_runners.backends.direct_slice import Entry, bits_of, index_of
from opconform_runners.backends.direct_split import filled
from opconform_runners.tools.repro.variables import array_source

#: The largest attribute given to an OpenVINO function, which allocates memory by it before it looks at the data.
_LARGEST = 1 << 16
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class GraphSource(NamedTuple):
    """A graph as source: a variable and its call for each node, and one expression per output of the model."""

    steps: tuple[tuple[str, str], ...]
    outputs: tuple[str, ...]


def openvino_source(case: Case) -> GraphSource | None:
    """The graph as calls of `openvino.opset*` on variables such as `data_node`, or None if they cannot express it."""
    if not all(_is_regular(node) for node in case.graph.nodes):
        return None
    names = {each.name: f"{each.name}_node" for each in case.inputs}
    return _source(case, names, _openvino_call, "{variable}.output({number})")


def opsets(case: Case) -> list[str]:
    """OpenVINO's modules for the graph's operations and for parameters."""
    return sorted({"opset1", *(_opset(node) for node in case.graph.nodes)})


def torch_source(case: Case, given: Mapping[str, Tensor]) -> GraphSource | None:
    """The graph as PyTorch calls on the variables of the `given` inputs, or None if an operation has no call."""
    if not all(node.op in _TORCH for node in case.graph.nodes):
        return None
    tensors = evaluated(case.graph, given) if isinstance(case.expect, Accept) else dict(given)
    controls = {each.name for each in case.inputs if each.role == "control"}

    def call(node: Node, names: Sequence[str | None]) -> str:
        operands = [
            python_values(given[name]) if name in controls and name is not None else each
            for name, each in zip(node.inputs, names, strict=True)
        ]
        shapes = [tensors[name].shape if name in tensors else () for name in node.inputs]
        return _TORCH[node.op](operands, node.attributes, shapes or [()])

    source = _source(case, {each.name: each.name for each in case.inputs}, call, "{variable}[{number}]")
    if case.is_bare:  # all that is returned counts, however many outputs the case declares
        return source._replace(outputs=(f"*{source.steps[-1][0]}",))
    return source


def _source(
    case: Case, inputs: Mapping[str, str], call: Callable[[Node, Sequence[str | None]], str], output: str
) -> GraphSource:
    """The statements of a graph, given expressions for the inputs, a node's call, and the format of its outputs."""
    known, steps = dict(inputs), []
    for node in case.graph.nodes:
        variable = _snake(node.name)
        steps.append((variable, call(node, [None if each is None else known[each] for each in node.inputs])))
        known |= {name: output.format(variable=variable, number=number) for number, name in enumerate(node.outputs)}
    return GraphSource(tuple(steps), tuple(known[each] for each in case.graph.outputs))


def _is_regular(node: Node) -> bool:
    """Whether a node has every input and plain attributes, as a function call needs."""
    operation = OPERATIONS[node.op]
    specs = {each.name: each for each in operation.attributes}
    wanted = sum(not each.optional for each in operation.inputs)
    return (
        None not in node.inputs
        and len(node.inputs) >= wanted
        and {each.name for each in operation.attributes if each.default is None} <= set(node.attributes)
        and all(_is_plain(value, specs[name]) for name, value in node.attributes.items())
    )


def _is_plain(value: Attribute, spec: AttributeSpec) -> bool:
    """Whether a function takes an attribute as it is: a boolean, one of its texts, or small integers."""
    if spec.type == "boolean":
        return type(value) is bool
    if spec.type == "ints":
        return isinstance(value, tuple) and all(type(each) is int and 0 <= each <= _LARGEST for each in value)
    return value in spec.values if spec.type == "enum" else type(value) is int and 0 <= value <= _LARGEST


def _openvino_call(node: Node, inputs: Sequence[str | None]) -> str:
    """A call with the inputs in order; required attributes are before optional inputs, and others have a name.

    Lists are given although they have defaults, since the functions require some of them.
    """
    operation = OPERATIONS[node.op]
    single = [port for port in operation.inputs if not port.variadic]
    given = [str(each) for each in inputs[: len(single)]]
    optional = given[sum(not port.optional for port in single) :]
    before = [each.name for each in operation.attributes if optional and each.default is None]
    given[len(given) - len(optional) :] = [*(repr(node.attributes[name]) for name in before), *optional]
    if len(single) < len(operation.inputs):
        given.append(f"[{', '.join(str(each) for each in inputs[len(single) :])}]")
    lists: dict[str, Attribute] = {each.name: () for each in operation.attributes if each.type == "ints"}
    named = {name: value for name, value in (lists | dict(node.attributes)).items() if name not in before}
    given += [f"{name}={list(value) if isinstance(value, tuple) else value!r}" for name, value in named.items()]
    return f"{_opset(node)}.{_snake(operation.type)}({', '.join(given)})"


def _opset(node: Node) -> str:
    return f"opset{node.op.rpartition('-')[2]}"


def _snake(name: str) -> str:
    return _WORDS.sub("_", name).lower()


Shapes = Sequence[Sequence[int]]
Call = Callable[[Sequence[object], Mapping[str, Attribute], Shapes], str]


def _tensor_split(operands: Sequence[object], attributes: Mapping[str, Attribute], _shapes: Shapes) -> str:
    data, axis = (*operands, None, None)[:2]
    sections = f", {attributes['num_splits']!r}" if "num_splits" in attributes else ""
    return f"torch.tensor_split({data}{sections}, dim={axis!r})"


def _split_with_sizes(operands: Sequence[object], _attributes: Mapping[str, Attribute], shapes: Shapes) -> str:
    data, axis, lengths = (*operands, None, None)[:3]
    along = axis[0] if isinstance(axis, list) and len(axis) == 1 else axis
    return f"torch.split_with_sizes({data}, {filled(lengths, shapes[0], along)!r}, dim={along!r})"


def _cat(operands: Sequence[object], attributes: Mapping[str, Attribute], _shapes: Shapes) -> str:
    return f"[torch.cat([{', '.join(str(each) for each in operands)}], dim={attributes.get('axis')!r})]"


def _reshape(operands: Sequence[object], attributes: Mapping[str, Attribute], shapes: Shapes) -> str:
    data, sizes = (*operands, None, None)[:2]
    if isinstance(sizes, list) and attributes.get("special_zero") is True:
        sizes = [shapes[0][index] if size == 0 and index < len(shapes[0]) else size for index, size in enumerate(sizes)]
    return f"[torch.reshape({data}, {sizes!r})]"


def _permute(operands: Sequence[object], _attributes: Mapping[str, Attribute], shapes: Shapes) -> str:
    arg, order = (*operands, None, None)[:2]
    return f"[torch.permute({arg}, {order or list(reversed(range(len(shapes[0]))))!r})]"


def _pad(operands: Sequence[object], attributes: Mapping[str, Attribute], _shapes: Shapes) -> str:
    data, begin, end, value = (*operands, None)[:4]
    lists = [each if isinstance(each, list) else [] for each in (begin, end)]
    flat = [each for pair in reversed(list(zip(*lists, strict=False))) for each in pair]
    mode = attributes.get("pad_mode")
    if mode == "constant":
        added = 0 if value is None else f"{value}.item()"
        return f"[torch.nn.functional.pad({data}, {flat!r}, 'constant', {added})]"
    return (
        f"[torch.nn.functional.pad({data}[None, None], {flat!r}, {('replicate' if mode == 'edge' else mode)!r})[0, 0]]"
    )


def _slices(operands: Sequence[object], _attributes: Mapping[str, Attribute], shapes: Shapes) -> str:
    data, *given = (*operands, None)[:5]
    start, stop, step, axes = (each if isinstance(each, list) else [] for each in given)
    index: list[Entry] = [slice(None)] * len(shapes[0])
    for axis, *bounds in zip(axes or range(len(start)), start, stop, step, strict=False):
        index[axis] = slice(*bounds)
    return f"[{data}[{', '.join(map(_entry, index))}]]"


def _gathered(operands: Sequence[object], attributes: Mapping[str, Attribute], shapes: Shapes) -> str:
    data, indices, axis = (*operands, None)[:3]
    rank, indices_rank = len(shapes[0]), len(shapes[1])
    [along] = axis if isinstance(axis, list) and len(axis) == 1 else [axis]
    batches = attributes.get("batch_dims", 0)
    if not isinstance(along, int) or not isinstance(batches, int) or not rank:
        return f"[{data}[{indices}]]"  # the case is invalid
    along, batches = along % rank, batches + indices_rank if batches < 0 else batches
    orders_of = orders(rank, indices_rank, along, batches)
    before, after = ("" if each == tuple(range(len(each))) else f".permute({each})" for each in orders_of)
    grids = [f"torch.arange({size}).reshape({shape})" for size, shape in batch_grids(shapes[1], batches)]
    return f"[{data}{before}[{', '.join([*grids, f'{indices}.long()'])}]{after}]"


def _gathered_nd(operands: Sequence[object], attributes: Mapping[str, Attribute], shapes: Shapes) -> str:
    data, values = (*operands, None)[:2]
    batches = attributes.get("batch_dims", 0)
    (sizes, shape), indices = (*shapes, ())[:2], f"torch.tensor({values!r})"
    if not isinstance(batches, int) or not 0 <= batches < len(shape):
        return f"[{data}[{indices}]]"  # the case is invalid
    leading = leading_sizes(sizes, shape, batches)
    positions, rest = (*leading, *shape[batches:-1]), tuple(sizes[batches:])
    grids = [f"torch.arange({size}).reshape({each})" for size, each in batch_grids(positions, batches)]
    whole = data if leading == list(sizes[:batches]) else f"{data}.expand({(*leading, *rest)})"
    if not shape[-1]:
        batch = f"[{', '.join(grids)}]" if grids else ""
        return f"[{whole}{batch}.expand({(*positions, *rest)})]"
    return f"[{whole}[{', '.join([*grids, f'*{indices}.reshape({tuple(shape)}).long().unbind(-1)'])}]]"


def _getitem(operands: Sequence[object], attributes: Mapping[str, Attribute], shapes: Shapes) -> str:
    data, *given = (*operands, None)[:4]
    begin, end = (each if isinstance(each, list) else [] for each in given[:2])
    stride = given[2] if isinstance(given[2], list) else [1] * len(begin)
    index = index_of(shapes[0], (begin, end, stride), bits_of(attributes, len(begin), "build"))
    return f"[{data}[{', '.join(map(_entry, index))}]]"


def _entry(entry: Entry) -> str:
    if not isinstance(entry, slice):
        return "..." if entry is ... else str(entry)
    return ":".join("" if each is None else str(each) for each in (entry.start, entry.stop, entry.step))


#: The call of each operation; its value is a sequence of tensors.
_TORCH: Mapping[str, Call] = {
    "Concat-1": _cat,
    "Gather-8": _gathered,
    "GatherND-8": _gathered_nd,
    "Pad-12": _pad,
    "Reshape-1": _reshape,
    "Slice-8": _slices,
    "Split-1": _tensor_split,
    "StridedSlice-1": _getitem,
    "Transpose-1": _permute,
    "VariadicSplit-1": _split_with_sizes,
}


def onnx_model_of(content: bytes) -> tuple[str, list[tuple[str, str, str, str]]]:
    """A `model.onnx` in ONNX's text format without its initializers, and the source of each of them.

    An initializer is its name, type, shape and elements; one without a type is an array, others are bytes or strings.
    """
    from onnx import TensorProto, helper, load_from_string, numpy_helper, printer

    def constant(proto: Any) -> tuple[str, str, str, str]:
        name, kind, shape = repr(proto.name), str(TensorProto.DataType.Name(proto.data_type)), repr(list(proto.dims))
        if proto.data_type == TensorProto.STRING:
            return name, kind, shape, repr(list(proto.string_data))
        native = helper.tensor_dtype_to_np_dtype(proto.data_type)
        if native.kind in "biuf" and native.isbuiltin == 1:
            return name, "", shape, array_source(np.asarray(numpy_helper.to_array(proto)))
        return name, kind, shape, f'bytes.fromhex("{proto.raw_data.hex()}")'

    model = load_from_string(content)
    constants = [constant(each) for each in model.graph.initializer]
    del model.graph.initializer[:]
    model.graph.name = "case"
    return str(printer.to_text(model)), constants
