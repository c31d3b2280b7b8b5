"""The `tensorflow` backend: the graph of a case in TensorFlow's own operations, traced by `tf.function`."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
import tensorflow as tf

from opconform.suite.case import Attribute, Case, Input
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor
from opconform_runners.backends.backend import Implementation, Inputs, Outputs, Unsupported
from opconform_runners.backends.direct import Support, functions_of, mapped_of, outputs_of, padded, plain
from opconform_runners.backends.direct_split import given_axis
from opconform_runners.backends.exceptions import Answers, Ask

#: The types that TensorFlow's operations here have CPU kernels for.
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
_ANSWERS = Answers(
    not_implemented=re.compile(r"No OpKernel was registered|not implemented", re.IGNORECASE),
    missing=(NotImplementedError, tf.errors.UnimplementedError),
    faults=(tf.errors.OpError,),
)


def _split(ask: Ask, inputs: Sequence[Any], attributes: Mapping[str, Attribute]) -> Sequence[Any]:
    data, axis = padded(inputs, 2)
    return _outputs_along(ask, data, attributes.get("num_splits"), given_axis(axis, "build"))


def _variadic_split(ask: Ask, inputs: Sequence[Any], _attributes: Mapping[str, Attribute]) -> Sequence[Any]:
    data, axis, lengths = padded(inputs, 3)
    sizes = tf.constant(lengths, tf.int64) if isinstance(lengths, int) else lengths
    return _outputs_along(ask, data, sizes, _scalar(given_axis(axis, "build")))


def _outputs_along(ask: Ask, data: Any, sizes: Any, axis: Any) -> Sequence[Any]:
    given = {name: each for name, each in (("value", data), ("num_or_size_splits", sizes)) if each is not None}
    return list(ask(tf.split, **given, axis=axis))


def _scalar(axis: Any) -> Any:
    """The only element of an axis of shape [1], as a number where the function holds an integer."""
    if isinstance(axis, int) or axis.shape != (1,):
        return axis
    value = tf.get_static_value(axis)
    return int(value[0]) if axis.dtype == tf.int32 and value is not None else tf.reshape(axis, ())


def _concat(ask: Ask, inputs: Sequence[Any], attributes: Mapping[str, Attribute]) -> Sequence[Any]:
    return [ask(tf.concat, list(inputs), attributes["axis"])]


_ABOUT_AXIS = (
    (re.compile(r"must be in range \[-0, 0\)|[Cc]an't split scalars"), "data.rank"),
    (re.compile(r"must be in range \[|<= split_dim <"), "axis.range"),
    (re.compile(r"Input must be scalar|split_dim.* must be a scalar"), "axis.shape"),
    (re.compile(r"'split_dim' of '\w+' Op has type"), "axis.element-type"),
)
#: The operations that are implemented here.
OPERATIONS: Mapping[str, Support] = MappingProxyType(
    {
        "Concat-1": Support(execute=_concat),
        "Split-1": Support(
            execute=_split,
            mapped=("axis.element-type", "axis.required"),
            messages=(
                *_ABOUT_AXIS,
                (re.compile(r"evenly divi"), "num_splits.divides"),
                (re.compile(r"Attr 'num_split' of 'Split' Op passed"), "num_splits.positive"),
            ),
            controls={"axis": ("i32",)},
        ),
        "VariadicSplit-1": Support(
            execute=_variadic_split,
            mapped=("axis.element-type", "axis.required", "axis.shape", "lengths.element-type", "types.independent"),
            messages=(
                *_ABOUT_AXIS,
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
            controls={"axis": ("i32",), "split_lengths": ("i64", "i32", "i8")},
        ),
    }
)


class TensorFlow:
    """TensorFlow on the CPU."""

    def describe(self) -> Implementation:
        """What the backend is and can do."""
        return Implementation(
            name="tensorflow",
            version=tf.__version__,
            device="CPU",
            element_types=tuple(_TYPES),
            operations=tuple(OPERATIONS),
            dynamic=True,
            bindings=("constant", "parameter"),
            graphs=True,
            mapped=mapped_of(OPERATIONS),
        )

    def run(self, case: Case, model: object, feeds: Sequence[Inputs]) -> list[Outputs]:  # noqa: ARG002 - it has no dialect
        """The outputs of each feed, all of them of one traced function.

        Raises:
            Rejected: TensorFlow refuses the case while it traces (`build`) or executes (`run`), or the mapping does.
            Unsupported: TensorFlow has no such element type, or no kernel for it.
        """
        parameters = [each for each in case.inputs if each.binding == "parameter"]
        function, ask = _traced(case, parameters, feeds[0]), _ANSWERS.ask("run", OPERATIONS[case.op].messages)
        given = ([_argument(case, each, feed[each.name]) for each in parameters] for feed in feeds)
        return [[_taken(each) for each in ask(function, *arguments)] for arguments in given]


def _traced(case: Case, parameters: Sequence[Input], first: Inputs) -> Callable[..., Sequence[Any]]:
    """The case's graph as a function of its parameters, the other inputs constant in it."""
    functions = functions_of(case, OPERATIONS, partial(_ANSWERS.ask, "build"))

    def function(*arguments: Any) -> list[Any]:
        fed = dict(zip([each.name for each in parameters], arguments, strict=True))
        held = {each.name: _constant(case, each, first[each.name]) for each in case.inputs if each.name not in fed}
        return outputs_of(case, {**held, **fed}, functions)

    signature = [_signature(case, each, first[each.name]) for each in parameters]
    traced = tf.function(function, input_signature=signature, autograph=False)
    concrete: Callable[..., Sequence[Any]] = traced.get_concrete_function()
    return concrete


def _signature(case: Case, given: Input, tensor: Tensor) -> Any:
    kind = _argument(case, given, tensor).dtype
    if given.dynamic is None:
        return tf.TensorSpec(tensor.shape, kind)
    if isinstance(given.dynamic, str):
        return tf.TensorSpec(None, kind)
    return tf.TensorSpec([each if isinstance(each, int) else None for each in given.dynamic], kind)


def _constant(case: Case, given: Input, tensor: Tensor) -> Any:
    """An input that the function holds; a control input that is one integer as a number, as it is usually written."""
    is_number = given.role == "control" and tensor.type.is_integer and not tensor.shape
    return plain(tensor, _TYPES) if is_number else _argument(case, given, tensor)


def _argument(case: Case, given: Input, tensor: Tensor) -> Any:
    """A tensor as TensorFlow takes it: integers at a control input in a type that the operation has there."""
    allowed = (OPERATIONS[case.op].controls or {}).get(given.name, ())
    if allowed and tensor.type.is_integer and tensor.element_type not in allowed:
        ask = _ANSWERS.ask("run", OPERATIONS[case.op].messages)
        return ask(tf.constant, plain(tensor, _TYPES), _TYPES[allowed[0]], tensor.shape)
    if tensor.element_type not in _TYPES:
        raise Unsupported(f"TensorFlow has no {tensor.element_type} that its operations take")
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
