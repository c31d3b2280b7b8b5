"""The schema of specs: pydantic models, derived from the operations, and their JSON Schema."""

from collections.abc import Mapping
from functools import cache, reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    SkipValidation,
    TypeAdapter,
    ValidationInfo,
    create_model,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from opconform.operations import OPERATIONS, installed_cases
from opconform.resources import root
from opconform.specs.matrix.expressions import is_expression
from opconform.suite.case import DIMENSION, SEEN, Attribute, Binding, Dimension, Seen
from opconform.suite.declarations import AttributeSpec, Port
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform.tensors.literals import Element

#: The validation context in which expressions are not allowed.
CONCRETE: Mapping[str, bool] = {"concrete": True}

_EXPRESSION_SCHEMA = {"type": "string", "pattern": r"^\s*\$\{\{[\s\S]*\}\}\s*$"}


class _OrExpression:
    """An annotation for a value that a spec may give as an expression."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        def validate(value: Any, inner: core_schema.ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
            return value if is_expression(value) and not info.context else inner(value)

        return core_schema.with_info_wrap_validator_function(validate, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [handler(schema), _EXPRESSION_SCHEMA]}


#: Annotates what may be an expression.
OR_EXPRESSION = _OrExpression()
if TYPE_CHECKING:
    _ElementTypeName = str
else:
    _ElementTypeName = Literal[tuple(ELEMENT_TYPES)]
_Size = Annotated[int, Field(strict=True, ge=0)]
_KEBAB = r"^[a-z0-9]+(-[a-z0-9]+)*$"
_LINE = r"^[^\x00-\x1f\x7f-\x9f]+$"
_REQUIREMENT = r"^[a-z0-9_]+([.-][a-z0-9_]+)*$"
_VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]*$"
_Kebab = Annotated[str, Field(pattern=_KEBAB, max_length=80)]
_Requirement = Annotated[str, Field(pattern=_REQUIREMENT)]
_Variable = Annotated[str, Field(pattern=_VARIABLE, max_length=80)]

#: What each pattern of a spec matches, in words.
PATTERNS: Mapping[str, str] = {
    _KEBAB: "lower-case words joined by hyphens, as in zero-length",
    _LINE: "one line of text, without control characters",
    _REQUIREMENT: "a requirement's id, as in axis.range",
    _VARIABLE: "a name of letters, digits and underscores",
    SEEN: "a tracker's thread such as apache/tvm#1595, or a CVE number",
    DIMENSION: 'a size, "?" or bounds such as "2..8"',
}


class Keys(BaseModel):
    """A mapping of a YAML document with these keys and no others."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, protected_namespaces=(), arbitrary_types_allowed=True, defer_build=True
    )


class TensorKeys(Keys):
    """A tensor of a case. A value in place of this mapping is short for `values`."""

    element_type: Annotated[_ElementTypeName, OR_EXPRESSION] | None = Field(
        None, description="OpenVINO's name of the element type."
    )
    shape: Annotated[tuple[Annotated[_Size, OR_EXPRESSION], ...], OR_EXPRESSION] | None = Field(
        None, description="The sizes of the dimensions; by default those of `values`."
    )
    fill: Annotated[Literal["ramp", "small", "bits", "special", "constant"], OR_EXPRESSION] | None = Field(
        None, description="How the elements are made; ramp by default."
    )
    value: Annotated[Element, OR_EXPRESSION] | None = Field(None, description="The element of a constant fill.")
    values: Any = Field(
        None,
        description="The elements, nested like the shape: numbers, true and false, strings; `nan`, `inf`, "
        "`-inf`; and bit patterns such as 0x7fc00001.",
    )


class _OrValues:
    """An annotation for a tensor that may be given by its values alone."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        def expanded(value: Any) -> Any:
            is_given = value is None or isinstance(value, dict | TensorKeys) or is_expression(value)
            return value if is_given else {"values": value}

        return core_schema.no_info_before_validator_function(expanded, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [handler(schema), {"type": ["array", "number", "boolean", "string"]}]}


#: An input of a case; null or a missing key leaves it out.
_Tensor = Annotated[TensorKeys | None, OR_EXPRESSION, _OrValues()]


class RejectKeys(Keys):
    """The expectation that a case is rejected."""

    reject: Annotated[_Requirement, OR_EXPRESSION] = Field(description="The one requirement that the case violates.")
    also: tuple[Annotated[_Requirement, OR_EXPRESSION], ...] = Field(
        (), description="Further violations that cannot be avoided."
    )


_Declared = Annotated[Literal["...", "all"] | tuple[Annotated[Dimension, OR_EXPRESSION], ...], OR_EXPRESSION]


class _CaseKeys(Keys):
    binding: Annotated[Binding | Mapping[str, Annotated[Binding, OR_EXPRESSION]], OR_EXPRESSION] = Field(
        "constant",
        description="Whether inputs are constants in the IR or parameters fed at run time: one word for all setting "
        "inputs, or a mapping by input name.",
    )
    dynamic: _Declared | Annotated[Mapping[str, _Declared | None], OR_EXPRESSION] | None = Field(
        None,
        description='The dimensions that the IR declares for the other inputs: sizes, "?" or bounds such as "2..8"; '
        '"all" makes every dimension "?", and "..." makes the rank dynamic. One value, or a mapping by input name.',
    )
    expect: Annotated[Literal["accept", "semantics"] | RejectKeys, OR_EXPRESSION] = Field(
        "accept", description="What a conformant backend does; `semantics`: what the reference semantics say."
    )
    then: Annotated[Mapping[str, Any], OR_EXPRESSION] | None = Field(
        None,
        description="An operation that takes the last output: its name as `op`, and its settings and attributes, "
        "which are constants of the model.",
    )
    essential: Annotated[bool, Field(strict=True), OR_EXPRESSION] = Field(
        False, description="Whether every backend of the operation must support the case."
    )


class Random(Keys):
    """Random cases: `count` draws of the variables in `draw`, one after the other."""

    count: Annotated[int, Field(strict=True, ge=1)] = Field(description="How many different cases are drawn.")
    seed: int = Field(0, description="Change it to draw other cases.")
    draw: Mapping[_Variable, Any] = Field(
        description="The variables: expressions that may use earlier variables and random functions."
    )


class GroupKeys(Keys):
    """The keys of a group that are not keys of its cases."""

    id: _Kebab = Field(description="The group's name, which is part of the ids of its cases.")
    title: Annotated[str, Field(pattern=_LINE, max_length=1_000)] = Field(description="What the cases test.")
    profile: _Kebab = Field("core", description="The profile that the cases belong to.")
    requirements: tuple[_Requirement, ...] = Field((), description="The requirements that the cases are evidence for.")
    seen: tuple[Seen, ...] = Field((), description="Public bug reports of backends that failed such a case.")
    matrix: Mapping[_Variable, Annotated[list[Any], Field(min_length=1), OR_EXPRESSION]] = Field(
        default_factory=dict, description="Variables and their values; every combination is a case."
    )
    combine: Literal["product", "pairwise"] = Field(
        "product", description="`product`: every combination; `pairwise`: a small set that covers every pair of values."
    )
    where: str | None = Field(None, description="An expression; combinations for which it is false are left out.")
    exclude: tuple[Mapping[_Variable, Any], ...] = Field((), description="Combinations to leave out.")
    random: Random | None = Field(None, description="Random cases for each combination of the matrix.")


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
            **{other: inputs[other] for other in others},
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
            __base__=_CaseKeys,
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
        groups: Any = Annotated[list[SkipValidation[group]], Field(min_length=1)]  # checked one by one
        requirement = tuple[_Requirement, ...]
        self.samples: type[BaseModel] = create_model(
            f"{title}Samples",
            __base__=Keys,
            __doc__=f"Samples of {op}, from which the groups of every operation make cases.",
            op=(name, Field(description="The operation.")),
            requirements=(requirement, Field((), description="The requirements that the samples are evidence for.")),
            seen=(Mapping[_Kebab, tuple[Seen, ...]], Field({}, description="Public bug reports, by group.")),
            samples=(Mapping[_Kebab, sample], Field(description="The samples by name, the most common one first.")),
        )
        self.case: type[BaseModel] = case
        self.group: type[BaseModel] = group
        self.spec: type[BaseModel] = create_model(
            f"{title}Spec",
            __base__=Keys,
            __doc__=f"A spec of {op}.",
            op=(name, Field(description="The operation.")),
            groups=(groups, Field(description="The groups of cases.")),
        )


def _input_field(op: str, port: Port) -> tuple[Any, Any]:
    """The field of one input: a tensor, or a list of tensors for a variadic port."""
    sentence = f"The input {port.name} of {op}, of {port.default_type} by default."
    if not port.variadic:
        return _Tensor, Field(None, description=sentence)
    return Annotated[tuple[_Tensor, ...], OR_EXPRESSION] | None, Field(
        None, description=f"{sentence} A list of tensors."
    )


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


def schema() -> dict[str, Any]:
    """The JSON Schema of a spec of any operation that has requirements, and so can be tested."""
    tested = [
        operation for operation in OPERATIONS if installed_cases(operation) or (root() / "cases" / operation).is_dir()
    ]
    specs: Any = reduce(or_, (models_of(op).spec for op in tested))
    samples: Any = reduce(or_, (models_of(op).samples for op in tested))
    by_op = Field(discriminator="op")
    adapter: TypeAdapter[Any] = TypeAdapter(Annotated[specs, by_op] | Annotated[samples, by_op])
    published = adapter.json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "opconform spec",
        "description": "Case groups of one operation. See docs/specs.md.",
        **published,
    }
