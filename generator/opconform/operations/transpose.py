"""Transpose-1, from its specification page: a tensor with its dimensions in another order."""

from collections.abc import Sequence

from opconform.operations import contexts
from opconform.operations.operation import Arguments, Operation, Port, Rejection, TensorType
from opconform.tensors.tensor import Tensor


def _value_violations(values: Sequence[int], rank: int) -> list[str]:
    """The violated requirements on an order that is not empty (Inputs, 2)."""
    if len(values) != rank:
        return ["order.length"]
    negative = ["order.negative"] if min(values) < 0 else []
    beyond = ["order.range"] if max(values) >= rank else []
    return [*negative, *beyond, *(["order.unique"] if len(set(values)) < rank else [])]


def _order_violations(arguments: Arguments) -> list[str]:
    """The violated requirements on the order (Inputs, 2; Types, T_AXIS)."""
    arg, order = arguments.inputs.get("arg"), arguments.inputs.get("input_order")
    if order is None:
        return ["order.required"]
    rank = [] if len(order.shape) == 1 else ["order.rank"]
    element_type = [] if order.is_integer else ["order.element-type"]
    if rank or arg is None or not order.integers:
        return [*rank, *element_type]
    return _value_violations(order.integers, len(arg.shape))


def order_of(arguments: Arguments) -> tuple[int, ...]:
    """The dimension of arg that is each dimension of the output; `Rejection` for invalid arguments."""
    missing = [] if "arg" in arguments.inputs else ["arg.required"]
    violated = (*missing, *_order_violations(arguments))
    if violated:
        raise Rejection(violated)
    inverted = reversed(range(len(arguments.inputs["arg"].shape)))
    return arguments.inputs["input_order"].integers or tuple(inverted)


def _infer(arguments: Arguments) -> tuple[TensorType, ...]:
    order, arg = order_of(arguments), arguments.inputs["arg"]
    return (TensorType(element_type=arg.element_type, shape=tuple(arg.shape[each] for each in order)),)


def _evaluate(arguments: Arguments) -> tuple[Tensor, ...]:
    arg = arguments.tensor("arg")
    return (Tensor(element_type=arg.element_type, array=arg.array.transpose(order_of(arguments)).copy()),)


TRANSPOSE = Operation(
    name="Transpose-1",
    inputs=(Port("arg", role="tensor"), Port("input_order", role="control")),
    attributes=(),
    infer=_infer,
    evaluate=_evaluate,
    bits="arg.bits",
    contexts={
        "chain": contexts.chain("arg"),
        "inverse": contexts.inverse(order_of),
        "identity": contexts.identity(order_of),
        "doubled": contexts.doubled(lambda _: 0),
        "convert": contexts.convert,
    },
)
