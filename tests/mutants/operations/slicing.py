"""Mutants of Slice-8 and StridedSlice-1 that select other elements."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from opconform.operations.movement.slices.slice import slices_of
from opconform.operations.movement.slices.steps import parts_of, steps_of
from opconform.tensors.tensor import Array, Tensor
from tests.mutants.row import (
    FOUND,
    Call,
    Hook,
    MutantRow,
    accepts,
    converted,
    gives,
    integers,
    moves,
    reads,
    refuse,
    refuses,
    rows,
)

#: The inputs of both operations with the first element, the end and the step of each slice.
_NAMES = {"Slice-8": ("start", "stop", "step"), "StridedSlice-1": ("begin", "end", "stride")}
_BACKWARDS, _REVERSE = "iree-org/iree#24584", "microsoft/tensorflow-directml#59"
_IDENTITY, _NEGATIVE = "openvinotoolkit/openvino#38240", "ROCm/AMDMIGraphX#858"
_CLAMP, _FOLDED, _BAKED = "tensorflow/tensorflow#125224", "llvm/torch-mlir#3843", "pytorch/TensorRT#4607"
_AXIS, _DEFAULT = "microsoft/onnxruntime#21771", "openvinotoolkit/openvino#38136"
_STEP, _EXTREME, _KEPT = "microsoft/onnxruntime#9376", "microsoft/onnxruntime#11107", "openvinotoolkit/openvino#13157"

#: The elements that one slice selects.
Selection = range | Sequence[int]
#: What a slice selects instead, given the right selection and the size of the dimension.
Change = Callable[[Call, range, int], Selection]


def _parts(call: Call) -> list[range | int | None]:
    """Per dimension its selected elements, the index of a removed one, or None for a new one."""
    if call.op == "StridedSlice-1":
        return parts_of(call.arguments)
    slices = zip(slices_of(call.arguments), call.data.shape, strict=False)
    return [range(*x.indices(size)) for x, size in slices]


def _taken(array: Array, axis: int, selected: Selection) -> Array:
    if not isinstance(selected, range):
        return np.take(array, np.array(selected, np.int64), axis)
    end = selected.stop if selected.stop >= 0 else None
    taken: Array = array[(*[slice(None)] * axis, slice(selected.start, end, selected.step))]
    return taken


def selecting(change: Change) -> Hook:
    """The step whose slices select other elements."""

    def selected(call: Call, outputs: list[Tensor]) -> list[Tensor]:
        array, axis, shape = call.data, 0, list[int]()
        for part in _parts(call):
            if part is None:
                shape.append(1)
                continue
            if isinstance(part, range):
                array = _taken(array, axis, change(call, part, array.shape[axis]))
                shape.append(array.shape[axis])
            else:
                index = part % array.shape[axis]
                array = _taken(array, axis, range(index, index + 1))
            axis += 1
        return [converted(outputs[0], np.ascontiguousarray(array).reshape((*shape, *array.shape[axis:])))]

    return gives(selected)


def _any(condition: Callable[[int, int, int, int], object]) -> Callable[[Call], bool]:
    """Whether a slice has a start, a stop, a step and a dimension of a size with a condition."""
    return lambda call: any(condition(*bound) for bound in bounds_of(call))


def bounds_of(call: Call) -> Iterator[tuple[int, int, int, int]]:
    """The start, the stop, the step and the size of the dimension of each slice, as they are given."""
    start, stop, step = (call.integers(n) for n in _NAMES[call.op])
    if call.op == "StridedSlice-1":
        steps = [step for step in steps_of(call.arguments) if step.kind == "slice"]
        yield from ((start[n], stop[n], step[n] if step else 1, size) for _, n, size in steps)
    else:
        axes = [integer % call.data.ndim for integer in call.integers("axes")] or range(len(start))
        yield from zip(start, stop, step, (call.data.shape[axis] for axis in axes), strict=True)


def _length_rounded_down(_call: Call, part: range, _size: int) -> range:
    return part[: max(0, abs(part.stop - part.start) // abs(part.step))] if len(part) else part


def _shifted(_call: Call, part: range, _size: int) -> range:
    return range(max(part.start - 1, 0), max(part.stop - 1, -1), part.step) if part.step < 0 else part


def _from_the_front(call: Call, array: Array) -> Array:
    return np.ascontiguousarray(call.data).reshape(-1)[: array.size].reshape(array.shape)


def _rows(op: str) -> Iterator[MutantRow]:
    # fmt: off
    for name, what, seen, hook in (
        ("stop-included", "The element at the end is selected.", f"{_NEGATIVE}, tensorflow/tensorflow#6834",
            selecting(lambda _, part, size: range(part.start, part.stop + (1 if part.step > 0 else -1), part.step)
                if -1 < part.stop < size else part)),
        ("start-excluded", "The slice begins after its first element.", _BACKWARDS, selecting(lambda _, part, __: part[1:])),
        ("backwards-shifted", "A backward slice is shifted by one element.", _BACKWARDS, selecting(_shifted)),
        ("backwards-in-order", "A negative step does not reverse the order.", f"{_BACKWARDS}, {_REVERSE}",
            selecting(lambda _, part, __: part[::-1] if part.step < 0 else part)),
        ("step-ignored", "Every step is 1 or -1.", _IDENTITY,
            selecting(lambda _, part, __: range(part.start, part.stop, 1 if part.step > 0 else -1))),
        ("length-rounded-down", "An element is lost where the step does not divide the length.",
            f"alibaba/heterogeneity-aware-lowering-and-optimization#275, {_REVERSE}", selecting(_length_rounded_down)),
        ("empty-keeps-one", "A slice that selects nothing gives one element.", _CLAMP,
            selecting(lambda _, part, size: part or range(min(size, 1)))),
        ("empty-refused", "A slice that selects nothing is refused.", f"onnx/onnx#7735, {_CLAMP}",
            selecting(lambda _, part, size: part if part or not size else refuse("nothing is selected"))),
        ("stop-not-clamped-below", "A backward stop before the first element is the first element.",
            f"{_CLAMP}, onnx/onnx#1987", selecting(lambda _, part, __: range(part.start, max(part.stop, 0), part.step))),
        ("stop-not-clamped-above", "A stop beyond the end is refused.", f"{_BAKED}, tensorflow/tensorflow#58035",
            refuses(_any(lambda _, end, __, size: end > size))),
        ("start-not-clamped", "A start beyond either end is refused.", _FOLDED,
            refuses(_any(lambda first, _, __, size: not -size <= first <= size))),
        ("extreme-stop-is-none", "Backwards, a large stop means that there is none.", _EXTREME,
            reads(_NAMES[op][1], lambda call, given: [-1 << 62 if by < 0 and end > 1 << 30 else end
                for end, (_, __, by, ___) in zip(given, bounds_of(call), strict=False)])),
        ("large-step-refused", "A step beyond 31 bits is refused.", f"{_STEP}, tensorflow/tensorflow#124643",
            refuses(_any(lambda _, __, by, ___: abs(by) >> 31))),
        ("step-limited", "A step is at most the size of the dimension.", _STEP,
            refuses(_any(lambda _, __, by, size: abs(by) > max(size, 1)))),
        ("size-kept", "Negative bounds count from the end of the first inference's dimension.", _KEPT,
            reads(_NAMES[op][0], lambda call, given: [first if first >= 0 else max(first + kept, 0) for first, kept in zip(
                given, call.first("sizes", [size for *_, size in bounds_of(call)]), strict=False)])),
        ("identity-at-run-time", "A run-time step is ignored where the output has the shape of data.", _IDENTITY,
            selecting(lambda call, part, size: range(size)
                if call.is_parameter(_NAMES[call.op][2]) and len(part) == size else part)),
        ("elements-from-the-front", "The output has the right shape and the first elements of data.",
            f"{_IDENTITY}, openvinotoolkit/openvino#21727", moves(_from_the_front)),
    ):
        yield MutantRow(f"slicing/{op}/{name}", what, seen, hook, ops=(op,))
    # fmt: on


# fmt: off
_OF_AXES = rows("slices", ("Slice-8",),
    ("axes-ignored", "The slices apply to the first dimensions.", _AXIS,
        reads("axes", lambda _, axes: [*range(len(axes))])),
    ("one-axis", "Only the first axis is sliced.", _NEGATIVE, lambda call: call.right(**{
        name: integers(call.integers(name)[:1], (1,)) for name in (*_NAMES[call.op], "axes") if call.integers(name)})),
    ("default-axes-last", "Without axes, the last dimensions are sliced.", _DEFAULT, lambda call: (
        call.right(axes=integers([*range(call.data.ndim)][-len(call.integers("start")):], (len(call.integers("start")),)))
        if "axes" not in call.inputs and 0 < len(call.integers("start")) <= call.data.ndim else call.right())),
    ("default-axes-all", "Without axes, there must be a start for every dimension.", _DEFAULT,
        refuses(lambda call: "axes" not in call.inputs and len(call.integers("start")) != call.data.ndim)),
    ("default-axes-cut", "More starts than dimensions are ignored.", _DEFAULT,
        accepts("axes.range", when=lambda call: "axes" not in call.inputs)),
    ("start-clamped-to-last", "A forward start beyond the end is clamped to the last element.", _FOLDED,
        selecting(lambda _, part, size: range(max(size - 1, 0), part.stop, part.step)
            if part.start == size and part.step > 0 else part)),
    ("axes-repeated-mixed", "An axis may be repeated as a positive and a negative number.", FOUND,
        accepts("axes.unique", when=lambda call: len({*call.integers("axes")}) == len(call.integers("axes")))),
    ("axes-type-refused", "The axes must have the type of start.", "openvinotoolkit/openvino_contrib#1093",
        refuses(lambda call: "axes" in call.inputs
            and call.inputs["axes"].element_type != call.inputs["start"].element_type)),
    ("scalars-without-slices", "Data of rank 0 is output if there is nothing to slice.", "microsoft/onnxruntime#9492",
        accepts("data.rank", when=lambda call: call.inputs["start"].shape == (0,))),
)
_BEYOND_CORE = MutantRow("slices/start-clamped-to-first", "A backward start before the first element is clamped to it.", FOUND,
    reads("start", lambda call, given: [max(first, -size) if by < 0 else first
        for first, (_, __, by, size) in zip(given, bounds_of(call), strict=True)]), ops=("Slice-8",), core=False)
# fmt: on
ROWS: tuple[MutantRow, ...] = (*(row for op in _NAMES for row in _rows(op)), *_OF_AXES, _BEYOND_CORE)
