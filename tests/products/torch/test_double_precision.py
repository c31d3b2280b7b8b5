"""What PyTorch computes in f64, and then rounds once, is within the bounds of narrower types."""

from pathlib import Path

import pytest

from tests.model.test_double_precision import check_double_precision

#: What PyTorch does otherwise in every type: sums of no products have another shape, no order is any order, the sign of a NaN is
#: 0, a slope of 0 makes a zero of an infinity, and attention to no key is 0.
OTHERWISE = (
    "Convolution-1/no-elements/8445b2a9c1",
    "GroupConvolution-1/no-elements/cd127fa1a0",
    *(f"PReLU-1/special-values/{name}" for name in ("5ec3147e50", "9d505e0783", "f95138e624")),
    *(f"ScaledDotProductAttention-13/masked-rows/{name}" for name in ("45fcf2b6f3", "5e9d8b6872", "f4ad2c0471")),
    *(f"Sign-1/not-a-number/{name}" for name in ("15c59a1b31", "1872d20f99", "b9f68e822c")),
    "TopK-11/no-order/5964898fbb",
)


@pytest.mark.ci_only
def test_results_in_double_precision_are_within_the_bounds(core_suite: Path) -> None:
    """Of every operation that rounds, for the valid cases that PyTorch has a function for."""
    pytest.importorskip("torch")
    from opconform_products.torch.backend import Torch

    check_double_precision(core_suite, Torch(), OTHERWISE)
