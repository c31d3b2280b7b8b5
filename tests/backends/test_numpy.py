"""The `numpy` backend with arguments that few cases have, and that searches drew."""

from collections.abc import Sequence
from pathlib import Path
from types import FunctionType

import numpy as np
import pytest

from opconform.system.entry_points import Registry
from opconform.tensors.tensor import Tensor, patterns
from opconform_runners.backends.backend import Rejected
from opconform_runners.backends.numpy import backend
from opconform_runners.backends.numpy.backend import FUNCTIONS, Numpy

#: A size that no array in memory has, unless another one is 0.
HUGE = 1 << 40


def of(element_type: str, *shape: int) -> Tensor:
    """A tensor of zeros."""
    return Tensor(element_type=element_type, array=np.zeros(shape, {"f32": np.float32, "u64": np.uint64}[element_type]))


def integers_of(*shape: int) -> Tensor:
    """Zeros of i64."""
    return Tensor(element_type="i64", array=np.zeros(shape, np.int64))


def integers(*elements: int) -> Tensor:
    """A list of i64."""
    return Tensor(element_type="i64", array=np.array(elements, np.int64))


@pytest.mark.parametrize(
    ("op", "inputs", "shape"),
    [
        ("Broadcast-1", [of("f32"), integers(HUGE, 0)], (HUGE, 0)),
        ("Tile-1", [of("f32", 1, 2), integers(HUGE, 0)], (HUGE, 0)),
        ("Tile-1", [of("f32", 3, 2), integers(0)], (3, 0)),
        ("ReverseSequence-1", [of("f32", 0, HUGE), integers()], (0, HUGE)),
        ("Roll-7", [of("f32", HUGE, 0), integers(1), integers(0)], (HUGE, 0)),
        (
            "SliceScatter-15",
            [of("f32", HUGE, 0), of("f32", HUGE - 1, 0), integers(1), integers(HUGE), integers(1), integers(0)],
            (HUGE, 0),
        ),
        ("GatherElements-6", [of("f32", HUGE, 0), integers_of(HUGE, 0)], (HUGE, 0)),
    ],
    ids=["broadcast", "tiled", "tiled in one dimension", "reversed", "rolled", "scattered", "gathered"],
)
def test_outputs_without_elements_take_no_memory(op: str, inputs: Sequence[Tensor], shape: tuple[int, ...]) -> None:
    """However large their other dimensions are."""
    [output] = FUNCTIONS[op](inputs, {"axis": 0})

    assert output.shape == shape


def test_a_tensor_without_strings_has_no_places() -> None:
    """However many places its other dimensions have."""
    texts = Tensor(element_type="string", array=np.zeros((2, 0, HUGE, 0), np.str_))

    begins, ends, symbols = FUNCTIONS["StringTensorUnpack-15"]([texts], {})

    assert begins.shape == ends.shape == (2, 0, HUGE, 0)
    assert symbols.shape == (0,)


@pytest.mark.parametrize(("target", "bits"), [("f16", 0x7E00), ("f64", 0x7FF8 << 48), ("bf16", 0x7FC0)])
def test_a_converted_nan_has_neither_sign_nor_payload(target: str, bits: int) -> None:
    """Also the first of one element, which numpy converts in another way."""
    data = Tensor(element_type="f32", array=np.array([0xFF800001], np.uint32).view(np.float32))

    [output] = FUNCTIONS["Convert-1"]([data], {"destination_type": target})

    assert patterns(output.array).tolist() == [bits]


def test_a_shape_of_more_dimensions_than_arrays_have_is_refused() -> None:
    """Before an array of it is made."""
    with pytest.raises(Rejected) as refusal:
        FUNCTIONS["Broadcast-1"]([of("f32", 3), integers(*[2] * 65)], {})

    assert refusal.value.requirement == "numpy.dimensions"


def test_an_empty_list_of_axes_is_not_an_omitted_one() -> None:
    """Beside lists of other lengths it is refused."""
    data, ones = of("f32", 2, 3), integers(1)

    with pytest.raises(Rejected) as refusal:
        FUNCTIONS["SliceScatter-15"]([data, data, ones, ones, ones, integers()], {})

    assert refusal.value.requirement == "indices.count"


@pytest.mark.parametrize(("limits", "expected"), [((-2.0, -1.0), 0), ((1e30, 2e30), (1 << 64) - 1)])
def test_limits_beyond_an_integer_type_are_those_of_the_type(limits: tuple[float, float], expected: int) -> None:
    """Also if both are on one side of it."""
    [output] = FUNCTIONS["Clamp-1"]([of("u64", 2)], {"min": limits[0], "max": limits[1]})

    assert output.integers() == [expected, expected]


def test_numpy_pads_an_empty_output_of_any_size() -> None:
    """A dimension of 2**40 beside one without elements takes no memory."""
    data = Tensor(element_type="u8", array=np.zeros((1, 2), np.uint8))
    begin, end = (Tensor(element_type="i64", array=np.array(x)) for x in ([1 << 40, -2], [0, 0]))

    [output] = FUNCTIONS["Pad-12"]([data, begin, end], {"pad_mode": "constant"})

    assert output.shape == ((1 << 40) + 1, 0)


def test_numpy_gathers_nothing_with_empty_indices_of_any_size() -> None:
    """No grid is made of the dimensions of the indices that are not batches."""
    data = Tensor(element_type="f32", array=np.zeros((2, 2), np.float32))
    indices = Tensor(element_type="u8", array=np.zeros((0, 1 << 40, 2), np.uint8))

    [output] = FUNCTIONS["GatherND-8"]([data, indices], {})

    assert output.shape == (0, 1 << 40)


def test_numpy_gathers_nothing_from_empty_data_of_any_size() -> None:
    """No slice of zeros is made for indices that are out of range if there are none."""
    data = Tensor(element_type="u8", array=np.zeros((0, 1 << 45), np.uint8))
    indices, axis = (Tensor(element_type="i64", array=np.zeros(x, np.int64)) for x in ((0,), ()))

    [output] = FUNCTIONS["Gather-8"]([data, indices, axis], {})

    assert output.shape == (0, 1 << 45)


def test_functions_of_installed_distributions_are_executed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Of the operations that they add; a shipped one is not replaced."""
    (tmp_path / "maker.py").write_text("def kernel(inputs, attributes): return inputs\n")
    (metadata := tmp_path / "maker-1.0.dist-info").mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: maker\nVersion: 1.0\n")
    lines = ("[opconform.numpy]", "Mirror-1 = maker:kernel", "Split-1 = maker:kernel")
    (metadata / "entry_points.txt").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(tmp_path)
    fresh = Registry("opconform.numpy", (FunctionType,), {}, vars(backend)["_check_name"])
    monkeypatch.setattr(backend, "_INSTALLED", fresh)

    assert {*Numpy().describe().operations} - {*FUNCTIONS} == {"Mirror-1"}
    assert caplog.messages == [
        (
            "warning: The entry point Split-1 of maker (opconform.numpy) is not used: the numpy backend has a function of that "
            "name. Rename it."
        )
    ]
