"""What tests of several products need."""

import pytest

from opconform.suite.reader import Suite
from tests.conftest import Run
from tests.device_suite import device_suite


@pytest.fixture(scope="module")
def suite(opconform: Run, tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """Four cases: three accepted, one of them folded, and one rejected."""
    return device_suite(opconform, tmp_path_factory.mktemp("devices"))
