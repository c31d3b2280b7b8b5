"""What `naive_facts` says about the arguments of one inference, and about how they can be misread."""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from opconform.operations import OPERATIONS
from opconform.tensors.tensor import Tensor
from opconform_runners.backends.frameworks.numpy import FUNCTIONS
from tests.findings.naive_cases import FLOATS, SIGNED, Node, Read, bits_of, floats, numbers


def cut(value: int) -> int:
    """The low 32 bits."""
    return (value + 2**31) % 2**32 - 2**31


READINGS: Mapping[str, Callable[[float], int]] = {
    "cut to 32 bits": lambda value: cut(int(value)),
    "clamped to 32 bits": lambda value: max(-(2**31), min(int(value), 2**31 - 1)),
    "rounded to integers": lambda value: cut(round(value)),
    "truncated to integers": lambda value: cut(math.trunc(value)),
}


def of_reading(fact: str, it: Read, feed: Mapping[str, Tensor]) -> bool | None:
    """Whether a feed would end as a fact says if its setting inputs were read wrongly; None for other facts."""
    pattern = rf"(.*) if (run-time |constant |)setting inputs are ({'|'.join(READINGS)})"
    if not (found := re.fullmatch(pattern, fact)):
        return None
    bindings = {"run-time ": ["parameter"], "constant ": ["constant"], "": ["parameter", "constant"]}[found[2]]
    changed = dict(feed)
    for input_ in it.inputs:
        tensor = feed[input_["name"]]
        is_integer = bool(re.match(r"[iu]\d", tensor.element_type))
        if not it.is_setting(input_) or input_["binding"] not in bindings:
            continue
        if is_integer != found[3].endswith("32 bits") or not (
            is_integer or tensor.element_type in {*FLOATS, "boolean"}
        ):
            continue
        own = (
            numbers(tensor)
            if is_integer
            else floats(tensor).astype(float).tolist()
            if tensor.element_type in FLOATS
            else tensor.array.ravel().tolist()
        )
        if not all(map(math.isfinite, own)):
            continue
        other = [READINGS[found[3]](value) for value in own]
        if other != own or not is_integer:
            changed[input_["name"]] = Tensor(
                element_type="i64", array=np.array(other, np.int64).reshape(tensor.array.shape)
            )
    if all(changed[name] is feed[name] for name in feed):
        return False
    one, two = it.arguments(feed), it.arguments(changed)
    if one is None or two is None:
        return False
    return is_changed(found[1], one, two)


#: How the attributes of a type may be misread.
MISREAD: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "truth values are read as 0 and 1": ("int", lambda value: int(value) if isinstance(value, bool) else value),
    "what is not a truth value is read as false": ("boolean", lambda value: isinstance(value, bool) and value),
    "only the digits at the beginning of a text are read": (
        "int", lambda value: int(found[0]) if (found := re.match(r"\s*[+-]?\d+", str(value))) else value
    ),
}  # fmt: skip


def of_misread_attributes(fact: str, it: Read, feed: Mapping[str, Tensor]) -> bool | None:
    """Whether an invalid case would end as a fact says if its attributes were misread; None for other facts."""
    words, _, how = fact.partition(" if ")
    if how not in MISREAD:
        return None
    kind, change = MISREAD[how]
    types = {attribute.name: attribute.type.removesuffix("s") for attribute in OPERATIONS[it.case.op].attributes}
    changed = {
        name: (tuple(map(change, value)) if isinstance(value, tuple) else change(value))
        if types.get(name) == kind
        else value
        for name, value in it.case.attributes.items()
    }
    one, two = it.arguments(feed), it.arguments(feed, **changed)
    if "reject" not in it.document["expect"] or repr(changed) == repr(dict(it.case.attributes)) or not one or not two:
        return False
    return is_changed(words, one, two)


def is_changed(words: str, before: Node, after: Node) -> bool:
    """Whether a node ends otherwise with other arguments, as a fact says."""
    one, two = before.result, after.result
    if found := re.fullmatch(r"the case violates (.*)", words):
        return bool(before.violated) and found[1] in {*after.violated} - {*before.violated}
    if words == "the case is valid":
        return isinstance(one, str) and not isinstance(two, str)
    if words == "the case is invalid":
        return not isinstance(one, str) and isinstance(two, str)
    if isinstance(one, str) or isinstance(two, str):
        return words == "the result differs" and isinstance(one, str) != isinstance(two, str)
    shapes = [[x.array.shape for x in some] for some in (one, two)]
    if words == "the outputs have other shapes":
        return shapes[0] != shapes[1]
    return shapes[0] != shapes[1] or any(a.array.tobytes() != b.array.tobytes() for a, b in zip(one, two, strict=True))


def of_arguments(fact: str, node: Node) -> bool | None:
    """Whether the arguments of one inference have a relation; None if the sentence is not known here."""
    for relations in (
        relations_of_lengths,
        relations_of_batches,
        relations_of_pads,
        relations_of_slices,
        relations_of_sizes,
        relations_of_places,
        relations_of_repeats,
        relations_of_axes,
        relations_of_shifts,
    ):
        known = relations(node)
        if fact in known:
            return known[fact]
    if fact == "a string moves to another place":
        return moves(node, 0)
    if fact == "sub-byte elements move across byte boundaries":
        return any(moves(node, width) for width in (1, 2, 4))
    return None


def moves(node: Node, width: int) -> bool:
    """Whether data of a width has elements that an output does not have at the same place of a byte, or of all data."""
    names = [
        name for name in node.names if name and (name in ("data", "arg", "pad_value") or name.startswith("inputs_"))
    ]
    data = {name: node.input(name) for name in names}
    if not names or any(value is None or bits_of(value.element_type) != width for value in data.values()):
        return False
    if isinstance(node.result, str):
        return False
    places: dict[int, tuple[str, int]] = {}
    numbered = {}
    for name, item in data.items():
        assert item is not None
        first = 1 + len(places)
        numbered[name] = np.arange(first, first + item.array.size, dtype=np.uint32).reshape(item.array.shape)
        places |= {first + place: (name, place) for place in range(item.array.size)}
    inputs = [
        Tensor(element_type="u32", array=numbered[name]) if name in numbered else input_
        for name, input_ in zip(node.names, node.inputs, strict=True)
    ]
    outputs = [x.array.ravel().tolist() for x in FUNCTIONS[node.op](inputs, node.attributes)]
    if width == 0:
        return any(output != list(range(1, len(output) + 1)) for output in outputs)
    in_byte = 8 // width
    return any(
        number not in places
        or places[number][1] % in_byte != place % in_byte
        or (place > 0 and number != output[place - 1] + 1)
        or (place % in_byte > 0 and places[number][0] != places[output[place - 1]][0])
        for output in outputs
        for place, number in enumerate(output)
    )


def relations_of_lengths(node: Node) -> Mapping[str, bool]:
    """How the lengths of a split compare with the dimension."""
    data, lengths, given = node.input("data"), node.input("split_lengths"), node.integers("split_lengths")
    if data is None or node.op not in ("Split-1", "VariadicSplit-1"):
        return {}
    shape, axis = data.array.shape, node.integers("axis")
    axes = axis[0] % len(shape) if len(axis) == 1 and -len(shape) <= axis[0] < len(shape) else None
    found = {
        "a single output is requested": (
            repr(node.attributes.get("num_splits")) == "1" or (lengths is not None and lengths.array.size == 1)
        ),
        "an inner dimension is divided": axes is not None and math.prod(shape[:axes]) > 1,
    }
    if lengths is None or lengths.array.ndim != 1 or not re.match(r"[iu]\d", lengths.element_type):
        return found
    positive = bits_of(lengths.element_type) - bool(SIGNED.match(lengths.element_type))
    found["the sum of the lengths exceeds their element type"] = sum(given) >= 1 << positive
    if axes is None:
        return found
    which = "the other lengths" if -1 in given else "the lengths"
    excess = sum(x for x in given if x != -1) - shape[axes]
    return found | {f"{which} exceed the dimension": excess > 0, f"{which} exceed the dimension by 1": excess == 1}


def relations_of_batches(node: Node) -> Mapping[str, bool]:
    """How the batch dimensions of data and indices compare."""
    data, indices, batches = node.input("data"), node.input("indices"), node.attributes.get("batch_dims", 0)
    if data is None or indices is None or type(batches) is not int or not node.op.startswith("Gather"):
        return {}
    one, other = data.array.shape, indices.array.shape
    own, others = (x[: max(batches, 0)] for x in (one, other))
    tuples = math.prod(other[:-1])
    found = {"the output of a batch is empty": is_empty_in_a_batch(node, one, other, batches)}
    return found | {
        "batch_dims is out of range, and at most one dimension before those of the indices": (
            -len(other) - 1 <= batches < -min(len(one), len(other))
        ),
        "only batch dimensions of 1 are given": 0 < batches <= len(one) and {*one[:batches]} == {1},
        "the batch dimensions of data and indices differ": len(own) == len(others) and own != others,
        "the dimensions after those of a tuple of indices have a 0": (
            batches >= 0 and len(other) > 0 and other[-1] > 0 and 0 in one[batches + other[-1] :]
        ),
        "the batches of data divide the tuples of the indices": (
            bool(own)
            and 0 not in own
            and tuples % math.prod(own) == 0
            and batches + [*other, 0][len(other) - 1] <= len(one)
        ),
    }


def is_empty_in_a_batch(node: Node, data: tuple[int, ...], indices: tuple[int, ...], batches: int) -> bool:
    """Whether Gather selects nothing in each of its batches."""
    [*axis] = node.integers("axis")
    if node.op != "Gather-8" or len(axis) != 1 or not -len(data) <= axis[0] < len(data):
        return False
    if not -min(len(data), len(indices)) <= batches <= min(len(data), len(indices)):
        return False
    first = batches % len(indices) if batches < 0 else batches
    along = axis[0] % len(data)
    return 0 not in data[:first] and 0 in (*data[first:along], *indices[first:], *data[along + 1 :])


def relations_of_pads(node: Node) -> Mapping[str, bool]:
    """What pads remove and add."""
    data, mode = node.input("data"), node.attributes.get("pad_mode")
    begin, end = node.integers("pads_begin"), node.integers("pads_end")
    if data is None or not len(begin) == len(end) == data.array.ndim or "pads_begin" not in node.names:
        return {}
    if any((given := node.input(name)) is None or given.array.ndim != 1 for name in ("pads_begin", "pads_end")):
        return {}
    ends = [*zip(data.array.shape, begin, end, strict=True)]
    value = node.input("pad_value")
    adds = value is not None and value.element_type != "string" and any(value.array.tobytes())
    return {
        "a pad removes more elements than data has": any(-one > size or -two > size for size, one, two in ends),
        "the pads together remove more elements than data has": any(size + one + two < 0 for size, one, two in ends),
        "the pads together remove a whole dimension": any(size and size + one + two == 0 for size, one, two in ends),
        "a number other than 0 is added": adds
        and mode == "constant"
        and any(max(one, two) > 0 for _, one, two in ends),
    }


def relations_of_slices(node: Node) -> dict[str, bool]:
    """How far steps go, and what Slice slices."""
    steps = [*node.integers("step"), *node.integers("stride")]
    ends = zip(node.integers("begin"), node.integers("end"), node.integers("stride"), strict=False)
    found = {"a backward slice ends where it begins": any(stride < 0 and one == two for one, two, stride in ends)}
    found |= {
        "a negative step is beyond 31 bits": node.op in ("Slice-8", "StridedSlice-1")
        and min(steps, default=0) < 1 - 2**31
    }
    data, start, stop = node.input("data"), node.integers("start"), node.integers("stop")
    if node.op == "StridedSlice-1":
        return found | relations_of_strided_slices(node)
    if data is None or node.op != "Slice-8":
        return found
    shape, rank = data.array.shape, data.array.ndim
    axes = node.integers("axes") or [*range(len(start))]
    given = node.input("start")
    found |= {
        "a dimension of 0 is sliced": any(-rank <= axis < rank and shape[axis] == 0 for axis in axes),
        "no dimension is sliced": given is not None and given.array.ndim == 1 and given.array.size == 0,
    }
    step = node.integers("step")
    if isinstance(node.result, str) or 0 in step:
        return found
    parts = [(slice(*x), shape[axis]) for axis, *x in zip(axes, start, stop, step, strict=True)]
    return found | {
        "a backward slice selects only the first element": any(
            x.step < 0 and [*range(size)[x][:2]] == [0] for x, size in parts
        ),
        "a backward slice starts and stops before the first element": any(
            x.step < 0 < size and x.start < -size and x.stop < -size for x, size in parts
        ),
        "a slice starts or stops beyond 31 bits inside data": any(
            2**31 <= abs(end) <= size for x, size in parts for end in (x.start, x.stop)
        ),
    }


def relations_of_strided_slices(node: Node) -> dict[str, bool]:
    """What StridedSlice slices: one bit of each mask per slicing step, and an ellipsis before all others."""
    data, begin, end = node.input("data"), node.integers("begin"), node.integers("end")
    steps = node.integers("stride") if node.input("stride") is not None else [1] * len(begin)
    given = [
        node.attributes.get(f"{name}_mask", (0,)) for name in ("begin", "end", "new_axis", "shrink_axis", "ellipsis")
    ]
    is_list = all(input_ is None or input_.array.ndim == 1 for input_ in map(node.input, ("begin", "end", "stride")))
    is_right = all(isinstance(x, tuple) and {*map(repr, x)} <= {"0", "1"} for x in given)
    if None in (node.input("begin"), node.input("end")) or not is_list or not is_right:
        return {}
    if not len(begin) == len(end) == len(steps):
        return {}
    bits = [*zip(*([*x, *[0] * len(begin)][: len(begin)] for x in given), strict=True)]
    found = {"no dimension is sliced": not any(bit[2:] == (0, 0, 0) for bit in bits)}
    if data is None or isinstance(node.result, str):
        return found
    sizes, selected = list(data.array.shape), []
    for place, (from_start, to_end, is_new, is_removed, is_ellipsis) in enumerate(bits):
        if is_ellipsis:
            del sizes[: len(sizes) - sum(not bit[2] for bit in bits[place + 1 :])]
        elif not is_new:
            size = sizes.pop(0)
            first = None if from_start else max(begin[place], -size)
            part = range(size)[first : None if to_end else end[place] : steps[place]] if not is_removed else range(0)
            selected += [[*part[:2]]] if steps[place] < 0 else []
    return found | {"a backward slice selects only the first element": [0] in selected}


def relations_of_sizes(node: Node) -> Mapping[str, bool]:
    """Whether zeros of Reshape copy dimensions of data and then give another number of elements."""
    data, sizes = node.input("data"), node.integers("shape")
    if data is None or node.op != "Reshape-1" or node.attributes.get("special_zero") is not True:
        return {}
    shape = data.array.shape
    copied = [size or (shape[place] if place < len(shape) else 0) for place, size in enumerate(sizes)]
    differs = 0 in sizes[: len(shape)] and -1 not in sizes and math.prod(copied) != math.prod(shape)
    return {"the sizes have another product than those of data, and a 0 copies one": differs}


def relations_of_places(node: Node) -> Mapping[str, bool]:
    """Which dimensions Reshape and Transpose move."""
    if isinstance(node.result, str) or node.op not in ("Reshape-1", "Transpose-1"):
        return {}
    before, after = node.inputs[0].array.shape, node.result[0].array.shape  # type: ignore[union-attr]
    if node.op == "Reshape-1":
        return {"a dimension of 0 moves": any(one == 0 != two for one, two in zip(before, after, strict=False))}
    order = node.integers("input_order") or [*range(len(before))][::-1]
    kept = [position for position in order if before[position] != 1]
    return {"only dimensions of 1 move": order != sorted(order) and kept == sorted(kept)}


def relations_of_repeats(node: Node) -> dict[str, bool]:
    """What the repeats of a tile have in common."""
    data, given = node.input("data"), node.input("repeats")
    if node.op != "Tile-1" or given is None or given.array.ndim != 1 or not is_integers(given):
        return {}
    repeats = node.integers("repeats")
    rank = None if data is None else data.array.ndim
    return {
        "no dimension is repeated": all(repeat == 1 for repeat in repeats),
        "a dimension is repeated no times": 0 in repeats,
        "there are more repeats than dimensions": rank is not None and len(repeats) > rank,
        "there are fewer repeats than dimensions": rank is not None and len(repeats) < rank,
    }


def relations_of_axes(node: Node) -> dict[str, bool]:
    """Which axes are reversed."""
    data, given, mode = node.input("data"), node.input("axis"), node.attributes.get("mode")
    if node.op != "Reverse-1" or given is None or given.array.ndim != 1 or mode not in ("index", "mask"):
        return {}
    is_mask = given.element_type == "boolean"
    if mode == "mask" and not is_mask:
        return {"an index occurs twice": False}
    if mode == "index" and not is_integers(given):
        return {}
    axes = [n for n, value in enumerate(given.array.tolist()) if value] if mode == "mask" else node.integers("axis")
    last = None if data is None else data.array.ndim - 1
    return {
        "no axis is reversed": not axes,
        "the last axis is reversed": last is not None and last in axes,
        "several axes are reversed": len(set(axes)) > 1,
        "an index occurs twice": mode == "index" and len(set(axes)) < len(axes),
    }


def relations_of_shifts(node: Node) -> dict[str, bool]:
    """How far elements are shifted."""
    data, shift, axes = (node.input(name) for name in ("data", "shift", "axes"))
    if node.op != "Roll-7" or any(x is None or not is_integers(x) for x in (shift, axes)):
        return {}
    assert shift is not None
    assert axes is not None
    if shift.array.ndim > 1 or axes.array.ndim > 1:
        return {}
    shifts, along = node.integers("shift"), node.integers("axes")
    found = {"one shift is for several axes": len(shifts) < len(along)}
    rank = None if data is None else data.array.ndim
    pairs = list(zip(along, shifts * len(along), strict=False))
    if data is None or rank is None or any(not -rank <= axis < rank for axis, _ in pairs):
        return found
    return found | {
        "a shift is as long as its dimension": any(abs(by) >= data.array.shape[axis] for axis, by in pairs),
        "a shift is negative": any(by < 0 for _, by in pairs),
        "an axis occurs twice": len({axis % rank for axis, _ in pairs}) < len(along),
    }


def is_integers(tensor: Tensor) -> bool:
    """Whether a tensor has an integer type."""
    return bool(re.match(r"[iu]\d", tensor.element_type))
