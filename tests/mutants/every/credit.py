"""Mutants that try to pass by doing nothing."""

from opconform.tensors.tensor import Tensor
from opconform_runners.backends.backend import Rejected
from tests.mutants.row import Call, MutantRow, refuse


def _whole_if_wrong(call: Call) -> list[Tensor]:
    try:
        outputs: list[Tensor] = call.right()
    except Rejected:
        return call.tensors[:1]
    return outputs


ROWS = (
    MutantRow(
        "credit/refuses-everything", "Everything is refused.", "huningxin/webnn#391", lambda _: refuse("no"), "model"
    ),
    MutantRow(
        "credit/accepts-everything",
        "Data of a case that is wrong comes back whole.",
        "microsoft/onnxruntime#17258",
        _whole_if_wrong,
        "model",
    ),
)
