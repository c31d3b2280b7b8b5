"""ReverseSequence-1 and GatherTree-1: each clause of their pages, and implementations of others."""

from collections.abc import Iterator, Mapping

import numpy as np
import pytest

from opconform.generation.expansion import expand
from opconform.model.draft import Draft
from opconform.model.golden import golden_of
from opconform.operations.arguments import Arguments, Operand
from opconform.operations.movement.gathers.gather_tree import GATHER_TREE
from opconform.operations.movement.reverse_sequence import REVERSE_SEQUENCE
from opconform.specs.loader import load_specs
from opconform.specs.requirements import cases_of
from opconform.suite.case import Attribute
from opconform.tensors.tensor import Tensor


def accepted(op: str) -> Iterator[Draft]:
    """The valid cases of the profile `core` with the operation alone."""
    for group in (group for spec in load_specs([cases_of(op)]) for group in spec.groups):
        if group.settings.profile == "core":
            yield from (x for x in expand(group) if x.rejected_for is None and not x.has_other_nodes)


def operand(values: object, element_type: str = "i32") -> Operand:
    """An operand whose elements are known."""
    array = np.array(values, {"i32": np.int32, "f32": np.float32}[element_type])
    tensor = Tensor(element_type=element_type, array=array)
    integers = tuple(tensor.integers()) if element_type == "i32" else None
    return Operand(element_type=element_type, shape=array.shape, integers=integers, tensor=tensor)


def reverse(lengths: object, element_type: str = "i32", **attributes: Attribute) -> Arguments:
    """Arguments for data that counts from 0, of the shape [2, 4, 3]."""
    inputs = {"data": operand(np.arange(24).reshape(2, 4, 3)), "seq_lengths": operand(lengths, element_type)}
    return REVERSE_SEQUENCE.arguments(inputs, attributes)


def test_sequences_agree_with_the_reference_implementation_of_onnx() -> None:
    """Bit for bit, in every inference of every valid case whose axes are the first two."""
    helper, reference = pytest.importorskip("onnx.helper"), pytest.importorskip("onnx.reference")
    count = 0
    for draft in accepted("ReverseSequence-1"):
        rank = len(draft.tensors["data"].shape)
        axes = [
            int(str(draft.attributes.get(name, axis))) % rank for name, axis in (("batch_axis", 0), ("seq_axis", 1))
        ]
        if {*axes} != {0, 1} or draft.tensors["seq_lengths"].element_type != "i64":
            continue
        golden = golden_of(draft, 0)
        node = helper.make_node(
            "ReverseSequence", ["data", "seq_lengths"], ["y"], batch_axis=axes[0], time_axis=axes[1]
        )
        for feed, (output,) in zip(golden.inputs, golden.outputs, strict=True):
            if output.array.size:
                inputs = {name: tensor.array for name, tensor in feed.items()}
                [expected] = reference.ReferenceEvaluator(node).run(None, inputs)
                assert output.array.tobytes() == expected.tobytes(), draft.id
                count += 1
    assert count > 40


@pytest.mark.parametrize(
    ("arguments", "violated"),
    [
        (reverse([1, 4]), ()),
        (reverse([1, 4], "f32"), ()),
        (reverse([1, 2.5], "f32"), ("seq_lengths.whole",)),
        (reverse([0, 4]), ("seq_lengths.range",)),
        (reverse([1, 5]), ("seq_lengths.range",)),
        (reverse([1, 2, 3]), ("seq_lengths.count",)),
        (reverse([1, 2], seq_axis=-3), ("seq_axis.other",)),
        (reverse([1, 2], batch_axis=3), ("batch_axis.range",)),
    ],
)
def test_lengths_are_those_of_the_slices(arguments: Arguments, violated: tuple[str, ...]) -> None:
    """Integers in any numeric type, from 1 to the dimension of the sequences."""
    assert REVERSE_SEQUENCE.judged(arguments)[1] == violated


def beams(**inputs: object) -> Mapping[str, Operand]:
    """Two beams over three time steps, of i32."""
    given = {"step_ids": [[[1, 2]], [[3, 4]], [[5, 6]]], "parent_ids": [[[0, 0]], [[1, 0]], [[1, 1]]]}
    return {name: operand(x) for name, x in ({**given, "max_seq_len": [3], "end_token": 9} | inputs).items()}


@pytest.mark.parametrize(
    ("inputs", "output"),
    [
        ({}, [[1, 1], [4, 4], [5, 6]]),
        ({"max_seq_len": [2]}, [[2, 1], [3, 4], [9, 9]]),
        ({"max_seq_len": [8], "end_token": 4}, [[1, 1], [4, 4], [4, 4]]),
        ({"parent_ids": [[[7, 7]], [[1, 7]], [[0, 0]]], "end_token": 2}, [[2, 2], [2, 2], [2, 2]]),
    ],
)
def test_beams_have_the_tokens_of_their_parents(inputs: Mapping[str, object], output: object) -> None:
    """Up to the first end token, and up to the length; parents that no beam follows are not read."""
    [tensor] = GATHER_TREE.evaluate(GATHER_TREE.arguments(beams(**inputs), {}))
    assert tensor.array.reshape(3, 2).tolist() == output


@pytest.mark.parametrize(
    ("inputs", "violated"),
    [
        ({"parent_ids": [[[0, 0]], [[1, 2]], [[1, 1]]]}, "parent_ids.range"),
        ({"max_seq_len": [0]}, "max_seq_len.positive"),
        ({"max_seq_len": [1, 2]}, "max_seq_len.count"),
        ({"parent_ids": [[[0, 0]]]}, "parent_ids.shape"),
    ],
)
def test_parents_are_beams(inputs: Mapping[str, object], violated: str) -> None:
    """As long as they are followed."""
    assert GATHER_TREE.judged(GATHER_TREE.arguments(beams(**inputs), {}))[1] == (violated,)
