"""Documents in JSON that are nested deeper than Python reads: each is refused in a sentence."""

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from opconform.errors import CertificateError, SuiteError, UsageError
from opconform.suite import installed
from opconform.system.files import json_of
from opconform_runners.certificates.certificate import envelope_of
from opconform_runners.reports.history import interval_in, repeats_in
from opconform_runners.tools.export.folder import check_place

DEEP = "[" * 200_000
NESTED = '{"as": ' + DEEP + "]" * 200_000 + "}"


@pytest.mark.parametrize("text", [DEEP, NESTED, NESTED.encode(), "{", b"\xff", "9" * 5_000])
def test_no_text_ends_a_reader_with_another_error(text: str | bytes) -> None:
    """What is no document is a `ValueError`."""
    with pytest.raises(ValueError):  # noqa: PT011 - each reader has a sentence of its own
        json_of(text)


@pytest.mark.parametrize("text", [DEEP, NESTED])
def test_each_document_that_is_nested_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """As one that is damaged in another way."""
    for name in ("history.json", "export.json", "certificate.json", "release.json"):
        (tmp_path / name).write_text(text)

    with pytest.raises(UsageError, match="missing or not a history of numpy"):
        interval_in(tmp_path, "numpy", "x")
    assert repeats_in(tmp_path / "history.json", "x") == {}
    with pytest.raises(UsageError, match="is not replaced: opconform did not export"):
        check_place(tmp_path, "numpy", force=True)
    with pytest.raises(CertificateError, match=r"is not a certificate|has .* bytes"):
        envelope_of(tmp_path / "certificate.json")
    point = EntryPoint(name="opconform-suite", value=str(tmp_path), group=installed.GROUP)
    monkeypatch.setattr(installed, "entry_points", lambda **_: [point])
    with pytest.raises(SuiteError, match=r"release\.json is missing or was changed"):
        installed.place_of("opconform-suite")
