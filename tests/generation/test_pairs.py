"""Pairs of operations that are derived from samples: graphs, exact results, turns, and reasons."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opconform.generation import expansion
from opconform.generation.pairs.derivation import pairs_of
from opconform.generation.pairs.graphs import BINDINGS, DIMENSIONS
from opconform.model.golden import golden_of
from opconform.specs.index import content_of, sample_files, shipped_files, state_of
from opconform.specs.loader import load_specs
from opconform.specs.schema.graph import Pattern
from opconform.specs.yaml_document import SpecMistakes
from opconform.suite.selection.selection import Selection

OPS = ("Add-1", "Transpose-1", "MatMul-1", "Gather-8", "ReduceSum-1")
SPEC = "op: Graph-1\ngroups:\n  - id: a\n    title: t\n    requirements: [values.behind]\n    pairs: behind\n"
Keys = Mapping[str, Any]


def ops_of(keys: Keys) -> tuple[str, ...]:
    """The operations of the nodes of a graph."""
    return tuple(node["op"] for node in keys["nodes"].values())


def turn_of(keys: Keys) -> tuple[str, str]:
    """The declared dimensions of the data, and the binding of the weights."""
    dynamic = keys.get("dynamic", {}).get("x")
    dimensions = "static" if dynamic is None else "all" if dynamic == "all" else "batch"
    return dimensions, "parameter" if "binding" in keys else "constant"


def takers(keys: Keys, tensor: str) -> list[str]:
    """The nodes that take a tensor."""
    nodes = keys["nodes"].items()
    return [name for name, node in nodes if tensor in node.values() or tensor in node.get("inputs", ())]


def test_every_ordered_pair_has_a_graph_in_three_element_types() -> None:
    """In f32, in a type of 16 bits, and in an integer type."""
    cases = pairs_of("behind", ops=("Abs-1", "Transpose-1")).cases
    types = {ops: [x["inputs"]["x"]["element_type"] for x in cases if ops_of(x) == ops] for ops in map(ops_of, cases)}

    assert {*types} == {(a, b) for a in ("Abs-1", "Transpose-1") for b in ("Abs-1", "Transpose-1")}
    for single, half, integer in types.values():
        assert (single, half in ("f16", "bf16"), integer in ("i32", "i64")) == ("f32", True, True)


@pytest.mark.parametrize(
    ("pattern", "last", "taking_data", "taking_first", "outputs"),
    [
        ("behind", None, ["first"], ["second"], ["second"]),
        ("twice", None, ["first"], ["second"], ["second"]),
        ("beside", None, ["first", "second"], [], ["first", "second"]),
        ("residual", None, ["first", "second"], ["second"], ["second"]),
        ("joined", "Concat-1", ["first"], ["second", "last"], ["last"]),
    ],
)
def test_the_graph_of_a_pattern(
    pattern: Pattern, last: str | None, taking_data: list[str], taking_first: list[str], outputs: list[str]
) -> None:
    """Which nodes take the data and the first result, and which are outputs."""
    cases = pairs_of(pattern, last, ("Add-1", "MatMul-1")).cases

    assert cases
    for keys in cases:
        assert (takers(keys, "x"), takers(keys, "first"), keys["outputs"]) == (taking_data, taking_first, outputs)


def test_an_operation_that_is_executed_twice_has_other_arguments() -> None:
    """Attributes or other inputs."""
    for keys in pairs_of("twice", ops=OPS).cases:
        first, second = ({k: x for k, x in node.items() if x not in ("x", "first")} for node in keys["nodes"].values())
        weights = [[keys["inputs"].get(x, x) if isinstance(x, str) else x for x in n.values()] for n in (first, second)]
        assert (weights[0], first.keys()) != (weights[1], second.keys())


def test_dimensions_and_weights_take_turns() -> None:
    """Each operation has every choice as the first of a pair, and as the second one."""
    cases = pairs_of("behind", ops=OPS).cases
    for place in (0, 1):
        for op in OPS:
            turns = {turn_of(keys) for keys in cases if ops_of(keys)[place] == op}
            assert turns == {(x, y) for x in DIMENSIONS for y in BINDINGS}


def test_a_pair_is_the_same_whatever_other_operations_there_are() -> None:
    """Data and arguments; only dimensions and bindings depend on the other pairs."""

    def of_pair(ops: tuple[str, ...]) -> list[Any]:
        cases = pairs_of("behind", ops=ops).cases
        return [x["inputs"]["x"] for x in cases if ops_of(x) == ("Add-1", "MatMul-1")]

    assert of_pair(("Add-1", "MatMul-1")) == of_pair(OPS) == of_pair(OPS[::-1])


def goldens(monkeypatch: pytest.MonkeyPatch, folder: Path, ops: tuple[str, ...], body: str = SPEC) -> Iterator[Any]:
    """The goldens of a group of pairs of some operations."""
    monkeypatch.setattr(expansion, "pairs_of", partial(pairs_of, ops=ops))
    (folder / "spec.yaml").write_text(body)
    [spec] = load_specs([folder / "spec.yaml"])
    return (golden_of(draft, 0) for draft in expansion.expand(spec.groups[0]))


def test_operations_compute_with_exact_results(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """So that every order gives the same bits: a quotient is not rounded, and a root is of a square."""
    number = 0
    for golden in goldens(monkeypatch, tmp_path, ("Divide-1", "Sqrt-1", "ReduceMean-1", "Add-1")):
        tensors = golden.tensors[0]
        assert tensors["first_0"].bounds is None
        [node, *_] = golden.graph.nodes
        if node.op == "Divide-1" and tensors["x"].type.kind == "float":
            arrays = [tensors[name].array for name in ("x", *node.inputs, "first_0") if name not in (None, "x")]
            kind = tensors["x"].type.arithmetic
            a, b, quotient = (x.view(kind).astype(float) for x in (tensors["x"].array, *arrays))
            if node.inputs[0] != "x":
                a, b = b, a
            assert np.array_equal(quotient * b, np.broadcast_to(a, quotient.shape))
            number += 1
    assert number


@pytest.mark.parametrize(
    ("pattern", "ops", "left_out"),
    [
        ("behind", ("LogicalAnd-1", "Sqrt-1"), {"no common element type": 8}),
        ("behind", ("Eye-9",), {"no input of data": 3}),
        ("residual", ("Abs-1",), {"one input of data": 1}),
        ("twice", ("Abs-1",), {"no other arguments": 3}),
        ("behind", ("Unique-10",), {"computed elements decide a shape": 3}),
        ("behind", ("ShapeOf-3", "DepthToSpace-1"), {"no shape fits": 3}),
    ],
)
def test_pairs_without_a_graph_are_counted_by_reason(
    pattern: Pattern, ops: tuple[str, ...], left_out: Mapping[str, int]
) -> None:
    """Once per element type."""
    assert pairs_of(pattern, ops=ops).left_out == left_out


def test_operations_do_not_compute_with_results_whose_errors_are_not_followed() -> None:
    """An order of rounded numbers may be another one."""
    pairs = pairs_of("behind", ops=("SoftMax-8", "TopK-11"))

    assert pairs.left_out["rounded elements"]
    assert ("SoftMax-8", "TopK-11") not in map(ops_of, pairs.cases)


def test_a_group_of_pairs_derives_all_that_a_case_has(tmp_path: Path) -> None:
    """A matrix beside it would have no effect, so it is a mistake."""
    (tmp_path / "spec.yaml").write_text(f"{SPEC}    matrix: {{type: [f32]}}\n")

    with pytest.raises(SpecMistakes, match=r"spec.yaml:7:13: .*a group with `pairs` derives its cases"):
        load_specs([tmp_path / "spec.yaml"])


def test_the_profile_is_selected_by_name_alone() -> None:
    """It is for packs."""
    assert [Selection(profiles=x).wants_profile("pairs") for x in ((), ("default",), ("pairs",))] == [
        False,
        False,
        True,
    ]


def test_pairs_change_with_the_samples_of_any_operation(monkeypatch: pytest.MonkeyPatch) -> None:
    """So the index is found to be outdated."""
    path = shipped_files()["Graph-1/pairs.yaml"]
    before = state_of(path)
    [edited, *_] = sample_files()
    monkeypatch.setattr(
        "opconform.specs.index.content_of", lambda x: content_of(x) + (b"# edited\n" if x == edited else b"")
    )

    assert state_of(path) != before
