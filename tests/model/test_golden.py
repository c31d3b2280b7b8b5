"""The goldens against two independent implementations: numpy's functions, and ONNX's reference evaluator."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from opconform.suite.case import Accept, Case
from opconform.suite.manifest import expected_name, inputs_name
from opconform.suite.reader import open_suite
from opconform.tensors.tensor import Array, Tensor
from tests.model.gather_nd_oracles import TakeND, gathered_nd, numpys_take_nd, onnxs_take_nd
from tests.model.gather_oracles import Take, gathered, numpys_take, onnxs_take
from tests.model.pad_oracles import Pad, numpys_pad, onnxs_pad, padded
from tests.model.slice_oracles import numpys_slice, onnxs_slice
from tests.model.strided_slice_oracles import strided

Split = Callable[[Array, int, Sequence[int]], list[Array]]
Join = Callable[[Sequence[Array], int], Array]
Slice = Callable[[Array, Sequence[Sequence[int]]], Array]
Reshape = Callable[[Array, Sequence[int], bool], Array]
Transpose = Callable[[Array, Sequence[int] | None], Array]


class Oracle(NamedTuple):
    """The functions of one implementation that is not ours."""

    split: Split
    join: Join
    slice: Slice
    reshape: Reshape
    transpose: Transpose
    take: Take
    take_nd: TakeND
    pad: Pad


def numpys(data: Array, axis: int, sizes: Sequence[int]) -> list[Array]:
    """`np.split`, by the places of the cuts."""
    return list(np.split(data, list(accumulate(sizes))[:-1], axis))


def onnxs(data: Array, axis: int, sizes: Sequence[int]) -> list[Array]:
    """ONNX's `Split`, as its own reference evaluator executes it."""
    if len(sizes) == 1:
        return [data]  # ONNX writes a node with one output otherwise
    return [
        np.asarray(each) for each in evaluator(axis, len(sizes)).run(None, {"data": data, "split": np.array(sizes)})
    ]


@lru_cache(maxsize=512)
def evaluator(axis: int, count: int) -> ReferenceEvaluator:
    """The evaluator of a model of one `Split`; the evaluator does not look at the types that a model declares."""
    names = [f"output_{number}" for number in range(count)]
    values = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in ("data", *names)]
    lengths = onnx.helper.make_tensor_value_info("split", onnx.TensorProto.INT64, [count])
    node = onnx.helper.make_node("Split", ["data", "split"], names, axis=axis)
    graph = onnx.helper.make_graph([node], "split", [values[0], lengths], values[1:])
    return ReferenceEvaluator(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)]))


def onnxs_join(arrays: Sequence[Array], axis: int) -> Array:
    """ONNX's `Concat`, as its own reference evaluator executes it."""
    names = [f"input_{number}" for number in range(len(arrays))]
    [output] = joiner(axis, len(arrays)).run(None, dict(zip(names, arrays, strict=True)))
    return np.asarray(output)


@lru_cache(maxsize=512)
def joiner(axis: int, count: int) -> ReferenceEvaluator:
    """The evaluator of a model of one `Concat`."""
    names = [f"input_{number}" for number in range(count)]
    values = [onnx.helper.make_tensor_value_info(each, onnx.TensorProto.FLOAT, None) for each in (*names, "output")]
    node = onnx.helper.make_node("Concat", names, ["output"], axis=axis)
    graph = onnx.helper.make_graph([node], "join", values[:-1], values[-1:])
    return ReferenceEvaluator(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)]))


def joined(case: Case, tensors: dict[str, Array], join: Join) -> list[Array]:
    """What the graph of a join's context gives, with an oracle in the operation's place."""
    arrays = [tensors[f"inputs_{number}"] for number in range(len(tensors))]
    axis = int(str(case.attributes["axis"]))
    output = join(arrays, axis)
    match case.context:
        case "bare" | "folded" | "split":
            return [output]
        case "chain":
            return [join([output, *arrays[1:]], axis)]
        case "repeated":
            return [join([*arrays, *arrays], axis)]
        case "doubled":
            return [output, np.concatenate([output, output], (axis + 1) % output.ndim if axis != -1 else 0)]
    raise AssertionError(case.context)


def sliced(case: Case, tensors: dict[str, Array], function: Slice) -> list[Array]:
    """What the graph of a slice's context gives, with an oracle in the operation's place."""
    start, stop, step, *axes = [values(case, tensors, str(name)) for name in case.node.inputs[1:]]
    indices = [start, stop, step, *(axes or [list(range(len(start)))])]
    output = function(tensors["data"], indices)
    return [function(output, indices) if case.context == "chain" else output]


def numpys_reshape(data: Array, shape: Sequence[int], copies: bool) -> Array:
    """`np.reshape`, which calculates a -1, and to which zeros are dimensions."""
    return np.reshape(data, [data.shape[n] if copies and not size else size for n, size in enumerate(shape)])


def onnxs_reshape(data: Array, shape: Sequence[int], copies: bool) -> Array:
    """ONNX's `Reshape`, as its own reference evaluator executes it."""
    if not shape:
        return np.reshape(data, [])  # ONNX's evaluator writes a shape of [1] otherwise
    [output] = reshaper(allowzero=not copies).run(None, {"data": data, "shape": np.array(shape, np.int64)})
    return np.asarray(output)


@lru_cache
def reshaper(*, allowzero: bool) -> ReferenceEvaluator:
    """The evaluator of a model of one `Reshape`."""
    values = [onnx.helper.make_tensor_value_info(each, onnx.TensorProto.FLOAT, None) for each in ("data", "output")]
    shape = onnx.helper.make_tensor_value_info("shape", onnx.TensorProto.INT64, None)
    node = onnx.helper.make_node("Reshape", ["data", "shape"], ["output"], allowzero=int(allowzero))
    graph = onnx.helper.make_graph([node], "reshape", [values[0], shape], values[1:])
    return ReferenceEvaluator(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)]))


def reshaped(case: Case, tensors: dict[str, Array], function: Reshape) -> list[Array]:
    """What the graph of a reshape's context gives, with an oracle in the operation's place."""
    data, shape = tensors["data"], values(case, tensors, str(case.node.inputs[1]))
    copies = bool(case.attributes["special_zero"])
    output = function(data, shape, copies)
    match case.context:
        case "bare" | "folded" | "convert" | "shape-of":
            return [output]
        case "chain":
            return [function(output, shape, copies)]
        case "doubled":
            return [output, np.concatenate([output, output])]
        case "restored":
            return [output, data]
    raise AssertionError(case.context)


def onnxs_transpose(array: Array, order: Sequence[int] | None) -> Array:
    """ONNX's `Transpose`, as its own reference evaluator executes it."""
    [output] = transposer(tuple(order) if order else None).run(None, {"data": array})
    return np.asarray(output)


@lru_cache(maxsize=512)
def transposer(order: tuple[int, ...] | None) -> ReferenceEvaluator:
    """The evaluator of a model of one `Transpose`."""
    values = [onnx.helper.make_tensor_value_info(each, onnx.TensorProto.FLOAT, None) for each in ("data", "output")]
    node = onnx.helper.make_node("Transpose", ["data"], ["output"])
    if order is not None:
        node.attribute.append(onnx.helper.make_attribute("perm", order))
    graph = onnx.helper.make_graph([node], "transpose", values[:1], values[1:])
    return ReferenceEvaluator(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)]))


def transposed(case: Case, tensors: dict[str, Array], function: Transpose) -> list[Array]:
    """What the graph of a transposition's context gives, with an oracle in the operation's place."""
    node = case.graph.nodes[-1] if case.context == "identity" else case.node
    order = values(case, tensors, str(node.inputs[1]))
    output = function(tensors["arg"], order or None)
    match case.context:
        case "chain":
            return [function(output, order or None)]
        case "inverse":
            return [tensors["arg"]]
        case "doubled":
            return [output, np.concatenate([output, output], 1 % output.ndim)]
        case _:
            return [output]


def sizes_of(case: Case, tensors: dict[str, Array], dimension: int) -> list[int]:
    """The sizes of the pieces. Neither oracle knows what -1 is, so what it stands for is worked out here."""
    if case.op == "Split-1":
        count = case.attributes["num_splits"]
        assert isinstance(count, int)
        return [dimension // count] * count
    lengths = integers(case, tensors, "split_lengths")
    return [dimension - sum(lengths) - 1 if each == -1 else each for each in lengths]


def integers(case: Case, tensors: dict[str, Array], name: str) -> list[int]:
    """The values of a control input of any integer type, however the model computes them."""
    return values(case, tensors, str(case.node.inputs[["data", "axis", "split_lengths"].index(name)]))


def values(case: Case, tensors: dict[str, Array], name: str) -> list[int]:
    """The integers of a tensor of the graph: an input, or what a context computes."""
    if name in tensors:
        [element_type] = [each.element_type for each in case.inputs if each.name == name]
        return Tensor(element_type=element_type, array=tensors[name]).integers()
    node = next(each for each in case.graph.nodes if name in each.outputs)
    first, *others = (*(str(each) for each in node.inputs), "")
    match node.op:
        case "Constant-1":
            value: Any = node.attributes["value"]
            return list(value)
        case "ShapeOf-3":
            return list(tensors[first].shape)
        case "Gather-8":
            return [values(case, tensors, first)[each] for each in values(case, tensors, others[0])]
        case "Convert-1":
            return values(case, tensors, first)
        case "Concat-1":
            return [one for each in node.inputs for one in values(case, tensors, str(each))]
    raise AssertionError(node.op)


def model(case: Case, tensors: dict[str, Array], split: Split) -> list[Array]:
    """What the graph of a case's context gives, with an oracle in the operation's place."""
    data = tensors["data"]
    [axis] = integers(case, tensors, "axis")
    pieces = split(data, axis, sizes_of(case, tensors, data.shape[axis]))
    last = pieces[-1]
    match case.context:
        case "bare" | "folded" | "convert" | "shape-of":
            return pieces
        case "concat":
            return [np.concatenate(pieces, axis)]
        case "partial":
            return pieces[1::2]
        case "chain":
            return [*pieces[:-1], *split(last, axis, sizes_of(case, tensors, last.shape[axis]))]
        case "shared":
            alike = [each for each in pieces if each.shape == last.shape]
            return [*pieces, np.concatenate(alike, (axis + 1) % data.ndim)]
    raise AssertionError(case.context)


def modelled(case: Case, arrays: dict[str, Array], oracle: Oracle) -> list[Array]:
    """What the graph of a case gives, with an oracle in the place of the operation under test."""
    match case.op:
        case "Concat-1":
            return joined(case, arrays, oracle.join)
        case "Gather-8":
            return gathered(case, arrays, oracle.take)
        case "GatherND-8":
            return gathered_nd(case, arrays, values, oracle.take_nd)
        case "Pad-12":
            return padded(case, arrays, values, oracle.pad)
        case "Reshape-1":
            return reshaped(case, arrays, oracle.reshape)
        case "Slice-8":
            return sliced(case, arrays, oracle.slice)
        case "StridedSlice-1":
            return strided(case, arrays, values, oracle.slice)
        case "Transpose-1":
            return transposed(case, arrays, oracle.transpose)
        case _:
            return model(case, arrays, oracle.split)


@pytest.mark.parametrize(
    "oracle",
    [
        Oracle(
            numpys, np.concatenate, numpys_slice, numpys_reshape, np.transpose, numpys_take, numpys_take_nd, numpys_pad
        ),
        Oracle(onnxs, onnxs_join, onnxs_slice, onnxs_reshape, onnxs_transpose, onnxs_take, onnxs_take_nd, onnxs_pad),
    ],
    ids=["numpy", "onnx"],
)
def test_every_golden_agrees_with_an_implementation_that_is_not_ours(core_or_shipped: Path, oracle: Oracle) -> None:
    """All valid cases and all their feeds, bit for bit."""
    suite, compared = open_suite(core_or_shipped), 0
    for entry in suite.entries:
        case = suite.case(entry)
        if not isinstance(case.expect, Accept):
            continue
        for feed in range(case.feeds):
            arrays = suite.arrays(entry, inputs_name(feed))
            actual = modelled(case, arrays, oracle)
            expected: dict[str, Any] = suite.arrays(entry, expected_name(feed))
            assert len(actual) == len(expected), entry.id
            for number, each in enumerate(actual):
                want = expected[f"output_{number}"]
                assert (each.shape, each.dtype) == (want.shape, want.dtype), entry.id
                assert np.ascontiguousarray(each).tobytes() == want.tobytes(), entry.id
            compared += 1

    assert compared > len(suite.entries) / 2
