"""The dialect `stablehlo`: an MLIR module of static shapes.

StableHLO has no split, so each output is a slice with computed limits. A slice cannot have a wrong axis, count or
lengths of a split, so invalid cases are left out.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from opconform.dialects.dialect import Inexpressible
from opconform.dialects.known_node import KnownGraph, KnownNode
from opconform.model.golden import Golden
from opconform.operations.arguments import Arguments
from opconform.operations.arithmetic.filters import filters_of, windows_of
from opconform.operations.arithmetic.matmul import batches_of
from opconform.operations.arithmetic.reductions import reduced_axes
from opconform.operations.arithmetic.unary import limits_of
from opconform.operations.movement import broadcast
from opconform.operations.movement.axis import axis_of, from_front
from opconform.operations.movement.depth import Parts, deep_parts, flat_parts
from opconform.operations.movement.gathers.gather_elements import positions_of
from opconform.operations.movement.pad import pads_of
from opconform.operations.movement.reverse import axes_of
from opconform.operations.movement.shuffle_channels import shuffled_parts
from opconform.operations.movement.slices.slice import slices_of
from opconform.operations.movement.slices.steps import parts_of
from opconform.operations.movement.transpose import order_of
from opconform.system.resources import render
from opconform.tensors.bit_layouts import LOW_FIRST, pack
from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.literals import encoded
from opconform.tensors.tensor import Array, Tensor, patterns

#: The file that a backend loads.
MODEL = "stablehlo/model.mlir"

_BYTE = 8
#: The operations without a syntax of their own, which are written in MLIR's generic form.
_GENERIC = {name: f'"stablehlo.{name}"' for name in ("batch_norm_inference", "gather")}
#: How a setting is provided if it is not a constant of the model.
_VARIABLE = {"parameter": "supplied at run time", "computed": "computed"}


class _Value(NamedTuple):
    value: str
    type: str


class _Line(NamedTuple):
    """One operation: its result, its name, its operands and attributes as text, and what it takes."""

    result: _Value
    op: str
    operands: str
    takes: Sequence[_Value] = ()


def files_of(golden: Golden, name: str) -> dict[str, bytes]:
    """The module of a case, by file name, or `Inexpressible`; `name` is the name of the module."""
    graph = KnownGraph(golden=golden)
    _check_expressible(graph)
    tensors = golden.tensors[0]
    lines = [line for node in graph.nodes for line in RENDERINGS[node.node.op](node)]
    taken = {value for line in lines for value, _ in line.takes}
    constants = [item for item in graph.constants.items() if item[0] in taken]
    text = render(
        "stablehlo/model.mlir.j2",
        name=name,
        inputs=[_value(*item) for item in golden.inputs[0].items() if item[0] not in graph.constants],
        constants=[(_value(*item), _elements(item[1])) for item in constants],
        lines=[line._replace(op=_GENERIC.get(line.op, f"stablehlo.{line.op}")) for line in lines],
        results=[_value(output, tensors[output]) for output in golden.graph.outputs],
    )
    return {MODEL: text.encode()}


def _check_expressible(graph: KnownGraph) -> None:
    for node in graph.nodes:
        if node.node.op not in RENDERINGS:
            raise Inexpressible(f"{node.node.op} has no rendering in this dialect")
    if graph.golden.draft.rejected_for is not None:
        raise Inexpressible("StableHLO's operations cannot have the violation, or its verifier rejects it")
    if graph.golden.draft.dynamic:
        raise Inexpressible("shapes are static in this dialect")
    for node in graph.nodes:
        for port, name in node.inputs.items():
            element_type, is_setting = node.types[port].element_type, node.operation.role_of(port) == "setting"
            if is_setting and (source := node.source(port)) != "constant":
                raise Inexpressible(f"setting inputs are constants in this dialect, and {name} is {_VARIABLE[source]}")
            if not is_setting and ELEMENT_TYPES[element_type].mlir is None:
                raise Inexpressible(f"StableHLO has no {element_type}")


def _function(op: str, *kinds: str) -> Callable[[KnownNode], Iterator[_Line]]:
    """An operation on one tensor, of elements of some kinds."""

    def lines(node: KnownNode) -> Iterator[_Line]:
        [result], data = _results(node), _taken(node, "data")
        if node.tensor("data").type.kind not in kinds:
            raise Inexpressible(f"StableHLO's {op} does not take {node.tensor('data').element_type}")
        yield _Line(result, op, f"%{data.value}", [data])

    return lines


def _round(node: KnownNode) -> Iterator[_Line]:
    ops = {"half_to_even": "round_nearest_even", "half_away_from_zero": "round_nearest_afz"}
    return _function(ops[str(node.attributes["mode"])], "float")(node)


def _relu(node: KnownNode) -> Iterator[_Line]:
    [result], data, tensor = _results(node), _taken(node, "data"), node.tensor("data")
    zero = _value(node.added("zero"), tensor)
    number = Tensor(element_type=tensor.element_type, array=np.zeros((), tensor.array.dtype))
    yield _Line(zero, "constant", f"dense<{_elements(number) if tensor.array.size else ''}>")
    yield _Line(result, "maximum", f"%{data.value}, %{zero.value}", [data, zero])


def _clamp(node: KnownNode) -> Iterator[_Line]:
    [result], data = _results(node), _taken(node, "data")
    limits = limits_of(node.arguments[0])
    least, most = (_value(node.added(name), limit) for name, limit in zip(("min", "max"), limits, strict=True))
    for value, limit in zip((least, most), limits, strict=True):
        yield _Line(value, "constant", f"dense<{_elements(limit)}>")
    yield _Line(result, "clamp", f"%{least.value}, %{data.value}, %{most.value}", [least, data, most])


def _batch_normalization(node: KnownNode) -> Iterator[_Line]:
    """With an epsilon of f32, which is written with all its digits."""
    [result], takes = _results(node), [_taken(node, port) for port in node.inputs]
    epsilon = float(str(node.attributes["epsilon"]))
    if node.tensor("data").element_type == "f64" and float(np.float32(epsilon)) != epsilon:
        raise Inexpressible("StableHLO's epsilon is a number of f32")
    attributes = f"<{{epsilon = {epsilon:.17e} : f32, feature_index = 1 : i64}}>"
    yield _Line(result, "batch_norm_inference", f"({', '.join(f'%{x.value}' for x in takes)}) {attributes}", takes)


def _broadcast(node: KnownNode) -> Iterator[_Line]:
    [result], data, axes = _results(node), _taken(node, "data"), broadcast.axes_of(node.arguments[0])
    yield _Line(result, "broadcast_in_dim", f"%{data.value}, dims = {list(axes)}", [data])


def _concatenate(node: KnownNode) -> Iterator[_Line]:
    [result], takes = _results(node), [_taken(node, port) for port in node.inputs]
    axis = from_front(node.arguments[0].number("axis"), len(node.tensor("inputs_0").shape))
    yield _Line(result, "concatenate", f"{', '.join(f'%{value}' for value, _ in takes)}, dim = {axis}", takes)


def _convert(node: KnownNode) -> Iterator[_Line]:
    [result], data = _results(node), _taken(node, "data")
    if node.outputs[0].type.mlir is None:
        raise Inexpressible(f"StableHLO has no {node.outputs[0].element_type}")
    yield _Line(result, "convert", f"%{data.value}", [data])


def _convolution(node: KnownNode) -> Iterator[_Line]:
    """A convolution; the groups of filters are joined, if there are any."""
    [result], data, filters = _results(node), _taken(node, "data"), _taken(node, "filters")
    groups, outputs, *rest = filters_of(node.arguments[0])
    if not groups:
        raise Inexpressible("StableHLO's convolution has a positive number of groups")
    if len(node.tensor("filters").shape) > len(node.tensor("data").shape):
        joined = _Value(f"{node.node.name}_filters", _type((groups * outputs, *rest), node.tensor("filters")))
        yield _Line(joined, "reshape", f"%{filters.value}", [filters])
        filters = joined
    strides, dilations = (list(node.arguments[0].numbers(name)) for name in ("strides", "dilations"))
    spatial = ", ".join(map(str, range(len(strides))))
    pads = [list(window.added) for window in windows_of(node.arguments[0])]
    numbers = f"[b, f, {spatial}]x[o, i, {spatial}]->[b, f, {spatial}]"
    window = f"{{stride = {strides}, pad = {pads}, rhs_dilate = {dilations}}}"
    counts = f"batch_group_count = 1 : i64, feature_group_count = {groups} : i64"
    attributes = f"dim_numbers = {numbers}, window = {window} {{{counts}}}"
    yield _Line(result, "convolution", f"(%{data.value}, %{filters.value}) {attributes}", [data, filters])


def _matmul(node: KnownNode) -> Iterator[_Line]:
    """A product of matrices with equal dimensions before them, to which the inputs are broadcast."""
    [result], takes, batches = _results(node), [], batches_of(node.arguments[0])
    contracted = []
    for port, (batch, broadcast_batch) in zip("ab", batches, strict=True):
        value, tensor = _taken(node, port), node.tensor(port)
        if batch != broadcast_batch:
            shape = (*broadcast_batch, *tensor.shape[-2:])
            repeated = _Value(node.added(port), _type(shape, tensor))
            dimensions = [*range(len(shape) - len(tensor.shape), len(shape))]
            yield _Line(repeated, "broadcast_in_dim", f"%{value.value}, dims = {dimensions}", [value])
            value = repeated
        rank = len(broadcast_batch) + min(len(tensor.shape), 2)
        is_last = len(tensor.shape) == 1 or (port == "a") is not node.arguments[0].attribute(f"transpose_{port}")
        contracted.append(rank - 1 if is_last else rank - 2)
        takes.append(value)
    leading = [*range(len(batches[0][1]))]
    batching = f"batching_dims = {leading} x {leading}, " if leading else ""
    dimensions_text = f"{batching}contracting_dims = [{contracted[0]}] x [{contracted[1]}]"
    yield _Line(result, "dot_general", f"%{takes[0].value}, %{takes[1].value}, {dimensions_text}", takes)


def _split(node: KnownNode) -> Iterator[_Line]:
    """Consecutive slices along the axis, one per output."""
    data, axis, start = _taken(node, "data"), axis_of(node.arguments[0]), 0
    for result, output in zip(_results(node), node.outputs, strict=True):
        limits = [f"0:{size}" for size in output.shape]
        limits[axis] = f"{start}:{start + output.shape[axis]}"
        start += output.shape[axis]
        yield _Line(result, "slice", f"%{data.value} [{', '.join(limits)}]", [data])


def _slice(node: KnownNode) -> Iterator[_Line]:
    slices = zip(slices_of(node.arguments[0]), node.tensor("data").shape, strict=True)
    return _selection(node, [range(*part.indices(size)) for part, size in slices])


def _strided_slice(node: KnownNode) -> Iterator[_Line]:
    return _selection(node, [part for part in parts_of(node.arguments[0]) if part is not None])


def _selection(node: KnownNode, parts: Sequence[range | int]) -> Iterator[_Line]:
    """A slice, reversed where a step is negative, and a reshape if dimensions are new or removed."""
    [result], [output], tensor, data = _results(node), node.outputs, node.tensor("data"), _taken(node, "data")
    indices = zip((*parts, *map(range, tensor.shape[len(parts) :])), tensor.shape, strict=True)
    selected = [range(part % size, part % size + 1) if isinstance(part, int) else part for part, size in indices]
    shape = tuple(map(len, selected))
    backwards = [axis for axis, part in enumerate(selected) if part.step < 0]
    forwards = [sorted((part[0], part[-1])) if part else [0, -1] for part in selected]
    limits = [f"{first}:{last + 1}:{abs(part.step)}" for (first, last), part in zip(forwards, selected, strict=True)]
    whole = result if output.shape == shape else _Value(node.added("selected"), _type(shape, tensor))
    sliced = whole._replace(value=node.added("forwards")) if backwards else whole
    yield _Line(sliced, "slice", f"%{data.value} [{', '.join(limits)}]", [data])
    if backwards:
        yield _Line(whole, "reverse", f"%{sliced.value}, dims = {backwards}", [sliced])
    if whole is not result:
        yield _Line(result, "reshape", f"%{whole.value}", [whole])


def _pad(node: KnownNode) -> Iterator[_Line]:
    """A pad with one value; the value is a constant if it is omitted."""
    [result], data, pads = _results(node), _taken(node, "data"), pads_of(node.arguments[0])
    if node.attributes["pad_mode"] != "constant":
        raise Inexpressible(f"StableHLO has no pad of the mode {node.attributes['pad_mode']}")
    if any(sum(ends) < 0 for ends in pads):
        raise Inexpressible("in StableHLO, an output cannot have a negative size")
    if "pad_value" in node.inputs:
        added = _taken(node, "pad_value")
    else:
        tensor = node.tensor("data")
        zero = Tensor(element_type=tensor.element_type, array=np.zeros((), tensor.array.dtype))
        added = _value(node.added("zero"), zero)
        yield _Line(added, "constant", f"dense<{_elements(zero)}>")
    begin, end = [ends.begin for ends in pads], [ends.end for ends in pads]
    limits = f"low = {begin}, high = {end}, interior = {[0] * len(pads)}"
    yield _Line(result, "pad", f"%{data.value}, %{added.value}, {limits}", [data, added])


def _gather_elements(node: KnownNode) -> Iterator[_Line]:
    return _gathered(node, np.stack(positions_of(node.arguments[0]), -1), 0)


def _gather_nd(node: KnownNode) -> Iterator[_Line]:
    data, indices = node.tensor("data"), node.tensor("indices")
    batches = node.arguments[0].number("batch_dims")
    if data.shape[:batches] != indices.shape[:batches]:
        raise Inexpressible("StableHLO does not broadcast batch dimensions")
    sizes = np.array(data.shape[batches : batches + indices.shape[-1]], np.int64)
    tuples = np.array(indices.integers(), np.int64).reshape(indices.shape)
    return _gathered(node, np.where(tuples < 0, tuples + sizes, tuples), batches)


def _gathered(node: KnownNode, tuples: Array, batches: int) -> Iterator[_Line]:
    """A gather with constant tuples of indices, counted from the front."""
    [result], [output], data = _results(node), node.outputs, node.tensor("data")
    positions, gathered = tuples.ndim - 1, batches + tuples.shape[-1]
    if 0 in data.shape[:gathered]:
        raise Inexpressible("StableHLO takes no slice of one element from a dimension of 0")
    counted = Tensor(element_type="i64", array=tuples.astype(np.int64).view(np.uint64))
    takes = [_taken(node, "data"), _value(node.added("indices"), counted)]
    yield _Line(takes[1], "constant", f"dense<{_elements(counted)}>")
    leading, inner = list(range(batches)), list(range(batches, gathered))
    numbers = {
        "offset_dims": list(range(positions, len(output.shape))),
        "collapsed_slice_dims": inner,
        "operand_batching_dims": leading,
        "start_indices_batching_dims": leading,
        "start_index_map": inner,
        "index_vector_dim": positions,
    }
    dimensions = ", ".join(f"{key} = {value}" for key, value in numbers.items() if value != [])
    slices = ", ".join(str(size) for size in (*[1] * gathered, *data.shape[gathered:]))
    attributes = f"dimension_numbers = #stablehlo.gather<{dimensions}>, slice_sizes = array<i64: {slices}>"
    yield _Line(result, "gather", f"(%{takes[0].value}, %{takes[1].value}) <{{{attributes}}}>", takes)


def _gather_nd_5(node: KnownNode) -> Iterator[_Line]:
    if node.arguments[0].number("batch_dims") > 1:
        raise Inexpressible("StableHLO does not join batch dimensions")
    yield from _gather_nd(node)


def _reshape(node: KnownNode) -> Iterator[_Line]:
    [result], data = _results(node), _taken(node, "data")
    yield _Line(result, "reshape", f"%{data.value}", [data])


def _rearranged(parts_of: Callable[[Arguments], Parts]) -> Callable[[KnownNode], Iterator[_Line]]:
    """Data in another shape, with its dimensions in another order, and then in the shape of the output."""

    def lines(node: KnownNode) -> Iterator[_Line]:
        [result], tensor, data = _results(node), node.tensor("data"), _taken(node, "data")
        shape, order = parts_of(node.arguments[0])
        split = _Value(node.added("split"), _type(shape, tensor))
        moved = _Value(node.added("moved"), _type([shape[number] for number in order], tensor))
        yield _Line(split, "reshape", f"%{data.value}", [data])
        yield _Line(moved, "transpose", f"%{split.value}, dims = {list(order)}", [split])
        yield _Line(result, "reshape", f"%{moved.value}", [moved])

    return lines


def _transpose(node: KnownNode) -> Iterator[_Line]:
    [result], data = _results(node), _taken(node, "arg")
    yield _Line(result, "transpose", f"%{data.value}, dims = {list(order_of(node.arguments[0]))}", [data])


def _reverse(node: KnownNode) -> Iterator[_Line]:
    [result], data = _results(node), _taken(node, "data")
    yield _Line(result, "reverse", f"%{data.value}, dims = {sorted(axes_of(node.arguments[0]))}", [data])


def _repeated(node: KnownNode, port: str) -> Iterator[_Line]:
    """The broadcast of an input to the shape of the output, if it has another one."""
    tensor, [output] = node.tensor(port), node.outputs
    if tensor.shape != output.shape:
        first, taken = len(output.shape) - len(tensor.shape), _taken(node, port)
        wide = _Value(node.added(port), _type(output.shape, tensor))
        yield _Line(wide, "broadcast_in_dim", f"%{taken.value}, dims = {[*range(first, len(output.shape))]}", [taken])


def _elementwise(op: str, *, kind: str = "") -> Callable[[KnownNode], Iterator[_Line]]:
    """An operation on elements; `kind` stands before its operands."""

    def lines(node: KnownNode) -> Iterator[_Line]:
        [result], takes = _results(node), []
        if node.attributes.get("m_pythondiv") and node.tensor("a").type.is_integer:
            raise Inexpressible("StableHLO's division rounds quotients towards zero")
        if node.outputs[0].type.mlir is None:
            raise Inexpressible(f"StableHLO has no {node.outputs[0].element_type}")
        for port in node.inputs:
            before = [*_repeated(node, port)]
            yield from before
            takes.append(before[0].result if before else _taken(node, port))
        yield _Line(result, op, ", ".join([*filter(None, [kind]), *(f"%{x.value}" for x in takes)]), takes)

    return lines


def _right_shift(node: KnownNode) -> Iterator[_Line]:
    """A shift that fills signed integers with their sign, and others with zeros."""
    is_signed = node.tensor("a").type.kind == "signed"
    return _elementwise(f"shift_right_{'arithmetic' if is_signed else 'logical'}")(node)


def _reduction(op: str, initial: Callable[[ElementType], int]) -> Callable[[KnownNode], Iterator[_Line]]:
    """A reduction from the elements with a bit pattern, and a reshape that keeps the reduced dimensions."""

    def lines(node: KnownNode) -> Iterator[_Line]:
        [result], tensor, data = _results(node), node.tensor("data"), _taken(node, "data")
        axes = reduced_axes(node.arguments[0])
        pattern = np.array(initial(tensor.type), f"u{tensor.array.dtype.itemsize}")
        scalar = Tensor(element_type=tensor.element_type, array=pattern.view(tensor.array.dtype))
        start = _Value(node.added("start"), _type((), tensor))
        kept = [size for axis, size in enumerate(tensor.shape) if axis not in axes]
        reduced = _Value(node.added("reduced"), _type(kept, tensor))
        yield _Line(start, "constant", f"dense<{_elements(scalar)}>")
        dimensions = f"applies stablehlo.{op} across dimensions = {list(axes)}"
        yield _Line(reduced, "reduce", f"(%{data.value} init: %{start.value}) {dimensions}", [data, start])
        yield _Line(result, "reshape", f"%{reduced.value}", [reduced])

    return lines


def _one(kind: ElementType) -> int:
    """The bit pattern of 1."""
    return 1 if kind.is_integer else int(patterns(np.array(encoded(kind.name, [1.0])))[0])


def _least(kind: ElementType) -> int:
    """The bit pattern of the least integer, or of minus infinity."""
    return _pattern(kind, kind.minimum if kind.is_integer else -np.inf)


def _most(kind: ElementType) -> int:
    """The bit pattern of the largest integer, or of infinity."""
    return _pattern(kind, kind.maximum if kind.is_integer else np.inf)


def _pattern(kind: ElementType, element: float) -> int:
    return int(patterns(np.array(encoded(kind.name, [element])))[0])


def _constant(_node: KnownNode) -> Iterator[_Line]:
    """Nothing: it is among the constants of the module if an operation takes it, and not only its values."""
    return iter(())


#: The rendering of each operation.
RENDERINGS: Mapping[str, Callable[[KnownNode], Iterator[_Line]]] = {
    "Abs-1": _function("abs", "float", "signed"),
    "Add-1": _elementwise("add"),
    "BitwiseAnd-13": _elementwise("and"),
    "BitwiseLeftShift-15": _elementwise("shift_left"),
    "BitwiseOr-13": _elementwise("or"),
    "BitwiseRightShift-15": _right_shift,
    "BitwiseXor-13": _elementwise("xor"),
    "BitwiseNot-13": _function("not", "signed", "unsigned", "boolean"),
    "BatchNormInference-5": _batch_normalization,
    "Broadcast-1": _broadcast,
    "Broadcast-3": _broadcast,
    "Ceiling-1": _function("ceil", "float"),
    "Clamp-1": _clamp,
    "Concat-1": _concatenate,
    "Constant-1": _constant,
    "Convert-1": _convert,
    "ConvertLike-1": _convert,
    "Convolution-1": _convolution,
    "Cos-1": _function("cosine", "float"),
    "GroupConvolution-1": _convolution,
    "DepthToSpace-1": _rearranged(flat_parts),
    "Divide-1": _elementwise("divide"),
    "Equal-1": _elementwise("compare", kind="EQ"),
    "Exp-1": _function("exponential", "float"),
    "Floor-1": _function("floor", "float"),
    "GatherElements-6": _gather_elements,
    "GatherND-5": _gather_nd_5,
    "GatherND-8": _gather_nd,
    "Greater-1": _elementwise("compare", kind="GT"),
    "GreaterEqual-1": _elementwise("compare", kind="GE"),
    "IsFinite-10": _function("is_finite", "float"),
    "Less-1": _elementwise("compare", kind="LT"),
    "LessEqual-1": _elementwise("compare", kind="LE"),
    "Log-1": _function("log", "float"),
    "LogicalAnd-1": _elementwise("and"),
    "LogicalOr-1": _elementwise("or"),
    "LogicalXor-1": _elementwise("xor"),
    "LogicalNot-1": _function("not", "boolean"),
    "Maximum-1": _elementwise("maximum"),
    "Minimum-1": _elementwise("minimum"),
    "Mod-1": _elementwise("remainder"),
    "Multiply-1": _elementwise("multiply"),
    "MatMul-1": _matmul,
    "Pad-1": _pad,
    "Pad-12": _pad,
    "Power-1": _elementwise("power"),
    "ReduceLogicalAnd-1": _reduction("and", lambda _: 1),
    "ReduceLogicalOr-1": _reduction("or", lambda _: 0),
    "ReduceMax-1": _reduction("maximum", _least),
    "ReduceMin-1": _reduction("minimum", _most),
    "ReduceProd-1": _reduction("multiply", _one),
    "ReduceSum-1": _reduction("add", lambda _: 0),
    "Negative-1": _function("negate", "float", "signed"),
    "NotEqual-1": _elementwise("compare", kind="NE"),
    "ReLU-1": _relu,
    "Reshape-1": _reshape,
    "Reverse-1": _reverse,
    "Round-5": _round,
    "Select-1": _elementwise("select"),
    "ShuffleChannels-1": _rearranged(shuffled_parts),
    "Sigmoid-1": _function("logistic", "float"),
    "Sin-1": _function("sine", "float"),
    "Sign-1": _function("sign", "float", "signed"),
    "Slice-8": _slice,
    "SpaceToDepth-1": _rearranged(deep_parts),
    "Split-1": _split,
    "Sqrt-1": _function("sqrt", "float"),
    "Squeeze-1": _reshape,
    "Squeeze-15": _reshape,
    "StridedSlice-1": _strided_slice,
    "Subtract-1": _elementwise("subtract"),
    "Tan-1": _function("tan", "float"),
    "Tanh-1": _function("tanh", "float"),
    "Transpose-1": _transpose,
    "Unsqueeze-1": _reshape,
    "VariadicSplit-1": _split,
}


def _taken(node: KnownNode, port: str) -> _Value:
    return _value(node.inputs[port], node.tensor(port))


def _results(node: KnownNode) -> list[_Value]:
    return [_value(name, tensor) for name, tensor in zip(node.node.outputs, node.outputs, strict=True)]


def _value(name: str, tensor: Tensor) -> _Value:
    return _Value(name, _type(tensor.shape, tensor))


def _type(shape: Sequence[int], tensor: Tensor) -> str:
    """The type of a tensor's elements in a shape."""
    dimensions = "".join(f"{size}x" for size in shape)
    return f"tensor<{dimensions}{tensor.type.mlir}>"


def _elements(tensor: Tensor) -> str:
    """The elements of a constant: hexadecimal bytes for byte-sized types, otherwise a list of literals."""
    if not tensor.array.size:
        return ""
    if tensor.type.kind != "boolean" and tensor.type.bits % _BYTE == 0:
        return f'"0x{pack(tensor, LOW_FIRST).hex().upper()}"'
    if tensor.type.kind == "boolean":
        texts = ["true" if value else "false" for value in tensor.array.reshape(-1)]
    elif tensor.type.is_integer:
        texts = [str(integer) for integer in tensor.integers()]
    else:
        texts = [f"0x{int(value):X}" for value in tensor.array.reshape(-1)]
    return str(np.array(texts, object).reshape(tensor.shape).tolist()).replace("'", "")
