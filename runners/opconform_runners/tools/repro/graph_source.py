"""The model of a case as the source of a script."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from opconform_runners.tools.repro.variables import array_source


class GraphSource(NamedTuple):
    """A graph as source.

    Attributes:
        steps: A variable and its call for each node, or for each call of a node.
        outputs: One expression per output of the model.
        parameters: The element type and the shape of each parameter of the model, if its template needs them.
    """

    steps: tuple[tuple[str, str], ...]
    outputs: tuple[str, ...]
    parameters: tuple[tuple[str, str], ...] = ()

    def takes(self, variable: str) -> bool:
        """Whether a call takes a variable."""
        used = re.compile(rf"(?<![.\w]){variable}(?![=\w])")
        return any(used.search(text) for text in (*(call for _, call in self.steps), *self.outputs))


def onnx_source(files: Mapping[str, bytes]) -> Mapping[str, object]:
    """What the templates of ONNX's models need: the model as a literal, and its constants."""
    model, constants = onnx_model_of(files["onnx/model.onnx"])
    return {"onnx": text_source(model), "constants": constants}


def text_source(text: str) -> str:
    """A text as a Python string literal, unescaped where that is safe."""
    visible = all(letter.isprintable() or letter == "\n" for letter in text)
    is_plain = visible and "\\" not in text and '"""' not in text and not text.endswith('"')
    return f'"""\\\n{text}"""' if is_plain else repr(text)


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
    constants = [constant(x) for x in model.graph.initializer]
    del model.graph.initializer[:]
    model.graph.name = "case"
    return str(printer.to_text(model)), constants
