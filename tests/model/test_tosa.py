"""TOSA's reference model and its check of dot products, as implementations of bounds that are not ours.

Both run in an environment of their own, since their package asks for an older numpy. `.ci/ci-only` makes it.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opconform.model.evaluation import evaluated_arguments
from opconform.operations.arguments import Arguments
from opconform.suite.case import Accept
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite, open_suite
from opconform.tensors.element_types import ELEMENT_TYPES, ElementType
from opconform.tensors.exact import numbers, rounded
from opconform.tensors.tensor import Array, Tensor
from tests.model.oracles import differs, feeds_of, reading
from tests.model.tosa_requests import OF_I32, REALS, REQUESTS, Request, run_program
from tests.sampling import WHOLE

pytestmark = [pytest.mark.ci_only, pytest.mark.filterwarnings("ignore::RuntimeWarning")]


@dataclass(frozen=True, kw_only=True)
class Inference:
    """One inference of a case that TOSA can express."""

    entry: Entry
    feed: int
    arguments: Arguments
    request: Request

    @property
    def name(self) -> str:
        """The case and its feed."""
        return f"{self.entry.id}/{self.feed}"


def inferences(suite: Suite) -> Iterator[Inference]:
    """The inferences of valid cases without contexts that TOSA has, up to the first that it has not."""
    for entry in suite.entries:
        case = suite.case(entry)
        if case.op not in REQUESTS or case.context != "bare" or not isinstance(case.expect, Accept):
            continue
        kind = case.inputs[0].element_type
        if kind not in (
            *REALS,
            *(("i32",) if case.op in OF_I32 else ()),
            *(("boolean",) if "Logical" in case.op else ()),
        ):
            continue
        [node] = case.graph.nodes
        for feed, inputs in enumerate(feeds_of(suite, entry)):
            arguments = evaluated_arguments(node, inputs)
            request = REQUESTS[case.op](arguments)
            if request is None or 0 in (*request.shape, *(x.array.size for x in request.inputs)):
                break
            yield Inference(entry=entry, feed=feed, arguments=arguments, request=request)


def executed(found: list[Inference], folder: Path) -> dict[str, Tensor]:
    """The outputs of TOSA's reference model, rounded to the type of the case; none where it refuses a graph."""
    arrays = {f"{x.name}/{n}": tensor.array for x in found for n, tensor in enumerate(x.request.inputs)}
    graphs = {
        x.name: {
            **{key: value for key, value in asdict(x.request).items() if key not in ("inputs", "restored")},
            "inputs": [f"{x.name}/{n}" for n, _ in enumerate(x.request.inputs)],
            "types": [tensor.element_type for tensor in x.request.inputs],
        }
        for x in found
    }
    outputs, _ = run_program(folder, arrays, graphs=graphs)
    tensors = {}
    for x in found:
        if outputs[x.name].size:
            kind = ELEMENT_TYPES[x.request.output]
            output = Tensor(element_type=kind.name, array=outputs[x.name].view(kind.storage).reshape(x.request.shape))
            data = x.request.inputs[0].type
            if kind.name == "f32" and data.name in REALS:
                output = Tensor(element_type=data.name, array=rounded(data, numbers(output)))
            restored = np.asarray(x.request.restored(output.array), order="C")
            tensors[x.name] = Tensor(element_type=output.element_type, array=restored)
    return tensors


#: What TOSA's reference model computes with a larger error than our bounds allow, and why.
LESS_EXACT = {
    ("Power-1", "f32"): "exp2 of a product of f32, of which TOSA allows the error",
    ("ReduceSum-1", "f16"): "an accumulator of f16",
    ("Tanh-1", "bf16"): "TOSA's error is absolute, so that the tanh of a small number can be 0",
    ("Tanh-1", "f32"): "the same",
}
#: What it refuses as unpredictable, and why.
REFUSED = {
    **{(f"{op}-1", "i32"): "an integer beyond the range" for op in ("Abs", "Add", "Negative", "ReduceSum", "Subtract")},
    **{("Power-1", kind): "negative bases" for kind in REALS},
}
#: The elements of each output that are checked alone.
PLACES = 10 if WHOLE else 2
#: The cases that follow another reading: TOSA says nothing of the sign of zeros.
READINGS = {"values.zero", "values.zeros"}


def test_results_of_tosas_reference_model_are_right(core_suite: Path, tmp_path: Path) -> None:
    """Of every core case of an operation and a type that TOSA has, by our bounds; what it computes otherwise is listed."""
    suite = open_suite(core_suite)
    found = [*inferences(suite)]
    outputs = executed(found, tmp_path)
    refused, wrong, read_otherwise = set(), set(), set[str]()
    for entry in {x.entry.id: x.entry for x in found}.values():
        case = suite.case(entry)
        feeds = [[output] for x in found if x.entry is entry and (output := outputs.get(x.name)) is not None]
        if not feeds:
            refused.add((case.op, case.inputs[0].element_type))
        elif differs(suite, entry, feeds):
            readings = reading(suite, entry, feeds)
            read_otherwise |= {*readings}
            wrong |= {(case.op, case.inputs[0].element_type)} if not readings else set()

    assert wrong == {*LESS_EXACT}
    assert refused == {*REFUSED}
    assert read_otherwise == READINGS
    assert {suite.case(x.entry).op for x in found} == {*REQUESTS}


def sums(request: Request, of: Callable[[Array], Array]) -> tuple[Array, int]:
    """The sums of products in f64, of the inputs or of their absolute values, and the number of products of each."""
    first, *others = [of(numbers(tensor)) for tensor in request.inputs]
    match request.op:
        case "MATMUL":
            return np.matmul(first, others[0]), first.shape[-1]
        case "REDUCE_SUM":
            axis = request.attributes[0]
            return first.sum(axis, keepdims=True), first.shape[axis]
    pads, strides, dilations = request.attributes[:3]
    padded = np.pad(first, [(0, 0), tuple(pads[:2]), tuple(pads[2:]), (0, 0)])
    filters = others[0]
    extents = [(n - 1) * dilation + 1 for n, dilation in zip(filters.shape[1:3], dilations, strict=True)]
    windows = np.lib.stride_tricks.sliding_window_view(padded, extents, (1, 2))
    windows = windows[:, :: strides[0], :: strides[1], :, :: dilations[0], :: dilations[1]]
    return np.einsum("nhwcyx,oyxc->nhwo", windows, filters), filters[0].size


def next_after(kind: ElementType, number: float, away: float) -> float:
    """The next number of a type towards an infinity."""
    narrow = rounded(kind, np.array([number])).view(kind.arithmetic)
    return float(np.nextafter(narrow, kind.arithmetic.type(away))[0])


@dataclass(frozen=True, kw_only=True)
class Check:
    """An output that TOSA's check of dot products is asked about; `count` products give each element."""

    kind: ElementType
    actual: Array
    wanted: Array
    magnitude: Array
    count: int
    has_variance: bool = False

    def document(self, name: str) -> dict[str, Any]:
        """The check for the program, with the limits of `tosa_build_gen.py` for an accumulator of f32."""
        ksb = ceil(self.count / 2 ** ((23 - int(self.kind.layout.nmant)) / 2))
        variance = 4 * 0.4 * ksb if self.has_variance else 1e30
        info = {"s": -1, "ksb": ksb, "abs_bound": 2 * ksb, "variance_error_bound": variance}
        return {**{key: f"{name}/{key}" for key in self.arrays}, "type": self.kind.name, "info": info}

    @property
    def arrays(self) -> dict[str, Array]:
        """The arrays that the check compares."""
        return {"actual": rounded(self.kind, self.actual), "wanted": self.wanted, "magnitude": self.magnitude}


def checks_of(suite: Suite) -> Iterator[tuple[str, Check]]:
    """Outputs at the ends of our bounds and beyond, each element alone and all of them, by what they are."""
    for x in inferences(suite):
        [bounds] = suite.bounds(x.entry, x.feed)
        if x.request.op not in ("MATMUL", "CONV2D", "REDUCE_SUM") or bounds is None:
            continue
        kind, (wanted, count) = x.request.inputs[0].type, sums(x.request, lambda array: array)
        magnitude, _ = sums(x.request, np.abs)
        [golden] = suite.golden(x.entry, x.feed).values()
        exact, sizes = (x.request.restored(array).ravel() for array in (wanted, magnitude))
        middle, lower, upper = (
            numbers(Tensor(element_type=kind.name, array=array)).ravel() for array in (golden, *bounds)
        )
        whole: dict[str, Any] = {"kind": kind, "wanted": exact, "magnitude": sizes, "count": count}
        if np.isfinite((lower, upper)).all() and (lower < upper).all():
            yield f"right: {x.name}", Check(actual=middle, has_variance=True, **whole)
            yield f"biased: {x.name}", Check(actual=lower, has_variance=True, **whole)
        for place in range(0, exact.size, max(1, exact.size // PLACES)):
            if not np.isfinite((lower[place], upper[place])).all():
                continue
            word = "exact" if lower[place] == upper[place] else "bounded" if sizes[place] else "either zero"
            ends = {"lower": (lower, -np.inf), "upper": (upper, np.inf)}
            of: dict[str, Any] = {"kind": kind, "count": count, "wanted": exact[[place]], "magnitude": sizes[[place]]}
            for end, (limits, away) in ends.items():
                name = f"{end} {x.name}/{place}"
                yield f"{word}, inside: {name}", Check(actual=limits[[place]], **of)
                after = np.array([next_after(kind, limits[place], away)])
                yield f"{word}, beyond: {name}", Check(actual=after, **of)


def test_bounds_of_sums_are_those_of_tosas_check(core_suite: Path, tmp_path: Path) -> None:
    """For an accumulator of f32, up to the last number, but that we ask for exact results where every order has them.

    A zero of either sign has the least numbers as bounds, which only a zero meets there.

    Its rule on the variance of an output also refuses errors that are all as large as the bound.
    """
    checks = dict(checks_of(open_suite(core_suite)))
    arrays = {f"{name}/{key}": array for name, check in checks.items() for key, array in check.arrays.items()}
    _, accepted = run_program(tmp_path, arrays, checks={name: check.document(name) for name, check in checks.items()})
    verdicts: dict[str, set[bool]] = {}
    for name, verdict in accepted.items():
        verdicts.setdefault(name.partition(":")[0], set()).add(verdict)

    assert verdicts == {
        "bounded, inside": {True},
        "bounded, beyond": {False},
        "exact, inside": {True},
        "exact, beyond": {True},
        "either zero, inside": {False},
        "either zero, beyond": {False},
        "right": {True},
        "biased": {False},
    }
