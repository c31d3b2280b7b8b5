"""Scripts of frameworks whose calls are recorded, where the framework is not installed."""

import sys
from collections.abc import Callable
from typing import Any

import pytest

from opconform.errors import UsageError
from opconform_products.jax.repro.calls import jax_source
from opconform_products.tensorflow.repro.calls import tensorflow_source


@pytest.mark.parametrize(
    ("module", "source", "title"), [("jax", jax_source, "JAX"), ("tensorflow", tensorflow_source, "TensorFlow")]
)
def test_what_to_install_is_said(
    monkeypatch: pytest.MonkeyPatch, module: str, source: Callable[..., Any], title: str
) -> None:
    """In place of a traceback."""
    monkeypatch.setitem(sys.modules, module, None)

    with pytest.raises(UsageError, match=f"^opconform repro records {title}'s own calls: pip install {module}.$"):
        source(None, {})
