"""Hostile specs: each ends `generate` with 2, in a few seconds, and with a short message that names the file."""

import multiprocessing
import os
import resource
import sys
from pathlib import Path

import pytest

from opconform_runners.cli.main import main
from tests.robustness import attempts, seeded
from tests.robustness.hostile_specs import SPECS

#: The seconds of processor time, the bytes of memory and the bytes of a message that a spec may take.
SECONDS, MEMORY, MESSAGE = 4, 4 << 30, 8_000
#: How many of the specs are tried without `OPCONFORM_ATTEMPTS`.
COUNT = 80
TRIED = sorted(seeded("specs").sample(sorted(SPECS), min(attempts(COUNT), len(SPECS))))


def generate(folder: Path) -> None:
    """Run `opconform generate` here, with all that it prints in a file, and end with its exit code."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.chdir(folder)
    with Path("message").open("wb") as message:
        os.dup2(message.fileno(), sys.stdout.fileno())
        os.dup2(message.fileno(), sys.stderr.fileno())
    sys.stdout = sys.stderr = os.fdopen(1, "w")
    sys.argv = ["opconform", "generate", "spec.yaml", "--out", "suite", "--jobs", "1"]
    main()


@pytest.mark.ci_only
@pytest.mark.parametrize("name", TRIED)
def test_a_hostile_spec_is_refused(tmp_path: Path, name: str) -> None:
    """In a forked process, so that it may use up its time or its memory."""
    content = SPECS[name]
    (tmp_path / "spec.yaml").write_bytes(content if isinstance(content, bytes) else content.encode())
    process = multiprocessing.get_context("fork").Process(target=generate, args=(tmp_path,))
    process.start()
    process.join()
    message = (tmp_path / "message").read_text(errors="replace")

    assert process.exitcode == 2, message[:300]
    assert message.startswith("error: spec.yaml:")
    assert "Traceback" not in message
    assert len(message.encode()) <= MESSAGE
