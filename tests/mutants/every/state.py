"""Mutants that keep from one inference what belongs to another."""

from opconform.tensors.tensor import Tensor
from opconform_runners.backends.backend import Rejected
from tests.mutants.row import Call, Row, refuse

_SECOND = "microsoft/onnxruntime#19564"


def _kept_under_shapes(call: Call) -> list[Tensor]:
    outputs: list[Tensor] = call.first(str([each.shape for each in call.tensors]), call.right("outputs"))
    return outputs


def _overwritten(call: Call) -> list[Tensor]:
    buffers: list[Tensor] = call.model.setdefault("buffers", [])
    buffers[:] = call.right("outputs")
    return buffers


def _piled_up(call: Call) -> list[Tensor]:
    outputs = [*call.model.get("outputs", []), *call.right("outputs")]
    call.model["outputs"] = outputs
    return outputs


def _refused_after_a_refusal(call: Call) -> list[Tensor]:
    is_bad = call.process.pop("bad", False)
    try:
        outputs: list[Tensor] = call.right("outputs")
    except Rejected:
        call.process["bad"] = not is_bad
        raise
    return refuse("the device is in a bad state") if is_bad else outputs


# fmt: off
ROWS = (
    Row("state/first-outputs-kept",
        "The second inference hands out the first one's outputs where the shape of data is the same.", _SECOND,
        {"outputs": _kept_under_shapes}),
    Row("state/buffers-reused", "The second inference overwrites the first one's outputs.", _SECOND,
        {"outputs": _overwritten}),
    Row("state/outputs-pile-up", "The second inference hands out the first one's outputs before its own.",
        "openvinotoolkit/openvino#15914", {"outputs": _piled_up}),
    Row("state/refusal-is-forever", "After a refusal the next case is refused too.", "openvinotoolkit/openvino#15914",
        {"outputs": _refused_after_a_refusal}),
)
# fmt: on
