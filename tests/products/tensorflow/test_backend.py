"""TensorFlow: what it breaks in `core`, and whose bits come through."""

from pathlib import Path

import pytest

from tests.conftest import Run
from tests.products.frameworks.checks import check_bits, check_findings

pytestmark = pytest.mark.ci_only


@pytest.mark.timeout(1200)
def test_it_breaks_what_its_findings_say(opconform: Run, core_suite: Path, tmp_path: Path) -> None:
    """Every failure is the framework's."""
    check_findings(opconform, core_suite, tmp_path, "tensorflow")


@pytest.mark.timeout(600)
def test_the_bits_of_every_declared_element_type_come_through(opconform: Run, tmp_path: Path) -> None:
    """Of all of them."""
    check_bits(opconform, tmp_path, "tensorflow", {})
