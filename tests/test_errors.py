"""The words that errors suggest."""

import pytest

from opconform.errors import near_word
from opconform.tensors.element_types import ELEMENT_TYPES

FILLS, CONTEXTS = ("ramp", "bits", "special", "constant"), ("bare", "folded", "chain", "convert")


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("rmp", FILLS, "ramp"),
        ("specail", FILLS, "special"),
        ("RAMP", FILLS, "ramp"),
        ("const", FILLS, "constant"),
        ("random", FILLS, None),
        ("concat", CONTEXTS, None),
        ("matrix", ("max", "min"), None),
        ("indexes", ("data", "indices", "axis"), "indices"),
        ("Onw", ("Own",), "Own"),
        ("OpenVINO", ("numpy", "openvino"), "openvino"),
        ("float32", ELEMENT_TYPES, "f32"),
        ("uint8", ELEMENT_TYPES, "u8"),
        ("bfloat16", ELEMENT_TYPES, "bf16"),
        ("double", ELEMENT_TYPES, None),
        ("x" * 201, ("x" * 201,), None),
    ],
)
def test_a_suggestion_is_what_is_probably_meant(word: str, known: tuple[str, ...], meant: str | None) -> None:
    """Words that only share some letters are not suggested."""
    assert near_word(word, known) == meant
