"""Tasks that are executed elsewhere."""

import os
import pickle
from pathlib import Path

import pytest

from opconform.errors import ClusterError, DiskError
from opconform.system import tasks


def test_a_worker_of_another_version_is_refused() -> None:
    """Its results would not be those of this one."""
    with pytest.raises(ClusterError, match=r"A worker has opconform .* instead of 0\.0\.9\. Install 0\.0\.9 there\."):
        tasks.call("0.0.9", abs, 1)


def test_a_full_disk_of_a_worker_is_reported() -> None:
    """An error goes from one process to another as pickled bytes."""
    fault = DiskError(Path("out"), OSError(28, os.strerror(28)))

    assert str(pickle.loads(pickle.dumps(fault))) == str(fault)  # noqa: S301 - just written
