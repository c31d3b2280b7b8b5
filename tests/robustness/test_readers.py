"""Readers of files and replies from outside: whatever is changed in a right document, they refuse it or read it."""

from pathlib import Path

import pytest

from opconform.errors import OpconformError
from opconform_runners.harness.protocol import ProtocolError
from tests.conftest import Run
from tests.robustness import attempts, seeded
from tests.robustness.commands import Commands, relinked, sealed, with_footer
from tests.robustness.readers import Reader, readers_of

#: How many changes each reader is tried with.
FAST, COUNT = 2, 30


@pytest.fixture(scope="module")
def readers(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Reader]:
    """Every reader, with documents that were written by right commands."""
    return dict(readers_of(tmp_path_factory.mktemp("readers"), opconform))


def test_right_documents_are_read(readers: dict[str, Reader]) -> None:
    """What was not changed is read without an error, so that the next test tests something."""
    refused = []
    for name, reader in readers.items():
        assert reader.documents, name
        refused += [name for document in reader.documents if reader.read(document) in (2, 3)]

    assert refused == []


def test_right_documents_are_sealed_as_they_are(opconform: Run, tmp_path: Path) -> None:
    """Otherwise each change under a new seal would be refused for its seal, and nothing else would be tested."""
    commands = Commands(tmp_path, opconform)
    results, log = commands.content("failing/results.jsonl"), commands.content("failing/outcomes.jsonl")

    assert with_footer(results) == results
    assert relinked(log) == log
    assert sealed(commands.content("suite/suite.json")) == commands.content("suite/suite.json")


@pytest.mark.parametrize("count", [FAST, pytest.param(COUNT, marks=[pytest.mark.ci_only, pytest.mark.timeout(3_600)])])
def test_a_changed_document_is_read_or_refused(readers: dict[str, Reader], count: int) -> None:
    """A change by structure or by bytes ends in a documented error or in none, never in another one."""
    for name, reader in readers.items():
        for number in range(attempts(count)):
            document = reader.changed(seeded(f"{name} {number}"))
            try:
                reader.read(document)
            except (OpconformError, ProtocolError):
                continue
            except BaseException as error:
                error.add_note(f"{name}, change {number}")
                raise
