"""The keys of specs that are the same for all operations, as pydantic models."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from opconform.specs.matrix.expressions import is_expression
from opconform.suite.case import Binding
from opconform.suite.names import (
    DIMENSION,
    KEBAB,
    LINE,
    REQUIREMENT,
    SEEN,
    Dimension,
    Kebab,
    Line,
    RequirementId,
    Seen,
)
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
_VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]*$"
_Variable = Annotated[str, Field(pattern=_VARIABLE, max_length=80)]
#: A group of another operation that is also one of this operation.
GroupReference = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9]*-[0-9]+/[a-z0-9-]+$")]

#: What each pattern of a spec matches, in words.
PATTERNS: Mapping[str, str] = {
    KEBAB: "lower-case words joined by hyphens, as in zero-length",
    LINE: "one line of text, without control characters",
    REQUIREMENT: "a requirement's id, as in axis.range",
    _VARIABLE: "a name of letters, digits and underscores",
    SEEN: "a tracker's thread such as apache/tvm#1595, a CVE number, or a rewrite as in apache/tvm:FoldConstant",
    DIMENSION: 'a size, "?" or bounds such as "2..8"',
}


class Keys(BaseModel):
    """A mapping of a YAML document with these keys and no others."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, protected_namespaces=(), arbitrary_types_allowed=True, defer_build=True
    )


class SpecKeys(Keys):
    """The keys of a spec of any kind."""

    schema_: Annotated[str, Field(strict=True)] = Field(
        "", alias="$schema", description="The file or URL of this schema, for editors; opconform does not read it."
    )


def _with_samples_or_like(schema: dict[str, Any]) -> None:
    """Let a file that takes over the samples of another version have none of its own."""
    schema["required"].remove("samples")
    schema["anyOf"] = [{"required": ["samples"]}, {"required": ["like"]}]


class SamplesKeys(SpecKeys):
    """The keys of a file of samples."""

    model_config = ConfigDict(json_schema_extra=_with_samples_or_like)


_Fill = Literal["ramp", "small", "exact", "fractions", "normal", "bits", "binades", "special", "constant"]


class TensorKeys(Keys):
    """A tensor of a case. A value in place of this mapping is short for `values`."""

    element_type: Annotated[_ElementTypeName, OR_EXPRESSION] | None = Field(
        None, description="OpenVINO's name of the element type."
    )
    shape: Annotated[tuple[Annotated[_Size, OR_EXPRESSION], ...], OR_EXPRESSION] | None = Field(
        None, description="The sizes of the dimensions; by default those of `values`."
    )
    fill: Annotated[_Fill, OR_EXPRESSION] | None = Field(
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
OptionalTensor = Annotated[TensorKeys | None, OR_EXPRESSION, _OrValues()]


class RejectKeys(Keys):
    """The expectation that a case is rejected."""

    reject: Annotated[RequirementId, OR_EXPRESSION] = Field(description="The one requirement that the case violates.")
    also: tuple[Annotated[RequirementId, OR_EXPRESSION], ...] = Field(
        (), description="Further violations that cannot be avoided."
    )


_Declared = Annotated[Literal["...", "all"] | tuple[Annotated[Dimension, OR_EXPRESSION], ...], OR_EXPRESSION]


class CaseKeys(Keys):
    """The keys of a case that every operation has."""

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

    id: Kebab = Field(description="The group's name, which is part of the ids of its cases.")
    title: Line = Field(description="What the cases test.")
    profile: Kebab = Field("core", description="The profile that the cases belong to.")
    requirements: tuple[RequirementId, ...] = Field((), description="The requirements that the cases are evidence for.")
    seen: tuple[Seen, ...] = Field((), description="Public bug reports of backends that failed such a case.")
    uses: Mapping[Kebab, Annotated[int, Field(strict=True, ge=1)]] = Field(
        default_factory=dict, description="The uses in models that the cases stand for, and how many nodes have each."
    )
    matrix: Mapping[_Variable, Annotated[list[Any], Field(min_length=1), OR_EXPRESSION]] = Field(
        default_factory=dict, description="Variables and their values; every combination is a case."
    )
    combine: Literal["product", "pairwise"] = Field(
        "product", description="`product`: every combination; `pairwise`: a small set that covers every pair of values."
    )
    where: str | None = Field(None, description="An expression; combinations for which it is false are left out.")
    exclude: tuple[Mapping[_Variable, Any], ...] = Field((), description="Combinations to leave out.")
    random: Random | None = Field(None, description="Random cases for each combination of the matrix.")
