"""The accuracy level of each operation, from results and from the tallies of a streamed run."""

from dataclasses import replace
from typing import Any

from opconform_runners.findings.accuracy import Accuracy, accuracy_of, accuracy_sentences
from opconform_runners.verdicts.comparison import Mismatch
from opconform_runners.verdicts.results import Result, tally_kind_of
from opconform_runners.verdicts.tally import Tally
from opconform_runners.verdicts.verdict import VerdictName


def result(op: str, number: int, verdict: VerdictName = "pass", **fields: Any) -> Result:
    """A result of an operation."""
    return Result(
        id=f"{op}/group/{number:010x}",
        profile="core",
        expect="accept",
        verdict=verdict,
        **({"rounded": "f32"} | fields),
    )


def test_the_largest_error_decides_the_level() -> None:
    """An operation whose results are all the nearest numbers is correctly rounded, even if its bounds allow more."""
    results = [
        *(result("Exp-1", number, error=error) for number, error in enumerate((0.0, 0.25, 0.5))),
        result("Tanh-1", 0, error=0.0),
        result("Split-1", 0),
    ]
    accuracy = accuracy_of(results, [])

    assert accuracy == {
        "Exp-1": {"f32": Accuracy(level="bounded", error=0.5)},
        "Tanh-1": {"f32": Accuracy(level="correctly-rounded", error=0.0)},
    }
    assert [*accuracy_sentences(accuracy, "bounded")] == [
        "Accuracy level bounded asked for",
        "Accuracy level correctly-rounded met by 1 operation: Tanh-1",
        "Accuracy level bounded met by 1 operation: Exp-1 (0.5)",
    ]


def test_one_wrong_result_leaves_no_level() -> None:
    """A number outside its bounds is less accurate, and one outside the reduced ones wrong; a crash says nothing."""
    results = [
        *(result(op, 0, error=0.5) for op in ("Exp-1", "Tanh-1", "Erf-1")),
        result("Exp-1", 1, "fail", reason="rounding"),
        result("Tanh-1", 1, "fail", reason="value"),
        result("Erf-1", 1, "fail", reason="crash"),
        result("Log-1", 1, "fail", reason="rounding"),
    ]
    levels = {op: accuracies["f32"].level for op, accuracies in accuracy_of(results, []).items()}

    assert levels == {"Exp-1": "reduced", "Tanh-1": "none", "Erf-1": "bounded", "Log-1": "reduced"}


def test_a_wrong_result_counts_if_no_other_is_right_or_it_is_right_the_second_time() -> None:
    """The level is that of all results, whatever the others are."""
    wrong = Mismatch(reason="value", sentence="wrong", feed=0)
    results = [
        result("Exp-1", 0, "fail", reason="value"),
        result("Tanh-1", 0, error=0.0),
        result("Tanh-1", 1, "fail", reason="nondeterministic", mismatch=wrong),
        result("Erf-1", 0, error=0.0),
        result("Erf-1", 1, "fail", reason="nondeterministic", mismatch=replace(wrong, reason="rounding")),
    ]
    levels = {op: accuracies["f32"].level for op, accuracies in accuracy_of(results, []).items()}

    assert levels == {"Erf-1": "reduced", "Exp-1": "none", "Tanh-1": "none"}


def test_each_element_type_has_its_level() -> None:
    """Kernels of f16 and f32 are different programs; only where they differ, sentences name the types."""
    results = [
        result("Exp-1", 0, error=0.5),
        result("Exp-1", 1, "fail", reason="rounding", rounded="f16"),
        result("Exp-1", 2, error=0.0, rounded="f64"),
        result("Tanh-1", 0, error=0.25),
        result("Tanh-1", 1, error=0.125, rounded="f64"),
        result("Tanh-1", 2, "fail", reason="value", rounded="f16"),
        result("Tanh-1", 3, error=0.0, rounded="f16"),
    ]

    assert [*accuracy_sentences(accuracy_of(results, []), "reduced")] == [
        "Accuracy level correctly-rounded met by 1 operation: Exp-1 (f64)",
        "Accuracy level bounded met by 2 operations: Exp-1 (f32, 0.5), Tanh-1 (f32, f64, 0.25)",
        "Accuracy level reduced met by 1 operation: Exp-1 (f16)",
        "No accuracy level met by 1 operation: Tanh-1 (f16)",
    ]


def test_cases_that_are_only_counted_have_a_level() -> None:
    """The tallies of a streamed run keep the level of the cases that they count, and not the errors."""
    counted = [result("Exp-1", 0, error=0.0), result("Exp-1", 1, error=0.25), result("Tanh-1", 0, error=0.0)]
    tallies = [Tally(kind=tally_kind_of(item), cases=1) for item in counted]

    assert accuracy_of([], tallies) == {
        "Exp-1": {"f32": Accuracy(level="bounded")},
        "Tanh-1": {"f32": Accuracy(level="correctly-rounded")},
    }
