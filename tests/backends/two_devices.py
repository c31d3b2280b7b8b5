"""A backend that executes on two devices. `--backend tests/backends/two_devices.py:OnTwoDevices`."""

from collections.abc import Sequence
from pathlib import Path

from opconform.suite.declarations import DeclaredCase
from opconform_runners.backends.backend import Implementation, Inputs, Outputs, PlacedOutputs, Placement
from opconform_runners.backends.numpy.backend import Numpy


class OnTwoDevices(Numpy):
    """Right, and says of each case what executed it: of those with the context `folded` another device."""

    def describe(self) -> Implementation:
        """A device with a driver."""
        said = super().describe()
        return Implementation(
            name="double",
            version="1",
            device="PAIR",
            hardware="A pair <of> boards",
            driver="pair_driver 7.1",
            element_types=said.element_types,
            operations=said.operations,
            dynamic=True,
            bindings=said.bindings,
            graphs=said.graphs,
        )

    def run(self, case: DeclaredCase, model: Path | None, feeds: Sequence[Inputs]) -> PlacedOutputs:  # type: ignore[override]
        """What numpy gives, and where."""
        outputs: Sequence[Outputs] = super().run(case, model, feeds)
        device = "PAIR.1" if case.context == "folded" else "PAIR.0"
        return PlacedOutputs(outputs=outputs, placement=Placement(devices=(device,), threads=3))
