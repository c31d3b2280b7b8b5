"""The scripts that `repro` writes for JAX: they end as the backend did, and make its calls."""

from pathlib import Path

import pytest

from tests.conftest import Run
from tests.products.frameworks.checks import checked_scripts

#: Cases, and how their scripts end: right, a wrong value, an invalid case, a valid one that is refused, a narrow type,
#: and a quotient of two tensors.
ENDS = {
    "Split-1/axis-values/7fa7c31192": 0,
    "Clamp-1/zeros/6650201671": 1,
    "Concat-1/other-element-type/513b627e32": 1,
    "ExtractImagePatches-3/without-elements/2bcc8564c3": 1,
    "ExtractImagePatches-3/element-types/5019582dc0": 1,
    "AvgPool-14/large-numbers/6a20c263ac": 1,
}


@pytest.mark.ci_only
@pytest.mark.timeout(600)
def test_a_script_ends_as_the_backend_did(opconform: Run, tmp_path: Path) -> None:
    """With the calls of the backend in one compiled function, and settings as Python's own; also for a graph."""
    scripts = checked_scripts(opconform, tmp_path, "jax", ENDS)
    split, graph = scripts["Split-1/axis-values/7fa7c31192"], scripts["graph"]

    assert (
        "@jax.jit\ndef model(data):\n    split = jnp.split(data, 2, axis=-3)\n    return [split[0], split[1]]" in split
    )
    assert "\naxis = " not in split
    assert "    multiply = jnp.multiply(x, " in graph
