"""The scripts that reproduce failures of JAX."""

from opconform_products.jax.repro.scripts import SCRIPT

__all__ = ["SCRIPT"]
