"""Cases in which backends agree with each other and not with opconform."""

import pytest

from opconform_runners.reports.backend_matrix import suspects_of
from opconform_runners.verdicts.results import Result
from opconform_runners.verdicts.verdict import FailReason

CASE = "Split-1/group/0123456789"


def failure(reason: FailReason = "shape", sentence: str = "2 outputs instead of 3") -> list[Result]:
    """The results of a backend that fails one case."""
    return [Result(id=CASE, profile="core", expect="accept", verdict="fail", reason=reason, sentence=sentence)]


PASS = [Result(id=CASE, profile="core", expect="accept", verdict="pass")]


@pytest.mark.parametrize(
    ("results", "agreeing"),
    [
        ({"jax": failure(), "torch": failure(), "tvm": failure(), "numpy": PASS}, ["jax", "torch", "tvm"]),
        ({"jax": failure(), "torch": failure(), "numpy": PASS}, []),
        ({"openvino": failure(), "openvino:AUTO": failure(), "openvino-onnx": failure()}, []),
        ({"jax": failure(), "torch": failure(), "tvm": failure(sentence="1 output instead of 3")}, []),
        ({name: failure("rejected-valid", f"{name}: no") for name in ("jax", "torch", "tvm")}, ["jax", "torch", "tvm"]),
        ({"jax": failure("crash"), "torch": failure("crash"), "tvm": failure("crash")}, []),
    ],
    ids=["three", "two", "one product", "other answers", "their own words", "crashes"],
)
def test_three_products_with_one_answer_make_a_suspect(results: dict[str, list[Result]], agreeing: list[str]) -> None:
    """Whatever the others do."""
    assert [name for suspect in suspects_of(results) for name in suspect.backends] == agreeing
