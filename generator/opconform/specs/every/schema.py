"""The schema of the groups of every operation."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from opconform.specs.schema.keys import OR_EXPRESSION, GroupKeys, Keys, RejectKeys


class TensorOverride(Keys):
    """What a group changes in the tensors of a sample; a sample whose values the element type lacks is left out."""

    element_type: Annotated[str, OR_EXPRESSION] | None = None
    fill: Annotated[Literal["ramp", "small", "bits", "special"], OR_EXPRESSION] | None = None


class EveryGroup(GroupKeys):
    """One group, from which cases of every operation are made: of each sample, those that are valid.

    The expressions of its matrix can name the lists `samples`, `contexts`, `settings` (if there are several),
    `integers` (the element types of settings, without the default one), `neighbours`, `wrong_arguments` and
    `extreme_values`. Its requirement `samples` stands for the requirements of the samples, and `wrong_arguments` for
    those of the list; `data` and `settings` in another one stand for the ports.
    """

    data: TensorOverride = Field(TensorOverride(), description="Changes to the tensors at data ports.")
    settings: TensorOverride = Field(TensorOverride(), description="Changes to the tensors at setting ports.")
    binding: str | None = Field(None, description="The binding of settings, the one at run time, or `constant data`.")
    dynamic: str | None = Field(
        None, description='The declared dimensions of data: `all`, `"..."`, `some` (every second one) or `bounded`.'
    )
    context: str | None = Field(None, description="The graph around the operation.")
    second: Annotated[int, OR_EXPRESSION] | None = Field(None, description="The number of the sample's second feed.")
    then: Annotated[Mapping[str, Any], OR_EXPRESSION] | None = Field(None, description="A neighbour.")
    wrong: Annotated[Mapping[str, Any], OR_EXPRESSION] | None = Field(
        None, description="Keys that replace the sample's."
    )
    expect: Annotated[Literal["accept", "semantics"] | RejectKeys, OR_EXPRESSION] = Field(
        "accept", description="As in a spec."
    )
    twin: Mapping[str, Any] | None = Field(None, description="The keys of the group that the twin overrides.")
    essential: Annotated[bool, OR_EXPRESSION] = Field(False, description="As in a spec.")


class EverySpec(Keys):
    """A file of groups of every operation."""

    groups: Annotated[list[EveryGroup], Field(min_length=1)]


#: The keys of a group that are not settings of the group itself.
OWN_KEYS = EveryGroup.model_fields.keys() - GroupKeys.model_fields.keys() - {"twin"}
