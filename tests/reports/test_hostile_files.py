"""Files of a run that are pipes, devices, folders or huge: every reader refuses them at once, in one sentence."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from benchmarks.robustness.hostile_suites import BLOCKING

from opconform.errors import OpconformError
from opconform_runners.certificates.certificate import read_certificate
from opconform_runners.certificates.keys import read_private, read_public, write_pair
from opconform_runners.execution.outputs_zip import KeptOutputs
from opconform_runners.execution.record import open_record
from opconform_runners.reports.report_file import read_report
from opconform_runners.verdicts.baseline import read_baseline
from opconform_runners.verdicts.results import read_results

READERS: Mapping[str, Callable[[Path], object]] = {
    "results.jsonl": read_results,
    "report.json": lambda path: read_report(path.parent),
    "certificate.json": lambda path: read_certificate(path, read_public(path.with_name("me.pub"))),
    "outputs.zip": lambda path: KeptOutputs(path.parent),
    "record.zip": open_record,
    "baseline.txt": read_baseline,
    "other.key": read_private,
    "other.pub": read_public,
}


@pytest.mark.parametrize("kind", BLOCKING)
@pytest.mark.parametrize("name", READERS)
def test_a_reader_refuses_what_is_not_a_file_of_its_kind(tmp_path: Path, name: str, kind: str) -> None:
    """Nothing blocks, and nothing is read without end."""
    write_pair(tmp_path / "me")
    BLOCKING[kind](tmp_path / name)
    with pytest.raises(OpconformError) as raised:
        READERS[name](tmp_path / name)

    assert len(str(raised.value)) < 500
