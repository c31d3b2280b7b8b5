"""The matrix of a group: combinations, filters, pairs, and entries that are included or excluded."""

from itertools import product
from pathlib import Path

import pytest

from opconform.specs.group import Group
from opconform.specs.loader import load_spec
from opconform.specs.matrix.combinations import Combination, combinations_of, holds, shown
from opconform.specs.matrix.expressions import Meter, compiled
from opconform.specs.yaml_document import KeyMistake


def group(tmp_path: Path, keys: str) -> Group:
    """A group with some keys beside those of its cases."""
    path = tmp_path / "spec.yaml"
    path.write_text(
        f"op: Split-1\ngroups:\n  - {{id: a, title: t, data: {{shape: [6]}}, axis: 0, num_splits: 2, {keys}}}\n"
    )
    return load_spec(path).groups[0]


def combinations(tmp_path: Path, keys: str, limit: int = 100) -> list[Combination]:
    """The combinations of a group."""
    return list(combinations_of(group(tmp_path, keys), limit, Meter()))


def test_a_group_without_a_matrix_has_one_empty_combination(tmp_path: Path) -> None:
    """So it is one case."""
    assert combinations(tmp_path, "profile: core") == [{}]


def test_a_matrix_is_a_product_in_the_order_of_its_values(tmp_path: Path) -> None:
    """The last variable changes fastest."""
    expected = [{"x": 1, "y": 3}, {"x": 1, "y": 4}, {"x": 2, "y": 3}, {"x": 2, "y": 4}]

    assert combinations(tmp_path, "matrix: {x: [1, 2], y: [3, 4]}") == expected


def test_an_expression_gives_a_value_or_all_values_of_a_variable(tmp_path: Path) -> None:
    """It may use functions, but no other variable."""
    assert combinations(tmp_path, 'matrix: {x: "${{ range(2) }}", y: ["${{ 2 * 3 }}"]}') == [
        {"x": 0, "y": 6},
        {"x": 1, "y": 6},
    ]


def test_where_leaves_out_combinations(tmp_path: Path) -> None:
    """Those for which it is false."""
    assert combinations(tmp_path, 'matrix: {x: [1, 2], y: [1, 2]}, where: "x < y"') == [{"x": 1, "y": 2}]


def test_where_beside_random_does_not_apply_to_the_matrix(tmp_path: Path) -> None:
    """It is the filter of the draws, whose variables the matrix does not have."""
    keys = 'matrix: {x: [1, 2]}, where: "y > 1", random: {count: 1, draw: {y: 2}}'

    assert combinations(tmp_path, keys) == [{"x": 1}, {"x": 2}]


def test_pairwise_covers_every_pair_with_fewer_combinations(tmp_path: Path) -> None:
    """Of three variables with three values."""
    found = combinations(tmp_path, "combine: pairwise, matrix: {x: [1, 2, 3], y: [1, 2, 3], z: [1, 2, 3]}")

    for one, other in (("x", "y"), ("x", "z"), ("y", "z")):
        assert {(hit[one], hit[other]) for hit in found} == set(product((1, 2, 3), repeat=2))
    assert len(found) < 27


def test_pairwise_excludes_and_filters(tmp_path: Path) -> None:
    """No combination has an excluded pair, or one for which `where` is false."""
    keys = (
        'combine: pairwise, matrix: {x: [1, 2], y: [1, 2], z: [1, 2]}, exclude: [{x: 1, y: 1}], where: "y < 2 or z < 2"'
    )
    found = combinations(tmp_path, keys)

    assert found
    assert all((hit["x"], hit["y"]) != (1, 1) and (hit["y"], hit["z"]) != (2, 2) for hit in found)


@pytest.mark.parametrize(
    ("keys", "key", "sentence"),
    [
        ("matrix: {x: [1, 2], y: [1, 2]}", "matrix", "the matrix has 4 combinations, over the limit of 3"),
        (
            "matrix: {x: '${{ range(31) }}'}, where: x > 1",
            "matrix",
            "the matrix has 31 combinations, over the limit of 30",
        ),
        ("matrix: {x: '${{ 5 }}'}", "matrix", "x: `5` must return a non-empty list of values, not 5"),
        ("combine: pairwise, matrix: {x: [1, 2]}", "combine", "pairwise needs a matrix of at least two variables"),
        ("matrix: {x: [1]}, where: x", "where", "`x` returns 1, which is neither true nor false"),
    ],
)
def test_a_wrong_matrix_names_the_key(tmp_path: Path, keys: str, key: str, sentence: str) -> None:
    """And says what is wrong with it."""
    with pytest.raises(KeyMistake) as raised:
        combinations(tmp_path, keys, limit=3)

    assert (raised.value.key, raised.value.sentence) == (key, sentence)


def test_a_filter_is_true_or_false() -> None:
    """For each combination by itself."""
    wanted = compiled("x > 1")

    assert holds(wanted, {"x": 2}, Meter())
    assert not holds(wanted, {"x": 1}, Meter())


def test_a_combination_is_shown_in_one_line() -> None:
    """A long one is truncated."""
    assert shown({"axis": 0, "shape": [6, 2]}) == "axis=0, shape=[6, 2]"
    assert shown({}) == "no variables"
    assert shown(dict.fromkeys("xyz", "a" * 150)).endswith("…")
    assert len(shown(dict.fromkeys("xyz", "a" * 150))) == 300
