"""The dialects that a case is rendered into, a module and a folder of templates each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from opconform.dialects import openvino
from opconform.golden import Golden


@dataclass(frozen=True, kw_only=True, slots=True)
class Dialect:
    """An IR language.

    Attributes:
        model: The file, in a case's folder, that a backend loads.
        files_of: What renders a case, given a name for the model, into all the dialect's files.
    """

    model: str
    files_of: Callable[[Golden, str], dict[str, bytes]]


#: Every dialect by its name.
DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {"openvino": Dialect(model=openvino.MODEL, files_of=openvino.files_of)}
)

__all__ = ["DIALECTS", "Dialect"]
