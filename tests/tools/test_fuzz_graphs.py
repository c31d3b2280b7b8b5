"""The search for failures of graphs: what is drawn, when its golden is sure, and how a failing graph is reduced."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from opconform.generation.expansion import expand, specs_of
from opconform.generation.options import LIMITS
from opconform.model.draft import Draft, Fill, TensorDraft
from opconform.suite.case import Node
from opconform.tensors.tensor import Tensor
from opconform_runners.tools.fuzz.cases.reduction import reduce
from opconform_runners.tools.fuzz.cases.simplicity import cost
from opconform_runners.tools.fuzz.cases.spec_text import group_of, spec_text
from opconform_runners.tools.fuzz.finding import FuzzFinding
from opconform_runners.tools.fuzz.graphs.alone import nodes_alone
from opconform_runners.tools.fuzz.graphs.draws import NODES, GraphDraws
from opconform_runners.tools.fuzz.graphs.exactness import has_few_digits
from opconform_runners.tools.fuzz.graphs.experience import Experience, Lesson, Recipe
from opconform_runners.tools.fuzz.graphs.structure import decided_graph, graph_draft, nodes_of
from opconform_runners.tools.fuzz.trial import Trial, is_defined
from tests.conftest import Run
from tests.tools.fuzz_failures import PASSED, failure, search_of

MINIATURES = Path(__file__).parents[1] / "miniatures.py"
#: Operations that compute, move, join, and convert.
OPS = ("Add-1", "Negative-1", "Concat-1", "Transpose-1", "ReduceSum-1", "Convert-1")


@cache
def drawn(count: int, seed: int = 0) -> tuple[Trial, ...]:
    """The first graphs of a search."""
    return tuple(islice(GraphDraws(OPS, seed), count))


def test_drawn_graphs_are_valid_and_have_three_to_eight_nodes() -> None:
    """Each is drawn once, and the same seed draws the same ones."""
    drafts = [trial.draft for trial in drawn(40)]

    assert all(NODES[0] <= len(nodes_of(draft)) <= NODES[1] for draft in drafts)
    assert all(not inference.violated for draft in drafts for inference in draft.inferences)
    assert len({draft.digits for draft in drafts}) == len(drafts)
    assert [trial.draft.digits for trial in islice(GraphDraws(OPS, 0), 5)] == [draft.digits for draft in drafts[:5]]


def test_drawn_graphs_vary_in_what_decides_failures() -> None:
    """Types, sizes, weights, open dimensions, second inferences, several outputs, and results that are used twice."""
    drafts = [trial.draft for trial in drawn(120)]
    tensors = [tensor for draft in drafts for tensor in draft.tensors.values()]
    graphs = [(draft, [name for node in nodes_of(draft) for name in node.inputs]) for draft in drafts]

    assert {tensor.element_type for tensor in tensors} >= {"f32", "f16", "bf16", "f64", "i64", "u8"}
    assert {size for tensor in tensors for size in tensor.shape} >= {0, 1, 2, 3, 5, 13}
    assert {draft.requirements for draft in drafts} >= {("values.chain",), ("values.residual",)}
    assert any(draft.dynamic for draft in drafts)
    assert any(draft.second for draft in drafts)
    assert any(len(draft.graph.outputs) > 1 for draft in drafts if draft.graph)
    assert any(draft.graph and set(taken) & set(draft.graph.outputs) for draft, taken in graphs)
    assert any(len(set(taken)) < len(taken) for _, taken in graphs)


def test_a_drawn_graph_is_an_entry_of_a_spec(tmp_path: Path) -> None:
    """A user can keep it: it expands to the same case."""
    trials, path = drawn(40), tmp_path / "Graph-1.yaml"
    path.write_text(spec_text("Graph-1", [group_of(trial, "A graph") for trial in trials]))

    [spec] = specs_of([path], seed=0, limits=LIMITS)

    assert [draft.digits for group in spec.groups for draft in expand(group)] == [x.draft.digits for x in trials]


@pytest.mark.parametrize(
    ("numbers", "is_sure"),
    [
        ([1.0, -64.0, 127.0], True),
        ([0.25, 16.0], True),
        ([1.0, 128.0], False),
        ([1 / 3], False),
        ([-0.0], False),
        ([np.inf], False),
        ([1e-40], False),
    ],
)
def test_a_graph_computes_with_numbers_that_every_order_has_exactly(numbers: list[float], is_sure: bool) -> None:
    """Also if a backend computes in bf16, in which 128 + 1 is the last sum that is exact."""
    assert has_few_digits(Tensor(element_type="f32", array=np.array(numbers, np.float32))) is is_sure


def test_numbers_of_16_bits_are_read_in_their_own_type() -> None:
    """And not as the integers that store them."""
    wide = np.array([3.0, 200.0, 201.0], ml_dtypes.bfloat16).view(np.uint16)

    assert not has_few_digits(Tensor(element_type="bf16", array=wide))
    assert has_few_digits(Tensor(element_type="i64", array=np.array([1 << 40])))


def graph(*nodes: tuple[str, str, str], outputs: tuple[str, ...], element_type: str = "f32") -> Draft:
    """A graph of nodes with one input or two, of the inputs `x` and `y`."""
    tensor = TensorDraft(element_type=element_type, shape=(2, 3), fill="exact")
    names = [name for name in ("x", "y") if any(name in node[2].split() for node in nodes)]
    made = [
        Node(
            name=name,
            op=op,
            inputs=tuple(x if x in names else f"{x}_0" for x in taken.split()),
            outputs=(f"{name}_0",),
            under_test=True,
        )
        for name, op, taken in nodes
    ]
    draft = decided_graph(
        graph_draft(dict.fromkeys(names, tensor), dict.fromkeys(names, "parameter"), made, [f"{x}_0" for x in outputs])
    )
    assert draft is not None
    return draft


def test_graphs_that_differ_in_names_alone_are_one_case() -> None:
    """Nodes that no output needs are left out, too."""
    plain = graph(("a", "Add-1", "x y"), ("b", "Negative-1", "a"), outputs=("b",))
    other = graph(("q", "Add-1", "x y"), ("r", "Abs-1", "q"), ("s", "Negative-1", "q"), outputs=("s",))

    assert other.digits == plain.digits
    assert plain.requirements == ("values.behind",)


def test_a_graph_of_one_node_is_no_case() -> None:
    """Single operations are drawn without a graph."""
    with pytest.raises(AssertionError):
        graph(("a", "Add-1", "x y"), outputs=("a",))


@pytest.mark.parametrize(("fill", "expected"), [("small", True), ("exact", False)])
def test_a_graph_that_rejects_its_own_elements_is_not_executed(fill: Fill, expected: bool) -> None:
    """Inference takes all elements for unique ones; where they repeat, another input has too many."""
    x = TensorDraft(element_type="i32", shape=(8,), fill=fill)
    unique = Node(name="a", op="Unique-10", inputs=("x",), outputs=("a_0",), under_test=True)
    add = Node(name="b", op="Add-1", inputs=("a_0", "x"), outputs=("b_0",), under_test=True)
    draft = decided_graph(graph_draft({"x": x}, {"x": "parameter"}, [unique, add], ["b_0"]))

    assert draft is not None
    assert is_defined(Trial(draft=draft), seed=0) is expected


def simplest(trial: Trial, *ops: str) -> Draft:
    """The simplest graph, of the variants of one, in which one operation is directly behind the other."""

    def fails(variant: Trial) -> bool:
        makers = {name: node for node in nodes_of(variant.draft) for name in node.outputs}
        pairs = {(makers[x].op, node.op) for node in nodes_of(variant.draft) for x in node.inputs if x in makers}
        if ops not in pairs:
            return False
        failing.append(variant.draft)
        return True

    failing: list[Draft] = []
    assert fails(trial)
    reduce(trial, fails)
    return min(failing, key=cost)


def test_a_failing_graph_is_reduced_to_the_nodes_that_it_needs() -> None:
    """Nodes are cut first; then types, open dimensions, sizes and values are as plain as they can be."""
    draft = graph(
        ("a", "Negative-1", "x"),
        ("b", "Add-1", "a y"),
        ("c", "Abs-1", "b"),
        ("d", "Concat-1", "c b"),
        ("e", "Negative-1", "b"),
        outputs=("c", "e"),
        element_type="f16",
    )

    reduced = simplest(Trial(draft=draft), "Add-1", "Abs-1")

    assert [node.op for node in nodes_of(reduced)] == ["Add-1", "Abs-1"]
    assert {tensor.element_type for tensor in reduced.tensors.values()} == {"f32"}
    assert all(max(tensor.shape) <= 1 for tensor in reduced.tensors.values())


def operations_alone(draft: Draft) -> Iterator[tuple[str, tuple[object, ...]]]:
    """The operations of a graph, each with the elements of its first input."""
    return (
        (trial.draft.op, next(iter(trial.draft.tensors.values())).elements)
        for trial in nodes_alone(draft, 0, is_plain=False)
    )


def test_a_node_alone_has_the_inputs_that_it_has_in_the_graph() -> None:
    """So that the case of its operation shows what fails in the graph."""
    draft = graph(("a", "Negative-1", "x"), ("b", "Abs-1", "a"), outputs=("b",))

    assert [*operations_alone(draft)] == [
        ("Negative-1", (1.0, -2.0, 3.0, -1.0, 2.0, -3.0)),
        ("Abs-1", (-1.0, 2.0, -3.0, 1.0, -2.0, 3.0)),
    ]


def test_a_node_alone_is_tried_with_known_dimensions_too() -> None:
    """A compiler may know dimensions that the model does not declare, and fail by those alone."""
    draft = graph(("a", "Negative-1", "x"), ("b", "Abs-1", "a"), outputs=("b",))
    opened = replace(draft, dynamic={"x0": ("?", "?")})

    declared = [trial.draft.dynamic for trial in nodes_alone(opened, 0, is_plain=True)]

    assert declared == [{}, {"data": ("?", "?")}] * 2


@pytest.mark.parametrize(("failing", "found"), [("Abs-1", ["Abs-1"]), ("Add-1", ["Graph-1"])])
def test_a_failure_is_of_the_graph_only_if_its_operations_pass_alone(failing: str, found: list[str]) -> None:
    """Also where the same process did not show that one of them fails, as it may not if memory decides."""
    draft = graph(("a", "Negative-1", "x"), ("b", "Abs-1", "a"), outputs=("b",))
    search = search_of()
    search.batches.outcomes = lambda trials, *_, **__: (  # type: ignore[method-assign]
        failure(trial) if trial.draft.op == failing else PASSED for trial in trials
    )

    attributed = search._attributed(FuzzFinding(failure=failure(Trial(draft=draft), "nondeterministic")))

    assert [finding.failure.trial.draft.op for finding in attributed] == found


def test_a_graph_of_two_operations_fails_like_one_of_three() -> None:
    """Its requirement is that on another pattern, so that no graph would be cut to a pair."""
    nodes = (("a", "Add-1", "x y"), ("b", "Abs-1", "a"), ("c", "Negative-1", "b"))
    trials = [Trial(draft=graph(*nodes[:count], outputs=(nodes[count - 1][0],))) for count in (2, 3)]
    failures = [failure(trial) for trial in trials]
    signs = {replace(x, result=replace(x.result, broken=x.trial.draft.requirements)).sign for x in failures}

    assert [trial.draft.requirements for trial in trials] == [("values.behind",), ("values.chain",)]
    assert len(signs) == 1


def test_what_a_backend_does_not_support_is_drawn_less_often() -> None:
    """Of a graph that shows nothing, what no graph passed with is to blame."""
    good, bad = (Recipe(op=op, sample=0, element_type="f32") for op in ("Add-1", "Roll-7"))
    experience = Experience()
    experience.learn([good], Lesson(verdict="pass"))

    experience.learn([good, bad], Lesson(verdict="unsupported"))
    experience.learn([good, bad], Lesson(verdict="fail"))

    assert experience.trust(good) == 1
    assert experience.trust(bad) < 0.2


def test_nothing_is_found_in_a_right_backend(opconform: Run, tmp_path: Path) -> None:
    """Numpy executes graphs node by node."""
    done = opconform("fuzz", "numpy", *OPS, "--graphs", "--tests", 40, "--out", tmp_path / "finds")

    assert done.stdout == "40 cases tested: 40 pass. 0 new findings.\n"


@pytest.mark.ci_only
def test_a_fault_of_graphs_is_one_small_graph_and_known_afterwards(opconform: Run, tmp_path: Path) -> None:
    """Its operations pass alone; the spec of graphs has it."""
    search = ("fuzz", f"{MINIATURES}:DropsBehind", "Add-1", "Abs-1", "--graphs", "--tests", 6, "--out", tmp_path)

    first = opconform(*search, code=1)
    again = opconform(*search)

    assert "each of its operations passes alone" in first.stdout
    assert "Graph-1 values." in first.stdout
    assert [path.name for path in tmp_path.glob("*.yaml")] == ["Graph-1.yaml"]
    assert "0 new findings, besides" in again.stdout


def test_a_backend_that_always_fails_has_one_finding(opconform: Run, tmp_path: Path) -> None:
    """The search ends early, as it does for single operations."""
    done = opconform("fuzz", f"{MINIATURES}:ReturnsNothing", *OPS, "--graphs", "--tests", 60, "--out", tmp_path, code=1)

    assert " 1 new finding.\nThe search ended early, because nearly every case fails" in done.stdout


@pytest.mark.ci_only
def test_a_node_that_fails_alone_is_a_finding_of_its_operation(opconform: Run, tmp_path: Path) -> None:
    """Each graph with it fails; the report has one case of the operation, and no graph."""
    search = ("fuzz", f"{MINIATURES}:LosesJoins", "Concat-1", "Negative-1", "--graphs", "--tests", 12)

    done = opconform(*search, "--out", tmp_path, code=1)

    assert "Concat-1" in done.stdout
    assert "Graph-1 " not in done.stdout
