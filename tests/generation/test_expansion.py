"""Expanding: matrices as in GitHub Actions, pairs, random draws, twins, ids."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opconform.generation.expansion import expand
from opconform.model.draft import Draft
from opconform.specs.loader import load_spec
from opconform.specs.matrix.expressions import ExpressionError, Meter, compiled
from opconform.specs.yaml_document import SpecMistakes
from tests.conftest import Run


def cases(tmp_path: Path, group: str, seed: int = 0) -> list[Draft]:
    """The cases of a group of VariadicSplit-1, given by what follows its id and title."""
    path = tmp_path / "spec.yaml"
    path.write_text(f"op: VariadicSplit-1\ngroups:\n  - id: a\n    title: t\n{group}")
    return list(expand(load_spec(path).groups[0], seed=seed))


def lengths(found: list[Draft]) -> list[Any]:
    """The lengths of each case, sorted."""
    return sorted(list(hit.tensors["split_lengths"].elements) for hit in found)


MATRIX = """\
    matrix:
      x: [1, 2]
      y: [10, 20]
{}
    data: {{shape: ["${{{{ x + y + z }}}}"]}}
    axis: 0
    split_lengths: ["${{{{ x }}}}", "${{{{ y }}}}", "${{{{ z }}}}"]
"""


def test_exclude_leaves_out_what_it_matches(tmp_path: Path) -> None:
    """A partial match is enough."""
    found = lengths(cases(tmp_path, MATRIX.format("      z: [0]\n    exclude: [{x: 1, y: 10}, {y: 20}]")))

    assert found == [[2, 10, 0]]


@pytest.mark.parametrize(("entry", "name"), [("{x: 3}", "x"), ("{x: 1, w: 10}", "w")])
def test_exclude_must_match(tmp_path: Path, entry: str, name: str) -> None:
    """An entry that leaves nothing out is a mistake."""
    with pytest.raises(SpecMistakes, match=f"`exclude` .* matches no combination: {name} never has this value"):
        cases(tmp_path, MATRIX.format(f"      z: [0]\n    exclude: [{{x: 1, y: 10}}, {entry}]"))


def test_where_filters(tmp_path: Path) -> None:
    """A combination for which `where` is false is not a case."""
    found = lengths(cases(tmp_path, MATRIX.format("      z: [0]\n    where: x == 1 and y > 10")))

    assert found == [[1, 20, 0]]


def test_pairwise_covers_every_pair_with_fewer_cases(tmp_path: Path) -> None:
    """Each pair of values of two variables is in some case."""
    group = """\
    combine: pairwise
    matrix: {a: [1, 2, 3, 4], b: [1, 2, 3, 4], c: [1, 2, 3, 4], d: [1, 2, 3, 4]}
    data: {shape: ["${{ a + b + c + d }}"]}
    axis: 0
    split_lengths: ["${{ a }}", "${{ b }}", "${{ c }}", "${{ d }}"]
"""
    found = lengths(cases(tmp_path, group))
    pairs = {(i, j, row[i], row[j]) for row in found for i, j in itertools.combinations(range(4), 2)}

    assert len(pairs) == 6 * 16
    assert len(found) < 30


def test_the_filter_of_random_draws_looks_at_what_was_drawn(tmp_path: Path) -> None:
    """Not at the matrix alone, which does not know the drawn variables."""
    group = """\
    matrix: {rows: [2, 3]}
    random: {count: 5, draw: {size: "${{ random_integer(1, 20) }}"}}
    where: size > rows + 10
    data: {shape: ["${{ rows }}", "${{ size }}"]}
    axis: 1
    split_lengths: ["${{ size }}"]
"""
    drawn = [case.tensors["data"].shape for case in cases(tmp_path, group)]

    assert len(drawn) == 10
    assert all(size > rows + 10 for rows, size in drawn)


def test_a_draw_is_the_same_whatever_else_is_drawn(tmp_path: Path) -> None:
    """More draws keep the earlier ones, and another seed draws others."""
    group = """\
    random:
      count: {}
      draw:
        shape: ${{{{ random_shape(1, 4, 0, 9) }}}}
        axis: ${{{{ random_integer(-rank(shape), rank(shape) - 1) }}}}
        lengths: ${{{{ random_partition(shape[axis], random_integer(1, 5)) }}}}
    data: {{shape: "${{{{ shape }}}}", fill: bits}}
    axis: ${{{{ axis }}}}
    split_lengths: ${{{{ lengths }}}}
"""
    few = {case.digits for case in cases(tmp_path, group.format(10))}
    many = {case.digits for case in cases(tmp_path, group.format(50))}
    others = {case.digits for case in cases(tmp_path, group.format(50), seed=1)}

    assert len(few) == 10
    assert len(many) == 50
    assert few < many
    assert len(many & others) < 10


def test_a_twin_differs_in_nothing_but_the_fault(tmp_path: Path) -> None:
    """A twin is accepted, and has all the keys that it does not override."""
    group = """\
    data: {shape: [6, 4], element_type: u8, fill: bits}
    axis: {element_type: i32, values: -2}
    split_lengths: {element_type: i8, values: [-1, -1, 2]}
    binding: {axis: parameter}
    expect: {reject: lengths.single-remainder}
    twin: {split_lengths: {values: [-1, 2, 2]}}
"""
    found = {case.is_twin: case for case in cases(tmp_path, group)}
    rejected, twin = found[False], found[True]

    assert {**twin.tensors, "split_lengths": None} == {**rejected.tensors, "split_lengths": None}
    assert twin.tensors["split_lengths"].element_type == "i8"
    assert twin.binding == rejected.binding
    assert rejected.requirements == ("lengths.single-remainder",)
    assert twin.requirements == ("lengths.single-remainder", "types.independent")  # another reading rejects it


def test_an_id_depends_on_the_content_alone(opconform: Run, tmp_path: Path) -> None:
    """Another title, order, file or seed leaves the digits as they are; another value does not."""
    one = "  - {id: one, title: first, data: {shape: [6]}, axis: 0, num_splits: 2}\n"
    two = "  - {id: two, title: second, profile: extra, data: {shape: [6]}, axis: 0, num_splits: 3}\n"
    (tmp_path / "a.yaml").write_text(f"op: Split-1\ngroups:\n{one}{two}")
    (tmp_path / "b.yaml").write_text(f"op: Split-1\ngroups:\n{two.replace('second', 'changed')}{one}")

    def ids(name: str) -> list[str]:
        listed = json.loads(opconform("list", name, "--cases", "--json", cwd=tmp_path).stdout)
        return sorted(x["id"] for x in listed)

    assert ids("a.yaml") == ids("b.yaml")
    assert len(set(ids("a.yaml"))) == 2


def test_two_groups_with_the_same_case_are_reported(opconform: Run, tmp_path: Path) -> None:
    """The second of them is named with its place."""
    case = "data: {shape: [6]}, axis: 0, num_splits: 2}\n"
    (tmp_path / "a.yaml").write_text(
        f"op: Split-1\ngroups:\n  - {{id: a, title: t, {case}  - {{id: b, title: t, {case}"
    )
    done = opconform("generate", "a.yaml", "--out", "suite", cwd=tmp_path)

    assert "warning: a.yaml:4:5: group 'b' expands to the same case as group 'a' at a.yaml:3:5" in done.stderr


@pytest.mark.parametrize(
    "text",
    [
        "[0] * 10**9",
        "'a' * 10**9",
        "10 ** (10 ** 10)",
        "range(10**12)",
        "repeat(0, 10**9)",
        "'%99999999d' % 1",
        "x.y.z",
        "''.join",
        "().__class__",
        "self",
        "[[self]]",
        "cycler",
        "lipsum()",
        "1/0",
        "{}[1]",
        "divisors(10**15)",
    ],
)
def test_no_expression_takes_long_or_reaches_out(text: str) -> None:
    """The sandbox refuses what would take memory or time, and knows no names but its own."""
    with pytest.raises(ExpressionError):
        compiled(text).value({}, Meter())


@given(st.lists(st.integers(0, 50), max_size=6), st.data())
def test_insert_and_replace_do_as_their_names_say(items: list[int], data: st.DataObject) -> None:
    """`insert` makes the list longer by one, and `replace` leaves its length."""
    index = data.draw(st.integers(0, len(items)))
    inserted = compiled("insert(items, index, 99)").value({"items": items, "index": index}, Meter())
    back = compiled("replace(items, index, 0)").value({"items": inserted, "index": index}, Meter())

    assert inserted == [*items[:index], 99, *items[index:]]
    assert back == [*items[:index], 0, *items[index:]]


def test_a_limit_can_be_raised(opconform: Run, tmp_path: Path) -> None:
    """A size over a limit is reported with the option that raises it."""
    (tmp_path / "a.yaml").write_text(
        "op: Split-1\ngroups:\n  - {id: a, title: t, data: {shape: [100]}, axis: 0, num_splits: 2}\n"
    )
    done = opconform("generate", "a.yaml", "--out", "suite", "--max-elements", "99", cwd=tmp_path, code=2)
    opconform("generate", "a.yaml", "--out", "suite", "--max-elements", "100", cwd=tmp_path)

    assert "raise the limit with --max-elements" in done.stderr


def test_too_many_cases_are_refused(tmp_path: Path) -> None:
    """A matrix over the limit is refused before it is expanded."""
    group = "    matrix: {a: '${{ range(1000) }}', b: '${{ range(1000) }}'}\n    data: {shape: [1]}\n"
    with pytest.raises(SpecMistakes, match="1,000,000 combinations, over the limit of 100,000"):
        cases(tmp_path, group)


DECIDED = """\
    requirements: [outputs.order]
    matrix:
      lengths: {}
    data: {{shape: [4]}}
    axis: 0
    split_lengths: ${{{{ lengths }}}}
    expect: semantics
    twin: {{split_lengths: [1, 3]}}
"""


def test_the_semantics_decide_what_is_expected(tmp_path: Path) -> None:
    """A violation of one requirement is rejected for it, and what violates several is left out."""
    found = cases(tmp_path, DECIDED.format("[[2, 2], [2, 3], [-2, 6], [-2, 5]]"))
    facts = {tuple(hit.tensors["split_lengths"].elements): (hit.rejected_for, hit.requirements) for hit in found}

    assert facts == {
        (2, 2): (None, ("outputs.order",)),
        (2, 3): ("lengths.sum", ("lengths.sum",)),
        (-2, 6): ("lengths.negative", ("lengths.negative",)),
        (1, 3): (None, ("outputs.order",)),
    }


def test_a_twin_is_the_same_case_where_it_is_a_combination_too(tmp_path: Path) -> None:
    """Whichever comes first: it is evidence for the requirements of the group, not for the one that is violated."""
    first, last = (cases(tmp_path, DECIDED.format(name)) for name in ("[[1, 3], [2, 3]]", "[[2, 3], [1, 3]]"))

    assert len(first) == len(last) == 2
    assert {(x.id, x.requirements) for x in first} == {(x.id, x.requirements) for x in last}


def test_lists_are_every_list_of_some_values() -> None:
    """From the shortest to the longest."""
    assert compiled("lists([0, 1], 0, 2)").value({}, Meter()) == [[], [0], [1], [0, 0], [0, 1], [1, 0], [1, 1]]


@pytest.mark.parametrize("text", ["lists(range(10), 0, 6)", "lists([1], 0, 10**9)"])
def test_too_many_lists_are_refused(text: str) -> None:
    """Before any of them is made."""
    with pytest.raises(ExpressionError, match="lists of more than 100,000 values are over the limit"):
        compiled(text).value({}, Meter())
