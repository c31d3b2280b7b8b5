"""The `tensorflow` backend: the graph of a case in TensorFlow's own operations, traced by `tf.function`."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from opconform.suite.case import Input
from opconform.suite.declarations import DeclaredCase
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.tensor import Tensor
from opconform.tensors.texts import bytes_of, text_of
from opconform_products.frameworks.framework import Framework
from opconform_products.frameworks.settings import plain
from opconform_products.tensorflow.rows import ROWS, TYPES
from opconform_runners.backends.backend import Implementation, Inputs, Outputs
from opconform_runners.backends.exceptions import PYTHON_ERRORS, Translation


def _static(value: Any) -> Any:
    """A constant as Python's own numbers; anything else as it is."""
    known = tf.get_static_value(value) if isinstance(value, tf.Tensor) else None
    return value if known is None else known.tolist()


_TENSORFLOW = Framework(
    name="tensorflow",
    version=tf.__version__,
    types=TYPES | {"string": tf.string},
    rows=ROWS,
    tensor=tf.constant,
    translation=Translation(
        not_implemented=re.compile(
            r"No OpKernel was registered|not implemented|currently supported|Unsupported data type|"
            r"parameter '(tensor|images|input|start|[abxy])' has DataType|negative integer powers|in conjunction with",
            re.IGNORECASE,
        ),
        missing=(NotImplementedError, tf.errors.UnimplementedError),
        errors=(*PYTHON_ERRORS, tf.errors.OpError),
        noise=re.compile(
            r"Detected at node \S+ defined at \(most recent call last\): (File \"[^\"]*\", line \d+, in \S+ )+|"
            r"\{\{function_node [^}]*\}\}\s*|\s*\[\[\{\{node [^\]]*\]\]|\s*\[Op:[^\]]*\]"
        ),
    ),
    static=_static,
    shape=lambda value: None if value.shape.rank is None else tuple(value.shape),
)


class TensorFlow:
    """TensorFlow on the CPU."""

    def describe(self) -> Implementation:
        """What the backend is and can do."""
        return _TENSORFLOW.implementation("CPU")

    def run(self, case: DeclaredCase, model: object, feeds: Sequence[Inputs]) -> list[Outputs]:  # noqa: ARG002 - no dialect
        """The outputs of each feed, all from one traced function; refusals while tracing are `build`."""
        parameters = [input_ for input_ in case.inputs if input_.binding == "parameter"]
        function = _traced(case, parameters, feeds[0])
        call = _TENSORFLOW.translation.caller("run")
        inputs = ([_argument(case, parameter, feed[parameter.name]) for parameter in parameters] for feed in feeds)
        return [[_tensor(x) for x in call(function, *arguments)] for arguments in inputs]


def _traced(case: DeclaredCase, parameters: Sequence[Input], first: Inputs) -> Callable[..., Sequence[Any]]:
    """The case's graph as a function of its parameters, the other inputs constant in it."""
    build = _TENSORFLOW.translation.caller("build")

    def function(*arguments: Any) -> list[Any]:
        fed = dict(zip([parameter.name for parameter in parameters], arguments, strict=True))
        constants = {}
        for item in (input_ for input_ in case.inputs if input_.name not in fed):
            tensor = first[item.name]
            is_number = item.role == "setting" and tensor.type.is_integer and not tensor.shape  # as users write it
            constants[item.name] = plain(tensor, _TENSORFLOW.types) if is_number else _argument(case, item, tensor)
        return _TENSORFLOW.outputs(case, {**constants, **fed}, build)

    signature = [_signature(case, parameter, first[parameter.name]) for parameter in parameters]
    traced = tf.function(function, input_signature=signature, autograph=False)
    concrete: Callable[..., Sequence[Any]] = traced.get_concrete_function()
    return concrete


def _signature(case: DeclaredCase, port: Input, tensor: Tensor) -> Any:
    kind = _argument(case, port, tensor).dtype
    if port.dynamic is None:
        return tf.TensorSpec(tensor.shape, kind)
    if isinstance(port.dynamic, str):
        return tf.TensorSpec(None, kind)
    return tf.TensorSpec([x if isinstance(x, int) else None for x in port.dynamic], kind)


def _argument(case: DeclaredCase, port: Input, tensor: Tensor) -> Any:
    """A tensor as TensorFlow takes it, with setting integers in a type that the operation accepts."""
    allowed = next((row.types[name] for row, name in _TENSORFLOW.taking(case, port) if name in row.types), ())
    if allowed and tensor.type.is_integer and tensor.element_type not in allowed:
        types = _TENSORFLOW.types
        return _TENSORFLOW.translation.caller("run")(tf.constant, plain(tensor, types), types[allowed[0]], tensor.shape)
    kind = _TENSORFLOW.type_of(tensor)
    if tensor.type.kind == "string":
        texts = [bytes_of(str(text)) for text in tensor.array.reshape(-1)]
        return tf.constant(texts, kind, tensor.shape)
    return tf.constant(tensor.array.view(tensor.type.arithmetic))


def _tensor(tensor: Any) -> Tensor:
    name = _TENSORFLOW.name_of(tensor.dtype)
    array = np.asarray(tensor.numpy())
    if name == "string":
        texts = [text_of(value) for value in array.reshape(-1)]
        return Tensor(element_type=name, array=np.array(texts, dtype=np.str_).reshape(array.shape))
    return Tensor(element_type=name, array=array.view(ELEMENT_TYPES[name].storage))
