"""The shipped profiles `transformer` and `vision` are the uses in the models that their script builds."""

import pytest
from maintenance.architectures import PROFILES as MODELS
from maintenance.profiles import nodes_of, specs_of, uses_of

from opconform.suite.selection.selection import NOT_BY_DEFAULT, PROFILES
from tests.conftest import ROOT


@pytest.mark.parametrize("profile", MODELS)
def test_shipped_specs_are_those_that_the_script_writes(profile: str) -> None:
    """A change of a model, of from-model or of an operation is written again: python -m maintenance.profiles."""
    shipped = {path.parent.name: path.read_text() for path in ROOT.glob(f"cases/*/{profile}.yaml")}

    assert shipped == specs_of(profile)


@pytest.mark.parametrize("profile", MODELS)
def test_every_node_has_a_case(profile: str) -> None:
    """The operations of the models are ones that opconform tests, so that a verdict speaks of the whole layer."""
    covered = {
        (model, name) for (model, _), uses in uses_of(profile).items() for use in uses.values() for name in use.nodes
    }
    nodes = [(model, next(iter(by_size.values()))) for model, by_size in nodes_of(profile)]

    assert {node.type for model, node in nodes if (model, node.name) not in covered} == set()


def test_profiles_of_models_are_named_to_be_run() -> None:
    """They repeat requirements of the core on larger data, so that a certification of all profiles leaves them out."""
    assert {*MODELS} <= {*PROFILES} & NOT_BY_DEFAULT
