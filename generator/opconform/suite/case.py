"""`case.json`: the model graph of a case, and everything else that a runner needs to know but the tensors' values."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr, TypeAdapter

from opconform.tensors.element_types import ELEMENT_TYPES

_STRICT = ConfigDict(extra="forbid", allow_inf_nan=False)

Binding = Literal["constant", "parameter"]
Role = Literal["tensor", "control"]
_Scalar = StrictBool | StrictInt | StrictFloat | StrictStr
#: An attribute as the spec wrote it, however wrong.
Attribute = _Scalar | tuple[_Scalar, ...]
#: A dimension of the IR's data: static, `?`, or bounded as in `2..8`.
DIMENSION = r"^(\?|[0-9]{1,18}\.\.[0-9]{1,18})$"
Dimension = Annotated[int, Field(strict=True, ge=0)] | Annotated[str, Field(pattern=DIMENSION)]
#: The dimensions of the IR's data, or `...` where even the rank is dynamic.
Dynamic = tuple[Dimension, ...] | Literal["..."]
#: A public report of a bug: a tracker's thread, as in `apache/tvm#1595`, or a CVE number.
SEEN = r"^([\w.-]+/[\w.-]+#\d+|CVE-\d{4}-\d+)$"
Seen = Annotated[str, Field(pattern=SEEN)]
CaseId = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9]*-\d+/[a-z0-9]+(-[a-z0-9]+)*/[0-9a-f]{10}$")]


def _known(name: str) -> str:
    if name not in ELEMENT_TYPES:
        raise ValueError(f"{name!r} is not an element type")
    return name


ElementTypeName = Annotated[str, AfterValidator(_known)]
Shape = tuple[Annotated[int, Field(ge=0)], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Input:
    """One tensor that a case is given.

    Attributes:
        role: `control` where its values decide what the operation does, `tensor` where they are data.
        dynamic: The dimensions that the model declares; None where they are those of `shape`.
    """

    __pydantic_config__ = _STRICT

    name: str
    role: Role
    element_type: ElementTypeName
    shape: Shape
    binding: Binding
    dynamic: Dynamic | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """One operation of a case's graph.

    Attributes:
        name: What the node is called, once in a graph.
        op: The operation and its version, as in `Concat-1`.
        inputs: The tensors that it takes, by name and in the order of its ports; None for one that is left out before
            another.
        outputs: The names of the tensors that it gives.
        attributes: Its attributes.
        under_test: Whether the case tests it, and it is not there to surround what is tested.
    """

    __pydantic_config__ = _STRICT

    name: str
    op: str
    inputs: tuple[str | None, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    under_test: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Graph:
    """The model of a case: its nodes, each after those whose outputs it takes, and the names of the model's outputs."""

    __pydantic_config__ = _STRICT

    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Output:
    """One expected output of a case's first feed."""

    __pydantic_config__ = _STRICT

    name: str
    element_type: ElementTypeName
    shape: Shape


@dataclass(frozen=True, kw_only=True, slots=True)
class Accept:
    """The expectation that the case is executed and gives these outputs."""

    __pydantic_config__ = _STRICT

    accept: tuple[Output, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Reject:
    """The expectation that the case is refused, and the requirement that it violates."""

    __pydantic_config__ = _STRICT

    reject: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """One concrete instance of an operation: the document `case.json`.

    `seen` are public reports of backends that got such a case wrong.
    `expect` is None only in what a harness is sent; a blind suite keeps the outputs' names, element types and shapes.
    """

    __pydantic_config__ = _STRICT

    format: Literal[1] = 1
    id: CaseId
    op: str
    title: str
    profile: str
    requirements: tuple[str, ...]
    seen: tuple[Seen, ...] = ()
    context: str
    feeds: Annotated[int, Field(ge=1, le=2)]
    inputs: tuple[Input, ...]
    graph: Graph
    expect: Accept | Reject | None = None
    twin: CaseId | None = None

    @property
    def node(self) -> Node:
        """The node under test; the first one where there are several."""
        return next(each for each in self.graph.nodes if each.under_test)

    @property
    def attributes(self) -> Mapping[str, Attribute]:
        """The attributes of the node under test."""
        return self.node.attributes

    @property
    def is_bare(self) -> bool:
        """Whether the model is the node under test, and nothing around it."""
        return len(self.graph.nodes) == 1 and self.graph.outputs == self.node.outputs


_CASE = TypeAdapter(Case)


def case_of(document: bytes) -> Case:
    """The case that a `case.json` holds.

    Raises:
        pydantic.ValidationError: The document breaks the format.
    """
    return _CASE.validate_json(document)


def case_from(document: Any) -> Case:
    """The case that a decoded `case.json` holds.

    Raises:
        pydantic.ValidationError: The document breaks the format.
    """
    return _CASE.validate_python(document)


def document_of(case: Case, *, for_harness: bool = False) -> dict[str, object]:
    """A case as a JSON object; for a harness without what is expected of it."""
    document: dict[str, object] = {
        "format": case.format,
        "id": case.id,
        "op": case.op,
        "title": case.title,
        "profile": case.profile,
        "requirements": list(case.requirements),
        **({"seen": list(case.seen)} if case.seen else {}),
        "context": case.context,
        "feeds": case.feeds,
        "inputs": [_input_document(each) for each in case.inputs],
        "graph": {
            "nodes": [_node_document(each) for each in case.graph.nodes],
            "outputs": list(case.graph.outputs),
        },
    }
    if not for_harness:
        document["expect"] = _expect_document(case.expect)
        document["twin"] = case.twin
    return document


def case_text(case: Case) -> str:
    """`case.json` as `generate` writes it."""
    return json.dumps(document_of(case), ensure_ascii=False) + "\n"


def _input_document(each: Input) -> dict[str, object]:
    document: dict[str, object] = {
        "name": each.name,
        "role": each.role,
        "element_type": each.element_type,
        "shape": list(each.shape),
        "binding": each.binding,
    }
    if each.dynamic is not None:
        document["dynamic"] = each.dynamic if isinstance(each.dynamic, str) else list(each.dynamic)
    return document


def _node_document(each: Node) -> dict[str, object]:
    return {
        "name": each.name,
        "op": each.op,
        "inputs": list(each.inputs),
        "outputs": list(each.outputs),
        **({"attributes": dict(each.attributes)} if each.attributes else {}),
        **({"under_test": True} if each.under_test else {}),
    }


def _expect_document(expect: Accept | Reject | None) -> dict[str, object] | None:
    match expect:
        case Accept(accept=outputs):
            return {
                "accept": [
                    {"name": each.name, "element_type": each.element_type, "shape": list(each.shape)}
                    for each in outputs
                ]
            }
        case Reject(reject=requirement):
            return {"reject": requirement}
        case None:
            return None


def canonical_json(value: object) -> str:
    """One spelling of a JSON value: sorted keys, no spaces, no NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
