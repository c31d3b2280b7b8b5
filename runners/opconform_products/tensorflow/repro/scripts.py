"""The scripts that reproduce failures of TensorFlow."""

from opconform_products.tensorflow.repro.calls import tensorflow_source
from opconform_runners.tools.repro.script import Script

SCRIPT = Script(
    dialects=(),
    needs=("tensorflow", "numpy"),
    devices=("",),
    template="opconform_products.tensorflow:repro/script.py.j2",
    graph=tensorflow_source,
)
