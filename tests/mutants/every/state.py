"""Mutants of every operation that keep from one inference what belongs to another."""

from collections.abc import Iterator
from typing import Any

from opconform.operations import OPERATIONS
from opconform.specs.loader import shipped_operations
from opconform.tensors.tensor import Tensor
from opconform_runners.backends.backend import Rejected
from tests.mutants.row import Call, Hook, MutantRow, derived, refuse

_SECOND, _FIRST = "microsoft/onnxruntime#19564", "openvinotoolkit/openvino#15914"


def _kept_under_shapes(call: Call) -> list[Tensor]:
    outputs: list[Tensor] = call.first(str([tensor.shape for tensor in call.tensors]), call.right())
    return outputs


def _overwritten(call: Call) -> list[Tensor]:
    buffers: list[Tensor] = call.model.setdefault("buffers", [])
    buffers[:] = call.right()
    return buffers


def _piled_up(call: Call) -> list[Tensor]:
    outputs = [*call.model.get("outputs", []), *call.right()]
    call.model["outputs"] = outputs
    return outputs


def _refused_after_a_refusal(call: Call) -> list[Tensor]:
    is_bad = call.process.pop("bad", False)
    try:
        outputs: list[Tensor] = call.right()
    except Rejected:
        call.process["bad"] = not is_bad
        raise
    return refuse("the device is in a bad state") if is_bad else outputs


def _data_kept(name: str) -> Hook:
    """The step that reads an input of the first inference, if it has the same shape."""

    def hook(call: Call) -> Any:
        outputs, given = call.right(), call.inputs.get(name)
        if given is None:
            return outputs
        return call.right(**{name: call.first(f"{name} {given.shape} {given.element_type}", given)})

    return hook


# fmt: off
_OF_MODELS = (
    ("outputs-kept", "hands out the first one's outputs if the shapes are the same", _SECOND, _kept_under_shapes),
    ("buffers-reused", "overwrites the first one's outputs", _SECOND, _overwritten),
    ("outputs-pile-up", "hands out the first one's outputs before its own", _FIRST, _piled_up),
)
# fmt: on


def _rows(op: str) -> Iterator[MutantRow]:
    for name, what, seen, hook in _OF_MODELS:
        said = f"The second inference of {op} {what}."
        yield MutantRow(f"state/{op}/{name}", said, seen, hook, "model", ops=(op,), core=False)
    for port in OPERATIONS[op].inputs:
        if not port.setting:
            [name] = port.names(1)
            said = f"The second inference of {op} reads the first one's {name} if it has the same shape."
            yield derived(f"state/{op}/{name}-kept", op, said, _SECOND, _data_kept(name))


_FOREVER = MutantRow(
    "state/refusal-is-forever",
    "After a refusal the next case is refused too.",
    _FIRST,
    _refused_after_a_refusal,
    "model",
)
ROWS = (*(row for op in shipped_operations() for row in _rows(op)), _FOREVER)
