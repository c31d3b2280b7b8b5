"""What `show` and `list` print."""

import json
from pathlib import Path

from opconform.explanation.case_list import specs_of_case
from opconform.specs.index import shipped_files, shipped_groups
from opconform.specs.loader import load_specs
from tests.conftest import MINIATURES, Run
from tests.result_files import cases_in


def test_show_draws_the_tensor_and_its_chunks(opconform: Run, few_core: Path) -> None:
    """A case is drawn with a line between its chunks."""
    shown = opconform("show", "VariadicSplit-1/page-example-remainder/*", "--suite", few_core).stdout

    assert "axis 0 runs downwards; outputs: output_0: 4, output_1: 2" in shown
    assert "must be accepted, with 2 outputs:" in shown
    assert "output_1: f32[2, 12, 10, 24]" in shown


def test_the_first_digits_of_a_case_are_enough(opconform: Run) -> None:
    """With its group."""
    whole = opconform("show", "Slice-8/second-invalid/dfbb93918d").stdout

    assert opconform("show", "Slice-8/second-invalid/dfbb").stdout == whole


def test_show_has_what_changes_in_a_second_inference(opconform: Run) -> None:
    """The violation may be there alone."""
    shown = opconform("show", "Slice-8/second-invalid/dfbb93918d").stdout

    assert "\n  inference 2 on the same model, changed inputs:\n    axes: i64[1] = [4294967296]\n\n" in shown
    assert "must be rejected in inference 2: it violates axes.range" in shown


def test_show_says_what_a_rejected_case_violates(opconform: Run, few_core: Path) -> None:
    """So that a reader need not open a file."""
    rejected = opconform("list", few_core, "--select", "lengths.required", "--cases", "--json").stdout
    [case] = [load for load in json.loads(rejected) if load["expect"] != "accept"]
    shown = opconform("show", case["id"], "--suite", few_core)

    assert "must be rejected: it violates lengths.required" in shown.stdout
    assert f"its twin, which must be accepted: {case['twin']}" in shown.stdout


def test_show_has_what_a_backend_returned(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """Expected and returned elements, with the differences marked, and the likely cause."""
    ran = opconform("run", small_suite, "-b", f"{MINIATURES}:LosesNegativeZero", "-o", tmp_path / "out", code=1)
    results = cases_in(tmp_path / "out")
    failed = next(result["id"] for result in results if result["verdict"] == "fail")
    passed = next(result["id"] for result in results if result["verdict"] == "pass")
    show = ("--suite", small_suite)
    shown = opconform("show", failed, tmp_path / "out", *show).stdout.splitlines()
    marked = [[text for text in x.split() if text.startswith("*")] for x in shown if "differs" not in x]

    assert "  cause    Negative zero became positive zero (likely)\n" in ran.stdout
    assert any(x.startswith("  breaks data.bits: ") for x in shown)
    assert any(x.startswith("  likely cause: ") for x in shown)
    assert any(" should equal data[" in x for x in shown)
    assert [x for x in marked if x] == [["*-0"], ["*0"]]
    assert ": pass\n" in opconform("show", passed, tmp_path / "out", *show).stdout
    refused = opconform("show", failed, tmp_path / "out", "--json", code=2).stderr
    assert refused.startswith("error: --json prints case.json. The result of the case is in results.jsonl in ")
    opconform("run", small_suite, "-b", "numpy", "-k", passed, "-o", tmp_path / "one")
    assert f"The run has no result of {failed}." in opconform("show", failed, tmp_path / "one", *show, code=2).stderr


def test_show_says_that_it_did_not_find_the_suite_of_a_run(opconform: Run, tmp_path: Path) -> None:
    """Without it, nothing is known about the returned outputs."""
    failed = "VariadicSplit-1/remainder-over/17a2d48cd0"
    opconform("generate", "VariadicSplit-1", "-k", failed, "-o", tmp_path / "elsewhere" / "s", "-j", "1")
    backend = f"{MINIATURES}:AcceptsEverything"
    opconform("run", tmp_path / "elsewhere" / "s", "-b", backend, "-o", tmp_path / "out", code=1)
    (tmp_path / "elsewhere").rename(tmp_path / "moved")

    assert opconform("show", failed, tmp_path / "out").stdout.endswith(
        "\n\n  The suite of the run was not found, so the returned outputs are not shown. Name it with --suite.\n"
    )


def test_list_prints_a_line_per_group_or_per_case(opconform: Run, small_suite: Path, small_spec: Path) -> None:
    """From a suite and from its spec."""
    for source in (small_suite, small_spec):
        assert opconform("list", source).stdout == (
            "VariadicSplit-1/accepted     4  accepted: valid cases\n"
            "VariadicSplit-1/rejected     2  1 accepted, 1 rejected for lengths.single-remainder: at most one -1\n"
        )
        assert opconform("list", source, "--cases", "-k", "lengths.single-remainder").stdout.splitlines()[-1] == (
            "VariadicSplit-1/rejected/edf4e822b0  rejected for lengths.single-remainder: "
            "data f32[6, 4], axis 0, split_lengths [-1, -1, 2]"
        )
        [first, _] = json.loads(opconform("list", source, "--json").stdout)
        assert first == {
            "id": "VariadicSplit-1/accepted",
            "profile": "core",
            "title": "valid cases",
            "cases": 4,
            "expect": {"accepted": 4},
        }


def test_a_case_is_found_without_the_other_specs() -> None:
    """The ids of groups are read from the text of the shipped specs."""
    groups = sorted(group.full_name for spec in load_specs([]) for group in spec.groups)

    assert {*groups} <= {*shipped_groups()}
    for item in groups[::100]:
        assert [one.full_name for spec in specs_of_case(f"{item}/*") for one in spec.groups] == [item]


def test_a_name_of_no_group_loads_no_spec() -> None:
    """Unless it is digits, or a pattern that may match any group but those that are too large to expand."""
    every = len(
        [shipped_file for shipped_file in shipped_files().values() if shipped_file.stem not in ("exhaustive", "pairs")]
    )

    assert specs_of_case("axis.range") == []
    assert [[one.full_name for one in spec.groups] for spec in specs_of_case("Split-1/page-example")] == [
        ["Split-1/page-example"]
    ]
    assert len(specs_of_case("0a1")) == len(specs_of_case("Split-1*0a1")) == every
