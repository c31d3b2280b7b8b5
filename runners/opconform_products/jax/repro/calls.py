"""The graph of a case as JAX calls, recorded while the rows of the `jax` backend are traced."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from opconform.errors import UsageError
from opconform.suite.declarations import DeclaredCase
from opconform.tensors.tensor import Tensor
from opconform_products.frameworks.recorder import Recorded, Recorder, recorded_graph, recorded_module
from opconform_products.frameworks.settings import plain
from opconform_runners.backends.backend import Unsupported
from opconform_runners.backends.exceptions import PYTHON_ERRORS
from opconform_runners.tools.repro.graph_source import GraphSource
from opconform_runners.tools.repro.names import reserved_names, script_names

_BACKEND = "opconform_products.jax.backend"


def jax_source(case: DeclaredCase, inputs: Mapping[str, Tensor]) -> GraphSource:
    """The graph as the calls that the backend makes of JAX, on variables with the names of the inputs.

    Raises `UsageError` if JAX is not installed, or the backend does not call it for the case.
    """
    try:
        import jax
        from jaxlib.mlir.ir import MLIRError
    except ImportError as error:
        raise UsageError("opconform repro records JAX's own calls: pip install jax.") from error
    names = script_names(case)
    recorder = Recorder(
        tensors=(jax.Array,),
        plain=(),
        errors=(*PYTHON_ERRORS, MLIRError),
        type_source=_type_source,
        taken=reserved_names() | {*names.arrays.values(), *names.second.values(), *names.inputs.values()},
    )
    framework = recorded_module(_BACKEND, {"jax": recorder.held(jax, "jax")})._JAX
    parameters = [port for port in case.inputs if port.binding == "parameter"]
    if late := [port.name for port in parameters if port.role == "setting"]:
        raise UsageError(f"{case.id} cannot be written for jax: {late[0]} is static in a compiled JAX function.")
    if any(port.dynamic is not None for port in case.inputs):
        raise UsageError(f"{case.id} cannot be written for jax, which compiles for static shapes.")

    def traced(*arguments: Any) -> None:
        known = dict(zip([port.name for port in parameters], arguments, strict=True))
        values: dict[str, Any] = {}
        for port in case.inputs:
            tensor, variable = inputs[port.name], names.arrays[port.name]
            if port.name in known:
                values[port.name] = Recorded(recorder, variable, known[port.name])
            elif framework.takes_tensor(case, port):
                array = tensor.array.view(framework.type_of(tensor))
                text = f"jnp.asarray({_viewed(variable, tensor)})"
                values[port.name] = recorder.named(names.inputs[port.name], text, partial(jax.numpy.asarray, array))
            elif tensor.type.is_integer or tensor.type.native is None:
                values[port.name] = plain(tensor, framework.types)
            else:
                values[port.name] = tensor.array.view(tensor.type.native)
        outputs.extend(framework.outputs(case, values, lambda function, *x, **named: function(*x, **named)))

    outputs: list[Any] = []
    with jax.enable_x64(True):
        try:
            fed = [inputs[x.name].array.view(framework.type_of(inputs[x.name])) for x in parameters]
        except Unsupported as error:
            raise UsageError(f"{case.id} cannot be written for jax: {error}.") from error
        return recorded_graph(recorder, case.id, "jax", lambda: jax.eval_shape(traced, *fed), outputs)


def _viewed(variable: str, tensor: Tensor) -> str:
    native = tensor.type.native
    return variable if native == tensor.type.storage else f"{variable}.view(ml_dtypes.{native})"


def _type_source(value: Any) -> str | None:
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        name = np.dtype(value).name
        return "jnp.bool_" if name == "bool" else f"jnp.{name}"
    return None
