"""The model graph of a case: its contexts, the walk over it, and what a model declares of its tensors."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from opconform.model.draft import Draft, TensorDraft
from opconform.model.evaluation import evaluated, inferred, taken
from opconform.model.graph import declared, graph_of
from opconform.operations import OPERATIONS
from opconform.operations.contract import ContextError
from opconform.suite.case import Binding, Graph, Node
from opconform.tensors.tensor import Tensor

#: Why a split into as many outputs as there are rows cannot be split again.
CHAIN = "`chain` executes Split-1 again on the last output, whose shape [1, 6] violates num_splits.at-most-dimension"


def split(context: str, *, axis: int = 0, parts: int = 2, dynamic: bool = False, run_time: bool = False) -> Draft:
    """A draft of Split-1 on i32[4, 6]."""
    return Draft(
        op="Split-1",
        group="group",
        title="title",
        profile="core",
        requirements=(),
        seen=(),
        where="spec.yaml:1:1",
        attributes={"num_splits": parts},
        tensors={
            "data": TensorDraft(element_type="i32", shape=(4, 6), fill="ramp"),
            "axis": TensorDraft(element_type="i64", shape=(), fill="values", elements=(axis,)),
        },
        second=None,
        binding={"data": "parameter", "axis": "parameter" if run_time else "constant"},
        dynamic={"data": ("?", 6)} if dynamic else {},
        context=context,
    )


def transposition(context: str) -> Draft:
    """A draft of Transpose-1 on i32[2, 3, 4] by the order 1, 2, 0."""
    tensors = {
        "arg": TensorDraft(element_type="i32", shape=(2, 3, 4), fill="ramp"),
        "input_order": TensorDraft(element_type="i64", shape=(3,), fill="values", elements=(1, 2, 0)),
    }
    binding: Mapping[str, Binding] = {"arg": "parameter", "input_order": "constant"}
    return replace(split(context), op="Transpose-1", attributes={}, tensors=tensors, binding=binding)


def values(draft: Draft) -> Mapping[str, Tensor]:
    """Every tensor of a draft's graph, for data that counts from 0."""
    data = Tensor(element_type="i32", array=np.arange(24, dtype=np.int32).reshape(4, 6))
    axis = Tensor(element_type="i64", array=np.array(draft.tensors["axis"].elements[0]))
    return evaluated(graph_of(draft), {"data": data, "axis": axis})


def test_a_bare_graph_is_the_node_under_test() -> None:
    """Its outputs are those of the model."""
    node = Node(
        name="Split",
        op="Split-1",
        inputs=("data", "axis"),
        outputs=("Split_0", "Split_1"),
        attributes={"num_splits": 2},
        under_test=True,
    )

    assert graph_of(split("bare")) == Graph(nodes=(node,), outputs=("Split_0", "Split_1"))
    assert graph_of(split("folded")) == graph_of(split("bare"))


def test_concat_joins_the_outputs_with_an_ordinary_node() -> None:
    """The join is `Concat-1`, and the outputs joined are data again."""
    graph = graph_of(split("concat", axis=1))

    assert [node.op for node in graph.nodes] == ["Split-1", "Concat-1"]
    assert graph.nodes[1].attributes == {"axis": 1}
    assert [node.under_test for node in graph.nodes] == [True, False]
    assert values(split("concat", axis=1))[graph.outputs[0]].array.tolist() == np.arange(24).reshape(4, 6).tolist()


def test_chain_executes_the_operation_again_on_the_last_output() -> None:
    """Both nodes are under test."""
    graph = graph_of(split("chain"))
    tensors = values(split("chain"))

    assert [node.under_test for node in graph.nodes] == [True, True]
    assert graph.nodes[1].inputs == ("Split_1", "axis")
    assert [tensors[output].array.tolist() for output in graph.outputs] == [
        np.arange(12).reshape(2, 6).tolist(),
        [[12, 13, 14, 15, 16, 17]],
        [[18, 19, 20, 21, 22, 23]],
    ]


def test_a_transposition_is_inverted_or_follows_one_that_changes_nothing() -> None:
    """By constant orders, and all transpositions are under test."""
    inverse, identity = (transposition(context) for context in ("inverse", "identity"))

    assert [(node.op, node.under_test) for node in graph_of(inverse).nodes] == [
        ("Transpose-1", True),
        ("Constant-1", False),
        ("Transpose-1", True),
    ]
    assert graph_of(inverse).nodes[1].attributes["value"] == (2, 0, 1)
    assert graph_of(inverse).nodes[2].inputs == ("Transpose_0", "InverseOrder_0")
    assert [node.inputs for node in graph_of(identity).nodes] == [
        (),
        ("arg", "IdentityOrder_0"),
        ("Transpose_1_0", "input_order"),
    ]
    assert graph_of(identity).nodes[0].attributes["value"] == (0, 1, 2)
    for draft, shape in ((inverse, (2, 3, 4)), (identity, (3, 4, 2))):
        graph = graph_of(draft)
        assert inferred(graph, draft.arguments[0].inputs)[graph.outputs[0]].shape == shape


def test_partial_uses_every_second_output() -> None:
    """The others are outputs of the node, and not of the model."""
    assert graph_of(split("partial", axis=1, parts=3)).outputs == ("Split_1",)


def test_shared_joins_the_outputs_of_one_shape_along_the_next_axis() -> None:
    """And every output is an output of the model as well."""
    draft = split("shared")
    graph = graph_of(draft)

    assert graph.outputs == ("Split_0", "Split_1", "Concat_0")
    assert values(draft)["Concat_0"].shape == (2, 12)


@pytest.mark.parametrize(
    ("context", "parts", "sentence"),
    [
        ("partial", 1, "`partial` uses every second output, so there must be at least two"),
        ("chain", 4, CHAIN),
    ],
)
def test_a_context_that_does_not_fit_says_why(context: str, parts: int, sentence: str) -> None:
    """The reason is a sentence for the author of the spec."""
    with pytest.raises(ContextError) as error:
        graph_of(split(context, parts=parts))

    assert str(error.value) == sentence


def test_an_operation_lists_its_contexts() -> None:
    """Four are every operation's; the others are its own."""
    assert OPERATIONS["Split-1"].context_names == (
        "bare",
        "folded",
        "convolved",
        "flattened",
        "concat",
        "chain",
        "partial",
        "shared",
        "convert",
        "shape-of",
    )
    assert OPERATIONS["Concat-1"].context_names == (
        "bare",
        "folded",
        "convolved",
        "flattened",
        "chain",
        "repeated",
        "doubled",
        "split",
    )


def test_types_are_inferred_through_the_graph() -> None:
    """Those of every tensor, by name."""
    draft = split("concat")
    types = inferred(graph_of(draft), draft.arguments[0].inputs)

    assert {name: type_.shape for name, type_ in types.items()} == {
        "data": (4, 6),
        "axis": (),
        "Split_0": (2, 6),
        "Split_1": (2, 6),
        "Concat_0": (4, 6),
    }


@pytest.mark.parametrize(("dynamic", "run_time"), [(True, False), (False, True)])
def test_a_model_declares_only_the_dimensions_that_it_knows(dynamic: bool, run_time: bool) -> None:
    """An output's dimensions are known where the input's are, and the axis is a constant."""
    known = split("bare")
    unknown = split("bare", dynamic=dynamic, run_time=run_time)

    assert declared(known, graph_of(known))["Split_0"].dimensions == (2, 6)
    assert declared(unknown, graph_of(unknown))["Split_0"].dimensions == (None, None)


def computed(context: str, axis: int, element_type: str = "i64") -> Draft:
    """A draft of Split-1 on i32[4, 6] whose axis has an element type."""
    draft = split(context, axis=axis)
    return replace(draft, tensors={**draft.tensors, "axis": replace(draft.tensors["axis"], element_type=element_type)})


def variadic(lengths: tuple[int, ...]) -> Draft:
    """A draft of VariadicSplit-1 on i32[4, 6] along axis 1, whose lengths the model computes."""
    given = TensorDraft(element_type="i64", shape=(len(lengths),), fill="values", elements=lengths)
    draft = split("shape-of", axis=1)
    tensors = {**draft.tensors, "split_lengths": given}
    binding = {**draft.binding, "split_lengths": draft.binding["axis"]}
    return replace(draft, op="VariadicSplit-1", attributes={}, tensors=tensors, binding=binding)


@pytest.mark.parametrize(("element_type", "target"), [("i64", "i32"), ("i32", "i64"), ("u8", "i64")])
def test_a_setting_input_is_converted_to_another_integer_type(element_type: str, target: str) -> None:
    """The value stays, and the model knows the dimensions of the outputs of a constant axis."""
    draft = computed("convert", 1, element_type)
    graph = graph_of(draft)
    conversion, tested = graph.nodes

    assert (conversion.op, conversion.inputs, conversion.attributes) == (
        "Convert-1",
        ("axis",),
        {"destination_type": target},
    )
    assert tested.inputs == ("data", "Convert_axis_0")
    assert inferred(graph, draft.arguments[0].inputs)["Split_0"].shape == (4, 3)
    assert declared(draft, graph)["Split_0"].dimensions == (4, 3)
    assert values(draft)["Convert_axis_0"].element_type == target


def test_the_model_does_not_know_what_it_converts_at_run_time() -> None:
    """So it knows only the rank of the outputs, as without a conversion."""
    draft = split("convert", run_time=True)

    assert declared(draft, graph_of(draft))["Split_0"].dimensions == (None, None)


def test_a_value_that_the_other_type_lacks_is_not_converted() -> None:
    """What a conversion does to it is not specified."""
    with pytest.raises(ContextError) as error:
        graph_of(computed("convert", 1 << 32))

    assert str(error.value) == "`convert` converts axis to i32, which cannot represent its values"


def test_lengths_are_computed_from_the_shape_of_data() -> None:
    """A dimension is gathered, and any other length is a constant; the model does not take the input."""
    draft = variadic((4, -1))
    graph = graph_of(draft)

    assert [node.op for node in graph.nodes] == [
        "ShapeOf-3",
        "Constant-1",
        "Constant-1",
        "Gather-8",
        "Constant-1",
        "Concat-1",
        "VariadicSplit-1",
    ]
    assert taken(graph).isdisjoint(["split_lengths"])
    assert values(draft)["Values_0"].integers() == [4, -1]
    assert declared(draft, graph)["VariadicSplit_0"].dimensions == (4, 4)
    opened = replace(draft, dynamic={"data": ("?", 6)})
    assert declared(opened, graph)["VariadicSplit_0"].dimensions == (None, None)


def test_a_context_of_computed_lengths_needs_a_dimension_among_them() -> None:
    """It would compute nothing from the shape."""
    with pytest.raises(ContextError) as error:
        graph_of(variadic((5, 1)))

    assert str(error.value) == "`shape-of` needs a value of split_lengths that is a dimension of data"


def test_a_context_of_computed_lengths_needs_as_many_in_every_feed() -> None:
    """The second feed of a list that is declared without its length can be longer."""
    draft = variadic((4, -1))
    longer = replace(draft.tensors["split_lengths"], shape=(3,), elements=(4, -1, 0))
    with pytest.raises(ContextError) as error:
        graph_of(replace(draft, second={"split_lengths": longer}))

    assert str(error.value) == "`shape-of` needs split_lengths to have the same shape in every feed"
