"""What PyTorch computes in f64, and then rounds once, is within the bounds of narrower types."""

from pathlib import Path

import pytest

from tests.model.test_double_precision import check_double_precision

#: What PyTorch does otherwise in every type: sums of no products have another shape, and no order is any order.
OTHERWISE = ("Convolution-1/no-elements/8445b2a9c1", "TopK-11/no-order/5964898fbb")


@pytest.mark.ci_only
def test_results_in_double_precision_are_within_the_bounds(core_suite: Path) -> None:
    """Of every operation that rounds, for the valid cases that PyTorch has a function for."""
    pytest.importorskip("torch")
    from opconform_products.torch.backend import Torch

    check_double_precision(core_suite, Torch(), OTHERWISE)
