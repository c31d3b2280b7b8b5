"""The cases of a suite, read from its files by a second program, for `naive_facts`."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from opconform.model.graph import evaluated_arguments
from opconform.operations import OPERATIONS
from opconform.operations.arguments import Arguments, Rejection
from opconform.suite.case import Case, case_from
from opconform.tensors.tensor import Tensor
from opconform_runners.backends.backend import Rejected
from opconform_runners.backends.constraints import checked
from opconform_runners.backends.frameworks.numpy import FUNCTIONS

BITS = {"boolean": 8, "string": 0, "nf4": 4}
SIGNED, UNSIGNED = re.compile(r"i\d+$"), re.compile(r"u\d+$")
FLOATS = {
    "bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32, "f64": np.float64,
    "f4e2m1": ml_dtypes.float4_e2m1fn, "f8e4m3": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2,
    "f8e8m0": ml_dtypes.float8_e8m0fnu,
}  # fmt: skip
#: The bits of the mantissa, of which the first marks quiet NaNs.
MANTISSA = {"bf16": 7, "f16": 10, "f32": 23, "f64": 52}


def bits_of(kind: str) -> int:
    """The width of an element."""
    return BITS[kind] if kind in BITS else int(re.findall(r"\d+", kind)[0])


def numbers(tensor: Tensor) -> list[int]:
    """The elements of an integer tensor."""
    width = bits_of(tensor.element_type)
    flat = [int(value) for value in tensor.array.ravel().tolist()]
    if SIGNED.match(tensor.element_type):
        return [(value + (1 << width - 1)) % (1 << width) - (1 << width - 1) for value in flat]
    return flat


def floats(tensor: Tensor) -> Any:
    """The elements of a floating-point tensor, in their own type."""
    return np.ascontiguousarray(tensor.array).view(FLOATS[tensor.element_type]).ravel()


@dataclass(frozen=True)
class Node:
    """The arguments of the node under test."""

    op: str
    names: Sequence[str | None]
    inputs: Sequence[Tensor | None]
    attributes: Mapping[str, Any]
    arguments: Arguments

    def input(self, name: str) -> Tensor | None:
        """An input by the name of its port."""
        return next((input_ for one, input_ in zip(self.names, self.inputs, strict=True) if one == name), None)

    def integers(self, name: str) -> list[int]:
        """The elements of an input; none if it is omitted or has no integers."""
        given = self.input(name)
        return numbers(given) if given is not None and re.match(r"[iu]\d", given.element_type) else []

    @cached_property
    def result(self) -> list[Tensor] | str:
        """The outputs, or the violated requirement."""
        try:
            return list(checked(FUNCTIONS, [OPERATIONS[self.op].declaration])[self.op](self.inputs, self.attributes))
        except Rejected as refusal:
            return refusal.requirement or "unknown"

    @property
    def violated(self) -> Sequence[str]:
        """All violated requirements; the numpy backend names the first."""
        try:
            OPERATIONS[self.op].infer(self.arguments)
        except Rejection as answer:
            return answer.requirements
        return ()


@dataclass(frozen=True)
class Read:
    """A case of a suite: its document, and its arrays by feed."""

    document: Mapping[str, Any]
    case: Case
    feeds: Sequence[Mapping[str, Tensor]]
    expected: Sequence[Mapping[str, Tensor]]

    @cached_property
    def inputs(self) -> Sequence[Mapping[str, Any]]:
        """The inputs of the document."""
        return list(self.document["inputs"])

    @property
    def attributes(self) -> Mapping[str, Any]:
        """The attributes of the node under test."""
        attributes: Mapping[str, Any] = self.node.get("attributes", {})
        return attributes

    @property
    def node(self) -> Mapping[str, Any]:
        """The node under test."""
        return next(node for node in self.document["graph"]["nodes"] if node.get("under_test"))

    def called(self, name: str) -> list[str]:
        """The inputs that a fact means: `data` is every tensor of the first port."""
        first = self.inputs[0]["name"] if self.inputs else ""
        firsts = [input_["name"] for input_ in self.inputs if input_["name"].rpartition("_")[0] == "inputs"] or [first]
        if name == "data":
            return firsts if self.is_first(firsts[0]) else []
        if name == "a setting input":
            return [input_["name"] for input_ in self.inputs if self.is_setting(input_)]
        return [
            input_["name"]
            for input_ in self.inputs
            if input_["name"] == name and input_["name"] not in self.called("data")
        ]

    def is_first(self, name: str) -> bool:
        """Whether a tensor is given to the first port."""
        return name.rpartition("_")[0] == "inputs" or name in ("data", "arg")

    def is_setting(self, given: Mapping[str, Any]) -> bool:
        """Whether an input decides what the operation does."""
        return bool(given["role"] == "setting" or given["name"] == "indices")

    def arguments(self, feed: Mapping[str, Tensor], **attributes: Any) -> Node | None:
        """The arguments of the node under test; None where a node before it refuses its own."""
        known = dict(feed)
        for item in self.case.graph.nodes:
            node = replace(item, attributes=attributes) if item.under_test and attributes else item
            inputs = [None if name is None else known[name] for name in node.inputs]
            ports = [name for port in OPERATIONS[node.op].inputs for name in port.names(len(inputs))][: len(inputs)]
            found = Node(node.op, ports, inputs, node.attributes, evaluated_arguments(node, known))
            if node.under_test:
                return found
            if isinstance(found.result, str):
                return None
            known |= dict(zip(node.outputs, found.result, strict=True))
        return None


def read(folder: Path) -> Read:
    """The case in a folder."""
    document = json.loads((folder / "case.json").read_text())
    feeds, expected = [], []
    for feed in range(document["feeds"]):
        infix = f".{feed}" if feed else ""
        arrays = np.load(folder / f"inputs{infix}.npz")
        feeds.append(
            {e["name"]: Tensor(element_type=e["element_type"], array=arrays[e["name"]]) for e in document["inputs"]}
        )
        golden = folder / f"expected{infix}.npz"
        if golden.exists() and "accept" in document["expect"]:
            arrays = np.load(golden)
            expected.append(
                {
                    e["name"]: Tensor(element_type=e["element_type"], array=arrays[e["name"]])
                    for e in document["expect"]["accept"]
                }
            )
    return Read(document, case_from((folder / "case.json").read_bytes()), feeds, expected)
