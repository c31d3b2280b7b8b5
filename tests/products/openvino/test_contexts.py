"""Contexts on OpenVINO."""

from pathlib import Path

import pytest

from opconform_products.openvino.backend import OpenVINO
from tests.backends.test_contexts import CUTS, check_contexts


@pytest.mark.parametrize(("op", "attribute"), CUTS)
def test_a_context_is_the_same_graph_to_openvino(tmp_path: Path, op: str, attribute: str) -> None:
    """It loads the rendered model, and gives the golden outputs."""
    check_contexts(tmp_path, op, attribute, OpenVINO())
