"""Reference semantics against what OpenVINO computes."""

import numpy as np
import openvino
import pytest
from openvino import opset1

from opconform.model.golden import golden_of
from opconform.operations.movement.gathers.gather_tree import GATHER_TREE
from tests.operations.test_sequences import accepted


@pytest.mark.ci_only
def test_beams_agree_with_openvino() -> None:
    """In every inference of every valid case of i32 and f32."""
    count = 0
    for draft in accepted("GatherTree-1"):
        golden = golden_of(draft, 0)
        for feed, (output,) in zip(golden.inputs, golden.outputs, strict=True):
            if output.element_type not in ("i32", "f32") or not output.array.size:
                continue
            arrays = [feed[port.name].array for port in GATHER_TREE.inputs]
            ports = [opset1.parameter([*array.shape], array.dtype) for array in arrays]
            model = openvino.Model([opset1.gather_tree(*ports)], ports)
            results = openvino.compile_model(model, "CPU")([np.array(array) for array in arrays])
            assert results[0].tolist() == output.array.tolist(), draft.id
            count += 1
    assert count > 20
