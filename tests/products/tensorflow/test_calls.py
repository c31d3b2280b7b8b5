"""The scripts that `repro` writes for TensorFlow: they end as the backend did, and make its calls."""

from pathlib import Path

import pytest

from tests.conftest import Run
from tests.products.frameworks.checks import checked_scripts

#: Cases, and how their scripts end: right in both inferences, a wrong value, an invalid case, and valid ones refused.
ENDS = {
    "ReLU-1/second-feed/262e3b850c": 0,
    "Clamp-1/zeros/6650201671": 1,
    "GatherElements-6/axes-out-of-range/93a49794cf": 1,
    "ReverseSequence-1/negative-batch-axes/93cc2364df": 1,
    "MaxPool-8/without-elements/515ef6cc51": 1,
}


@pytest.mark.ci_only
@pytest.mark.timeout(600)
def test_a_script_ends_as_the_backend_did(opconform: Run, tmp_path: Path) -> None:
    """With the calls and the signature of the backend, whose dimensions may be open; also for a graph."""
    scripts = checked_scripts(opconform, tmp_path, "tensorflow", ENDS)
    relu, graph = scripts["ReLU-1/second-feed/262e3b850c"], scripts["graph"]

    assert "input_signature=[tf.TensorSpec([None, " in relu
    assert "    relu = tf.nn.relu(data)\n    return [relu]" in relu
    assert relu.count("got += model(tf.constant(data") == 2
    assert "    multiply = tf.multiply(x, " in graph
    assert " = tf.nn.max_pool_with_argmax(transpose, (2, 2), " in scripts["MaxPool-8/without-elements/515ef6cc51"]
