"""Mutants of StridedSlice-1 that misread masks, and the elements of removed dimensions."""

from collections.abc import Callable
from typing import Any

from opconform.operations.movement.slices.steps import MASKS, kinds_of
from tests.mutants.row import FOUND, Call, MutantRow, accepts, integers, moves, reads, refuses, rows

_ELLIPSIS, _BESIDE, _LENGTHS = "tensorflow/tensorflow#42481", "onnx/keras-onnx#362", "openvinotoolkit/openvino#12442"
_SHRINK, _SHRUNK, _LAST = "apache/tvm#5172", "openvinotoolkit/openvino#13581", "bytedance/byteir#504"


def _bits(call: Call, name: str) -> list[int]:
    """The bits of a valid mask, as many as there are slicing steps."""
    given: Any = call.attributes.get(name, ())
    count = len(call.integers("begin"))
    return [*given, *[0] * count][:count]


def _lengths(call: Call) -> set[int]:
    """The lengths of the masks that are given."""
    return {
        len(attribute) for name, attribute in call.attributes.items() if name in MASKS and isinstance(attribute, tuple)
    }


def _beyond(call: Call, name: str) -> int:
    """The bits of a mask beyond the slicing steps."""
    given: Any = call.attributes.get(name, ())
    return sum(given[len(call.integers("begin")) :])


def _others(call: Call) -> int:
    """The number of dimensions that no slicing step uses."""
    return call.data.ndim - sum(kind in ("slice", "shrink") for kind in kinds_of(call.arguments))


def _changed(change: Callable[[Call, int, dict[str, int]], dict[str, int]]) -> Callable[[Call], Any]:
    """The step that executes other slicing steps, each a value per index input and a bit per mask."""

    def hook(call: Call) -> Any:
        outputs = call.right()
        count = len(call.integers("begin"))
        if not count:
            return outputs
        stride = call.integers("stride") or [1] * count
        columns = {"begin": call.integers("begin"), "end": call.integers("end"), "stride": stride}
        columns |= {name: _bits(call, name) for name in MASKS}
        steps = [dict(zip(columns, x, strict=True)) for x in zip(*columns.values(), strict=True)]
        changed = [change(call, number, step) for number, step in enumerate(steps)]
        given = {name: [x[name] for x in changed] for name in columns}
        inputs = {name: integers(given.pop(name), (count,)) for name in ("begin", "end", "stride")}
        return call.right(**inputs, **{name: tuple(x) for name, x in given.items()})

    return hook


def _moved_after_ellipsis(call: Call) -> Any:
    """The bits of bounds after an ellipsis apply to the next steps."""
    outputs, ellipses = call.right(), _bits(call, "ellipsis_mask")
    if 1 not in ellipses:
        return outputs
    place, masks = ellipses.index(1), {name: _bits(call, name) for name in MASKS[:2]}
    return call.right(**{name: (*bits[:place], 0, *bits[place:])[: len(bits)] for name, bits in masks.items()})


def _one_element(step: dict[str, int]) -> dict[str, int]:
    """A step that slices the one element of a removed dimension."""
    begin = 0 if step["begin_mask"] else step["begin"]
    last = int(begin == -1)
    changed = {"begin": begin, "end": begin + 1, "stride": 1, "begin_mask": 0, "end_mask": last, "shrink_axis_mask": 0}
    return {**step, **changed}


def _is_shrunk(call: Call, number: int) -> bool:
    return number < len(kinds_of(call.arguments)) and kinds_of(call.arguments)[number] == "shrink"


def _any_shrunk(condition: Callable[[int, int, int], bool]) -> Callable[[Call], bool]:
    """Whether a removed dimension has a begin, an end and a stride with a condition."""

    def holds(call: Call) -> bool:
        begin, end, stride = (call.integers(n) for n in ("begin", "end", "stride"))
        steps = enumerate(zip(begin, end, stride or [1] * len(begin), strict=False))
        return any(_is_shrunk(call, number) and condition(*x) for number, x in steps)

    return holds


def _shrunk_begin(change: Callable[[Call, int], int]) -> Callable[[Call], Any]:
    """The step that takes another element of a removed dimension."""
    return _changed(
        lambda call, number, step: {**step, "begin": change(call, step["begin"])} if _is_shrunk(call, number) else step
    )


# fmt: off
ROWS: tuple[MutantRow, ...] = rows("strided_slices", ("StridedSlice-1",),
    ("begin-mask-forwards", "A bit in begin_mask always selects from the first element.",
        "microsoft/tensorflow-directml#59",
        _changed(lambda _, __, step: {**step, "begin": 0, "begin_mask": 0} if step["begin_mask"] else step)),
    ("end-mask-is-size", "A bit in end_mask selects nothing backwards.", "onnx/onnx#1987",
        _changed(lambda _, __, step: {**step, "end": 1 << 62, "end_mask": 0} if step["end_mask"] else step)),
    ("masks-after-ellipsis-moved", "Bits of bounds after an ellipsis apply to later steps.", _ELLIPSIS,
        _moved_after_ellipsis),
    *((f"{name.replace('_', '-')}-aligned-at-the-end", f"A short {name} is padded at the start.", _LENGTHS,
        reads(name, lambda call, mask: (*[0] * (len(call.integers("begin")) - len(mask)), *mask))) for name in MASKS),
    ("short-masks-refused", "A mask that is shorter than begin is refused.", FOUND,
        refuses(lambda call: min(_lengths(call), default=99) < len(call.integers("begin")))),
    ("long-masks-refused", "A mask that is longer than begin is refused.", FOUND,
        refuses(lambda call: max(_lengths(call), default=0) > len(call.integers("begin")))),
    ("unequal-masks-refused", "Masks of different lengths are refused.", FOUND,
        refuses(lambda call: len(_lengths(call)) > 1)),
    ("new-axis-takes-a-dimension", "A new dimension uses up a dimension of data.", _BESIDE,
        refuses(lambda call: _others(call) < kinds_of(call.arguments).count("new"))),
    ("ellipsis-takes-one", "An ellipsis stands for one dimension.", _ELLIPSIS,
        refuses(lambda call: "ellipsis" in kinds_of(call.arguments) and _others(call) != 1)),
    ("ellipsis-not-empty", "An ellipsis stands for at least one dimension.", _ELLIPSIS,
        refuses(lambda call: "ellipsis" in kinds_of(call.arguments) and not _others(call))),
    ("masks-in-8-bits", "Bits of masks after the eighth are ignored.", _LENGTHS,
        _changed(lambda _, number, step: {**step, **dict.fromkeys(MASKS, 0)} if number > 7 else step)),
    ("at-most-eight-steps", "More than eight slicing steps are refused.", _LENGTHS,
        refuses(lambda call: len(call.integers("begin")) > 8)),
    ("new-axes-beyond-counted", "Bits of new_axis_mask beyond the slicing steps count in the dimensions of an ellipsis.",
        _LENGTHS, refuses(lambda call: "ellipsis" in kinds_of(call.arguments) and _beyond(call, "new_axis_mask"))),
    ("ellipsis-beyond-hides-rank",
        "A bit of ellipsis_mask beyond the slicing steps lets more steps than dimensions pass.", _ELLIPSIS,
        accepts("indices.rank", when=lambda call: _beyond(call, "ellipsis_mask"))),
    ("shrink-keeps-one", "A removed dimension remains with one element.", _SHRUNK,
        _changed(lambda call, number, step: _one_element(step) if _is_shrunk(call, number) else step)),
    ("shrink-list-kept", "A list whose only dimension is removed remains a list of one element.", _SHRUNK,
        moves(lambda call, array: array if array.ndim or call.data.ndim != 1 else array.reshape(1))),
    ("shrink-first", "The first element of a removed dimension remains.", _SHRINK, _shrunk_begin(lambda *_: 0)),
    ("shrink-negative", "A negative index of a removed dimension is taken as 0.", _LAST,
        _shrunk_begin(lambda _, begin: max(begin, 0))),
    ("shrink-size-kept", "A negative index of a removed dimension counts from the size in the first inference.", _LAST,
        refuses(lambda call: any(_is_shrunk(call, number) and begin < 0 for number, begin in enumerate(
            call.integers("begin"))) and call.first("shape", call.data.shape) != call.data.shape)),
    ("shrink-needs-begin-at-end", "A removed dimension needs an end after its begin.", _SHRINK,
        refuses(_any_shrunk(lambda begin, end, _: end <= begin))),
    ("shrink-stride-checked", "The stride of a removed dimension must be positive.", "tensorflow/tensorflow#54228",
        refuses(_any_shrunk(lambda _, __, stride: stride < 0))),
)
# fmt: on
