"""Cases whose outputs are compared in each of the three ways, and backends that round them otherwise.

`--backend tests/rounded.py:Near` and the like.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from opconform.suite.declarations import DeclaredCase
from opconform.tensors.tensor import Tensor, patterns
from opconform_runners.backends.backend import Implementation, Inputs, Outputs
from opconform_runners.backends.numpy.backend import Numpy
from tests.conftest import EVERY_DIALECT, Run, made_once

#: Outputs with bounds of each type, in two feeds; outputs whose bits are compared but for NaNs; and moved elements.
SPECS = (
    """\
op: Exp-1
groups:
  - id: bounds
    title: exponentials
    requirements: [values.bounded]
    matrix: {element_type: [f32, bf16, f16, f64]}
    data: {element_type: "${{ element_type }}", values: [[0.5, -2.25, .nan], [1000.0, -1000.0, 0.0]]}
    feed: {data: {element_type: "${{ element_type }}", values: [[1.5, -0.0, 3.0]]}}
    dynamic: ["?", 3]
""",
    """\
op: SoftMax-8
groups:
  - {id: bounds, title: a composite, requirements: [values.bounded], data: {values: [[0.5, 2.25, -1.0]]}, axis: 1}
""",
    """\
op: MatMul-1
groups:
  - id: bounds
    title: a sum that is rounded
    requirements: [values.bounded]
    a: {values: [[16777216.0, 1.0, 0.5]]}
    b: {values: [[1.0], [1.0], [3.0]]}
""",
    """\
op: Add-1
groups:
  - id: numbers
    title: sums
    requirements: [values.rounded]
    matrix: {element_type: [f32, bf16]}
    a: {element_type: "${{ element_type }}", values: [1.5, .nan, -0.0]}
    b: {element_type: "${{ element_type }}", values: [0.25, 1.0, -0.0]}
""",
    """\
op: Concat-1
groups:
  - {id: bits, title: moved, requirements: [inputs.bits], inputs: [{values: [1.5, .nan]}, {values: [-0.0]}], axis: 0}
""",
)


def rounded_suite(opconform: Run, factory: pytest.TempPathFactory, worker: str) -> Path:
    """The suite of the cases, in every dialect."""

    def make(out: Path) -> None:
        for number, spec in enumerate(SPECS):
            (out.parent / f"rounded-{number}.yaml").write_text(spec)
        specs = [out.parent / f"rounded-{number}.yaml" for number in range(len(SPECS))]
        opconform("generate", *specs, *EVERY_DIALECT, "--out", out, "--jobs", "1")

    return made_once(factory, worker, "rounded", make)


def changed(tensor: Tensor, change: str) -> Tensor:
    """The tensor with other floating-point numbers.

    Args:
        tensor: Any tensor; one of another kind is unchanged.
        change: `near` for numbers that are larger by units in the last place, so that half the digits are right; `nan`
            and `inf` for these in place of each number.
    """
    kind = tensor.type
    if kind.kind != "float":
        return tensor
    bits, is_number = patterns(tensor.array), np.isfinite(tensor.array.view(kind.arithmetic))
    units = bits.dtype.type(1 << (int(kind.layout.nmant) // 2 - 1))
    other = bits + units if change == "near" else np.asarray(float(change), kind.arithmetic).view(bits.dtype)
    return replace(tensor, array=np.where(is_number, other, bits).view(tensor.array.dtype))


class Right:
    """The backend `numpy`."""

    change = ""

    def __init__(self) -> None:
        self._numpy = Numpy()

    def describe(self) -> Implementation:
        """What numpy says."""
        return self._numpy.describe()

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> Sequence[Outputs]:
        """What numpy gives, with other numbers if the backend changes them."""
        outputs = self._numpy.run(case, model, feeds)
        return [[changed(x, self.change) for x in feed] if self.change else feed for feed in outputs]


class Near(Right):
    """Rounds wrongly: each number is outside its bounds."""

    change = "near"


class Lost(Right):
    """Loses every number."""

    change = "nan"


class Overflown(Right):
    """Returns infinities."""

    change = "inf"
