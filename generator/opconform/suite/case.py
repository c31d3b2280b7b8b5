"""The document `case.json`: the graph of a case, and all that a runner needs to know except the values of tensors."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeVar

from pydantic import ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr, TypeAdapter

from opconform.suite.names import (
    CaseId,
    Dimension,
    ElementTypeName,
    Identifier,
    IdOrNeighbourCheck,
    Kebab,
    Line,
    OperationName,
    ProfileName,
    ReadingName,
    RequirementId,
    Seen,
)

_Value = TypeVar("_Value")
#: The name that a graph under test has in place of an operation's.
GRAPH = "Graph-1"
#: The requirement of a graph that cases can violate: that the arguments of its operations are valid.
VALID_NODES = "nodes.valid"
Binding = Literal["constant", "parameter"]
Role = Literal["data", "setting"]
_Scalar = StrictBool | StrictInt | StrictFloat | StrictStr
#: An attribute as the spec has it; in an invalid case it may be invalid.
Attribute = _Scalar | tuple[_Scalar, ...]
#: The dimensions that the IR declares of a tensor, or `...` if the rank is dynamic too.
Dynamic = tuple[Dimension, ...] | Literal["..."]
Shape = tuple[Annotated[int, Field(ge=0)], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Input:
    """One input tensor of a case.

    Attributes:
        role: `setting` if its values decide what the operation does, `data` if it moves or computes with them.
        dynamic: The dimensions that the model declares; None if it declares `shape`.
    """

    name: Identifier
    role: Role
    element_type: ElementTypeName
    shape: Shape
    binding: Binding
    dynamic: Dynamic | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """One operation of a case's graph, such as `Concat-1`, with the names of its input and output tensors.

    Attributes:
        inputs: In the order of the operation's ports; None for an omitted input before another.
        under_test: Whether the case tests this node, and not only uses it as context.
    """

    name: Identifier
    op: OperationName
    inputs: tuple[Identifier | None, ...]
    outputs: tuple[Identifier, ...]
    attributes: Mapping[Identifier, Attribute] = field(default_factory=dict)
    under_test: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Graph:
    """The model of a case: its nodes in topological order, and the names of the model's outputs."""

    nodes: tuple[Node, ...]
    outputs: tuple[Identifier, ...]


#: The most other values that an element of an output can have.
MOST_VALUES = 64
#: How an output is compared with the golden one: bit by bit, so too but that every NaN equals every other one, or with
#: a lower and an upper bound per element.
Comparison = Literal["bits", "numbers", "bounds"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Output:
    """One expected output of a case's first feed. The comparison is the same in each feed.

    Attributes:
        flushed: Whether the file also has the output of a backend that takes denormal numbers in inputs for zeros.
        also: How many other right values the file has for each element.
        otherwise: Of each value that the file has for each element by another reading, the interpretation.
        reduced: Whether the file also has the bounds of results that are less accurate, and not wrong.
    """

    name: Identifier
    element_type: ElementTypeName
    shape: Shape
    comparison: Comparison = "bits"
    flushed: bool = False
    reduced: bool = False
    also: Annotated[int, Field(ge=0, le=MOST_VALUES)] = 0
    otherwise: Annotated[tuple[ReadingName, ...], Field(max_length=MOST_VALUES)] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Accept:
    """The expectation that the case is accepted, with these outputs."""

    accept: tuple[Output, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Reject:
    """The expectation that the case is rejected, with the requirement that it violates."""

    reject: RequirementId


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """One concrete instance of an operation: the document `case.json`.

    `seen` lists public reports of backends that fail such a case.
    `expect` is None only in what a harness receives; a blind suite keeps the outputs' names, element types and shapes.
    """

    #: Also for the classes of its fields. The validator is built when it is first used, since that takes long.
    __pydantic_config__ = ConfigDict(extra="forbid", allow_inf_nan=False, defer_build=True)

    format: Literal[1] = 1
    id: IdOrNeighbourCheck
    op: OperationName
    title: Line
    profile: ProfileName
    requirements: tuple[RequirementId, ...]
    seen: tuple[Seen, ...] = ()
    context: Kebab
    feeds: Annotated[int, Field(ge=1, le=2)]
    inputs: tuple[Input, ...]
    graph: Graph
    expect: Accept | Reject | None = None
    twin: CaseId | None = None

    @property
    def node(self) -> Node:
        """The node under test, or the first of several."""
        return next(node for node in self.graph.nodes if node.under_test)

    @property
    def rejected_for(self) -> str | None:
        """The requirement that an invalid case violates; None for a valid case."""
        return self.expect.reject if isinstance(self.expect, Reject) else None

    @property
    def attributes(self) -> Mapping[str, Attribute]:
        """The attributes of the node under test; a graph has none of its own."""
        return {} if self.tests_graph else self.node.attributes

    def operands(self, feed: Mapping[str, _Value]) -> list[_Value | None]:
        """The values of a feed that the node under test gets, in the order of the operation's ports.

        None stands for an omitted input before another one; omitted inputs at the end are left out. A value can occur
        twice. Raises `KeyError` if another node computes an input.
        """
        return [None if name is None else feed[name] for name in self.node.inputs]

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The expected outputs of the first feed; none for an invalid case."""
        return self.expect.accept if isinstance(self.expect, Accept) else ()

    @property
    def tests_graph(self) -> bool:
        """Whether it tests a graph, and not an operation in a graph."""
        return self.op == GRAPH

    @property
    def is_bare(self) -> bool:
        """Whether the model is the node under test alone."""
        return len(self.graph.nodes) == 1 and self.graph.outputs == self.node.outputs


_CASE = TypeAdapter(Case)
_GRAPH = TypeAdapter(Graph)


def case_from(document: object) -> Case:
    """The case in a `case.json`, given as bytes or decoded; pydantic's `ValidationError` if it breaks the format."""
    return _CASE.validate_json(document) if isinstance(document, bytes) else _CASE.validate_python(document)


def document_of(case: Case) -> dict[str, object]:
    """A case as a JSON object."""
    document = _CASE.dump_python(case, mode="json", exclude_defaults=True)
    return {"format": case.format, **document, "expect": document.get("expect"), "twin": case.twin}


def graph_document(graph: Graph) -> dict[str, object]:
    """A graph as a JSON object."""
    document: dict[str, object] = _GRAPH.dump_python(graph, mode="json", exclude_defaults=True)
    return document


def harness_text(case: Case, declarations: Mapping[str, bytes]) -> bytes:
    """A case as a harness receives it: a JSON object without the expectation, and with declarations of operations.

    `declarations` has the JSON text of each operation that the suite declares.
    """
    document = _CASE.dump_json(case, exclude_defaults=True, exclude={"expect", "twin"})
    ops = dict.fromkeys(node.op for node in case.graph.nodes)
    declared = b",".join(declarations[op] for op in ops if op in declarations)
    return b'{"format":%d,%b,"declarations":[%b]}' % (case.format, document[1:-1], declared)


def case_text(case: Case) -> str:
    """`case.json` as `generate` writes it."""
    return _PLAIN.encode(document_of(case)) + "\n"


_PLAIN = json.JSONEncoder(ensure_ascii=False)
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical_json(value: object) -> str:
    """The canonical JSON text of a value: sorted keys, no spaces, no NaN."""
    return _CANONICAL.encode(value)
