"""ExtractImagePatches-3 and Col2Im-15: each clause of their pages, and implementations of others."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from opconform.model.golden import golden_of
from opconform.model.readings import other_readings
from opconform.operations.arguments import Arguments, Operand, Unknown
from opconform.operations.movement.col2im import COL2IM
from opconform.operations.movement.patches import EXTRACT_IMAGE_PATCHES
from opconform.tensors.tensor import Array, Tensor, outputs_digest
from opconform_runners.backends.numpy.patches import extract_image_patches
from tests.operations.test_scatters import accepted


def arguments(data: Array, **attributes: Any) -> Arguments:
    """The arguments of patches of some data."""
    tensor = Tensor(element_type="i32", array=data.astype(np.int32))
    operand = Operand(element_type="i32", shape=tensor.shape, tensor=tensor)
    return Arguments(inputs={"data": operand}, attributes=attributes)


def pairs(op: str) -> Iterator[tuple[dict[str, Array], dict[str, Any], Array, str]]:
    """The inputs, the attributes and the output of each inference of each valid case, and its id."""
    for draft in accepted(op):
        golden = golden_of(draft, 0)
        for feed, (output,) in zip(golden.inputs, golden.outputs, strict=True):
            attributes = {**draft.operation.arguments({}, draft.attributes).attributes}
            yield {name: tensor.array for name, tensor in feed.items()}, attributes, output.array, draft.id


def windows(data: Array, sizes: Sequence[int], strides: Sequence[int], rates: Sequence[int], auto_pad: str) -> Array:
    """`sliding_window_view` of numpy on a padded image, as TensorFlow documents its modes."""
    zero = np.zeros((), data.dtype)
    if auto_pad != "valid":
        widths = [(0, 0), (0, 0)]
        for length, size, stride, rate in zip(data.shape[2:], sizes, strides, rates, strict=True):
            total = max((-(-length // stride) - 1) * stride + (size - 1) * rate + 1 - length, 0) if length else 0
            small, large = total // 2, total - total // 2
            widths.append((small, large) if auto_pad == "same_upper" else (large, small))
        data = np.pad(data, widths, constant_values=zero)
    spans = [(size - 1) * rate + 1 for size, rate in zip(sizes, rates, strict=True)]
    if any(span > length for span, length in zip(spans, data.shape[2:], strict=True)):
        rooms = (max(-(-(n - span + 1) // s), 0) for n, span, s in zip(data.shape[2:], spans, strides, strict=True))
        return np.zeros((len(data), sizes[0] * sizes[1] * data.shape[1], *rooms), data.dtype)
    view = np.lib.stride_tricks.sliding_window_view(data, spans, (2, 3))
    view = view[:, :, :: strides[0], :: strides[1], :: rates[0], :: rates[1]]
    moved = view.transpose(0, 4, 5, 1, 2, 3)
    return moved.reshape(len(data), sizes[0] * sizes[1] * data.shape[1], *view.shape[2:4])


def test_patches_agree_with_numpy() -> None:
    """Bit for bit, in every inference of every valid case but those of nf4, whose zero is not 0."""
    count = 0
    for inputs, attributes, output, case in pairs("ExtractImagePatches-3"):
        expected = windows(inputs["data"], **attributes)
        if "zeros-of-types" in case and output.dtype == np.uint8:
            continue
        assert (output.shape, output.tobytes()) == (expected.shape, expected.tobytes()), case
        count += 1
    assert count > 60


def test_patches_without_elements_take_no_memory() -> None:
    """However large they are."""
    attributes = {"sizes": (1 << 33, 1), "strides": (1, 1), "rates": (1, 1), "auto_pad": "same_upper"}
    given = arguments(np.zeros((1, 0, 2, 3)), **attributes)

    [ours] = EXTRACT_IMAGE_PATCHES.evaluate(given)
    [numpys] = extract_image_patches([given.tensor("data")], attributes)

    assert ours.shape == numpys.shape == (1, 0, 2, 3)


def test_patches_are_those_of_the_page() -> None:
    """Examples 3, 4 and 5."""
    image = np.arange(1, 101).reshape(1, 1, 10, 10)
    padded = arguments(image, sizes=(4, 4), strides=(9, 9), rates=(1, 1), auto_pad="same_upper")
    apart = arguments(image, sizes=(3, 3), strides=(5, 5), rates=(2, 2), auto_pad="valid")
    two = arguments(np.arange(1, 51).reshape(1, 2, 5, 5), sizes=(2, 2), strides=(3, 3), rates=(1, 1), auto_pad="valid")
    outputs = [EXTRACT_IMAGE_PATCHES.evaluate(x)[0].array[0] for x in (padded, apart, two)]

    assert [output.shape for output in outputs] == [(16, 2, 2), (9, 2, 2), (8, 2, 2)]
    assert outputs[0][[0, 1, 5, 10]].tolist() == [
        [[0, 0], [0, 89]],
        [[0, 0], [81, 90]],
        [[1, 10], [91, 100]],
        [[12, 0], [0, 0]],
    ]
    assert outputs[1][[0, 1, 8]].tolist() == [[[1, 6], [51, 56]], [[3, 8], [53, 58]], [[45, 50], [95, 100]]]
    assert outputs[2][[0, 1, 2, 7]].tolist() == [
        [[1, 4], [16, 19]],
        [[26, 29], [41, 44]],
        [[2, 5], [17, 20]],
        [[32, 35], [47, 50]],
    ]


def test_images_agree_with_the_reference_implementation_of_onnx() -> None:
    """In every inference of every valid case of i32 and f32."""
    from onnx.reference.ops.op_col2im import Col2Im

    count = 0
    for inputs, given, output, case in pairs("Col2Im-15"):
        data = inputs["data"]
        if data.dtype not in (np.int32, np.float32) or 0 in data.shape or "element-types" in case:
            continue
        batched = data if data.ndim == 3 else data[np.newaxis]
        options = {name: list(given[name]) for name in ("strides", "dilations")}
        pads = [*given["pads_begin"], *given["pads_end"]]
        expected = np.asarray(
            Col2Im.eval(batched, inputs["output_size"], inputs["kernel_size"], pads=pads, **options)  # type: ignore[arg-type]
        )
        assert output.tolist() == (expected if data.ndim == 3 else expected[0]).tolist(), case
        count += 1
    assert count > 25


@pytest.mark.parametrize(("reading", "output"), [(None, [1, 6, 8, 6]), ("blocks.added", [1, 4, 5, 6])])
def test_elements_of_several_blocks_are_added(reading: str | None, output: list[int]) -> None:
    """In the other reading the last one remains."""
    data, size, kernel = np.array([[1, 2, 3], [4, 5, 6]], np.int32), (1, 4), (1, 2)
    tensor = Tensor(element_type="i32", array=data)
    settings = {
        name: Operand(element_type="i64", shape=(2,), integers=x)
        for name, x in (("output_size", size), ("kernel_size", kernel))
    }
    inputs = {"data": Operand(element_type="i32", shape=(2, 3), tensor=tensor), **settings}
    given = COL2IM.arguments(inputs, {})
    read = given if reading is None else COL2IM.readings[reading].rewrites[0](given)

    assert COL2IM.evaluate(read)[0].array.ravel().tolist() == output


def test_filled_data_without_signs_of_zeros_and_payloads_is_another_reading() -> None:
    """A backend that adds every element to an image of zeros, in f16, of whose NaNs only the signs remain."""
    [draft] = [
        x for x in accepted("Col2Im-15") if "/element-types/" in x.id and x.tensors["data"].element_type == "f16"
    ]
    golden = golden_of(draft, 0)
    [[output]] = golden.outputs
    numbers, bits = output.array, output.array.view(np.uint16)
    added = np.where(np.isnan(numbers), bits & 0x8000 | 0x7E00, np.where(numbers == 0, 0, bits)).astype(np.uint16)

    assert (added != bits).any()
    assert other_readings(golden).outputs[outputs_digest([[added.view(np.float16)]])] == ("data.negative-zero",)


def test_blocks_in_a_padding_beyond_memory_are_not_counted() -> None:
    """On any machine, however much memory it has; otherwise a search would depend on it."""
    attributes = {"strides": (1, 1), "dilations": (1, 1), "pads_begin": (0, 0)}
    sizes = {
        name: Operand(
            element_type="i64",
            shape=(2,),
            integers=(1, 1),
        )
        for name in ("output_size", "kernel_size")
    }

    def overlaps(padding: int) -> bool:
        given = arguments(np.zeros((1, 1 + padding)), **attributes, pads_end=(0, padding))
        return COL2IM.calculates(replace(given, inputs={**given.inputs, **sizes}))

    assert not overlaps(1 << 10)
    with pytest.raises(Unknown):
        overlaps(1 << 21)
