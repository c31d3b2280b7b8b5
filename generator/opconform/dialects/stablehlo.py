"""The dialect `stablehlo`: an MLIR module of static shapes.

StableHLO has no split, so each output is a slice with computed limits. Slices cannot have the faults of a split's axis,
count or lengths, so invalid cases are left out.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from opconform.dialects.dialect import Inexpressible
from opconform.model.golden import Golden
from opconform.model.graph import evaluated_arguments, ports_of
from opconform.operations import OPERATIONS
from opconform.operations.axis import axis_of
from opconform.operations.pad import pads_of
from opconform.operations.slice import slices_of
from opconform.operations.slicing_steps import parts_of
from opconform.operations.transpose import order_of
from opconform.resources import render
from opconform.suite.case import Node
from opconform.tensors.bit_layouts import LOW_FIRST, pack
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor

#: The file that a backend loads.
MODEL = "stablehlo/model.mlir"

_BYTE = 8
#: The operations without a syntax of their own, which are written in MLIR's generic form.
_GENERIC = frozenset({"gather"})


class _Value(NamedTuple):
    value: str
    type: str


class _Line(NamedTuple):
    """One operation: its result, its name, its operands and attributes as text, and its types."""

    value: str
    op: str
    operands: str
    before: tuple[str, ...]
    after: str


def files_of(golden: Golden, name: str) -> dict[str, bytes]:
    """The module of a case, by file name, or `Inexpressible`; `name` is the name of the module."""
    _check_expressible(golden)
    draft, tensors = golden.draft, golden.tensors[0]
    lines = [
        line._replace(op=f'"stablehlo.{line.op}"' if line.op in _GENERIC else f"stablehlo.{line.op}")
        for node in golden.graph.nodes
        for line in RENDERINGS[node.op](golden, node)
    ]
    operands = {
        name
        for node in golden.graph.nodes
        for port, name in ports_of(node).items()
        if OPERATIONS[node.op].port_of(port).role == "tensor"
    }
    inputs, constants = [], []
    for each in draft.tensors:
        if draft.binding[each] != "constant":
            inputs.append(_Value(each, _type(tensors[each])))
        elif each in operands:
            constants.append((each, _elements(tensors[each]), _type(tensors[each])))
    text = render(
        "stablehlo/model.mlir.j2",
        name=name,
        inputs=inputs,
        constants=constants,
        lines=lines,
        results=[_Value(each, _type(tensors[each])) for each in golden.graph.outputs],
    )
    return {MODEL: text.encode()}


def _check_expressible(golden: Golden) -> None:
    draft = golden.draft
    for node in golden.graph.nodes:
        if node.op not in RENDERINGS:
            raise Inexpressible(f"{node.op} has no rendering in this dialect")
    if draft.rejected_for is not None:
        raise Inexpressible("StableHLO's operations cannot have the fault, or its verifier rejects it, not the backend")
    if draft.dynamic:
        raise Inexpressible("shapes are static in this dialect")
    for name, tensor in draft.tensors.items():
        is_control = draft.operation.role_of(name) == "control"
        if is_control and draft.binding[name] == "parameter":
            raise Inexpressible(f"control inputs are constants in this dialect, and {name} is supplied at run time")
        if not is_control and ELEMENT_TYPES[tensor.element_type].mlir is None:
            raise Inexpressible(f"StableHLO has no {tensor.element_type}")


def _slices(golden: Golden, node: Node) -> Iterator[_Line]:
    """Consecutive slices along the axis, one per output."""
    tensors, source = golden.tensors[0], ports_of(node)["data"]
    axis, start = axis_of(evaluated_arguments(node, tensors)), 0
    for name in node.outputs:
        limits = [f"0:{size}" for size in tensors[name].shape]
        limits[axis] = f"{start}:{start + tensors[name].shape[axis]}"
        start += tensors[name].shape[axis]
        yield _Line(name, "slice", f"%{source} [{', '.join(limits)}]", (_type(tensors[source]),), _type(tensors[name]))


def _concatenate(golden: Golden, node: Node) -> Iterator[_Line]:
    tensors, given = golden.tensors[0], [each for each in node.inputs if each is not None]
    axis = int(str(node.attributes["axis"])) % len(tensors[given[0]].shape)
    operands = f"{', '.join(f'%{each}' for each in given)}, dim = {axis}"
    types = tuple(_type(tensors[each]) for each in given)
    yield _Line(node.outputs[0], "concatenate", operands, types, _type(tensors[node.outputs[0]]))


def _slice(golden: Golden, node: Node) -> Iterator[_Line]:
    tensors, source = golden.tensors[0], ports_of(node)["data"]
    slices = slices_of(evaluated_arguments(node, tensors))
    selected = [range(*each.indices(size)) for each, size in zip(slices, tensors[source].shape, strict=True)]
    return _selection(node, tensors[source], selected, _Value(node.outputs[0], _type(tensors[node.outputs[0]])))


def _strided_slice(golden: Golden, node: Node) -> Iterator[_Line]:
    """The same for every dimension of data, and a reshape if dimensions are new or removed."""
    tensors, source = golden.tensors[0], ports_of(node)["data"]
    parts = [each for each in parts_of(evaluated_arguments(node, tensors)) if each is not None]
    data, result = tensors[source], _Value(node.outputs[0], _type(tensors[node.outputs[0]]))
    parts += [range(size) for size in data.shape[len(parts) :]]
    indices = zip(parts, data.shape, strict=True)
    selected = [range(each % size, each % size + 1) if isinstance(each, int) else each for each, size in indices]
    if tensors[node.outputs[0]].shape == tuple(len(each) for each in selected):
        yield from _selection(node, data, selected, result)
        return
    whole = _Value(f"{node.name}_selected", _shaped([len(each) for each in selected], data))
    yield from _selection(node, data, selected, whole)
    yield _Line(result.value, "reshape", f"%{whole.value}", (whole.type,), result.type)


def _selection(node: Node, data: Tensor, selected: Sequence[range], result: _Value) -> Iterator[_Line]:
    """A slice with strides, reversed along the dimensions that have a negative step."""
    backwards = [axis for axis, each in enumerate(selected) if each.step < 0]
    forwards = [sorted((each[0], each[-1])) if each else [0, -1] for each in selected]
    limits = [f"{first}:{last + 1}:{abs(each.step)}" for (first, last), each in zip(forwards, selected, strict=True)]
    name = f"{node.name}_forwards" if backwards else result.value
    yield _Line(name, "slice", f"%{ports_of(node)['data']} [{', '.join(limits)}]", (_type(data),), result.type)
    if backwards:
        yield _Line(result.value, "reverse", f"%{name}, dims = {backwards}", (result.type,), result.type)


def _pad(golden: Golden, node: Node) -> Iterator[_Line]:
    """A pad with one value; the value is a constant if it is omitted."""
    tensors, ports = golden.tensors[0], ports_of(node)
    pads, data, output = pads_of(evaluated_arguments(node, tensors)), tensors[ports["data"]], node.outputs[0]
    if node.attributes["pad_mode"] != "constant":
        raise Inexpressible(f"StableHLO has no pad of the mode {node.attributes['pad_mode']}")
    if any(sum(each) < 0 for each in pads):
        raise Inexpressible("in StableHLO, an output cannot have a negative size")
    value, scalar = ports.get("pad_value", f"{node.name}_zero"), f"tensor<{data.type.mlir}>"
    if "pad_value" not in ports:
        zero = Tensor(element_type=data.element_type, array=np.zeros((), data.array.dtype))
        yield _Line(value, "constant", f"dense<{_elements(zero)}>", (), scalar)
    begin, end = [each.begin for each in pads], [each.end for each in pads]
    limits = f"low = {begin}, high = {end}, interior = {[0] * len(data.shape)}"
    yield _Line(output, "pad", f"%{ports['data']}, %{value}, {limits}", (_type(data), scalar), _type(tensors[output]))


def _gather_nd(golden: Golden, node: Node) -> Iterator[_Line]:
    """A gather with constant indices, counted from the front."""
    tensors, ports = golden.tensors[0], ports_of(node)
    data, indices, output = tensors[ports["data"]], tensors[ports["indices"]], tensors[node.outputs[0]]
    batches, length = int(str(node.attributes.get("batch_dims", 0))), indices.shape[-1]
    if data.shape[:batches] != indices.shape[:batches]:
        raise Inexpressible("StableHLO does not broadcast batch dimensions")
    positions, gathered = len(indices.shape) - 1, batches + length
    sizes = np.array(data.shape[batches:gathered], np.int64)
    tuples = np.array(indices.integers(), np.int64).reshape(indices.shape)
    counted = Tensor(element_type="i64", array=np.where(tuples < 0, tuples + sizes, tuples).view(np.uint64))
    name = f"{node.name}_indices"
    yield _Line(name, "constant", f"dense<{_elements(counted)}>", (), _type(counted))
    leading = list(range(batches))
    numbers = {
        "offset_dims": list(range(positions, len(output.shape))),
        "collapsed_slice_dims": list(range(batches, gathered)),
        "operand_batching_dims": leading,
        "start_indices_batching_dims": leading,
        "start_index_map": list(range(batches, gathered)),
        "index_vector_dim": positions,
    }
    given = ", ".join(f"{key} = {value}" for key, value in numbers.items() if value != [])
    slices = ", ".join(str(each) for each in (*[1] * gathered, *data.shape[gathered:]))
    attributes = f"dimension_numbers = #stablehlo.gather<{given}>, slice_sizes = array<i64: {slices}>"
    operands = f"(%{ports['data']}, %{name}) <{{{attributes}}}>"
    yield _Line(node.outputs[0], "gather", operands, (_type(data), _type(counted)), _type(output))


def _reshape(golden: Golden, node: Node) -> Iterator[_Line]:
    source, result = (golden.tensors[0][name] for name in (ports_of(node)["data"], node.outputs[0]))
    yield _Line(node.outputs[0], "reshape", f"%{ports_of(node)['data']}", (_type(source),), _type(result))


def _transpose(golden: Golden, node: Node) -> Iterator[_Line]:
    tensors, source = golden.tensors[0], ports_of(node)["arg"]
    order = list(order_of(evaluated_arguments(node, tensors)))
    result = node.outputs[0]
    yield _Line(result, "transpose", f"%{source}, dims = {order}", (_type(tensors[source]),), _type(tensors[result]))


def _constant(_golden: Golden, _node: Node) -> Iterator[_Line]:
    """Nothing: the values of a control input are in the operation that takes them."""
    return iter(())


#: The rendering of each operation.
RENDERINGS: Mapping[str, Callable[[Golden, Node], Iterator[_Line]]] = {
    "Concat-1": _concatenate,
    "Constant-1": _constant,
    "GatherND-8": _gather_nd,
    "Pad-12": _pad,
    "Reshape-1": _reshape,
    "Slice-8": _slice,
    "Split-1": _slices,
    "StridedSlice-1": _strided_slice,
    "Transpose-1": _transpose,
    "VariadicSplit-1": _slices,
}


def _type(tensor: Tensor) -> str:
    return _shaped(tensor.shape, tensor)


def _shaped(shape: Sequence[int], tensor: Tensor) -> str:
    """The type of a tensor's elements in a shape."""
    dimensions = "".join(f"{each}x" for each in shape)
    return f"tensor<{dimensions}{tensor.type.mlir}>"


def _elements(tensor: Tensor) -> str:
    """The elements of a constant: hexadecimal bytes for byte-sized types, otherwise a list of literals."""
    if not tensor.array.size:
        return ""
    if tensor.type.kind != "boolean" and tensor.type.bits % _BYTE == 0:
        return f'"0x{pack(tensor, LOW_FIRST).hex().upper()}"'
    if tensor.type.kind == "boolean":
        texts = ["true" if each else "false" for each in tensor.array.reshape(-1)]
    elif tensor.type.is_integer:
        texts = [str(each) for each in tensor.integers()]
    else:
        texts = [f"0x{int(each):X}" for each in tensor.array.reshape(-1)]
    return str(np.array(texts, object).reshape(tensor.shape).tolist()).replace("'", "")
