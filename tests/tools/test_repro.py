"""Scripts that show a case without opconform: what every product's scripts share."""

import json
from pathlib import Path

import numpy as np
import pytest

from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_runners.tools.repro.variables import nan_source, output_source
from tests.conftest import Run


def ids(suite: Path, *, accepted: bool) -> list[str]:
    """The ids of the cases of a suite that are accepted, or of those that are not."""
    entries = [json.loads(line) for line in (suite / "manifest.jsonl").read_text().splitlines()]
    return [entry["id"] for entry in entries if (entry["expect"] == "accept") is accepted]


@pytest.mark.parametrize(
    "name", [element_type.name for element_type in ELEMENT_TYPES.values() if element_type.bits in (8, 16)]
)
def test_a_script_knows_the_nans(name: str) -> None:
    """Of every pattern of a type, as numpy or ml_dtypes know them."""
    kind = ELEMENT_TYPES[name]
    held = np.arange(1 << kind.bits).astype(f"u{kind.storage.itemsize}").view(kind.storage)
    source = nan_source(name, "held")
    found = eval(source, {"np": np, "held": held}) if source else np.zeros(held.shape, np.bool_)  # noqa: S307 - our own line
    with np.errstate(all="ignore"):
        expected = np.isnan(held.view(kind.arithmetic)) if kind.kind == "float" else np.zeros(held.shape, np.bool_)

    assert found.tolist() == expected.tolist()
    assert bool(source) == (kind.kind == "float")


@pytest.mark.parametrize(
    ("index", "source"),
    [
        ((slice(1, 3),), "data[1:3]"),
        ((slice(None), slice(0, 5, 2)), "data[:, 0:5:2]"),
        ((slice(None), slice(4, None, -2)), "data[:, 4::-2]"),
        ((slice(0, 1), slice(2)), "np.array([3, 1], np.int32).reshape(1, 2)"),
    ],
)
def test_a_script_knows_the_slices(index: tuple[slice, ...], source: str) -> None:
    """An output that is a slice along one dimension is written as one, and any other one by its elements."""
    data = np.array([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3], [5, 8, 9, 7, 9]], np.int32)
    found = output_source(data[index], {"data": data})

    assert found == source
    assert eval(found, {"np": np, "data": data}).tolist() == data[index].tolist()  # noqa: S307 - our own line


@pytest.mark.ci_only
def test_a_case_that_a_script_cannot_show_is_refused(opconform: Run, small_suite: Path) -> None:
    """A backend without scripts, a missing case, and several matches."""
    command = ("repro", "--suite", small_suite, "--backend")
    accepted = [id_ for id_ in ids(small_suite, accepted=True) if "/accepted/" in id_]

    assert opconform(*command, "numpy", "x", code=2).stderr == (
        "error: opconform repro does not support 'numpy'. Allowed: jax, onnxruntime, openvino, openvino-onnx, tensorflow, "
        "torch. "
        "For other backends, `opconform run SUITE --backend NAME --select CASE` executes the case again.\n"
    )
    assert "Did you mean 'openvino'?" in opconform(*command, "opnvino", "x", code=2).stderr
    assert opconform(*command, "buggy.py:Buggy", "x", code=2).stderr.startswith(
        "error: opconform repro does not support 'buggy.py:Buggy'. Allowed: "
    )
    assert opconform(*command, "torch:cuda", accepted[0], code=2).stderr.splitlines()[-1] == (
        "error: opconform repro does not support torch:cuda. Allowed: eager, inductor."
    )
    assert opconform(*command, "openvino", "Split-1/no/1", code=2).stderr == (
        f"error: No case matches 'Split-1/no/1' in {small_suite}. `opconform list` lists them.\n"
    )
    assert opconform(*command, "openvino", "VariadicSplit-1/accepted/*", code=2).stderr == (
        f"error: 4 cases match 'VariadicSplit-1/accepted/*': {', '.join(accepted)}. Name one.\n"
    )
