"""Hostile specs: each ends `generate` with 2, in a few seconds, and with a short message that names the file."""

import resource
from pathlib import Path

import pytest

from tests.robustness import attempts, seeded
from tests.robustness.hostile_specs import SPECS
from tests.robustness.processes import run

#: The seconds of processor time, the bytes of memory and the bytes of a message that a spec may take.
SECONDS, MEMORY, MESSAGE = 4, 4 << 30, 8_000
#: How many of the specs are tried without `OPCONFORM_ATTEMPTS`.
COUNT = 60


def limit() -> None:
    """Bound the time and the memory of a process."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


@pytest.mark.ci_only
@pytest.mark.parametrize("name", sorted(seeded("specs").sample(sorted(SPECS), min(attempts(COUNT), len(SPECS)))))
def test_a_hostile_spec_is_refused(tmp_path: Path, name: str) -> None:
    """In a process of its own, so that it may use up its time or its memory."""
    content, path = SPECS[name], tmp_path / "spec.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    done = run("generate", path, "--out", tmp_path / "suite", "--jobs", "1", limit=limit)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {path}:"), done.stderr[:300]
    assert len(done.stderr.encode()) <= MESSAGE + 20 * len(str(path))
