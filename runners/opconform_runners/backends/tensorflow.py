"""The `tensorflow` backend: `tf.split` in a traced `tf.function` of the case."""

import re
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import tensorflow as tf

from opconform.case import Case, Input
from opconform.element_types import ELEMENT_TYPES
from opconform.tensors import Tensor
from opconform_runners.answers import Answers
from opconform_runners.backend import Implementation, Inputs, Outputs, Unsupported
from opconform_runners.graphs import Graph, alike_of, axis_of, plain, rank_of

#: The types that TensorFlow's splits have CPU kernels for.
_TYPES = MappingProxyType(
    {
        "boolean": tf.bool,
        "bf16": tf.bfloat16,
        "f16": tf.float16,
        "f32": tf.float32,
        "f64": tf.float64,
        "f8e4m3": tf.dtypes.experimental.float8_e4m3fn,
        "f8e5m2": tf.dtypes.experimental.float8_e5m2,
        "i8": tf.int8,
        "i16": tf.int16,
        "i32": tf.int32,
        "i64": tf.int64,
        "u8": tf.uint8,
        "u16": tf.uint16,
        "u32": tf.uint32,
        "u64": tf.uint64,
        "string": tf.string,
    }
)
_NAMES = MappingProxyType({kind: name for name, kind in _TYPES.items()})
#: The types that `tf.split` takes lengths in; other integer types reach it as int64.
_LENGTHS = frozenset({"i8", "i32", "i64"})

_ANSWERS = Answers(
    requirements=(
        (re.compile(r"must be in range \[-0, 0\)|[Cc]an't split scalars"), "data.rank"),
        (re.compile(r"must be in range \[|<= split_dim <"), "axis.range"),
        (re.compile(r"Input must be scalar|split_dim.* must be a scalar"), "axis.shape"),
        (re.compile(r"'split_dim' of '\w+' Op has type"), "axis.element-type"),
        (re.compile(r"evenly divi"), "num_splits.divides"),
        (re.compile(r"Attr 'num_split' of 'Split' Op passed"), "num_splits.positive"),
        (re.compile(r"Attr 'num_split' of 'SplitV' Op passed 0"), "lengths.empty"),
        (re.compile(r"only have one -1|only be one -1"), "lengths.single-remainder"),
        (re.compile(r"Split size at index"), "lengths.negative"),
        (re.compile(r"can't split axis of size|Determined shape must"), "lengths.sum"),
        (
            re.compile(r"parameter 'size_splits' has DataType|'size_splits' of 'SplitV' Op has type"),
            "lengths.element-type",
        ),
        (re.compile(r"split_tensor must be 1-D"), "lengths.rank"),
    ),
    not_implemented=re.compile(r"No OpKernel was registered|not implemented", re.IGNORECASE),
    missing=(NotImplementedError, tf.errors.UnimplementedError),
    faults=(tf.errors.OpError,),
)


class TensorFlow:
    """TensorFlow on the CPU: `tf.split` with a number of pieces for Split-1, and with lengths for VariadicSplit-1."""

    def describe(self) -> Implementation:
        """What the backend is and can do."""
        return Implementation(
            name="tensorflow",
            version=tf.__version__,
            device="CPU",
            element_types=tuple(_TYPES),
            operations=("Split-1", "VariadicSplit-1"),
            dynamic=True,
            bindings=("constant", "parameter"),
            contexts=("bare", "folded", "concat", "chain", "partial", "shared"),
            mapped=(
                "axis.element-type",
                "axis.required",
                "axis.shape",
                "lengths.element-type",
                "types.independent",
            ),
        )

    def run(self, case: Case, model: object, feeds: Sequence[Inputs]) -> list[Outputs]:  # noqa: ARG002 - it has no dialect
        """The outputs of each feed, all of them of one traced function.

        Raises:
            Rejected: TensorFlow refuses the case while it traces (`build`) or executes (`run`), or the mapping does.
            Unsupported: TensorFlow has no such element type, or no kernel for it.
        """
        scalars = [{**each, "axis": axis_of(case, each, "build")} for each in feeds]
        function = _traced(case, scalars[0])
        outputs: list[Outputs] = []
        for feed in scalars:
            arguments = [_argument(each.name, feed[each.name]) for each in _parameters(case)]
            outputs.append([_taken(each) for each in _ANSWERS.asked("run", function)(*arguments)])
        return outputs


def _parameters(case: Case) -> list[Input]:
    """What the traced function is given when it is called."""
    return [
        each
        for each in case.inputs
        if each.binding == "parameter" and not (each.name == "data" and case.context == "folded")
    ]


def _traced(case: Case, first: Inputs) -> Callable[..., Sequence[Any]]:
    """The case's graph as a function of its run-time inputs, the rest constant in it."""
    parameters = _parameters(case)
    split, join = _ANSWERS.asked("build", tf.split), _ANSWERS.asked("build", tf.concat)
    alike, rank = alike_of(case, first), rank_of(first)

    def function(*arguments: Any) -> list[Any]:
        given = dict(zip([each.name for each in parameters], arguments, strict=True))
        held = {name: _constant(name, tensor) for name, tensor in first.items() if name not in given}
        named = {**held, **given}
        number = case.attributes if case.op == "Split-1" else {"num_splits": named.get("split_lengths")}
        pieces = {"num_or_size_splits": number["num_splits"]} if number.get("num_splits") is not None else {}

        def cut(whole: Any, axis: Any) -> Sequence[Any]:
            return list(split(**({} if whole is None else {"value": whole}), **pieces, axis=axis))

        graph: Graph[Any] = Graph(case=case, rank=rank, alike=alike, split=cut, join=join)
        return graph.outputs(named.get("data"), named["axis"])

    signature = [_signature(each, first[each.name]) for each in parameters]
    traced = tf.function(function, input_signature=signature, autograph=False)
    concrete: Callable[..., Sequence[Any]] = traced.get_concrete_function()
    return concrete


def _signature(given: Input, tensor: Tensor) -> Any:
    kind = _argument(given.name, tensor).dtype
    if given.dynamic is None:
        return tf.TensorSpec(tensor.shape, kind)
    if isinstance(given.dynamic, str):
        return tf.TensorSpec(None, kind)
    return tf.TensorSpec([each if isinstance(each, int) else None for each in given.dynamic], kind)


def _constant(name: str, tensor: Tensor) -> Any:
    """An input that the graph holds; an axis that is one integer as a number, as everybody writes it."""
    is_number = name == "axis" and tensor.type.is_integer and not tensor.shape
    return plain(tensor, _TYPES) if is_number else _argument(name, tensor)


def _argument(name: str, tensor: Tensor) -> Any:
    """A tensor as TensorFlow takes it: an axis is int32 and lengths are int64 unless they have a type that it takes."""
    if name == "axis" and tensor.type.is_integer:
        return _ANSWERS.asked("run", tf.constant)(plain(tensor, _TYPES), tf.int32, tensor.shape)
    if name == "split_lengths" and tensor.type.is_integer and tensor.element_type not in _LENGTHS:
        return _ANSWERS.asked("run", tf.constant)(plain(tensor, _TYPES), tf.int64, tensor.shape)
    if tensor.element_type not in _TYPES:
        raise Unsupported(f"TensorFlow has no {tensor.element_type} that it can split")
    if tensor.type.kind == "string":
        return tf.constant(tensor.array.astype(object), tf.string, tensor.shape)
    return tf.constant(tensor.array.view(tensor.type.arithmetic))


def _taken(tensor: Any) -> Tensor:
    name = _NAMES[tensor.dtype]
    array = np.asarray(tensor.numpy())
    if name == "string":
        texts = [each.decode() for each in array.reshape(-1)]
        return Tensor(element_type=name, array=np.array(texts, dtype=np.str_).reshape(array.shape))
    return Tensor(element_type=name, array=array.view(ELEMENT_TYPES[name].storage))
