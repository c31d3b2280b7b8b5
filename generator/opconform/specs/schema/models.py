"""The schema of specs: pydantic models, derived from the operations, and their JSON Schema."""

from collections.abc import Mapping
from functools import cache, reduce
from operator import or_
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, SkipValidation, TypeAdapter, create_model

from opconform.operations import OPERATIONS, installed_cases
from opconform.specs.schema.graph import REFERENCE, GraphModels
from opconform.specs.schema.keys import (
    OR_EXPRESSION,
    CaseKeys,
    GroupKeys,
    GroupReference,
    Keys,
    OptionalTensor,
    SamplesKeys,
    SpecKeys,
)
from opconform.suite.case import GRAPH, Attribute
from opconform.suite.declarations import AttributeSpec, Port
from opconform.suite.names import Kebab, OperationName, RequirementId, Seen
from opconform.system.resources import root


class OperationModels:
    """The pydantic models of one operation's cases, groups and specs."""

    def __init__(self, op: str) -> None:
        operation = OPERATIONS[op]
        inputs: dict[str, Any] = {input_.name: _input_field(op, input_) for input_ in operation.inputs}
        attributes: dict[str, Any] = {
            attribute.name: _attribute_field(op, attribute) for attribute in operation.attributes
        }
        name: Any = Literal[op]
        context: Any = Annotated[Literal[(*operation.context_names, "then")], OR_EXPRESSION]
        title = op.replace("-", "")
        first, *others = inputs or {"": None}
        self.neighbour: type[BaseModel] = create_model(
            f"{title}Neighbour",
            __base__=Keys,
            __doc__=f"{op} behind the operation under test, whose last output is its {first}.",
            op=(name, Field(description="The operation.")),
            **{port: inputs[port] for port in others},
            **attributes,
        )
        node_inputs: dict[str, Any] = {port.name: _node_input(port) for port in operation.inputs}
        self.node: type[BaseModel] = create_model(
            f"{title}Node",
            __base__=Keys,
            __doc__=f"{op} as a node of a graph.",
            op=(name, Field(description="The operation.")),
            **node_inputs,
            **attributes,
        )
        feed: Any = create_model(
            f"{title}Feed", __base__=Keys, __doc__="Other values for a second inference.", **inputs
        )
        sample: Any = create_model(
            f"{title}Sample",
            __base__=Keys,
            __doc__="Valid arguments of this operation.",
            second=(tuple[feed, ...], Field((), description="Other values for second inferences on the same model.")),
            **inputs,
            **attributes,
        )
        case: Any = create_model(
            f"{title}Case",
            __base__=CaseKeys,
            __doc__="The keys of a case of this operation.",
            context=(context, Field("bare", description="The graph around the operation.")),
            feed=(
                Annotated[feed, OR_EXPRESSION] | None,
                Field(None, description="Other values for a second inference on the same model."),
            ),
            **inputs,
            **attributes,
        )
        group: Any = create_model(
            f"{title}Group",
            __base__=(case, GroupKeys),
            __doc__="One entry of a spec, expanded into cases.",
            twin=(
                Annotated[case, OR_EXPRESSION] | None,
                Field(None, description="The overrides that remove the violation from an invalid case."),
            ),
        )
        entries: Any = list[SkipValidation[group] | GroupReference]  # checked one by one
        groups: Any = Annotated[entries, Field(min_length=1)]
        requirement = tuple[RequirementId, ...]
        self.samples: type[BaseModel] = create_model(
            f"{title}Samples",
            __base__=SamplesKeys,
            __doc__=f"Samples of {op}, from which the groups of every operation make cases.",
            op=(name, Field(description="The operation.")),
            like=(
                OperationName | None,
                Field(None, description="Another version, whose samples it changes."),
            ),
            without=(tuple[Kebab, ...], Field((), description="The samples of that version that this one lacks.")),
            requirements=(requirement, Field((), description="The requirements that the samples are evidence for.")),
            seen=(Mapping[Kebab, tuple[Seen, ...]], Field({}, description="Public bug reports, by group.")),
            samples=(Mapping[Kebab, sample], Field(description="The samples by name, the most common one first.")),
        )
        self.case: type[BaseModel] = case
        self.group: type[BaseModel] = group
        self.spec: type[BaseModel] = create_model(
            f"{title}Spec",
            __base__=SpecKeys,
            __doc__=f"A spec of {op}.",
            op=(name, Field(description="The operation.")),
            groups=(groups, Field(description="The groups of cases.")),
        )


def _input_field(op: str, port: Port) -> tuple[Any, Any]:
    """The field of one input: a tensor, or a list of tensors for a variadic port."""
    sentence = f"The input {port.name} of {op}, of {port.default_type} by default."
    if not port.variadic:
        return OptionalTensor, Field(None, description=sentence)
    return Annotated[tuple[OptionalTensor, ...], OR_EXPRESSION] | None, Field(
        None, description=f"{sentence} A list of tensors."
    )


def _node_input(port: Port) -> tuple[Any, Any]:
    """The field of one input of a node: a tensor of the graph by name, or a constant; a list at a variadic port."""
    one: Any = Annotated[str, Field(pattern=REFERENCE)] | OptionalTensor
    return (tuple[one, ...] | None if port.variadic else one | None), Field(None)


def _attribute_field(op: str, attribute: AttributeSpec) -> tuple[Any, Any]:
    """The field of one attribute. An invalid case may give any value, so the type is not enforced."""
    values = ", ".join(map(str, attribute.values))
    kind = f"one of {values}" if attribute.type == "enum" else attribute.type + (f" of {values}" if values else "")
    default = "" if attribute.default is None else f"; {attribute.default!r} if omitted"
    sentence = f"The attribute {attribute.name} of {op}: {kind}{default}."
    return Annotated[Attribute, OR_EXPRESSION] | None, Field(None, description=sentence)


@cache
def models_of(op: str) -> OperationModels:
    """The models of an operation, made when they are first used."""
    return OperationModels(op)


def group_models(op: str) -> OperationModels | GraphModels:
    """The models of what a spec tests: an operation, or a graph in place of one."""
    return GraphModels() if op == GRAPH else models_of(op)


def spec_schema() -> dict[str, Any]:
    """The JSON Schema of a spec of any operation that has requirements, and so can be tested.

    Its `$id` is a file name without a place, and has the version of what specs mean.
    """
    tested = [
        operation for operation in OPERATIONS if installed_cases(operation) or (root() / "cases" / operation).is_dir()
    ]
    specs: Any = reduce(or_, (group_models(op).spec for op in (*tested, GRAPH)))
    samples: Any = reduce(or_, (models_of(op).samples for op in tested))
    by_op = Field(discriminator="op")
    adapter: TypeAdapter[Any] = TypeAdapter(Annotated[specs, by_op] | Annotated[samples, by_op])
    published = adapter.json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "opconform-specs-1.schema.json",
        "title": "opconform spec",
        "description": "Case groups of one operation. See docs/specs.md.",
        **published,
    }
