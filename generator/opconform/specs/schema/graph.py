"""The pydantic models of specs that declare a graph in place of an operation."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from opconform.specs.schema.keys import (
    OR_EXPRESSION,
    CaseKeys,
    GroupKeys,
    GroupReference,
    Keys,
    OptionalTensor,
    SpecKeys,
)
from opconform.suite.names import Identifier, OperationName

#: The most nodes of a graph, and the most inputs and outputs.
MOST_NODES = 200
#: A tensor of a graph: the name of an input or a node, and after a dot the number of a node's output.
REFERENCE = r"^[A-Za-z_][A-Za-z0-9_]*(\.[0-9]{1,4})?$"
_Reference = Annotated[str, Field(pattern=REFERENCE, max_length=200)]
_Inputs = Mapping[Identifier, OptionalTensor]


class NodeKeys(BaseModel):
    """A node: its operation, and the operation's inputs and attributes, which are checked when the case is made.

    An input is the name of an input of the graph or of an earlier node, or a tensor, which is a constant of the model.
    """

    model_config = ConfigDict(extra="allow", frozen=True, protected_namespaces=())

    op: Annotated[str, OR_EXPRESSION] = Field(description="The operation.")


class GraphFeed(Keys):
    """Other values for a second inference."""

    inputs: _Inputs = Field(description="The inputs that differ.")


class GraphCase(CaseKeys):
    """The keys of a case of a graph."""

    context: Annotated[Literal["bare", "folded"], OR_EXPRESSION] = Field(
        "bare", description="`folded`: every input is a constant of the model."
    )
    inputs: Annotated[_Inputs, Field(max_length=MOST_NODES), OR_EXPRESSION] = Field(
        default_factory=dict, description="The inputs of the model by name, which nodes take; f32 data by default."
    )
    nodes: Annotated[
        Mapping[Identifier, Annotated[NodeKeys, OR_EXPRESSION]],
        Field(min_length=1, max_length=MOST_NODES),
        OR_EXPRESSION,
    ] = Field(description="The nodes by name; each takes inputs of the graph, earlier nodes, and constants.")
    outputs: Annotated[
        tuple[Annotated[_Reference, OR_EXPRESSION], ...], Field(min_length=1, max_length=MOST_NODES), OR_EXPRESSION
    ] = Field(description="The nodes whose results are outputs of the model.")
    feed: Annotated[GraphFeed, OR_EXPRESSION] | None = Field(
        None, description="Other values for a second inference on the same model."
    )


class GraphGroup(GraphCase, GroupKeys):
    """One entry of a spec of graphs, expanded into cases."""

    twin: Annotated[Mapping[str, Any], OR_EXPRESSION] | None = Field(
        None, description="The overrides that remove the violation from an invalid case."
    )


#: How two operations meet.
Pattern = Literal["behind", "beside", "residual", "joined", "twice"]
#: The keys of a group that one of pairs cannot have.
_DERIVED = ("matrix", "combine", "where", "exclude", "random", "uses")


class PairGroup(GroupKeys):
    """One entry of a spec of graphs, whose cases are derived from the samples of all pairs of operations."""

    pairs: Pattern = Field(
        description="`behind`: the second operation takes the result of the first; `beside`: both take one tensor; "
        "`residual`: the second takes a tensor and what the first computes from it; `joined`: `last` joins the "
        "result of the first with that of the second behind it; `twice`: an operation behind itself."
    )
    last: OperationName | None = Field(None, description="The operation that joins two results.")

    @field_validator(*_DERIVED)
    @classmethod
    def _not_derived(cls, _: Any) -> Any:
        raise ValueError(f"a group with `pairs` derives its cases, so it has none of {', '.join(_DERIVED)}")


class GraphSpec(SpecKeys):
    """A spec of graphs."""

    op: Literal["Graph-1"] = Field(description="A graph in place of an operation.")
    groups: Annotated[list[GraphGroup | PairGroup | GroupReference], Field(min_length=1)] = Field(
        description="The groups of cases."
    )


class GraphModels:
    """The models of the cases, groups and specs of graphs."""

    case: type[BaseModel] = GraphCase
    group: type[BaseModel] = GraphGroup
    spec: type[BaseModel] = GraphSpec
