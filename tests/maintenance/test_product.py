"""How a product's release is renewed: failing cases get the numbers of the findings that explain them."""

from pathlib import Path

import pytest
import yaml
from maintenance import ROOT
from maintenance.findings import FILES, products, run_beside
from maintenance.product import Runs, classed, is_gone, known_run, main, newest, product_text, run_text, unclassed

from opconform_runners.findings.known.release import KnownFailure, KnownFinding, read_known_run
from tests.findings.test_known import case, report, result

KNOWN = (
    KnownFinding(number=7, requirement=("axis.range",), case=case(1), observed=f"wrong, as `{case(2)}` shows"),
    KnownFinding(number=8, requirement=("data.bits",), case=case(5), observed="lost bits"),
    KnownFinding(number=9, requirement=("data.bits",), case=case(6), observed="a crash", state="not reported"),
)


def test_a_finding_explains_the_cases_that_it_names_and_those_that_fail_alike() -> None:
    """A run joins these by operation, requirement and symptom."""
    runs = Runs(reports=[report(result(1, "value"), result(2, "crash"), result(3, "value"))])

    assert classed(runs, KNOWN) == {case(1): (7,), case(2): (7,), case(3): (7,)}


def test_another_failure_gets_the_nearest_finding_of_its_operation() -> None:
    """One that breaks the requirement for the same reason, or else for another one; of two, both."""
    both = Runs(
        reports=[
            report(result(5, "value", "data.bits"), result(6, "crash", "data.bits"), result(4, "crash", "data.bits"))
        ]
    )
    neither = Runs(reports=[report(result(4, "crash", "data.bits"))])
    other = Runs(reports=[report(result(4, "crash", "data.rank"))])

    assert classed(both, KNOWN)[case(4)] == (9,)
    assert classed(neither, KNOWN)[case(4)] == (8, 9)
    assert classed(other, KNOWN)[case(4)] == ()
    assert [*unclassed(other, classed(other, KNOWN))] == [
        f"Split-1 data.rank: crash, 1 case: {case(4)}: crash of data.rank"
    ]


def test_the_file_has_the_ends_of_all_runs(tmp_path: Path) -> None:
    """A memory fault may also end in another way, or pass."""
    runs = Runs(
        reports=[
            report(result(1, "value"), result(6, "value", "data.bits")),
            report(result(1), result(6, "value", "data.bits")),
        ]
    )

    made = known_run(runs, classed(runs, KNOWN), KNOWN)
    (tmp_path / "some-1.0.json").write_text(run_text(made))

    assert read_known_run(tmp_path / "some-1.0.json") == made
    assert made.operations == {"Split-1": {"fail": 2}}
    assert made.failures == {
        case(1): KnownFailure(ends=("value", "pass"), broken=("axis.range",), findings=(7,)),
        case(6): KnownFailure(
            ends=("value", "nondeterministic", "crash", "pass"), broken=("data.bits",), findings=(9,)
        ),
    }


def test_findings_that_are_gone_leave_the_file_of_another_version() -> None:
    """The others, and the texts of people, stay as they are."""
    runs = Runs(reports=[report(result(1), result(5, "value", "data.bits"))])
    numbers = classed(runs, KNOWN)
    text = (
        "product: Some\nrelease: 1.0\nfindings:\n  - number: 7\n    case: a\n  - number: 8\n    observed: >-\n      b\n"
    )

    assert [x.number for x in KNOWN if is_gone(x, runs, numbers)] == [7]
    assert (
        product_text(text, "2.0", {7})
        == "product: Some\nrelease: 2.0\nfindings:\n  - number: 8\n    observed: >-\n      b\n"
    )


@pytest.mark.parametrize("name", FILES)
def test_the_known_failures_of_a_product_belong_to_its_findings(name: str) -> None:
    """They are those of this version of the suite; a finding explains its own case."""
    run, product = run_beside(FILES[name]), products()[name]
    assert run is not None
    numbers = {finding.number for finding in product.findings}
    for failing, failure in run.failures.items():
        assert {*failure.findings} <= numbers, failing
    for finding in product.findings:
        if finding.case in run.failures:
            assert finding.number in run.failures[finding.case].findings
    assert run.version.startswith(product.release.partition(" ")[0])


def test_a_run_that_has_not_ended_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its results are complete before its findings are, and these join failures."""
    monkeypatch.setattr("sys.argv", ["product", "iree", "--results", str(tmp_path)])

    with pytest.raises(SystemExit, match=r"has no report\.json, .* Wait until the run has ended\."):
        main()


def test_a_job_runs_the_core_on_each_product() -> None:
    """On every backend with findings, against what is known of it; `torch:inductor` has findings of a sample alone."""
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "products.yml").read_text())
    matrix = workflow["jobs"]["product"]["strategy"]["matrix"]

    assert sorted(matrix["product"]) == sorted({x.backend for x in products().values()} - {"torch:inductor"})
    assert {row["product"] for row in matrix["include"]} <= {*matrix["product"]}


def test_the_newest_release_is_renewed() -> None:
    """By its version, and not that of another backend whose name begins alike."""
    assert newest("openvino").stem.removeprefix("openvino-")[0].isdigit()
    with pytest.raises(SystemExit, match="nothing has no findings"):
        newest("nothing")
