"""The scripts that reproduce failures of TensorFlow."""

from opconform_products.tensorflow.repro.scripts import SCRIPT

__all__ = ["SCRIPT"]
