"""The names of cases in pytest, and which cases become tests."""

import pytest

from opconform.errors import UsageError
from opconform.suite.reader import Suite, open_suite
from opconform.suite.selection.selection import Selection
from opconform_runners.pytest_plugin.case_selection import absent_sentence, selected_entries
from opconform_runners.pytest_plugin.names import case_pattern, names_of
from tests.conftest import Run

SPECS = {
    "Concat-1": """\
op: Concat-1
groups:
  - id: contexts
    title: contexts
    requirements: [outputs.order]
    matrix: {element_type: [f32, i8], context: [bare, repeated]}
    inputs: [{shape: [2, 3], element_type: "${{ element_type }}"}, {shape: [2, 3], element_type: "${{ element_type }}"}]
    axis: 0
    context: ${{ context }}
""",
    "Split-1": """\
op: Split-1
groups:
  - id: shapes
    title: data that differs in its shape, or only in its values
    requirements: [outputs.order]
    matrix: {given: [{shape: [4], fill: ramp}, {shape: [4, 2], fill: ramp}, {shape: [4, 2], fill: special}]}
    data: ${{ given }}
    axis: 0
    num_splits: 2
""",
}


@pytest.fixture(scope="module")
def suite(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """Four cases of Concat-1 and three of Split-1."""
    folder = tmp_path_factory.mktemp("names")
    for op, text in SPECS.items():
        (folder / f"{op}.yaml").write_text(text)
    opconform("generate", *(folder / f"{op}.yaml" for op in SPECS), "--out", folder / "suite", "--jobs", "1")
    return open_suite(folder / "suite")


def test_a_name_says_what_distinguishes_the_case(suite: Suite) -> None:
    """Shapes only where needed, and the digits of the id only where nothing else differs."""
    names = names_of(suite, suite.entries)
    alike = [name for name in names if names[name].endswith(f"{name[-10:]}]")]

    assert {name for key, name in names.items() if key not in alike} == {
        "Concat-1/contexts[f32-axis0]",
        "Concat-1/contexts[f32-axis0-repeated]",
        "Concat-1/contexts[i8-axis0]",
        "Concat-1/contexts[i8-axis0-repeated]",
        "Split-1/shapes[f32-axis0-num_splits2-4-scalar]",
    }
    assert [names[x] for x in alike] == [f"Split-1/shapes[f32-axis0-num_splits2-{x[-10:]}]" for x in alike]
    assert len(alike) == 2


def test_a_name_stands_for_the_id_of_its_case(suite: Suite) -> None:
    """Brackets in any other pattern are those of a shell pattern."""
    names = names_of(suite, suite.entries)

    assert [case_pattern(suite, name) for name in names.values()] == list(names)
    assert case_pattern(suite, "Split-1/shape[a-s]") == "Split-1/shape[a-s]"


def test_cases_of_undeclared_operations_are_left_out(suite: Suite) -> None:
    """They would all be skipped. One sentence says how many they are."""
    own, absent = selected_entries(suite, [Selection()], ("Split-1",))

    assert {x.op for x in own} == {"Split-1"}
    assert absent_sentence(absent, "mine 1") == "4 cases of 1 operation that mine 1 does not declare: Concat-1."
    assert selected_entries(suite, [Selection()], ()) == (list(suite.entries), [])


@pytest.mark.parametrize(
    ("patterns", "operations", "sentence"),
    [
        (("Concat-1",), ("Split-1",), "'Concat-1' selects only cases of operations that the backend does not declare."),
        (("Split-1", "Concat-1"), ("Split-1",), "'Concat-1' selects only cases of operations that "),
        ((), ("Pad-12",), " has no case of a declared operation. Declared: Pad-12."),
        (("Split-1", "Split-1/shpes"), (), " matches 'Split-1/shpes'. Did you mean 'Split-1/shapes'?"),
    ],
)
def test_a_selection_that_leaves_nothing_is_an_error(
    suite: Suite, patterns: tuple[str, ...], operations: tuple[str, ...], sentence: str
) -> None:
    """Otherwise the tests would pass without a test of what was named."""
    with pytest.raises(UsageError) as raised:
        selected_entries(suite, [Selection(profiles=("core",)), Selection(patterns=patterns)], operations)
    assert sentence in str(raised.value)


def test_a_named_case_must_be_among_the_selected_ones(suite: Suite) -> None:
    """The options of a file may select others."""
    with pytest.raises(UsageError, match="matches 'Concat-1/contexts'"):
        selected_entries(suite, [Selection(patterns=("Split-1",)), Selection(patterns=("Concat-1/contexts",))], ())
