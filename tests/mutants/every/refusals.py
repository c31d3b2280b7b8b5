"""Mutants of every operation that refuse what its declaration allows."""

from collections.abc import Callable, Iterator

from opconform.operations import OPERATIONS
from opconform.operations.arguments import Arguments, Operand, Unknown
from opconform.specs.loader import shipped_operations
from opconform.suite.case import Dynamic, Shape
from opconform.suite.declarations import Port
from opconform.tensors.element_types import ELEMENT_TYPES
from tests.mutants.row import Call, derived, refuses

_TYPES, _RANKS, _SCALAR = "microsoft/onnxruntime#18358", "tenstorrent/tt-metal#12154", "llvm/torch-mlir#4656"
_RUN_TIME, _DYNAMIC, _CONTEXT = "google-ai-edge/LiteRT#7742", "openvinotoolkit/openvino#3571", "apple/coreai-torch#68"
_EMPTY, _OMITTED, _NEGATIVE = "google/XNNPACK#5807", "openvinotoolkit/openvino#38136", "OAID/Tengine#1345"

Condition = Callable[[Call], object]
#: What is refused: its name, a sentence about it, a public report, and whether a call has it.
Refused = tuple[str, str, str, Condition]


def _is_read(op: str, port: Port, element_type: str = "f32", shape: Shape = (2, 2)) -> bool:
    """Whether a declared reading of an interpretation rejects a tensor that a port allows."""
    arguments = Arguments(inputs={port.names(1)[0]: Operand(element_type=element_type, shape=shape)})
    return any(_holds(reading.rejects, arguments) for reading in OPERATIONS[op].readings.values())


def _holds(predicate: Callable[[Arguments], bool], arguments: Arguments) -> bool:
    try:
        return predicate(arguments)
    except (Unknown, LookupError):
        return False


def _shape(call: Call, name: str) -> Shape | None:
    return call.inputs[name].shape if name in call.inputs else None


def _dynamic(call: Call, name: str) -> Dynamic:
    return next((input_.dynamic for input_ in call.case.inputs if input_.name == name), None) or ()


def _is_of_type(name: str, kind: str) -> Condition:
    return lambda call: name in call.inputs and call.inputs[name].element_type == kind


def _has_shape(name: str, shape: Shape) -> Condition:
    return lambda call: _shape(call, name) == shape


def _has_rank(name: str, rank: int) -> Condition:
    return lambda call: (shape := _shape(call, name)) is not None and len(shape) == rank


def _is_over(name: str, rank: int) -> Condition:
    return lambda call: len(_shape(call, name) or ()) > rank


def _types(op: str, port: Port, name: str) -> Iterator[Refused]:
    for kind in sorted(port.types or ELEMENT_TYPES):
        if not _is_read(op, port, kind):
            yield kind, f"{name} of type {kind}", _TYPES, _is_of_type(name, kind)


def _shapes(op: str, port: Port, name: str) -> Iterator[Refused]:
    """Shapes that a port lists; or else the lowest ranks, no elements, and the highest ranks of data."""
    is_data = port is OPERATIONS[op].inputs[0]
    for shape in port.shapes or ():
        if len(port.shapes or ()) > 1:
            yield f"shape-{list(shape)}", f"{name} of the shape {list(shape)}", _SCALAR, _has_shape(name, shape)
    if port.shapes is not None or port.optional:
        return
    ranks = [rank for rank in range(3) if port.ranks is None or rank in port.ranks]
    for rank in ranks if len(ranks) > 1 else ():
        yield f"rank-{rank}", f"{name} of rank {rank}", _RANKS if rank else _SCALAR, _has_rank(name, rank)
    if not _is_read(op, port, *(("i64", (0,)) if port.setting else ("f32", (0, 2)))):
        yield "empty", f"{name} without elements", _EMPTY, lambda call: 0 in (_shape(call, name) or ())
    for most in (4, 5, 6, 8) if is_data else ():
        yield f"over-rank-{most}", f"{name} of more than {most} dimensions", _RANKS, _is_over(name, most)


def _bindings(op: str, port: Port, name: str) -> Iterator[Refused]:
    if port.setting:
        yield "run-time", f"{name} that comes at run time", _RUN_TIME, lambda call: call.is_parameter(name)
        yield "negative", f"{name} with a negative value", _NEGATIVE, lambda call: min([0, *call.integers(name)]) < 0
    if port is OPERATIONS[op].inputs[0]:
        yield "dynamic", f"{name} with a dynamic dimension", _DYNAMIC, lambda call: _dynamic(call, name)
        yield "dynamic-rank", f"{name} with a dynamic rank", _DYNAMIC, lambda call: _dynamic(call, name) == "..."
    if port.optional:
        yield "omitted", f"an omitted {name}", _OMITTED, lambda call: name not in call.inputs
        yield "given", f"a given {name}", _OMITTED, lambda call: name in call.inputs


def _default(name: str) -> Iterator[Refused]:
    yield "omitted", f"an omitted {name}", _OMITTED, lambda call: name not in call.case.attributes
    yield "given", f"a given {name}", _OMITTED, lambda call: name in call.case.attributes


def _context(name: str) -> Refused:
    return name, f"the operation in the context {name}", _CONTEXT, lambda call: call.context == name


def _refused(op: str) -> Iterator[tuple[str, Refused]]:
    """What an operation refuses, each with what it belongs to."""
    for port in OPERATIONS[op].inputs:
        [name] = port.names(1)
        for of_port in (_types, _shapes, _bindings):
            yield from ((name, x) for x in of_port(op, port, name))
    for spec in OPERATIONS[op].attributes:
        if spec.default is not None:
            yield from ((spec.name, x) for x in _default(spec.name))
    yield from (
        ("context", _context(context_name)) for context_name in OPERATIONS[op].context_names if context_name != "bare"
    )


ROWS = tuple(
    derived(f"refusals/{op}/{subject}/{name}", op, f"{op} refuses {what}.", seen, refuses(condition))
    for op in shipped_operations()
    for subject, (name, what, seen, condition) in _refused(op)
)
