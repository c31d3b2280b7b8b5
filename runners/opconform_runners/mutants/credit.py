"""Mutants that try to pass by doing nothing."""

from opconform.tensors import Array, Tensor
from opconform_runners.backend import Rejected
from opconform_runners.mutants.catalogue import mutant
from opconform_runners.mutants.kernel import Call, Kernel, refuse


@mutant("huningxin/webnn#391")
class RefusesEverything(Kernel):
    """Everything is refused."""

    def outputs(self, call: Call) -> list[Array]:
        raise Rejected("build", "no")


@mutant("microsoft/onnxruntime#17258")
class AcceptsEverything(Kernel):
    """What is wrong comes back whole."""

    def outputs(self, call: Call) -> list[Array]:
        try:
            return super().outputs(call)
        except Rejected:
            return [call.data] if "data" in call.inputs else []


@mutant("microsoft/onnxruntime#18358")
class OnlyOneShape(Kernel):
    """Whatever is not a matrix is refused."""

    def axis_value(self, call: Call, tensor: Tensor) -> int:
        return super().axis_value(call, tensor) if call.data.ndim == 2 else refuse("data is no matrix")  # noqa: PLR2004


@mutant("microsoft/onnxruntime#18358")
class RefusesRunTime(Kernel):
    """Whatever comes at run time is refused."""

    def outputs(self, call: Call) -> list[Array]:
        if call.comes_at_run_time("axis") or call.comes_at_run_time("split_lengths"):
            refuse("the model is not static")
        return super().outputs(call)
