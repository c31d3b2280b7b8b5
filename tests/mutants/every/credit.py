"""Mutants that try to pass by doing nothing."""

from opconform.tensors.tensor import Tensor
from opconform_runners.backends.backend import Rejected
from tests.mutants.row import Call, Row, refuse, stricter


def _whole_if_wrong(call: Call) -> list[Tensor]:
    try:
        outputs: list[Tensor] = call.right("outputs")
    except Rejected:
        return call.tensors[:1]
    return outputs


def _has_control_at_run_time(call: Call) -> bool:
    return any(each.role == "control" and each.binding == "parameter" for each in call.case.inputs)


# fmt: off
ROWS = (
    Row("credit/refuses-everything", "Everything is refused.", "huningxin/webnn#391",
        {"outputs": lambda _: refuse("no")}),
    Row("credit/accepts-everything", "Data of a case that is wrong comes back whole.", "microsoft/onnxruntime#17258",
        {"outputs": _whole_if_wrong}),
    Row("credit/only-one-shape", "Data that is not a matrix is refused.", "microsoft/onnxruntime#18358",
        stricter("graph", lambda call: any(len(each.shape) != 2 for each in call.tensors))),
    Row("credit/refuses-run-time", "A case is refused where a control input comes at run time.",
        "microsoft/onnxruntime#18358", stricter("graph", _has_control_at_run_time)),
)
# fmt: on
