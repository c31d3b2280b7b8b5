"""OpenVINO executes models that are joined from several cases."""

from pathlib import Path

import pytest

from opconform_runners.harness.registry import load
from tests.products.joined_models import check_joined_models


@pytest.mark.parametrize("name", ["openvino", "openvino-onnx"])
@pytest.mark.parametrize("feeds", [1, 2])
def test_every_case_of_a_pack_has_its_outputs(tmp_path: Path, name: str, feeds: int) -> None:
    """And several cases are in a pack."""
    backend = load(name)
    check_joined_models(tmp_path, backend, feeds)

    assert backend.describe().packs == 64
