"""The models of a case in each dialect of a suite, as text."""

from opconform.dialects import DIALECTS
from opconform.errors import SuiteError
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite

#: The most characters of a model.
_LONGEST = 20_000
#: The operation alone, which is shown for a case without a graph around it.
_LAYER = "openvino/layer.xml"


def model_texts(suite: Suite, entry: Entry) -> list[tuple[str, str]]:
    """The models of a case, by file name; by dialect the reason for a model that is left out.

    Raises:
        SuiteError: A file is not a model of its dialect.
    """
    models = []
    for name, file in suite.header.dialects.items():
        shown = _LAYER if file == DIALECTS["openvino"].model and suite.case(entry).context == "bare" else file
        if shown in entry.files:
            text = _model_text(shown, suite.read(entry, shown))
            models.append((shown, text if len(text) <= _LONGEST else f"{text[:_LONGEST]}\n…"))
        elif name in entry.left_out:
            models.append((name, entry.left_out[name]))
    return models


def _model_text(name: str, content: bytes) -> str:
    if not name.endswith(".onnx"):
        return content.decode("utf-8", "replace")
    from opconform.dialects.onnx import printed

    try:
        return printed(content)
    except ImportError:
        return "Printing this model needs the onnx package, which is not installed."
    except ValueError as error:
        raise SuiteError(f"{name} is not an ONNX model: {error}.") from error
