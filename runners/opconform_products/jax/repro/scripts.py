"""The scripts that reproduce failures of JAX."""

from opconform_products.jax.repro.calls import jax_source
from opconform_runners.tools.repro.script import Script

SCRIPT = Script(
    dialects=(),
    needs=("jax", "numpy"),
    devices=("",),
    template="opconform_products.jax:repro/script.py.j2",
    graph=jax_source,
)
