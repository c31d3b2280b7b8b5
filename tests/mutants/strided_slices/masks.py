"""Mutants that misread masks: of new and removed dimensions, of ellipses, and of bounds."""

from collections.abc import Callable
from typing import Any

from tests.mutants.row import FOUND, Call, Hooks, Row, skipped, stricter, unchecked
from tests.mutants.strided_slices.kernel import MASKS

_ELLIPSIS, _BESIDE = "tensorflow/tensorflow#42481", "onnx/keras-onnx#362"
_LENGTHS, _SHRUNK = (
    "openvinotoolkit/openvino#12442",
    "openvinotoolkit/openvino#13581",
)
#: The change of the page that states the rules, and contradicts some of them.
_PAGE = "openvinotoolkit/openvino#23039"


def _row(name: str, what: str, seen: str, changes: Hooks, level: Any = "normative") -> Row:
    return Row(f"strided_slices/{name}", what, seen, changes, level, op="StridedSlice-1")


def _bits(change: Callable[[list[int]], list[int]], *names: str) -> Hooks:
    """The change that reads other bits of masks."""

    def changed(call: Call, name: str, count: int) -> list[int]:
        bits: list[int] = call.right("bits", name, count)
        return [*change(bits), *[0] * count][:count] if name in names else bits

    return {"bits": changed}


def _of_equal_lengths(call: Call, *_: Any) -> bool:
    return len({len(each) for name, each in call.attributes.items() if name in MASKS and isinstance(each, tuple)}) > 1


def _moved(call: Call, name: str, count: int) -> list[int]:
    """The bits of bounds after an ellipsis, moved to the dimensions that it stands for."""
    bits: list[int] = call.right("bits", name, count)
    given: Any = call.attributes.get("ellipsis_mask", ())
    if name not in MASKS[:2] or 1 not in given[:count]:
        return bits
    place = given.index(1)
    return [*bits[:place], 0, *bits[place:]][:count]


def _cut(call: Call, kinds: list[str], shape: tuple[int, ...]) -> None:
    """Steps beyond the dimensions are dropped."""
    while sum(each != "new" for each in kinds) > len(shape):
        del kinds[len(kinds) - 1 - next(n for n, each in enumerate(kinds[::-1]) if each != "new")]
    call.right("check_kinds", kinds, shape)


def _beyond(call: Call, name: str) -> int:
    """The bits of a mask beyond the slicing steps."""
    given, count = call.attributes.get(name, ()), len(call.do("index_values", "begin"))
    return sum(each == 1 for each in given[count:]) if isinstance(given, tuple) else 0


def _cut_with_ellipsis_beyond(call: Call, kinds: list[str], shape: tuple[int, ...]) -> None:
    if _beyond(call, "ellipsis_mask"):
        _cut(call, kinds, shape)
    else:
        call.right("check_kinds", kinds, shape)


def _others_with_all_new_axes(call: Call, kinds: list[str], rank: int) -> int:
    others: int = call.right("others", kinds, rank)
    return others + _beyond(call, "new_axis_mask") if "ellipsis" in kinds else others


def _later_ellipses(_call: Call, kinds: list[str]) -> None:
    """Only the first ellipsis is one."""
    first = kinds.index("ellipsis") if "ellipsis" in kinds else 0
    kinds[:] = ["slice" if each == "ellipsis" and n > first else each for n, each in enumerate(kinds)]


ROWS = (
    *(
        _row(f"{name.replace('_', '-')}-ignored", f"The attribute {name} is ignored.", seen, _bits(lambda _: [], name))
        for name, seen in zip(MASKS, (FOUND, "tensorflow/tensorflow#6834", _LENGTHS, _SHRUNK, _ELLIPSIS), strict=True)
    ),
    _row(
        "begin-mask-forwards",
        "A bit in begin_mask always selects from the first element.",
        "microsoft/tensorflow-directml#59",
        {"start": lambda *_: 0},
    ),
    _row(
        "end-mask-backwards-excludes",
        "Backwards, a bit in end_mask excludes the first element.",
        _PAGE,
        {"rest_of": lambda _, __, stride, size: size if stride > 0 else 0},
        "interpretation",
    ),
    _row(
        "end-mask-is-size",
        "A bit in end_mask selects nothing backwards.",
        "onnx/onnx#1987",
        {"rest_of": lambda _, __, ___, size: size},
    ),
    _row(
        "masks-after-ellipsis-moved",
        "Bits of bounds after an ellipsis apply to later steps.",
        _ELLIPSIS,
        {"bits": _moved},
    ),
    _row(
        "masks-aligned-at-the-end",
        "Short masks are padded at the start.",
        _LENGTHS,
        {
            "bits": lambda call, name, count: (
                [0] * count + list(given) if isinstance(given := call.attributes.get(name, ()), tuple) else []
            )[-count:]
        },
    ),
    _row(
        "short-masks-refused",
        "A mask that is shorter than begin is refused.",
        FOUND,
        stricter(
            "kinds",
            lambda call, count, _: any(
                len(each) < count for name, each in call.attributes.items() if name in MASKS and isinstance(each, tuple)
            ),
        ),
    ),
    _row(
        "long-masks-refused",
        "A mask that is longer than begin is refused.",
        FOUND,
        stricter(
            "kinds",
            lambda call, count, _: any(
                len(each) > count for name, each in call.attributes.items() if name in MASKS and isinstance(each, tuple)
            ),
        ),
    ),
    _row(
        "unequal-masks-refused",
        "Masks of different lengths are refused.",
        FOUND,
        stricter("kinds", _of_equal_lengths),
    ),
    _row(
        "omitted-masks-refused",
        "Both begin_mask and end_mask must be there.",
        _PAGE,
        stricter("kinds", lambda call, *_: not {*MASKS[:2]} <= {*call.attributes}),
        "interpretation",
    ),
    _row(
        "mask-values-unchecked",
        "Any value but 0 is a set bit.",
        FOUND,
        {
            **unchecked("check_mask_values"),
            "bits": lambda call, name, count: [int(each != 0) for each in call.right("bits", name, count)],
        },
    ),
    *(
        _row(
            f"{name.replace('_', '-')}-values-unchecked",
            f"Any value but 0 is a set bit of {name}.",
            FOUND,
            {
                **skipped("check_mask_values", lambda _, given, __, name=name: given == name),
                "bits": lambda call, name, count: [int(each != 0) for each in call.right("bits", name, count)],
            },
        )
        for name in MASKS[:2]
    ),
    _row(
        "mask-type-unchecked",
        "A mask that is not a list of integers is all zeros.",
        FOUND,
        {
            **unchecked("check_mask"),
            "bits": lambda call, name, count: (
                call.right("bits", name, count)
                if isinstance(given := call.attributes.get(name, ()), tuple)
                and all(type(each) is int for each in given)
                else [0] * count
            ),
        },
    ),
    _row(
        "shrink-before-new",
        "A removed dimension precedes a new one.",
        "tensorflow/tensorflow#60939",
        {
            "kind": lambda call, ellipsis, new, shrink: (
                "shrink" if shrink and not ellipsis else call.right("kind", ellipsis, new, shrink)
            )
        },
        "interpretation",
    ),
    _row(
        "new-before-ellipsis",
        "A new dimension precedes an ellipsis.",
        "tensorflow/tensorflow#60939",
        {"kind": lambda call, ellipsis, new, shrink: call.right("kind", ellipsis and not new, new, shrink)},
        "interpretation",
    ),
    _row(
        "new-axis-takes-a-dimension",
        "A new dimension uses up a dimension of data.",
        _BESIDE,
        {"others": lambda _, kinds, rank: rank - sum(each != "ellipsis" for each in kinds)},
    ),
    _row(
        "ellipsis-takes-one",
        "An ellipsis stands for one dimension.",
        _ELLIPSIS,
        {"skipped_dimensions": lambda call, others: call.right("skipped_dimensions", others)[:1]},
    ),
    _row(
        "ellipsis-not-empty",
        "An ellipsis stands for at least one dimension.",
        _ELLIPSIS,
        stricter("skipped_dimensions", lambda _, others: not others),
    ),
    _row(
        "two-ellipses",
        "Only the first ellipsis is one.",
        "tensorflow/tensorflow#50868",
        {"check_ellipses": _later_ellipses},
    ),
    _row("more-steps-cut", "Slicing steps beyond the dimensions are ignored.", FOUND, {"check_kinds": _cut}),
    _row(
        "fewer-steps-refused",
        "Every dimension needs a slicing step.",
        FOUND,
        stricter("rest", lambda _, others: others > 0),
        "interpretation",
    ),
    _row(
        "zero-dimensions-refused",
        "Data with a dimension of 0 is not sliced.",
        FOUND,
        stricter("check_kinds", lambda _, __, shape: 0 in shape),
    ),
    _row(
        "scalars-refused",
        "Data of rank 0 is not sliced.",
        FOUND,
        stricter("check_kinds", lambda _, __, shape: not shape),
    ),
    _row(
        "masks-in-8-bits",
        "Bits of masks after the eighth are ignored.",
        _LENGTHS,
        _bits(lambda bits: bits[:8], *MASKS),
    ),
    _row(
        "at-most-eight-steps",
        "More than eight slicing steps are refused.",
        _LENGTHS,
        stricter("kinds", lambda _, count, __: count > 8),
    ),
    _row(
        "new-axes-beyond-counted",
        "Bits of new_axis_mask beyond the slicing steps count in the dimensions of an ellipsis.",
        _LENGTHS,
        {"others": _others_with_all_new_axes},
    ),
    _row(
        "ellipsis-beyond-hides-rank",
        "A bit of ellipsis_mask beyond the slicing steps lets more steps than dimensions pass.",
        _ELLIPSIS,
        {"check_kinds": _cut_with_ellipsis_beyond},
    ),
)
