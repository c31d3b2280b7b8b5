"""Mutants of every operation that accept what its declaration rules out, or that leave out a check under a condition."""

from collections.abc import Callable, Iterator, Mapping

from opconform.operations import OPERATIONS
from opconform.specs.loader import shipped_operations
from opconform.specs.requirements import requirements_of
from opconform.suite.case import Shape
from opconform.suite.declarations import AttributeSpec, Port
from tests.mutants.row import Call, MutantRow, accepts, derived

_TYPES, _SHAPES = "pytorch/pytorch#37996", "openvinotoolkit/openvino#5613"
_MISSING, _RUN_TIME = "microsoft/onnxruntime#17258", "microsoft/onnxruntime#739"
_FOLDED, _SECOND, _OPEN = (
    "openvinotoolkit/openvino#38296",
    "microsoft/onnxruntime#19564",
    "openvinotoolkit/openvino#3571",
)

Condition = Callable[[Call], object]
#: What is accepted: its name, a sentence about it, a public report, the requirement, and the condition on the call.
Accepted = tuple[str, str, str, str, Condition]


def _has_run_time(call: Call) -> bool:
    return any(input_.role == "setting" and input_.binding == "parameter" for input_ in call.case.inputs)


#: When a check is left out, with a public report.
_WHEN: Mapping[str, tuple[str, str, Condition]] = {
    "run-time": ("at run time", _RUN_TIME, _has_run_time),
    "constant": ("for constants", _FOLDED, lambda call: not _has_run_time(call)),
    "second": ("in the second inference", _SECOND, lambda call: call.feed > 0),
    "dynamic": ("if a dimension is dynamic", _OPEN, lambda call: any(input_.dynamic for input_ in call.case.inputs)),
}


#: What depends on how setting inputs are bound.
_OF_SETTINGS = ("run-time", "constant")
#: The shapes that a port can rule out.
_SHAPED: Mapping[str, Callable[[Shape], bool]] = {
    "scalar": lambda shape: shape == (),
    "empty": lambda shape: 0 in shape,
    "list": lambda shape: len(shape) == 1 and shape != (0,),
    "matrix": lambda shape: len(shape) > 1,
}
#: An example of each.
_EXAMPLES: Mapping[str, Shape] = {"scalar": (), "empty": (0,), "list": (2,), "matrix": (2, 2)}
#: The types of a value that an attribute can rule out.
_VALUES: Mapping[str, Callable[[object], bool]] = {
    "fraction": lambda value: isinstance(value, float) and value != int(value),
    "whole-float": lambda value: isinstance(value, float) and value == int(value),
    "boolean": lambda value: isinstance(value, bool),
    "text": lambda value: isinstance(value, str),
}


def _has_kind(name: str, kind: str) -> Condition:
    return lambda call: call.inputs[name].type.kind == kind


def _is_shaped(name: str, word: str) -> Condition:
    return lambda call: _SHAPED[word](call.inputs[name].shape)


def _is_value(name: str, word: str) -> Condition:
    return lambda call: _VALUES[word](call.attributes[name])


def _always(_: Call) -> bool:
    return True


def _is_allowed(port: Port, shape: Shape) -> bool:
    return len(shape) in port.ranks if port.ranks is not None else port.shapes is None or shape in port.shapes


def _of_port(port: Port) -> Iterator[Accepted]:
    """A missing tensor, one of a type of another kind, and one of a shape that is ruled out."""
    name, word = port.name, port.prefix or port.name
    if not port.optional:
        yield f"{name}/missing", f"A missing {name}", _MISSING, f"{word}.required", _always
    for kind in ("float", "boolean", "string") if port.types is not None else ():
        yield f"{name}/{kind}", f"A {name} of the kind {kind}", _TYPES, f"{word}.element-type", _has_kind(name, kind)
    aspect = "shape" if port.ranks is None else "rank"
    for shaped, example in _EXAMPLES.items():
        if not _is_allowed(port, example):
            yield f"{name}/{shaped}", f"A {shaped} as {name}", _SHAPES, f"{word}.{aspect}", _is_shaped(name, shaped)


def _of_attribute(spec: AttributeSpec) -> Iterator[Accepted]:
    """A missing value, and one of another type."""
    name, word = spec.name, spec.prefix or spec.name
    if spec.default is None:
        yield f"{name}/missing", f"A missing {name}", _MISSING, f"{word}.required", _always
    for kind in _VALUES if spec.type == "int" else ():
        yield f"{name}/{kind}", f"A {kind} as {name}", _TYPES, f"{word}.type", _is_value(name, kind)


def _accepted(op: str) -> Iterator[MutantRow]:
    levels, operation = requirements_of(op).by_id, OPERATIONS[op]
    of_ports = (x for port in operation.inputs for x in _of_port(port))
    of_attributes = (x for spec in operation.attributes for x in _of_attribute(spec))
    for name, what, seen, requirement, condition in (*of_ports, *of_attributes):
        if levels[requirement].level == "normative":  # the readings of interpretations accept what they rule out
            hook = accepts(requirement, when=condition)
            yield derived(f"acceptances/{op}/{name}", op, f"{what} of {op} is accepted.", seen, hook)


def _unchecked(op: str) -> Iterator[MutantRow]:
    settings, levels = any(port.setting for port in OPERATIONS[op].inputs), requirements_of(op).by_id
    for requirement in OPERATIONS[op].checks:
        if levels[requirement].level == "interpretation":
            continue
        for name, (when, seen, condition) in _WHEN.items():
            if settings or name not in _OF_SETTINGS:
                what = f"{op}:{requirement} is not checked {when}."
                yield derived(f"checks/{op}/{requirement}/{name}", op, what, seen, accepts(requirement, when=condition))


ROWS = tuple(row for op in shipped_operations() for row in (*_accepted(op), *_unchecked(op)))
