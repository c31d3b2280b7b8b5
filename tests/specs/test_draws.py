"""Draws that depend on their key alone, and functions that stay inside their bounds."""

from itertools import islice
from pathlib import Path

import pytest

from opconform.specs.loader import load_spec
from opconform.specs.matrix.combinations import Combination
from opconform.specs.matrix.draws import draws_of, random_functions
from opconform.specs.matrix.expressions import Meter
from opconform.specs.matrix.functions import RANDOM_FUNCTIONS
from opconform.specs.yaml_document import KeyMistake

SPEC = """\
op: Split-1
groups:
  - id: a
    title: t
    data: {{shape: [6]}}
    axis: 0
    num_splits: 2
    random: {{count: 9, seed: {seed}, draw: {{x: "${{{{ random_integer(1, 9) }}}}", y: {y}}}}}
    {more}
"""


def draws(
    tmp_path: Path, more: str = "", *, suite_seed: int = 0, group_seed: int = 0, y: str = "1"
) -> list[Combination | None]:
    """The first 50 draws of a group for one combination of its matrix."""
    path = tmp_path / "spec.yaml"
    path.write_text(SPEC.format(seed=group_seed, y=y, more=more))
    group = load_spec(path).groups[0]
    return list(islice(draws_of(group, {"z": 5}, suite_seed, Meter()), 50))


def test_draws_depend_on_both_seeds(tmp_path: Path) -> None:
    """The same seeds give the same draws, and another seed of the suite or of the group gives others."""
    assert draws(tmp_path) == draws(tmp_path)
    assert draws(tmp_path) != draws(tmp_path, suite_seed=1)
    assert draws(tmp_path) != draws(tmp_path, group_seed=1)


def test_a_draw_extends_the_combination_one_variable_after_the_other(tmp_path: Path) -> None:
    """An expression may use the earlier variables."""
    found = draws(tmp_path, y='"${{ 10 * x }}"')

    assert all(hit is not None and hit == {"z": 5, "x": hit["x"], "y": 10 * hit["x"]} for hit in found)
    assert {hit["x"] for hit in found if hit is not None} == set(range(1, 10))


def test_a_draw_that_the_filter_excludes_is_none(tmp_path: Path) -> None:
    """It counts as a draw, so that an impossible filter comes to an end."""
    found = draws(tmp_path, more='where: "x > 5"')

    assert [hit is None for hit in found] == [draw is None or draw["x"] <= 5 for draw in draws(tmp_path)]


def test_a_draw_that_fails_names_its_variable(tmp_path: Path) -> None:
    """With the variables that are drawn already."""
    with pytest.raises(KeyMistake) as raised:
        draws(tmp_path, y='"${{ random_integer(2, 1) }}"')

    assert raised.value.key == "random"
    assert raised.value.sentence.startswith(
        "y: `random_integer(2, 1)` fails: the range of a draw must have 1 to 2**64 values, not 0, with z=5"
    )


def test_random_functions_stay_inside_their_bounds() -> None:
    """For many keys."""
    for key in range(200):
        functions = random_functions(key)
        assert functions["random_integer"](-3, 3) in range(-3, 4)
        assert functions["random_choice"]("abc") in "abc"
        shape = functions["random_shape"](1, 3, 2, 5)
        assert 1 <= len(shape) <= 3
        assert all(2 <= size <= 5 for size in shape)
        lengths = functions["random_partition"](10, 4)
        assert (len(lengths), sum(lengths), min(lengths) >= 0) == (4, 10, True)
        assert sorted(functions["random_shuffle"]([1, 2, 3, 4])) == [1, 2, 3, 4]


def test_every_random_function_is_known_to_expressions() -> None:
    """So that no variable takes its name."""
    assert {random_function for random_function in random_functions() if random_function.startswith("random_")} == set(
        RANDOM_FUNCTIONS
    )


def test_a_total_cannot_be_divided_into_no_parts() -> None:
    """It is one sentence."""
    with pytest.raises(ValueError, match=r"^a total cannot be divided into 0 parts$"):
        random_functions()["random_partition"](10, 0)
