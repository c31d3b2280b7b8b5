"""Neighbours: another operation behind the operation under test, and a convolution in front of it."""

from dataclasses import replace

import numpy as np
import pytest

from opconform.generation.identity.tensor_keys import KnownTensors
from opconform.generation.options import LIMITS
from opconform.generation.then_key import neighbour_of
from opconform.model.draft import Neighbour, TensorDraft
from opconform.model.evaluation import evaluated
from opconform.model.graph import graph_of
from opconform.operations.contract import ContextError
from opconform.specs.schema.models import models_of
from opconform.specs.yaml_document import KeyMistake
from opconform.tensors.literals import encoded
from opconform.tensors.tensor import Tensor
from tests.model.test_graph import split, transposition


def setting(*elements: int, shape: tuple[int, ...] | None = None) -> TensorDraft:
    """A setting input of i64."""
    return TensorDraft(
        element_type="i64", shape=(len(elements),) if shape is None else shape, fill="values", elements=elements
    )


def outputs(draft: object, **inputs: np.ndarray) -> list[np.ndarray]:
    """The outputs of a draft's model for some inputs."""
    graph = graph_of(draft)  # type: ignore[arg-type]
    types = {"int32": "i32", "int64": "i64", "float32": "f32"}
    tensors = {name: Tensor(element_type=types[str(input_.dtype)], array=input_) for name, input_ in inputs.items()}
    found = evaluated(graph, tensors)
    return [found[name].array for name in graph.outputs]


def test_another_order_behind_a_transposition() -> None:
    """The second order applies to the first's output, as numpy says."""
    behind = Neighbour(op="Transpose-1", attributes={}, settings={"input_order": setting(0, 2, 1)})
    draft = replace(transposition("then"), then=behind)
    data = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    [found] = outputs(draft, arg=data, input_order=np.array([1, 2, 0]))
    assert found.tolist() == data.transpose(1, 2, 0).transpose(0, 2, 1).tolist()


def test_a_variadic_neighbour_takes_the_output_twice() -> None:
    """A join of the last output with itself; the other outputs stay outputs of the model."""
    draft = replace(split("then"), then=Neighbour(op="Concat-1", attributes={"axis": 1}, settings={}))
    data = np.arange(24, dtype=np.int32).reshape(4, 6)
    first, joined = outputs(draft, data=data, axis=np.array(0))
    assert first.tolist() == data[:2].tolist()
    assert joined.tolist() == np.concatenate([data[2:], data[2:]], axis=1).tolist()


def test_a_flattened_output_keeps_its_first_dimension() -> None:
    """The other outputs follow."""
    data = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    [matrix] = outputs(transposition("flattened"), arg=data, input_order=np.array([1, 2, 0]))
    assert matrix.tolist() == data.transpose(1, 2, 0).reshape(3, 8).tolist()


def test_a_neighbour_of_several_outputs_has_them_all() -> None:
    """As many as its settings request."""
    behind = Neighbour(
        op="VariadicSplit-1", attributes={}, settings={"axis": setting(1, shape=()), "split_lengths": setting(1, 5)}
    )
    draft = replace(split("then"), then=behind)
    found = outputs(draft, data=np.arange(24, dtype=np.int32).reshape(4, 6), axis=np.array(0))
    assert [hit.shape for hit in found] == [(2, 6), (2, 1), (2, 5)]


def test_a_neighbour_may_have_filled_inputs() -> None:
    """Of any type but strings, by any fill."""
    numbers = TensorDraft(element_type="i32", shape=(2, 6), fill="ramp")
    behind = Neighbour(op="Add-1", attributes={"auto_broadcast": "numpy"}, settings={"b": numbers})
    data = np.arange(24, dtype=np.int32).reshape(4, 6)
    _, found = outputs(replace(split("then"), then=behind), data=data, axis=np.array(0))
    assert (found - data[2:]).tolist() == np.arange(1, 13).reshape(2, 6).tolist()

    mask = TensorDraft(element_type="boolean", shape=(2,), fill="values", elements=(1, 0))
    flipped = Neighbour(op="Reverse-1", attributes={"mode": "mask"}, settings={"axis": mask})
    _, found = outputs(replace(split("then"), then=flipped), data=data, axis=np.array(0))
    assert found.tolist() == data[2:][::-1].tolist()

    texts = TensorDraft(element_type="string", shape=(2, 6), fill="ramp")
    with pytest.raises(ContextError, match="the neighbour's b must not have texts"):
        graph_of(replace(split("then"), then=replace(behind, settings={"b": texts})))


@pytest.mark.parametrize("element_type", ["bf16", "f16", "f32", "f64"])
def test_a_neighbour_may_have_floating_point_constants(element_type: str) -> None:
    """Its node has their bits, in every type."""
    halves = TensorDraft(element_type=element_type, shape=(2,), fill="values", elements=(0.5, -2.0))
    behind = Neighbour(op="Multiply-1", attributes={"auto_broadcast": "numpy"}, settings={"b": halves})
    graph = graph_of(replace(split("then"), then=behind))
    data = Tensor(element_type=element_type, array=encoded(element_type, [2.0, 3.0, 4.0, 5.0]).reshape(2, 2))

    found = evaluated(graph, {"data": data, "axis": Tensor(element_type="i64", array=np.array(0))})

    assert found[graph.outputs[-1]].array.tolist() == encoded(element_type, [2.0, -10.0]).reshape(1, 2).tolist()


def test_an_invalid_case_has_no_neighbour() -> None:
    """There is no output that it could take."""
    behind = Neighbour(op="Concat-1", attributes={"axis": 0}, settings={})
    draft = replace(split("then", parts=3, axis=0), rejected_for="num_splits.divides", then=behind)
    with pytest.raises(ContextError, match="an invalid case has no output for the context `then` to use"):
        graph_of(draft)


def test_a_convolution_gives_exact_integers() -> None:
    """Each channel is twice itself plus the next one, and the operation takes the result."""
    tensors = {
        "arg": TensorDraft(element_type="f32", shape=(1, 3, 1, 2), fill="small"),
        "input_order": setting(0, 2, 3, 1),
    }
    data = np.arange(6, dtype=np.float32).reshape(1, 3, 1, 2)
    [found] = outputs(
        replace(transposition("convolved"), tensors=tensors), arg=data, input_order=np.array([0, 2, 3, 1])
    )
    assert found.tolist() == [[[[2.0, 8.0, 8.0], [5.0, 11.0, 11.0]]]]


def test_a_convolution_needs_images() -> None:
    """Rank 4 and f32, in words."""
    with pytest.raises(ContextError, match="`convolved` needs a valid case whose first input is f32 and has rank 4"):
        graph_of(transposition("convolved"))


def test_a_convolution_has_few_channels() -> None:
    """An image without elements can have billions of them, and filters the square of that."""
    image = TensorDraft(element_type="f32", shape=(0, 1 << 32, 1, 2), fill="small")
    tensors = {"arg": image, "input_order": setting(0, 2, 3, 1)}
    with pytest.raises(ContextError, match="`convolved` has filters for up to 256 channels"):
        graph_of(replace(transposition("convolved"), tensors=tensors))


@pytest.mark.parametrize(
    ("then", "context", "sentence"),
    [
        (None, "then", "the context `then` needs the key `then`, with the neighbour's `op` and arguments"),
        ({"op": "Transpose-1"}, "chain", "`then` is a context of its own, so it cannot be combined with chain"),
        ({"op": "Transpse-1"}, "bare", "op: 'Transpse-1' is not a known operation. Did you mean 'Transpose-1'?"),
        ({"op": "Transpose-1", "arg": [1]}, "bare", "unknown key 'arg'"),
        (
            {"op": "Transpose-1", "input_order": {"shape": [2]}},
            "bare",
            "input_order: its elements decide what the operation does, so it needs `values` or `fill: constant`",
        ),
    ],
)
def test_a_wrong_neighbour_is_a_mistake(then: object, context: str, sentence: str) -> None:
    """At the key `then`."""
    keys = models_of("Transpose-1").case.model_validate({"then": then, "context": context}, context={"concrete": True})
    with pytest.raises(KeyMistake) as raised:
        neighbour_of(keys, LIMITS, KnownTensors())
    assert raised.value.sentence == sentence
