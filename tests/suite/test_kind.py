"""The error for a path of another kind than the wanted one."""

import zipfile
from pathlib import Path

import pytest

from opconform.errors import MissingError
from opconform.suite.kind import Kind, check_kind
from opconform.suite.reader import open_suite
from opconform_runners.execution.log.record import open_record
from opconform_runners.reports.report_file import read_report
from opconform_runners.verdicts.baseline import read_baseline


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One path of each kind."""
    monkeypatch.chdir(tmp_path)
    for name in (
        "suite/suite.json",
        "alone/out/results.jsonl",
        "certified/results.jsonl",
        "certified/suite/suite.json",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for name in ("spec.yaml", "known.txt", "certificate.json"):
        (tmp_path / name).touch()
    for name, member in (("suite.zip", "suite.json"), ("record.zip", "outcomes.jsonl")):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr(member, "{}")


RUN = "Use `opconform run {} BACKEND`."
CERTIFY = "Use `opconform certify spec.yaml BACKEND`, or first `opconform generate spec.yaml --out suite`."
BASELINE = "`opconform run SUITE BACKEND --baseline FILE --update-baseline` writes one."
JUDGE = "`opconform certificate judge record.zip --suite SUITE` judges it."
RECORD = "`opconform run SUITE BACKEND --record FILE.zip` writes one."


@pytest.mark.parametrize(
    ("path", "wanted", "sentence"),
    [
        ("alone/out", "suite", "alone/out is a results folder, not a suite. Name the suite that was run."),
        ("certified", "suite", "certified is a results folder, not a suite. Its suite is certified/suite."),
        ("certified/results.jsonl", "spec", "certified is a results folder, not a spec. Its suite is certified/suite."),
        ("spec.yaml", "suite", f"spec.yaml is a spec, not a suite. {CERTIFY}"),
        ("spec.yaml", "results", f"spec.yaml is a spec, not a results folder. {CERTIFY}"),
        ("suite", "results", f"suite is a suite, not a results folder. {RUN.format('suite')}"),
        ("suite.zip", "spec", f"suite.zip is a suite, not a spec. {RUN.format('suite.zip')}"),
        ("suite", "baseline", f"suite is a suite, not a baseline. {BASELINE}"),
        ("suite.zip", "record", f"suite.zip is a suite, not a record of outputs. {RECORD}"),
        ("record.zip", "suite", f"record.zip is a record of outputs, not a suite. {JUDGE}"),
        ("suite/suite.json", "suite", "suite/suite.json is a file of a suite. Name the suite: suite."),
        ("known.txt", "results", "known.txt is not a results folder. Name the folder that `run` or `certify` wrote."),
        ("certificate.json", "baseline", f"certificate.json is a certificate, not a baseline. {BASELINE}"),
    ],
)
def test_another_kind_is_named_with_what_to_do(path: str, wanted: Kind, sentence: str) -> None:
    """The error is one of a wrong command."""
    with pytest.raises(MissingError) as error:
        check_kind(Path(path), wanted)

    assert str(error.value) == sentence
    assert error.value.exit_code == 2


@pytest.mark.parametrize(
    ("path", "wanted"),
    [("suite", "suite"), ("certified", "results"), (".", "spec"), ("nowhere", "suite"), ("record.zip", "record")],
)
def test_the_wanted_kind_and_an_unknown_one_pass(path: str, wanted: Kind) -> None:
    """Their reader says what is wrong with them."""
    check_kind(Path(path), wanted)


def test_every_reader_names_the_kind() -> None:
    """Each is given what another one reads."""
    for read, path in (
        (open_suite, "certified"),
        (read_report, "suite"),
        (read_baseline, "suite"),
        (open_record, "."),
    ):
        with pytest.raises(MissingError, match=r"is a .*, not a "):
            read(Path(path))
