"""The graph of a case as TensorFlow calls, recorded while the rows of the `tensorflow` backend are traced."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from opconform.errors import UsageError
from opconform.suite.case import Input
from opconform.suite.declarations import DeclaredCase
from opconform.tensors.tensor import Tensor
from opconform_products.frameworks.framework import Framework
from opconform_products.frameworks.recorder import Recorded, Recorder, recorded_graph, recorded_module
from opconform_products.frameworks.settings import plain
from opconform_runners.backends.exceptions import PYTHON_ERRORS
from opconform_runners.tools.repro.graph_source import GraphSource
from opconform_runners.tools.repro.names import reserved_names, script_names

_POOLS, _ROWS, _BACKEND = (f"opconform_products.tensorflow.{name}" for name in ("pools", "rows", "backend"))


def tensorflow_source(case: DeclaredCase, inputs: Mapping[str, Tensor]) -> GraphSource:
    """The graph as the calls that the backend makes of TensorFlow, on variables with the names of the inputs.

    Raises `UsageError` if TensorFlow is not installed, or the backend does not call it for the case.
    """
    try:
        import tensorflow as tf
    except ImportError as error:
        raise UsageError("opconform repro records TensorFlow's own calls: pip install tensorflow.") from error
    if any(port.element_type == "string" for port in case.inputs):
        raise UsageError(f"{case.id} cannot be written for tensorflow, whose strings are bytes.")
    names = script_names(case)
    recorder = Recorder(
        tensors=(tf.Tensor,),
        plain=(tf.DType, tf.TensorShape),
        errors=(*PYTHON_ERRORS, NotImplementedError, tf.errors.OpError),
        type_source=_type_source,
        taken=reserved_names() | {*names.arrays.values(), *names.second.values(), *names.inputs.values()},
    )
    stand_in = recorder.held(tf, "tf")
    pools = recorded_module(_POOLS, {"tensorflow": stand_in})
    rows = recorded_module(_ROWS, {"tensorflow": stand_in, _POOLS: pools})
    framework: Framework = recorded_module(_BACKEND, {"tensorflow": stand_in, _ROWS: rows})._TENSORFLOW
    parameters = [port for port in case.inputs if port.binding == "parameter"]
    outputs: list[Any] = []

    def traced(*arguments: Any) -> list[Any]:
        values = {
            port.name: Recorded(recorder, names.arrays[port.name], argument)
            for port, argument in zip(parameters, arguments, strict=True)
        }
        for port in (port for port in case.inputs if port.name not in values):
            tensor = inputs[port.name]
            if port.role == "setting" and tensor.type.is_integer and not tensor.shape:  # as users write it
                values[port.name] = plain(tensor, framework.types)
                continue
            kind, array = _type_of(framework, case, port, tensor), _array(tensor)
            variable = names.arrays[port.name]
            viewed = variable if array.dtype == tensor.array.dtype else f"{variable}.view({_native(array.dtype)})"
            text = f"tf.constant({viewed}, {_type_source(kind)})"
            values[port.name] = recorder.named(names.inputs[port.name], text, partial(tf.constant, array, kind))
        outputs.extend(framework.outputs(case, values, lambda function, *x, **named: function(*x, **named)))
        return []

    def trace() -> None:
        kinds = [_type_of(framework, case, port, inputs[port.name]) for port in parameters]
        shapes = [_shape(port, inputs[port.name]) for port in parameters]
        signature.extend(zip(map(_required, kinds), map(repr, shapes), strict=True))
        specs = [tf.TensorSpec(shape, kind) for shape, kind in zip(shapes, kinds, strict=True)]
        tf.function(traced, input_signature=specs, autograph=False).get_concrete_function()

    signature: list[tuple[str, str]] = []
    graph = recorded_graph(recorder, case.id, "tensorflow", trace, outputs)
    return graph._replace(parameters=tuple(signature))


def _shape(port: Input, tensor: Tensor) -> list[int | None] | None:
    if port.dynamic is None:
        return [*tensor.shape]
    return None if isinstance(port.dynamic, str) else [x if isinstance(x, int) else None for x in port.dynamic]


def _type_of(framework: Framework, case: DeclaredCase, port: Input, tensor: Tensor) -> Any:
    """The type of a tensor in TensorFlow; of setting integers, one that the operation takes."""
    allowed = next((row.types[name] for row, name in framework.taking(case, port) if name in row.types), ())
    is_other = allowed and tensor.type.is_integer and tensor.element_type not in allowed
    return framework.types[allowed[0]] if is_other else framework.type_of(tensor)


def _array(tensor: Tensor) -> Any:
    return tensor.array.view(tensor.type.arithmetic)


def _native(dtype: Any) -> str:
    return f"ml_dtypes.{dtype.name}"


def _required(kind: Any) -> str:
    return str(_type_source(kind))


def _type_source(value: Any) -> str | None:
    import tensorflow as tf

    if isinstance(value, np.dtype):
        return _native(value)
    if not isinstance(value, tf.DType):
        return None
    return f"tf.{value.name}" if hasattr(tf, value.name) else f"tf.dtypes.experimental.{value.name}"
