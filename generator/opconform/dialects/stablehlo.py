"""The dialect `stablehlo`: an MLIR module of `stablehlo.slice`, static shapes.

StableHLO has no split: each piece is a slice whose limits are worked out here. What it can test is that the slices move
the right bits; the faults of a split's axis, count and lengths are none of a slice's, so rejected cases are left out.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

from opconform.dialects.dialect import Inexpressible
from opconform.drafts import Draft, Refusal
from opconform.element_types import ELEMENT_TYPES
from opconform.golden import Golden
from opconform.graphs import Edge, Graph, Node, Value, graph_of
from opconform.lowering import SPLITS, cuts_of
from opconform.packing import LOW_FIRST, pack
from opconform.templates import render
from opconform.tensors import Tensor

#: The file that a backend loads.
MODEL = "stablehlo/model.mlir"

_BYTE = 8


class _Declared(NamedTuple):
    value: str
    type: str


class _Constant(NamedTuple):
    value: str
    elements: str
    type: str


class _Slice(NamedTuple):
    value: str
    source: str
    ranges: tuple[str, ...]
    before: str
    after: str


class _Join(NamedTuple):
    value: str
    sources: tuple[str, ...]
    axis: int
    before: tuple[str, ...]
    after: str


def files_of(golden: Golden, name: str) -> dict[str, bytes]:
    """The module of a case, by its name in the case's folder.

    Args:
        golden: The case.
        name: What the module is called.

    Raises:
        Inexpressible: StableHLO cannot say what the case says.
    """
    reason = next(_reasons(golden.draft), None)
    if reason is not None:
        raise Inexpressible(reason)
    spelling = _Spelling(golden, graph_of(golden))
    text = render(
        "stablehlo/model.mlir.j2",
        name=name,
        inputs=tuple(spelling.inputs()),
        constants=tuple(spelling.constants()),
        slices=tuple(spelling.slices()),
        joins=tuple(spelling.joins()),
        results=tuple(spelling.results()),
    )
    return {MODEL: text.encode()}


def _reasons(draft: Draft) -> Iterator[str]:
    """Why StableHLO cannot say what a draft says."""
    if draft.op not in SPLITS:
        yield f"{draft.op} has no rendering in this dialect"
    if isinstance(draft.expect, Refusal):
        yield "StableHLO has no split that could refuse it, only slices"
    if draft.dynamic is not None:
        yield "the shapes of this dialect are static"
    for name in ("axis", "split_lengths"):
        if draft.binding.get(name) == "parameter":
            yield f"a slice is fixed in StableHLO, and {name} cannot come at run time"
    data = draft.tensors.get("data")
    if data is not None and ELEMENT_TYPES[data.element_type].mlir is None:
        yield f"StableHLO has no {data.element_type}"


@dataclass(frozen=True, slots=True)
class _Spelling:
    """A graph in StableHLO's words."""

    golden: Golden
    graph: Graph

    def inputs(self) -> Iterator[_Declared]:
        """What the module is fed."""
        for node in self.graph.nodes:
            if node.kind == "parameter":
                yield _Declared(node.name, _type(node.outputs[0]))

    def constants(self) -> Iterator[_Constant]:
        """Data, where it is a constant."""
        for node in self.graph.nodes:
            if node.kind == "constant" and node.name == "data" and node.tensor is not None:
                yield _Constant(node.name, _elements(node.tensor), _type(node.outputs[0]))

    def slices(self) -> Iterator[_Slice]:
        """Every piece of every split."""
        for number, cut in cuts_of(self.golden, self.graph).items():
            node = self.graph.nodes[number]
            edge = node.inputs[0]
            if edge is None:
                continue
            whole = self.graph.nodes[edge.node].outputs[edge.output]
            starts = accumulate(cut.lengths, initial=0)
            for output, (start, length) in enumerate(zip(starts, cut.lengths, strict=False)):
                ranges = [f"0:{size}" for size in whole.dimensions]
                ranges[cut.axis] = f"{start}:{start + length}"
                piece = Edge(node=number, output=output)
                after = _type(node.outputs[output])
                yield _Slice(self._name(piece), self._name(edge), tuple(ranges), _type(whole), after)

    def joins(self) -> Iterator[_Join]:
        """What the context joins."""
        for number, node in enumerate(self.graph.nodes):
            if node.kind == "concat":
                edges = [each for each in node.inputs if each is not None]
                before = tuple(_type(self.graph.nodes[each.node].outputs[each.output]) for each in edges)
                sources = tuple(self._name(each) for each in edges)
                axis = int(str(node.attributes["axis"]))
                yield _Join(self._name(Edge(node=number, output=0)), sources, axis, before, _type(node.outputs[0]))

    def results(self) -> Iterator[_Declared]:
        """What the module gives."""
        for node in self.graph.nodes:
            if node.kind == "result" and node.inputs[0] is not None:
                yield _Declared(self._name(node.inputs[0]), _type(node.outputs[0]))

    def _name(self, edge: Edge) -> str:
        node: Node = self.graph.nodes[edge.node]
        return node.name if node.kind in ("parameter", "constant") else f"{node.name}_{edge.output}"


def _type(value: Value) -> str:
    dimensions = "".join(f"{each}x" for each in value.dimensions)
    return f"tensor<{dimensions}{ELEMENT_TYPES[value.element_type].mlir}>"


def _elements(tensor: Tensor) -> str:
    """A constant's elements: its bytes where each element has whole ones, else a list of integers or bit patterns."""
    if not tensor.array.size:
        return ""
    if tensor.type.kind != "boolean" and tensor.type.bits % _BYTE == 0:
        return f'"0x{pack(tensor, LOW_FIRST).hex().upper()}"'
    if tensor.type.kind == "boolean":
        texts = ["true" if each else "false" for each in tensor.array.reshape(-1)]
    elif tensor.type.is_integer:
        texts = [str(each) for each in tensor.integers()]
    else:
        texts = [f"0x{int(each):X}" for each in tensor.array.reshape(-1)]
    return _nested(texts, tensor.shape)


def _nested(texts: list[str], shape: tuple[int, ...]) -> str:
    """A list in brackets, nested as a shape is."""
    rows: list[Any] = texts
    for size in reversed(shape):
        rows = ["[" + ", ".join(rows[start : start + size]) + "]" for start in range(0, len(rows), size)]
    return "".join(rows)
