"""The scripts that reproduce failures of PyTorch."""

from opconform_products.torch.repro.calls import TORCH_TYPES, torch_source
from opconform_runners.tools.repro.script import Script

SCRIPT = Script(
    dialects=(),
    needs=("torch", "numpy"),
    devices=("", "eager", "inductor"),
    template="opconform_products.torch:repro/script.py.j2",
    graph=torch_source,
    settings=lambda device: {"device": device or "CPU", "is_compiled": device == "inductor"},
    names=lambda _: {"torch_types": TORCH_TYPES},
)
