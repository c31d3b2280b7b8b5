"""The names of a script's variables: like the names in a case, but never text of a suite, and all different."""

import builtins
import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass

from opconform.suite.case import Case

#: What scripts use besides the variables of a case: their modules, functions and own variables.
_RESERVED = frozenset(
    {
        *keyword.kwlist,
        *keyword.softkwlist,
        *dir(builtins),
        *(
            "NodeFactory",
            "TensorProto",
            "helper",
            "jax",
            "jnp",
            "ml_dtypes",
            "np",
            "numpy_helper",
            "onnx",
            "ort",
            "ov",
            "sys",
            "tempfile",
            "tf",
            "torch",
        ),
        *("bits_of", "error_of", "numbers", "tensor"),
        *("alone", "compiled", "error", "expected", "fed", "folder", "got", "ir", "limits", "model", "outputs"),
        *("request", "session", "sound", "weights", "wrong"),
    }
)
_OPSET = re.compile(r"opset[0-9]+")
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_OTHER = re.compile(r"[^A-Za-z0-9_]")
#: The most characters that a name takes over.
_LONGEST = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class ScriptNames:
    """The variables of a case.

    Attributes:
        arrays: The array of each input in the first feed.
        second: The array of each input in the second feed.
        inputs: What makes each input part of a graph.
        nodes: The outputs of each node, in the order of the graph.
    """

    arrays: Mapping[str, str]
    second: Mapping[str, str]
    inputs: Mapping[str, str]
    nodes: tuple[str, ...]


def script_names(case: Case) -> ScriptNames:
    """The names for a case. They do not depend on the backend."""
    taken = reserved_names()
    arrays = {x.name: free_name(x.name, taken) for x in case.inputs}
    nodes = tuple(free_name(snake(node.name), taken) for node in case.graph.nodes)
    return ScriptNames(
        arrays=arrays,
        second={name: free_name(f"{array}_1", taken) for name, array in arrays.items()},
        inputs={name: free_name(f"{array}_node", taken) for name, array in arrays.items()},
        nodes=nodes,
    )


def reserved_names() -> set[str]:
    """The names that no variable of a case may have."""
    return set(_RESERVED)


def snake(name: str) -> str:
    """A name such as `VariadicSplit` as the name of a variable."""
    return _WORDS.sub("_", name).lower()


def free_name(text: str, taken: set[str]) -> str:
    """A name like a text that no other variable has; then it is taken."""
    name = _OTHER.sub("_", text[:_LONGEST])
    if not name[:1].isalpha():
        name = f"x{name}"
    while name in taken or _OPSET.fullmatch(name):
        name += "_"
    taken.add(name)
    return name
