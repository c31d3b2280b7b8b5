"""The scripts that reproduce failures of PyTorch."""

from opconform_products.torch.repro.scripts import SCRIPT

__all__ = ["SCRIPT"]
